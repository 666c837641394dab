"""What a JSON value is like, whatever it says: for each place in it the kinds of values that stand there."""

from collections.abc import Iterable, Iterator
from typing import Any

LITERAL = frozenset({"object", "type", "role", "code", "param", "owned_by"})
"""Fields whose values are words of the interface, and are compared as they are."""

NUMBERS = frozenset({"number", "whole number"})

Shape = dict[str, set[str]]
"""Kinds by place; `[]` stands for each item of a list."""


def shape_of(values: Iterable[Any]) -> Shape:
    """The shape of all these values together."""
    shape: Shape = {}
    for value in values:
        for place, kind in _places(value, "", ""):
            shape.setdefault(place, set()).add(kind)
    return shape


def differences(expected: Shape, found: Shape) -> Iterator[str]:
    """In what one shape differs from the one that is expected, place by place."""
    for place in [*expected, *[place for place in found if place not in expected]]:
        if any(place.startswith(f"{other}{step}") for other in _unlike(expected, found) for step in ".["):
            continue  # what stands around it differs already
        here, there = expected.get(place, set()), found.get(place, set())
        if not there and _is_listed_away(place, found):
            continue
        if not here and _is_listed_away(place, expected):
            continue
        if not _fits(here, there):
            yield f"{place or 'the whole'}: {_said(there)}, expected {_said(here)}"


def _unlike(expected: Shape, found: Shape) -> list[str]:
    """The places that are there in one of them only."""
    return [place for place in {**expected, **found} if place and (place in expected) is not (place in found)]


def _is_listed_away(place: str, shape: Shape) -> bool:
    """Whether a place is within a list that has no items there."""
    while "[]" in place:
        place = place[: place.rindex("[]")]
        if "list" in shape.get(place, ()) and f"{place}[]" not in shape:
            return True
    return False


def _fits(expected: set[str], found: set[str]) -> bool:
    """Whether all kinds are the same; a whole number will do where any number is expected."""
    if "number" in expected and found & NUMBERS:
        return expected - NUMBERS == found - NUMBERS
    return expected == found


def _places(value: Any, place: str, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield place, "object"
        for key, item in value.items():
            yield from _places(item, f"{place}.{key}" if place else str(key), str(key))
    elif isinstance(value, list):
        yield place, "list"
        for item in value:
            yield from _places(item, f"{place}[]", name)
    else:
        yield place, repr(value) if name in LITERAL else _kind(value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "whole number"
    return "number" if isinstance(value, float) else "text"


def _said(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds)) or "nothing"
