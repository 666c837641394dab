"""A case of a campaign and its result: plain values that every report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.campaigns.command import Ran
from engy_mock.campaigns.outcome import ADVICE, BAD, OUTCOMES, Outcome
from engy_mock.campaigns.plan import Plan
from engy_mock.campaigns.shrinking import Shrunk

MOST_SHOWN = 4_000
"""So many characters of an output are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A day to run the command on: a scenario by name or path, or a plan; neither is a calm day."""

    name: str
    scenario: str | None = None
    plan: Plan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a case.

    `met` are the faults and refusals that requests have met, each with how often; `findings` are those of the
    verdict, as words, and each with what a good client does, `failing` the words of those that fail the case.
    """

    case: Case
    outcome: Outcome
    reason: str
    ran: Ran
    entries: Sequence[Entry]
    met: Mapping[str, int]
    findings: tuple[Mapping[str, Any], ...] = ()
    failing: tuple[str, ...] = ()
    fails: bool = False
    shrunk: Shrunk | None = None
    saved: str | None = None
    replay: str = ""

    def is_like(self, other: "Result") -> bool:
        """Whether another run has failed as this one: with the same outcome, or else with its worst finding."""
        if not other.fails or self.outcome in BAD or not self.failing:
            return other.fails and other.outcome == self.outcome
        return self.failing[0] in other.failing

    @property
    def plan(self) -> Sequence[str]:
        """What was to go wrong, in words."""
        return [] if self.case.plan is None else self.case.plan.words()

    @property
    def smallest(self) -> Sequence[str] | None:
        """The fewest troubles that still make it fail, in words; None if nobody looked, or found none."""
        if self.shrunk is None or not self.shrunk.is_repeatable:
            return None
        return self.shrunk.plan.words() or ["nothing: it fails without any trouble"]

    @property
    def advice(self) -> Sequence[str]:
        """What a good client does instead."""
        own = [ADVICE[self.outcome]] if self.outcome in ADVICE else []
        return list(dict.fromkeys([*own, *[one["advice"] for one in self.findings]]))

    def snapshot(self) -> dict[str, Any]:
        """Plain values; but for `seconds` and outputs the same in every run of the same client."""
        found: dict[str, Any] = {
            "name": self.case.name,
            "scenario": self.case.scenario,
            "seed": None if self.case.plan is None else self.case.plan.seed,
            "plan": list(self.plan),
            "digest": None if self.case.plan is None else self.case.plan.digest,
            "outcome": self.outcome,
            "reason": self.reason,
            "fails": self.fails,
            "exit_code": self.ran.exit_code,
            "seconds": round(self.ran.seconds, 3),
            "requests": len(self.entries),
            "statuses": [entry.status for entry in self.entries],
            "met": dict(self.met),
            "findings": [dict(one) for one in self.findings],
            "smallest": None if self.smallest is None else list(self.smallest),
            "saved": self.saved,
            "replay": self.replay,
        }
        if self.fails:
            found |= {"stdout": self.ran.stdout.tail(MOST_SHOWN), "stderr": self.ran.stderr.tail(MOST_SHOWN)}
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results of a campaign, in the order of its cases; `clean` is what the command did on a calm day."""

    command: Sequence[str]
    clean: Result
    results: Sequence[Result]

    @property
    def failed(self) -> Sequence[Result]:
        """The cases that the client did not stand."""
        return [result for result in self.results if result.fails]

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many cases went which way, from good to bad; those that none went are left out."""
        counted = {outcome: sum(result.outcome == outcome for result in self.results) for outcome in OUTCOMES}
        return {outcome: count for outcome, count in counted.items() if count}

    def snapshot(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "command": list(self.command),
            "cases": len(self.results),
            "failed": len(self.failed),
            "outcomes": dict(self.counts),
            "clean": self.clean.snapshot(),
            "results": [result.snapshot() for result in self.results],
        }
