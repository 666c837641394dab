"""A plain reader of response streams: it holds them to their order and puts the response together."""

import json
import re
from typing import Any, get_args

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from tests.dialects.sdk import checked

FRAME = re.compile(r"event: ([a-z_.]+)\ndata: (\{.*\})\n\n")
BARE_FRAME = re.compile(r"()data: (\{.*\})\n\n")

KINDS: dict[str, type[BaseModel]] = {
    tag: kind
    for kind in get_args(get_args(ResponseStreamEvent)[0])
    for tag in get_args(kind.model_fields["type"].annotation)
}
"""The client's own types by the type of the event."""

PUBLISHED = frozenset({"presence_penalty", "frequency_penalty", "store"})
"""Fields of the published response object that the client's type leaves out (E-183)."""

TOKEN_BYTES = frozenset({"logprobs[].bytes", "logprobs[].top_logprobs[].bytes"})
"""The same in the log probabilities of text events; those of items have them."""

BEYOND_THE_TYPES = frozenset(
    {*PUBLISHED, *TOKEN_BYTES, "name"}
    | {f"response.{name}" for name in (*PUBLISHED, "x_engy", "proof")}
)  # fmt: skip

LATER = frozenset({"status", "completed_at", "error", "incomplete_details", "output", "usage", "x_engy", "proof"})
"""The fields that may change before the response is over."""

TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def response(data: bytes | str) -> dict[str, Any]:
    """The response object, if the client's type takes it strictly."""
    return checked(data, Response, also=BEYOND_THE_TYPES)


def server_events(stream: bytes, *, is_named: bool = True) -> list[dict[str, Any]]:
    """The data of each event; name and type agree, the numbers rise from 0, the client's type takes it."""
    text = stream.decode()
    frame = FRAME if is_named else BARE_FRAME
    assert frame.sub("", text) == "", "something stands between the events"
    found = []
    for number, (name, data) in enumerate(frame.findall(text)):
        kind = json.loads(data)["type"]
        document = checked(data, KINDS[kind], also=BEYOND_THE_TYPES)
        assert list(document)[:2] == ["type", "sequence_number"]
        assert name in (kind, "")
        assert document["sequence_number"] == number
        found.append(document)
    return found


def heard(stream: bytes, *, is_named: bool = True) -> dict[str, Any]:
    """The response that a client puts together from a stream with an end, which is also what its end says."""
    created, in_progress, *inner, last = server_events(stream, is_named=is_named)
    begun, over = created["response"], last["response"]
    assert (created["type"], in_progress["type"]) == ("response.created", "response.in_progress")
    assert in_progress["response"] == begun
    assert (begun["status"], begun["output"], begun["usage"]) == ("in_progress", [], None)
    assert not {"x_engy", "proof"} & set(begun)
    assert last["type"] in TERMINAL
    assert last["type"] == f"response.{over['status']}"
    assert {name: over[name] for name in over if name not in LATER} == {
        name: begun[name] for name in begun if name not in LATER
    }
    items = Items()
    for event in inner:
        items.take(event)
    if over["status"] == "failed":
        items.break_off()
    assert items.is_closed, "the last item has no end"
    assert over["output"] == items.items
    statuses = [item["status"] for item in items.items]
    assert set(statuses[:-1]) <= {"completed"}
    assert statuses[-1:] in ([], ["completed"], ["incomplete"])
    assert over["status"] != "completed" or "incomplete" not in statuses
    assert isinstance(over, dict)
    return over


class Items:
    """The output as it grows: one item after the other, in each one part after the other."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.is_closed = True
        self._said: list[str] = []

    def take(self, event: dict[str, Any]) -> None:
        """Add what one event says, which has to follow from the ones before."""
        kind = event["type"]
        if kind == "response.output_item.added":
            assert self.is_closed, "an item begins before the last one ended"
            item = event["item"]
            assert event["output_index"] == len(self.items)
            assert item["status"] == "in_progress"
            assert not item.get("content")
            assert not item.get("arguments")
            assert item["id"] not in [known["id"] for known in self.items]
            self.items.append(item)
            self.is_closed = False
            self._said = []
            return
        assert not self.is_closed, "an event of an item that is not open"
        item = self.items[-1]
        assert event["output_index"] == len(self.items) - 1
        assert event.get("item_id", item["id"]) == item["id"]
        self._said.append(kind)
        if kind == "response.output_item.done":
            self._close(event["item"])
        elif kind.startswith("response.function_call_arguments"):
            self._argue(item, event)
        else:
            self._speak(item, event)

    def break_off(self) -> None:
        """The service has failed: what is open stays unfinished."""
        if not self.is_closed:
            self.items[-1]["status"] = "incomplete"
            self.is_closed = True

    def _close(self, done: dict[str, Any]) -> None:
        item = self.items[-1]
        word = {
            "message": "output_text",
            "reasoning": "reasoning_text",
            "function_call": "function_call_arguments",
        }
        inner = word[item["type"]]
        ends = [f"response.{inner}.done", "response.content_part.done", "response.output_item.done"]
        if item["type"] == "function_call":
            ends.remove("response.content_part.done")
        assert self._said[-len(ends) :] == ends
        assert done == {**item, "status": done["status"]}
        assert done["status"] in ("completed", "incomplete")
        item["status"] = done["status"]
        self.is_closed = True

    def _argue(self, item: dict[str, Any], event: dict[str, Any]) -> None:
        if event["type"].endswith(".delta"):
            item["arguments"] += event["delta"]
        else:
            assert (event["name"], event["arguments"]) == (item["name"], item["arguments"])

    def _speak(self, item: dict[str, Any], event: dict[str, Any]) -> None:
        parts = item["content"]
        if event["type"] == "response.content_part.added":
            assert event["content_index"] == len(parts) == 0
            assert event["part"]["text"] == ""
            parts.append(event["part"])
            return
        part = parts[event["content_index"]]
        if event["type"].endswith("text.delta"):
            part["text"] += event["delta"]
            if "logprobs" in event:
                part["logprobs"] += event["logprobs"]
        elif event["type"].endswith("text.done"):
            assert (event["text"], event.get("logprobs")) == (part["text"], part.get("logprobs"))
        else:
            assert event["part"] == part
