"""A JSON Schema once it has been read: every keyword with a type of its own."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from engy_mock.model.structured.pattern import Part
from engy_mock.model.structured.values import JsonValue

Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression as it was written, and its tree."""

    source: str
    part: Part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schema:
    """What one schema asks of a value; `never` is the schema `false`, `effort` the steps that a check takes.

    `exclusiveMinimum: true` of draft 4 is told by `above`, a list of `items` by `prefix_items`, `const` by
    `enum`.
    """

    pointer: str
    keywords: frozenset[str] = frozenset()
    effort: int = 1
    never: bool = False
    ref: str | None = None
    types: tuple[str, ...] | None = None
    is_nullable: bool = False
    enum: tuple[JsonValue, ...] | None = None
    enum_keys: frozenset[Hashable] = frozenset()
    examples: tuple[JsonValue, ...] = ()
    default: tuple[JsonValue, ...] = ()
    title: str = ""
    description: str = ""

    minimum: Number | None = None
    above: Number | None = None
    maximum: Number | None = None
    below: Number | None = None
    multiple_of: Number | None = None

    min_length: int = 0
    max_length: int | None = None
    pattern: Pattern | None = None
    format: str | None = None
    json_content: Schema | None = None

    properties: dict[str, Schema] | None = None
    pattern_properties: tuple[tuple[Pattern, Schema], ...] = ()
    additional_properties: Schema | None = None
    unevaluated_properties: Schema | None = None
    property_names: Schema | None = None
    required: tuple[str, ...] = ()
    min_properties: int = 0
    max_properties: int | None = None
    dependent_required: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dependent_schemas: dict[str, Schema] = field(default_factory=dict)

    prefix_items: tuple[Schema, ...] = ()
    items: Schema | None = None
    unevaluated_items: Schema | None = None
    min_items: int = 0
    max_items: int | None = None
    is_unique: bool = False
    contains: Schema | None = None
    min_contains: int = 1
    max_contains: int | None = None

    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    no: Schema | None = None
    when: Schema | None = None
    then: Schema | None = None
    otherwise: Schema | None = None

    def beside(self) -> tuple[Schema, ...]:
        """The schemas that look at the same value as this one, `ref` aside."""
        some = (self.no, self.when, self.then, self.otherwise)
        kept = tuple(schema for schema in some if schema is not None)
        return (*self.all_of, *self.any_of, *self.one_of, *kept, *self.dependent_schemas.values())
