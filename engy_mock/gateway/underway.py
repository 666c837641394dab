"""The calls that are being answered at this moment."""

from threading import Lock

from engy_mock.books.accounts import Hold


class Underway:
    """Counts the calls whose holds are open, all of them and those of one key."""

    __slots__ = ("_calls", "_lock")

    def __init__(self) -> None:
        self._calls: list[tuple[str, Hold]] = []
        self._lock = Lock()

    def copy(self) -> "Underway":
        """Another count of the same calls."""
        other = Underway()
        with self._lock:
            other._calls = list(self._calls)
        return other

    def enter(self, key: str, hold: Hold) -> tuple[int, int]:
        """How many calls are being answered now that this one is, and how many of them are of this key."""
        with self._lock:
            self._calls = [call for call in self._calls if call[1].is_open]
            self._calls.append((key, hold))
            return len(self._calls), sum([other == key for other, _ in self._calls])
