"""The forms in which a key that is known can stand in a text: as it is, in base64, and percent-encoded.

Base64 may be broken into lines anywhere, as mail has it.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache

Span = tuple[int, int]

MOST_KEYS = 256
"""The forms of so many keys are kept."""


def spans(text: str, secret: str) -> Iterator[Span]:
    """Where a secret stands in a text, whatever form it has there."""
    for form in _forms(secret):
        start = text.find(form)
        while start >= 0:
            yield start, start + len(form)
            start = text.find(form, start + len(form))
    if "\n" in text or "\r" in text or "\\" in text:
        yield from (found.span() for found in _broken(secret).finditer(text))
    if "%" in text:
        yield from (found.span() for found in _percent(secret).finditer(text))


@lru_cache(MOST_KEYS)
def _forms(secret: str) -> tuple[str, ...]:
    """The secret, and what it looks like in base64 behind any other bytes and before any."""
    data = secret.encode("utf-8", "surrogatepass")
    forms = [secret]
    for core in _coded(data):
        forms += [core, core.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(forms))


def _coded(data: bytes) -> Iterator[str]:
    """The base64 of some bytes behind none, one or two others, without what holds bits of the neighbours too."""
    for before in range(3):
        coded = b64encode(bytes(before) + data).decode()
        # A character stands for six bits.
        yield coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]


_BREAK = r"(?:[ \t\r\n]|\\[rnt])*"
"""A break of a line with what stands around it, also as JSON writes it in a text."""

_EITHER = {"+": "[+-]", "/": "[/_]"}
"""The characters that differ in the base64 of addresses."""


@lru_cache(MOST_KEYS)
def _broken(secret: str) -> re.Pattern[str]:
    """The secret in base64 that is broken into lines."""
    data = secret.encode("utf-8", "surrogatepass")
    forms = [_BREAK.join([_EITHER.get(one, one) for one in core]) for core in _coded(data)]
    return re.compile("|".join(forms), re.ASCII)


@lru_cache(MOST_KEYS)
def _percent(secret: str) -> re.Pattern[str]:
    """The secret with any of its characters percent-encoded, even twice."""
    return re.compile("".join(map(_any_form, secret)), re.ASCII)


def _any_form(character: str) -> str:
    coded = "".join([f"%(?:25)?(?i:{byte:02x})" for byte in character.encode("utf-8", "surrogatepass")])
    return f"(?:{re.escape(character)}|{coded})"
