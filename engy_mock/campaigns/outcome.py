"""How a run of a command went: what it told its user, held against what it should have told."""

from dataclasses import dataclass
from typing import Literal, get_args

from engy_mock.campaigns.command import Ran
from engy_mock.campaigns.taken import Taken
from engy_mock.verdict.likeness import is_excuse
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
        """Whether what the command printed, and does not print each time, says that there is no answer."""
        if self.errors:
            return any(text in ran.stdout.text + ran.stderr.text for text in self.errors)
        usual = set() if clean is None else set(clean.stdout.text.splitlines())
        return any(is_excuse(line) for line in ran.stdout.text.splitlines() if line not in usual)

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
        if self.errors and not taken.has_answer and self.is_report(ran, clean):
            return "reported", "exit code 0, with words of its own in place of an answer"
        complaint = self.complaint(ran, clean)
        if complaint is not None:
            return "silently-wrong", f"exit code 0, but {complaint}"
        if taken.has_answer or self.contains or self.equals_clean:
            return ("recovered", "right in the end") if taken.is_recovered else ("answered", "right")
        if says_nothing:
            return "silently-wrong", "exit code 0 without a word, but the last call got no answer"
        if not taken.is_excused and self.is_silent_on(ran, clean):
            return "silently-wrong", "exit code 0, with words of its own, but the last call got no answer"
        return "reported", "exit code 0, with words of its own in place of an answer"
