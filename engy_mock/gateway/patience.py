"""Time that passes for clients that are told to wait and come again: a clock that goes along with them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from engy_mock.vocabulary.clock import PatientClock, monotonic, unix_time
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Begin, Call, Head, Line, Step, Whole

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST = 10_000
"""So many different calls are remembered; the oldest are forgotten."""

MOST_ALIKE = 1_000
"""So many refusals of one and the same call are remembered."""

KEYS = ("authorization", "x-api-key")

_COUNT = re.compile("[0-9]{1,5}")
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A call that was told to come again: when it is due, and what shows who comes."""

    due: float
    told: float
    count: int | None
    line: Line | None

    def may_be(self, call: Call) -> bool:
        """Whether the same caller may have sent this one.

        Who says how often it has tried is taken at its word. Who does not goes back to its connection, or opens
        another one when that is closed: one that was there already, or stands beside it, is somebody else's.
        """
        count = count_of(call)
        if count:
            return self.count == count - 1
        if self.line is None or call.line is None or self.line is call.line:
            return True
        return self.line.closed is not None and call.line.opened >= self.told


class Patience:
    """Remembers when refused calls may come again, and moves the clock there when they do."""

    def __init__(self, clock: PatientClock) -> None:
        self._clock = clock
        self._refused: dict[bytes, list[Refused]] = {}
        self._asked_on: dict[bytes, Line | None] = {}
        self._lock = Lock()

    def forget(self) -> None:
        """No call has been refused."""
        with self._lock:
            self._refused, self._asked_on = {}, {}

    def came(self, call: Call) -> None:
        """A call has come: if it was told to come later, it is later now."""
        mark = _mark(call)
        with self._lock:
            line = call.line
            is_alone = line is not None and self._asked_on.get(mark, line) is line
            _keep(self._asked_on, mark, line if is_alone else None)
            waiting = self._refused.get(mark)
            if not waiting or (count_of(call) == 0 and not is_alone):
                # What an official client sends for the first time nobody has refused: unless its caller tries
                # again without it, which shows where there is one caller alone.
                return
            found = [one for one in waiting if one.may_be(call)]
            if not found:
                return
            due = min(found, key=lambda one: (one.line is not line, one.due))
            waiting.remove(due)
            if due.due > self._clock.now():
                self._clock.set(due.due)

    def told(self, call: Call, head: Head) -> None:
        """A call gets this head: take note of when it may come again."""
        now = self._clock.now()
        seconds = hint(head, now) if head.status >= 400 else None
        if seconds is None:
            return
        mark = _mark(call)
        with self._lock:
            waiting = self._refused.pop(mark, [])
            waiting.append(Refused(due=now + seconds, told=monotonic(), count=count_of(call), line=call.line))
            _keep(self._refused, mark, waiting[-MOST_ALIKE:])


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


def count_of(call: Call) -> int | None:
    """How often an official client says it has tried before; None where nothing is said."""
    said = call.headers.get("x-stainless-retry-count") or ""
    return int(said) if _COUNT.fullmatch(said) else None


def _keep(known: dict[Key, Value], key: Key, value: Value) -> None:
    known[key] = value
    while len(known) > MOST:
        known.pop(next(iter(known)))


def _mark(call: Call) -> bytes:
    """What is the same when a call comes again."""
    keys = [call.headers.get(name) or "" for name in KEYS]
    return digest("again", call.method, call.path, *keys, call.body)
