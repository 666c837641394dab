"""The course of an exchange: when it came, when its answer went out, and what of that was meant to."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.wire import Begin, Close, Head, Repeat, Step, Unframed, Wait, Whole, Write

LONG_SECONDS = 10.0
"""A silence of so many seconds that a fault has made is a stall (Q-19)."""

MAX_KEPT = 1024 * 1024
"""The largest answer that is kept as it was planned, in bytes."""


Retell = Callable[[Any], Iterable[tuple[bytes, bool]]]
"""The parts of a body, made anew for the entry of its exchange, and whether each is a piece of the answer."""


class Course:
    """How an answer went.

    `arrived`, `first`, `last` and `ended` are readings of the machine's monotonic clock, None for what has not
    happened: the whole request was there, the first and the last bytes were handed out, and nothing more could
    follow. `steps` are those of an answer that was refused or that faults have changed, as it was planned, `done`
    of them handed out; healthy answers keep none, there is nothing odd about them: `retell` tells them once more,
    part by part, and which of these are pieces. Without `is_kept` they were too large. `silences` names the faults
    that make it fall silent for ever, `stalls` those that do so for long. It `is_broken_off` where the mock was
    stopped or reset before its end.
    """

    __slots__ = (
        "arrived",
        "done",
        "ended",
        "first",
        "is_broken_off",
        "is_kept",
        "last",
        "retell",
        "silences",
        "stalls",
        "steps",
    )

    def __init__(self) -> None:
        self.arrived = monotonic()
        self.first: float | None = None
        self.last: float | None = None
        self.ended: float | None = None
        self.steps: Sequence[Step] = ()
        self.done = 0
        self.retell: Retell | None = None
        self.is_broken_off = False
        self.is_kept = True
        self.silences: tuple[str, ...] = ()
        self.stalls: tuple[str, ...] = ()

    def at_once(self, *steps: Step) -> None:
        """The answer is handed out as a whole, at this moment."""
        self.first = self.last = self.ended = monotonic()
        self.steps = steps
        self.done = len(steps)

    def plan(self, steps: Sequence[Step]) -> None:
        """These steps are going to be performed."""
        if sum([size(step) for step in steps]) > MAX_KEPT:
            self.is_kept = False
        else:
            self.steps = tuple(steps)

    def bytes_out(self) -> None:
        """Bytes are handed out at this moment."""
        self.last = monotonic()
        if self.first is None:
            self.first = self.last

    def break_off(self) -> None:
        """The mock is stopped or reset; what has ended has ended."""
        if self.ended is None:
            self.is_broken_off = True

    def end(self) -> None:
        """Nothing follows; a second time does nothing."""
        if self.ended is None:
            self.ended = monotonic()

    @property
    def sent(self) -> Sequence[Step]:
        """The steps that were handed out."""
        return self.steps[: self.done]

    @property
    def body(self) -> bytes:
        """What the steps that were handed out brought of a body."""
        return b"".join([_data(step) for step in self.sent])

    @property
    def unsent(self) -> Sequence[Step]:
        """The steps that were planned and never came to it."""
        return self.steps[self.done :]

    @property
    def is_broken(self) -> bool:
        """The connection was ended by the service before the end of the answer, or after a silence without end."""
        last = self.sent[-1] if self.sent else None
        return self.is_broken_off or isinstance(last, Close) or (last is not None and is_endless(last))

    @property
    def head(self) -> Head | None:
        """The head that was handed out; None if there was none, or if nothing was kept."""
        return next((step.head for step in self.sent if isinstance(step, Begin | Whole)), None)

    @property
    def weight(self) -> int:
        """About how many bytes of memory it keeps."""
        return sum([300 + size(step) for step in self.steps])


def is_endless(step: Step) -> bool:
    """Whether nothing can follow this step, since it never ends."""
    if isinstance(step, Repeat):
        return step.count is None
    return isinstance(step, Wait) and step.seconds == math.inf


def is_long(step: Step) -> bool:
    """Whether this step has an end, but is silent for long before it, or brings nothing but signs of life."""
    if isinstance(step, Repeat):
        return step.count is not None and step.count * step.seconds >= LONG_SECONDS
    return isinstance(step, Wait) and LONG_SECONDS <= step.seconds < math.inf


def _data(step: Step) -> bytes:
    """The bytes of a body that a step brings."""
    match step:
        case Whole(body=data) | Write(data=data):
            return data
        case Repeat(data=data, count=count):
            return data * (count or 1)
    return b""


def size(step: Step) -> int:
    """How many bytes of a body a step brings."""
    match step:
        case Whole(body=data) | Write(data=data) | Unframed(data=data) | Repeat(data=data):
            return len(data)
    return 0
