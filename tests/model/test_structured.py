"""A made-up value validates against its schema, is the same everywhere, and no schema can do harm."""

import datetime
import enum
import ipaddress
import json
import math
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from threading import Thread
from time import process_time
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import (
    AnyHttpUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    NonNegativeInt,
    PositiveFloat,
    RootModel,
    StringConstraints,
    TypeAdapter,
)

from engy_mock.model.structured import UnusableSchema, document
from engy_mock.model.structured.checking import Checker
from engy_mock.model.structured.formats import FORMATS
from engy_mock.model.structured.matching import is_found
from engy_mock.model.structured.pattern import UnsupportedPattern, parse
from engy_mock.model.structured.providers import makers, ranges
from engy_mock.model.structured.reading import read
from engy_mock.model.structured.trouble import Effort
from engy_mock.vocabulary.seeds import Draws

TOP = Path(__file__).parents[2]
SEEDS = [b"%d" % number for number in range(10)]
MOST_SECONDS = 2.0


def objections(value: object, schema: Any) -> list[str]:
    """What the reference validator has against the value, formats included."""
    checker = Draft202012Validator.FORMAT_CHECKER
    return [error.message for error in Draft202012Validator(schema, format_checker=checker).iter_errors(value)]


def documents(schema: Any) -> Iterator[Any]:
    """The values of all seeds, each of them checked."""
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    for seed in SEEDS:
        value = document(schema, seed=seed)
        assert [error.message for error in validator.iter_errors(value)] == [], (seed, value)
        yield value


def names_of(value: Any) -> list[str]:
    """The names of an object's properties."""
    assert isinstance(value, dict)
    return list(value)


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


