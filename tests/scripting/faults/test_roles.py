"""Faults of the role, at the socket: where it is missing, odd, or comes again and again."""

import pytest

from tests.scripting.faults.compared import CHAT, THOUGHT, Pair, Row, cases, idle, run, said


def _roles(pair: Pair) -> list[object]:
    return [one.get("role", "none") for one in said(pair.seen)]


def is_missing(pair: Pair) -> None:
    assert set(_roles(pair)) == {"none"}
    assert said(pair.calm)[0].pop("role") == "assistant"


def is_null(pair: Pair) -> None:
    assert _roles(pair) == [None, *["none"] * (len(said(pair.calm)) - 1)]


def is_empty(pair: Pair) -> None:
    assert _roles(pair) == ["", *["none"] * (len(said(pair.calm)) - 1)]


def comes_again(pair: Pair) -> None:
    assert set(_roles(pair)) == {"assistant"}
    assert len(_roles(pair)) == len(said(pair.calm)) > 5


def comes_late(pair: Pair) -> None:
    found = [next(iter(one), "") for one in said(pair.seen)]
    thoughts = found.count("reasoning_content")
    assert thoughts > 0
    assert found[:thoughts] == ["reasoning_content"] * thoughts
    assert found[thoughts] == "role"
    assert sorted(pair.seen.body.split(b"\n\n")) == sorted(pair.calm.body.split(b"\n\n"))


ROWS = [
    Row(fault="role-missing", check=is_missing),
    Row(fault="role-null", check=is_null),
    Row(fault="role-empty", check=is_empty),
    Row(fault="role-every-chunk", check=comes_again, forms=(True,)),
    Row(fault="role-late", check=comes_late, routes=("chat",), forms=(True,), reply=THOUGHT),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_roles(engy, row, route, is_streamed):
    """The role is where and what the fault says, and nothing else has changed its place."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("route", CHAT)
def test_a_role_is_late_only_behind_reasoning(engy, route):
    """Without reasoning there is nothing to be late for."""
    idle(engy, "role-late", route, True, {"text": "one two"})
