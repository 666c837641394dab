"""Faults of scored text, at the socket: echoes and spans that do not add up."""

import pytest

from tests.scripting.captured import QUESTION
from tests.scripting.faults.compared import TEXT, Pair, Row, cases, choices, documents, idle, run, text

ECHO = {"echo": True, "logprobs": 2}
SPAN = {"logprob_start_len": 0}
BOTH = ("completions", "v5 completions")
LISTS = ("tokens", "token_logprobs", "top_logprobs", "text_offset", "token_ids")


def columns(pair: Pair, *, calm: bool = False) -> dict[str, list]:
    """The lists of the answer; those of the chunks of a stream one behind the other."""
    found: dict[str, list] = {}
    for choice in choices(pair.calm if calm else pair.seen):
        for name, values in (choice["logprobs"] or {}).items():
            found.setdefault(name, []).extend(values)
    return found


def begins_with_a_number(pair: Pair) -> None:
    found, usual = columns(pair), columns(pair, calm=True)
    assert usual["token_logprobs"][0] is None
    assert found["token_logprobs"] == [-1.0, *usual["token_logprobs"][1:]]
    if "tokens" in usual:
        assert found["top_logprobs"] == [{usual["tokens"][0]: -1.0}, *usual["top_logprobs"][1:]]
        assert found["tokens"] == usual["tokens"]


def has(by: int):
    """So many entries more or less than there are tokens, in all lists alike."""

    def check(pair: Pair) -> None:
        found, usual = columns(pair), columns(pair, calm=True)
        assert found.keys() == usual.keys()
        for name in found:
            assert len(found[name]) == len(usual[name]) + by
        assert text(pair.seen) == text(pair.calm)

    return check


def has_places(pair: Pair) -> None:
    found, usual = columns(pair), columns(pair, calm=True)
    assert set(usual["text_offset"]) == {-1}
    whole = text(pair.seen)
    assert whole == QUESTION + "one caf\u00e9 three"
    for place, token in zip(found["text_offset"], found["tokens"], strict=True):
        assert token.startswith("bytes:") or whole[place:].startswith(token)
    assert found["text_offset"][-1] == len(whole) - len(found["tokens"][-1])
    assert found["tokens"] == usual["tokens"]


def has_ids_only(pair: Pair) -> None:
    found, usual = columns(pair), columns(pair, calm=True)
    assert list(found) == ["token_logprobs", "token_ids"]
    assert found["token_logprobs"] == usual["token_logprobs"]
    assert len(found["token_ids"]) == len(usual["tokens"]) > 3
    assert {type(one) for one in found["token_ids"]} == {int}
    assert len(set(found["token_ids"])) == len(set(usual["tokens"]))


def has_no_echo(pair: Pair) -> None:
    """R-46 turned round: only what was generated is told and scored."""
    assert text(pair.calm) == QUESTION + "one two three four"
    assert text(pair.seen) == "one two three four"
    if columns(pair, calm=True):
        found, usual = columns(pair), columns(pair, calm=True)
        assert "".join(found["tokens"]) == "one two three four"
        assert usual["tokens"][-len(found["tokens"]) :] == found["tokens"]


def is_backwards(pair: Pair) -> None:
    found, usual = choices(pair.seen), choices(pair.calm)
    indexes = [choice["index"] for choice in found]
    assert indexes == sorted(indexes, reverse=True)
    assert len(set(indexes)) == 3
    if pair.is_streamed:
        for index in range(3):
            assert [one for one in found if one["index"] == index] == [
                one for one in usual if one["index"] == index
            ]
    else:
        assert found == usual[::-1]
    assert [one["usage"] for one in documents(pair.seen) if "usage" in one] == [
        one["usage"] for one in documents(pair.calm) if "usage" in one
    ]


def _by(by: int) -> dict:
    return {"kind": "logprob-wrong-count", "by": by}


WHOLE = (False,)
V1 = ("completions",)
CAFE = {"text": "one caf\u00e9 three"}
BATCH = {"prompt": ["one", "two", "three"]}
ROWS = [
    Row(fault="logprob-first-not-null", check=begins_with_a_number, routes=BOTH, request=ECHO),
    Row(fault="logprob-first-not-null", check=begins_with_a_number, routes=V1, forms=WHOLE, request=SPAN),
    Row(fault="logprob-wrong-count", check=has(-1), routes=BOTH, request=ECHO),
    Row(fault="logprob-wrong-count", check=has(-1), routes=V1, forms=WHOLE, request=SPAN),
    Row(fault=_by(2), check=has(2), routes=BOTH, request=ECHO),
    Row(fault=_by(-3), check=has(-3), routes=V1, forms=WHOLE, request=SPAN),
    Row(fault="text-offsets-real", check=has_places, routes=V1, forms=WHOLE, request=ECHO, reply=CAFE),
    Row(fault="token-ids-only", check=has_ids_only, routes=BOTH, request={"logprobs": 2}),
    Row(fault="token-ids-only", check=has_ids_only, routes=BOTH, request=ECHO),
    Row(fault="echo-missing", check=has_no_echo, routes=BOTH, request=ECHO),
    Row(fault="echo-missing", check=has_no_echo, routes=BOTH, request={"echo": True}),
    Row(fault="batch-shuffled", check=is_backwards, routes=BOTH, request=BATCH),
]


@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_completions(engy, row, route, is_streamed):
    """Scores and prompts do not belong together any more."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        ("logprob-first-not-null", {"logprobs": 2}),
        ("logprob-wrong-count", {"logprobs": 2}),
        ("logprob-wrong-count", {"echo": True}),
        ("text-offsets-real", {"logprobs": 2}),
        ("text-offsets-real", SPAN),
        ("token-ids-only", {}),
        ("token-ids-only", SPAN),
        ("echo-missing", {"logprobs": 2}),
    ],
)
def test_what_is_not_scored_is_not_misaligned(engy, kind, request_):
    """Each needs an echo, a span, or plain log probabilities."""
    idle(engy, kind, "completions", False, TEXT, **request_)


def test_places_are_real_under_v5_anyway(engy):
    """Where offsets are told as they are, there is nothing to set right."""
    idle(engy, "text-offsets-real", "v5 completions", False, TEXT, **ECHO)


def test_a_count_that_is_right_is_no_fault(engy):
    """By nothing is not at all."""
    idle(engy, _by(0), "completions", False, TEXT, **ECHO)
