"""The attempts at one request: whether several callers made them, and which of them belong to one caller for sure.

Refusals that come at once never overlap, so two callers with the same request look like one that has no patience.
Connections and the counts of official clients tell them apart.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.call import MAY_GO_ON
from engy_mock.verdict.waits import Watches, is_waited_for
from engy_mock.vocabulary.wire import Line

GRANTED_SECONDS = 0.05
"""So much later than the next one a connection may be closed by a client that has only one at a time."""

MAX_WAITING = 256
"""So many attempts may be counted on from, the latest ones."""

NOBODY: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What is known of the callers of one request.

    `before` has, for each attempt that counts on from another one, that one, both by number. `is_crowd` where
    something shows that there is more than one caller.
    """

    before: Mapping[int, int]
    is_crowd: bool
    firsts: Mapping[Line, Attempt]

    @property
    def counts(self) -> bool:
        """Whether its clients try again by themselves, and say so: then a count of nought begins a call."""
        return bool(self.before)

    def is_independent(self, earlier: Attempt, later: Attempt) -> bool:
        """Whether the caller of the later one was there already before the earlier one had failed."""
        line, end = later.entry.line, earlier.seen_end
        if line is None or end is None or line is earlier.entry.line:
            return False
        return self.firsts.get(line) is later and line.opened < end


def crowds(attempts: Sequence[Attempt], watches: Watches) -> Mapping[bytes, Crowd]:
    """The callers of all requests, by what stands for the request."""
    alike: dict[bytes, list[Attempt]] = {}
    lines: dict[Line, list[Attempt]] = {}
    for attempt in attempts:
        alike.setdefault(attempt.fingerprint, []).append(attempt)
        if attempt.entry.line is not None:
            lines.setdefault(attempt.entry.line, []).append(attempt)
    firsts = {line: users[0] for line, users in lines.items()}
    found: dict[bytes, Crowd] = {}
    for fingerprint, group in alike.items():
        before = _counted_on(group, watches) if len(group) > 1 else NOBODY
        is_crowd = len(group) > 1 and (
            _overlap(group) or _are_interleaved(group, before) or _have_own_lines(group, lines)
        )
        found[fingerprint] = Crowd(before=before, is_crowd=is_crowd, firsts=firsts)
    return found


def _counted_on(group: Sequence[Attempt], watches: Watches) -> Mapping[int, int]:
    """For each attempt that counts on from another one that one: rather one that failed, and in time."""
    found: dict[int, int] = {}
    waiting: dict[int, list[Attempt]] = {}
    for attempt in group:
        if attempt.count is None:
            continue
        latest = waiting.get(attempt.count - 1, [])[-MAX_WAITING:]
        fitting = [one for one in latest if _may_precede(one, attempt)]
        if fitting:
            chosen = min(
                fitting,
                key=lambda one: (
                    one.state not in MAY_GO_ON,
                    not is_waited_for(one, attempt, watches),
                    not one.shares_line(attempt),
                    one.number,
                ),
            )
            found[attempt.number] = chosen.number
            waiting[attempt.count - 1].remove(chosen)
        waiting.setdefault(attempt.count, []).append(attempt)
    return found


def _may_precede(one: Attempt, attempt: Attempt) -> bool:
    return one.state == "under way" or one.is_over_before(attempt)


def _overlap(group: Iterable[Attempt]) -> bool:
    """Whether one came before another was over, which no client does that has not left it."""
    last = 0.0
    for attempt in group:
        if attempt.entry.course.arrived < last:
            return True
        if attempt.state not in {"silent", "left", "under way"}:
            last = max(last, attempt.seen_end or 0.0)
    return False


def _are_interleaved(group: Sequence[Attempt], before: Mapping[int, int]) -> bool:
    """Whether another one came between two that belong together by their counts."""
    places = {attempt.number: place for place, attempt in enumerate(group)}
    return any(places[later] - places[earlier] > 1 for later, earlier in before.items())


def _have_own_lines(group: Sequence[Attempt], lines: Mapping[Line, Sequence[Attempt]]) -> bool:
    """Whether a connection was opened for one while another one's stood open, for nothing else but that one."""
    fingerprint = group[0].fingerprint
    used = {line: None for attempt in group if (line := attempt.entry.line) is not None}
    still_open: list[Line] = []
    for line in sorted(used, key=lambda one: one.opened):
        until = line.opened + GRANTED_SECONDS
        still_open = [one for one in still_open if one.closed is None or one.closed > until]
        if lines[line][0].fingerprint == fingerprint:
            for other in still_open:
                place = bisect_right(lines[other], line.opened, key=lambda one: one.entry.course.arrived)
                if lines[other][max(0, place - 1)].fingerprint == fingerprint:
                    return True
        still_open.append(line)
    return False
