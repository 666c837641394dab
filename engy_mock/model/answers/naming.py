"""What the words of a question name that could be asked for: forms, languages, lengths."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engy_mock.model.answers import lexicon
from engy_mock.model.answers.material import snippets, strangers, tongues

AMBIGUOUS = lexicon.bag(
    "c go sh command shell terminal node react java patch markup rust swift ruby r dart julia elixir rails"
)
"""Words that name a language of programs only with a capital letter, or beside another word of programming."""

LONGEST_NUMBER = 6
"""So many words make up a number."""

_NUMBER = re.compile(r"\d+(?:,\d{3})*k?")


@dataclass(frozen=True, slots=True)
class Named:
    """A thing, and how many words name it; `count` is that of `500 words`."""

    kind: Literal["form", "code", "tongue", "words"]
    name: str
    size: int = 1
    count: int = 0


def named(words: Sequence[str], place: int) -> Named | None:
    """What the words from this place on name."""
    word = words[place]
    if word in lexicon.NUMBERS or word[0].isdigit():
        return _length(words, place)
    for phrase, form in forms().get(word, ()):
        if tuple(words[place : place + len(phrase)]) == phrase:
            return Named("form", form, len(phrase))
    if word in lexicon.EXTENSIVE:
        is_of_a_text = not lexicon.TEXTS.isdisjoint(words[place + 1 : place + 3])
        is_of_it = place > 0 and words[place - 1] in lexicon.IT
        return Named("form", "long") if is_of_a_text or is_of_it else None
    if word in languages():
        return Named("code", languages()[word])
    if word in speeches():
        return Named("tongue", speeches()[word])
    return None


@lru_cache(maxsize=1)
def forms() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """What forms are called, by the first word, the longest name first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for form, names in lexicon.FORMS.items():
        for name in names.split(", "):
            for spelling in dict.fromkeys((name, name if name == "code" or name.endswith("s") else f"{name}s")):
                first, *rest = spelling.split()
                found.setdefault(first, []).append(((first, *rest), form))
    return {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in found.items()}


@lru_cache(maxsize=1)
def languages() -> Mapping[str, str]:
    """Languages of programs by the words that name them; those there is no program in, too."""
    known = {word: snippet.name for snippet in snippets() for word in snippet.words}
    return {word: stranger for stranger, words in strangers().items() for word in words} | known


@lru_cache(maxsize=1)
def speeches() -> Mapping[str, str]:
    """Languages of people by the words that name them."""
    english = dict.fromkeys(("english", "englisch", "anglais", "inglés", "inglese"), "english")
    return {word: tongue.name for tongue in tongues() for word in tongue.words} | english


def hints() -> Iterator[str]:
    """Words without one of which nothing can be asked for."""
    yield from (*forms(), *languages(), *speeches(), *lexicon.EXTENSIVE, *lexicon.IMPERATIVES)
    yield from ("word", "words", "how", "longer")


def _length(words: Sequence[str], place: int) -> Named | None:
    """`1000 words`, `two thousand words`, `2k-word`."""
    count, last = 0, place
    if words[place] == "a" and words[place + 1 : place + 2] not in (["hundred"], ["thousand"]):
        return None
    while last < min(len(words), place + LONGEST_NUMBER) and (
        words[last] in lexicon.NUMBERS or _NUMBER.fullmatch(words[last])
    ):
        number = lexicon.NUMBERS.get(words[last])
        if number is None:
            number = int(words[last].replace(",", "").rstrip("k")[:6]) * (1000 if words[last][-1] == "k" else 1)
        count = max(count, 1) * number if number in (100, 1000) else count + number
        last += 1
    if last < len(words) and words[last] in ("word", "words") and count:
        return Named("words", "words", last + 1 - place, count)
    return None
