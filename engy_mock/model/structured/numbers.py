"""Numbers within bounds and on a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from engy_mock.model.structured.checking import exact
from engy_mock.model.structured.formats import INTEGER_RANGES
from engy_mock.model.structured.providers import Range
from engy_mock.model.structured.schema import Number, Schema
from engy_mock.model.structured.trouble import Contradiction
from engy_mock.model.structured.values import shown
from engy_mock.vocabulary.seeds import Draws

RANDOM_TRIES = 12
# Numbers walked through one after the other, for lists of unique numbers from a narrow range.
MOST_STEPS = 2_000
FINEST_DECIMALS = 15
USUAL_SPAN = 100
ENOUGH_CHOICE = 4
LARGEST_NUMBER = 10**308


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One end of a range, the keyword that set it and where it stands."""

    value: Fraction
    is_open: bool
    text: str
    pointer: str


def numbers(schemas: Sequence[Schema], usual: Range | None, draws: Draws, *, is_whole: bool) -> Iterator[Number]:
    """Numbers within the bounds of all schemas, from the usual range if possible; raises Contradiction."""
    low, high = _bounds(schemas)
    if low and high and (low.value > high.value or (low.value == high.value and (low.is_open or high.is_open))):
        relation = "above" if low.value > high.value else "as high as"
        where = "" if low.pointer == high.pointer else f" of {high.pointer}"
        raise Contradiction(low.pointer, f"{low.text} is {relation} {high.text}{where}")
    step = _step(schemas, is_whole=is_whole)
    grid = step or _decimal_step(low, high, usual)
    first, last = _grid_ends(low, high, grid)
    is_empty = first is not None and last is not None and first > last
    if is_empty and step is not None:
        bounds = " and ".join(bound.text for bound in (low, high) if bound)
        kind = "whole number" if step == 1 else f"multiple of {_number(step)}"
        raise Contradiction(low.pointer if low else "#", f"no {kind} lies between {bounds}")
    is_integral = is_whole or (step is not None and step.denominator == 1)
    multiples = iter(()) if is_empty else _multiples(first, last, usual, grid, draws)
    values = (multiple * grid for multiple in multiples)
    on_grid = (_number(value, is_integral=is_integral) for value in values if abs(value) < LARGEST_NUMBER)
    yield from islice(on_grid, RANDOM_TRIES)
    if step is None:
        yield from _floats_between(low, high, draws)
    yield from on_grid


def _bounds(schemas: Sequence[Schema]) -> tuple[Bound | None, Bound | None]:
    """The tightest lower and upper bound; an open one is tighter than a closed one."""
    lows: list[Bound] = []
    highs: list[Bound] = []

    def note(
        bounds: list[Bound], schema: Schema, keyword: str, value: Number | None, *, is_open: bool = False
    ) -> None:
        if value is not None:
            text = f"{keyword} {shown(value)}"
            bounds.append(Bound(value=Fraction(value), is_open=is_open, text=text, pointer=schema.pointer))

    for schema in schemas:
        note(lows, schema, "minimum", schema.minimum)
        note(lows, schema, "exclusiveMinimum", schema.above, is_open=True)
        note(highs, schema, "maximum", schema.maximum)
        note(highs, schema, "exclusiveMaximum", schema.below, is_open=True)
        least, most = INTEGER_RANGES.get(schema.format or "", (None, None))
        note(lows, schema, f"{schema.format}, at least", least)
        note(highs, schema, f"{schema.format}, at most", most)
    low = max(lows, key=lambda bound: (bound.value, bound.is_open), default=None)
    high = min(highs, key=lambda bound: (bound.value, not bound.is_open), default=None)
    return low, high


def _step(schemas: Sequence[Schema], *, is_whole: bool) -> Fraction | None:
    """The least number that is a multiple for all schemas."""
    step = Fraction(1) if is_whole else None
    for schema in schemas:
        if schema.multiple_of is not None:
            other = exact(schema.multiple_of)
            step = other if step is None else _least_common_multiple(step, other, schema.pointer)
    return step


def _least_common_multiple(one: Fraction, other: Fraction, pointer: str) -> Fraction:
    if max(one.numerator, one.denominator) > LARGEST_NUMBER**2:
        raise Contradiction(pointer, "multipleOf asks for numbers beyond all bounds")
    numerator = math.lcm(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(numerator, one.denominator * other.denominator)


def _decimal_step(low: Bound | None, high: Bound | None, usual: Range | None) -> Fraction:
    """Decimals fine enough to leave a choice between the bounds."""
    decimals = 2 if usual is None else usual.decimals
    while low and high and decimals < FINEST_DECIMALS and (high.value - low.value) * 10**decimals < ENOUGH_CHOICE:
        decimals += 1
    return Fraction(1, 10**decimals)


def _grid_ends(low: Bound | None, high: Bound | None, step: Fraction) -> tuple[int | None, int | None]:
    first = last = None
    if low is not None:
        first = math.ceil(low.value / step)
        first += low.is_open and first * step == low.value
    if high is not None:
        last = math.floor(high.value / step)
        last -= high.is_open and last * step == high.value
    return first, last


def _multiples(
    first: int | None, last: int | None, usual: Range | None, step: Fraction, draws: Draws
) -> Iterator[int]:
    """Whole numbers from first to last, random ones before a walk from another."""
    low, high = _window(first, last, usual, step)
    for _ in range(RANDOM_TRIES):
        yield low + below(draws, high - low + 1)
    start = low + below(draws, high - low + 1)
    end = start + MOST_STEPS if last is None else min(last, start + MOST_STEPS)
    yield from range(start, end + 1)
    end = start - MOST_STEPS if first is None else max(first, start - MOST_STEPS)
    yield from range(start - 1, end - 1, -1)


def _window(first: int | None, last: int | None, usual: Range | None, step: Fraction) -> tuple[int, int]:
    """Where on the grid to look first."""
    span = max(math.floor(USUAL_SPAN / step), ENOUGH_CHOICE)
    if usual is not None:
        low, high = math.ceil(usual.low / step), math.floor(usual.high / step)
        low = low if first is None else max(low, first)
        high = high if last is None else min(high, last)
        if low <= high:
            return low, high
    if first is not None and last is not None:
        return first, last
    if first is not None:
        return (0 if -span <= first <= 0 else first), max(first, 0) + span
    if last is not None:
        return min(last, 0) - (0 if 0 <= last <= span else span), last
    return 0, span


def _floats_between(low: Bound | None, high: Bound | None, draws: Draws) -> Iterator[float]:
    """Floats where decimals are too coarse: somewhere between the bounds, at them and right beside them."""
    ends = [bound.value for bound in (low, high) if bound]
    if len(ends) == 2:
        for _ in range(RANDOM_TRIES):
            yield float(ends[0] + (ends[1] - ends[0]) * Fraction(draws.unit()))
    for end in map(float, ends):
        near = (end, math.nextafter(end, math.inf), math.nextafter(end, -math.inf))
        yield from filter(math.isfinite, near)


def _number(value: Fraction, *, is_integral: bool = False) -> Number:
    return int(value) if is_integral else float(value)


def below(draws: Draws, n: int) -> int:
    """A whole number from 0 to n - 1, however large n is."""
    wide = 0
    for _ in range(0, n.bit_length() + 16, 32):
        wide = wide << 32 | draws.below(1 << 32)
    return wide * n >> 32 * len(range(0, n.bit_length() + 16, 32))
