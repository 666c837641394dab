"""One call of the application: all attempts at one request, and what the application says came of it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from engy_mock.books.entry import Entry
from engy_mock.books.heard import Heard
from engy_mock.verdict.attempt import FAILED, Attempt, State

OPEN: frozenset[State] = frozenset({"under way", "silent"})

MAY_GO_ON: frozenset[State] = FAILED | OPEN | {"redirected"}

_ID = re.compile(r"[0-9a-f]{24,32}$")


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
        if attempt.retry_count:
            return _is_over(last, attempt) or last.state == "under way"
        if last.state == "left" and not last.is_left_in_silence:
            return False  # it had what it wanted
        return (last.state in FAILED or last.state == "redirected") and _is_over(last, attempt)


def _is_over(last: Attempt, attempt: Attempt) -> bool:
    """Whether an attempt was over for the client when the next one came; in a silence only the client knows."""
    end = last.seen_end
    return last.state == "silent" or (end is not None and end <= attempt.entry.course.arrived)


def calls(entries: Iterable[Entry], heard: Sequence[Heard]) -> list[Call]:
    """The exchanges as calls, in the order of their first attempts; what was heard ends a call.

    Equal requests that overlap are calls of their own, since nobody tries again before the end of an attempt.
    """
    found: list[Call] = []
    open_calls: dict[bytes, list[Call]] = {}
    waiting = sorted(heard, key=lambda one: one.behind)
    for entry in entries:
        while waiting and waiting[0].behind <= entry.number:
            _hear(waiting.pop(0), found)
        attempt = Attempt(entry)
        alike = open_calls.setdefault(attempt.fingerprint, [])
        fitting = [call for call in alike if call.is_continued_by(attempt)]
        if fitting:
            # Of several that may go on it is the one with as many attempts as the client says.
            count = attempt.retry_count
            fitting.sort(key=lambda call: (len(call.tries) != count, call.last.state in OPEN, call.last.number))
            fitting[0].attempts.append(attempt)
        else:
            # A call that has its answer is over once another one begins.
            alike[:] = [call for call in alike if call.heard is None and call.last.state in MAY_GO_ON]
            alike.append(Call([attempt]))
            found.append(alike[-1])
    for one in waiting:
        _hear(one, found)
    return found


def _hear(heard: Heard, found: Sequence[Call]) -> None:
    """Give what was heard to its call, if there is one."""
    beginnings = tuple([match[0] for one in heard.ids if (match := _ID.search(one))])
    for call in reversed(found):
        ids = [attempt.entry.request_id for attempt in call.attempts]
        if call.heard is None and any(one.startswith(beginning) for one in ids for beginning in beginnings):
            call.heard = heard
            return
    unheard = [call for call in reversed(found) if call.heard is None and call.last.number < heard.behind]
    if heard.error is not None:
        fitting = [call for call in unheard if call.last.state in FAILED]
    else:
        texts = tuple(heard.texts)
        fitting = [call for call in unheard if texts in (call.last.texts, call.last.meant)]
    for call in (*fitting, *unheard):
        call.heard = heard
        return
