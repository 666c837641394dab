"""Faults of content and reasoning, at the socket: in another form, in another place, or not there at all."""

import pytest

from tests.scripting.captured import ask
from tests.scripting.faults.compared import (
    ALL,
    CALL,
    FORMS,
    TALKING,
    TEXT,
    THOUGHT,
    Pair,
    Row,
    calls,
    cases,
    documents,
    idle,
    reason,
    run,
    said,
    text,
)


def contents(value: object):
    """Every delta that had content, or the message, has this instead."""

    def check(pair: Pair) -> None:
        assert [one["content"] for one in said(pair.seen) if "content" in one] == [
            value for one in said(pair.calm) if "content" in one
        ]
        _same_but_for(pair, "content")

    return check


def _same_but_for(pair: Pair, *keys: str) -> None:
    def rest(seen) -> list[dict]:
        return [{key: value for key, value in one.items() if key not in keys} for one in said(seen)]

    assert rest(pair.seen) == rest(pair.calm)


def is_missing(pair: Pair) -> None:
    assert not any("content" in one for one in said(pair.seen))
    _same_but_for(pair, "content")


def is_in_parts(pair: Pair) -> None:
    found = [one["content"] for one in said(pair.seen) if "content" in one]
    usual = [one["content"] for one in said(pair.calm) if "content" in one]
    assert found == [[{"type": "text", "text": one}] for one in usual]
    _same_but_for(pair, "content")


def is_empty(pair: Pair) -> None:
    assert text(pair.calm)
    assert text(pair.seen) == ""
    assert reason(pair.seen) == reason(pair.calm)
    if not pair.is_streamed and pair.route in ("chat", "v5 chat"):
        assert said(pair.seen)[0]["content"] == ""


def is_empty_beside_calls(pair: Pair) -> None:
    assert said(pair.calm)[0]["content"] is None
    assert said(pair.seen)[0]["content"] == ""
    assert calls(pair.seen) == calls(pair.calm)


def is_refused(pair: Pair) -> None:
    assert text(pair.calm) == "one two three four"
    assert text(pair.seen) == ""
    if pair.route.endswith("chat"):
        assert "".join(one.get("refusal") or "" for one in said(pair.seen)) == "one two three four"
        assert not any(one.get("content") for one in said(pair.seen))
        return
    whole = [
        one for document in documents(pair.seen) for one in document.get("response", document).get("output", [])
    ]
    assert whole[-1]["content"] == [{"type": "refusal", "refusal": "one two three four"}]
    assert b"output_text" not in pair.seen.body
    if pair.is_streamed:
        told = [one["delta"] for one in pair.seen.documents if one["type"] == "response.refusal.delta"]
        assert "".join(told) == "one two three four"
        done = [one for one in pair.seen.documents if one["type"] == "response.refusal.done"]
        assert [one["refusal"] for one in done] == ["one two three four"]
        named = pair.route == "responses"
        assert {name for name, data in pair.seen.events if "response.refusal.delta" in data} == (
            {"response.refusal.delta"} if named else {""}
        )


def _reasoning(seen) -> str:
    """The reasoning as a client of any dialect puts it together."""
    found = ""
    for one in said(seen):
        found += one.get("reasoning_content") or ""
    for document in documents(seen):
        delta = document.get("delta")
        if isinstance(delta, dict):
            found += delta.get("thinking", "")
        elif document.get("type") == "response.reasoning_text.delta":
            found += str(delta)
        for item in (*document.get("content", ()), *document.get("output", ())):
            if item["type"] == "thinking":
                found += item["thinking"]
            if item["type"] == "reasoning":
                found += item["content"][0]["text"]
    return found


def only_reasons(ends: dict[str, str], usual: str):
    def check(pair: Pair) -> None:
        assert _reasoning(pair.seen) == (_reasoning(pair.calm) or text(pair.calm)) != ""
        assert text(pair.seen) == ""
        assert reason(pair.seen) == ends.get(pair.route, usual)

    return check


