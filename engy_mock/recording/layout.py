"""Plain values as YAML that people like to read: texts of several lines stand as blocks, the rest in quotes."""

import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"})
_TO_ESCAPE = re.compile("[\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]")
STEP = "  "


def written(value: Mapping[str, Any]) -> str:
    """A mapping as the lines of one document; raises TypeError for what is no plain value."""
    return "\n".join(_mapping(value, "")) + "\n"


def _mapping(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{indent}{_key(key)}:", item, indent)


def _items(value: list[Any], indent: str) -> Iterator[str]:
    for item in value:
        if isinstance(item, Mapping) and item:
            first, *rest = _mapping(item, indent + STEP)
            yield f"{indent}- {first[len(indent) + len(STEP) :]}"
            yield from rest
        else:
            yield from _entry(f"{indent}-", item, indent)


def _entry(start: str, item: Any, indent: str) -> Iterator[str]:
    """What stands behind a key or a dash, and below it."""
    if isinstance(item, Mapping) and item:
        yield start
        yield from _mapping(item, indent + STEP)
    elif isinstance(item, list | tuple) and item:
        yield start
        yield from _items(list(item), indent + STEP)
    elif isinstance(item, str) and _is_block(item):
        lines = item.split("\n")
        ends = len(item) - len(item.rstrip("\n"))
        yield f"{start} |{'-' if ends == 0 else '' if ends == 1 else '+'}"
        for line in lines if ends == 0 else lines[:-1]:
            yield f"{indent}{STEP}{line}" if line else ""
    else:
        yield f"{start} {_scalar(item)}"


def _is_block(text: str) -> bool:
    """Whether a text of several lines comes back as it is from a block."""
    if "\n" not in text.rstrip("\n") and not text.endswith("\n\n"):
        return False
    if text[0] in " \n\t":
        return False
    return all(line.isprintable() or line.replace("\t", "").isprintable() for line in text.split("\n")) and not (
        _TO_ESCAPE.search(text)
    )


def _key(key: str) -> str:
    return key if _WORD.fullmatch(key) and key.lower() not in _RESERVED else _quoted(key)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # YAML takes a number for one only if it has a point.
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"{type(value).__name__} is no plain value")


def _quoted(text: str) -> str:
    """A text in double quotes; JSON's escapes are YAML's, but for pairs of surrogates, which are not needed."""
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", dumps(text, ensure_ascii=False))