KEYWORDS: dict[str, Any] = {
    "type": {"type": "integer"},
    "types": {"type": ["string", "null", "number"]},
    "every type": {"type": ["string", "null", "number", "boolean", "array", "object", "integer"]},
    "properties": object_of("a", a={"type": "integer"}, b={"type": "string"}),
    "required without properties": {"type": "object", "required": ["a", "b/c", "~"]},
    "no more properties": {**object_of("a", a={"type": "null"}), "additionalProperties": False},
    "more properties of a type": {"type": "object", "additionalProperties": {"type": "integer"}},
    "more properties of any type": {"type": "object", "additionalProperties": True},
    "required and additional": {
        "type": "object", "required": ["a"], "additionalProperties": {"type": "boolean"},
    },
    "patternProperties": {
        "type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False,
        "minProperties": 2,
    },
    "patternProperties over properties": {
        **object_of("size_a", size_a={"minimum": 3}),
        "patternProperties": {"^size": {"type": "integer", "maximum": 5}},
    },
    "minProperties": {"type": "object", "minProperties": 12},
    "minProperties of optional": {**object_of(a={}, b={}, c={}), "minProperties": 3,
        "additionalProperties": False},
    "maxProperties": {**object_of("e", a={}, b={}, c={}, d={}, e={}), "maxProperties": 2},
    "no properties": {"type": "object", "maxProperties": 0},
    "propertyNames": {"type": "object", "propertyNames": {"pattern": "^[A-Z]{3}$"}, "minProperties": 3},
    "propertyNames of an enum": {
        "type": "object", "propertyNames": {"enum": ["red", "blue"]}, "minProperties": 2,
        "additionalProperties": {"type": "number"},
    },
    "dependentRequired": {**object_of(a={}, b={}, c={}), "dependentRequired": {"a": ["b"], "b": ["c"]}},
    "dependentSchemas": {
        **object_of(card={"type": "string"}),
        "dependentSchemas": {"card": object_of("holder", holder={"type": "string", "minLength": 3})},
    },
    "unevaluatedProperties": {
        "allOf": [object_of("a", a={"type": "string"})], "properties": {"b": {"type": "integer"}},
        "unevaluatedProperties": False,
    },
    "items": {"type": "array", "items": {"type": "integer"}},
    "prefixItems": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    "tuple": {"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": False, "minItems": 2},
    "prefixItems and more": {
        "type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}, "minItems": 4,
    },
    "no item": {"type": "array", "items": False},
    "minItems": {"type": "array", "items": {"type": "string"}, "minItems": 17},
    "maxItems": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
    "uniqueItems": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 30},
    "uniqueItems of all there are": {"items": {"enum": [1, 2, 3]}, "type": "array", "uniqueItems": True,
        "minItems": 3},
    "uniqueItems of a range": {
        "type": "array", "items": {"type": "integer", "minimum": -3, "maximum": 6}, "uniqueItems": True,
            "minItems": 10,
    },
    "uniqueItems of booleans": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True,
        "minItems": 2},
    "uniqueItems of objects": {
        "type": "array", "items": object_of("a", a={"enum": [1, 2, True]}), "uniqueItems": True,
            "minItems": 3,
    },
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 1000}},
    "minContains": {"type": "array", "contains": {"const": "x"}, "minContains": 3, "maxItems": 4},
    "maxContains": {
        "type": "array", "contains": {"type": "integer"}, "maxContains": 2, "minItems": 5,
            "items": {"type": ["integer", "string"]},
    },
    "contains nothing": {"type": "array", "contains": {"type": "integer"}, "minContains": 0,
        "items": {"type": "string"}},
    "two contains": {"type": "array", "allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]},
    "enum": {"enum": ["a", 1, None, {"b": [True]}]},
    "enum of a type": {"type": "string", "enum": ["a", 1, None]},
    "enum within bounds": {"enum": [*range(500)], "minimum": 498},
    "const": {"const": {"a": [1, 2.5, None]}},
    "const among enum": {"enum": [1, 2], "const": 2.0},
    "bounds": {"type": "integer", "minimum": 7, "maximum": 9},
    "one number": {"type": "number", "minimum": 0.5, "maximum": 0.5},
    "exclusive bounds": {"type": "integer", "exclusiveMinimum": 7, "exclusiveMaximum": 9},
    "narrow bounds": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-300},
    "neighbours": {"type": "number", "exclusiveMinimum": 1, "maximum": math.nextafter(1, 2)},
    "huge bounds": {"type": "number", "exclusiveMinimum": 1e300},
    "largest number": {"type": "number", "minimum": sys.float_info.max},
    "whole bounds of fractions": {"type": "integer", "minimum": 0.5, "maximum": 1.5},
    "large integers": {"type": "integer", "minimum": 10**30, "maximum": 10**30 + 5},
    "negative": {"type": "number", "maximum": -1000},
    "multipleOf": {"type": "integer", "multipleOf": 7, "minimum": 20},
    "multipleOf a cent": {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 20},
    "multipleOf two": {"type": "number", "allOf": [{"multipleOf": 6}, {"multipleOf": 10}], "minimum": 1},
    "multipleOf for integers": {"type": "integer", "multipleOf": 0.5},
    "multipleOf next to nothing": {"type": "number", "multipleOf": 1e-300, "minimum": 1, "maximum": 2},
    "minLength": {"type": "string", "minLength": 300},
    "maxLength": {"type": "string", "maxLength": 3},
    "one length": {"type": "string", "minLength": 5, "maxLength": 5},
    "empty string": {"type": "string", "maxLength": 0},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"},
    "pattern anywhere": {"type": "string", "pattern": "ab+c", "minLength": 20, "maxLength": 25},
    "two patterns": {"type": "string", "allOf": [{"pattern": "[A-Z]"}, {"pattern": "\\d"},
        {"pattern": "[!?]"}]},
    "pattern of a length": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "minLength": 30,
        "maxLength": 31},
    "password": {"type": "string", "pattern": "^(?=.*[A-Z])(?=.*[a-z])(?=.*\\d)[A-Za-z\\d]{8,}$"},
    "format and pattern": {"type": "string", "format": "date-time", "pattern": "\\.\\d{3}Z$"},
    "format and length": {"type": "string", "format": "email", "minLength": 100, "maxLength": 120},
    "short format": {"type": "string", "format": "email", "maxLength": 8},
    "long uri": {"type": "string", "format": "uri", "minLength": 200},
    "format of a number": {"type": "integer", "format": "int32", "minimum": 2**31 - 3},
    "unknown format": {"type": "string", "format": "shoe-size"},
    "encoded": {"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/]+=*$"},
    "json inside": {
        "type": "string", "contentMediaType": "application/json", "contentSchema": object_of("a",
            a={"type": "integer"}),
    },
    "anyOf": {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 4}]},
    "anyOf with one way": {"anyOf": [{"minimum": 2, "maximum": 1, "type": "integer"}, False, {"const": 5}]},
    "anyOf of required": {**object_of(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "oneOf": {"oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}]},
    "oneOf of required": {**object_of(a={}, b={}), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "oneOf of numbers": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    "allOf": {"allOf": [object_of("a", a={"type": "string"}), object_of("a", a={"minLength": 20})]},
    "allOf of types": {"type": ["string", "integer"], "allOf": [{"type": ["integer", "null"]},
        {"minimum": 3}]},
    "allOf within anyOf": {"allOf": [{"anyOf": [{"minimum": 5}, {"maximum": 2}]}, {"type": "integer",
        "maximum": 4}]},
    "not a type": {"not": {"type": ["string", "object", "number"]}},
    "not a value": {"type": "string", "enum": ["a", "b", "c"], "not": {"enum": ["a", "c"]}},
    "not a property": {**object_of(a={}, b={}), "not": {"required": ["a"]}},
    "not not": {"not": {"not": {"type": "boolean"}}},
    "if": {
        **object_of("kind", kind={"enum": ["card", "cash"]}, number={"type": "string"}),
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": {"required": ["number"]},
        "else": {"not": {"required": ["number"]}},
    },
    "if without else": {"type": "integer", "if": {"minimum": 50}, "then": {"multipleOf": 10}},
    "if never": {"type": "integer", "if": False, "then": False, "else": {"minimum": 200}},
    "nullable": {"type": "string", "nullable": True},
    "true": True,
    "anything": {},
    "default that fits": {"type": "integer", "default": 41, "minimum": 40, "maximum": 42},
    "default that does not fit": {"type": "integer", "default": "none", "minimum": 40, "maximum": 42},
    "examples": {"type": "string", "examples": ["one", 2, "three"], "maxLength": 4},
    "kind told by keywords": {"minLength": 3, "maxLength": 3},
    "ref": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}},
    "ref with siblings": {"$ref": "#/$defs/a", "minimum": 900, "$defs": {"a": {"type": "integer"}}},
    "ref with escapes": {"$ref": "#/$defs/a~1b%25~0", "$defs": {"a/b%~": {"const": "here"}}},
    "ref to definitions": {"items": {"$ref": "#/definitions/a"}, "definitions": {"a": {"const": 1}},
        "minItems": 1},
    "ref of ref": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "null"}}},
    "ref into a list": {"allOf": [{"type": "integer"}], "items": {"$ref": "#/allOf/0"}},
    "ref elsewhere": {"$ref": "#/components/schemas/A",
        "components": {"schemas": {"A": {"type": "boolean"}}}},
    "ref to an anchor": {"$ref": "#spot", "$defs": {"a": {"$anchor": "spot", "const": "x"}}},
    "ref to an id": {
        "$id": "https://example.com/root", "$ref": "inner#/$defs/b",
        "$defs": {"a": {"$id": "inner", "$defs": {"b": {"type": "integer"}}}},
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": object_of("children", "value", value={"type": "integer"}, children={
                "type": "array", "items": {"$ref": "#/$defs/node"}}),
        },
    },
    "list that ends with null": {
        **object_of("next", next={"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    },
    "two that need each other": {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": object_of("b", b={"oneOf": [{"$ref": "#/$defs/b"}, {"type": "string"}]}),
            "b": object_of("a", a={"$ref": "#/$defs/a"}),
        },
    },
    "expression": {
        "$ref": "#/$defs/expression",
        "$defs": {
            "expression": {"anyOf": [{"$ref": "#/$defs/sum"}, {"$ref": "#/$defs/product"},
                {"type": "number"}]},
            "sum": object_of("left", "right", left={"$ref": "#/$defs/expression"},
                right={"$ref": "#/$defs/expression"}),
            "product": {"type": "array", "items": {"$ref": "#/$defs/expression"}, "minItems": 2},
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name):
    """Each keyword is obeyed, whatever the seed."""
    Draft202012Validator.check_schema(KEYWORDS[name])
    assert len(list(documents(KEYWORDS[name]))) == len(SEEDS)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats(name):
    """Each format is what it says, to the reference validator too, and many values come of it."""
    values = set(documents({"type": "string", "format": name}))
    assert len(values) > 5 or name in {"regex", "ipv6network"}


@pytest.mark.parametrize(
    ("format", "text", "is_valid"),
    [
        ("date", "2024-02-29", True), ("date", "2023-02-29", False), ("date", "20240101", False),
        ("time", "23:59:59Z", True), ("time", "23:59", False), ("time", "10:00:00.5+01:00", True),
        ("date-time", "2024-01-01T00:00:00Z", True), ("date-time", "2024-01-01", False),
        ("duration", "P3DT4H", True), ("duration", "P", False), ("duration", "PT", False), ("duration",
            "P2W", True),
        ("email", "a@b.c", True), ("email", "a.b.c", False),
        ("hostname", "a-b.example", True), ("hostname", "-a.example", False), ("hostname", "a" * 64, False),
        ("ipv4", "10.0.0.1", True), ("ipv4", "10.0.0.256", False), ("ipv6", "::1", True), ("ipv6",
            "1::2::3", False),
        ("uri", "mailto:a@b.c", True), ("uri", "/a", False), ("uri-reference", "/a?b#c", True),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", True), ("uuid", "2eb8aa08", False),
        ("json-pointer", "/a~1b/0", True), ("json-pointer", "/a~b", False), ("json-pointer", "a", False),
        ("regex", "^a+$", True), ("regex", "a(", False), ("base64", "YWI=", True), ("base64", "YWI", False),
    ],
)  # fmt: skip
def test_checks_of_formats(format, text, is_valid):
    """A default or an example counts as the reference validator counts it."""
    assert FORMATS[format].is_valid(text) is is_valid
    if format in Draft202012Validator.FORMAT_CHECKER.checkers:
        assert Draft202012Validator.FORMAT_CHECKER.conforms(text, format) is is_valid


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 8, "exclusiveMinimum": True,
            "exclusiveMaximum": True}, {4, 5, 6, 7}),
        ({"type": "integer", "minimum": 3, "maximum": 4, "exclusiveMinimum": False}, {3, 4}),
        ({"type": "array", "items": [{"const": 1}, {"const": 2}], "additionalItems": False, "minItems": 2},
            {(1, 2)}),
        ({"type": "array", "items": [{"const": 1}], "additionalItems": {"const": 9}, "minItems": 3}, {(1, 9,
            9), (1, 9, 9, 9)}),
        ({"enum": [None, 1], "type": "integer", "nullable": True}, {None, 1}),
        ({"type": "integer", "enum": [1], "example": 1}, {1}),
    ],
)  # fmt: skip
def test_older_forms(schema, values):
    """Draft 4 and OpenAPI are understood where they differ."""
    found = {tuple(value) if isinstance(value := document(schema, seed=seed), list) else value for seed in SEEDS}
    assert found <= values
    assert len(found) >= min(len(values), 2) or schema["type"] == "array"


