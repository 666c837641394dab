"""The events of a streamed response, byte for byte (E-187 to E-190)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from engy_mock.dialects import errors
from engy_mock.dialects.chat_stream import escaped
from engy_mock.dialects.dialect import Envelope, OneByOne
from engy_mock.dialects.responses_answer import (
    INCOMPLETE,
    ItemStatus,
    function_call,
    item_id,
    logprobs,
    message,
    output_text,
    owes_message,
    reasoning,
    reasoning_text,
    response,
)
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    Raw,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import FinishReason, TokenLogprob, Usage
from engy_mock.vocabulary.request import ToolCall

ServerEvent = tuple[str, dict[str, Any]]
"""The type of an event, and its fields but for the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextKind:
    """What differs between the two items that are told piece by piece."""

    prefix: str
    events: str
    item: Callable[..., dict[str, Any]]
    part: Callable[[str], dict[str, Any]]
    delta_ends: bytes


REASONING = TextKind(
    prefix="rs_",
    events="response.reasoning_text",
    item=reasoning,
    part=reasoning_text,
    delta_ends=b"}\n\n",
)
MESSAGE = TextKind(
    prefix="msg_",
    events="response.output_text",
    item=message,
    part=output_text,
    delta_ends=b',"logprobs":[]}\n\n',
)


@dataclass(slots=True)
class TextItem:
    """An item of text that is being told; `delta` is how its deltas begin, with a gap for the number."""

    kind: TextKind
    id: str
    place: int
    delta: bytes
    pieces: list[str] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)

    def document(self, status: ItemStatus) -> dict[str, Any]:
        """The item as far as it has been told."""
        part = self.kind.part("".join(self.pieces))
        if self.entries:
            part["logprobs"] = self.entries
        return self.kind.item(self.id, status, part)

    def beginning(self) -> Iterator[ServerEvent]:
        """The events before its pieces."""
        item = self.kind.item(self.id, "in_progress")
        yield "response.output_item.added", {"output_index": self.place, "item": item}
        yield "response.content_part.added", {**self.where(), "part": self.kind.part("")}

    def ending(self, item: dict[str, Any]) -> Iterator[ServerEvent]:
        """The events behind its pieces; `item` is its document."""
        (part,) = item["content"]
        said = {name: part[name] for name in ("text", "logprobs") if name in part}
        yield f"{self.kind.events}.done", {**self.where(), **said}
        yield "response.content_part.done", {**self.where(), "part": part}
        yield "response.output_item.done", {"output_index": self.place, "item": item}

    def where(self) -> dict[str, Any]:
        """The fields by which its inner events name it."""
        return {"item_id": self.id, "output_index": self.place, "content_index": 0}


@dataclass(slots=True)
class CallItem:
    """A tool call that is being told; its arguments come whole."""

    call: ToolCall
    id: str
    place: int

    def document(self, status: ItemStatus) -> dict[str, Any]:
        """The item as far as it has been told."""
        return function_call(self.id, status, self.call, self.call.arguments)

    def beginning(self) -> Iterator[ServerEvent]:
        """The events with which it begins, its arguments among them."""
        item = function_call(self.id, "in_progress", self.call)
        yield "response.output_item.added", {"output_index": self.place, "item": item}
        yield "response.function_call_arguments.delta", {**self.where(), "delta": self.call.arguments}

    def ending(self, item: dict[str, Any]) -> Iterator[ServerEvent]:
        """The events with which it ends; `item` is its document."""
        said = {"name": self.call.name, "arguments": self.call.arguments}
        yield "response.function_call_arguments.done", {**self.where(), **said}
        yield "response.output_item.done", {"output_index": self.place, "item": item}

    def where(self) -> dict[str, Any]:
        """The fields by which its inner events name it."""
        return {"item_id": self.id, "output_index": self.place}


