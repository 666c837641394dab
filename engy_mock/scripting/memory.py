"""What a rule remembers from one use to the next, for faults that depend on what came before."""

from collections.abc import Hashable
from threading import Lock

MAX_REMEMBERED = 10_000
"""So many things are remembered; then those go that were noted first."""


class Memory:
    """Numbers by what they stand for; each step is atomic.

    It depends on the order of requests, as `times` does.
    """

    __slots__ = ("_lock", "_numbers")

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._lock = Lock()

    def copy(self) -> "Memory":
        """Another memory of the same numbers."""
        other = Memory()
        with self._lock:
            other._numbers = dict(self._numbers)
        return other

    def count(self, *what: Hashable) -> int:
        """How often the same has been counted before."""
        with self._lock:
            before = self._numbers.get(what, 0)
            self._note(what, before + 1)
        return before

    def first(self, value: int, *what: Hashable) -> int:
        """The value that came first with the same."""
        with self._lock:
            if what not in self._numbers:
                self._note(what, value)
            return self._numbers[what]

    def _note(self, what: Hashable, value: int) -> None:
        self._numbers[what] = value
        if len(self._numbers) > MAX_REMEMBERED:
            del self._numbers[next(iter(self._numbers))]