def test_dependencies_of_older_drafts():
    """`dependencies` holds lists of names and schemas alike."""
    schema = {
        **object_of(a={}, b={}, c={}),
        "dependencies": {"a": ["b"], "c": {"required": ["a"]}},
    }
    found = [set(names_of(document(schema, seed=seed))) for seed in SEEDS]
    assert all("b" in names or "a" not in names for names in found)
    assert all("a" in names or "c" not in names for names in found)
    assert {"a", "b", "c"} in found


class Color(enum.Enum):
    """A closed choice."""

    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    """A model within others."""

    model_config = ConfigDict(extra="forbid")
    street: str
    city: str
    country_code: Annotated[str, StringConstraints(min_length=2, max_length=2, pattern="^[A-Z]+$")]
    postal_code: str | None = None


class Line(BaseModel):
    """Bounded numbers, money, sets."""

    product: str = Field(min_length=1, max_length=40)
    price: Decimal = Field(ge=0, le=Decimal("999.99"), decimal_places=2)
    quantity: int = Field(ge=1, le=9)
    tags: set[str] = Field(max_length=4)
    color: Color | None = None


class Cat(BaseModel):
    """One kind of pet."""

    kind: Literal["cat"]
    lives: int = Field(ge=0, le=9)


class Dog(BaseModel):
    """Another kind of pet."""

    kind: Literal["dog"]
    is_good: bool = True


class Order(BaseModel):
    """Nearly everything that pydantic describes."""

    id: uuid.UUID
    created_at: AwareDatetime
    day: datetime.date
    opens: datetime.time
    lasts: datetime.timedelta
    address: Address
    lines: list[Line] = Field(min_length=1, max_length=3)
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    other: Cat | Address | None
    pair: tuple[int, str]
    counts: dict[str, NonNegativeInt]
    by_color: dict[Color, PositiveFloat]
    address_of_host: ipaddress.IPv4Address
    network: ipaddress.IPv6Network
    page: AnyHttpUrl
    blob: Base64Bytes
    inner: Json[list[int]]
    folder: Path
    free: Any
    level: Literal[1, 2, "three"]
    even: Annotated[int, Field(multiple_of=2, gt=10, lt=20)]


class Node(BaseModel):
    """A model that holds itself."""

    value: int
    left: "Node | None"
    children: list["Node"] = []


class Expression(RootModel["int | list[Expression]"]):
    """A union that holds itself."""


@pytest.mark.parametrize("model", [Address, Line, Order, Node, Expression])
def test_models_of_pydantic(model):
    """What is made for a model's schema can be read by the model."""
    for value in documents(model.model_json_schema()):
        model.model_validate_json(json.dumps(value))


