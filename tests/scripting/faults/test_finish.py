"""Faults of the reason why an answer ended, at the socket."""

import pytest

from tests.scripting.captured import ask
from tests.scripting.faults.compared import (
    ALL,
    CALL,
    CHAT,
    CHUNKED,
    FORMS,
    TEXT,
    THOUGHT,
    USAGE,
    Pair,
    Row,
    arguments,
    cases,
    choices,
    documents,
    idle,
    reason,
    run,
    text,
)

JSON = {"json": {"city": "Paris", "days": [1, 2, 3], "note": "take an umbrella"}}
CUT = {"messages": "max_tokens", "responses": "max_output_tokens", "v5 responses": "max_output_tokens"}
FILTERED = {"messages": "refusal"}


def has_none_but_done(pair: Pair) -> None:
    assert {choice["finish_reason"] for choice in choices(pair.seen)} == {None}
    assert text(pair.seen) == text(pair.calm)
    if pair.is_streamed:
        assert not any("usage" in one for one in pair.seen.documents)
        assert pair.seen.body.endswith(b"data: [DONE]\n\n") is (pair.route == "chat")


def has_none_and_no_end(pair: Pair) -> None:
    """R-76: no finish reason, no usage, no `[DONE]`."""
    assert pair.calm.body.startswith(pair.seen.body)
    assert b"[DONE]" not in pair.seen.body
    has_none = {choice["finish_reason"] for choice in choices(pair.seen)} == {None}
    assert has_none
    assert not any("usage" in one for one in pair.seen.documents)
    assert text(pair.seen) == text(pair.calm)


def says(word: str):
    def check(pair: Pair) -> None:
        assert reason(pair.seen) == word
        assert text(pair.seen) == text(pair.calm)

    return check


def says_it_twice(pair: Pair) -> None:
    found = [choice["finish_reason"] for choice in choices(pair.seen)]
    assert [one for one in found if one is not None] == ["stop"] * 3
    assert pair.seen.documents[-3] == pair.seen.documents[-2]
    usage = pair.seen.documents[-1]
    assert usage["choices"] == pair.calm.documents[-2]["choices"]
    assert usage["usage"] == pair.calm.documents[-1]["usage"]


def says_it_twice_without_usage(pair: Pair) -> None:
    assert pair.seen.documents[-1] == pair.seen.documents[-2] == pair.calm.documents[-1]
    assert pair.seen.documents[:-1] == pair.calm.documents


def has_content(pair: Pair) -> None:
    last = choices(pair.seen)[-1]
    assert last["finish_reason"] == "stop"
    assert (last.get("text") or last["delta"]["content"]) == " four"
    assert text(pair.seen) == text(pair.calm)
    assert len(choices(pair.seen)) == len(choices(pair.calm)) - 1


def has_the_call(pair: Pair) -> None:
    last = choices(pair.seen)[-1]
    assert last["finish_reason"] == "tool_calls"
    assert last["delta"]["tool_calls"][0]["function"]["arguments"] == '{"city":"Paris"}'


def is_cut(pair: Pair) -> None:
    assert reason(pair.seen) == CUT.get(pair.route, "length")
    assert 0 < len(text(pair.seen)) < len(text(pair.calm))
    assert text(pair.calm).startswith(text(pair.seen))


def is_cut_at_once(pair: Pair) -> None:
    assert reason(pair.seen) == CUT.get(pair.route, "length")
    assert text(pair.seen) == "{"


def stops(pair: Pair) -> None:
    assert reason(pair.seen) == {"messages": "end_turn"}.get(pair.route, "stop")
    assert arguments(pair.seen) == ['{"city":"Paris"}']
    assert len(documents(pair.seen)) == len(documents(pair.calm))


def is_filtered(pair: Pair) -> None:
    assert reason(pair.seen) == FILTERED.get(pair.route, "content_filter")
    assert text(pair.seen) == "one two"


