"""What one section of an answer is going to say: which sentences in which order, and how many."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Literal

from engy_mock.model.corpus import Topic

Mode = Literal["raw", "think", "say"]
"""Where a text is: not within an answer, in the reasoning of one, or in its text."""

CANDIDATES = (0.5, 0.3, 0.2)
"""How likely the sentences are that may come next."""

WIDTH = len(CANDIDATES)

SHARES = tuple(tuple(w / (sum(CANDIDATES[:n]) or 1.0) for w in CANDIDATES[:n]) for n in range(len(CANDIDATES) + 1))
"""The same for so many sentences, together 1."""

THINKING_SENTENCES = {"low": 1, "high": 2, "max": 3}
"""Sentences of reasoning by the level in the prompt (E-132)."""

THINKING_SENTENCES_WITHOUT_LEVEL = 2


@dataclass(frozen=True, slots=True)
class Agenda:
    """Sentences in an order that a start and a stride give; `opening` comes first if there is one."""

    opening: Sequence[str]
    source: Sequence[str]
    reserve: Sequence[str]
    wanted: int
    start: int
    stride: int

    def candidates(self, turn: int) -> Sequence[str]:
        """At most three sentences for this turn; none comes twice while there are enough of them."""
        if turn == 0 and self.opening:
            return self.opening
        source, stride = self.source, self.stride
        if (turn + 1) * WIDTH > len(source):
            source = self.reserve
            stride = _coprime(stride, len(source))
        count = len(source)
        first = self.start + stride * turn * min(WIDTH, count)
        if count < WIDTH:
            return [source[(first + stride * place) % count] for place in range(count)]
        return [source[first % count], source[(first + stride) % count], source[(first + 2 * stride) % count]]


def drawn_up(
    mode: Mode, topic: Topic, general: Topic, *, order: bytes, level: str, sentences: tuple[int, int]
) -> Agenda:
    """The agenda of a section about a topic; `order` is a digest, `sentences` the least and most of a text."""
    opening: Sequence[str] = ()
    if mode == "think":
        wanted = THINKING_SENTENCES.get(level, THINKING_SENTENCES_WITHOUT_LEVEL)
        source = general.reasoning
        if topic is not general:
            opening = topic.reasoning[:1]
            source = topic.reasoning[1:] + general.reasoning
    else:
        least, most = sentences if mode == "say" else (1, 3)
        wanted = least + order[31] % (most - least + 1)
        source = general.sentences if topic.is_closing else topic.sentences
        if topic.is_closing:
            opening = topic.sentences[:1]
    return Agenda(
        opening=opening,
        source=source,
        reserve=general.sentences,
        wanted=1 if topic.is_closing else wanted,
        start=int.from_bytes(order[:4], "big"),
        stride=_coprime(1 + int.from_bytes(order[4:8], "big") % max(len(source) - 1, 1), len(source)),
    )


def _coprime(stride: int, count: int) -> int:
    """The next stride that reaches every one of so many places."""
    while gcd(stride, count) != 1:
        stride += 1
    return stride
