"""How many prompt tokens the pretend servers already hold (E-139 to E-142)."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock

from engy_mock.vocabulary.seeds import digest

BLOCK = 64
"""Prompts are remembered in blocks of so many tokens; what is left over is never cached."""

MAX_BLOCKS = 32_768
"""So many blocks are remembered, two million tokens; then those go that were used longest ago."""

_DIGEST_BYTES = 16


class PromptCache:
    """The beginnings of prompts, by who asked and under which key; every method may be called from any thread.

    A block is kept as a digest of all tokens up to its end: the longest common prefix with any remembered prompt
    is found by one look per block, however many there are.
    """

    def __init__(self, *, max_blocks: int = MAX_BLOCKS) -> None:
        self._blocks: OrderedDict[bytes, None] = OrderedDict()
        self._max_blocks = max_blocks
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._blocks)

    def copy(self) -> "PromptCache":
        """Another cache that holds the same."""
        other = PromptCache(max_blocks=self._max_blocks)
        with self._lock:
            other._blocks = self._blocks.copy()
        return other

    def clear(self) -> None:
        """Forget all prompts."""
        with self._lock:
            self._blocks.clear()

    def use(self, account: str, model: str, key: str | None, prompts: Sequence[Sequence[int]]) -> int:
        """How many tokens of the prompts of one request were held before it; they all are from now on.

        Requests with a key share what was said under it, those without what began alike: a common prefix
        of a block is a common beginning of 64 tokens, so they need no mark of their own.
        """
        long_enough = [prompt for prompt in prompts if len(prompt) >= BLOCK]
        if not long_enough:
            return 0
        server = digest("prompt cache", account, model, *(() if key is None else (key,)))
        chains = [_chain(server, prompt) for prompt in long_enough]
        with self._lock:
            held = [self._held(chain) for chain in chains]
            for chain in chains:
                self._remember(chain)
        return sum(
            # At least one token of a prompt is always new (E-141).
            [
                min(count, (len(prompt) - 1) // BLOCK) * BLOCK
                for count, prompt in zip(held, long_enough, strict=True)
            ]
        )

    def _held(self, chain: Sequence[bytes]) -> int:
        """How many blocks from the first on are remembered."""
        blocks = self._blocks
        for count, block in enumerate(chain):
            if block not in blocks:
                return count
        return len(chain)

    def _remember(self, chain: Sequence[bytes]) -> None:
        """Keep all blocks, the first ones longest: without them the others are of no use."""
        blocks = self._blocks
        for block in reversed(chain):
            blocks[block] = None
            blocks.move_to_end(block)
        while len(blocks) > self._max_blocks:
            blocks.popitem(last=False)


def _chain(server: bytes, prompt: Sequence[int]) -> list[bytes]:
    """One digest for each whole block, of everything up to its end."""
    tokens = array("I", prompt)
    size = BLOCK * tokens.itemsize
    data = tokens.tobytes()
    chain: list[bytes] = []
    state = blake2b(server, digest_size=_DIGEST_BYTES)
    for start in range(0, len(data) - size + 1, size):
        state.update(data[start : start + size])
        chain.append(state.copy().digest())
    return chain