def reasons_elsewhere(pair: Pair) -> None:
    found = "".join(one.get("reasoning", "") for one in said(pair.seen))
    assert found == _reasoning(pair.calm) != ""
    assert not any("reasoning_content" in one for one in said(pair.seen))
    assert text(pair.seen) == text(pair.calm)


def thinks_aloud(pair: Pair) -> None:
    assert text(pair.seen) == f"<think>{_reasoning(pair.calm)}</think>{text(pair.calm)}"
    assert _reasoning(pair.seen) == ""


def reasons_emptily(pair: Pair) -> None:
    assert all("reasoning_content" in one for one in said(pair.seen))
    assert _reasoning(pair.seen) == _reasoning(pair.calm)
    assert text(pair.seen) == text(pair.calm)
    assert "" in [one["reasoning_content"] for one in said(pair.seen)]


THINKING = ("chat", "messages", "responses")
LIMIT = {"messages": "max_tokens", "responses": "max_output_tokens", "v5 responses": "max_output_tokens"}
STOP = {"messages": "end_turn", "responses": "completed", "v5 responses": "completed"}
ROWS = [
    Row(fault="content-null", check=contents(None)),
    Row(fault="content-empty", check=is_empty, routes=ALL),
    Row(fault="content-empty", check=is_empty_beside_calls, forms=(False,), reply=CALL),
    Row(fault="content-missing", check=is_missing),
    Row(fault="content-parts", check=is_in_parts),
    Row(fault="refusal", check=is_refused, routes=("chat", "v5 chat", "responses", "v5 responses")),
    Row(fault="reasoning-only", check=only_reasons(LIMIT, "length"), routes=TALKING, reply=THOUGHT),
    Row(fault="reasoning-only", check=only_reasons(LIMIT, "length"), routes=("chat", "v5 chat")),
    Row(
        fault={"kind": "reasoning-only", "finish": "stop"},
        check=only_reasons(STOP, "stop"),
        routes=TALKING,
        reply=THOUGHT,
    ),
    Row(fault="reasoning-elsewhere", check=reasons_elsewhere, routes=("chat",), reply=THOUGHT),
    Row(
        fault={"kind": "reasoning-elsewhere", "place": "think"},
        check=thinks_aloud,
        routes=THINKING,
        reply=THOUGHT,
    ),
    Row(fault="reasoning-empty-chunks", check=reasons_emptily, forms=(True,), reply=THOUGHT),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_content(engy, row, route, is_streamed):
    """The content is where and what the fault says."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("is_streamed", FORMS)
@pytest.mark.parametrize("fault", ["reasoning-elsewhere", {"kind": "reasoning-elsewhere", "place": "think"}])
def test_no_reasoning_has_no_other_place(engy, fault, is_streamed):
    """Where nothing is reasoned, nothing moves."""
    idle(engy, fault, "chat", is_streamed, TEXT)


def test_reasoning_alone_is_all_that_is_counted(engy):
    """The budget was eaten by reasoning, and the counts say so."""
    engy.when().reply(**THOUGHT, faults=["reasoning-only"])
    usage = ask(engy, stream=False).document["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == usage["completion_tokens"] > 0


@pytest.mark.parametrize("is_streamed", FORMS)
def test_thinking_aloud_keeps_tokens_and_pieces_in_step(engy, is_streamed):
    """What has become text has no log probabilities, and what was text keeps its own."""
    engy.when().reply(**THOUGHT, faults=[{"kind": "reasoning-elsewhere", "place": "think"}])
    seen = ask(engy, stream=is_streamed, logprobs=True, top_logprobs=1)
    tokens = [
        one["token"]
        for document in documents(seen)
        for choice in document["choices"]
        for one in (choice.get("logprobs") or {"content": []})["content"]
    ]
    assert "".join(tokens) == "one two three four"
