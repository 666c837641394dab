"""How the fields of a request are checked, and one table that words what is wrong with them.

A form is a `TypedDict` that pydantic checks in strict mode: `true` is no number, `1.0` is no integer. A field
that may be left out also takes None, which equals absence (E-8); unknown fields pass (E-7).
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from json import JSONEncoder
from typing import Any, Generic, NoReturn, TypeVar, cast

from pydantic_core import ErrorDetails, SchemaValidator, ValidationError

from engy_mock.dialects.shapes import schema_of
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary.errors import InvalidRequest, Violation, quoted

F = TypeVar("F", bound=Mapping[str, Any])

WORDS = {
    "missing": "is required",
    "string_type": "must be a string",
    "string_type~": "must be a string or an array",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must have token ids as keys",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "float_overflow": "must fit a 64-bit floating point number",
    "bool_type": "must be a boolean",
    "list_type": "must be an array",
    "list_type~": "must be a string or an array",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} items",
    "dict_type": "must be an object",
    "dict_type~": "must be a string or an object",
    "model_attributes_type": "must be an object",
    "none_required": "is for assistant messages only",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "literal_error~": "must be {expected}, or an object",
    "union_tag_invalid": "must be {expected_tags}",
    "image_uri": "must be a data:image/...;base64, URI of type png, jpeg, gif or webp",
    "image_base64": "must hold valid Base64",
    "image_bytes": "must hold bytes that begin like {media_type}",
    "unsupported": "is not supported",
    "only_reasoning": "must hold more than reasoning",
    "stateful": "is not supported, as nothing is kept between calls",
    "schema_type": "must be an object or a boolean",
    "tool_unknown": "must be the name of a tool that is offered",
    "tools_missing": "must not be {mode} without tools",
    "stream_unsupported": "is not supported on {path}",
    "best_of_below": "must be at least n, which is {n}",
    "best_of_streamed": "must be at most 1 in a stream",
    "too_many_choices": "asks for {count} choices, at most {most} allowed",
}
"""What is said of a field, by the kind of violation: pydantic's kinds and the dialects' own.

`~` marks what is said of the whole field if it is a member of a union that `Told` tells apart.
"""

RANGE_KINDS = frozenset({"greater_than", "greater_than_equal", "less_than_equal"})
"""The kinds that mean: the right type, but out of its range."""

PLAIN_KINDS = RANGE_KINDS | {
    "string_too_short",
    "too_short",
    "too_long",
    "best_of_below",
    "best_of_streamed",
    "too_many_choices",
}
"""The kinds that are no more than 400 where ranges are (S-40): nothing is missing, nothing of a wrong type."""

BROKEN_PICTURES = frozenset({"image_base64", "image_bytes"})
"""The kinds of violations by a picture that cannot be read, which is blamed behind all else (E-77)."""

NOT_SHOWN: Any = object()
"""Stands for a value that the message leaves out."""

_MAX_SHOWN = 80
_MAX_SHOWN_ESCAPED = 160
_MAX_SHOWN_KEY = 40
_SHOWN = JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_IN_QUOTES = re.compile(r"'([^']*)'")


class Form(Generic[F]):
    """A shape that request bodies must have.

    `shape` has its fields; `tagged` names the lists whose objects are told apart by one of their fields, as
    messages are by `role`.
    """

    def __init__(self, shape: type[F], *, tagged: Iterable[str] = ()) -> None:
        self.shape = shape
        self._tagged = frozenset(tagged)

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(schema_of(self.shape))

    def read(self, body: object, surface: Surface, any_number: frozenset[str] = frozenset()) -> F:
        """The fields of a body; raises InvalidRequest with all violations.

        Numbers of the fields in `any_number` may be out of their range.
        """
        try:
            return cast(F, self._validator.validate_python(body, strict=True, context=surface))
        except ValidationError as error:
            details = error.errors(include_url=False)
        found = [self._violation(detail) for detail in details if not _is_waived(detail, any_number)]
        if found:
            refuse(*sorted(found, key=lambda violation: violation.kind in BROKEN_PICTURES))
        numbers = {str(detail["loc"][0]): detail["input"] for detail in details}
        rest = {field: value for field, value in cast(F, body).items() if field not in numbers}
        return cast(F, {**self.read(rest, surface), **numbers})

    def _violation(self, detail: ErrorDetails) -> Violation:
        """One of pydantic's findings in our words."""
        kind, loc, value = detail["type"], detail["loc"], detail["input"]
        context = {key: _listed(item) for key, item in detail.get("ctx", {}).items()}
        if kind == "string_pattern_mismatch" and loc[-1] == "[key]":
            loc = loc[:-2]
        path = self._path(loc)
        if kind in ("union_tag_invalid", "union_tag_not_found"):
            name = str(context["discriminator"])
            path = (*path, name)
            kind, value = (kind, value[name]) if kind == "union_tag_invalid" else ("missing", NOT_SHOWN)
        elif kind == "missing":
            value = NOT_SHOWN
        elif kind == "float_type" and type(value) is int:
            kind = "float_overflow"
        return violation(path, kind, value, is_member=bool(loc) and str(loc[-1]).startswith("~"), **context)

    def _path(self, loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Where in the body this is: pydantic's place without the names of union members."""
        path: list[str | int] = []
        in_list = ""
        for step in loc:
            is_member = isinstance(step, str) and (step.startswith("~") or in_list in self._tagged)
            in_list = ""
            if isinstance(step, int):
                in_list = str(next(name for name in reversed(path) if isinstance(name, str)))
            if not is_member:
                path.append(quoted(step)[:_MAX_SHOWN_KEY] if isinstance(step, str) else step)
        return tuple(path)


def violation(
    path: tuple[str | int, ...],
    kind: str,
    value: object = NOT_SHOWN,
    /,
    *,
    is_member: bool = False,
    **context: object,
) -> Violation:
    """What is wrong with the field at this path, in the words of the table."""
    words = (WORDS.get(f"{kind}~") if is_member else None) or WORDS.get(kind, "is invalid")
    found = Violation(path=path, message="", kind=kind)
    got = "" if value is NOT_SHOWN else f", got {shown(value)}"
    message = f"{found.param or 'body'} {words.format_map(context)}{got}"
    return Violation(path=path, message=message, kind=kind)


def refuse(*violations: Violation) -> NoReturn:
    """Raise InvalidRequest; the first violation gives the message."""
    first = violations[0]
    raise InvalidRequest(first.message, param=first.param or None, violations=violations)


def shown(value: object) -> str:
    """A value as JSON, short and printable."""
    text = ""
    if isinstance(value, str):
        value = value[: _MAX_SHOWN + 1]
    for piece in _SHOWN.iterencode(value):
        text += piece
        if len(text) > _MAX_SHOWN:
            text = text[: _MAX_SHOWN - 3] + "..."
            break
    return quoted(text)[:_MAX_SHOWN_ESCAPED]


def _is_waived(detail: ErrorDetails, any_number: frozenset[str]) -> bool:
    """Whether this only says that a number is out of a range, or not whole, where that does not matter."""
    loc, is_number = detail["loc"], type(detail["input"]) in (int, float)
    is_about_size = detail["type"] in RANGE_KINDS or (detail["type"] == "int_type" and is_number)
    return is_about_size and len(loc) == 1 and loc[0] in any_number


def _listed(item: object) -> object:
    """Pydantic's list of quoted words as a plain one."""
    words = _IN_QUOTES.findall(item) if isinstance(item, str) else []
    return f"one of {', '.join(words)}" if len(words) > 1 else words[0] if words else item
