"""Faults of time: an answer that comes late, slowly, or stops in the middle ("Transport")."""

import math
from collections.abc import Iterator

from engy_mock.scripting.fault import Count, Fault, Some, fault
from engy_mock.scripting.fault import Pause as Span
from engy_mock.scripting.places import parted, upto
from engy_mock.scripting.writes import chopped
from engy_mock.vocabulary.events import Ended, Event, Heartbeat, Pause
from engy_mock.vocabulary.wire import Frame, Step, Wait

BEAT_SECONDS = 1.0
"""The time between two signs of life."""


def _span(seconds: float | None) -> float:
    """A pause of so many seconds; None is one without end."""
    return math.inf if seconds is None else seconds


@fault("slow-headers")
class SlowHeaders(Fault):
    """Say nothing at all, for ever or for so many seconds, then answer."""

    seconds: Span | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A pause before the first byte."""
        yield Wait(_span(self.seconds))
        yield from steps


@fault("slow-first-event", streams=True)
class SlowFirstEvent(Fault):
    """Send the headers at once, then no event, for ever or for so many seconds.

    With `comments` a comment line comes every second meanwhile.
    """

    seconds: Span | None = None
    comments: bool = False

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """Silence or signs of life, then the answer."""
        if not self.comments:
            yield Pause(_span(self.seconds))
        elif self.seconds is None:
            yield Heartbeat(BEAT_SECONDS)
        else:
            count = max(1, round(self.seconds / BEAT_SECONDS))
            yield Heartbeat(self.seconds / count, count)
        yield from events


@fault("dribble")
class Dribble(Fault):
    """Send the body a few bytes at a time, so many seconds apart."""

    seconds: Span = 1.0
    size: Some = 16

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Small writes with pauses between them."""
        is_first = True
        for step in steps:
            for part in chopped(step, self.size) if isinstance(step, Frame) else (step,):
                if isinstance(part, Frame):
                    if not is_first:
                        yield Wait(self.seconds)
                    is_first = False
                yield part


@fault("stall")
class Stall(Fault):
    """Fall silent after some pieces, for ever or for so many seconds."""

    after: Count = 0
    seconds: Span | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, silence, the rest."""
        before, rest = parted(events, self.after)
        yield from before
        yield Pause(_span(self.seconds))
        yield from rest


@fault("stall-with-comments", streams=True)
class StallWithComments(Fault):
    """Send comment lines instead of what is left of the answer, for ever."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then signs of life."""
        yield from upto(self.after, events)
        yield Heartbeat(BEAT_SECONDS)


@fault("stall-with-pings", endpoints=("messages",), streams=True)
class StallWithPings(Fault):
    """Send pings instead of what is left of the answer, for ever."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then signs of life."""
        yield from upto(self.after, events)
        yield Heartbeat(BEAT_SECONDS, is_ping=True)


@fault("stall-before-terminator", streams=True)
class StallBeforeTerminator(Fault):
    """Say everything, then fall silent instead of ending."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """All but the end."""
        for event in events:
            yield Pause(math.inf) if isinstance(event, Ended) else event


@fault("half-open")
class HalfOpen(Fault):
    """Be gone after some pieces without a sign: nothing is written or read any more, the connection stays."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then nothing, in either direction."""
        before, rest = parted(events, self.after)
        yield from before
        yield Pause(math.inf, is_deaf=True)
        yield from rest
