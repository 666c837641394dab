"""Arrays: how many items, what holds for each of them, and which of them `contains` counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from engy_mock.model.structured.checking import item_rule
from engy_mock.model.structured.gathering import Gathered
from engy_mock.model.structured.names import singular
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.trouble import Contradiction
from engy_mock.model.structured.values import JsonValue, identity

if TYPE_CHECKING:
    from engy_mock.model.structured.building import Place, Work

# A document has at most so many values; more are never made, whatever `minItems` says.
MOST_VALUES = 2_000
ARRAY_TRIES = 12


def arrays(work: Work, gathered: Gathered, place: Place) -> Iterator[list[JsonValue]]:
    """Arrays for all the schemas; raises Contradiction."""
    schemas = gathered.schemas
    least, most = _sizes(schemas)
    wanted = [schema for schema in schemas if schema.contains is not None and schema.min_contains]
    contained = sum(schema.min_contains for schema in wanted)
    if contained > MOST_VALUES:
        raise Contradiction(wanted[0].pointer, f"minContains {contained} asks for more than {MOST_VALUES} values")
    for attempt in range(ARRAY_TRIES):
        count = min(max(_count(work, schemas, place, least), contained), most)
        yield _array(work, gathered, place, count, least, _contained_at(wanted, count, attempt))


def _array(
    work: Work, gathered: Gathered, place: Place, count: int, least: int, contained: dict[int, list[Schema]]
) -> list[JsonValue]:
    is_unique = any(schema.is_unique for schema in gathered.schemas)
    taken: set[Hashable] = set()
    value: list[JsonValue] = []
    for position in range(count):
        rules = [*_rules(gathered.schemas, position), *contained.get(position, ())]
        try:
            item = work.build(rules, place.inside(singular(place.words)), avoided=taken)
        except Contradiction:
            if position < least or contained:
                raise
            break
        value.append(item)
        if is_unique:
            taken.add(identity(item))
    return value


def _rules(schemas: Sequence[Schema], position: int) -> list[Schema]:
    """All schemas for the item at that position."""
    rules = [rule for schema in schemas if (rule := item_rule(schema, position)) is not None]
    return rules or [schema.unevaluated_items for schema in schemas if schema.unevaluated_items is not None]


def _sizes(schemas: Sequence[Schema]) -> tuple[int, int]:
    """The least and the greatest number of items."""
    longest = max(schemas, key=lambda schema: schema.min_items)
    least = longest.min_items
    limits = [
        (schema.max_items, f"maxItems {schema.max_items}") for schema in schemas if schema.max_items is not None
    ]
    prefix = max(len(schema.prefix_items) for schema in schemas)
    closed = next((n for n in range(prefix + 1) if any(rule.never for rule in _rules(schemas, n))), None)
    if closed is not None:
        limits.append((closed, f"the {closed} items allowed"))
    most, reason = min(limits, default=(MOST_VALUES, ""))
    if least > MOST_VALUES:
        raise Contradiction(longest.pointer, f"minItems {least} asks for more than {MOST_VALUES} values")
    if least > most:
        raise Contradiction(longest.pointer, f"minItems {least} is above {reason}")
    return least, most


def _count(work: Work, schemas: Sequence[Schema], place: Place, least: int) -> int:
    """How many items look natural here."""
    prefix = max(len(schema.prefix_items) for schema in schemas)
    if work.is_thrifty(place):
        return least
    if prefix:
        return max(prefix, least)
    return max(least, 1 if least == 1 else 0) + work.draws.below(3 if place.depth <= 2 else 2) + (not least)


def _contained_at(schemas: Sequence[Schema], count: int, attempt: int) -> dict[int, list[Schema]]:
    """Where the items are that `contains` asks for: at the end at first, elsewhere in later attempts."""
    found: dict[int, list[Schema]] = {}
    position = -1 - attempt
    for schema in schemas:
        for _ in range(schema.min_contains if count else 0):
            if schema.contains is not None:
                found.setdefault(position % count, []).append(schema.contains)
            position -= 1
    return found