@pytest.mark.parametrize("model", [Line, Node, Order])
def test_answers_of_pydantic(model):
    """The schema of what a model writes is obeyed as well."""
    assert len({json.dumps(value) for value in documents(model.model_json_schema(mode="serialization"))}) > 3


@pytest.mark.parametrize(
    "type_",
    [
        list[Color],
        Decimal,
        Annotated[str, StringConstraints(pattern=r"^\+?\d{5,9}$")],
        dict[str, Node],
        int | str,
    ],
)
def test_types_of_pydantic(type_):
    """The same holds for types that are no models."""
    adapter = TypeAdapter[Any](type_)
    for value in documents(adapter.json_schema()):
        adapter.validate_python(value)


def test_decimal_with_a_glance_ahead():
    """The pattern that pydantic gives a Decimal looks ahead; texts for it are numbers."""
    pattern = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"
    for value in documents({"type": "string", "pattern": pattern}):
        Decimal(value)


@st.composite
def satisfiable(draw: st.DrawFn, depth: int = 3) -> tuple[Any, Any]:
    """A schema and a value that fits it."""
    schema, value = draw(satisfiable_kind(depth) if depth else satisfiable_scalar())
    wrap = draw(st.sampled_from(("", "", "", "anyOf", "oneOf", "allOf", "if", "not", "type")))
    other = {"type": "object"} if not isinstance(value, dict) else {"type": "array"}
    if wrap == "anyOf":
        schema = {"anyOf": draw(st.permutations([schema, other, False]))}
    elif wrap == "oneOf":
        schema = {"oneOf": draw(st.permutations([schema, {"allOf": [schema, {"not": schema}]}]))}
    elif wrap == "allOf":
        schema = {"allOf": [schema, {"not": other}, True]}
    elif wrap == "if":
        schema = {
            "if": other,
            "then": draw(st.sampled_from([False, {"minProperties": 1}, {"minItems": 1}])),
            "else": schema,
        }
    elif wrap == "not":
        schema = {**schema, "not": {"const": "something else entirely"}}
    elif wrap == "type":
        schema = {**schema, "title": draw(st.sampled_from(["Email", "Price", "City", "X"]))}
    return schema, value


def satisfiable_kind(depth: int) -> st.SearchStrategy[tuple[Any, Any]]:
    return st.one_of(satisfiable_scalar(), satisfiable_array(depth), satisfiable_object(depth))


@st.composite
def satisfiable_scalar(draw: st.DrawFn) -> tuple[Any, Any]:
    kind = draw(st.sampled_from(("integer", "number", "string", "pattern", "enum", "boolean", "null")))
    if kind == "enum":
        values = draw(st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.text()), min_size=1))
        return {"enum": values}, values[0]
    if kind == "pattern":
        pattern, text = draw(st.sampled_from(PATTERNS_AND_TEXTS))
        return {
            "type": "string",
            "pattern": pattern,
            "minLength": len(text),
            "maxLength": len(text) + 2,
        }, text
    if kind == "string":
        text = draw(st.text(max_size=60))
        slack = draw(st.integers(0, 5))
        return {
            "type": "string",
            "minLength": max(0, len(text) - slack),
            "maxLength": len(text) + slack,
        }, text
    if kind == "integer":
        step = draw(st.integers(1, 1000))
        value = step * draw(st.integers(-(10**6), 10**6))
        below, above = draw(st.integers(0, 2 * step)), draw(st.integers(0, 2 * step))
        return {
            "type": "integer",
            "multipleOf": step,
            "minimum": value - below,
            "maximum": value + above,
        }, value
    if kind == "number":
        low = draw(st.floats(-1e12, 1e12, allow_subnormal=False))
        return {"type": "number", "minimum": low, "exclusiveMaximum": math.nextafter(low, math.inf)}, low
    return {"type": kind}, {"boolean": True, "null": None}[kind]


@st.composite
def satisfiable_array(draw: st.DrawFn, depth: int) -> tuple[Any, Any]:
    pairs: list[tuple[Any, Any]] = draw(st.lists(satisfiable(depth - 1), max_size=3))
    value = [value for _, value in pairs]
    schema: dict[str, Any] = {"type": "array", "maxItems": len(value) + draw(st.integers(0, 2))}
    is_uniform: bool = draw(st.booleans())
    if pairs and is_uniform:
        item, example = pairs[0]
        schema |= {"items": item, "minItems": draw(st.integers(0, 3)), "maxItems": 4, "contains": item}
        return schema, [example] * max(schema["minItems"], 1)
    schema |= {"prefixItems": [each for each, _ in pairs]} if pairs else {}
    return schema | {"minItems": len(value)}, value


@st.composite
def satisfiable_object(draw: st.DrawFn, depth: int) -> tuple[Any, Any]:
    names = st.sampled_from(("a", "id", "email", "unit_price", "a/b", "", "created_at", "é", "tags", "name"))
    pairs = draw(st.dictionaries(names, satisfiable(depth - 1), max_size=4))
    value = {name: value for name, (_, value) in pairs.items()}
    required = [name for name in pairs if draw(st.booleans())]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in pairs.items()},
        "required": required,
        "maxProperties": len(value),
        "minProperties": draw(st.integers(0, len(value))),
        "dependentRequired": dict.fromkeys(pairs, required),
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.sampled_from([False, {"type": "integer"}]))
    return schema, value


PATTERNS_AND_TEXTS = [
    ("^[A-Z]{3}$", "ABC"),
    ("^\\d{4}-\\d{2}$", "2024-01"),
    ("[a-f]+", "cafe"),
    ("^(foo|bar)+$", "foobar"),
    ("^\\w+@\\w+\\.com$", "a@b.com"),
    ("^[^/\\s]+/[^/]*$", "a/b c"),
    ("^$", ""),
    ("x$", "xxx"),
    ("\\bend\\b", "the end"),
    ("(?i)^ABC$", "aBc"),
    ("^(?!no)[a-z]+$", "yes"),
]


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(satisfiable(), st.binary(max_size=4))
def test_satisfiable_schemas(pair, seed):
    """Where there is a value, one is found."""
    schema, example = pair
    assert objections(example, schema) == []
    assert objections(document(schema, seed=seed), schema) == []


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(satisfiable(depth=2), satisfiable(depth=2))
def test_checker_agrees(one, other):
    """The checker inside says of any value what the reference validator says."""
    for schema, value in ((one[0], one[1]), (one[0], other[1])):
        checker = Checker(book=read(schema), effort=Effort())
        assert checker.fits(value, checker.book.root) is (objections(value, schema) == [])


