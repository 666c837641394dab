"""The one function behind every token: P(next token | model, context tokens).

A `Reader` walks over the tokens of a context. At the border of a sentence it expects one of a few sentences of
the corpus, chosen by a digest of what it has read; within a sentence it expects that sentence to go on; where
the text goes its own way it follows the place in the corpus that looks most like it, over a back-off model of
word statistics. What it expects depends on earlier tokens only, so a text scored whole, in windows, or while
it is written has the same numbers.
"""

from collections.abc import Sequence
from copy import copy
from hashlib import blake2b
from typing import TYPE_CHECKING, Self
from zlib import crc32

from engy_mock.model.agenda import SHARES, Agenda, Mode, drawn_up
from engy_mock.model.corpus import Topic
from engy_mock.model.distribution import Distribution, mixed
from engy_mock.model.phrases import Node, packed
from engy_mock.model.statistics import Triple
from engy_mock.model.turns import Turns

if TYPE_CHECKING:
    from engy_mock.model.language import Language

FOLLOWING = (0.35, 0.75, 0.9, 0.96)
"""How sure the model is of a place in the corpus after so many tokens that agreed with it."""

RESTART = 4096
"""A text without marks is read afresh after so many tokens, so that long prompts start quickly."""

PATIENCE = 256
"""After so many tokens that went their own way the end of a sentence is likely to be the end of the text."""

LEAVING = 0.9
"""How likely the end of the text is there."""

_QUESTION = 96


Expected = tuple[Node, int, float]
"""A sentence that may go on: its node, the place in the node's run, and its weight."""


