"""Faults of the arguments of tool calls, at the socket: their form, their content, and where they are cut."""

import json

import pytest

from engy_mock import ToolCall
from tests.scripting.captured import PATHS, body_for, send
from tests.scripting.faults.compared import (
    CALL,
    CALLS,
    CHAT,
    FORMS,
    TALKING,
    TEXT,
    Pair,
    Row,
    arguments,
    calls,
    cases,
    documents,
    idle,
    reason,
    run,
    text,
)

TWISTED = {"tool_calls": [ToolCall("get_weather", '{"note":"a\\nb","at":"caf\u00e9 \U0001f327!"}')]}
STRAIGHT = {"tool_calls": [ToolCall("get_weather", '{"city":"Paris"}')]}
MEANT = {"note": "a\nb", "at": "caf\u00e9 \U0001f327!"}
TOOL_USE = {"messages": "tool_use", "responses": "completed", "v5 responses": "completed"}


def form(value: object):
    def check(pair: Pair) -> None:
        (call,) = calls(pair.seen)
        assert call["function"]["arguments"] == value
        call["function"]["arguments"] = '{"city":"Paris"}'
        assert [call] == calls(pair.calm)

    return check


def _parts(pair: Pair) -> list[str]:
    """The parts in which the arguments come; numbers of events have no gap."""
    numbers = [one["sequence_number"] for one in pair.seen.documents if "sequence_number" in one]
    assert numbers == list(range(len(numbers)))
    found = [call["function"]["arguments"] for call in calls(pair.seen)]
    for one in pair.seen.documents:
        if one.get("type") == "response.function_call_arguments.delta":
            found.append(one["delta"])
        elif one.get("type") == "content_block_delta" and "partial_json" in one["delta"]:
            found.append(one["delta"]["partial_json"])
    return found


def at_every_byte(pair: Pair) -> None:
    parts = _parts(pair)
    assert {len(part.encode()) for part in parts} == {1}
    assert json.loads("".join(parts)) == MEANT
    assert "".join(parts).endswith('caf\\u00e9 \\ud83c\\udf27!"}')


def in_an_escape(pair: Pair) -> None:
    first, second = _parts(pair)
    assert first.endswith("a\\")
    assert second.startswith("nb")
    assert json.loads(first + second) == MEANT


def in_an_escape_of_its_own(pair: Pair) -> None:
    first, second = _parts(pair)
    assert (first, second) == ('{"\\u0', '063ity":"Paris"}')
    assert json.loads(first + second) == {"city": "Paris"}


def in_a_pair(pair: Pair) -> None:
    assert b"\\ud83c" in pair.seen.body
    first, second = _parts(pair)
    assert (first[-1], second[0]) == ("\ud83c", "\udf27")
    whole = (first + second).encode("utf-16", "surrogatepass").decode("utf-16")
    assert json.loads(whole) == MEANT


def text_of(*wanted: str):
    """The arguments of all calls; a whole message has values, and nothing for what does not parse."""

    def check(pair: Pair) -> None:
        if pair.route == "messages" and not pair.is_streamed:
            assert arguments(pair.seen) == ["{}"] * len(wanted)
        else:
            assert arguments(pair.seen) == list(wanted)
            for one in wanted:
                with pytest.raises(ValueError, match=r"."):
                    json.loads(one)
        assert reason(pair.seen) == TOOL_USE.get(pair.route, "tool_calls")

    return check


def is_poison(pair: Pair) -> None:
    """R-89: arguments that do not parse, and a reason that says they were complete."""
    text_of('{"city":"Paris",}')(pair)


def is_half(pair: Pair) -> None:
    """R-89: the same, for arguments that were cut."""
    if pair.route == "messages" and not pair.is_streamed:
        assert arguments(pair.seen) == ['{"city":"Paris"}', "{}"]
    else:
        assert arguments(pair.seen) == ['{"city":"Paris"}', '{"city":"Rom']
    assert reason(pair.seen) == TOOL_USE.get(pair.route, "tool_calls")


def is_half_by_the_limit(pair: Pair) -> None:
    cut = {"messages": "max_tokens", "responses": "max_output_tokens", "v5 responses": "max_output_tokens"}
    assert reason(pair.seen) == cut.get(pair.route, "length")


