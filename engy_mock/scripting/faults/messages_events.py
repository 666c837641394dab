"""Faults of the events around the blocks of a message: pings, the last delta and the end ("Messages")."""

from collections.abc import Iterator
from typing import Annotated, Literal

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document, event, kind, rewritten, with_payload, without
from engy_mock.vocabulary.events import Heartbeat
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.wire import Frame, Step

PING = event(b'{"type":"ping"}', "ping")


@fault("ping-empty", endpoints=("messages",), streams=True)
class PingEmpty(Fault):
    """Send pings with nothing behind `data:`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps with empty pings."""
        for step in steps:
            yield with_payload(step, b"") if isinstance(step, Frame) and kind(step) == "ping" else step


@fault("ping-storm", endpoints=("messages",), streams=True)
class PingStorm(Fault):
    """Send so many pings between any two events."""

    count: Annotated[int, Limits(ge=0, le=100)] = 10

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Pings before each event but the first."""
        has_begun = False
        for step in steps:
            if isinstance(step, Frame) and not step.is_whole:
                if has_begun:
                    yield from [Frame(PING, Heartbeat(0, 1, is_ping=True))] * self.count
                has_begun = True
            yield step


@fault("message-delta-bare", endpoints=("messages",))
class MessageDeltaBare(Fault):
    """Say at the end neither what the answer came to nor why it ended, or only one of them not."""

    lacks: Literal["usage", "stop_reason", "both"] = "both"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`message_delta`, or the whole message, without usage or with a null `stop_reason`."""

        def change(document: Document, _: Frame) -> Document:
            match document:
                case {"type": "message_delta", "delta": dict(reasoned)}:
                    pass
                case {"type": "message"}:
                    reasoned = document
                case _:
                    return document
            if self.lacks != "stop_reason":
                document.pop("usage", None)
            if self.lacks != "usage":
                reasoned["stop_reason"] = None
            return document

        return rewritten(steps, change)


@fault("message-delta-twice", endpoints=("messages",), streams=True)
class MessageDeltaTwice(Fault):
    """Send `message_delta` twice."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps, and that one again."""
        for step in steps:
            yield step
            if kind(step) == "message_delta":
                yield step


@fault("no-message-stop", endpoints=("messages",), streams=True)
class NoMessageStop(Fault):
    """End the stream, in good order, without `message_stop`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps but that one."""
        return without(steps, "message_stop")