WORDS_OF_SCHEMAS = sorted(
    {
        *re.findall(r'"(\w+|\$\w+)"', json.dumps(list(KEYWORDS.values()))),
        "items",
        "additionalItems",
        "#",
        "#/a",
        "$id",
    }
)
SMALL = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.sampled_from(WORDS_OF_SCHEMAS), st.text(max_size=3),
    st.floats(allow_nan=False, width=16), st.sampled_from(["#", "#/items", "(a", "a{9}", "[^a]", 10**9,
        1e308, -0.0]),
)  # fmt: skip
HOSTILE = st.recursive(
    SMALL,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(WORDS_OF_SCHEMAS), inner, max_size=5)
    ),
    max_leaves=25,
)


def outcome(schema: object, seed: bytes = b"") -> Any:
    """The value, or the error that is allowed, in bearable time of the processor."""
    start = process_time()
    try:
        return document(schema, seed=seed)
    except UnusableSchema as error:
        return error
    finally:
        assert process_time() - start < MOST_SECONDS


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE)
def test_any_json_as_schema(schema):
    """Any JSON at all gives a value or UnusableSchema, and a value fits as far as the reference can tell."""
    value = outcome(schema)
    if not isinstance(value, UnusableSchema):
        json.dumps(value, allow_nan=False)
        book = read({"type": "object"} if schema is None else schema)
        assert Checker(book=book, effort=Effort()).fits(value, book.root)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything inside a JSON value, as what holds it and the key or index there."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(KEYWORDS)), st.data(), st.integers(1, 3))
def test_spoiled_schemas(name, data, times):
    """A schema in which something was replaced by anything at all is refused, or obeyed as it now stands."""
    schema = json.loads(json.dumps([KEYWORDS[name]]))
    for _ in range(times):
        holder, key = data.draw(st.sampled_from(list(places(schema))))
        holder[key] = data.draw(SMALL)
    value = outcome(schema[0])
    if isinstance(value, UnusableSchema) or schema[0] is None or '"nullable"' in json.dumps(schema):
        return
    try:
        Draft202012Validator.check_schema(schema[0])
    except SchemaError:
        return
    assert objections(value, schema[0]) == []


def deep(levels: int, key: str = "items") -> Any:
    schema: Any = True
    for _ in range(levels):
        schema = {key: schema} if key != "allOf" else {key: [schema]}
    return schema


