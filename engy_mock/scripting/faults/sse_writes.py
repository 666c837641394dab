"""Faults of writes: a body in other portions than events ("SSE")."""

from collections.abc import Iterator

from engy_mock.scripting.fault import Fault, Some, fault
from engy_mock.scripting.writes import chopped, grouped, held_back
from engy_mock.vocabulary.wire import Frame, Step


@fault("bytewise")
class Bytewise(Fault):
    """Send the body byte by byte, or so many bytes to a write."""

    size: Some = 1

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Small writes."""
        for step in steps:
            if isinstance(step, Frame):
                yield from chopped(step, self.size)
            else:
                yield step


@fault("one-write", streams=True)
class OneWrite(Fault):
    """Hold a stream back, and send all of it in one write."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One large write."""
        return grouped(held_back(steps), None)


@fault("many-per-write", streams=True)
class ManyPerWrite(Fault):
    """Send so many events of a stream with each write."""

    events: Some = 4

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Writes of several events."""
        return grouped(steps, self.events)
