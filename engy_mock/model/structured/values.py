"""What a JSON value is, when two are the same, and how one is shown in a message."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from itertools import islice
from typing import TypeAlias

from engy_mock.model.structured.trouble import Effort, UnusableSchema

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"

# Bounds on what is accepted as a schema; services with structured output allow far less.
DEEPEST_SCHEMA = 100
LARGEST_SCHEMA = 20_000
MOST_CHARACTERS = 400_000
LONGEST_INTEGER_BITS = 1_000

KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")


def json_value(value: object) -> JsonValue:
    """The value, once it is known to be JSON of a bearable depth and size."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    count = characters = 0
    while waiting:
        part, depth = waiting.pop()
        count += 1
        if depth > DEEPEST_SCHEMA:
            raise UnusableSchema("#", f"nests deeper than {DEEPEST_SCHEMA} levels")
        if count > LARGEST_SCHEMA:
            raise UnusableSchema("#", f"has more than {LARGEST_SCHEMA} values")
        if characters > MOST_CHARACTERS:
            raise UnusableSchema("#", f"has more than {MOST_CHARACTERS} characters")
        if isinstance(part, dict):
            strange = [key for key in part if not isinstance(key, str)]
            if strange:
                raise UnusableSchema("#", f"a key is a {type(strange[0]).__name__}, not a string")
            characters += sum(map(len, part))
            waiting.extend((member, depth + 1) for member in part.values())
        elif isinstance(part, list):
            waiting.extend((item, depth + 1) for item in part)
        elif isinstance(part, float):
            if not math.isfinite(part):
                raise UnusableSchema("#", f"{part} is not a JSON number")
        elif isinstance(part, int):
            if part.bit_length() > LONGEST_INTEGER_BITS:
                raise UnusableSchema("#", f"a number has {part.bit_length()} bits")
        elif isinstance(part, str):
            characters += len(part)
        elif part is not None:
            raise UnusableSchema("#", f"a {type(part).__name__} is not a JSON value")
    return value  # type: ignore[return-value]


def kinds_of(value: JsonValue) -> tuple[str, ...]:
    """The words of `type` that fit the value; 1.0 is an integer as well."""
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int):
        return ("integer", "number")
    if isinstance(value, float):
        return ("integer", "number") if value.is_integer() else ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("array",) if isinstance(value, list) else ("object",)


def identity(value: JsonValue, effort: Effort | None = None) -> Hashable:
    """A key that is equal for equal JSON values: 1 and 1.0 are the same, 1 and true are not."""
    if effort is not None and isinstance(value, list | dict):
        effort.spend(len(value))
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", tuple(identity(item, effort) for item in value))
    if isinstance(value, dict):
        return ("object", frozenset((name, identity(member, effort)) for name, member in value.items()))
    return value


def copied(value: JsonValue) -> JsonValue:
    """The value again, sharing nothing with the schema it came from."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    return value


def shown(value: JsonValue) -> str:
    """The value as JSON, shortened for a message."""
    # Piece by piece, so that a large value costs no more than what is shown of it.
    pieces = json.JSONEncoder(ensure_ascii=False).iterencode(value)
    text = "".join(islice(pieces, 60))
    return text if len(text) <= 60 else text[:57] + "..."


def at(pointer: str, *steps: str | int) -> str:
    """The JSON pointer of something further down."""
    return "/".join([pointer, *(str(step).replace("~", "~0").replace("/", "~1") for step in steps)])
