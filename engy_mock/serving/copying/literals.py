"""Values as Python writes them in a file that people read: double quotes, one line where it fits."""

from collections.abc import Iterable
from typing import Any

WIDTH = 110


class Code(str):
    """A piece of Python that stands as it is."""

    __slots__ = ()


def literal(value: Any, taken: int = 0) -> str:
    """A value as it is written in a place where so much of the line is taken already."""
    if isinstance(value, Code):
        return value
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return _within("{", [(f"{literal(key)}: ", own) for key, own in value.items()], "}", taken)
    if isinstance(value, list):
        return _within("[", [("", own) for own in value], "]", taken)
    if isinstance(value, tuple):
        line = "(" + ", ".join([literal(own) for own in value]) + ("," if len(value) == 1 else "") + ")"
        return line if taken + len(line) <= WIDTH else _within("(", [("", own) for own in value], ")", WIDTH)
    return repr(value)


def call(function: str, values: Iterable[Any], words: dict[str, Any]) -> str:
    """A call of a function."""
    parts = [*[("", own) for own in values], *[(f"{name}=", own) for name, own in words.items()]]
    return _within(f"{function}(", parts, ")", 4)


def _within(opening: str, parts: list[tuple[str, Any]], closing: str, taken: int) -> str:
    """Parts between brackets, each on a line of its own if they do not fit into one."""
    line = opening + ", ".join([before + literal(own) for before, own in parts]) + closing
    if not parts or ("\n" not in line and taken + len(line) <= WIDTH):
        return line
    rows = []
    for before, own in parts:
        text = literal(own, taken + 4 + len(before))
        rows.append("    " + (before + text).replace("\n", "\n    ") + ",")
    return "\n".join([opening, *rows, closing])


def _quoted(text: str) -> str:
    found = repr(text)
    return f'"{found[1:-1]}"' if found[0] == "'" and '"' not in found else found
