"""What the words of a question ask for: which forms in which order, in which language, how long."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engy_mock.model.answers.material import snippets, tongues
from engy_mock.vocabulary.request import Tool

Shape = Literal[
    "prose", "list", "steps", "tasks", "table", "code", "links", "quote", "math", "emoji", "headings", "long"
]

MOST_SHAPES = 6
"""So many forms have room in one answer."""

_PHRASES: Mapping[Shape, str] = {
    "tasks": "check list, task list, to do",
    "table": "table, tabular, spreadsheet, tabelle, tableau, tabla, tabella",
    "steps": "step, step by step, numbered, instruction, recipe, how to, how do i, how can i, how do you",
    "list": "list, bullet, listing, liste, lista",
    "code": "code, snippet, script, program, function, regex, source",
    "links": "link, url, reference, citation, web site",
    "quote": "quote, quotation, block quote",
    "math": "formula, formulae, equation, latex, integral, derivative",
    "emoji": "emoji, emoticon",
    "headings": "heading, headline, section, outline, structured",
    "long": "lengthy, detailed, in detail, thorough, comprehensive, essay, article",
}
"""What asks for a form, also with an s at its end; a space may be a hyphen, or nothing."""

_OTHER: Mapping[Shape, str] = {
    "table": "表格|表[でを]",
    "list": "リスト|列表",
    "code": "```",
    "long": r"\b\d{3,} words\b",
}
"""What else asks for one."""


def _pattern(shape: Shape, phrases: str) -> re.Pattern[str]:
    either = "|".join(phrases.split(", ")).replace(" ", "[ -]?")
    return re.compile("|".join([rf"\b(?:{either})s?\b", *filter(None, [_OTHER.get(shape)])]), re.IGNORECASE)


SHAPES: Mapping[Shape, re.Pattern[str]] = {shape: _pattern(shape, some) for shape, some in _PHRASES.items()}
"""What words ask for which form."""


def _hints() -> Iterator[tuple[str, Shape]]:
    """Words with which what asks for a form may begin, if it is of letters and in English."""
    for shape, phrases in _PHRASES.items():
        for phrase in phrases.split(", "):
            for word in (*phrase.split()[:2], phrase.replace(" ", "")):
                yield from ((word, shape), (f"{word}s", shape))
    yield "words", "long"


_HINTED: Mapping[str, frozenset[Shape]] = {
    word: frozenset([shape for other, shape in _hints() if other == word]) for word, _ in _hints()
}
"""The forms that may be meant where a word stands: a question without such a word asks for none."""

_TELLING = frozenset(
    {"answer", "compose", "draft", "generate", "give", "make", "need", "say", "tell", "want", "write"}
)
_FEW = 5
"""A river may be long: a long answer is wanted where so few words before it one is asked for."""

MARKDOWN = re.compile(r"\b(markdown|formatted|formatting|rich text)\b", re.IGNORECASE)
MIXTURE: tuple[Shape, ...] = ("headings", "list", "table", "code", "quote", "links")
"""What shows all of Markdown."""

AMBIGUOUS = frozenset(
    {"c", "go", "sh", "command", "shell", "terminal", "node", "react", "java", "patch", "markup"}
)
"""Words that name a language only beside another word of programming."""

SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("japanese", re.compile("[\u3040-\u30ff]")),
    ("korean", re.compile("[\uac00-\ud7a3]")),
    ("chinese", re.compile("[\u4e00-\u9fff]")),
    ("ukrainian", re.compile("[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]")),
    ("russian", re.compile("[\u0400-\u04ff]")),
    ("greek", re.compile("[\u0370-\u03ff]{3}")),
    ("hebrew", re.compile("[\u0590-\u05ff]{2}")),
    ("arabic", re.compile("[\u0600-\u06ff]{2}")),
    ("hindi", re.compile("[\u0900-\u097f]{2}")),
    ("thai", re.compile("[\u0e00-\u0e7f]{2}")),
)
"""Who writes in a script gets an answer in it; the first that fits counts."""

_WORD = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
SHORTEST_WORD = 4
EVERYDAY = frozenset(
    {"make", "find", "list", "show", "call", "tool", "with", "from", "that", "this", "what", "data"}
)
"""Words of a tool's name that say nothing about what it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a question asks for: forms in the order in which it names them, a language, one of programs."""

    shapes: tuple[Shape, ...] = ()
    tongue: str | None = None
    code: str | None = None


