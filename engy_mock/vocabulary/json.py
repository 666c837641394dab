"""JSON in and out: one reader that raises only `ValueError`, one compact writer that refuses what JSON lacks.

One library does both on every machine, so that the bytes never depend on what else is installed.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json

_HUGE = re.compile(rb"[0-9](?:[eE]\+?[0-9]{3}|[0-9.]{299})")
_WHOLE = re.compile(rb'("(?:[^"\\]|\\.)*")|(?<=[0-9])\.0(?=[,\]}]|$)')
"""A text, which stays as it is, or the end of a whole number that was written as a fraction."""


def read(data: bytes | str) -> Any:
    """The value of a JSON text in UTF-8; raises ValueError for anything that is not one.

    A byte order mark, `NaN`, infinities, lone surrogates and nesting or numbers beyond the parser's bounds
    are all refused (E-6).
    """
    value = from_json(data, allow_inf_nan=False, cache_strings="keys")
    # A number that no float can hold is read as infinite: none without so many digits is.
    if _HUGE.search(data if isinstance(data, bytes) else data.encode("utf-8", "replace")):
        _refuse_non_finite(value)
    return value


def write(value: object) -> bytes:
    """Compact UTF-8 JSON without a space after `,` and `:` (E-10); raises ValueError for NaN and infinities."""
    data = to_json(value)
    if b"NaN" in data or b"Infinity" in data:
        _refuse_non_finite(value)
    return data


def joined(fields: Mapping[str, bytes]) -> bytes:
    """An object of values that are written already."""
    return b"{%b}" % b",".join([b'"%b":%b' % (name.encode(), value) for name, value in fields.items()])


def meaning(value: object) -> bytes:
    """What stands for a JSON value, however its numbers are written and, of an object, its own keys ordered."""
    if isinstance(value, dict):
        data = b",".join(sorted([b"%b:%b" % (_key(name), to_json(item)) for name, item in value.items()]))
    else:
        data = to_json(value)
    return _WHOLE.sub(rb"\1", data) if b".0" in data else data


def _key(name: str) -> bytes:
    """A name as it stands in a meaning: quoted where it could be taken for more than a name."""
    return name.encode() if name.isidentifier() else to_json(name)


def text(value: object) -> str:
    """The same as `write`, as text."""
    return write(value).decode()


def _refuse_non_finite(value: object) -> None:
    """Raise ValueError if a number in here is not finite."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise ValueError(f"JSON has no number {value!r}")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_non_finite(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_non_finite(item)
