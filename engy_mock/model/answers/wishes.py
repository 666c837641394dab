"""What a question asks for: which forms in which order, in which languages, how long, and without what."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from engy_mock.model.answers.asking import Heard, heard
from engy_mock.model.answers.lexicon import Shape
from engy_mock.model.answers.naming import Named, forms, hints, languages
from engy_mock.model.answers.natives import asked_in_script, native, strong_words
from engy_mock.model.corpus import words_of

MOST_SHAPES = 6
"""So many forms have room in one answer."""

MOST_PROGRAMS = 4
"""So many languages of programs have room in one."""

MOST_READ = 2000
"""So many characters of a question are read for wishes, at its beginning and at its end; texts stand between."""

MIXTURE: tuple[Shape, ...] = ("headings", "list", "table", "code", "quote", "links")
"""What shows all of Markdown."""

_QUOTED = re.compile(
    r"""(?<!\w)(?:"[^"\n]*\s[^"\n]*"|'[^'\n]*\s[^'\n]*'|\u201c[^\u201d\n]*\s[^\u201d\n]*\u201d)(?!\w)"""
)
"""Several words between quotation marks: somebody else's, to be worked on."""

_FENCED = re.compile(r"```(\w*).*?(?:```|$)", re.DOTALL)
_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n+|[\u3002\uff01\uff1f]")
_TOKEN = re.compile(
    r"c\+\+|[cf]#|\d+(?:,\d{3})+|\w+(?:['\u2019]\w+)*|[,:()/\u2013\u2014\u2026\uff0c\u3001]", re.IGNORECASE
)

_STANDING = frozenset({"always", "answer", "reply", "respond", "speak", "never", "antworte", "please"})
"""With one of these begins what a system message asks of all answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a question asks for: forms in the order in which it names them, a language, those of programs.

    `words` is how long an answer is to be, `without` the forms that it must not have. The language is English only
    where that is asked for, or another one is refused.
    """

    shapes: tuple[Shape, ...] = ()
    tongue: str | None = None
    programs: tuple[str, ...] = ()
    words: int | None = None
    without: tuple[Shape, ...] = ()

    @property
    def is_for_more(self) -> bool:
        """It asks for more than plain sentences."""
        return bool(self.shapes) or self.tongue not in (None, "english")

    def beside(self, standing: "Wish | None") -> "Wish":
        """This wish, and what a standing one says where this one says nothing."""
        if standing is None:
            return self
        shapes = self.shapes or tuple(shape for shape in standing.shapes if shape not in self.without)
        return replace(
            self,
            shapes=shapes,
            tongue=self.tongue or standing.tongue,
            programs=self.programs or standing.programs,
            words=self.words or standing.words,
            without=self.without or tuple(shape for shape in standing.without if shape not in shapes),
        )


def wish_of(question: str) -> Wish | None:
    """What a question asks for or refuses; None if it asks for nothing but an answer."""
    is_plain = question.isascii() and "```" not in question
    if is_plain and _hints().isdisjoint(words_of(question)):
        return None
    if len(question) > 2 * MOST_READ:
        question = f"{question[:MOST_READ]}\n{question[-MOST_READ:]}"
    fenced = None if is_plain else _FENCED.search(question)
    text = question if fenced is None else _FENCED.sub("\n", question)
    text = _QUOTED.sub('""', text)
    found = [one for sentence in _SENTENCE.split(text) for one in _heard(sentence)]
    if fenced is not None and all(one.thing.name != "code" for one in found):
        found.append(Heard(Named("form", "code")))
        tag = languages().get(fenced.group(1).lower())
        found += [Heard(Named("code", tag))] if tag is not None else []
    tongue, shapes = asked_in_script(text)
    found += [Heard(Named("form", shape)) for shape in shapes]
    spoken = [one for one in found if one.thing.kind == "tongue"]
    asked = [one.thing.name for one in spoken if not one.is_refused]
    refused = [one.thing.name for one in spoken if one.is_refused]
    tongue = asked[-1] if asked else tongue or native(text, words_of(text))
    is_refused = bool(refused) and (tongue is None or tongue in refused)
    return _wish(found, "english" if is_refused else tongue)


def standing_wish_of(system: str) -> Wish | None:
    """What a system message asks of every answer: its sentences that begin with `always` or `answer`."""
    is_long = len(system) > 2 * MOST_READ
    return _standing(f"{system[:MOST_READ]}\n{system[-MOST_READ:]}" if is_long else system)


def subject_of(question: str) -> str:
    """The question without the words that name forms and languages of programs."""
    return " ".join([word for word in words_of(question) if word not in forms() and word not in languages()])


@lru_cache(maxsize=64)
def _standing(system: str) -> Wish | None:
    kept = [one for one in _SENTENCE.split(system) if not _STANDING.isdisjoint(words_of(one)[:1])]
    return wish_of("\n".join(kept)) if kept else None


@lru_cache(maxsize=1)
def _hints() -> frozenset[str]:
    return frozenset((*hints(), *strong_words()))


def _heard(sentence: str) -> Collection[Heard]:
    originals = [token.replace("\u2019", "'") for token in _TOKEN.findall(sentence)]
    words = [token.lower() if token[0].isalnum() or token[0] == "_" else "," for token in originals]
    return list(heard(words, originals)) if words else ()


def _wish(found: list[Heard], tongue: str | None) -> Wish | None:
    """The wish that it makes: what is said last about a form counts, its place is where it came up first."""
    if any(one.thing.kind == "form" and not (one.is_refused or one.is_verb) for one in found):
        found = [one for one in found if not one.is_verb]  # `list the ships in a table` wants a table
    states: dict[str, bool] = {}
    programs: dict[str, bool] = {}
    words = None
    for one in found:
        thing = one.thing
        if thing.kind == "words":
            states["long"], words = one.is_refused, None if one.is_refused else thing.count
        elif thing.kind == "form":
            states[thing.name] = one.is_refused
        elif thing.kind == "code":
            programs[thing.name] = one.is_refused
            if not one.is_refused:
                states.setdefault("code", False)
    is_markdown = states.pop("markdown", True) is False
    shapes = [cast(Shape, name) for name, is_refused in states.items() if not is_refused]
    without = tuple([cast(Shape, name) for name, is_refused in states.items() if is_refused])
    if is_markdown and not shapes:
        shapes = [shape for shape in MIXTURE if shape not in without]
    if not (shapes or without or tongue is not None):
        return None
    wanted = [name for name, is_refused in programs.items() if not is_refused][:MOST_PROGRAMS]
    return Wish(
        shapes=tuple(shapes[:MOST_SHAPES]),
        tongue=tongue,
        programs=tuple(wanted) if "code" in shapes else (),
        words=words,
        without=without,
    )
