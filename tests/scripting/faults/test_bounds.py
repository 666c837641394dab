"""What the parameters of faults may be: no number without a bound, no text that nobody can send."""

from dataclasses import MISSING, fields
from typing import Any

import pytest

from engy_mock import MockError
from engy_mock.scripting.fault import Fault, catalogue, made, parameter

KINDS = sorted(catalogue())

HALF = "x\ud800"


def parameters(kind: str) -> list[str]:
    """The parameters of a kind."""
    return [parameter(field.name) for field in fields(catalogue()[kind])]


def needed(kind: str) -> dict[str, Any]:
    """Something for the parameters of a kind that have no default."""
    missing = [
        parameter(field.name)
        for field in fields(catalogue()[kind])
        if field.default is MISSING and field.default_factory is MISSING
    ]
    return {word: 1.0 if word == "seconds" else True for word in missing}


def refusal(kind: str, word: str, value: object) -> str | None:
    """Why a parameter cannot be this; None if it can."""
    try:
        made({"kind": kind, **needed(kind), word: value})
    except MockError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_have_bounds(kind: str):
    """Q-19: no kind takes any number, so that none makes the server work, or wait, without end."""
    made({"kind": kind, **needed(kind)})
    for word in parameters(kind):
        for huge in (10**12, -(10**12), 1e300, -1e300):
            assert refusal(kind, word, huge) is not None, (word, huge)


@pytest.mark.parametrize(
    ("kind", "word", "most"),
    [
        ("headers-huge", "size", 1024 * 1024),
        ("headers-many", "count", 10_000),
        ("ping-storm", "count", 100),
        ("logprob-wrong-count", "by", 1000),
        ("reset", "after", 10**9),
    ],
)
def test_bounds_are_told(kind: str, word: str, most: int):
    """What takes memory or work has a bound of its own, and the mistake says which."""
    assert refusal(kind, word, most) is None
    assert f"{word} is {most + 1}: input should be less than or equal to {most}" in str(
        refusal(kind, word, most + 1)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_texts_can_be_sent(kind: str):
    """Half a surrogate pair has no bytes: no kind takes it, wherever it stands."""
    for word in parameters(kind):
        for value in (HALF, [HALF], {HALF: 1}):
            assert "half a surrogate pair" in str(refusal(kind, word, value))


def test_own_text_is_fine():
    """Whole characters outside of the first plane are not halves."""
    assert isinstance(made({"kind": "finish-odd", "value": "\U0001f389"}), Fault)


def test_tellable_forms():
    """Where a value may be of several forms the mistake tells all of them."""
    assert "input should be 200 or less than or equal to 599" in str(refusal("flapping", "pattern", [999]))
