"""Faults of blocks: comments, empty events and odd fields between the events of a stream ("SSE")."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.places import before_pieces
from engy_mock.vocabulary.events import Raw
from engy_mock.vocabulary.wire import Frame, Step

COMMENT = b": engy-mock\n\n"
BARE_COMMENT = b":\n\n"
IDENTITY = b"id: 1\n"
RETRY = b"retry: 3000\n\n"
HEARTBEAT = b": keep-alive"
UNKNOWN = "engy_mock.unknown"
"""An event that no client has heard of."""

Where = Literal["everywhere", "first", "between", "before-done"]
"""Before every event, before the first, between events, or right before the last, `[DONE]` where there is one."""


def _block(data: bytes) -> Frame:
    return Frame(data, Raw(data))


@fault("sse-comments", streams=True)
class SseComments(Fault):
    """Send comments between the events; with `bare` they are a colon and nothing more."""

    where: Where = "everywhere"
    bare: bool = False

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The events with comments where they are wanted."""
        comment = _block(BARE_COMMENT if self.bare else COMMENT)
        done = list(steps)
        places = [place for place, step in enumerate(done) if sse.is_event(step)]
        wanted = {
            "everywhere": places,
            "first": places[:1],
            "between": places[1:-1],
            "before-done": places[-1:],
        }[self.where]
        for place, step in enumerate(done):
            if place in wanted:
                yield comment
            yield step


@fault("comment-as-data", streams=True)
class CommentAsData(Fault):
    """Send a comment as the data of an event before the first piece."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A heartbeat that somebody on the way has taken for an event."""
        return before_pieces(steps, _block(sse.event(HEARTBEAT)))


@fault("comment-after-id", streams=True)
class CommentAfterId(Fault):
    """Give the first event an id, and send a comment as a block of its own behind it."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A block without data, where some clients remember the id and make an event of it."""
        is_first = True
        for step in steps:
            if is_first and sse.is_event(step):
                is_first = False
                yield replace(step, data=IDENTITY + step.data)
                yield _block(HEARTBEAT + b"\n\n")
            else:
                yield step


@fault("retry-block", streams=True)
class RetryBlock(Fault):
    """Send a `retry:` field as a block of its own before the first piece."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A block without data."""
        return before_pieces(steps, _block(RETRY))


@fault("empty-data", streams=True)
class EmptyData(Fault):
    """Send an event whose data is empty before the first piece."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`data:` with nothing behind it."""
        return before_pieces(steps, _block(b"data:\n\n"))


@fault("event-without-data", streams=True)
class EventWithoutData(Fault):
    """Send an event that has a name and no data before the first piece."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`event:` alone."""
        return before_pieces(steps, _block(b"event: ping\n\n"))


@fault("unknown-event-name", endpoints=("messages", "responses"), streams=True)
class UnknownEventName(Fault):
    """Send an event of a new type before the first piece."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A name that is not in the documentation, and the same type in the data."""
        return before_pieces(steps, _block(sse.event(b'{"type":"%b"}' % UNKNOWN.encode(), UNKNOWN)))
