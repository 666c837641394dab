"""A plain reader of message streams: it holds them to the order of the wire and folds them into a message."""

import json
import re
from typing import Any

from anthropic.types import (
    RawContentBlockDeltaEvent,
    RawContentBlockStartEvent,
    RawContentBlockStopEvent,
    RawMessageDeltaEvent,
    RawMessageStartEvent,
    RawMessageStopEvent,
)
from pydantic import BaseModel

from tests.dialects.sdk import checked

FRAME = re.compile(r"event: ([a-z_]+)\ndata: (\{.*\})\n\n")

KINDS: dict[str, type[BaseModel]] = {
    "message_start": RawMessageStartEvent,
    "content_block_start": RawContentBlockStartEvent,
    "content_block_delta": RawContentBlockDeltaEvent,
    "content_block_stop": RawContentBlockStopEvent,
    "message_delta": RawMessageDeltaEvent,
    "message_stop": RawMessageStopEvent,
}
"""The client's own types by the type of the event; pings and errors have none."""

DELTAS = {
    "thinking": {"thinking_delta", "signature_delta"},
    "text": {"text_delta"},
    "tool_use": {"input_json_delta"},
}


def server_events(stream: bytes) -> list[dict[str, Any]]:
    """The data of each event; name and type agree, and the client's type takes it strictly."""
    text = stream.decode()
    assert FRAME.sub("", text) == "", "something stands between the events"
    found = []
    for name, data in FRAME.findall(text):
        document = checked(data, KINDS[name]) if name in KINDS else json.loads(data)
        assert document["type"] == name
        found.append(document)
    return found


def heard(stream: bytes) -> dict[str, Any]:
    """The message that a client puts together from a complete stream."""
    first, ping, *blocks, last_delta, stop = server_events(stream)
    assert (first["type"], ping) == ("message_start", {"type": "ping"})
    assert (last_delta["type"], stop) == ("message_delta", {"type": "message_stop"})
    message = first["message"]
    assert isinstance(message, dict)
    assert (message["content"], message["stop_reason"], message["stop_sequence"]) == ([], None, None)
    block: dict[str, Any] | None = None
    arguments = ""
    for event in blocks:
        assert event["index"] == len(message["content"]) - (block is not None)
        match event["type"]:
            case "content_block_start":
                assert block is None, "a block begins before the last one ended"
                block, arguments = event["content_block"], ""
                assert not any(block[key] for key in ("text", "thinking", "signature", "input") if key in block)
                message["content"].append(block)
            case "content_block_delta":
                assert block is not None, "a delta for no block"
                delta = event["delta"]
                assert delta["type"] in DELTAS[block["type"]]
                assert not block.get("signature"), "something follows the signature"
                for key in ("thinking", "signature", "text"):
                    if key in delta:
                        block[key] += delta[key]
                arguments += delta.get("partial_json", "")
            case "content_block_stop":
                assert block is not None, "an end of no block"
                assert block["type"] != "thinking" or block["signature"], "reasoning without a signature"
                if block["type"] == "tool_use":
                    block["input"] = parsed(arguments)
                block = None
            case other:
                raise AssertionError(f"{other} among the blocks")
    assert block is None, "the last block has no end"
    message.update(last_delta["delta"])
    message["usage"].update(last_delta["usage"])
    if "proof" in last_delta:
        message["proof"] = last_delta["proof"]
    return message


def parsed(arguments: str) -> object:
    """Arguments as a forgiving client reads them: what is no object counts as nothing."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
