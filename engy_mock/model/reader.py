"""The one function behind every token: P(next token | model, context tokens).

A `Reader` walks over the tokens of a context. At the border of a sentence it expects one of a few sentences of
the corpus, chosen by a digest of what it has read; within a sentence it expects that sentence to go on; where
the text goes its own way it follows the place in the corpus that looks most like it, over a back-off model of
word statistics. What it expects depends on earlier tokens only, so a text scored whole, in windows, or while
it is written has the same numbers.
"""

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING
from zlib import crc32

from engy_mock.model.agenda import SHARES, Agenda, Mode, drawn_up
from engy_mock.model.corpus import Topic
from engy_mock.model.distribution import Distribution, mixed
from engy_mock.model.phrases import Node
from engy_mock.model.sampling import draw_expected

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
        "_effort_at",
        "_hash",
        "_hashed",
        "_is_asking",
        "_is_border",
        "_language",
        "_mode",
        "_own",
        "_place",
        "_question",
        "_sentences",
        "_strayed",
        "_sum",
        "_summed",
        "_topic",
        "_topics",
        "_wanted",
        "before",
        "last",
        "tokens",
    )

    def __init__(self, language: "Language", tokens: Sequence[int]) -> None:
        self._language = language
        self._hash = blake2b(key=language.key, digest_size=32)
        self._hashed = 0
        self._effort_at = -1
        self._question = (0, 0)
        self._is_asking = False
        self._topics: dict[tuple[int, int], Topic] = {}
        self._active: tuple[Expected, ...] | None = None
        self._ahead: list[tuple[int, Node, int, float]] | None = None
        self._agenda: Agenda | None = None
        self._topic: Topic | None = None
        self._is_border = True
        self._mode: Mode = "raw"
        self._anchor = self._place = self.before = self.last = -1
        self._agreed = self._strayed = self._own = self._sentences = self._wanted = 0
        self.tokens = list(tokens)
        start = self._find_anchor()
        rest = self.tokens[start + 1 :]
        del self.tokens[start + 1 :]
        self._settle(start)
        for token in rest:
            self.advance(token)

    def distribution(self) -> Distribution:
        """The chance of every token to come next."""
        return mixed(self._language.statistics.after(self.before, self.last), self.expected())

    def expected(self) -> dict[int, float]:
        """The tokens that stand out, with their exact chances; together less than 1."""
        ahead = self._next()
        certainty = self._language.voice.certainty
        special: dict[int, float] = {}
        if self._is_border and 0 < self._wanted <= self._own:
            special[self._closer()] = certainty
            certainty = (1.0 - certainty) * certainty
        if ahead:
            for token, _, _, weight in ahead:
                special[token] = special.get(token, 0.0) + certainty * weight
        elif self._place >= 0:
            text = self._language.statistics.ngrams.text
            agreed, following = self._agreed, self._language.following
            special[text[self._place]] = following[agreed] if agreed < len(following) else following[-1]
        if self._is_border and self._strayed >= PATIENCE:
            special = {token: (1.0 - LEAVING) * p for token, p in special.items()}
            closer = self._closer()
            special[closer] = special.get(closer, 0.0) + LEAVING
        return special

    @property
    def certainty(self) -> float:
        """The chance of a token that is the only one expected."""
        return self._language.voice.certainty

    def run_ahead(self) -> tuple[int, ...]:
        """The tokens that the one expected sentence goes on with before its next choice, if there is just one."""
        active = self._active
        if active is None or len(active) != 1 or self._is_border:
            return ()
        node, place, _ = active[0]
        # The place where reading begins afresh belongs to `advance`.
        return node.run[place : place + self._anchor + RESTART - len(self.tokens)]

    def take_run(self, run: Sequence[int]) -> None:
        """Read tokens that `run_ahead` gave, all or the first of them."""
        if not run:
            return
        active = self._active
        assert active is not None
        node, place, weight = active[0]
        self.tokens.extend(run)
        self.before = run[-2] if len(run) > 1 else self.last
        self.last = run[-1]
        place += len(run)
        self._active = ((node, place, weight),)
        self._ahead = None
        if place == len(node.run) and not node.branches:
            self._close_sentence(is_own=True, is_fact=self._is_fact())

    def leap(self, unit: float, top_p: float) -> int:
        """Draw the next token among those that are expected and read it; -1 if others have to be looked at.

        For a temperature of 1 and a `top_p` that is not above `certainty`; 0 takes the likeliest.
        """
        if len(self.tokens) - self._anchor >= RESTART:
            return -1
        if self._is_border and (0 < self._wanted <= self._own or self._strayed >= PATIENCE):
            return -1
        ahead = self._next()
        if not ahead:
            return -1
        place = draw_expected([(token, weight) for token, _, _, weight in ahead], self.certainty, unit, top_p)
        if place < 0:
            return -1
        token, node, at, _ = ahead[place]
        self.tokens.append(token)
        self.before, self.last = self.last, token
        self._is_border = False
        self._active = ((node, at + 1, 1.0),)
        self._ahead = None
        if at + 1 == len(node.run) and not node.branches:
            self._close_sentence(is_own=True, is_fact=self._is_fact())
        return token

    def advance(self, token: int) -> None:
        """Read one more token."""
        language = self._language
        place = len(self.tokens)
        if token in language.anchors or place - self._anchor >= RESTART:
            self.tokens.append(token)
            self._settle(place)
            return
        is_blank = self._is_border and token in language.blanks
        # What is expected is settled before the token is read, whether anybody has asked for it or not.
        ahead = [] if is_blank else self._next()
        self.tokens.append(token)
        self.before, self.last = self.last, token
        if is_blank:
            self._active = self._ahead = None
            return
        if token == language.effort:
            self._effort_at = place
        self._is_border = False
        if ahead:
            kept = [(node, at + 1, weight) for own, node, at, weight in ahead if own == token]
            self._ahead = None
            if kept:
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
                return
            self._active = None
            self._place = -1
        self._ahead = None
        self._follow(token)

    def _is_fact(self) -> bool:
        return self._topic is not None and self._topic.is_closing

    def _follow(self, token: int) -> None:
        """Off the expected sentences: keep to the place in the corpus that agrees, or look for another."""
        language = self._language
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
                self._active = self._plan()
            found = []
            for node, at, weight in self._active or ():
                if at < len(node.run):
                    found.append((node.run[at], node, at, weight))
                else:
                    found += [(branch.run[0], branch, 0, weight * share) for share, branch in node.branches]
            self._ahead = found
        return found

    def _closer(self) -> int:
        return self._language.think_end if self._mode == "think" else self._language.end

    def _find_anchor(self) -> int:
        """The last place from which reading can start, or -1; notes effort and question on the way."""
        marks = self._language.marks
        start = -1
        efforts = [-1]
        for place, token in enumerate(self.tokens):
            if token in marks:
                if token == self._language.effort:
                    efforts.append(place)
                else:
                    self._note_turn(place, token)
                    start = place
        start += (len(self.tokens) - 1 - start) // RESTART * RESTART
        self._effort_at = max([place for place in efforts if place <= start], default=-1)
        return start

    def _note_turn(self, place: int, mark: int) -> None:
        """Remember where the last question begins, and where it ends: at the next mark."""
        if self._is_asking:
            self._question = (self._question[0], place)
        self._is_asking = mark == self._language.user
        if self._is_asking:
            self._question = (place + 1, place + 1)

    def _settle(self, place: int) -> None:
        """Begin afresh at this anchor (-1: before the first token), from the tokens up to it alone."""
        language = self._language
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
            self._note_turn(place, mark)
        self._mode = "raw"
        if mark in (language.think, language.think_end, language.assistant):
            self._mode = "think" if mark == language.think else "say"
            self._topic = self._asked_topic(place)
            self._open_section(self._topic)

    def _asked_topic(self, place: int) -> Topic:
        """What the question is about that the answer at this place belongs to."""
        corpus = self._language.corpus
        found = self._topics.get(self._question)
        if found is None:
            found = corpus.topic(self._asked(place)) or corpus.general
            if self._question[0] < self._question[1]:
                self._topics[self._question] = found
        return found

    def _asked(self, place: int) -> str:
        """The question that the answer at this place belongs to."""
        start, stop = self._question
        if stop <= start:
            start, stop = max(0, place - _QUESTION), place
        tokenizer = self._language.tokenizer
        if stop - start > 2 * _QUESTION:
            return tokenizer.decode(self.tokens[start : start + _QUESTION] + self.tokens[stop - _QUESTION : stop])
        return tokenizer.decode(self.tokens[start:stop])

    def _open_section(self, topic: Topic) -> None:
        """Settle what is going to be said, from a digest of everything up to here."""
        language = self._language
        self._agenda = drawn_up(
            self._mode,
            topic,
            language.corpus.general,
            order=self._digest(),
            level=self._level(),
            sentences=language.voice.sentences,
        )
        self._wanted = self._agenda.wanted
        self._sentences = 0

    def _level(self) -> str:
        """The effort that the prompt names, in lower case, or nothing."""
        if not 0 <= self._effort_at < len(self.tokens) - 1:
            return ""
        return (self._language.tokenizer.pieces[self.tokens[self._effort_at + 1]] or "").strip().lower()

    def _mixed_up(self) -> int:
        """A number that stands for every token since the anchor; cheap, for one border of a sentence."""
        fresh = array("I", self.tokens[self._summed :]).tobytes()
        self._sum = crc32(fresh, self._sum)
        self._summed = len(self.tokens)
        return self._sum >> 8

    def _digest(self) -> bytes:
        """A digest of every token read so far."""
        if self._hashed < len(self.tokens):
            self._hash.update(array("I", self.tokens[self._hashed :]).tobytes())
            self._hashed = len(self.tokens)
        return self._hash.digest()

    def _plan(self) -> tuple[Expected, ...]:
        """The sentences that may come next."""
        language = self._language
        if self._mode == "raw" and self._own == 0:
            # What the text is about is asked anew until a sentence of the corpus has been said.
            start = max(self._anchor + 1, len(self.tokens) - _QUESTION)
            topic = language.corpus.topic(language.tokenizer.decode(self.tokens[start:]))
            self._topic = None if topic is None or topic.is_closing else topic
            self._open_section(self._topic or language.corpus.general)
        if self._agenda is None:
            self._open_section(language.corpus.general)
        assert self._agenda is not None
        chosen = self._agenda.candidates(self._sentences)
        ends_in_space = language.tokenizer.raw[self.last][-1:].isspace()
        is_spaced = self.last not in language.marks and self.last >= 0 and not ends_in_space
        node = language.phrases.node
        shift = 0 if len(chosen) == 1 else self._mixed_up() % len(chosen)
        return tuple(
            [
                (node(chosen[(place + shift) % len(chosen)], is_spaced=is_spaced), 0, weight)
                for place, weight in enumerate(SHARES[len(chosen)])
            ]
        )
