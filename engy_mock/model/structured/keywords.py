"""The keywords of a JSON Schema: one row each that says what may stand there and what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from engy_mock.model.structured.pattern import UnsupportedPattern, parse
from engy_mock.model.structured.schema import Number, Pattern, Schema
from engy_mock.model.structured.trouble import UnusableSchema
from engy_mock.model.structured.values import KINDS, JsonValue, at, identity, shown

Fields: TypeAlias = dict[str, Any]
MEMBERS_OF_A_STEP = 16

Row: TypeAlias = "Callable[[Keywords], Fields]"


def schema_of(keywords: Keywords) -> Schema:
    """The schema that these keywords make; unknown ones are passed over."""
    fields: Fields = {"pointer": keywords.pointer, "keywords": frozenset(keywords.values)}
    # A row may see to several keywords, and is asked once.
    for row in dict.fromkeys(ROWS[keyword] for keyword in keywords.values if keyword in ROWS):
        fields |= row(keywords)
    members = sum(len(fields.get(field, ())) for field in ("required", "dependent_required", "dependent_schemas"))
    return Schema(**fields, effort=1 + members // MEMBERS_OF_A_STEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """The keywords of one schema, each taken as what it must be."""

    read: Callable[[JsonValue, str, str], Schema]
    pointer: str
    base: str
    values: dict[str, JsonValue]

    def wrong(self, keyword: str, expected: str) -> UnusableSchema:
        """The error of a keyword that is not what it must be."""
        return UnusableSchema(self.pointer, f"{keyword} {shown(self.values[keyword])} is not {expected}")

    def text(self, keyword: str) -> str | None:
        """A string."""
        value = self.values.get(keyword)
        if keyword in self.values and not isinstance(value, str):
            raise self.wrong(keyword, "a string")
        return value if isinstance(value, str) else None

    def note(self, keyword: str) -> str:
        """A text that is only for readers: whatever else stands there is passed over."""
        value = self.values.get(keyword)
        return value if isinstance(value, str) else ""

    def flag(self, keyword: str) -> bool:
        """A boolean; false if it is not there."""
        value = self.values.get(keyword, False)
        if not isinstance(value, bool):
            raise self.wrong(keyword, "a boolean")
        return value

    def number(self, keyword: str) -> Number | None:
        """A number."""
        value = self.values.get(keyword)
        if keyword not in self.values:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(keyword, "a number")
        return value

    def count(self, keyword: str) -> int | None:
        """A whole number, 0 or more."""
        value = self.values.get(keyword)
        if keyword not in self.values:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
            raise self.wrong(keyword, "a whole number, 0 or more")
        return int(value)

    def row(self, keyword: str) -> tuple[JsonValue, ...] | None:
        """A list."""
        value = self.values.get(keyword)
        if keyword not in self.values:
            return None
        if not isinstance(value, list):
            raise self.wrong(keyword, "a list")
        return tuple(value)

    def names(self, keyword: str) -> tuple[str, ...]:
        """A list of strings, each once."""
        found = self.row(keyword) or ()
        names = tuple(name for name in found if isinstance(name, str))
        if len(names) < len(found):
            raise self.wrong(keyword, "a list of strings")
        return tuple(dict.fromkeys(names))

    def members(self, keyword: str) -> dict[str, JsonValue]:
        """An object; empty if it is not there."""
        value = self.values.get(keyword, {})
        if not isinstance(value, dict):
            raise self.wrong(keyword, "an object")
        return value

    def schema(self, keyword: str) -> Schema | None:
        """A schema."""
        if keyword not in self.values:
            return None
        return self.read(self.values[keyword], at(self.pointer, keyword), self.base)

    def schemas(self, keyword: str) -> tuple[Schema, ...]:
        """A list of schemas."""
        found = self.row(keyword) or ()
        return tuple(
            self.read(value, at(self.pointer, keyword, place), self.base) for place, value in enumerate(found)
        )

    def named_schemas(self, keyword: str) -> dict[str, Schema]:
        """An object of schemas."""
        return {
            name: self.read(value, at(self.pointer, keyword, name), self.base)
            for name, value in self.members(keyword).items()
        }

    def pattern(self, keyword: str, source: str) -> Pattern:
        """A regular expression."""
        try:
            return Pattern(source=source, part=parse(source))
        except UnsupportedPattern as error:
            raise UnusableSchema(self.pointer, f"{keyword} {shown(source)} {error}") from None


def _one(field: str, take: Callable[[Keywords, str], object], keyword: str) -> Row:
    """The row of a keyword that becomes one field."""
    return lambda keywords: {field: take(keywords, keyword)}


def _definitions(keywords: Keywords) -> Fields:
    """Schemas that other ones may refer to are read although nothing may."""
    for keyword in ("$defs", "definitions"):
        keywords.named_schemas(keyword)
    return {}


def _ref(keywords: Keywords) -> Fields:
    return {"ref": keywords.text("$ref" if "$ref" in keywords.values else "$dynamicRef")}


def _types(keywords: Keywords) -> Fields:
    value = keywords.values["type"]
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not (isinstance(name, str) and name in KINDS):
            raise UnusableSchema(keywords.pointer, f"type {shown(name)} is none of {', '.join(KINDS)}")
    if not names:
        raise keywords.wrong("type", "the name of a type")
    return {"types": tuple(str(name) for name in names)}


def _choices(keywords: Keywords) -> Fields:
    """`const` is an `enum` of one."""
    choices = keywords.row("enum")
    if "const" in keywords.values:
        const = keywords.values["const"]
        is_listed = choices is None or identity(const) in map(identity, choices)
        choices = (const,) if is_listed else ()
    return {"enum": choices, "enum_keys": frozenset(map(identity, choices or ()))}


def _examples(keywords: Keywords) -> Fields:
    found = keywords.values.get("examples")
    one = (keywords.values["example"],) if "example" in keywords.values else ()
    return {"examples": (*(found if isinstance(found, list) else ()), *one)}


def _default(keywords: Keywords) -> Fields:
    return {"default": (keywords.values["default"],)}


def _low(keywords: Keywords) -> Fields:
    minimum, above = _bound(keywords, "minimum", "exclusiveMinimum")
    return {"minimum": minimum, "above": above}


def _high(keywords: Keywords) -> Fields:
    maximum, below = _bound(keywords, "maximum", "exclusiveMaximum")
    return {"maximum": maximum, "below": below}


def _bound(keywords: Keywords, inclusive: str, exclusive: str) -> tuple[Number | None, Number | None]:
    """The inclusive and the exclusive bound; draft 4 has a flag that makes the one the other."""
    bound = keywords.number(inclusive)
    flag = keywords.values.get(exclusive)
    if isinstance(flag, bool):
        return (None, bound) if flag else (bound, None)
    return bound, keywords.number(exclusive)


def _multiple_of(keywords: Keywords) -> Fields:
    step = keywords.number("multipleOf")
    if step is not None and step <= 0:
        raise keywords.wrong("multipleOf", "above 0")
    return {"multiple_of": step}


def _pattern(keywords: Keywords) -> Fields:
    source = keywords.text("pattern")
    return {"pattern": None if source is None else keywords.pattern("pattern", source)}


def _pattern_properties(keywords: Keywords) -> Fields:
    schemas = keywords.named_schemas("patternProperties")
    rows = ((keywords.pattern("patternProperties", name), schema) for name, schema in schemas.items())
    return {"pattern_properties": tuple(rows)}


def _json_content(keywords: Keywords) -> Fields:
    """What a string with JSON inside holds."""
    if keywords.note("contentMediaType") != "application/json" or "contentEncoding" in keywords.values:
        return {}
    return {"json_content": keywords.schema("contentSchema") or Schema(pointer=keywords.pointer)}


def _encoding(keywords: Keywords) -> Fields:
    """An encoding is as good as a format of that name."""
    encoding = keywords.note("contentEncoding")
    is_known = encoding in ("base64", "base64url") and "format" not in keywords.values
    return {"format": encoding} if is_known else {}


def _items(keywords: Keywords) -> Fields:
    """The schemas of the first items and of the rest; older drafts have a list of `items` for the first."""
    if isinstance(keywords.values.get("items"), list):
        first, rest = "items", "additionalItems"
    else:
        first, rest = "prefixItems", "items"
    return {"prefix_items": keywords.schemas(first), "items": keywords.schema(rest)}


def _dependencies(keywords: Keywords) -> Fields:
    """What comes with a property: other properties, or a schema; `dependencies` of older drafts has both."""
    required: dict[str, tuple[str, ...]] = {}
    schemas = keywords.named_schemas("dependentSchemas")
    for keyword in ("dependencies", "dependentRequired"):
        for name, value in keywords.members(keyword).items():
            if keyword == "dependencies" and not isinstance(value, list):
                pointer = at(keywords.pointer, keyword, name)
                schemas.setdefault(name, keywords.read(value, pointer, keywords.base))
            elif isinstance(value, list) and all(isinstance(each, str) for each in value):
                required[name] = tuple(str(each) for each in value)
            else:
                raise keywords.wrong(keyword, "an object of lists of names")
    return {"dependent_required": required, "dependent_schemas": schemas}


ROWS: dict[str, Row] = {
    **dict.fromkeys(("$defs", "definitions"), _definitions),
    **dict.fromkeys(("$ref", "$dynamicRef"), _ref),
    "type": _types,
    "nullable": _one("is_nullable", Keywords.flag, "nullable"),
    **dict.fromkeys(("enum", "const"), _choices),
    **dict.fromkeys(("examples", "example"), _examples),
    "default": _default,
    "title": _one("title", Keywords.note, "title"),
    "description": _one("description", Keywords.note, "description"),
    **dict.fromkeys(("minimum", "exclusiveMinimum"), _low),
    **dict.fromkeys(("maximum", "exclusiveMaximum"), _high),
    "multipleOf": _multiple_of,
    "minLength": _one("min_length", Keywords.count, "minLength"),
    "maxLength": _one("max_length", Keywords.count, "maxLength"),
    "pattern": _pattern,
    "format": _one("format", Keywords.text, "format"),
    "contentMediaType": _json_content,
    "contentEncoding": _encoding,
    "properties": _one("properties", Keywords.named_schemas, "properties"),
    "patternProperties": _pattern_properties,
    "additionalProperties": _one("additional_properties", Keywords.schema, "additionalProperties"),
    "unevaluatedProperties": _one("unevaluated_properties", Keywords.schema, "unevaluatedProperties"),
    "propertyNames": _one("property_names", Keywords.schema, "propertyNames"),
    "required": _one("required", Keywords.names, "required"),
    "minProperties": _one("min_properties", Keywords.count, "minProperties"),
    "maxProperties": _one("max_properties", Keywords.count, "maxProperties"),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), _dependencies),
    **dict.fromkeys(("prefixItems", "items"), _items),
    "unevaluatedItems": _one("unevaluated_items", Keywords.schema, "unevaluatedItems"),
    "minItems": _one("min_items", Keywords.count, "minItems"),
    "maxItems": _one("max_items", Keywords.count, "maxItems"),
    "uniqueItems": _one("is_unique", Keywords.flag, "uniqueItems"),
    "contains": _one("contains", Keywords.schema, "contains"),
    "minContains": _one("min_contains", Keywords.count, "minContains"),
    "maxContains": _one("max_contains", Keywords.count, "maxContains"),
    "allOf": _one("all_of", Keywords.schemas, "allOf"),
    "anyOf": _one("any_of", Keywords.schemas, "anyOf"),
    "oneOf": _one("one_of", Keywords.schemas, "oneOf"),
    "not": _one("no", Keywords.schema, "not"),
    "if": _one("when", Keywords.schema, "if"),
    "then": _one("then", Keywords.schema, "then"),
    "else": _one("otherwise", Keywords.schema, "else"),
}
