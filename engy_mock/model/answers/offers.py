"""Which of the offered tools a question means, and the place that it names for one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from engy_mock.model.answers.lexicon import ASKING_FOR_FACTS, DENIALS, bag
from engy_mock.model.corpus import words_of
from engy_mock.vocabulary.request import Tool

FETCHING = bag(
    "get set list search find show fetch read look lookup query check use call run do make tool function api by "
    "for to from the of in and with a all current latest new my load retrieve tell"
)
"""Words of a tool's name that say nothing about what it is for."""

DOING = bag("send create write update delete remove add post save cancel move submit upload")
"""Nor do these; but a mere question for facts means no such tool, unless it has the word."""

COMMON = bag(
    "time times user users data name names day date info information number id value item today now thing word "
    "state status type object result"
)
"""One of these is in too many questions: it counts beside another word of the name, or right behind `what`."""

PLACES = frozenset({"city", "town", "location", "place"})
"""Arguments that name a place."""

_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n+")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACE = re.compile(r"\b(?:in|for|to|at|near|around)\s+([^\W\d_]+(?:[ -][^\W\d_]+){0,2})")
_NO_PLACES = bag(
    "i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december celsius fahrenheit english german french spanish christmas"
)


def tool_meant(question: str, tools: Sequence[Tool]) -> str | None:
    """The first tool all of whose telling words stand in one sentence that denies none of them."""
    if not tools:
        return None
    sentences = [words for words in map(words_of, _SENTENCE.split(question)) if words]
    for tool in tools:
        doing, telling = _telling(tool.name)
        if any(_is_meant(words, doing, telling) for words in sentences):
            return tool.name
    return None


def with_place(tool: Tool, question: str) -> Tool:
    """The tool with the place that a question names as the only one, where a plain text of the tool takes one."""
    parameters = tool.parameters
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    place = _place(question)
    if parameters is None or place is None or not isinstance(properties, Mapping):
        return tool
    name = next((name for name, schema in properties.items() if name in PLACES and _is_plain(schema)), None)
    required = parameters.get("required", [])
    if name is None or not isinstance(required, list):
        return tool
    settled = {**properties, name: {**properties[name], "enum": [place]}}
    required = required if name in required else [*required, name]
    return replace(tool, parameters={**parameters, "properties": settled, "required": required})


@lru_cache(maxsize=256)
def _telling(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The verbs of doing in a tool's name, and the words that say what it is for."""
    parts = [part.lower() for word in _PART.findall(name) for part in _HUMP.split(word)]
    doing = tuple([part for part in parts if part in DOING])
    telling = tuple([part for part in parts if part not in FETCHING and part not in DOING])
    return doing, telling


def _is_meant(words: Sequence[str], doing: Sequence[str], telling: Sequence[str]) -> bool:
    known = set(words)
    if not telling or not all(part in known or _other_number(part) in known for part in telling):
        return False
    if (
        len(telling) == 1
        and (telling[0] in COMMON or len(telling[0]) < 3)
        and not _is_asked_for(words, telling[0])
    ):
        return False
    if doing and words[0] in ASKING_FOR_FACTS and known.isdisjoint(doing):
        return False
    return not _is_denied(words, telling)


def _is_asked_for(words: Sequence[str], word: str) -> bool:
    """`what time`, `which user`, `what is the date`."""
    place = words.index(word) if word in words else 0
    before = words[max(0, place - 3) : place]
    return before[-1:] in (["what"], ["which"]) or before in (["what", "is", "the"], ["what", "s", "the"])


def _is_denied(words: Sequence[str], telling: Sequence[str]) -> bool:
    """Something before the last of them says no: `do not send any email`."""
    denials = DENIALS | {"don", "doesn", "didn", "won"}
    for place, word in enumerate(words):
        if word in denials and words[place + 1 : place + 2] != ["you"]:
            return any(part in words[place:] or _other_number(part) in words[place:] for part in telling)
    return False


def _other_number(word: str) -> str:
    return word[:-1] if word.endswith("s") else f"{word}s"


def _place(question: str) -> str | None:
    """The first words with capital letters behind `in`, `for`, `to` or `at`."""
    for match in _PLACE.finditer(question):
        words = []
        for word in re.split(r"[ -]", match.group(1)):
            if not word[:1].isupper() or word.lower() in _NO_PLACES:
                break
            words.append(word)
        if words:
            return match.group(1)[: sum(map(len, words)) + len(words) - 1]
    return None


def _is_plain(schema: object) -> bool:
    """A text that may be any."""
    return (
        isinstance(schema, Mapping)
        and schema.get("type") == "string"
        and schema.keys() <= {"type", "title", "description", "examples"}
    )
