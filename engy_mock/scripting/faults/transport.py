"""Faults of the transfer: how a connection ends, falls silent or breaks ("Transport")."""

import math
from collections.abc import Iterator

from engy_mock.scripting.fault import Count, Fault, Seconds, fault
from engy_mock.scripting.places import parted, upto
from engy_mock.vocabulary.events import Cut, Event, Heartbeat, Pause
from engy_mock.vocabulary.wire import Close, Step, Wait

BEAT_SECONDS = 1.0
"""The time between two signs of life, unless a kind says otherwise."""


@fault("reset")
class Reset(Fault):
    """Break the connection by RST after some pieces."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the end."""
        yield from upto(self.after, events)
        yield Cut(abrupt=True)


@fault("cut")
class CutOff(Fault):
    """Close the connection after some pieces, without the last chunk."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the end."""
        yield from upto(self.after, events)
        yield Cut()


@fault("truncate")
class Truncate(Fault):
    """End the answer after some pieces, in good order but without its end."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces."""
        return upto(self.after, events)


@fault("stall")
class Stall(Fault):
    """Fall silent after some pieces, for ever or for so many seconds."""

    after: Count = 0
    seconds: Seconds | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, silence, the rest."""
        before, rest = parted(events, self.after)
        yield from before
        yield Pause(math.inf if self.seconds is None else self.seconds)
        yield from rest


@fault("stall-with-comments", streams=True)
class StallWithComments(Fault):
    """Send comment lines instead of what is left of the answer, for ever."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then signs of life."""
        yield from upto(self.after, events)
        yield Heartbeat(BEAT_SECONDS)


@fault("slow-headers")
class SlowHeaders(Fault):
    """Say nothing at all for so many seconds, then answer."""

    seconds: Seconds

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A pause before the first byte."""
        yield Wait(self.seconds)
        yield from steps


@fault("reset-before-headers")
class ResetBeforeHeaders(Fault):
    """Read the request, then break the connection by RST."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """No byte at all."""
        yield Close(abrupt=True)


@fault("empty-reply")
class EmptyReply(Fault):
    """Read the request, then close the connection without a byte."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """No byte at all."""
        yield Close()
