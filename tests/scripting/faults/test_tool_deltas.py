"""Faults of indexes, ids and names of tool calls, at the socket, and of how calls are spread over chunks."""

import pytest

from tests.scripting.captured import ask
from tests.scripting.faults.compared import (
    CALL,
    CALLS,
    CHAT,
    TALKING,
    TEXT,
    Pair,
    Row,
    arguments,
    calls,
    cases,
    documents,
    idle,
    run,
)

PARTS = ['{"city":', '"Paris"}']


def _but(calls: list[dict], *keys: str) -> list[dict]:
    return [{key: value for key, value in call.items() if key not in keys} for call in calls]


def indexes(*wanted: object):
    """The calls have these indexes, and are what they were otherwise."""

    def check(pair: Pair) -> None:
        assert [call.get("index", "none") for call in calls(pair.seen)] == list(wanted)
        assert _but(calls(pair.seen), "index") == _but(calls(pair.calm), "index")

    return check


def reuse_one_index(pair: Pair) -> None:
    """R-90: two calls at index 0, each with its whole arguments."""
    indexes(0, 0)(pair)
    assert [call["function"]["arguments"] for call in calls(pair.seen)] == [
        '{"city":"Paris"}',
        '{"city":"Rome","days":3}',
    ]
    assert calls(pair.seen)[0]["id"] != calls(pair.seen)[1]["id"]


def have_no_id(pair: Pair) -> None:
    assert not any("id" in call for call in calls(pair.seen))
    assert calls(pair.seen) == _but(calls(pair.calm), "id")


def _ids(pair: Pair) -> list[object]:
    """The ids by which results are matched to calls, in any dialect."""
    found = [call["id"] for call in calls(pair.seen)]
    for document in documents(pair.seen):
        blocks = [document.get("content_block"), *document.get("content", ())]
        found += [block["id"] for block in blocks if block and block["type"] == "tool_use"]
        items = [document.get("item"), *document.get("response", document).get("output", ())]
        found += [item["call_id"] for item in items if item and item["type"] == "function_call"]
    return found


def have_an_empty_id(pair: Pair) -> None:
    assert set(_ids(pair)) == {""}
    assert arguments(pair.seen) == arguments(pair.calm)


def share_one_id(pair: Pair) -> None:
    assert len(_ids(pair)) >= 2
    assert len(set(_ids(pair))) == 1
    assert len(str(_ids(pair)[0])) > 20
    assert arguments(pair.seen) == arguments(pair.calm)


def _parts(pair: Pair) -> list[dict]:
    """The parts of the one call; its arguments are what they were."""
    found = calls(pair.seen)
    assert {call.pop("index") for call in found} == {0}
    assert arguments(pair.seen) == arguments(pair.calm)
    assert len(pair.seen.documents) == len(pair.calm.documents) + len(found) - 1
    return found


def repeat_the_id(pair: Pair) -> None:
    first, second = _parts(pair)
    assert first["id"] == second["id"] == calls(pair.calm)[0]["id"]
    assert second["function"] == {"arguments": PARTS[1]}


def repeat_the_name(pair: Pair) -> None:
    first, second = _parts(pair)
    assert first["function"] == {"name": "get_weather", "arguments": PARTS[0]}
    assert second == {"function": {"arguments": PARTS[1], "name": "get_weather"}}


def split_the_name(pair: Pair) -> None:
    first, second, third = _parts(pair)
    assert first == {**_but(calls(pair.calm), "index")[0], "function": {"name": "get_we", "arguments": ""}}
    assert second == {"function": {"name": "ather", "arguments": ""}}
    assert third == {"function": {"arguments": "".join(PARTS)}}


def empty_the_name(pair: Pair) -> None:
    first, second = _parts(pair)
    assert first["function"]["name"] == "get_weather"
    assert second == {"function": {"arguments": PARTS[1], "name": ""}}


def name_late(pair: Pair) -> None:
    first, second = _parts(pair)
    assert first["function"] == {"arguments": "".join(PARTS)}
    assert first["id"] == calls(pair.calm)[0]["id"]
    assert second == {"function": {"arguments": "", "name": "get_weather"}}


def come_by_turns(pair: Pair) -> None:
    found = calls(pair.seen)
    assert [call["index"] for call in found] == [0, 1, 0, 1]
    assert ["id" in call for call in found] == [True, True, False, False]
    assert arguments(pair.seen) == arguments(pair.calm)


STREAMS = (True,)
ROWS = [
    Row(fault="tool-index-missing", check=indexes("none"), forms=STREAMS, reply=CALL),
    Row(fault="tool-index-null", check=indexes(None, None), forms=STREAMS, reply=CALLS),
    Row(fault="tool-index-gap", check=indexes(0, 2), forms=STREAMS, reply=CALLS),
    Row(fault="tool-index-from-one", check=indexes(1, 2), forms=STREAMS, reply=CALLS),
    Row(fault="tool-index-reused", check=reuse_one_index, forms=STREAMS, reply=CALLS),
    Row(fault="tool-id-missing", check=have_no_id, reply=CALLS),
    Row(fault="tool-id-empty", check=have_an_empty_id, routes=TALKING, reply=CALLS),
    Row(fault="tool-id-duplicated", check=share_one_id, routes=TALKING, reply=CALLS),
    Row(fault="tool-id-every-chunk", check=repeat_the_id, forms=STREAMS, reply=CALL),
    Row(fault="tool-name-repeated", check=repeat_the_name, forms=STREAMS, reply=CALL),
    Row(fault="tool-name-split", check=split_the_name, forms=STREAMS, reply=CALL),
    Row(fault="tool-name-empty-later", check=empty_the_name, forms=STREAMS, reply=CALL),
    Row(fault="tool-name-late", check=name_late, forms=STREAMS, reply=CALL),
    Row(fault="tool-calls-interleaved", check=come_by_turns, forms=STREAMS, reply=CALLS),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_tool_calls(engy, row, route, is_streamed):
    """The calls are the same but for what the fault is about."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
@pytest.mark.parametrize("route", CHAT)
def test_an_answer_without_calls_has_none_to_spoil(engy, row, route):
    """All of these need a call."""
    idle(engy, row.fault, route, True, TEXT)


@pytest.mark.parametrize(
    "kind", ["tool-index-gap", "tool-index-reused", "tool-id-duplicated", "tool-calls-interleaved"]
)
def test_one_call_has_no_neighbour(engy, kind):
    """These need two."""
    idle(engy, kind, "chat", True, CALL, tools=True)


def test_parts_of_a_call_are_one_piece(engy):
    """However many chunks tell a call: it is one piece to the journal, and it has got through with the last."""
    engy.when().reply(**CALL, faults=["tool-name-split"])
    ask(engy, tools=True)
    assert engy.journal.last.pieces_sent == 1
