"""What one model knows of language: a voice over a vocabulary, with the corpus in its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from engy_mock.model.corpus import Corpus
from engy_mock.model.ngrams import Ngrams
from engy_mock.model.phrases import Phrases
from engy_mock.model.reader import FOLLOWING
from engy_mock.model.scoring import Places
from engy_mock.model.statistics import Statistics
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.model.walking import Walker
from engy_mock.vocabulary.seeds import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What makes one model speak otherwise than another.

    `certainty` is the chance of what it expects, `caution` its trust in what it never saw, `sentences` the
    least and most sentences of an answer. `straying` is the share that it keeps of the usual chance to leave
    a place in the corpus that it follows.
    """

    name: str
    certainty: float = 0.99
    caution: float = 1.0
    sentences: tuple[int, int] = (3, 5)
    straying: float = 1.0


class Language:
    """One voice over one vocabulary; the seed is part of what it has learned."""

    def __init__(self, tokenizer: Tokenizer, corpus: Corpus, ngrams: Ngrams, voice: Voice, seed: int) -> None:
        self.tokenizer = tokenizer
        self.corpus = corpus
        self.voice = voice
        self.statistics = Statistics(ngrams, tokenizer.size, caution=voice.caution)
        self.phrases = Phrases(tokenizer)
        self.places = Places()
        self.key = digest("language", seed, voice.name)
        self.following: tuple[float, ...] = FOLLOWING
        if voice.straying != 1.0:
            self.following = tuple([1.0 - (1.0 - sure) * voice.straying for sure in FOLLOWING])
        marks = tokenizer.marks
        self.end = tokenizer.end
        self.think, self.think_end = marks["<think>"], marks["</think>"]
        self.user, self.assistant = marks["<|user|>"], marks["<|assistant|>"]
        self.effort = marks["Reasoning Effort:"]
        self.anchors = frozenset(marks.values()) - {self.effort}
        self.marks = frozenset(marks.values())
        self.ends = frozenset((self.end,))
        self.ends_of_thought = frozenset((self.think_end, self.end))
        self.silent_marks = self.marks - self.ends_of_thought

    @cached_property
    def finals(self) -> frozenset[int]:
        """The tokens that can close a sentence."""
        return (
            frozenset(
                token
                for token, piece in enumerate(self.tokenizer.pieces)
                if piece and (piece.rstrip()[-1:] in (".", "?", "!") or "\n" in piece)
            )
            - self.marks
        )

    @cached_property
    def blanks(self) -> frozenset[int]:
        """The tokens of white space alone."""
        return frozenset(t for t, piece in enumerate(self.tokenizer.pieces) if piece and not piece.strip())

    @cached_property
    def openers(self) -> frozenset[int]:
        """The tokens that can open an answer: whole words that begin a sentence of the corpus."""
        corpus, raw = self.corpus, self.tokenizer.raw
        sentences = [sentence for topic in (*corpus.topics, corpus.general) for sentence in topic.sentences]
        nodes = self.phrases.nodes_of(is_spaced=False)(sentences)
        starts = [start for node in nodes for start in ([node] if node.run else [b for _, b in node.branches])]
        runs = [start.run for start in starts if len(start.run) > 1]
        return frozenset(run[0] for run in runs if raw[run[1]][:1].isspace())

    def read(self, tokens: Sequence[int]) -> Walker:
        """A reader that has read these tokens."""
        return Walker(self, tokens)
