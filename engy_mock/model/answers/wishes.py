"""What the words of a question ask for: which forms in which order, in which language, how long."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engy_mock.model.answers.material import snippets, tongues
from engy_mock.vocabulary.request import Tool

Shape = Literal[
    "prose", "list", "steps", "tasks", "table", "code", "links", "quote", "math", "emoji", "headings", "long"
]

MOST_SHAPES = 6
"""So many forms have room in one answer."""

_WORDS: tuple[tuple[Shape, str], ...] = (
    ("tasks", r"\b(check ?-?lists?|to-?do|task lists?)\b"),
    ("table", r"\b(tables?|tabular|spreadsheet|tabelle|tableau|tabla|tabella)\b|表格|表[でを]"),
    ("steps", r"\b(steps?|step[- ]by[- ]step|numbered|instructions|recipe|how (to|do i|can i|do you))\b"),
    ("list", r"(?<!check )(?<!task )\b(lists?|bullets?|listing|liste|lista)\b|リスト|列表"),
    ("code", r"\b(code|snippets?|scripts?|programs?|functions?|regex|source)\b|```"),
    ("links", r"\b(links?|urls?|references|citations|web ?sites?)\b"),
    ("quote", r"\b(quotes?|quotations?|block ?quotes?)\b"),
    ("math", r"\b(formulas?|formulae|equations?|latex|integrals?|derivatives?)\b"),
    ("emoji", r"\b(emojis?|emoticons?)\b"),
    ("headings", r"\b(headings?|headlines?|sections|outline|structured)\b"),
    ("long", r"\b(long|lengthy|detailed|in detail|thorough|comprehensive|essay|article|\d{3,} words)\b"),
)

SHAPES = tuple([(shape, re.compile(pattern, re.IGNORECASE)) for shape, pattern in _WORDS])
"""What words ask for which form."""

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
    found: list[tuple[int, Shape]] = []
    for shape, pattern in SHAPES:
        match = pattern.search(question)
        if match is not None:
            found.append((match.start(), shape))
    words = [word.lower() for word in _WORD.findall(question)]
    code = _code(words, is_named=any(shape == "code" for _, shape in found))
    if code is not None and not any(shape == "code" for _, shape in found):
        found.append((question.lower().find(code[0]), "code"))
    shapes = [shape for _, shape in sorted(found)]
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
    words = {word.lower() for word in _WORD.findall(question)}
    for tool in tools:
        parts = [part.lower() for word in re.split(r"[_\W]+", tool.name) for part in _HUMP.split(word)]
        if any(len(part) >= SHORTEST_WORD and part not in EVERYDAY and part in words for part in parts):
            return tool.name
    return None


def without_languages(question: str) -> str:
    """The question without the words that name languages of programs."""
    known = {word for snippet in snippets() for word in snippet.words}
    return " ".join([word for word in _WORD.findall(question) if word.lower() not in known])


def _code(words: Sequence[str], *, is_named: bool) -> tuple[str, str] | None:
    """The word that names a language of programs, and the language."""
    by_word = {word: snippet.name for snippet in snippets() for word in snippet.words}
    for word in words:
        if word in by_word and (is_named or word not in AMBIGUOUS):
            return word, by_word[word]
    return None


def _tongue(question: str, words: Sequence[str]) -> str | None:
    by_word = {word: tongue.name for tongue in tongues() for word in tongue.words}
    for word in words:
        if word in by_word:
            return by_word[word]
    if question.isascii():
        return None
    return next((name for name, pattern in SCRIPTS if pattern.search(question)), None)