class ResponsesStream(OneByOne):
    """Turns the events of one answer into the events of the Responses API.

    One item is open at a time. It ends when something else begins, or with the answer: only then is it known
    whether it was cut. Without `names_events` there are no `event:` lines.
    """

    __slots__ = (
        "_counts",
        "_envelope",
        "_has_begun",
        "_is_scored",
        "_items",
        "_names_events",
        "_number",
        "_open",
        "_reason",
        "_text",
    )

    def __init__(self, envelope: Envelope, *, names_events: bool = True) -> None:
        self._envelope = envelope
        self._is_scored = envelope.request.scoring.logprobs
        self._names_events = names_events
        self._number = 0
        self._has_begun = False
        self._items: list[dict[str, Any]] = []
        self._open: TextItem | CallItem | None = None
        self._text: TextItem | None = None
        self._reason: FinishReason = "stop"
        self._counts: Usage | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        match event:
            case TextDelta():
                return self._piece(MESSAGE, event.text, event.logprobs)
            case ReasoningDelta():
                return self._piece(REASONING, event.text, None)
            case ToolCallDelta():
                return self._closed("completed") + self._opened(self._call_item(event.call))
            case Started():
                return self._begun()
            case Finished():
                return self._finished(event.reason)
            case UsageReported():
                self._counts = event.usage
            case Ended():
                return self._ended()
            case Failure():
                return self._failed(event)
            case Raw():
                return event.data
        return b""

    def _piece(self, kind: TextKind, text: str, entries: Iterable[TokenLogprob] | None) -> bytes:
        """A delta, and before it what it takes to open its item."""
        item = self._text
        before = b""
        if item is None or item.kind is not kind:
            before = self._closed("completed")
            item = self._text_item(kind)
            before += self._opened(item)
            self._text = item
        item.pieces.append(text)
        number = self._number
        self._number = number + 1
        ends = kind.delta_ends
        if self._is_scored and kind is MESSAGE:
            shown = logprobs(entries or ())
            item.entries += shown
            ends = b',"logprobs":%b}\n\n' % json.write(shown)
        return before + item.delta % number + escaped(text) + ends

    def _call_item(self, call: ToolCall) -> CallItem:
        """The next item, a tool call."""
        place = len(self._items)
        return CallItem(call, item_id("fc_", place, self._envelope), place)

    def _text_item(self, kind: TextKind) -> TextItem:
        """The next item, of this kind."""
        place = len(self._items)
        item = TextItem(kind, item_id(kind.prefix, place, self._envelope), place, b"")
        fields = json.write({**item.where(), "delta": ""})[1:].removesuffix(b'""}')
        item.delta = self._begins(f"{kind.events}.delta") + b"%d," + fields
        return item

    def _begun(self) -> bytes:
        """The two events before all others, if they have not been told yet."""
        if self._has_begun:
            return b""
        self._has_begun = True
        fields = json.write({"response": response(self._envelope, "in_progress")})
        return self._line("response.created", fields) + self._line("response.in_progress", fields)

    def _opened(self, item: TextItem | CallItem) -> bytes:
        """The beginning of an item."""
        self._open = item
        return self._begun() + self._told(item.beginning())

    def _closed(self, status: ItemStatus) -> bytes:
        """The end of the item that is open, if one is."""
        item = self._open
        if item is None:
            return b""
        self._open = self._text = None
        document = item.document(status)
        self._items.append(document)
        return self._told(item.ending(document))

    def _finished(self, reason: FinishReason) -> bytes:
        """The end of the last item."""
        self._reason = reason
        opened = b""
        if owes_message(self._said("in_progress"), reason):
            opened = self._closed("completed") + self._opened(self._text_item(MESSAGE))
        return opened + self._closed("incomplete" if reason in INCOMPLETE else "completed")

    def _ended(self) -> bytes:
        """The event with the whole response."""
        closed = self._begun() + self._closed("completed")
        incomplete = INCOMPLETE.get(self._reason)
        status: ItemStatus = "completed" if incomplete is None else "incomplete"
        document = response(self._envelope, status, output=self._items, counts=self._counts, incomplete=incomplete)
        return closed + self._told([(f"response.{status}", {"response": document})])

    def _failed(self, failure: Failure) -> bytes:
        """The event with what the response had come to (E-190), or under `/v5` the frame of any failure (S-82)."""
        surface = self._envelope.surface
        if not (failure.ends_response or surface.tells_failures):
            return b"data: %b\n\n" % errors.frame(failure.error, surface, self._envelope.created)
        begun = self._begun()
        document = response(self._envelope, "failed", output=self._said("incomplete"), error=failure.error)
        return begun + self._told([("response.failed", {"response": document})])

    def _said(self, status: ItemStatus) -> list[dict[str, Any]]:
        """All items so far, the one that is open with this status."""
        return self._items if self._open is None else [*self._items, self._open.document(status)]

    def _told(self, events: Iterable[ServerEvent]) -> bytes:
        """Events with their numbers, as they stand in the body."""
        return b"".join([self._line(name, json.write(fields)) for name, fields in events])

    def _line(self, name: str, fields: bytes) -> bytes:
        """One event with the next number."""
        number = self._number
        self._number = number + 1
        return b"%b%d,%b\n\n" % (self._begins(name), number, fields[1:])

    def _begins(self, name: str) -> bytes:
        """How an event begins, up to its number."""
        kind = name.encode()
        line = b"event: %b\n" % kind if self._names_events else b""
        return b'%bdata: {"type":"%b","sequence_number":' % (line, kind)
