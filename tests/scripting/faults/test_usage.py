"""Faults of the token counts, at the socket: where they are, how often, and in which form."""

from typing import Any

import pytest

from tests.scripting.captured import ask
from tests.scripting.faults.compared import (
    ALL,
    CHUNKED,
    FORMS,
    TEXT,
    THOUGHT,
    USAGE,
    Pair,
    Row,
    cases,
    choices,
    documents,
    idle,
    run,
)


def _counts(seen) -> list[object]:
    """All token counts, wherever a dialect puts them; those of unfinished responses are null anyway."""
    found = []
    for document in documents(seen):
        for top in (document, document.get("message"), document.get("response")):
            if isinstance(top, dict) and top.get("status") != "in_progress" and "usage" in top:
                found.append(top["usage"])
    return found


def _numbers(value) -> list[Any]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    return [value]


def is_missing(pair: Pair) -> None:
    assert _counts(pair.calm)
    assert _counts(pair.seen) == []
    assert choices(pair.seen) == choices(pair.calm)
    if pair.is_streamed and choices(pair.calm):
        assert [] not in [one["choices"] for one in documents(pair.seen)]


def is_null(pair: Pair) -> None:
    assert _counts(pair.seen) == [None] * len(_counts(pair.calm))


def is_zero(pair: Pair) -> None:
    found = [number for counts in _counts(pair.seen) for number in _numbers(counts)]
    usual = [number for counts in _counts(pair.calm) for number in _numbers(counts)]
    assert found == [0] * len(usual)
    assert sum(usual) > 0


def is_text(pair: Pair) -> None:
    found = [number for counts in _counts(pair.seen) for number in _numbers(counts)]
    assert found == [str(number) for counts in _counts(pair.calm) for number in _numbers(counts)]
    assert found


def is_everywhere(pair: Pair) -> None:
    totals: list[int] = [one["usage"]["completion_tokens"] for one in pair.seen.documents]
    assert totals == sorted(totals)
    assert totals[0] == (1 if pair.route == "v5 completions" else 0)
    assert len(set(totals)) >= len(totals) - 1
    last = pair.seen.documents[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"]["total_tokens"] == last["usage"]["prompt_tokens"] + totals[-1]
    assert len(pair.seen.documents) == len(pair.calm.documents)
    thoughts = [one["usage"]["completion_tokens_details"]["reasoning_tokens"] for one in pair.seen.documents]
    assert thoughts == sorted(thoughts)
    if pair.route == "chat":
        assert (thoughts[0], thoughts[1], thoughts[-1] > 1) == (0, 1, True)


def is_everywhere_and_asked_for(pair: Pair) -> None:
    assert all("usage" in one for one in pair.seen.documents)
    assert pair.seen.documents[-1] == pair.calm.documents[-1]
    assert pair.seen.documents[-2]["usage"] == pair.calm.documents[-1]["usage"]


def is_on_finish(pair: Pair) -> None:
    (place,) = [place for place, one in enumerate(pair.seen.documents) if "usage" in one]
    finish = pair.seen.documents[place]
    assert place == len(pair.seen.documents) - 1
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert finish["usage"]["completion_tokens"] > 0
    asked = [one["usage"] for one in pair.calm.documents if "usage" in one]
    assert asked in ([], [finish["usage"]])


def is_twice(pair: Pair) -> None:
    first, second = (one for one in pair.seen.documents if "usage" in one)
    assert first["choices"][0]["finish_reason"] == "stop"
    assert second["choices"] == []
    assert first["usage"] == second["usage"]
    assert second["usage"]["completion_tokens"] > 0


STREAMS = (True,)
ROWS = [
    Row(fault="usage-missing", check=is_missing, routes=ALL, request=USAGE),
    Row(fault="usage-null", check=is_null, routes=ALL, request=USAGE),
    Row(fault="usage-zero", check=is_zero, routes=ALL, request=USAGE),
    Row(fault="usage-strings", check=is_text, routes=ALL, request=USAGE),
    Row(fault="usage-every-chunk", check=is_everywhere, routes=CHUNKED, forms=STREAMS, reply=THOUGHT),
    Row(
        fault="usage-every-chunk",
        check=is_everywhere_and_asked_for,
        routes=CHUNKED,
        forms=STREAMS,
        request=USAGE,
        reply=THOUGHT,
    ),
    Row(fault="usage-on-finish", check=is_on_finish, routes=CHUNKED, forms=STREAMS),
    Row(fault="usage-on-finish", check=is_on_finish, routes=CHUNKED, forms=STREAMS, request=USAGE),
    Row(fault="usage-twice", check=is_twice, routes=CHUNKED, forms=STREAMS),
    Row(fault="usage-twice", check=is_twice, routes=CHUNKED, forms=STREAMS, request=USAGE),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_usage(engy, row, route, is_streamed):
    """The counts are where and what the fault says; what is charged is what it was."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("kind", ["usage-missing", "usage-null", "usage-zero", "usage-strings"])
def test_counts_that_nobody_asked_for_cannot_be_wrong(engy, kind):
    """A stream without usage has none to spoil."""
    idle(engy, kind, "chat", True, TEXT)


@pytest.mark.parametrize("is_streamed", FORMS)
def test_the_books_know_better(engy, is_streamed):
    """The journal counts right, whatever the client is told."""
    engy.when().reply("one two three", faults=["usage-zero"])
    ask(engy, stream=is_streamed)
    assert engy.journal.last.usage.completion_tokens > 2
    assert engy.journal.last.charged_micro > 0
