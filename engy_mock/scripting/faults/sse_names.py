"""Faults of names: events that have one although they should not, or lack it ("SSE")."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document
from engy_mock.vocabulary.wire import Frame, Step

Name = Annotated[str, Field(pattern=r"^[^\r\n]+$")]


@fault("named-events", endpoints=("chat", "completions", "responses"), streams=True)
class NamedEvents(Fault):
    """Give the events of the OpenAI dialects a name."""

    name: Name = "message"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """An `event:` line on each event that has none."""
        line = b"event: %b\n" % self.name.encode()
        return sse.reworded(steps, lambda data: line + data if data.startswith(b"data:") else data)


@fault("event-name-missing", endpoints=("messages",), streams=True)
class EventNameMissing(Fault):
    """Send the events of messages without their names."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`data:` lines only."""
        return sse.reworded(steps, lambda data: data.partition(b"\n")[2] if data.startswith(b"event: ") else data)


@fault("type-missing", endpoints=("messages",), streams=True)
class TypeMissing(Fault):
    """Send the events of messages without `type` in their data."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`event:` lines only."""

        def untyped(document: Document, frame: Frame) -> Document:
            return {key: value for key, value in document.items() if key != "type"}

        return sse.rewritten(steps, untyped)
