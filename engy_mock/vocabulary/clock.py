"""The mock's time: it stands still until a test moves it, unless the wall clock is asked for."""

import time
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Protocol

START = 1792281600
"""Where every standing clock begins, in Unix seconds: the time of the documentation's examples (E-12)."""


class Clock(Protocol):
    """What tells the time to everything in the package."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def waits_for_real(self) -> bool:
        """Whether a pause of mock time takes as long on the wall."""
        ...


class StandingClock:
    """A clock that shows the same time until `advance` or `set` moves it; pauses under it cost nothing."""

    def __init__(self, now: float = START) -> None:
        self._now = float(now)

    def now(self) -> float:
        """Unix time in seconds."""
        return self._now

    def waits_for_real(self) -> bool:
        """Never: a pause moves nothing and costs nothing."""
        return False

    def advance(self, seconds: float) -> None:
        """Move the clock forward; raises ValueError for a negative span."""
        if not seconds >= 0:
            raise ValueError(f"a clock moves forward only, got {seconds} seconds")
        self._now += seconds

    def set(self, now: float) -> None:
        """Show this Unix time from now on."""
        self._now = float(now)


class WallClock:
    """The machine's own time; pauses really wait."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def waits_for_real(self) -> bool:
        """Always."""
        return True


def monotonic() -> float:
    """Seconds on the machine's monotonic clock, for schedules and durations on the wall."""
    return time.monotonic()


def http_date(now: float) -> str:
    """A Unix time as the `Date` header writes it, in whole seconds of GMT."""
    return format_datetime(datetime.fromtimestamp(int(now), UTC), usegmt=True)
