"""What the journal says about the client under test: how its calls went, and what it does wrong."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from engy_mock.books.entry import Entry
from engy_mock.verdict.finding import Finding
from engy_mock.verdict.words import FAIL_LEVELS, FailLevel
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError, UnmetExpectation, did_you_mean

Outcome = Literal["answered", "recovered", "reported", "under-way", "gave-up", "hung", "silently-wrong"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGroup:
    """One call of the application: all attempts at one request, in order, and how it went.

    `answered` at the first attempt, `recovered` by a later one; `reported` as failed to the caller; `gave-up`
    where nobody said what the caller was told; `under-way` while it lasts; `hung` where it bears a silence without
    end; `silently-wrong` where the client took for an answer what was none, though that could be known. The last
    two come with a finding that is an error.
    """

    entries: tuple[Entry, ...]
    outcome: Outcome

    @property
    def exchanges(self) -> tuple[int, ...]:
        """Its attempts as numbers of the journal."""
        return tuple([entry.number for entry in self.entries])

    def snapshot(self) -> dict[str, Any]:
        """Plain values, the same in every run of the same calls and seed."""
        first = self.entries[0]
        return {
            "method": first.method,
            "path": first.path,
            "exchanges": list(self.exchanges),
            "statuses": [entry.status for entry in self.entries],
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is known of the client: its calls in order, and the findings, the worst first.

    `lost` counts exchanges in its window that the journal has dropped: what they were, nobody knows.
    """

    findings: tuple[Finding, ...]
    groups: tuple[CallGroup, ...]
    lost: int = 0
    fail_level: FailLevel = "error"

    @property
    def is_complete(self) -> bool:
        """The journal has every exchange of the window."""
        return not self.lost

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        """How many calls went which way; those that none went are left out."""
        counted = Counter([group.outcome for group in self.groups])
        return {outcome: counted[outcome] for outcome in OUTCOMES if counted[outcome]}

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple([finding for finding in self.findings if finding.severity == "error"])

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple([finding for finding in self.findings if finding.severity == "warning"])

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the findings, each once."""
        return tuple(dict.fromkeys([finding.word for finding in self.findings]))

    def fails(self, fail_level: FailLevel | None = None) -> bool:
        """Whether there is a finding as bad as this, or the journal has lost what might have been one."""
        level = check_level(self.fail_level if fail_level is None else fail_level)
        found = self.findings if level == "warning" else self.errors
        return level != "never" and (bool(found) or not self.is_complete)

    def raise_for(self, fail_level: FailLevel) -> "Verdict":
        """Raise UnmetExpectation if it fails at this level; else itself."""
        if self.fails(fail_level):
            raise UnmetExpectation(str(self))
        return self

    def check(self) -> "Verdict":
        """Raise UnmetExpectation if it fails at its own level; else itself."""
        return self.raise_for(self.fail_level)

    def snapshot(self) -> dict[str, Any]:
        """Plain values, the same in every run of the same calls in the same order: nothing that was measured."""
        return {
            "is_complete": self.is_complete,
            "lost": self.lost,
            "fails": self.fails(),
            "outcomes": dict(self.outcomes),
            "findings": [finding.snapshot() for finding in self.findings],
            "calls": [group.snapshot() for group in self.groups],
        }

    def json(self) -> str:
        """The same as JSON."""
        return json.write(self.snapshot()).decode()

    def __str__(self) -> str:
        """For people: how the calls went, then the findings."""
        counts = ", ".join([f"{count} {outcome}" for outcome, count in self.outcomes.items()])
        lines = [f"{len(self.groups)} call{'' if len(self.groups) == 1 else 's'}: {counts or 'none'}"]
        if self.lost:
            lines.append(f"incomplete: the journal has dropped {self.lost} exchanges, nobody knows what they were")
        lines += [str(finding) for finding in self.findings]
        if not self.findings and self.is_complete:
            so_far = " so far" if self.outcomes.get("under-way") else ""
            lines.append(f"nothing is wrong with the client{so_far}")
        return "\n".join(lines)


def check_level(level: str) -> FailLevel:
    """A level by its name; raises MockError."""
    for known in FAIL_LEVELS:
        if level == known:
            return known
    hint = did_you_mean(str(level), FAIL_LEVELS) or f" Known are {', '.join(FAIL_LEVELS)}."
    raise MockError(f"unknown fail_level {level!r:.80}.{hint}")
