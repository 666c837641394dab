"""Sentences of the corpus as paths of tokens: fixed runs with branches where a sentence offers a choice."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engy_mock.model.corpus import segments
from engy_mock.model.tokenizer import Tokenizer

OPTION_WEIGHTS = {1: (1.0,), 2: (0.6, 0.4), 3: (0.5, 0.3, 0.2), 4: (0.4, 0.3, 0.2, 0.1)}
"""How likely the options of a choice are, in the order in which they are written."""


class Node:
    """A run of tokens, then a weighted choice of what follows; without branches the sentence ends here.

    `first` is the token that it begins with, or -1 where that is open. `shares` are the weights of its branches
    if each of them begins with a token that no other begins with, else None.
    """

    __slots__ = ("branches", "first", "run", "shares")

    def __init__(self, run: tuple[int, ...], branches: tuple[tuple[float, "Node"], ...] = ()) -> None:
        self.run = run
        self.branches = branches
        self.first = run[0] if run else -1
        self.shares: tuple[float, ...] | None = None
        if len({branch.first for _, branch in branches}) == len(branches):
            self.shares = tuple([weight for weight, _ in branches])


@dataclass(slots=True)
class Phrases:
    """Compiles sentences for one vocabulary, each when it is first needed."""

    tokenizer: Tokenizer
    _known: dict[str, Node] = field(default_factory=dict)
    _known_spaced: dict[str, Node] = field(default_factory=dict)

    def nodes(self, sentences: Sequence[str], *, is_spaced: bool) -> list[Node]:
        """The beginnings of sentences, with a space before them or not."""
        known = self._known_spaced if is_spaced else self._known
        try:
            return [known[sentence] for sentence in sentences]
        except KeyError:
            for sentence in sentences:
                known[sentence] = self._compile(" " + sentence if is_spaced else sentence)
            return [known[sentence] for sentence in sentences]

    def _compile(self, sentence: str) -> Node:
        """Build the path from its end; a space before a choice belongs to each of its options."""
        parts = [list(part) for part in segments(sentence)]
        for place in range(1, len(parts)):
            before = parts[place - 1]
            if len(parts[place]) > 1 and len(before) == 1 and before[0].endswith(" "):
                before[0] = before[0][:-1]
                parts[place] = [" " + option for option in parts[place]]
        after: Node | None = None
        for part in reversed(parts):
            runs = [tuple(self.tokenizer.encode(option)) for option in part if option]
            if not runs:
                continue
            if after is None:
                follow: tuple[tuple[float, Node], ...] = ()
            elif len(runs) == 1 and after.run:
                after = Node(runs[0] + after.run, after.branches)
                continue
            elif after.run:
                follow = ((1.0, after),)
            else:
                follow = after.branches
            if len(runs) == 1:
                after = Node(runs[0], follow)
            else:
                weights = OPTION_WEIGHTS[len(runs)]
                after = Node((), tuple((w, Node(run, follow)) for w, run in zip(weights, runs, strict=True)))
        assert after is not None
        return after
