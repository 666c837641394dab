"""Faults of log probabilities, at the socket."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from engy_mock.scripting.faults.words import ODD
from tests.scripting.captured import Capture, ask
from tests.scripting.faults.compared import (
    CHAT,
    COMPLETIONS,
    FORMS,
    LOGPROBS,
    TEXT,
    Pair,
    Row,
    cases,
    choices,
    documents,
    idle,
    run,
    text,
)

LISTED = (*CHAT, "responses")
SCORED = (*LISTED, *COMPLETIONS)


def entries(value: Any) -> Iterator[dict[str, Any]]:
    """The tokens with their alternatives, wherever they stand."""
    if isinstance(value, dict):
        if "token" in value:
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from entries(item)


def told(seen: Capture) -> list[dict[str, Any]]:
    """The tokens of the answer, each once, with `top` as a list of texts in any form."""
    found = []
    for document in documents(seen):
        if document.get("type", "response.output_text.delta") != "response.output_text.delta":
            continue
        for one in entries(document):
            found.append({**one, "top": [row["token"] for row in one["top_logprobs"]]})
        for choice in document.get("choices") or ():
            columns = choice.get("logprobs") or {}
            for token, value, top in zip(
                columns.get("tokens", ()),
                columns.get("token_logprobs", ()),
                columns.get("top_logprobs", ()),
                strict=True,
            ):
                found.append({"token": token, "logprob": value, "top": list(top)})
    return found


def are_null(pair: Pair) -> None:
    found = [choice["logprobs"] for choice in choices(pair.seen) if choice.get("logprobs", 0) != 0]
    usual = [choice["logprobs"] for choice in choices(pair.calm) if choice.get("logprobs", 0) != 0]
    if pair.route in COMPLETIONS:
        assert set(found) == {None}
    else:
        assert found == [None if one is None else {**one, "content": None} for one in usual]
        assert {"content": None} in found or {"content": None, "refusal": []} in found
    assert text(pair.seen) == text(pair.calm)


def have_no_bytes(pair: Pair) -> None:
    assert b'"bytes":[' in pair.calm.body
    assert b'"bytes"' not in pair.seen.body
    assert [one["token"] for one in told(pair.seen)] == [one["token"] for one in told(pair.calm)] != []


def are_split(pair: Pair) -> None:
    """The last two tokens are bytes of one character, and only together a text."""
    found = told(pair.seen)
    assert text(pair.seen) == text(pair.calm) + "\u2603"
    assert [one["token"] for one in found[-2:]] == ["bytes:\\xe2", "bytes:\\x98\\x83"]
    assert [one["token"] for one in found[:-2]] == [one["token"] for one in told(pair.calm)]
    if "bytes" in found[-1]:
        assert bytes(found[-2]["bytes"] + found[-1]["bytes"]).decode() == "\u2603"
        with pytest.raises(ValueError, match=r"."):
            bytes(found[-2]["bytes"]).decode()


def are_sentinels(pair: Pair) -> None:
    assert {one["logprob"] for one in told(pair.seen)} == {-9999.0}
    assert [one["token"] for one in told(pair.seen)] == [one["token"] for one in told(pair.calm)]


def is_prompt_sentinel(pair: Pair) -> None:
    (choice,) = choices(pair.seen)
    first, *others = choice["logprobs"]["token_logprobs"]
    assert first is None
    assert set(others) == {-9999.0}


def are_not_finite(pair: Pair) -> None:
    found = [one["logprob"] for one in told(pair.seen)]
    assert len(found) >= 4
    assert [math.isnan(one) for one in found] == [bool(place % 2) for place in range(len(found))]
    assert found[0] == -math.inf
    assert b":-Infinity" in pair.seen.body or b"[-Infinity" in pair.seen.body
    assert b":NaN" in pair.seen.body or b"[NaN" in pair.seen.body or b",NaN" in pair.seen.body
    first = next(data for _, data in pair.seen.events if "Infinity" in data) if pair.is_streamed else ""
    with pytest.raises(ValueError, match=r"-Infinity is no JSON"):
        json.loads(first or pair.seen.body, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def are_too_few_and_too_many(pair: Pair) -> None:
    for place, (one, usual) in enumerate(zip(told(pair.seen), told(pair.calm), strict=True)):
        if place % 2:
            assert set(one["top"]) == {*usual["top"], "\u2603"}
        elif pair.route in COMPLETIONS:
            # The token itself is among its alternatives in any case.
            assert len(one["top"]) <= len(usual["top"])
        else:
            assert one["top"] == usual["top"][:-1]
    assert len(told(pair.seen)) >= 4


def are_doubled(pair: Pair) -> None:
    found, usual = told(pair.seen), told(pair.calm)
    assert len(found) >= 4
    for one, before in zip(found, usual, strict=True):
        assert one["top"] == [before["top"][0], *before["top"][:1], *before["top"][2:]]
        assert [row["logprob"] for row in one["top_logprobs"]] == [
            row["logprob"] for row in before["top_logprobs"]
        ]


SPAN = {"logprob_start_len": 0}
ROWS = [
    Row(fault="logprobs-null", check=are_null, routes=(*CHAT, *COMPLETIONS), request=LOGPROBS),
    Row(fault="logprob-bytes-missing", check=have_no_bytes, routes=LISTED, request=LOGPROBS),
    Row(fault="logprob-bytes-split", check=are_split, routes=SCORED, request=LOGPROBS),
    Row(fault="logprob-sentinel", check=are_sentinels, routes=SCORED, request=LOGPROBS),
    Row(
        fault="logprob-sentinel",
        check=is_prompt_sentinel,
        routes=("completions",),
        forms=(False,),
        request=SPAN,
    ),
    Row(fault="logprob-not-finite", check=are_not_finite, routes=SCORED, request=LOGPROBS),
    Row(fault="logprob-top-count", check=are_too_few_and_too_many, routes=SCORED, request=LOGPROBS),
    Row(fault="logprob-top-duplicates", check=are_doubled, routes=LISTED, request=LOGPROBS),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_logprobs(engy, row, route, is_streamed):
    """The log probabilities are as the fault has them."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
@pytest.mark.parametrize("is_streamed", FORMS)
def test_what_nobody_asked_for_cannot_be_wrong(engy, row, is_streamed):
    """Without log probabilities all of these have nothing to do."""
    idle(engy, row.fault, "chat", is_streamed, TEXT)


@pytest.mark.parametrize("is_streamed", FORMS)
def test_a_character_of_the_text_is_split_first(engy, is_streamed):
    """A text with a token that is such a character gets no other; odd scripts bring some."""
    engy.when().reply("one", faults=["odd-scripts"])
    before = told(ask(engy, "v5 completions", stream=is_streamed, logprobs=1))
    engy.reset()
    engy.when().reply("one", faults=["odd-scripts", "logprob-bytes-split"])
    seen = ask(engy, "v5 completions", stream=is_streamed, logprobs=1)
    assert engy.journal.last.faults == ("odd-scripts", "logprob-bytes-split")
    whole = [one["token"] for one in before if not one["token"].isascii()]
    assert len(told(seen)) == len(before) + len(whole) > len(before) + 10
    assert all(one["token"].isascii() for one in told(seen))
    assert text(seen) == "one" + "".join(ODD)
