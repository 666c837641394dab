"""How answers wait: on a schedule that does not drift, and in a bounded number of stalls."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import TypeVar

from engy_mock.books.course import LONG_SECONDS
from engy_mock.serving.beside import beside
from engy_mock.serving.limits import Limits
from engy_mock.vocabulary.clock import Clock, monotonic

log = logging.getLogger("engy_mock")

T = TypeVar("T")

Refusal = Callable[[], object]
"""What is done where a stall finds no place."""


def _nothing() -> None:
    """Nobody wants to know."""


class Pace:
    """Lets pauses pass. `stalls` counts the stalls under way, `refused` those that found no place.

    `scale` stretches the pauses under a clock that waits for real.
    """

    def __init__(self, limits: Limits, scale: float = 1.0) -> None:
        self._limits = limits
        self._scale = scale
        self._lock = Lock()
        self.stalls = 0
        self.refused = 0

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass on the wall; 0 lets only the others have their turn."""
        await asyncio.sleep(seconds)

    async def beside(self, work: Callable[[], T]) -> T:
        """Do what takes a while without holding up the others."""
        return await beside(work)

    async def wait(
        self, clock: Clock, due: float, seconds: float, refused: Refusal = _nothing, *, is_stall: bool = False
    ) -> float:
        """Let a pause pass that begins when `due` on the wall; returns when the next one begins.

        None is longer than an endless one may be. The end is fixed however late the last one ended, so that
        errors do not add up. After an endless pause that came to an end all the same, infinity: nothing follows
        it. One that `is_stall` and really takes long needs a place as well. `refused` is called if it found none;
        then it is over at once.
        """
        if seconds == math.inf:
            await self._stall(refused)
            return math.inf
        if not clock.waits_for_real():
            await self.sleep(0)
            return due
        span = min(seconds * self._scale, self._limits.stall_seconds)
        if is_stall and span >= LONG_SECONDS:
            with self._place(refused) as is_free:
                if is_free:
                    due += span
                    await self.sleep(max(0.0, due - monotonic()))
            return due
        due += span
        await self.sleep(max(0.0, due - monotonic()))
        return due

    def end_of(self, seconds: float) -> float | None:
        """When a pause that begins now is over on the wall; None if it has an end anyway."""
        return monotonic() + self._limits.stall_seconds if seconds == math.inf else None

    async def beats(
        self,
        clock: Clock,
        due: float,
        seconds: float,
        count: int | None,
        refused: Refusal = _nothing,
        *,
        is_stall: bool = False,
    ) -> AsyncIterator[float]:
        """Moments of a repeated sign of life, so many or without end; what it yields begins the next pause.

        Without end they really come every so many seconds, and infinity is the last; `refused` is called if those
        found no place, or a stall that really takes long.
        """
        takes = (count or 0) * seconds * self._scale
        needs_place = is_stall and takes >= LONG_SECONDS and clock.waits_for_real()
        with self._place(refused) if needs_place else nullcontext(True) as is_free:
            for _ in range(count or 0):
                if is_free:
                    due = await self.wait(clock, due, seconds)
                    yield due
        if count is None:
            over = monotonic() + self._limits.stall_seconds
            with self._place(refused) as is_free:
                while is_free and monotonic() < over:
                    await self.sleep(seconds * self._scale)
                    yield due
            yield math.inf

    async def _stall(self, refused: Refusal) -> None:
        """Wait to be cancelled, but not for ever, and not at all if too many do."""
        with self._place(refused) as is_free:
            if is_free:
                await self.sleep(self._limits.stall_seconds)

    @contextmanager
    def _place(self, refused: Refusal) -> Iterator[bool]:
        """A place among the stalls; false if there is none left."""
        with self._lock:
            has_room = self.stalls < self._limits.max_stalls
            if has_room:
                self.stalls += 1
            else:
                self.refused += 1
        if not has_room:
            log.warning("a stall was not performed: %d are under way", self._limits.max_stalls)
            refused()
            yield False
            return
        try:
            yield True
        finally:
            with self._lock:
                self.stalls -= 1
