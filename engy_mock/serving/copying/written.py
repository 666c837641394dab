"""Faults as the journal has them written, read back: `reset after=2` is `{"kind": "reset", "after": 2}`."""

import ast
import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r" (\w+)=")


class Unreadable(ValueError):
    """What stands there is no fault of the catalogue, but a function of somebody's own."""


def read_fault(written: str) -> dict[str, Any]:
    """The mapping that means the same fault; raises Unreadable."""
    kind, _, rest = written.partition(" ")
    return {"kind": kind, **dict(_parameters(f" {rest}" if rest else ""))}


def _parameters(rest: str) -> Iterator[tuple[str, Any]]:
    """Names and values: each value is a literal, and may have blanks and even names in it."""
    while rest:
        name = _NAME.match(rest)
        if name is None:
            raise Unreadable(rest)
        ends = [mark.start() for mark in _NAME.finditer(rest, name.end())]
        for end in (*ends, len(rest)):
            try:
                value = ast.literal_eval(rest[name.end() : end])
            except (ValueError, SyntaxError):
                continue
            yield name[1], list(value) if isinstance(value, tuple) else value
            rest = rest[end:]
            break
        else:
            raise Unreadable(rest)