def is_filtered_at_once(pair: Pair) -> None:
    assert reason(pair.seen) == FILTERED.get(pair.route, "content_filter")
    assert text(pair.seen) == ""


STREAMS = (True,)
SAYING = (*CHUNKED, "messages")
ROWS = [
    Row(fault="no-finish-reason", check=has_none_but_done, routes=CHUNKED, request=USAGE),
    Row(
        fault={"kind": "no-finish-reason", "done": False},
        check=has_none_and_no_end,
        routes=CHUNKED,
        forms=STREAMS,
        request=USAGE,
    ),
    Row(fault="finish-odd", check=says(""), routes=SAYING),
    *[
        Row(fault={"kind": "finish-odd", "value": word}, check=says(word), routes=("chat", "messages"))
        for word in ("None", "null", "error", "tired")
    ],
    Row(fault="finish-twice", check=says_it_twice, routes=CHUNKED, forms=STREAMS, request=USAGE),
    Row(fault="finish-twice", check=says_it_twice_without_usage, routes=CHUNKED, forms=STREAMS),
    Row(fault="finish-with-content", check=has_content, routes=CHUNKED, forms=STREAMS),
    Row(fault="finish-with-content", check=has_the_call, routes=CHAT, forms=STREAMS, reply=CALL),
    Row(fault="length-mid-json", check=is_cut, routes=ALL, reply=JSON, is_cheaper=True),
    Row(
        fault={"kind": "length-mid-json", "after": 1},
        check=is_cut_at_once,
        routes=ALL,
        reply={"text": '{"city": "Paris"}'},
        is_cheaper=True,
    ),
    Row(fault="stop-with-tool-calls", check=stops, routes=(*CHAT, "messages"), reply=CALL),
    Row(fault="content-filter", check=is_filtered, routes=ALL, is_cheaper=True),
    Row(
        fault={"kind": "content-filter", "after": 0},
        check=is_filtered_at_once,
        routes=ALL,
        reply=THOUGHT,
        is_cheaper=True,
    ),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_finish(engy, row, route, is_streamed):
    """The end says what the fault has it say; what was cut is not paid for."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("is_streamed", FORMS)
@pytest.mark.parametrize(
    ("fault", "reply"),
    [
        ("length-mid-json", TEXT),
        ("length-mid-json", {"text": "17"}),
        ({"kind": "length-mid-json", "after": 200}, JSON),
        ("stop-with-tool-calls", TEXT),
    ],
)
def test_what_has_no_place_is_told(engy, fault, reply, is_streamed):
    """Only JSON can be cut inside, and only calls can end as if there were none."""
    idle(engy, fault, "chat", is_streamed, reply)


@pytest.mark.parametrize("route", CHUNKED)
def test_a_whole_answer_has_no_end_mark_to_lose(engy, route):
    """Whole answers have null as their reason, with and without `done`."""
    engy.when().reply("one", faults=[{"kind": "no-finish-reason", "done": False}])
    (choice,) = ask(engy, route, stream=False).document["choices"]
    assert choice["finish_reason"] is None


@pytest.mark.parametrize("is_streamed", FORMS)
def test_reasoning_counts_as_pieces(engy, is_streamed):
    """`after` counts reasoning and text alike, and what is left is what is counted."""
    engy.when().reply("one two", reasoning="let me see")
    ask(engy, stream=is_streamed)
    usage = engy.journal.last.usage
    (choice,) = engy.journal.last.generation.choices
    after = len(choice.reasoning) + 1
    engy.reset()
    engy.when().reply("one two", reasoning="let me see", faults=[{"kind": "content-filter", "after": after}])
    assert text(ask(engy, stream=is_streamed)) == "one"
    assert engy.journal.last.usage.completion_tokens == usage.completion_tokens - 1
    assert engy.journal.last.usage.reasoning_tokens == usage.reasoning_tokens
