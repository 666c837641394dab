"""Answers whose service does not notice that nobody hears them: they are under way until their silence is over."""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from threading import RLock, Timer

from engy_mock.vocabulary.clock import monotonic


class Unheard:
    """Ends them when it is time, though the loops that told them may be gone by then; for any thread."""

    def __init__(self) -> None:
        self._lock = RLock()  # an answer may come in while another one does: as garbage
        self._numbers = count()
        self._ends: list[tuple[float, int, Callable[[], object]]] = []
        self._timer: Timer | None = None

    def keep(self, until: float, end: Callable[[], object]) -> None:
        """Call `end` at this moment of the machine's monotonic clock, or when all are ended."""
        with self._lock:
            heappush(self._ends, (until, next(self._numbers), end))
            if self._ends[0][0] == until:
                self._set_timer()

    def end_all(self) -> None:
        """End all of them now."""
        with self._lock:
            ends, self._ends = self._ends, []
            self._set_timer()
        for _, _, end in sorted(ends):
            end()

    def _end_due(self) -> None:
        """End those whose time has come."""
        due = []
        with self._lock:
            while self._ends and self._ends[0][0] <= monotonic():
                due.append(heappop(self._ends)[2])
            self._set_timer()
        for end in due:
            end()

    def _set_timer(self) -> None:
        """Wake up for the first of them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._ends:
            self._timer = Timer(max(0.0, self._ends[0][0] - monotonic()), self._end_due)
            self._timer.name, self._timer.daemon = "engy-mock-unheard", True
            self._timer.start()