def wish_of(question: str) -> Wish | None:
    """What a question asks for; None if it asks for nothing but an answer."""
    words = [word.lower() for word in _WORD.findall(question)]
    found = _forms(question, words)
    code = _code(words, is_named="code" in found)
    if code is not None:
        found.setdefault("code", question.lower().find(code[0]))
    shapes = [shape for _, shape in sorted([(place, shape) for shape, place in found.items()])]
    if not shapes and MARKDOWN.search(question):
        shapes = list(MIXTURE)
    tongue = _tongue(question, words)
    if not shapes and tongue is None:
        return None
    return Wish(
        shapes=tuple(shapes[:MOST_SHAPES]),
        tongue=tongue,
        code=None if code is None else code[1],
    )


def tool_meant(question: str, tools: Sequence[Tool]) -> str | None:
    """The first tool whose name has a word of the question."""
    words = {word.lower() for word in _WORD.findall(question)} if tools else set[str]()
    for tool in tools:
        parts = [part.lower() for word in re.split(r"[_\W]+", tool.name) for part in _HUMP.split(word)]
        if any(len(part) >= SHORTEST_WORD and part not in EVERYDAY and part in words for part in parts):
            return tool.name
    return None


def without_languages(question: str) -> str:
    """The question without the words that name languages of programs."""
    known = _languages()
    return " ".join([word for word in _WORD.findall(question) if word.lower() not in known])


def _forms(question: str, words: Sequence[str]) -> dict[Shape, int]:
    """The forms that are named, each with its place; a check list is no list."""
    hinted: Iterable[Shape] = SHAPES
    if question.isascii() and "`" not in question:
        hinted = {shape for word in words if word in _HINTED for shape in _HINTED[word]}
    spans = {shape: [match.span() for match in SHAPES[shape].finditer(question)] for shape in hinted}
    found: dict[Shape, int] = {}
    for shape, own in spans.items():
        wider = [span for other, others in spans.items() if other != shape for span in others]
        places = [
            begin
            for begin, end in own
            if not any(first <= begin and end <= last and last - first > end - begin for first, last in wider)
        ]
        if places:
            found[shape] = places[0]
    for place, word in enumerate(words):
        before = words[max(0, place - _FEW) : place] if word in ("long", "longer") else ()
        if before and before[-1] != "how" and not _TELLING.isdisjoint(before):
            found.setdefault("long", question.lower().find(word))
    return found


def _code(words: Sequence[str], *, is_named: bool) -> tuple[str, str] | None:
    """The word that names a language of programs, and the language."""
    by_word = _languages()
    for word in words:
        if word in by_word and (is_named or word not in AMBIGUOUS):
            return word, by_word[word]
    return None


def _tongue(question: str, words: Sequence[str]) -> str | None:
    by_word = _tongues()
    for word in words:
        if word in by_word:
            return by_word[word]
    if question.isascii():
        return None
    return next((name for name, pattern in SCRIPTS if pattern.search(question)), None)


@lru_cache(maxsize=1)
def _languages() -> Mapping[str, str]:
    """Languages of programs by the words that name them."""
    return {word: snippet.name for snippet in snippets() for word in snippet.words}


@lru_cache(maxsize=1)
def _tongues() -> Mapping[str, str]:
    """Languages of people by the words that name them."""
    return {word: tongue.name for tongue in tongues() for word in tongue.words}
