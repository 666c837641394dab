"""Who keeps the door closed, and until when."""

import math
from threading import Lock

from engy_mock.vocabulary.clock import monotonic


class Holds:
    """All that keep one door closed; may be used from any thread. Seconds are those of the wall."""

    def __init__(self) -> None:
        self._until: dict[object, float] = {}
        self._lock = Lock()

    @property
    def is_closed(self) -> bool:
        """Whether anybody does."""
        if not self._until:
            return False
        with self._lock:
            now = monotonic()
            return any(now < until for until in self._until.values())

    def add(self, seconds: float = math.inf) -> object:
        """Keep the door closed for so long; gives what `release` takes."""
        hold = object()
        with self._lock:
            self._until[hold] = monotonic() + seconds
        return hold

    def release(self, hold: object) -> None:
        """One does so no more."""
        with self._lock:
            self._until.pop(hold, None)

    def clear(self) -> None:
        """Nobody does."""
        with self._lock:
            self._until.clear()
