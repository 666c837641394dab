"""How a run of a command went: what it told its user, held against what it should have told."""

from dataclasses import dataclass
from typing import Literal, get_args

from engy_mock.campaigns.command import Output, Ran
from engy_mock.campaigns.taken import Taken
from engy_mock.verdict.likeness import is_excuse, opens_with_error
from engy_mock.verdict.words import WORDS

Outcome = Literal["answered", "recovered", "reported", "waiting", "unreported", "silently-wrong", "hung"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""From good to bad."""

BAD: frozenset[Outcome] = frozenset({"unreported", "silently-wrong", "hung"})
"""What no client should do, whatever the day is like."""

ADVICE: dict[Outcome, str] = {
    "unreported": "Say on stderr what went wrong, and end with an exit code of your own.",
    "silently-wrong": "Take nothing for an answer that is none: check its end, its form and its content.",
    "hung": WORDS["never-ended"].advice,
}

WORD_OF: dict[Outcome, str] = {"silently-wrong": "silent-acceptance", "hung": "never-ended"}
"""The word of a verdict for what only the outcome of a run shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """What a user may expect of the command.

    A regular answer `contains` these texts, and with `equals_clean` is what it is on a good day; where there is
    none, the error says so with one of the texts in `errors`, or in words for it if none is named. With
    `must_answer` there has to be one on every day.
    """

    contains: tuple[str, ...] = ()
    equals_clean: bool = False
    errors: tuple[str, ...] = ()
    must_answer: bool = False

    def complaint(self, ran: Ran, clean: Ran | None) -> str | None:
        """Why what the command printed is no regular answer; None if it is one."""
        for text in self.contains:
            if text not in ran.stdout.text:
                return f"the output lacks {text!r:.80}"
        if self.equals_clean and clean is not None and ran.stdout.digest != clean.stdout.digest:
            return "the output is not that of the clean run"
        return None

    def is_report(self, ran: Ran, clean: Ran | None) -> bool:
        """Whether what the command wrote, and does not write each time, says that there is no answer.

        Words on stderr do where nothing on stdout can be taken for an answer: a log of attempts is no report.
        """
        if self.errors:
            return any(text in ran.stdout.text + ran.stderr.text for text in self.errors)
        usual = set() if clean is None else _lines(clean.stdout)
        if any(map(is_excuse, _own(ran.stdout, None if clean is None else clean.stdout))):
            return True
        is_less = not _lines(ran.stdout) or _lines(ran.stdout) < usual
        return is_less and any(map(is_excuse, _own(ran.stderr, None if clean is None else clean.stderr)))

    def is_silent_on(self, ran: Ran, clean: Ran | None) -> bool:
        """Whether only what was sent can tell if what the command printed is an answer."""
        return not self.contains and not self.equals_clean and not self.is_report(ran, clean)

    def judged(self, ran: Ran, clean: Ran | None, taken: Taken, told_to_wait: float = 0.0) -> tuple[Outcome, str]:
        """The outcome, and the reason for it in words."""
        if ran.exit_code is None and told_to_wait:
            return "waiting", f"it does as it is told, and waits for {told_to_wait:g} seconds"
        if ran.exit_code is None:
            return "hung", f"not over after {ran.seconds:.0f} seconds"
        if ran.exit_code == 0:
            return self._ended_well(ran, clean, taken)
        said = f"exit code {ran.exit_code}"
        if ran.exit_code < 0:
            return "unreported", f"ended by signal {-ran.exit_code}"
        told = ran.stderr.text + ran.stdout.text
        if not told.strip():
            return "unreported", f"{said} without a word"
        if self.errors and not any(text in told for text in self.errors):
            return "unreported", f"{said}, but no word of {' or '.join([repr(text) for text in self.errors]):.120}"
        return "reported", said

    def _ended_well(self, ran: Ran, clean: Ran | None, taken: Taken) -> tuple[Outcome, str]:
        """The outcome of a run that says that it has an answer."""
        says_nothing = not ran.stdout.text.strip()
        if taken.is_dictated and taken.has_answer:
            # Other words than on a calm day are right today.
            if says_nothing and clean is not None and clean.stdout.text.strip():
                return "silently-wrong", "exit code 0, but the output is empty"
            held = "which is there" if taken.is_printed else "so nothing is expected of the output"
            right = f"right: the scenario dictates the answer, {held}"
            return ("recovered" if taken.is_recovered else "answered"), right
        complaint = self.complaint(ran, clean)
        if self._is_told(ran, clean, taken) and (self.errors or complaint is not None):
            # What reports an error is no regular answer, and not taken for one.
            return "reported", _TOLD
        if complaint is not None:
            return "silently-wrong", f"exit code 0, but {complaint}"
        if taken.has_answer or self.contains or self.equals_clean:
            return ("recovered", "right in the end") if taken.is_recovered else ("answered", "right")
        if says_nothing and not _own(ran.stderr, None if clean is None else clean.stderr):
            return "silently-wrong", "exit code 0 without a word, but the last call got no answer"
        if not taken.is_excused and self.is_silent_on(ran, clean):
            return "silently-wrong", "exit code 0, with words of its own, but the last call got no answer"
        return "reported", _TOLD

    def _is_told(self, ran: Ran, clean: Ran | None, taken: Taken) -> bool:
        """Whether the command reports that it has no answer, or none that it can use."""
        if not taken.has_answer:
            return self.is_report(ran, clean)
        if self.errors or not taken.is_marred:
            return False
        return any(map(opens_with_error, _own(ran.stdout, None if clean is None else clean.stdout)))


_TOLD = "exit code 0, with words of its own in place of an answer"


def _own(output: Output, usual: Output | None) -> list[str]:
    """What was written and is not written on a calm day: as a whole if it is one document, and else by lines."""
    known = set() if usual is None else _lines(usual)
    lines = [line for line in output.text.splitlines() if line.strip() and line not in known]
    whole = output.text.strip()
    return [whole] if lines and whole.startswith(("{", "[")) and whole.endswith(("}", "]")) else lines


def _lines(output: Output) -> set[str]:
    return {line for line in output.text.splitlines() if line.strip()}
