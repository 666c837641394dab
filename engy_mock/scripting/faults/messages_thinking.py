"""Faults of reasoning in messages: its seal is missing, late or checked, or all of it is hidden ("Messages")."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.sse import Document, document, kind, rewritten
from engy_mock.vocabulary.errors import InvalidRequest
from engy_mock.vocabulary.events import Event, Refused
from engy_mock.vocabulary.signature import signature
from engy_mock.vocabulary.wire import End, Frame, Step


@fault("thinking-unsigned", endpoints=("messages",))
class ThinkingUnsigned(Fault):
    """Send reasoning without a signature: none in a stream, an empty one in a whole message."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps without what signs."""

        def change(document: Document, _: Frame) -> Document | None:
            if _signs(document):
                return None
            for block in _thinking_blocks(document):
                block["signature"] = ""
            return document

        return rewritten(steps, change)


@fault("signature-late", endpoints=("messages",), streams=True)
class SignatureLate(Fault):
    """Send the signature of reasoning behind all blocks."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """What signs right before `message_delta`."""
        late: list[Step] = []
        for step in steps:
            if isinstance(step, Frame) and _signs(document(step) or {}):
                late.append(step)
                continue
            if kind(step) == "message_delta" or isinstance(step, End):
                yield from late
                late.clear()
            yield step


@fault("thinking-redacted", endpoints=("messages",))
class ThinkingRedacted(Fault):
    """Send a redacted block, opaque data, in place of the reasoning."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Blocks of reasoning as redacted ones: whole at their start, without deltas."""
        done = list(steps)
        thoughts = _thoughts(done)

        def change(document: Document, _: Frame) -> Document | None:
            match document:
                case {"type": "content_block_delta", "index": int(index)} if index in thoughts:
                    return None
                case {"type": "content_block_start", "index": int(index)} if index in thoughts:
                    document["content_block"] = _redacted(thoughts[index])
            for block in _thinking_blocks(document):
                thinking = str(block.get("thinking"))
                block.clear()
                block.update(_redacted(thinking))
            return document

        return rewritten(iter(done), change)


@fault("signature-strict", endpoints=("messages",), spares=True)
class SignatureStrict(Fault):
    """Check the signatures of reasoning in past turns: one that does not fit is refused with 400."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """A refusal that names the first block that was changed, or nothing."""
        place = _changed(occasion.asked.body)
        return () if place is None else (_SignatureRefused(rate=self.rate, place=place),)


@dataclass(frozen=True)
class _SignatureRefused(SignatureStrict):
    """The refusal of a changed block; `place` is where it stands in the body."""

    place: str = ""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """This."""
        return (self,)

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """A refusal instead of the answer."""
        said = f"{self.place}: the signature does not fit the thinking"
        yield Refused(InvalidRequest(said, param=self.place))


def _changed(body: Mapping[str, Any]) -> str | None:
    """Where in the body the first block of reasoning stands whose signature is not its own."""
    for turn, message in enumerate(body.get("messages", ())):
        content = message["content"]
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if block["type"] != "thinking":
                continue
            if block.get("signature") != signature(str(block.get("thinking", ""))):
                return f"messages[{turn}].content[{place}]"
    return None


def _signs(document: Document) -> bool:
    """Whether an event brings a signature."""
    match document:
        case {"type": "content_block_delta", "delta": {"type": "signature_delta"}}:
            return True
    return False


def _thinking_blocks(document: Document) -> list[dict[str, Any]]:
    """The blocks of reasoning in a whole message."""
    match document:
        case {"type": "message", "content": list(blocks)}:
            return [block for block in blocks if block["type"] == "thinking"]
    return []


def _thoughts(steps: Sequence[Step]) -> dict[int, str]:
    """The reasoning that a stream tells, by the index of its block."""
    found: dict[int, str] = {}
    for step in steps:
        event = document(step) if isinstance(step, Frame) else None
        match event:
            case {"type": "content_block_start", "index": int(index), "content_block": {"type": "thinking"}}:
                found[index] = ""
            case {"index": int(index), "delta": {"type": "thinking_delta", "thinking": str(text)}}:
                found[index] = found.get(index, "") + text
            case _:
                pass
    return found


def _redacted(thinking: str) -> dict[str, Any]:
    return {"type": "redacted_thinking", "data": signature(thinking)}
