"""What an answer says, put together from its body or from the events of its stream, in any dialect."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Finished,
    Raw,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import Choice, FinishReason, Generation, Usage
from engy_mock.vocabulary.request import ToolCall

_WORDS = re.compile(r"\s*\S+|\s+")

END_MARKS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed", "error"})
"""The types of the events behind which nothing comes; `[DONE]` is the mark of the others."""

REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "max_output_tokens": "length",
}


@dataclass(slots=True)
class Said:
    """The first choice of an answer, in pieces as they came, and the counts of all."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish_reason: FinishReason | None = None
    stop_sequence: str | None = None
    usage: Usage | None = None
    is_answer: bool = False

    def hear(self, kind: type, text: str) -> None:
        """Take in a piece."""
        self.is_answer = True
        if text:
            (self.text if kind is TextDelta else self.reasoning).append(text)

    def call(self, place: int, **parts: str | None) -> None:
        """Take in a part of a call of a tool."""
        self.is_answer = True
        call = self.calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
        for name, part in parts.items():
            call[name] = call[name] + (part or "") if name == "arguments" else (part or call[name])

    def finish(self, reason: object, stop_sequence: object = None) -> None:
        """Take in why it ended."""
        known = REASONS.get(str(reason), reason)
        if known in get_args(FinishReason):
            self.finish_reason = cast("FinishReason", known)
        if isinstance(stop_sequence, str):
            self.stop_sequence = stop_sequence

    def count(self, usage: object) -> None:
        """Take in counts of tokens, in the names of any dialect; later ones count more."""
        if not isinstance(usage, dict):
            return
        before = self.usage or Usage(prompt_tokens=0, completion_tokens=0)
        prompt_details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
        details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
        self.usage = Usage(
            prompt_tokens=_number(usage, "prompt_tokens", "input_tokens", else_=before.prompt_tokens),
            completion_tokens=_number(usage, "completion_tokens", "output_tokens", else_=before.completion_tokens),
            cached_tokens=_number(
                {**usage, **prompt_details}, "cached_tokens", "cache_read_input_tokens", else_=before.cached_tokens
            ),
            reasoning_tokens=_number(details, "reasoning_tokens", else_=before.reasoning_tokens),
        )

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools, whole."""
        return tuple(
            [
                ToolCall(call["name"], call["arguments"] or "{}", call_id=call["id"] or None)
                for _, call in sorted(self.calls.items())
            ]
        )

    def generation(self) -> Generation | None:
        """The answer as the mock's own would be; None where this is none."""
        if not self.is_answer:
            return None
        return Generation(
            choices=(
                Choice(
                    reasoning=tuple(self.reasoning) or None,
                    text=tuple(self.text),
                    tool_calls=self.tool_calls,
                    finish_reason=self.finish_reason or "stop",
                    stop_sequence=self.stop_sequence,
                ),
            ),
            usage=self.usage or Usage(prompt_tokens=0, completion_tokens=0),
        )

    def plain(self) -> dict[str, Any]:
        """The same for people; empty where this is no answer."""
        if not self.is_answer:
            return {}
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls]
        found = {
            "reasoning": "".join(self.reasoning),
            "text": "".join(self.text),
            "tool_calls": calls,
            "finish_reason": self.finish_reason,
        }
        return {name: value for name, value in found.items() if value}


def of_body(document: object) -> Said:
    """What a whole answer says."""
    said = Said()
    if isinstance(document, dict):
        choices, kind = document.get("choices"), document.get("object")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            _choice(said, choices[0], choices[0].get("message"))
        elif document.get("type") == "message" and isinstance(document.get("content"), list):
            for place, block in enumerate(_dicts(document["content"])):
                _block(said, place, block)
            said.finish(document.get("stop_reason"), document.get("stop_sequence"))
        elif kind == "response" and isinstance(document.get("output"), list):
            _response(said, document)
        said.count(document.get("usage"))
    for pieces in (said.text, said.reasoning):
        # Faults count pieces, and a whole answer has none: words will do.
        pieces[:] = _WORDS.findall("".join(pieces))
    return said


def choices(documents: Iterable[object]) -> list[Said]:
    """What each choice of an answer says, by its whole body or by the events of its stream."""
    found: dict[int, Said] = {}
    for document in documents:
        told = document.get("choices") if isinstance(document, dict) else None
        for place, choice in enumerate(_dicts(told if isinstance(told, list) else [])):
            index = choice.get("index", place)
            said = found.setdefault(index if isinstance(index, int) else place, Said())
            _choice(said, choice, choice.get("message") or choice.get("delta"))
    return [found[index] for index in sorted(found)]


def of_stream(payloads: Iterable[str]) -> tuple[Said, list[Event]]:
    """What a stream says, and an event for each of its frames; what says nothing by itself is raw."""
    said = Said()
    events: list[Event] = []
    for payload in payloads:
        events.append(_told(said, payload, is_first=not events))
    return said, events


def _told(said: Said, payload: str, *, is_first: bool) -> Event:
    if payload.strip() == "[DONE]":
        return Ended()
    document = _document(payload)
    kind = document.get("type")
    pieces, calls = len(said.text) + len(said.reasoning), len(said.calls)
    reason = said.finish_reason
    _frame(said, kind, document)
    if kind in END_MARKS:
        return Ended()
    if len(said.text) + len(said.reasoning) > pieces:
        return _piece(said, document)
    if len(said.calls) > calls:
        place = len(said.calls) - 1
        return ToolCallDelta(said.tool_calls[-1], place)
    if said.finish_reason is not reason:
        return Finished(said.finish_reason or "stop")
    if document.get("usage") and said.usage is not None:
        return UsageReported(said.usage)
    return Started() if is_first else Raw(payload.encode())


