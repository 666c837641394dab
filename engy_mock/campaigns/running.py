"""Runs a command under each case of a campaign, each with a mock of its own, and judges what came of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from engy_mock.books.entry import Entry
from engy_mock.campaigns.clock import FastClock
from engy_mock.campaigns.command import Commands, Ran
from engy_mock.campaigns.outcome import BAD, WORD_OF, Oracle, Outcome
from engy_mock.campaigns.plan import Plan, reworded
from engy_mock.campaigns.result import MOST_SHOWN, Case, Result
from engy_mock.campaigns.saving import save
from engy_mock.campaigns.shrinking import shrunk
from engy_mock.campaigns.taken import heard, own_words, taken
from engy_mock.campaigns.waiting import MOST_GRANTED, granted, still_told
from engy_mock.mock import EngyMock
from engy_mock.mock.environment import FOREIGN_KEYS, variables
from engy_mock.serving.limits import Limits
from engy_mock.verdict.finding import Finding
from engy_mock.verdict.verdict import Verdict
from engy_mock.verdict.waits import Watches
from engy_mock.verdict.words import FailLevel, Severity
from engy_mock.vocabulary.clock import WallClock, monotonic
from engy_mock.vocabulary.errors import MockError

CALM = Case(name="calm")

LEVELS: Mapping[FailLevel, frozenset[Severity]] = {
    "error": frozenset({"error"}),
    "warning": frozenset({"error", "warning"}),
    "never": frozenset(),
}
"""The findings that fail a case, by level."""

TAKEN_FOR_WHOLE = frozenset({"truncated-accepted", "silent-acceptance", "made-up-answer"})
"""The findings that say that what a command printed is no answer."""

MARGIN = 60.0
"""A silence without end lasts so many seconds longer than the command may."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """What is run, how, and how often.

    `jobs` cases run at the same time. A plan that fails is run again up to `shrink` times to find the fewest
    troubles that do it, and written into `folder` if there is one. Findings of the verdict fail a case from
    `fail_level` on, those in `ignore` never. `replay` gives the line that repeats a case.
    """

    commands: Commands
    cases: Sequence[Case]
    oracle: Oracle = field(default_factory=Oracle)
    environment: Mapping[str, str] = field(default_factory=dict)
    scenario_folders: Sequence[str] = ()
    timeout: float = 60.0
    time_scale: float = 0.02
    seed: int = 0
    jobs: int = 1
    shrink: int = 0
    folder: Path | None = None
    fail_level: FailLevel = "error"
    ignore: Sequence[str] = ()
    replay: Callable[[Case], str] = lambda case: case.name

    def calm(self) -> Result:
        """What the command does on a calm day; raises MockError if it is of no use to go on from there."""
        found = self._run(CALM, None)
        ran = found.ran
        if ran.exit_code != 0 or found.outcome in BAD:
            said = ran.stderr.tail(MOST_SHOWN).strip() or ran.stdout.tail(MOST_SHOWN).strip()
            raise MockError(f"the command fails on a calm day already ({found.reason}); mend that first:\n{said}")
        if not found.entries:
            raise MockError(
                "the command has asked the mock nothing: it finds it by OPENAI_BASE_URL, ANTHROPIC_BASE_URL, "
                "ENGY_BASE_URL or SGP_CLIENT_BASE_URL, and its key in the variables beside them"
            )
        if self.oracle.equals_clean and self._run(CALM, found).outcome in BAD:
            raise MockError("the command prints something else each time, on a calm day too: it equals nothing")
        return found

    def results(self, clean: Result) -> Iterator[Result]:
        """The results in the order of the cases, each as soon as it and all before it are there."""
        if self.jobs == 1:
            yield from (self._case(case, clean) for case in self.cases)
            return
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="campaign") as pool:
            try:
                yield from pool.map(lambda case: self._case(case, clean), self.cases)
            except BaseException:
                self.commands.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _case(self, case: Case, clean: Result) -> Result:
        """One case with all that is done about it if it fails."""
        found = self._run(case, clean)
        if case.plan is None or not found.fails:
            return found
        plan, small = case.plan, None
        if self.shrink:

            def fails(other: Plan) -> bool:
                return found.is_like(self._run(replace(case, plan=other), clean))

            small = shrunk(plan, found.entries, fails, self.shrink)
            if small.is_repeatable:
                plan = small.plan
        saved = None if self.folder is None else save(plan, self.folder, case.name)
        return replace(found, shrunk=small, saved=None if saved is None else str(saved))

    def _run(self, case: Case, clean: Result | None) -> Result:
        limits = Limits(stall_seconds=self.timeout + MOST_GRANTED + MARGIN)
        clock = FastClock(self.time_scale)
        with EngyMock(
            seed=self.seed,
            clock=clock,
            time_scale=self.time_scale,
            limits=limits,
            scenario_folders=self.scenario_folders,
        ) as engy:
            if case.scenario is not None:
                engy.scenario(case.scenario)
            if case.plan is not None:
                engy.scenario(case.plan.scenario())
            watches = Watches(WallClock().now() - monotonic(), is_standing=False)
            ran = self.commands.run(
                self._variables(engy), lambda: granted(tuple(engy.journal), watches, monotonic())
            )
            told_to_wait = still_told(tuple(engy.journal), watches, monotonic()) if ran.exit_code is None else 0.0
            if engy.gateway.defects:
                raise MockError(f"{case.name}: the mock failed: {engy.gateway.defects[0]!r:.300}")
            entries = tuple(engy.journal)
            verdict = engy.verdict(fail_level=self.fail_level, ignore=self.ignore)
            if ran.exit_code == 0:
                # Who prints something and ends well takes it for the answer: that is what it has heard.
                for said in heard(verdict.groups, ran.stdout.text, self._own_words(verdict, ran, clean)):
                    engy.gateway.journal.hear(said)
                verdict = engy.verdict(fail_level=self.fail_level, ignore=self.ignore)
            scenes = engy.gateway.scenes.stage.scenes
        rules = [rule for scene in scenes for rule in scene.scenario.all_rules]
        is_recovered = clean is not None and len(entries) > len(clean.entries)
        found = taken(verdict.groups, rules, ran.stdout.text, is_recovered=is_recovered)
        outcome, reason = self.oracle.judged(ran, None if clean is None else clean.ran, found, told_to_wait)
        wrong = [finding for finding in verdict.findings if finding.word in TAKEN_FOR_WHOLE]
        if ran.exit_code == 0 and wrong:
            outcome, reason = "silently-wrong", f"exit code 0, but {wrong[0].evidence}"
        return self._judged(case, ran, entries, verdict, outcome, reason)

    def _own_words(self, verdict: Verdict, ran: Ran, clean: Result | None) -> str | None:
        """What the command printed in place of an answer, if nobody can tell that it reports a failure."""
        on_a_calm_day = None if clean is None else clean.ran
        if not self.oracle.is_silent_on(ran, on_a_calm_day):
            return None
        return own_words(
            verdict.groups, ran.stdout.text, "" if on_a_calm_day is None else on_a_calm_day.stdout.text
        )

    def _judged(
        self, case: Case, ran: Ran, entries: Sequence[Entry], verdict: Verdict, outcome: Outcome, reason: str
    ) -> Result:
        is_unmet = self.oracle.must_answer and outcome not in ("answered", "recovered")
        if is_unmet and outcome in ("reported", "waiting"):
            reason += ", and no answer"
        # What the verdict cannot know is what the command told its user.
        findings = [one for one in verdict.findings if outcome in BAD or one.word != "gave-up"]
        word = WORD_OF.get(outcome)
        if word is not None and word not in self.ignore and not verdict.errors:
            last = verdict.groups[-1].exchanges if verdict.groups else ()
            findings.insert(0, Finding.of(word, last, reason))
        levels = LEVELS[self.fail_level]
        failing = tuple(dict.fromkeys([one.word for one in findings if one.severity in levels]))
        return Result(
            case=case,
            outcome=outcome,
            reason=reason,
            ran=ran,
            entries=entries,
            met=_met(entries),
            findings=tuple([finding.snapshot() for finding in findings]),
            failing=failing,
            fails=outcome in BAD or is_unmet or bool(failing) or not verdict.is_complete,
            replay=self.replay(case),
        )

    def _variables(self, engy: EngyMock) -> dict[str, str]:
        others = {name: value for name, value in self.environment.items() if name not in FOREIGN_KEYS}
        return others | variables(engy.base_url, engy.origin, engy.api_key, others)


def _met(entries: Sequence[Entry]) -> dict[str, int]:
    """The faults and refusals that requests have met, in the order in which they first came."""
    found: dict[str, int] = {}
    for entry in entries:
        words = [reworded(fault) for fault in entry.faults] or (
            [f"refuse {entry.status}"] if entry.status >= 400 else []
        )
        for one in words:
            found[one] = found.get(one, 0) + 1
    return found
