"""The forms in which a key that is known can stand in a text: as it is, in base64, and percent-encoded."""

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
    if "%" in text:
        yield from (found.span() for found in _percent(secret).finditer(text))


@lru_cache(MOST_KEYS)
def _forms(secret: str) -> tuple[str, ...]:
    """The secret, and what it looks like in base64 behind any other bytes and before any."""
    data = secret.encode("utf-8", "surrogatepass")
    forms = [secret]
    for before in range(3):
        coded = b64encode(bytes(before) + data).decode()
        # A character stands for six bits: those at the edges hold bits of the neighbours too.
        core = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        forms += [core, core.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(forms))


@lru_cache(MOST_KEYS)
def _percent(secret: str) -> re.Pattern[str]:
    """The secret with any of its characters percent-encoded, even twice."""
    return re.compile("".join(map(_any_form, secret)), re.ASCII)


def _any_form(character: str) -> str:
    coded = "".join([f"%(?:25)?(?i:{byte:02x})" for byte in character.encode("utf-8", "surrogatepass")])
    return f"(?:{re.escape(character)}|{coded})"
