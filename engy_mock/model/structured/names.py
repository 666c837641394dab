"""What the name of a property says about its value: `billing_city` is a city, `maxPrice` an amount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from engy_mock.model.structured.providers import Maker, Range, makers, ranges

Words: TypeAlias = tuple[str, ...]

LONGEST_NAME = 200
LONGEST_PHRASE = 4

# In running text only these phrases are taken at their word.
TELLING = frozenset(
    (
        *("email", "email address", "phone number", "url", "uuid", "iso 8601", "yyyy mm dd", "hex color"),
        *("country code", "currency code", "postal code", "zip code", "city and state", "city and country"),
    )
)


def words_of(name: str) -> Words:
    """The words of a name in snake, kebab or camel case, in small letters."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name[:LONGEST_NAME])
    return tuple(word.lower() for word in found)


def singular(words: Words) -> Words:
    """The words for one of several: `email addresses` is a list of `email address`."""
    if not words:
        return words
    *before, last = words
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith(("sses", "xes", "ches", "shes", "uses")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us")):
        last = last[:-1]
    return (*before, last)


def text_maker(path: Words, texts: Sequence[str]) -> Maker | None:
    """How a text is made that has these words for a name, or is described by these texts."""
    rows = makers()
    return next((rows[phrase] for phrase in _phrases(path, texts) if phrase in rows), None)


def number_range(path: Words, texts: Sequence[str]) -> Range | None:
    """Where a number of that name usually lies."""
    rows = ranges()
    return next((rows[phrase] for phrase in _phrases(path, texts) if phrase in rows), None)


def _phrases(path: Words, texts: Sequence[str]) -> Iterator[str]:
    """What to look for: the longest end of the name first, telling phrases of the texts last."""
    trimmed = path
    while trimmed and trimmed[-1].isdigit():
        trimmed = trimmed[:-1]
    for words in dict.fromkeys((path, trimmed, singular(trimmed))):
        for start in range(max(0, len(words) - LONGEST_PHRASE), len(words)):
            yield " ".join(words[start:])
    for text in texts:
        words = words_of(text)
        for start in range(len(words)):
            for end in range(min(start + LONGEST_PHRASE, len(words)), start, -1):
                phrase = " ".join(words[start:end])
                if phrase in TELLING:
                    yield phrase
