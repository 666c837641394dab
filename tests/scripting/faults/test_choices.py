"""Faults of the list of choices, at the socket: empty, missing and shuffled ones."""

from typing import Any

import pytest

from engy_mock import MockError
from tests.scripting.faults.compared import (
    CHUNKED,
    COMPLETIONS,
    TEXT,
    USAGE,
    Pair,
    Row,
    cases,
    choices,
    idle,
    run,
    text,
)

BATCH = {"prompt": ["one", "two"]}
NONE = "no key"


def _lists(pair: Pair) -> list[Any]:
    """The list of choices in each chunk."""
    return [document.get("choices", NONE) for document in pair.seen.documents]


def _odd_one(pair: Pair, value: object) -> int:
    """The place of the one chunk with such a list; all others are as they were."""
    found = _lists(pair)
    assert found.count(value) == 1
    place = found.index(value)
    assert [*found[:place], *found[place + 1 :]] == [one["choices"] for one in pair.calm.documents]
    assert text(pair.seen) == text(pair.calm)
    odd, usual = pair.seen.documents[place], pair.calm.documents[0]
    assert [odd[key] for key in ("id", "object", "created", "model")] == [
        usual[key] for key in ("id", "object", "created", "model")
    ]
    return place


def empty_first(pair: Pair) -> None:
    assert _odd_one(pair, []) == 0
    (results,) = pair.seen.documents[0]["prompt_filter_results"]
    assert results["content_filter_results"]["hate"] == {"filtered": False, "severity": "safe"}


def _pieces_before(pair: Pair, place: int) -> int:
    return sum(bool(text_of(choice)) for one in _lists(pair)[:place] for choice in one)


def text_of(choice: dict) -> str:
    return choice.get("text") or choice.get("delta", {}).get("content") or ""


def empty_mid(pair: Pair) -> None:
    """R-75: the chunk behind two pieces has no choice."""
    assert _pieces_before(pair, _odd_one(pair, [])) == 2


def empty_at_once(pair: Pair) -> None:
    assert _pieces_before(pair, _odd_one(pair, [])) == 0


def empty_last(pair: Pair) -> None:
    place = _odd_one(pair, [])
    assert place == len(pair.seen.documents) - 1
    assert pair.seen.documents[place]["usage"]["total_tokens"] > 0


def missing_at_once(pair: Pair) -> None:
    assert _pieces_before(pair, _odd_one(pair, NONE)) == 0


def missing_behind_all(pair: Pair) -> None:
    place = _odd_one(pair, NONE)
    assert _pieces_before(pair, place) == len([one for one in choices(pair.calm) if text_of(one)])
    assert pair.seen.documents[place + 1]["choices"][0]["finish_reason"] == "stop"


def null_mid(pair: Pair) -> None:
    found = [one for one in _lists(pair) if one is not None]
    assert found == [one["choices"] for one in pair.calm.documents]
    assert sum(bool(text_of(one)) for some in _lists(pair)[: _lists(pair).index(None)] for one in some or ()) == 1


def by_turns(pair: Pair) -> None:
    indexes = [choice["index"] for choice in choices(pair.seen)]
    if pair.is_streamed:
        assert indexes == [1, 0] * (len(indexes) // 2)
        for index in (0, 1):
            assert _of(pair.seen, index) == _of(pair.calm, index)
    else:
        assert indexes == [1, 0]
        assert choices(pair.seen) == choices(pair.calm)[::-1]


def _of(seen, index: int) -> list[dict]:
    return [choice for choice in choices(seen) if choice["index"] == index]


def without_index(pair: Pair) -> None:
    assert not any("index" in choice for choice in choices(pair.seen))
    assert [{**choice, "index": 0} for choice in choices(pair.seen)] == choices(pair.calm)


STREAMS = (True,)
ROWS = [
    Row(fault="choices-empty-first", check=empty_first, routes=CHUNKED, forms=STREAMS),
    Row(fault="choices-empty-mid", check=empty_at_once, routes=CHUNKED, forms=STREAMS),
    Row(fault={"kind": "choices-empty-mid", "after": 2}, check=empty_mid, routes=CHUNKED, forms=STREAMS),
    Row(fault="choices-empty-last", check=empty_last, routes=CHUNKED, forms=STREAMS),
    Row(fault="choices-missing", check=missing_at_once, routes=CHUNKED, forms=STREAMS),
    Row(fault={"kind": "choices-missing", "after": 4}, check=missing_behind_all, routes=CHUNKED, forms=STREAMS),
    Row(fault={"kind": "choices-null", "after": 1}, check=null_mid, routes=CHUNKED, forms=STREAMS),
    Row(fault="choices-interleaved", check=by_turns, routes=("v5 chat", "v5 completions"), request={"n": 2}),
    Row(fault="choices-interleaved", check=by_turns, routes=("completions",), forms=(False,), request=BATCH),
    Row(fault="choice-index-missing", check=without_index, routes=CHUNKED),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_choices(engy, row, route, is_streamed):
    """One chunk more, or another order; the content is what it was."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("route", ["chat", "v5 completions"])
def test_usage_that_was_asked_for_is_no_surprise(engy, route):
    """A chunk that was asked for is sent anyway."""
    idle(engy, "choices-empty-last", route, True, TEXT, **USAGE)


@pytest.mark.parametrize("kind", ["choices-interleaved", "batch-shuffled"])
@pytest.mark.parametrize("is_streamed", [True, False])
def test_one_choice_has_one_order(engy, kind, is_streamed):
    """There is nothing to shuffle in a list of one."""
    route = "v5 completions" if is_streamed else COMPLETIONS[0]
    idle(engy, kind, route, is_streamed, TEXT)


@pytest.mark.parametrize("kind", ["choices-null", "role-missing", "no-finish-reason", "tool-index-missing"])
def test_kinds_know_their_endpoints(engy, kind):
    """What only chats and completions have, no rule for messages can break."""
    with pytest.raises(MockError, match=f"{kind}.*can never apply.*not for messages"):
        engy.when(endpoint="messages").faults(kind)
