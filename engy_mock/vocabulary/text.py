"""What is no text that could be sent: half a surrogate pair has no bytes in UTF-8."""

import re

_HALF = re.compile("[\ud800-\udfff]")


def is_sendable(text: str) -> bool:
    """Whether a text has bytes in UTF-8."""
    return text.isascii() or _HALF.search(text) is None


def paired(text: str) -> str:
    """The same with one character for the two halves of a pair, where they stand beside each other."""
    return text if is_sendable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def unsendable(value: object) -> str | None:
    """The first text in a value, keys of mappings included, that could not be sent; None if all could."""
    if isinstance(value, str):
        return None if is_sendable(value) else value
    inner: list[object] = []
    if isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    return next((found for one in inner if (found := unsendable(one)) is not None), None)
