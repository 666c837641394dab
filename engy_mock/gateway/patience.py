"""Time that passes for clients that are told to wait and come again: a clock that goes along with them."""

import re
from collections.abc import Iterator
from threading import Lock

from engy_mock.vocabulary.clock import PatientClock, unix_time
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Begin, Call, Head, Step, Whole

MOST = 10_000
"""How many refused calls are remembered; the oldest are forgotten."""

KEYS = ("authorization", "x-api-key")

_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")


class Patience:
    """Remembers when refused calls may come again, and moves the clock there when they do."""

    def __init__(self, clock: PatientClock) -> None:
        self._clock = clock
        self._due: dict[bytes, float] = {}
        self._lock = Lock()

    def forget(self) -> None:
        """No call has been refused."""
        with self._lock:
            self._due = {}

    def came(self, call: Call) -> None:
        """A call has come: if it was told to come later, it is later now."""
        with self._lock:
            due = self._due.pop(_mark(call), None)
            if due is not None and due > self._clock.now():
                self._clock.set(due)

    def told(self, call: Call, head: Head) -> None:
        """A call gets this head: take note of when it may come again."""
        seconds = hint(head, self._clock.now()) if head.status >= 400 else None
        if seconds is None:
            return
        with self._lock:
            self._due[_mark(call)] = self._clock.now() + seconds
            while len(self._due) > MOST:
                self._due.pop(next(iter(self._due)))


class Watched(Iterator[Step]):
    """The steps of an answer, whose head is taken note of when it passes."""

    def __init__(self, steps: Iterator[Step], call: Call, patience: Patience) -> None:
        self._steps = steps
        self._call = call
        self._patience = patience

    def __next__(self) -> Step:
        step = next(self._steps)
        if isinstance(step, Whole | Begin):
            self._patience.told(self._call, step.head)
        return step

    def close(self) -> None:
        """No further step will be asked for."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()


def hint(head: Head, now: float) -> float | None:
    """How many seconds a client is told to wait; `Retry-After` before milliseconds, which only hurry it."""
    told = {name.lower(): value for name, value in head.headers}
    value = told.get("retry-after", "")
    if _SECONDS.fullmatch(value):
        return float(value)
    date = unix_time(value)
    if date is not None:
        return max(0.0, date - now)
    millis = told.get("retry-after-ms", "")
    return float(millis) / 1000 if _SECONDS.fullmatch(millis) else None


def _mark(call: Call) -> bytes:
    """What is the same when a call comes again."""
    keys = [call.headers.get(name) or "" for name in KEYS]
    return digest("again", call.method, call.path, *keys, call.body)