def _piece(said: Said, document: Mapping[str, Any]) -> Event:
    """The piece that was heard last."""
    kind = str(document.get("type"))
    delta = document.get("delta")
    choices = document.get("choices") or [{}]
    told = choices[0].get("delta") or {}
    is_reasoning = (
        "reasoning" in kind
        or (isinstance(delta, dict) and delta.get("type") == "thinking_delta")
        or (not told.get("content") and bool(told.get("reasoning_content") or told.get("reasoning")))
    )
    return ReasoningDelta(said.reasoning[-1]) if is_reasoning else TextDelta(said.text[-1])


def _frame(said: Said, kind: object, document: dict[str, Any]) -> None:
    """Take in one frame of a stream."""
    choices = document.get("choices")
    if isinstance(choices, list):
        for choice in _dicts(choices):
            if choice.get("index", 0) == 0:
                _choice(said, choice, choice.get("delta"))
    elif isinstance(kind, str) and kind.startswith("response."):
        _response_frame(said, kind, document)
        return
    elif kind == "message_start":
        said.is_answer = True
        said.count((document.get("message") or {}).get("usage"))
    elif kind == "content_block_start":
        block = document.get("content_block") or {}
        if block.get("type") == "tool_use":
            said.call(_place(document), id=block.get("id"), name=block.get("name"))
    elif kind == "content_block_delta":
        delta = document.get("delta") or {}
        match delta.get("type"):
            case "text_delta":
                said.hear(TextDelta, str(delta.get("text", "")))
            case "thinking_delta":
                said.hear(ReasoningDelta, str(delta.get("thinking", "")))
            case "input_json_delta":
                said.call(_place(document), arguments=str(delta.get("partial_json", "")))
    elif kind == "message_delta":
        delta = document.get("delta") or {}
        said.finish(delta.get("stop_reason"), delta.get("stop_sequence"))
    said.count(document.get("usage"))


def _choice(said: Said, choice: dict[str, Any], message: object) -> None:
    """Take in a choice of chat or of completions, whole or a part of it."""
    said.is_answer = True
    if isinstance(message, dict):
        said.hear(ReasoningDelta, str(message.get("reasoning_content") or message.get("reasoning") or ""))
        if isinstance(message.get("content"), str):
            said.hear(TextDelta, message["content"])
        for place, call in enumerate(_dicts(message.get("tool_calls") or [])):
            function = call.get("function") or {}
            said.call(
                call.get("index", place),
                id=call.get("id"),
                name=function.get("name"),
                arguments=function.get("arguments"),
            )
    elif isinstance(choice.get("text"), str):
        said.hear(TextDelta, choice["text"])
    if choice.get("finish_reason") is not None:
        said.finish(choice["finish_reason"])


def _block(said: Said, place: int, block: dict[str, Any]) -> None:
    match block.get("type"):
        case "text":
            said.hear(TextDelta, str(block.get("text", "")))
        case "thinking":
            said.hear(ReasoningDelta, str(block.get("thinking", "")))
        case "tool_use":
            arguments = json.text(block.get("input") or {})
            said.call(place, id=block.get("id"), name=block.get("name"), arguments=arguments)


def _response(said: Said, document: dict[str, Any]) -> None:
    said.is_answer = True
    for place, item in enumerate(_dicts(document["output"])):
        if item.get("type") == "function_call":
            said.call(place, id=item.get("call_id"), name=item.get("name"), arguments=item.get("arguments"))
        for part in _dicts(item.get("content") or []):
            kind = ReasoningDelta if item.get("type") == "reasoning" else TextDelta
            said.hear(kind, str(part.get("text", "")))
    _end_of_response(said, document)


def _end_of_response(said: Said, document: dict[str, Any]) -> None:
    reason = (document.get("incomplete_details") or {}).get("reason")
    if document.get("status") in ("completed", "incomplete"):
        said.finish(reason or ("tool_calls" if said.calls else "stop"))
    said.count(document.get("usage"))


def _response_frame(said: Said, kind: str, document: dict[str, Any]) -> None:
    said.is_answer = True
    match kind:
        case "response.output_text.delta":
            said.hear(TextDelta, str(document.get("delta", "")))
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            said.hear(ReasoningDelta, str(document.get("delta", "")))
        case "response.output_item.added":
            item = document.get("item") or {}
            if item.get("type") == "function_call":
                said.call(_place(document), id=item.get("call_id"), name=item.get("name"))
        case "response.function_call_arguments.delta":
            said.call(_place(document), arguments=str(document.get("delta", "")))
        case "response.completed" | "response.incomplete":
            _end_of_response(said, document.get("response") or {})


def _place(document: Mapping[str, Any]) -> int:
    place = document.get("index", document.get("output_index", 0))
    return place if isinstance(place, int) else 0


def _document(payload: str) -> dict[str, Any]:
    try:
        found = json.read(payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _dicts(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict))


def _number(counts: Mapping[str, Any], *names: str, else_: int) -> int:
    found = [counts[name] for name in names if isinstance(counts.get(name), int)]
    return max(0, found[0]) if found else else_