def _names(seen) -> list[str]:
    """The names of all tools that are called."""
    found = [call["function"]["name"] for call in calls(seen)]
    for document in documents(seen):
        blocks = [document.get("content_block"), *document.get("content", ())]
        found += [block["name"] for block in blocks if block and block["type"] == "tool_use"]
        items = document.get("output", ()) or ([document["item"]] if document.get("item") else ())
        done = [item for item in items if item["type"] == "function_call" and item["status"] != "in_progress"]
        found += [item["name"] for item in done]
    return found


def calls_a_stranger(pair: Pair) -> None:
    assert _names(pair.seen) == ["unknown_tool"]
    assert arguments(pair.seen) == ["{}"]
    assert text(pair.seen) == text(pair.calm) == "one two three four"
    assert reason(pair.seen) == TOOL_USE.get(pair.route, "tool_calls")


def calls_another(pair: Pair) -> None:
    assert _names(pair.calm) == ["get_weather", "get_weather"]
    assert _names(pair.seen) == ["unknown_tool", "get_weather"]
    assert arguments(pair.seen) == arguments(pair.calm)


def calls_in_spite(pair: Pair) -> None:
    assert _names(pair.calm) == []
    assert _names(pair.seen) == ["get_weather"]
    assert reason(pair.seen) == TOOL_USE.get(pair.route, "tool_calls")


def _split(at: str) -> dict:
    return {"kind": "tool-args-split", "at": at}


STREAMS = (True,)
ROWS = [
    Row(fault="tool-args-empty", check=form(""), reply=CALL),
    Row(fault="tool-args-null", check=form(None), reply=CALL),
    Row(fault="tool-args-object", check=form({"city": "Paris"}), reply=CALL),
    Row(fault="tool-args-split", check=at_every_byte, routes=TALKING, forms=STREAMS, reply=TWISTED),
    Row(fault=_split("escape"), check=in_an_escape, routes=TALKING, forms=STREAMS, reply=TWISTED),
    Row(fault=_split("escape"), check=in_an_escape_of_its_own, routes=CHAT, forms=STREAMS, reply=STRAIGHT),
    Row(fault=_split("surrogate"), check=in_a_pair, routes=TALKING, forms=STREAMS, reply=TWISTED),
    Row(fault="tool-args-invalid", check=is_poison, routes=TALKING, reply=CALL),
    Row(
        fault="tool-args-trailing",
        check=text_of('{"city":"Paris"}\n\nThis should do.'),
        routes=TALKING,
        reply=CALL,
    ),
    Row(fault="tool-args-doubled", check=text_of('{"city":"Paris"}' * 2), routes=TALKING, reply=CALL),
    Row(fault="tool-args-truncated", check=is_half, routes=TALKING, reply=CALLS),
    Row(
        fault={"kind": "tool-args-truncated", "finish": "length"},
        check=is_half_by_the_limit,
        routes=TALKING,
        reply=CALLS,
    ),
    Row(fault="tool-unknown", check=calls_a_stranger, routes=TALKING),
    Row(fault="tool-unknown", check=calls_another, routes=TALKING, reply=CALLS),
    Row(fault="tool-despite-none", check=calls_in_spite, routes=TALKING, request={"tool_choice": "none"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_arguments(engy, row, route, is_streamed):
    """The arguments are as the fault has them, in every dialect that can say so."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.kind.startswith("tool-args")], ids=lambda row: row.kind
)
def test_an_answer_without_calls_has_no_arguments(engy, row):
    """All of these need a call."""
    idle(engy, row.fault, "chat", True, TEXT)


@pytest.mark.parametrize("is_streamed", FORMS)
def test_a_call_that_is_allowed_is_in_spite_of_nothing(engy, is_streamed):
    """Only where a request says none can a call be one too many."""
    idle(engy, "tool-despite-none", "chat", is_streamed, TEXT, tools=True)


def test_a_pair_needs_a_character_that_is_one(engy):
    """Arguments in plain letters have no surrogate pair."""
    idle(engy, _split("surrogate"), "chat", True, STRAIGHT, tools=True)


def test_no_tool_is_unknown_that_is_offered(engy):
    """The name is one that nobody offers, whatever is offered."""
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
        for name in ("unknown_tool", "unknown_tool_")
    ]
    engy.when().reply("x", faults=["tool-unknown"])
    document = send(engy, PATHS["chat"], {**body_for("chat", stream=False), "tools": tools}).document
    assert document["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "unknown_tool__"
