"""Whether a value fits a schema, and if not, what the schema says against it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from engy_mock.model.structured.formats import FORMATS
from engy_mock.model.structured.matching import is_found
from engy_mock.model.structured.reading import Book
from engy_mock.model.structured.schema import Number, Schema
from engy_mock.model.structured.trouble import Contradiction, Effort
from engy_mock.model.structured.values import JsonValue, identity, kinds_of, shown


@dataclass(frozen=True, slots=True)
class Objection:
    """What a schema has against a value, put into words only when somebody wants to hear them."""

    schema: Schema
    reason: str
    value: JsonValue

    def contradiction(self) -> Contradiction:
        """The objection as an error."""
        return Contradiction(self.schema.pointer, f"{self.reason} (tried {shown(self.value)})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """Checks values against the schemas of one book; `unevaluated...` is left to whoever makes them."""

    book: Book
    effort: Effort

    def fits(self, value: JsonValue, schema: Schema) -> bool:
        """The schema has nothing against the value."""
        return self.objection(value, schema) is None

    def objection(self, value: JsonValue, schema: Schema) -> Objection | None:
        """The first thing the schema has against the value."""
        return next(self._objections(value, schema), None)

    def _objections(self, value: JsonValue, schema: Schema) -> Iterator[Objection]:
        self.effort.spend(schema.effort + (len(value) if isinstance(value, dict | list) else 0))
        for reason in self._of_this_schema(value, schema):
            yield Objection(schema, reason, value)
        if isinstance(value, dict):
            yield from self._of_members(value, schema)
        elif isinstance(value, list):
            yield from self._of_items(value, schema)
        yield from self._of_others(value, schema)

    def _of_this_schema(self, value: JsonValue, schema: Schema) -> Iterator[str]:
        kinds = kinds_of(value)
        is_null_allowed = schema.is_nullable and value is None
        if schema.never:
            yield "false allows no value"
        if schema.types is not None and not set(kinds) & set(schema.types) and not is_null_allowed:
            yield f"type is {' or '.join(schema.types)}"
        if schema.enum is not None and identity(value, self.effort) not in schema.enum_keys:
            yield "value is not in the enum"
        if isinstance(value, str):
            yield from self._of_string(value, schema)
        elif isinstance(value, dict):
            yield from _of_object(value, schema)
        elif isinstance(value, list):
            yield from _of_array(value, schema)
            if schema.is_unique and len({identity(item, self.effort) for item in value}) < len(value):
                yield "items are not unique"
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from _of_number(value, schema)

    def _of_string(self, text: str, schema: Schema) -> Iterator[str]:
        if len(text) < schema.min_length:
            yield f"minLength is {schema.min_length}"
        if schema.max_length is not None and len(text) > schema.max_length:
            yield f"maxLength is {schema.max_length}"
        if schema.pattern is not None and not is_found(schema.pattern.part, text, self.effort):
            yield f"pattern {shown(schema.pattern.source)} is not found"
        if schema.format in FORMATS and not FORMATS[schema.format].is_valid(text):
            yield f"format is {schema.format}"

    def _of_members(self, value: dict[str, JsonValue], schema: Schema) -> Iterator[Objection]:
        for name, member in value.items():
            if schema.property_names is not None:
                yield from self._objections(name, schema.property_names)
            for rule in member_rules(schema, name, self.effort):
                yield from self._objections(member, rule)

    def _of_items(self, value: list[JsonValue], schema: Schema) -> Iterator[Objection]:
        for place, item in enumerate(value):
            rule = item_rule(schema, place)
            if rule is not None:
                yield from self._objections(item, rule)
        if schema.contains is not None:
            count = sum(self.fits(item, schema.contains) for item in value)
            if not schema.min_contains <= count <= (count if schema.max_contains is None else schema.max_contains):
                yield Objection(schema, f"contains fits {count} items", value)

    def _of_others(self, value: JsonValue, schema: Schema) -> Iterator[Objection]:
        """What the schemas beside and behind this one say."""
        target = self.book.target(schema)
        if target is not None:
            yield from self._objections(value, target)
        for part in schema.all_of:
            yield from self._objections(value, part)
        if schema.any_of and not any(self.fits(value, part) for part in schema.any_of):
            yield Objection(schema, "anyOf has no branch that fits", value)
        if schema.one_of:
            count = sum(self.fits(value, part) for part in schema.one_of)
            if count != 1:
                yield Objection(schema, f"oneOf has {count} branches that fit", value)
        if schema.no is not None and self.fits(value, schema.no):
            yield Objection(schema, "not forbids the value", value)
        if schema.when is not None:
            branch = schema.then if self.fits(value, schema.when) else schema.otherwise
            if branch is not None:
                yield from self._objections(value, branch)
        if isinstance(value, dict):
            for name, part in schema.dependent_schemas.items():
                if name in value:
                    yield from self._objections(value, part)


def _of_object(value: dict[str, JsonValue], schema: Schema) -> Iterator[str]:
    if len(value) < schema.min_properties:
        yield f"minProperties is {schema.min_properties}"
    if schema.max_properties is not None and len(value) > schema.max_properties:
        yield f"maxProperties is {schema.max_properties}"
    missing = [name for name in schema.required if name not in value]
    for name, others in schema.dependent_required.items():
        missing += [other for other in others if name in value and other not in value]
    if missing:
        yield f"required property {shown(missing[0])} is missing"


def _of_array(value: list[JsonValue], schema: Schema) -> Iterator[str]:
    if len(value) < schema.min_items:
        yield f"minItems is {schema.min_items}"
    if schema.max_items is not None and len(value) > schema.max_items:
        yield f"maxItems is {schema.max_items}"


def _of_number(value: Number, schema: Schema) -> Iterator[str]:
    if schema.minimum is not None and value < schema.minimum:
        yield f"minimum is {schema.minimum}"
    if schema.above is not None and value <= schema.above:
        yield f"exclusiveMinimum is {schema.above}"
    if schema.maximum is not None and value > schema.maximum:
        yield f"maximum is {schema.maximum}"
    if schema.below is not None and value >= schema.below:
        yield f"exclusiveMaximum is {schema.below}"
    if schema.multiple_of is not None and not is_multiple(value, schema.multiple_of):
        yield f"multipleOf is {schema.multiple_of}"


def exact(value: Number) -> Fraction:
    """The number as it was written: 0.1 is a tenth."""
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


def is_multiple(value: Number, step: Number) -> bool:
    """The value is a multiple of the step as written, and also where validators divide floats.

    0.07 is a multiple of 0.01, yet most validators compute 7.000000000000001 and disagree.
    """
    if exact(value) % exact(step):
        return False
    if isinstance(step, int) and isinstance(value, int):
        return True
    quotient = value / step
    return quotient.is_integer() if math.isfinite(quotient) else Fraction(value) % Fraction(step) == 0


def member_rules(schema: Schema, name: str, effort: Effort) -> list[Schema]:
    """The schemas for the property of that name."""
    known = schema.properties or {}
    rules = [known[name]] if name in known else []
    rules += [rule for pattern, rule in schema.pattern_properties if is_found(pattern.part, name, effort)]
    if not rules and schema.additional_properties is not None:
        return [schema.additional_properties]
    return rules


def item_rule(schema: Schema, place: int) -> Schema | None:
    """The schema for the item at that place."""
    return schema.prefix_items[place] if place < len(schema.prefix_items) else schema.items
