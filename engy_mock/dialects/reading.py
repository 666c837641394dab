"""An answer as a careful client would read it: its text, its tool calls, its end, and what was wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from json import dumps, loads
from typing import Any

from engy_mock.dialects.blocks import blocks
from engy_mock.vocabulary.request import ToolCall

Document = Mapping[str, Any]

END_MARK = "[DONE]"


@dataclass(slots=True)
class Reading:
    """What stands in an answer.

    `texts` are those of its choices. `is_ended`: the dialect's own sign of the end was there, `is_ended_loosely`:
    at least in an event that was never closed. `error` is what it says of a failure, `malformed` counts events
    that cannot be read; without `is_answer` nothing in it was part of one.
    """

    is_answer: bool = False
    is_ended: bool = False
    is_ended_loosely: bool = False
    error: str | None = None
    malformed: int = 0
    _texts: dict[int, list[str]] = field(default_factory=dict)
    _calls: dict[object, dict[str, str]] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the choices, in their order."""
        return tuple(["".join(self._texts[index]) for index in sorted(self._texts)]) or ("",)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, as they would be put together from their parts."""
        return tuple(
            [ToolCall(call["name"], call["arguments"], call_id=call["id"]) for call in self._calls.values()]
        )

    def say(self, text: object, index: object = 0) -> None:
        """Another piece of text of a choice."""
        place = index if isinstance(index, int) else 0
        said = self._texts.setdefault(place, [])
        if isinstance(text, str):
            said.append(text)

    def call(self, key: object, *, id: object = None, name: object = None, arguments: object = None) -> None:
        """Another part of a tool call."""
        call = self._calls.setdefault(key, {"id": "", "name": "", "arguments": ""})
        if isinstance(id, str) and id:
            call["id"] = id
        if isinstance(name, str) and name and not call["name"]:
            call["name"] = name
        if isinstance(arguments, str):
            call["arguments"] += arguments

    def end(self, *, is_loose: bool = False) -> None:
        """The sign of the end was there."""
        self.is_ended_loosely = True
        self.is_ended = self.is_ended or not is_loose


def read(endpoint: str, body: bytes, *, is_streamed: bool) -> Reading:
    """Read the body of an answer in the dialect of its endpoint, as leniently as clients do."""
    reading = Reading()
    if is_streamed:
        _read_stream(reading, endpoint, body)
        return reading
    try:
        found = loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        reading.malformed = 1
        return reading
    _read_document(reading, endpoint, found, "", is_whole=True)
    return reading


def _read_stream(reading: Reading, endpoint: str, body: bytes) -> None:
    for block in blocks(body):
        if block.data.upper().startswith(END_MARK):
            # Where no choice tells its end, the mark is the only one.
            if endpoint == "inference":
                reading.end(is_loose=not block.is_ended)
            break
        try:
            found = loads(block.data)
        except (ValueError, RecursionError):
            reading.malformed += block.is_ended
            continue
        if block.is_ended:
            _read_document(reading, endpoint, found, block.name)
        elif _ends(endpoint, found, block.name):
            reading.end(is_loose=True)


def _ends(endpoint: str, found: object, name: str) -> bool:
    aside = Reading()
    _read_document(aside, endpoint, found, name)
    return aside.is_ended


def _read_document(reading: Reading, endpoint: str, found: object, name: str, *, is_whole: bool = False) -> None:
    if not isinstance(found, dict):
        reading.malformed += 1
        return
    error = found.get("error")
    if name == "error" or error or found.get("type") == "error":
        reading.error = _said(error or found)
        return
    part = (_WHOLE if is_whole else _PARTS).get(endpoint, _anything)
    part(reading, found, name)
    if is_whole:
        reading.end()  # its end is that of the document


def _said(error: object) -> str:
    """The message in an error, whatever its form."""
    if isinstance(error, Mapping):
        message = error.get("message")
        return message if isinstance(message, str) else "an error without a message"
    return str(error)


def _anything(reading: Reading, found: Document, name: str) -> None:
    """A dialect without an end of its own: what is there is an answer."""
    reading.is_answer = True
    reading.end()


def _choices(found: Document) -> list[Document]:
    choices = found.get("choices")
    return [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []


def _chat_part(reading: Reading, found: Document, name: str) -> None:
    for choice in _choices(found):
        reading.is_answer = True
        index = choice.get("index")
        delta = choice.get("delta")
        if isinstance(delta, dict):
            reading.say(delta.get("content"), index)
            reading.say(delta.get("refusal"), index)
            _chat_calls(reading, delta)
        if isinstance(choice.get("finish_reason"), str):
            reading.end()


def _chat_whole(reading: Reading, found: Document, name: str) -> None:
    for choice in _choices(found):
        message = choice.get("message")
        if not isinstance(message, dict):
            continue
        reading.is_answer = True
        reading.say(message.get("content"), choice.get("index"))
        reading.say(message.get("refusal"), choice.get("index"))
        _chat_calls(reading, message)


def _chat_calls(reading: Reading, message: Document) -> None:
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            function = call["function"]
            key = call.get("index", place)
            reading.call(key, id=call.get("id"), name=function.get("name"), arguments=function.get("arguments"))


def _completion(reading: Reading, found: Document, name: str) -> None:
    for choice in _choices(found):
        reading.is_answer = True
        reading.say(choice.get("text"), choice.get("index"))
        if isinstance(choice.get("finish_reason"), str):
            reading.end()


def _messages_part(reading: Reading, found: Document, name: str) -> None:
    kind = found.get("type") or name
    if kind == "content_block_start" and isinstance(found.get("content_block"), dict):
        reading.is_answer = True
        block = found["content_block"]
        if block.get("type") == "tool_use":
            reading.call(found.get("index"), id=block.get("id"), name=block.get("name"))
    elif kind == "content_block_delta" and isinstance(found.get("delta"), dict):
        reading.is_answer = True
        delta = found["delta"]
        if delta.get("type") == "text_delta":
            reading.say(delta.get("text"))
        elif delta.get("type") == "input_json_delta":
            reading.call(found.get("index"), arguments=delta.get("partial_json"))
    elif kind == "message_delta" and isinstance(found.get("delta"), dict):
        if found["delta"].get("stop_reason"):
            reading.end()
    elif kind == "message_start" and isinstance(found.get("message"), dict):
        reading.is_answer = True
    elif kind == "message_stop":
        reading.end()


def _messages_whole(reading: Reading, found: Document, name: str) -> None:
    content = found.get("content")
    for place, block in enumerate(content if isinstance(content, list) else ()):
        reading.is_answer = True
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            reading.say(block.get("text"))
        elif block.get("type") == "tool_use":
            made = dumps(block.get("input"))
            reading.call(place, id=block.get("id"), name=block.get("name"), arguments=made)
    reading.is_answer = reading.is_answer or isinstance(content, list)


def _response_part(reading: Reading, found: Document, name: str) -> None:
    kind = found.get("type") or name
    if kind in {"response.output_text.delta", "response.refusal.delta"}:
        reading.is_answer = True
        reading.say(found.get("delta"))
    elif kind == "response.function_call_arguments.delta":
        reading.call(found.get("output_index"), arguments=found.get("delta"))
    elif kind == "response.output_item.added" and isinstance(found.get("item"), dict):
        reading.is_answer = True
        item = found["item"]
        if item.get("type") == "function_call":
            reading.call(found.get("output_index"), id=item.get("call_id"), name=item.get("name"))
    elif kind in {"response.completed", "response.incomplete"}:
        reading.is_answer = reading.is_answer or isinstance(found.get("response"), dict)
        reading.end()
    elif kind == "response.failed":
        _response_error(reading, found.get("response"))


def _response_whole(reading: Reading, found: Document, name: str) -> None:
    output = found.get("output")
    for place, item in enumerate(output if isinstance(output, list) else ()):
        if not isinstance(item, dict):
            continue
        if item.get("type") == "function_call":
            made = item.get("arguments")
            reading.call(place, id=item.get("call_id"), name=item.get("name"), arguments=made)
        content = item.get("content") if item.get("type") == "message" else None
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                reading.say(part.get("text"))
                reading.say(part.get("refusal"))
    reading.is_answer = isinstance(output, list)
    if found.get("status") == "failed":
        _response_error(reading, found)


def _response_error(reading: Reading, response: object) -> None:
    error = response.get("error") if isinstance(response, Mapping) else None
    reading.error = _said(error) if error else "the response failed"


_PARTS: dict[str, Callable[[Reading, Document, str], None]] = {
    "chat": _chat_part,
    "completions": _completion,
    "messages": _messages_part,
    "responses": _response_part,
}
_WHOLE: dict[str, Callable[[Reading, Document, str], None]] = {
    "chat": _chat_whole,
    "completions": _completion,
    "messages": _messages_whole,
    "responses": _response_whole,
}

READABLE = frozenset(_WHOLE)
"""The endpoints whose answers have texts that can be told from all else in them."""
