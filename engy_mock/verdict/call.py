"""One call of the application: all attempts at one request, and what the application says came of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from engy_mock.books.heard import Heard
from engy_mock.verdict.attempt import FAILED, Attempt, State

MAX_ATTEMPTS = 10
"""More attempts at one call than this are a storm."""

OPEN: frozenset[State] = frozenset({"under way", "silent"})

MAY_GO_ON: frozenset[State] = FAILED | OPEN | {"redirected"}


@dataclass(slots=True, eq=False)
class Call:
    """Attempts in order, at least one; `heard` is the end as the caller saw it, if the client says so."""

    attempts: list[Attempt]
    heard: Heard | None = field(default=None)

    @property
    def last(self) -> Attempt:
        """The attempt that decides how it went."""
        return self.attempts[-1]

    @property
    def tries(self) -> Sequence[Attempt]:
        """The attempts without those that only followed a redirect."""
        followed = [after for before, after in pairwise(self.attempts) if before.state == "redirected"]
        return [attempt for attempt in self.attempts if attempt not in followed]

    @property
    def steps(self) -> Iterator[tuple[Attempt, Attempt]]:
        """Each attempt with the one that came after it because of how it went."""
        return ((a, b) for a, b in pairwise(self.attempts) if a.state != "redirected")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The attempts as numbers of the journal."""
        return tuple([attempt.number for attempt in self.attempts])

    def is_continued_by(self, attempt: Attempt) -> bool:
        """Whether this attempt may be one more of the call."""
        if self.heard is not None:
            return False
        last = self.last
        if attempt.count:
            return last.is_over_before(attempt) or last.state == "under way"
        if last.state == "left" and not last.is_left_in_silence:
            return False  # it had what it wanted
        return (last.state in FAILED or last.state == "redirected") and last.is_over_before(attempt)
