"""What a careful program makes of what its client gave it: text, reasoning, calls, reasons, tokens.

Streams are put together as the documentation of each dialect has it. What is missing or of another form than it
should be is taken for missing: a fault is to be seen in the result, not in an exception of ours.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Content = dict[str, Any]


def content(endpoint: str, said: Any) -> Content:
    """The content of what was said: `events` of a stream, a `whole` answer, or `content` put together already."""
    if not isinstance(said, Mapping):
        return {}
    if "content" in said:
        return dict(said["content"])
    if "events" in said:
        return STREAMS[endpoint](list(_objects(said["events"])))
    whole = said.get("whole")
    return WHOLES[endpoint](whole) if isinstance(whole, Mapping) else {}


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in what should be a list of them."""
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, Mapping))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else repr(value)


def _usage(usage: Any) -> object:
    """How many tokens went in, came out, and were cached; None where nobody said."""
    if not isinstance(usage, Mapping):
        return usage
    details = _object(usage.get("prompt_tokens_details", usage.get("input_tokens_details")))
    return [
        usage.get("prompt_tokens", usage.get("input_tokens")),
        usage.get("completion_tokens", usage.get("output_tokens")),
        details.get("cached_tokens", usage.get("cache_read_input_tokens")),
    ]


def _call(call: Mapping[str, Any]) -> list[object]:
    function = _object(call.get("function"))
    return [function.get("name"), function.get("arguments")]


def chat(answer: Mapping[str, Any]) -> Content:
    """A whole chat: its choices in the order in which they stand."""
    choices = []
    for choice in _objects(answer.get("choices")):
        message = _object(choice.get("message"))
        choices.append(
            {
                "text": _text(message.get("content")),
                "refusal": _text(message.get("refusal")),
                "reasoning": _text(message.get("reasoning_content")),
                "calls": [_call(call) for call in _objects(message.get("tool_calls"))],
                "finish": choice.get("finish_reason"),
                "logprobs": choice.get("logprobs"),
            }
        )
    return {"choices": choices, "usage": _usage(answer.get("usage"))}


def chat_stream(chunks: list[Mapping[str, Any]]) -> Content:
    """A streamed chat: its choices and calls by their index."""
    choices: dict[object, Content] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in _objects(chunk.get("choices")):
            empty: Content = {
                "text": "",
                "refusal": "",
                "reasoning": "",
                "calls": {},
                "finish": None,
                "logprobs": [],
            }
            found, delta = choices.setdefault(choice.get("index"), empty), _object(choice.get("delta"))
            found["text"] += _text(delta.get("content"))
            found["refusal"] += _text(delta.get("refusal"))
            found["reasoning"] += _text(delta.get("reasoning_content"))
            found["finish"] = choice.get("finish_reason") or found["finish"]
            found["logprobs"] += [choice["logprobs"]] if choice.get("logprobs") else []
            for call in _objects(delta.get("tool_calls")):
                name, arguments = found["calls"].setdefault(call.get("index"), ["", ""])
                more = _object(call.get("function"))
                parts = [name + _text(more.get("name")), arguments + _text(more.get("arguments"))]
                found["calls"][call.get("index")] = parts
    return {"choices": choices, "usage": _usage(usage)}


def completion(answer: Mapping[str, Any]) -> Content:
    """A whole completion."""
    choices = [
        [choice.get("text"), choice.get("finish_reason"), choice.get("logprobs")]
        for choice in _objects(answer.get("choices"))
    ]
    return {"choices": choices, "usage": _usage(answer.get("usage"))}


def completion_stream(chunks: list[Mapping[str, Any]]) -> Content:
    """A streamed completion: its choices by their index."""
    choices: dict[object, Content] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in _objects(chunk.get("choices")):
            found = choices.setdefault(choice.get("index"), {"text": "", "finish": None, "logprobs": []})
            found["text"] += _text(choice.get("text"))
            found["finish"] = choice.get("finish_reason") or found["finish"]
            found["logprobs"] += [choice["logprobs"]] if choice.get("logprobs") else []
    return {"choices": choices, "usage": _usage(usage)}


