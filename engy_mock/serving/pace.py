"""How answers wait: on a schedule that does not drift, and in a bounded number of endless stalls."""

import asyncio
import logging
import math

from engy_mock.serving.limits import Limits
from engy_mock.vocabulary.clock import Clock, monotonic

log = logging.getLogger("engy_mock")


class Pace:
    """Lets pauses pass. `stalls` counts the endless ones under way, `refused` those that found no place.

    `scale` stretches the pauses under a clock that waits for real.
    """

    def __init__(self, limits: Limits, scale: float = 1.0) -> None:
        self._limits = limits
        self._scale = scale
        self.stalls = 0
        self.refused = 0

    async def wait(self, clock: Clock, due: float, seconds: float) -> float:
        """Let a pause pass that begins when `due` on the wall; returns when the next one begins.

        The end is fixed however late the last one ended, so that errors do not add up. After an endless pause
        that came to an end all the same, infinity: nothing follows it.
        """
        if seconds == math.inf:
            await self._stall()
            return math.inf
        if not clock.waits_for_real():
            await asyncio.sleep(0)
            return due
        due += seconds * self._scale
        await asyncio.sleep(max(0.0, due - monotonic()))
        return due

    async def _stall(self) -> None:
        """Wait to be cancelled, but not for ever, and not at all if too many do."""
        if self.stalls >= self._limits.max_stalls:
            self.refused += 1
            log.warning("an endless stall was not performed: %d are under way", self.stalls)
            return
        self.stalls += 1
        try:
            await asyncio.sleep(self._limits.stall_seconds)
        finally:
            self.stalls -= 1