def doubled(keyword: str, count: int) -> dict[str, Any]:
    """Definitions that each mention the next one twice."""
    definitions: dict[str, Any] = {
        f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(count)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{count}": {"type": "integer"}}}


def chained(count: int) -> dict[str, Any]:
    return {
        "$ref": "#/$defs/a0",
        "$defs": {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(count)} | {f"a{count}": {"const": 1}},
    }


NESTED = deep(6)
NESTED_LONG: Any = {"type": "integer"}
for _ in range(5):
    NESTED_LONG = {"type": "array", "minItems": 100, "items": NESTED_LONG}
SELF: list[Any] = []
SELF.append(SELF)

HOSTILE_SCHEMAS: dict[str, Any] = {
    "deep": deep(100_000),
    "deep but allowed": deep(90),
    "deep allOf": deep(45, "allOf"),
    "holds itself": {"enum": SELF},
    "doubled allOf": doubled("allOf", 40),
    "doubled anyOf": doubled("anyOf", 40),
    "doubled oneOf": doubled("oneOf", 40),
    "long chain": chained(2_000),
    "short chain": chained(60),
    "arrays of arrays of arrays": NESTED_LONG,
    "huge minItems": {"type": "array", "minItems": 10**9},
    "huge minLength": {"type": "string", "minLength": 10**9},
    "huge minProperties": {"type": "object", "minProperties": 10**9},
    "huge minContains": {"type": "array", "contains": True, "minContains": 10**9},
    "huge repeat": {"type": "string", "pattern": "^a{1000000000}$"},
    "huge numbers": {"type": "integer", "minimum": 10**6_000},
    "number of many digits": {"type": "integer", "minimum": 10**290, "multipleOf": 7},
    "infinity": {"type": "number", "minimum": math.inf},
    "not a number": {"enum": [math.nan]},
    "not JSON": {"enum": [object()]},
    "tuple": {"enum": (1, 2)},
    "keys": {1: 2},
    "bytes": b"{}",
    "endless backtracking": {"type": "string", "pattern": "^(a+)+$", "examples": ["a" * 60 + "!"]},
    "endless backtracking of words": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$", "enum": ["a" * 5000]},
    "nested repeats": {"type": "string", "pattern": "^" + "(" * 30 + "a?" + "){64}" * 30 + "$"},
    "nested repeats of more": {"type": "string", "pattern": "^" + "(" * 8 + "a" + "*){9,}" * 8 + "b$",
        "minLength": 900},
    "deep groups": {"type": "string", "pattern": "(" * 400 + ")" * 400},
    "long pattern": {"type": "string", "pattern": "a" * 5_000},
    "many lookaheads": {"type": "string", "pattern": "^" + "(?=.*a)" * 100 + ".*$", "minLength": 2_000},
    "lookahead for nothing": {"type": "string", "pattern": "^(?!)$"},
    "back reference": {"type": "string", "pattern": "^(a)\\1$"},
    "large enum": {"enum": [*range(40_000)], "type": "string"},
    "large constants": {"oneOf": [{"const": [*range(9_000)]}, {"const": [*range(9_000)]}]},
    "many branches": {"anyOf": [{"type": "integer", "minimum": 2, "maximum": 1}] * 3_000},
    "many branches of one": {"oneOf": [{"type": "integer"}] * 4_000},
    "many properties": {"type": "object", "properties": {f"p{n}": {} for n in range(20_000)}},
    "many required": {"type": "object", "required": [f"p{n}" for n in range(20_000)]},
    "many dependencies": {"type": "object",
        "dependentRequired": {f"p{n}": [f"p{n + 1}"] for n in range(9_000)}, "required": ["p0"]},
    "many patterns": {"type": "object", "patternProperties": {f"{n}.*": {} for n in range(2_000)},
        "minProperties": 900},
    "many steps": {"type": "number", "allOf": [{"multipleOf": n / 1e30} for n in range(10**9,
        10**9 + 2_000)], "minimum": 1},
    "steps beyond floats": {"type": "number", "allOf": [{"multipleOf": 3e300}, {"multipleOf": 7e299},
        {"multipleOf": 1.1e300}], "minimum": 1},
    "both and neither": {"oneOf": [True, True]},
    "contradiction deep inside": {"anyOf": [object_of("a", a=KEYWORDS["tree"] | {"type": "array"})] * 9},
    "needs itself": object_of("a", "b", a={"$ref": "#"}, b={"$ref": "#"}),
    "needs itself either way": object_of("a", a={"anyOf": [{"$ref": "#"}, {"$ref": "#/properties/b"}]},
        b={"$ref": "#"}),
    "needs itself, untyped": {"required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}},
    "not itself": {"not": {"$ref": "#"}},
    "lost ids": {"$id": "http://[", "$ref": "//"},
    "unique but few": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 900},
        "uniqueItems": True, "minItems": 901},
    "long text for a pattern": {"type": "string", "pattern": "^([a-z]+ ?)+$", "minLength": 9_000},
    "lone surrogate": {"type": "object", "required": ["\ud800"],
        "properties": {"\ud800": {"pattern": "\ud800"}}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE_SCHEMAS)
def test_hostile_schemas(name):
    """No schema takes long, recurses too deep, or raises anything but UnusableSchema."""
    value = outcome(HOSTILE_SCHEMAS[name])
    if not isinstance(value, UnusableSchema):
        book = read(HOSTILE_SCHEMAS[name])
        assert Checker(book=book, effort=Effort(10**7)).fits(value, book.root)


MESSAGES = [
    (object_of("age", age={"type": "integer", "minimum": 5, "maximum": 3}),
        "#/properties/age: minimum 5 is above maximum 3"),
    ({"type": "integer", "minimum": 5, "exclusiveMaximum": 5},
        "#: minimum 5 is as high as exclusiveMaximum 5"),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        "#: no whole number lies between exclusiveMinimum 1 and exclusiveMaximum 2"),
    ({"$ref": "#/$defs/A"}, '#: $ref "#/$defs/A" leads nowhere in this schema'),
    ({"$ref": "https://example.com/a.json"},
        '#: $ref "https://example.com/a.json" leads nowhere in this schema'),
    ({"$ref": "#"}, "#: refers to itself for the same value"),
    ({"items": {"type": "text"}},
        '#/items: type "text" is none of null, boolean, integer, number, string, array, object'),
    ({"type": []}, "#: type [] is not the name of a type"),
    (7, "#: 7 is not a schema, an object or a boolean"),
    ({"properties": {"a/b": "no"}}, '#/properties/a~1b: "no" is not a schema, an object or a boolean'),
    ({"properties": []}, "#: properties [] is not an object"),
    ({"required": "a"}, '#: required "a" is not a list'),
    ({"required": [1]}, "#: required [1] is not a list of strings"),
    ({"minLength": -1}, "#: minLength -1 is not a whole number, 0 or more"),
    ({"maximum": "9"}, '#: maximum "9" is not a number'),
    ({"multipleOf": 0}, "#: multipleOf 0 is not above 0"),
    ({"uniqueItems": 1}, "#: uniqueItems 1 is not a boolean"),
    ({"type": "string", "minLength": 5, "maxLength": 3}, "#: minLength 5 is above maxLength 3"),
    ({"type": "array", "minItems": 5, "maxItems": 3}, "#: minItems 5 is above maxItems 3"),
    ({"type": "array", "minItems": 1, "items": False}, "#: minItems 1 is above the 0 items allowed"),
    ({"type": "object", "minProperties": 5, "maxProperties": 3},
        "#: minProperties 5 is above maxProperties 3"),
    ({"type": "object", "required": ["a", "b"], "maxProperties": 1},
        "#: maxProperties 1 is below 2 required"),
    ({"type": "object", "required": [f"f{number}" for number in range(3000)]},
        "#: required asks for 3000 values, more than 2000"),
    ({"type": "object", "required": ["a"], "additionalProperties": False},
        '#/additionalProperties: property "a" is required, but not allowed'),
    ({"type": "array", "minItems": 10**9}, "#: minItems 1000000000 asks for more than 2000 values"),
    ({"type": "string", "minLength": 10**9}, "#: minLength 1000000000 asks for more than 10000 characters"),
    ({"type": "string", "pattern": "^(a)\\1$"},
        '#: pattern "^(a)\\\\1$" has an unsupported back reference \'\\1\''),
    ({"type": "string", "pattern": "^a{5}$", "maxLength": 4},
        '#: pattern "^a{5}$" has no text of 0 to 4 characters'),
    ({"type": "string", "allOf": [{"type": "integer"}]}, "#/allOf/0: type integer meets type string"),
    ({"enum": []}, "#: enum has no value"),
    ({"type": "string", "enum": [1]}, "#: type is string (tried 1)"),
    (False, "#: false allows no value"),
    ({"not": {}}, "#/not: forbids every value"),
    ({"type": "array", "items": {"enum": [1, 1.0]}, "minItems": 2, "uniqueItems": True},
        "#/items: has too few different values"),
    (object_of("a", a={"$ref": "#"}), "#/properties/a: nests deeper than 40 levels"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "message"), MESSAGES)
def test_messages(schema, message):
    """The message names the place and the value to blame, whatever the seed."""
    for seed in SEEDS[:5]:
        with pytest.raises(UnusableSchema) as caught:
            document(schema, seed=seed)
        assert str(caught.value) == message