BLOCK_PARTS = ("text", "thinking", "signature", "data", "name", "input")


def message(answer: Mapping[str, Any]) -> Content:
    """A whole message."""
    blocks = [
        [block.get("type"), *(block.get(part) for part in BLOCK_PARTS)]
        for block in _objects(answer.get("content"))
    ]
    return {"blocks": blocks, "finish": answer.get("stop_reason"), "usage": _usage(answer.get("usage"))}


DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def message_stream(events: list[Mapping[str, Any]]) -> Content:
    """A streamed message: its blocks by their index, and whether it came to its end."""
    blocks: dict[object, dict[str, Any]] = {}
    found: Content = {"finish": None, "usage": {}, "is_ended": False}
    for event in events:
        kind, delta = event.get("type"), _object(event.get("delta"))
        if kind == "message_start":
            found["usage"]["start"] = _usage(_object(event.get("message")).get("usage"))
        elif kind == "content_block_start":
            # A delta may have come before the start of its block.
            early = blocks.pop(event.get("index"), {})
            block = {**_object(event.get("content_block")), "input": ""}
            block |= {part: _text(block.get(part)) + _text(early[part]) for part in early}
            blocks[event.get("index")] = block
        elif kind == "content_block_delta":
            block = blocks.setdefault(event.get("index"), {})
            word = str(delta.get("type"))
            part = "input" if word == "input_json_delta" else DELTAS.get(word, word)
            more = delta.get("partial_json" if part == "input" else part)
            block[part] = _text(block.get(part)) + _text(more)
        elif kind == "message_delta":
            found["finish"] = delta.get("stop_reason") or found["finish"]
            found["usage"]["end"] = _usage(event.get("usage"))
        elif kind == "message_stop":
            found["is_ended"] = True
    parts = {index: [block.get("type"), *(block.get(p) for p in BLOCK_PARTS)] for index, block in blocks.items()}
    return {**found, "blocks": parts}


def response(answer: Mapping[str, Any]) -> Content:
    """A whole response."""
    items = []
    for item in _objects(answer.get("output")):
        parts = [
            [part.get("type"), part.get("text"), part.get("refusal"), part.get("logprobs")]
            for part in _objects(item.get("content"))
        ]
        items.append([item.get("type"), parts, item.get("name"), item.get("arguments")])
    ending = [answer.get("status"), _object(answer.get("incomplete_details")).get("reason")]
    return {"items": items, "finish": ending, "usage": _usage(answer.get("usage"))}


def response_stream(events: list[Mapping[str, Any]]) -> Content:
    """A streamed response: its deltas by the item that they belong to, and its last event."""
    pieces: dict[tuple[object, object], str] = {}
    names: list[object] = []
    logprobs: list[object] = []
    found: Content = {"finish": None, "usage": None}
    for event in events:
        kind = _text(event.get("type"))
        if kind.endswith(".delta"):
            key = (kind, event.get("output_index"))
            pieces[key] = pieces.get(key, "") + _text(event.get("delta"))
            logprobs.append(event.get("logprobs"))
        elif kind == "response.output_item.done" and _object(event.get("item")).get("type") == "function_call":
            names.append(_object(event.get("item")).get("name"))
        elif kind in ("response.completed", "response.incomplete", "response.failed", "error"):
            last = _object(event.get("response"))
            found = {"finish": [kind, last.get("status")], "usage": _usage(last.get("usage"))}
    return {**found, "pieces": pieces, "names": names, "logprobs": [one for one in logprobs if one]}


Streams = Mapping[str, Callable[[list[Mapping[str, Any]]], Content]]

STREAMS: Streams = {
    "chat": chat_stream,
    "completions": completion_stream,
    "messages": message_stream,
    "responses": response_stream,
}
WHOLES: Mapping[str, Callable[[Mapping[str, Any]], Content]] = {
    "chat": chat,
    "completions": completion,
    "messages": message,
    "responses": response,
}
