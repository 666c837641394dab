"""How many levels a value must have at least, so that recursive schemas know the way out."""

from __future__ import annotations

from collections.abc import Iterable

from engy_mock.model.structured.reading import Book
from engy_mock.model.structured.schema import Schema

NEVER = 1 << 20
MOST_LOOKS = 400_000
SCALARS = frozenset(("null", "boolean", "integer", "number", "string"))


def heights(book: Book) -> dict[str, int]:
    """The least height of a value by the pointer of its schema; NEVER where there is no end.

    Heights only fall from round to round. If the rounds allowed do not suffice, unknown ones count as 0.
    """
    found = dict.fromkeys((schema.pointer for schema in book.order), NEVER)
    for _ in range(max(2, MOST_LOOKS // len(book.order))):
        has_changed = False
        for schema in book.order:
            height = min(_height(schema, book, found), NEVER)
            if height < found[schema.pointer]:
                found[schema.pointer] = height
                has_changed = True
        if not has_changed:
            return found
    return {pointer: 0 if height == NEVER else height for pointer, height in found.items()}


def _height(schema: Schema, book: Book, found: dict[str, int]) -> int:
    def of(schemas: Iterable[Schema]) -> list[int]:
        return [found[each.pointer] for each in schemas]

    if schema.never:
        return NEVER
    target = book.target(schema)
    needed = [_own_height(schema, found), *of(schema.all_of), *of(() if target is None else (target,))]
    needed += [min(of(branches)) for branches in (schema.any_of, schema.one_of) if branches]
    return max(needed)


def _own_height(schema: Schema, found: dict[str, int]) -> int:
    """The height without the schemas beside and behind this one."""
    if schema.enum is not None or schema.types is None or schema.is_nullable or SCALARS & set(schema.types):
        return 0
    ways = []
    if "object" in schema.types:
        known = schema.properties or {}
        rest = (
            ()
            if schema.additional_properties is None or schema.pattern_properties
            else (schema.additional_properties,)
        )
        members = [known[name] for name in schema.required if name in known]
        members += [each for each in rest if not known.keys() >= set(schema.required)]
        ways.append(1 + max((found[member.pointer] for member in members), default=0))
    if "array" in schema.types:
        items = list(schema.prefix_items[: schema.min_items])
        items += [schema.items] if schema.items is not None and schema.min_items > len(schema.prefix_items) else []
        items += [schema.contains] if schema.contains is not None and schema.min_contains else []
        ways.append(1 + max((found[item.pointer] for item in items), default=0))
    return min(ways)