class Reader:
    """What the model expects after the tokens that it has read; `advance` reads one more."""

    __slots__ = (
        "_active",
        "_agenda",
        "_agreed",
        "_ahead",
        "_anchor",
        "_hash",
        "_hashed",
        "_is_border",
        "_mode",
        "_own",
        "_place",
        "_sentences",
        "_strayed",
        "_sum",
        "_summed",
        "_topic",
        "_topics",
        "_turns",
        "_wanted",
        "before",
        "language",
        "last",
        "tokens",
    )

    _active: tuple[Expected, ...] | None
    _agenda: Agenda | None
    _ahead: list[tuple[int, Node, int, float]] | None
    _agreed: int
    _is_border: bool
    _mode: Mode
    _own: int
    _place: int
    _sentences: int
    _strayed: int
    _sum: int
    _topic: Topic | None
    _wanted: int
    before: int
    last: int

    def __init__(self, language: "Language", tokens: Sequence[int]) -> None:
        self.language = language
        self._hash = blake2b(key=language.key, digest_size=32)
        self._hashed = 0
        self._turns = Turns(language.user, language.effort)
        self._topics: dict[tuple[int, int], Topic] = {}
        anchor = self._turns.note_all(tokens, language.marks, RESTART)
        self.tokens = list(tokens)
        del self.tokens[anchor + 1 :]
        self._settle(anchor)
        for token in tokens[anchor + 1 :]:
            self.advance(token)

    def copy(self) -> Self:
        """A reader that has read the same, and goes its own way from here."""
        other = object.__new__(type(self))
        for name in Reader.__slots__:
            setattr(other, name, getattr(self, name))
        other.tokens = self.tokens[:]
        other._topics = dict(self._topics)
        other._turns = copy(self._turns)
        other._hash = self._hash.copy()
        return other

    @property
    def triple(self) -> Triple:
        """What the corpus alone says about the next token."""
        return self.language.statistics.after(self.before, self.last)

    def distribution(self) -> Distribution:
        """The chance of every token to come next."""
        return mixed(self.triple, self.expected())

    def expected(self) -> dict[int, float]:
        """The tokens that stand out, with their exact chances; together less than 1."""
        ahead = self._next() if self._is_border or self._active is not None else None
        certainty = self.language.voice.certainty
        special: dict[int, float] = {}
        if self._is_border and 0 < self._wanted <= self._own:
            special[self._closer()] = certainty
            certainty = (1.0 - certainty) * certainty
        if ahead:
            for token, _, _, weight in ahead:
                special[token] = special.get(token, 0.0) + certainty * weight
        elif self._place >= 0:
            text = self.language.statistics.ngrams.text
            agreed, following = self._agreed, self.language.following
            special[text[self._place]] = following[agreed] if agreed < len(following) else following[-1]
        if self._is_border and self._strayed >= PATIENCE:
            special = {token: (1.0 - LEAVING) * p for token, p in special.items()}
            closer = self._closer()
            special[closer] = special.get(closer, 0.0) + LEAVING
        return special

    def advance(self, token: int) -> None:
        """Read one more token."""
        language = self.language
        place = len(self.tokens)
        if token in language.anchors or place - self._anchor >= RESTART:
            self.tokens.append(token)
            self._settle(place)
            return
        is_blank = self._is_border and token in language.blanks
        # What is expected is settled before the token is read, whether anybody has asked for it or not.
        ahead = self._next() if not is_blank and (self._is_border or self._active is not None) else None
        self.tokens.append(token)
        self.before, self.last = self.last, token
        if is_blank:
            self._active = self._ahead = None
            return
        if token == language.effort:
            self._turns.effort_at = place
        self._is_border = False
        if ahead:
            if self._go_on(token, ahead):
                return
            self._active = None
            self._place = -1
        self._ahead = None
        self._follow(token)

    def _go_on(self, token: int, ahead: list[tuple[int, Node, int, float]]) -> bool:
        """Keep to the sentences that expected this token; False if none did."""
        self._ahead = None
        kept = [(node, at + 1, weight) for own, node, at, weight in ahead if own == token]
        if len(kept) == 1:
            node, at, _ = kept[0]
            self._active = ((node, at, 1.0),)
        else:
            total = sum([weight for _, _, weight in kept])
            self._active = tuple([(node, at, weight / total) for node, at, weight in kept])
        for node, at, _ in kept:
            if at == len(node.run) and not node.branches:
                self._close_sentence(is_own=True, is_fact=self._is_fact())
                break
        return bool(kept)

    def _is_fact(self) -> bool:
        return self._topic is not None and self._topic.is_closing

    def _follow(self, token: int) -> None:
        """Off the expected sentences: keep to the place in the corpus that agrees, or look for another."""
        language = self.language
        ngrams = language.statistics.ngrams
        text = ngrams.text
        if self._place >= 0 and text[self._place] == token:
            self._place += 1
            self._agreed += 1
        else:
            self._place = language.statistics.after(self.before, token).place
            self._agreed = 0
            self._strayed += 1
        place = self._place
        at_end = place >= 0 and text[place] == ngrams.size
        if token in language.finals or at_end:
            is_own = at_end and self._agreed >= 2
            self._close_sentence(is_own=is_own, is_fact=is_own and place >= ngrams.closing_from)

    def _close_sentence(self, *, is_own: bool, is_fact: bool) -> None:
        """A border: count the sentence, and let the next one be planned when it is asked for."""
        self._sentences += 1
        if is_own:
            self._own += 1
            if is_fact:
                self._wanted = self._own
        self._is_border = True
        self._active = self._ahead = None
        self._place = -1
        self._agreed = 0

    def _next(self) -> list[tuple[int, Node, int, float]]:
        """What each active sentence expects: token, its node, its place there, weight."""
        found = self._ahead
        if found is None:
            if self._active is None and self._is_border:
                self._active = fresh(self._plan())
            found = []
            for node, at, weight in self._active or ():
                if at < len(node.run):
                    found.append((node.run[at], node, at, weight))
                else:
                    found += [(branch.run[0], branch, 0, weight * share) for share, branch in node.branches]
            self._ahead = found
        return found

    def _closer(self) -> int:
        return self.language.think_end if self._mode == "think" else self.language.end

    def _settle(self, place: int) -> None:
        """Begin afresh at this anchor (-1: before the first token), from the tokens up to it alone."""
        language = self.language
        tokens = self.tokens
        self._anchor = place
        self.last = tokens[place] if place >= 0 else -1
        self.before = tokens[place - 1] if place > 0 else -1
        self._active = self._ahead = None
        self._place = -1
        self._agreed = self._strayed = self._own = self._sentences = 0
        self._is_border = True
        self._sum = self._wanted = 0
        self._summed = max(place, 0)
        self._topic = None
        self._agenda = None
        mark = self.last
        if mark in language.anchors:
            self._turns.note(place, mark)
        self._mode = "raw"
        if mark in (language.think, language.think_end, language.assistant):
            self._mode = "think" if mark == language.think else "say"
            self._topic = self._asked_topic(place)
            self._open_section(self._topic)

    def _asked_topic(self, place: int) -> Topic:
        """What the question is about that the answer at this place belongs to."""
        language, question = self.language, self._turns.question
        found = self._topics.get(question)
        if found is None:
            corpus = language.corpus
            found = corpus.topic(self._turns.asked(self.tokens, place, language.tokenizer)) or corpus.general
            if question[0] < question[1]:
                self._topics[question] = found
        return found

    def _open_section(self, topic: Topic) -> None:
        """Settle what is going to be said, from a digest of everything up to here."""
        language = self.language
        self._agenda = drawn_up(
            self._mode,
            topic,
            language.corpus.general,
            order=self._digest(),
            level=self._turns.level(self.tokens, language.tokenizer),
            sentences=language.voice.sentences,
        )
        self._wanted = self._agenda.wanted
        self._sentences = 0

    def _mixed_up(self) -> int:
        """A number that stands for every token since the anchor; cheap, for one border of a sentence."""
        self._sum = crc32(packed(self.tokens[self._summed :]), self._sum)
        self._summed = len(self.tokens)
        return self._sum

    def _digest(self) -> bytes:
        """A digest of every token read so far."""
        if self._hashed < len(self.tokens):
            self._hash.update(packed(self.tokens[self._hashed :]))
            self._hashed = len(self.tokens)
        return self._hash.digest()

    def _is_spaced(self) -> bool:
        """Whether a sentence that begins here has a space before it."""
        last = self.tokens[-1] if self.tokens else -1
        language = self.language
        return last >= 0 and last not in language.marks and not language.tokenizer.raw[last][-1:].isspace()

    def _plan(self) -> list[Node]:
        """The sentences that may come next, at most three, likeliest first."""
        language = self.language
        if self._mode == "raw" and self._own == 0:
            # What the text is about is asked anew until a sentence of the corpus has been said.
            start = max(self._anchor + 1, len(self.tokens) - _QUESTION)
            topic = language.corpus.topic(language.tokenizer.decode(self.tokens[start:]))
            self._topic = None if topic is None or topic.is_closing else topic
            self._open_section(self._topic or language.corpus.general)
        if self._agenda is None:
            self._open_section(language.corpus.general)
        assert self._agenda is not None
        nodes_of = language.phrases.nodes_of(is_spaced=self._is_spaced())
        nodes = nodes_of(self._agenda.candidates(self._sentences))
        if len(nodes) > 1:
            shift = (self._mixed_up() >> 8) % len(nodes)
            nodes = nodes[shift:] + nodes[:shift]
        return nodes


def fresh(nodes: Sequence[Node]) -> tuple[Expected, ...]:
    """So many sentences, none of which has begun."""
    return tuple([(node, 0, weight) for node, weight in zip(nodes, SHARES[len(nodes)], strict=True)])
