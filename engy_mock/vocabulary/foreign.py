"""What no JSON document holds, so that no request can have it."""

import math


def foreign(value: object) -> str | None:
    """The first value in here that JSON does not know, as Python shows it; None if it knows all.

    Tuples and sets are among those that it does not.
    """
    if value is None or isinstance(value, bool | int | str):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else repr(value)
    inner: list[object]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return repr(value)
    return next((found for one in inner if (found := foreign(one)) is not None), None)
