"""The mock's time: it stands still until a test moves it, unless the wall clock is asked for."""

import time
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Protocol

from engy_mock.vocabulary.errors import MockError

START = 1792281600
"""Where every standing clock begins, in Unix seconds: the time of the documentation's examples (E-12)."""


LATEST = 253_402_300_799
"""The last second of the year 9999, which is the last that a date can name."""


class Clock(Protocol):
    """What tells the time to everything in the package."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def waits_for_real(self) -> bool:
        """Whether a pause of mock time takes as long on the wall."""
        ...


class StandingClock:
    """A clock that shows the same time until `advance` or `set` moves it; pauses under it cost nothing.

    It can be let run for a while, from the time that it shows: then pauses really wait.
    """

    def __init__(self, now: float = START) -> None:
        self._now = _checked(now)
        self._runs_since: float | None = None

    def now(self) -> float:
        """Unix time in seconds."""
        since = self._runs_since
        return self._now if since is None else min(self._now + time.monotonic() - since, LATEST)

    def waits_for_real(self) -> bool:
        """Only while it runs: else a pause moves nothing and costs nothing."""
        return self._runs_since is not None

    def run(self) -> None:
        """Let time pass from now on."""
        if self._runs_since is None:
            self._runs_since = time.monotonic()

    def stand(self) -> None:
        """Stand still again, at the time that it shows."""
        self._now, self._runs_since = self.now(), None

    def advance(self, seconds: float) -> None:
        """Move the clock forward; raises MockError for what is no span that it can move."""
        if not _is_span(seconds):
            raise MockError(f"a clock moves forward only, by a number of seconds, got {seconds!r:.80}")
        self._now = _checked(self._now + seconds)

    def set(self, now: float) -> None:
        """Show this Unix time, in seconds, from now on; raises MockError for none between 1970 and 9999."""
        self._now = _checked(now)
        if self._runs_since is not None:
            self._runs_since = time.monotonic()


def _is_span(value: object) -> bool:
    return isinstance(value, int | float) and value >= 0


def _checked(now: object) -> float:
    """A Unix time in seconds that every date can show; raises MockError, above all for milliseconds."""
    if not isinstance(now, int | float) or not 0 <= now <= LATEST:
        raise MockError(f"a clock shows Unix time in seconds, from 0 to {LATEST}, not {now!r:.80}")
    return float(now)


class PatientClock(StandingClock):
    """A standing clock that goes along with clients: who was told to wait finds that time when he comes again.

    Who is refused with `Retry-After: 42` and sends the same again, at once or not, is answered 42 seconds later.
    Who sends the same beside him is somebody else, as far as connections and the counts of official clients tell.
    """


class WallClock:
    """The machine's own time; pauses really wait."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def waits_for_real(self) -> bool:
        """Always."""
        return True


monotonic = time.monotonic
"""Seconds on the machine's monotonic clock, for schedules and durations on the wall."""


def standing_today() -> StandingClock:
    """A standing clock that begins now: dates are right for clients that look at the machine's time."""
    return StandingClock(float(int(time.time())))


def unix_time(date: str) -> float | None:
    """The Unix time that a date in a header names; None for what is no date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None


def http_date(now: float) -> str:
    """A Unix time as the `Date` header writes it, in whole seconds of GMT."""
    return format_datetime(datetime.fromtimestamp(int(now), UTC), usegmt=True)