def test_an_impossible_optional_property_is_left_out():
    """What need not be there does not make a schema unusable."""
    schema = object_of("a", a={"const": 1}, b={"type": "integer", "minimum": 2, "maximum": 1}, c=False)
    assert list(documents(schema)) == [{"a": 1}] * len(SEEDS)


@pytest.mark.parametrize(
    ("name", "type_", "expected"),
    [
        ("email", "string", r"[\w.+-]+@example\.\w+"), ("customerEmail", "string", r".+@example\.\w+"),
        ("first_name", "string", r"[A-Z][a-z]+"), ("billing_city", "string", r"[A-Z][\w' ]+"),
        ("zip", "string", r"\d{5}"), ("countryCode", "string", r"[A-Z]{2}"), ("currency", "string",
            r"[A-Z]{3}"),
        ("iban", "string", r"[A-Z]{2}\d{2}\w+"), ("website", "string", r"https://\S+"), ("birth_date",
            "string", r"(19|20)\d\d-\d\d-\d\d"),
        ("created_at", "string", r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"), ("description", "string",
            r"[A-Z][\w ,]+\."),
        ("phone_number", "string", r"[\d()+ .-]{7,}"), ("age", "integer", r"1[89]|[2-8]\d|90"), ("year",
            "integer", r"(19|20)\d\d"),
        ("unit_price", "number", r"\d{1,3}\.\d{1,2}"), ("latitude", "number", r"-?\d{1,2}\.\d{1,5}"),
            ("rating", "number", r"[1-5]\.\d"),
        ("score", "number", r"[01]\.\d{1,2}"), ("quantity", "integer", r"1?\d|20"), ("what", "string",
            r"[a-z]+ [a-z]+"),
        ("address_2", "string", r".+, .+"), ("price", "string", r"\d{1,3}\.\d\d"), ("status", "string",
            r"[a-z]+"), ("uuid", "string", r"[0-9a-f-]{36}"),
        ("location", "string", r"[A-Z][A-Za-z ]+, [A-Z][A-Za-z]+"), ("emails", "string", r".+@example\.\w+"),
    ],
)  # fmt: skip
def test_names(name, type_, expected):
    """The name of a property says what its values look like."""
    values = [value[name] for value in documents(object_of(name, **{name: {"type": type_}}))]
    assert all(re.fullmatch(expected, str(value)) for value in values), values
    assert len(set(map(str, values))) > 3


def test_names_of_items_and_owners():
    """Items are named after their list, properties after their owner or its title."""
    schema = object_of(
        "emails", "company", "product",
        emails={"type": "array", "items": {"type": "string"}, "minItems": 1},
        company=object_of("name", name={"type": "string"}),
        product={**object_of("name", name={"type": "string"}), "title": "Person"},
    )  # fmt: skip
    value = document(schema, seed=b"1")
    assert isinstance(value, dict)
    assert "@" in str(value["emails"])
    assert value["company"] != value["product"]
    company = document({**schema["properties"]["company"], "title": "Company"}, seed=b"2")
    assert re.search(r"Inc|Ltd|LLC|PLC|Group|Sons|-|,", str(company)), company


def test_named_values_fit_lengths():
    """Real-looking values are cut and continued between words."""
    schema = object_of("description", description={"type": "string", "minLength": 100, "maxLength": 110})
    for value in documents(schema):
        assert re.fullmatch(r"[A-Za-z., ]+", value["description"])
    assert all(re.fullmatch("[A-Z]{2}", value["country"]) for value in documents(
        object_of("country", country={"type": "string", "minLength": 2, "maxLength": 2})
    ))  # fmt: skip


def test_every_named_maker():
    """Each row makes a text on one line, again and again the same."""
    for name, make in makers().items():
        texts = [make(Draws(b"%d" % number)) for number in range(3)]
        assert all(text and "\n" not in text and text == text.strip() for text in texts), (name, texts)
        assert texts == [make(Draws(b"%d" % number)) for number in range(3)], name


def test_every_named_range():
    """Numbers of a known name lie where they usually do, and within bounds that say otherwise."""
    for name, usual in ranges().items():
        key = name.replace(" ", "_")
        value: Any = document(object_of(key, **{key: {"type": "number"}}), seed=b"a")
        assert usual.low <= value[key] <= usual.high, (name, value)
        value = document(object_of(key, **{key: {"type": "integer", "minimum": 10**12}}), seed=b"b")
        assert value[key] >= 10**12, (name, value)


@pytest.mark.parametrize("schema", [None, {"type": "object"}, {}, True])
def test_an_open_object(schema):
    """Without a schema the answer is a small object with named fields; they differ from seed to seed."""
    values = [document(schema, seed=seed) for seed in SEEDS]
    assert all(isinstance(value, dict) and 1 <= len(value) <= 4 for value in values)
    assert len({json.dumps(value) for value in values}) > len(SEEDS) // 2


def test_no_arguments():
    """An object without any properties, as a function without parameters has it, stays empty."""
    assert document({"type": "object", "properties": {}}, seed=b"a") == {}
    assert document({"type": "object", "additionalProperties": False}, seed=b"a") == {}


def test_optional_properties_come_and_go():
    """Most optional properties are there; which ones depends on the seed."""
    names = [f"p{number}" for number in range(8)]
    counts = [len(value) for value in documents(object_of(**{name: {"type": "boolean"} for name in names}))]
    assert sum(counts) > 0.7 * 8 * len(SEEDS)
    assert len(set(counts)) > 1


def test_default_and_examples_are_hints():
    """Examples and defaults are taken often, never always, and never when they do not fit."""
    examples = list(documents({"type": "string", "examples": ["left", "right", 3]}))
    assert {"left", "right"} < set(examples)
    defaults = list(documents({"type": "integer", "minimum": 0, "default": 77, "maximum": 10**9}))
    assert 77 in defaults
    assert len(set(defaults)) > 5
    assert set(documents({"type": "integer", "minimum": 2, "maximum": 3, "default": 1})) == {2, 3}


