"""What answers worth rendering are made of: sentences in many languages, and short programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Tongue:
    """A language: the words that name it, a heading, a line that opens an answer, and sentences.

    By `strong` words a text in it is known, `weak` ones and `letters` only speak for it.
    """

    name: str
    words: tuple[str, ...]
    title: str
    opening: str
    sentences: tuple[str, ...]
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    letters: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A short program; `NOUN`, `Noun` and `NUMBER` stand for what it is about."""

    name: str
    words: tuple[str, ...]
    text: str

    def about(self, noun: str, number: int) -> str:
        """The program about this."""
        return self.text.replace("NOUN", noun).replace("Noun", noun.capitalize()).replace("NUMBER", str(number))


@lru_cache(maxsize=1)
def tongues() -> tuple[Tongue, ...]:
    """The languages that come with the package."""
    found: list[Tongue] = []
    for name, words, lines in _blocks("tongues.txt", "@tongue "):
        title, opening, *sentences = [line for line in lines if line and line[0] not in "+-~"]
        strong, weak, letters = (_marked(lines, mark) for mark in "+-~")
        found.append(
            Tongue(
                name=name,
                words=words,
                title=title,
                opening=opening,
                sentences=tuple(sentences),
                strong=strong,
                weak=weak,
                letters="".join(letters),
            )
        )
    return tuple(found)


@lru_cache(maxsize=1)
def snippets() -> tuple[Snippet, ...]:
    """The programs that come with the package."""
    return tuple(
        Snippet(name=name, words=words, text="\n".join(lines).strip("\n"))
        for name, words, lines in _blocks("snippets.txt", "@code ")
    )


@lru_cache(maxsize=1)
def strangers() -> Mapping[str, tuple[str, ...]]:
    """Languages of programs in which there is none, by their names, with the words for them."""
    return {name: words for name, words, _ in _blocks("snippets.txt", "@none ")}


def _marked(lines: Sequence[str], mark: str) -> tuple[str, ...]:
    """The words of the lines that begin with a mark."""
    return tuple([word for line in lines if line.startswith(mark) for word in line[1:].split()])


def _blocks(file: str, mark: str) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """The blocks of a file that begin with `@kind NAME: word, word`; what stands before the first is a comment."""
    text = files("engy_mock.model").joinpath("data", "corpus", file).read_text(encoding="utf-8")
    found: list[tuple[str, tuple[str, ...], list[str]]] = []
    for line in text.splitlines():
        if line.startswith(mark):
            name, _, words = line.removeprefix(mark).partition(":")
            found.append((name, tuple([word.strip() for word in words.split(",")]), []))
        elif found:
            found[-1][2].append(line)
    return found
