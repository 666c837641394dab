"""What the pretend model has read: topics with their sentences, and facts, from the package's own text.

Sentences may offer choices, `[a|b|c]`, at word borders; how the files are written is told in `read`.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from engy_mock.vocabulary.errors import MockError

_FILES = ("daily.txt", "craft.txt", "work.txt", "general.txt", "facts.txt")
_WORD = re.compile(r"[^\W_]+")
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
_SEGMENT = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Sentences that can stand in any order; `reasoning` begins with the one that names the question.

    A closing topic is a fact: its one sentence is the whole answer.
    """

    name: str
    reasoning: tuple[str, ...]
    sentences: tuple[str, ...]
    is_closing: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A topic that is chosen when all these words stand in the question; `key` is the rarest of them."""

    key: str
    words: frozenset[str]
    topic: Topic


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """All topics, how the words of a question lead to them, and what is said when nothing leads anywhere."""

    topics: tuple[Topic, ...]
    general: Topic
    by_word: dict[str, Topic]
    facts: tuple[Fact, ...]
    facts_by_key: dict[str, tuple[Fact, ...]]

    def topic(self, question: str) -> Topic | None:
        """What a question is about: a fact, else the topic that its words name most often, else None."""
        words = words_of(question)
        telling = list(filter(self.telling_words.__contains__, words))
        known: frozenset[str] = frozenset()
        for facts in filter(None, map(self.facts_by_key.get, telling)):
            known = known or frozenset(words)
            for fact in facts:
                if fact.words <= known:
                    return fact.topic
        best: Topic | None = None
        counts: dict[str, int] = {}
        for topic in filter(None, map(self.by_word.get, telling)):
            counts[topic.name] = counts.get(topic.name, 0) + 1
            if best is None or counts[topic.name] > counts[best.name]:
                best = topic
        return best

    @cached_property
    def telling_words(self) -> frozenset[str]:
        """The words that can lead to a topic or a fact."""
        return frozenset((*self.by_word, *self.facts_by_key))

    def all_sentences(self) -> list[str]:
        """Every sentence with its choices, reasoning included, facts last."""
        found = [s for t in (*self.topics, self.general) for s in (*t.reasoning, *t.sentences)]
        return found + [s for fact in self.facts for s in (*fact.topic.reasoning, *fact.topic.sentences)]


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; plain text takes the quick way to the same."""
    return text.translate(_ASCII_WORDS).split() if text.isascii() else _WORD.findall(text.lower())


@lru_cache(maxsize=1)
def bundled() -> Corpus:
    """The corpus that comes with the package."""
    folder = files("engy_mock.model").joinpath("data", "corpus")
    return read("\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES))


def read(text: str) -> Corpus:
    """Read corpus text; raises MockError that names the line.

    `@topic NAME: word, ...` opens a topic, `@topic *:` the one for everything else; `? ` begins a line of
    reasoning, any other line is a sentence of the answer. `@facts NAME: word, {a}` opens a family of facts
    with one line of reasoning and one of answer, then rows `= a / b`.
    """
    blocks: list[tuple[str, list[str]]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            blocks.append((line, []))
        elif not blocks:
            raise MockError(f"corpus line {number}: {line!r} stands before the first @topic")
        else:
            blocks[-1][1].append(line)
    topics: list[Topic] = []
    general: Topic | None = None
    by_word: dict[str, Topic] = {}
    facts: list[Fact] = []
    for header, lines in blocks:
        kind, _, rest = header.partition(" ")
        name, _, keywords = rest.partition(":")
        words = [word.strip() for word in keywords.split(",") if word.strip()]
        if kind == "@facts":
            facts += _facts(name, words, lines)
            continue
        topic = Topic(
            name=name,
            reasoning=tuple(line[2:] for line in lines if line.startswith("? ")),
            sentences=tuple(line for line in lines if not line.startswith("? ")),
        )
        if name == "*":
            general = topic
            continue
        topics.append(topic)
        for word in words:
            by_word.setdefault(word, topic)
    if general is None:
        raise MockError("corpus: no '@topic *:' for questions about anything else")
    by_key: dict[str, tuple[Fact, ...]] = {}
    for fact in facts:
        by_key[fact.key] = (*by_key.get(fact.key, ()), fact)
    return Corpus(
        topics=tuple(topics),
        general=general,
        by_word=by_word,
        facts=tuple(facts),
        facts_by_key=by_key,
    )


def _facts(name: str, keywords: list[str], lines: list[str]) -> list[Fact]:
    """One closing topic for each row of a family."""
    reasoning, answer = lines[0].removeprefix("? "), lines[1]
    common = frozenset(word for word in keywords if word != "{a}")
    facts = []
    for row in lines[2:]:
        a, _, b = row.removeprefix("= ").partition(" / ")
        topic = Topic(
            name=f"{name} {a}",
            reasoning=(reasoning.replace("{a}", a),),
            sentences=(answer.replace("{a}", a).replace("{b}", b),),
            is_closing=True,
        )
        own = _WORD.findall(a.lower())
        facts.append(Fact(own[-1], common | frozenset(own), topic))
    return facts


def segments(sentence: str) -> list[tuple[str, ...]]:
    """A sentence as parts in order: a part of one text stands as it is, one of several is a choice."""
    parts: list[tuple[str, ...]] = []
    place = 0
    for match in _SEGMENT.finditer(sentence):
        if match.start() > place:
            parts.append((sentence[place : match.start()],))
        parts.append(tuple(match.group(1).split("|")))
        place = match.end()
    if place < len(sentence):
        parts.append((sentence[place:],))
    return parts


def readings(sentence: str) -> list[str]:
    """As many readings of a sentence as its widest choice has options, each option used at least once."""
    parts = segments(sentence)
    width = max(map(len, parts))
    return ["".join(part[turn % len(part)] for part in parts) for turn in range(width)]
