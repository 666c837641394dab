"""One request answered twice, without and with a fault: what differs is the fault's doing."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from engy_mock import EngyMock, ToolCall
from engy_mock.scripting.fault import made, told
from tests.scripting.captured import Capture, ask, reply_for

FORMS = (True, False)
"""As a stream, and whole."""

CHAT = ("chat", "v5 chat")
TALKING = (*CHAT, "messages", "responses", "v5 responses")
COMPLETIONS = ("completions", "v5 completions")
CHUNKED = (*CHAT, *COMPLETIONS)
ALL = (*TALKING, *COMPLETIONS)

USAGE = {"stream_options": {"include_usage": True}}
LOGPROBS = {"logprobs": True, "top_logprobs": 3}

PARIS = ToolCall("get_weather", city="Paris")
ROME = ToolCall("get_weather", city="Rome", days=3)

TEXT: dict[str, Any] = {"text": "one two three four"}
THOUGHT: dict[str, Any] = {"text": "one two three four", "reasoning": "let me see"}
CALL: dict[str, Any] = {"tool_calls": [PARIS]}
CALLS: dict[str, Any] = {"tool_calls": [PARIS, ROME]}

Wanted = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """The answer as it would have been, and with the fault."""

    calm: Capture
    seen: Capture
    route: str
    is_streamed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fault, where it acts, on what answer to what request, and what must be seen of it.

    An answer that is cut short `is_cheaper`; all others cost what they would have cost.
    """

    fault: Wanted
    check: Callable[[Pair], None]
    routes: tuple[str, ...] = CHAT
    forms: tuple[bool, ...] = FORMS
    reply: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    request: Mapping[str, Any] = field(default_factory=dict)
    is_cheaper: bool = False

    @property
    def kind(self) -> str:
        return self.fault if isinstance(self.fault, str) else str(self.fault["kind"])


def cases(rows: list[Row]) -> list[Any]:
    """Each row on each of its routes in each of its forms, as parameters of a test."""
    return [
        pytest.param(row, route, form, id=f"{told(made(row.fault))}-{route}-{'stream' if form else 'whole'}")
        for row in rows
        for route in row.routes
        for form in row.forms
        if not (form and route == "completions")
    ]


def run(engy: EngyMock, row: Row, route: str, is_streamed: bool) -> None:
    """Ask twice, and look at the wire, at the journal and at the books."""
    more = {"tools": route not in COMPLETIONS, **for_route(row.request, route)}
    reply = reply_for(route, row.reply)
    engy.when().reply(**reply)
    calm = ask(engy, route, stream=is_streamed, **more)
    charge = engy.journal.last.charged_micro
    engy.reset()
    engy.when().reply(**reply, faults=[row.fault])
    seen = ask(engy, route, stream=is_streamed, **more)
    entry = engy.journal.last
    assert (calm.status, seen.status, entry.status) == (200, 200, 200)
    assert (seen.ending, seen.is_complete) == ("fin", True)
    assert (entry.faults, entry.not_applied) == ((told(made(row.fault)),), ())
    assert entry.charged_micro < charge if row.is_cheaper and charge else entry.charged_micro == charge
    assert engy.gateway.accounts.default.held_micro == 0
    assert seen.body != calm.body
    row.check(Pair(calm, seen, route, is_streamed))


def idle(
    engy: EngyMock, fault: Wanted, route: str, is_streamed: bool, reply: Mapping[str, Any], **more: Any
) -> None:
    """Ask twice where the fault has nothing to do: nothing differs, and the journal says so."""
    reply = reply_for(route, reply)
    engy.when().reply(**reply)
    calm = ask(engy, route, stream=is_streamed, **more)
    engy.reset()
    engy.when().reply(**reply, faults=[fault])
    seen = ask(engy, route, stream=is_streamed, **more)
    assert seen.body == calm.body
    entry = engy.journal.last
    assert (entry.faults, entry.not_applied) == ((), (told(made(fault)),))


