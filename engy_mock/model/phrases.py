"""Sentences of the corpus as paths of tokens: fixed runs with branches where a sentence offers a choice."""

from array import array
from collections.abc import Callable, Sequence

from engy_mock.model.corpus import segments
from engy_mock.model.tokenizer import Tokenizer

OPTION_WEIGHTS = {1: (1.0,), 2: (0.6, 0.4), 3: (0.5, 0.3, 0.2), 4: (0.4, 0.3, 0.2, 0.1)}
"""How likely the options of a choice are, in the order in which they are written."""


class Node:
    """A run of tokens, then a weighted choice of what follows; without branches the sentence ends here.

    `first` is the token that it begins with, or -1 where that is open. `shares` are the weights of its branches
    if each of them begins with a token that no other begins with, else None. `packed` is the run as bytes.
    """

    __slots__ = ("branches", "first", "packed", "run", "shares")

    def __init__(self, run: tuple[int, ...], branches: tuple[tuple[float, "Node"], ...] = ()) -> None:
        self.run = run
        self.branches = branches
        self.packed = packed(run)
        self.first = run[0] if run else -1
        self.shares: tuple[float, ...] | None = None
        if len({branch.first for _, branch in branches}) == len(branches):
            self.shares = tuple([weight for weight, _ in branches])


class Phrases:
    """Compiles sentences for one vocabulary, each when it is first needed."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, Node] = _Compiled(self._compile)
        self._known_spaced: dict[str, Node] = _Compiled(lambda sentence: self._compile(" " + sentence))

    def nodes_of(self, *, is_spaced: bool) -> Callable[[Sequence[str]], list[Node]]:
        """What gives the beginnings of sentences, with a space before them or not."""
        known = self._known_spaced if is_spaced else self._known
        return lambda sentences: [known[sentence] for sentence in sentences]

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
            # What follows a choice is a part of each of its options: one step less on the way.
            rest, follow = ((), ()) if after is None else (after.run, after.branches)
            options = [Node(run + rest, follow) for run in runs]
            after = options[0]
            if len(options) > 1:
                after = Node((), tuple(zip(OPTION_WEIGHTS[len(options)], options, strict=True)))
        assert after is not None
        return after


class _Compiled(dict[str, Node]):
    """Sentences by their words, each compiled when it is asked for."""

    def __init__(self, compile_: Callable[[str], Node]) -> None:
        self._compile = compile_

    def __missing__(self, sentence: str) -> Node:
        node = self[sentence] = self._compile(sentence)
        return node


def packed(tokens: Sequence[int]) -> bytes:
    """Tokens as bytes that can be summed up or digested."""
    return array("I", tokens).tobytes()