def test_nothing_is_shared_with_the_schema():
    """Whoever changes the value does not change the schema."""
    schema = object_of("a", a={"const": {"b": [1]}})
    value: Any = document(schema, seed=b"a")
    value["a"]["b"].append(2)
    assert document(schema, seed=b"a") == {"a": {"b": [1]}}


def test_size_is_sensible():
    """Recursive schemas neither stay empty nor run away."""
    sizes = [json.dumps(value).count("value") for value in documents(KEYWORDS["tree"])]
    assert max(sizes) < 300
    assert sum(size > 1 for size in sizes) > len(SEEDS) // 2
    assert len(json.dumps(document({"type": "array", "minItems": 1_500, "items": {"type": "integer"}}, seed=b"")))


PROGRAM = """
import json, sys
from engy_mock.model.structured import document
schemas = json.load(sys.stdin)
print(json.dumps([document(schema, seed=b"seed") for schema in schemas]))
print(json.dumps("faker" in sys.modules))
"""


def in_a_process(schemas: list[Any], hash_seed: str) -> tuple[Any, bool]:
    """The documents made by a fresh interpreter, and whether it has loaded Faker."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(schemas),
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=True,
        cwd=TOP,
    )
    values, has_faker = done.stdout.splitlines()
    return json.loads(values), json.loads(has_faker)


@pytest.mark.slow
def test_the_same_in_every_process():
    """Neither the process nor its hash seed changes a value, and Faker makes the same ones again."""
    schemas = [*KEYWORDS.values(), Order.model_json_schema(), object_of("name", "email", name={}, email={})]
    here = json.loads(json.dumps([document(schema, seed=b"seed") for schema in schemas]))
    assert in_a_process(schemas, "1") == (here, True)
    assert in_a_process(schemas, "2") == (here, True)


def test_faker_is_not_loaded_without_need():
    """Numbers, choices, patterns and plain texts need no Faker."""
    names = ["bounds", "enum", "pattern", "minLength", "uniqueItems", "tree", "long uri", "if"]
    schemas = [KEYWORDS[name] for name in names]
    schemas += [object_of("a", "count", a={"type": "string"}, count={"type": "integer"})]
    assert in_a_process(schemas, "0")[1] is False


def test_values_of_old_stay():
    """A change in these values is a change that users see."""
    schema = object_of(
        "age",
        "color",
        "note",
        age={"type": "integer"},
        color={"enum": ["red", "blue"]},
        note={"type": "string"},
    )
    assert document(schema, seed=b"engy") == {
        "age": 73,
        "color": "blue",
        "note": "Rain is expected in the afternoon.",
    }


def test_threads_do_not_disturb_each_other():
    """Documents made at once are those made one after the other."""
    schema = object_of(
        *(names := ("name", "email", "city", "company")), **{name: {"type": "string"} for name in names}
    )
    alone = [document(schema, seed=seed) for seed in SEEDS]
    together: list[list[Any]] = [[] for _ in range(4)]
    threads = [
        Thread(target=lambda found: found.extend(document(schema, seed=seed) for seed in SEEDS), args=(found,))
        for found in together
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [alone] * 4


def test_an_ordinary_schema_is_quick():
    """A schema of some forty properties takes milliseconds once Faker is loaded."""
    schema = Order.model_json_schema()
    document(schema, seed=b"")
    times = []
    for seed in SEEDS:
        start = process_time()
        document(schema, seed=seed)
        times.append(process_time() - start)
    assert sorted(times)[len(times) // 2] < 0.05


ATOMS = st.sampled_from(
    ["a", "b", "ab", ".", "\\d", "\\w", "\\s", "\\D", "[ab]", "[^a]", "[a-c0-2]", "^", "$", "\\b", "\\B",
        "(?=a)", "(?!b)",
     "(?<=a)", "(?<!b)", "", "-", "\\.", "\\x41", "(?i:B)", "[\\d_-]", "[]a]"]
)  # fmt: skip
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(PATTERNS, st.text("abAB01_- .", max_size=8))
def test_matching_agrees_with_re(pattern, text):
    """A text matches exactly where `re.search` finds a match."""
    assert is_found(parse(pattern), text, Effort()) is (re.search(pattern, text) is not None)


@settings(max_examples=75)
@given(PATTERNS, st.binary(max_size=3))
def test_texts_for_patterns(pattern, seed):
    """What is made for a pattern matches it; a pattern that nothing matches is unusable."""
    value = outcome({"type": "string", "pattern": pattern, "maxLength": 30}, seed)
    assert isinstance(value, UnusableSchema) or re.search(pattern, str(value))


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a**", "*a", "[a", "[b-a]", "a{3,2}",
        "\\", "\\q", "\\1", "(?P=a)", "(?P<a)", "(?#c", "(?>a)", "a++", "(?x)a",
     "a(?z:b)", "\\p{Qq}", "\\x4", "^*", "\\U99999999", "(?P<1>a)"],
)  # fmt: skip
def test_broken_patterns(pattern):
    """What the pattern language lacks is said, not guessed."""
    with pytest.raises(UnsupportedPattern):
        parse(pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^\\d{3}-\\d{4}$", r"\d{3}-\d{4}"),
        ("^[\\u4e00-\\u9fff]{2,4}$", "[\u4e00-\u9fff]{2,4}"),
        ("^\\p{Lu}\\p{L}+$", r"[A-Z][A-Za-z]+"),
        ("^(?<year>\\d{4})$", r"\d{4}"),
        ("^[^a-zA-Z0-9]$", r"[^a-zA-Z0-9]"),
        ("^.{20,40}$", r"[a-z ]{20,40}"),
        ("^\\x00$", "\x00"),
        ("^(?s:.)\\/$", r"(?s:.)/"),
        ("^\\S+$", r"[a-z0-9]+"),
        ("^[\\w-.]{3}$", r"[\w.-]{3}"),
    ],
)
def test_looks_of_texts_for_patterns(pattern, expected):
    """Texts for a pattern are readable where the pattern leaves the choice."""
    for seed in SEEDS:
        value = document({"type": "string", "pattern": pattern}, seed=seed)
        assert re.fullmatch(expected, str(value)), value