def for_route(request: Mapping[str, Any], route: str) -> dict[str, Any]:
    """A request in the words of its route: each has its own for log probabilities, usage and tools."""
    found = dict(request)
    if found.get("tool_choice") == "none" and route == "messages":
        found["tool_choice"] = {"type": "none"}
    if found.get("logprobs") is True and route in COMPLETIONS:
        found |= {"logprobs": found.pop("top_logprobs")}
    elif found.get("logprobs") is True and route.endswith("responses"):
        del found["logprobs"]
        found["include"] = ["message.output_text.logprobs"]
    if route not in (*CHAT, "v5 completions"):
        found.pop("stream_options", None)
    return found


def documents(seen: Capture) -> list[dict[str, Any]]:
    """The JSON objects of a stream, or the one of a whole answer."""
    if seen.headers["content-type"].startswith("text/event-stream"):
        return seen.documents
    return [seen.document]


def choices(seen: Capture) -> list[dict[str, Any]]:
    """All choices in all documents of a chat or a completion."""
    return [choice for document in documents(seen) for choice in document.get("choices") or ()]


def said(seen: Capture) -> list[dict[str, Any]]:
    """All deltas, or all messages."""
    return [choice["delta"] if "delta" in choice else choice["message"] for choice in choices(seen)]


def calls(seen: Capture) -> list[dict[str, Any]]:
    """All tool calls, or their parts."""
    return [call for one in said(seen) for call in one.get("tool_calls") or ()]


def text(seen: Capture) -> str:
    """The text as a client of any dialect puts it together."""
    found = ""
    for document in documents(seen):
        for choice in document.get("choices") or ():
            spoken = choice.get("delta") or choice.get("message") or choice
            found += spoken.get("content") or spoken.get("text") or ""
        delta = document.get("delta")
        if isinstance(delta, dict):
            found += delta.get("text", "")
        elif document.get("type") == "response.output_text.delta":
            found += document["delta"]
        for item in (*document.get("content", ()), *document.get("output", ())):
            for part in item.get("content", [item] if item["type"] == "text" else ()):
                found += part.get("text", "") if part["type"] in ("text", "output_text") else ""
    return found


def reason(seen: Capture) -> object:
    """Why the answer ended, in the word of its dialect."""
    reasons = [choice["finish_reason"] for choice in choices(seen) if choice["finish_reason"] is not None]
    for document in documents(seen):
        delta = document.get("delta")
        if isinstance(delta, dict) and "stop_reason" in delta:
            reasons.append(delta["stop_reason"])
        if document.get("stop_reason") is not None:
            reasons.append(document["stop_reason"])
        response = document.get("response", document)
        if response.get("object") == "response" and response["status"] in ("completed", "incomplete"):
            details = response["incomplete_details"]
            reasons.append(response["status"] if details is None else details["reason"])
    assert len(reasons) == 1, reasons
    return reasons[0]


def arguments(seen: Capture) -> list[str]:
    """The texts of the arguments of all tool calls, in any dialect; whole messages have values, as JSON."""
    found: dict[object, str] = {}
    for document in documents(seen):
        for choice in document.get("choices") or ():
            spoken = choice.get("delta") or choice.get("message") or {}
            for place, call in enumerate(spoken.get("tool_calls") or ()):
                key = call.get("index", place)
                found[key] = found.get(key, "") + call["function"].get("arguments", "")
        if document.get("type") == "content_block_delta" and "partial_json" in document["delta"]:
            key = document["index"]
            found[key] = found.get(key, "") + document["delta"]["partial_json"]
        if document.get("type") == "response.function_call_arguments.delta":
            key = document["output_index"]
            found[key] = found.get(key, "") + document["delta"]
        for place, item in enumerate((*document.get("content", ()), *document.get("output", ()))):
            if item["type"] == "tool_use":
                found[place] = json.dumps(item["input"], separators=(",", ":"))
            if item["type"] == "function_call":
                found[place] = item["arguments"]
    return list(found.values())
