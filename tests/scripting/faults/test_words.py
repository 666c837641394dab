"""Faults of single words, at the socket: what they do to the text in every dialect."""

import pytest

from engy_mock.scripting.faults.words import BLANK, LONG, ODD
from tests.scripting.faults.compared import ALL, LOGPROBS, TEXT, Pair, Row, cases, choices, idle, run, text

SCORED = ("chat", "v5 chat", "completions", "v5 completions", "responses")


def ends_with(more: str):
    def check(pair: Pair) -> None:
        assert text(pair.seen) == text(pair.calm) + more

    return check


def is_blank(pair: Pair) -> None:
    assert text(pair.seen) == "".join(BLANK)
    assert text(pair.seen).isspace()


def is_one_long_piece(pair: Pair) -> None:
    assert len(LONG) > 64 * 1024
    ends_with(LONG)(pair)
    if pair.is_streamed:
        assert sum(LONG in data for _, data in pair.seen.events if "delta" in data or "choices" in data) > 0


def is_cut_inside_what_one_sees(pair: Pair) -> None:
    ends_with("".join(ODD))(pair)
    if pair.is_streamed and choices(pair.seen):
        told = [choice.get("text", choice.get("delta", {}).get("content", "")) for choice in choices(pair.seen)]
        assert [one for one in told if one][-len(ODD) :] == list(ODD)


def has_an_empty_piece(pair: Pair) -> None:
    assert text(pair.seen) == text(pair.calm)
    if pair.is_streamed:
        assert len(pair.seen.documents) == len(pair.calm.documents) + 1


def _tokens(seen) -> list[str]:
    """The tokens with log probabilities, in any dialect that has them."""
    found: list[str] = []
    for choice in choices(seen):
        told = choice.get("logprobs") or {}
        found += [one["token"] for one in told.get("content", ())] + told.get("tokens", [])
    return found


def has_an_empty_token(pair: Pair) -> None:
    first, *others = _tokens(pair.calm)
    assert _tokens(pair.seen) == [first, "", *others]
    assert text(pair.seen) == text(pair.calm)


def is_scored(pair: Pair) -> None:
    assert "".join(_tokens(pair.seen)) == text(pair.seen)


STREAMS = (True,)
CHOOSING = ("chat", "v5 chat", "completions", "v5 completions")
ROWS = [
    Row(fault="whitespace-only", check=is_blank, routes=ALL),
    Row(fault="long-token", check=is_one_long_piece, routes=ALL),
    Row(fault="zero-width-token", check=has_an_empty_piece, routes=ALL, forms=STREAMS),
    Row(fault="zero-width-token", check=has_an_empty_token, routes=CHOOSING, request=LOGPROBS),
    Row(fault="control-tokens-leaked", check=ends_with("<|im_end|>"), routes=ALL),
    Row(fault="odd-scripts", check=is_cut_inside_what_one_sees, routes=ALL),
    *[
        Row(fault=kind, check=is_scored, routes=CHOOSING, request=LOGPROBS)
        for kind in ("whitespace-only", "control-tokens-leaked", "odd-scripts")
    ],
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_words(engy, row, route, is_streamed):
    """The words are in the text, and in its log probabilities where these are asked for."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("route", ["chat", "messages", "v5 completions"])
def test_nothing_is_not_seen_in_a_whole_text(engy, route):
    """Without log probabilities an empty piece leaves no trace there."""
    idle(engy, "zero-width-token", route, False, TEXT)
