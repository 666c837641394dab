"""Faults of the frame around a message: its beginning, and the order and numbers of its blocks ("Messages")."""

from collections.abc import Iterator

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document, kind, rewritten, without
from engy_mock.vocabulary.events import Event, TextDelta, ToolCallDelta
from engy_mock.vocabulary.wire import Frame, Step

START = "content_block_start"
DELTA = "content_block_delta"
STOP = "content_block_stop"

UNKNOWN = 100
"""What is added to the index of a delta; no message has so many blocks."""


@fault("start-missing", endpoints=("messages",), streams=True)
class StartMissing(Fault):
    """Leave out `message_start`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps but that one."""
        return without(steps, "message_start")


@fault("start-without-usage", endpoints=("messages",))
class StartWithoutUsage(Fault):
    """Leave `usage` out of the message in `message_start`, or out of a whole message."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The message without the key."""
        return _lacking(steps, "usage")


@fault("start-without-content", endpoints=("messages",))
class StartWithoutContent(Fault):
    """Leave `content` out of the message in `message_start`, or out of a whole message."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The message without the key."""
        return _lacking(steps, "content")


@fault("delta-before-block", endpoints=("messages",), streams=True)
class DeltaBeforeBlock(Fault):
    """Send the first delta of each block before the start of the block."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Each start behind the delta that should follow it."""
        held: Step | None = None
        for step in steps:
            if held is not None and kind(step) == DELTA:
                yield step
                yield held
                held = None
                continue
            if held is not None:
                yield held
            held = step if kind(step) == START else None
            if held is None:
                yield step
        if held is not None:
            yield held


@fault("delta-unknown-index", endpoints=("messages",), streams=True)
class DeltaUnknownIndex(Fault):
    """Number all deltas with indexes that no block has."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The deltas with other indexes."""

        def change(document: Document, _: Frame) -> Document:
            match document:
                case {"type": "content_block_delta", "index": int(index)}:
                    document["index"] = index + UNKNOWN
            return document

        return rewritten(steps, change)


@fault("block-not-stopped", endpoints=("messages",), streams=True)
class BlockNotStopped(Fault):
    """Leave out all `content_block_stop`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps but those."""
        return without(steps, STOP)


@fault("block-started-twice", endpoints=("messages",), streams=True)
class BlockStartedTwice(Fault):
    """Send each `content_block_start` twice."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps, and those again."""
        for step in steps:
            yield step
            if kind(step) == START:
                yield step


@fault("block-index-gap", endpoints=("messages",), streams=True)
class BlockIndexGap(Fault):
    """Number the blocks 1, 3, 5 and so on."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The events of blocks with other indexes."""

        def change(document: Document, _: Frame) -> Document:
            match document:
                case {
                    "type": "content_block_start" | "content_block_delta" | "content_block_stop",
                    "index": int(index),
                }:
                    document["index"] = 2 * index + 1
            return document

        return rewritten(steps, change)


@fault("text-after-tool", endpoints=("messages",))
class TextAfterTool(Fault):
    """Tell the text behind the tool calls."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """All text before the last call behind it."""
        told = list(events)
        last = max((place for place, event in enumerate(told) if isinstance(event, ToolCallDelta)), default=-1)
        first = told[: last + 1]
        yield from (event for event in first if not isinstance(event, TextDelta))
        yield from (event for event in first if isinstance(event, TextDelta))
        yield from told[last + 1 :]

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same in a whole message, whose blocks know no order of events."""

        def change(document: Document, frame: Frame) -> Document:
            match document:
                case {"type": "message", "content": list(blocks)} if frame.is_whole:
                    blocks.sort(key=lambda block: block["type"] == "text")
            return document

        return rewritten(steps, change)


def _lacking(steps: Iterator[Step], name: str) -> Iterator[Step]:
    """The steps with a message that lacks a key, in its beginning or whole."""

    def change(document: Document, _: Frame) -> Document:
        match document:
            case {"type": "message_start", "message": dict(message)}:
                message.pop(name, None)
            case {"type": "message"}:
                document.pop(name, None)
        return document

    return rewritten(steps, change)
