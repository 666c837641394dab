"""From exchanges to calls: which attempts belong together, and to which call belongs what its caller got.

Where there is one caller, each request after a failure is one more attempt. Where there are several with the same
request, attempts are those of patient callers as far as that is possible; only what is left then, a failure that
was neither tried again in time nor reported, goes with a request that came too soon after it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from engy_mock.books.entry import Entry
from engy_mock.books.heard import Heard
from engy_mock.verdict.attempt import FAILED, Attempt
from engy_mock.verdict.call import MAX_ATTEMPTS, MAY_GO_ON, OPEN, Call
from engy_mock.verdict.crowd import Crowd, crowds
from engy_mock.verdict.mending import is_mendable
from engy_mock.verdict.waits import Watches, is_waited_for

MAX_OPEN = 128
"""So many calls with the same request may wait for one more attempt, the latest ones."""

_ID = re.compile(r"[0-9a-f]{24,32}$")


def calls(entries: Iterable[Entry], heard: Sequence[Heard], watches: Watches) -> list[Call]:
    """The exchanges as calls, in the order of their first attempts; what was heard ends a call.

    Equal requests that overlap are calls of their own, since nobody tries again before the end of an attempt.
    """
    attempts = [Attempt(entry) for entry in entries]
    known = crowds(attempts, watches)
    grouping = Grouping(known, watches)
    grouping.group(attempts, heard)
    unexplained = grouping.unexplained
    if unexplained:
        grouping = Grouping(known, watches, unexplained)
        grouping.group(attempts, heard)
    return grouping.found


class Grouping:
    """One way to see attempts as calls: those in `hasty` may be followed by an attempt that came too soon."""

    def __init__(
        self, known: Mapping[bytes, Crowd], watches: Watches, hasty: frozenset[int] = frozenset()
    ) -> None:
        self.found: list[Call] = []
        self._known = known
        self._watches = watches
        self._hasty = hasty
        self._mendable: dict[int, bool] = {}
        self._by_last: dict[int, Call] = {}
        self._alike: dict[bytes, list[Call]] = {}
        self._continued = frozenset([number for crowd in known.values() for number in crowd.before.values()])
        self._passed_over: set[int] = set()

    def group(self, attempts: Iterable[Attempt], heard: Sequence[Heard]) -> None:
        """See them as calls, in their order."""
        waiting = sorted(heard, key=lambda one: one.behind)
        for attempt in attempts:
            while waiting and waiting[0].behind <= attempt.number:
                self._hear(waiting.pop(0))
            call = self._continued_by(attempt)
            if call is None:
                call = Call([attempt])
                self.found.append(call)
                # A call that has its answer is over once another one begins.
                alike = self._alike.setdefault(attempt.fingerprint, [])
                alike[:] = [one for one in alike[-MAX_OPEN:] if self._may_go_on(one)]
                alike.append(call)
            else:
                call.attempts.append(attempt)
            self._by_last[attempt.number] = call
        for one in waiting:
            self._hear(one)

    @property
    def unexplained(self) -> frozenset[int]:
        """First failures of one of several callers that no patient one has tried again, or spoken of."""
        return frozenset(
            [
                call.last.number
                for call in self.found
                if call.last.number in self._passed_over and call.heard is None and len(call.tries) == 1
            ]
        )

    def _may_go_on(self, call: Call) -> bool:
        return call.heard is None and call.last.state in MAY_GO_ON

    def _continued_by(self, attempt: Attempt) -> Call | None:
        """The call of which an attempt is one more; None where it begins one."""
        crowd = self._known[attempt.fingerprint]
        before = crowd.before.get(attempt.number)
        if before is not None:
            call = self._by_last[before]
            return call if call.heard is None else None
        if crowd.is_crowd and crowd.counts and attempt.count == 0:
            return None
        alike = self._alike.get(attempt.fingerprint, ())
        fitting = [
            call for call in alike if call.last.number not in self._continued and call.is_continued_by(attempt)
        ]
        if crowd.is_crowd:
            return self._of_crowd(attempt, crowd, fitting)
        return min(fitting, key=lambda call: (call.last.state in OPEN, call.last.number), default=None)

    def _of_crowd(self, attempt: Attempt, crowd: Crowd, fitting: Iterable[Call]) -> Call | None:
        """The same where there are several callers."""
        fitting = [
            call
            for call in fitting
            if self._is_mendable(call.last)
            and not crowd.is_independent(call.last, attempt)
            and (
                len(call.attempts) < MAX_ATTEMPTS
                or call.last.shares_line(attempt)
                or len(call.tries) < MAX_ATTEMPTS
            )
        ]
        in_time = [call for call in fitting if is_waited_for(call.last, attempt, self._watches)]
        if not in_time:
            self._passed_over.update([call.last.number for call in fitting])
            in_time = [call for call in fitting if call.last.number in self._hasty]
        return min(
            in_time,
            key=lambda call: (call.last.state in OPEN, not call.last.shares_line(attempt), call.last.number),
            default=None,
        )

    def _is_mendable(self, attempt: Attempt) -> bool:
        if attempt.number not in self._mendable:
            self._mendable[attempt.number] = attempt.state == "redirected" or is_mendable(attempt)
        return self._mendable[attempt.number]

    def _hear(self, heard: Heard) -> None:
        """Give what was heard to its call, if there is one."""
        beginnings = tuple([match[0] for one in heard.ids if (match := _ID.search(one))])
        for call in reversed(self.found):
            ids = [attempt.entry.request_id for attempt in call.attempts]
            if call.heard is None and any(one.startswith(beginning) for one in ids for beginning in beginnings):
                call.heard = heard
                return
        unheard = [
            call
            for call in reversed(self.found)
            if call.heard is None and call.last.number < heard.behind and call.last.number not in self._continued
        ]
        if heard.error is not None:
            fitting = [call for call in unheard if call.last.state in FAILED]
        else:
            texts = tuple(heard.texts)
            fitting = [call for call in unheard if texts in (call.last.texts, call.last.meant)]
        for call in (*fitting, *unheard):
            call.heard = heard
            return
