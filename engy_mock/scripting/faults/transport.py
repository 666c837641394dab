"""Faults of the transfer: an answer that breaks, ends too soon or is none ("Transport")."""

from collections.abc import Iterator

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.places import upto
from engy_mock.vocabulary.events import Cut, Event
from engy_mock.vocabulary.wire import Close, Step, Unframed

GREETING = b"SSH-2.0-engy_mock\r\n"
"""How another protocol begins."""


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


@fault("garbage-reply")
class GarbageReply(Fault):
    """Answer in another protocol than HTTP, then close the connection."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A greeting that no client of HTTP expects."""
        yield Unframed(GREETING)
        yield Close()
