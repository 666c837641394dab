"""Shapes of request bodies in the terms of pydantic's core, which checks them.

Read off the `TypedDict`s here and not by pydantic itself, which takes longer to load than all the rest of a mock.
"""

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema
from typing_extensions import is_typeddict

_PLAIN = {str: "str", int: "int", float: "float", bool: "bool", Any: "any", object: "any", NoneType: "none"}


class Handler:
    """What a mark in `Annotated` is given, by the names that pydantic has for it: what the rest comes to."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Callable[[Any], CoreSchema]) -> None:
        self._inner = inner

    def __call__(self, source: Any) -> CoreSchema:
        """The schema without this mark."""
        return self._inner(source)

    def generate_schema(self, source: Any) -> CoreSchema:
        """The schema of another type."""
        return schema_of(source)


def schema_of(hint: Any) -> CoreSchema:
    """The schema of a type; raises TypeError for one that no form has had yet."""
    made: Any
    if hint in _PLAIN:
        made = {"type": _PLAIN[hint]}
    elif is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        required = hint.__required_keys__
        fields = {
            name: {"type": "typed-dict-field", "schema": schema_of(field), "required": name in required}
            for name, field in hints.items()
        }
        made = {"type": "typed-dict", "fields": fields, "extra_behavior": "ignore"}
    else:
        maker = _MAKERS.get(get_origin(hint))
        if maker is None:
            raise TypeError(f"no form can have a field of type {hint!r}")
        made = maker(*get_args(hint))
    schema: CoreSchema = made
    return schema


def _annotated(source: Any, *marks: Any) -> CoreSchema:
    inner: Callable[[Any], CoreSchema] = schema_of
    for mark in marks:
        inner = _marked(mark, inner)
    return inner(source)


def _marked(mark: Any, inner: Callable[[Any], CoreSchema]) -> Callable[[Any], CoreSchema]:
    """What a mark makes of what is inside it."""

    def marked(source: Any) -> CoreSchema:
        schema: CoreSchema = mark.__get_pydantic_core_schema__(source, Handler(inner))
        return schema

    return marked


def _union(*members: Any) -> Any:
    rest = [schema_of(member) for member in members if member is not NoneType]
    union = rest[0] if len(rest) == 1 else {"type": "union", "choices": rest}
    return union if len(rest) == len(members) else {"type": "nullable", "schema": union}


_MAKERS: dict[Any, Callable[..., Any]] = {
    Annotated: _annotated,
    Union: _union,
    UnionType: _union,
    Required: schema_of,
    NotRequired: schema_of,
    Literal: lambda *values: {"type": "literal", "expected": list(values)},
    list: lambda item: {"type": "list", "items_schema": schema_of(item)},
    dict: lambda key, value: {
        "type": "dict",
        "keys_schema": schema_of(key),
        "values_schema": schema_of(value),
    },
}
"""How the schema of a generic type is made of its arguments."""
