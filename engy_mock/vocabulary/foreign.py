"""What no JSON document holds, so that no request can have it."""

import math
from typing import Final


class _Nothing:
    """There is nothing of the sort."""


NOTHING: Final = _Nothing()


def foreign(value: object) -> object:
    """The first value in here that JSON does not know, tuples and sets among them; NOTHING if it knows all."""
    if value is None or isinstance(value, bool | int | str):
        return NOTHING
    if isinstance(value, float):
        return NOTHING if math.isfinite(value) else value
    inner: list[object]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return value
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return value
    return next((found for one in inner if (found := foreign(one)) is not NOTHING), NOTHING)
