"""A request that is ready to be answered: measured, and with its limits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engy_mock.model.cards import Level, ModelCard, Prices
from engy_mock.model.prices import highest_cost_micro
from engy_mock.model.proof import proof
from engy_mock.model.templates import Rendered
from engy_mock.vocabulary.generation import Choice
from engy_mock.vocabulary.request import GenerationRequest

MAX_MADE_UP = 2048
"""A made-up answer comes to its end after so many tokens at the latest, whatever the knobs make of it."""

MAX_MADE_UP_IN_ALL = 8 * MAX_MADE_UP
"""So many tokens are made up for all choices of one request; of more than 8 choices each has its share."""

LEAST_MADE_UP = 16
"""No share is smaller: as much as a completion may have that names no limit (S-27)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that has passed every check of its size.

    `prompts` are the tokens of each prompt, `prompt_tokens` how many there are in all; `max_tokens` is the limit
    in force; `level` how the model thinks.
    """

    request: GenerationRequest
    card: ModelCard
    level: Level
    prompts: tuple[Rendered, ...]
    max_tokens: int
    prompt_tokens: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt_tokens", sum([len(prompt.tokens) for prompt in self.prompts]))

    @property
    def choices(self) -> int:
        """How many answers there will be."""
        return len(self.prompts) * self.request.copies

    @property
    def most_made_up(self) -> int:
        """After so many tokens a made-up answer comes to its end."""
        return max(LEAST_MADE_UP, min(MAX_MADE_UP, MAX_MADE_UP_IN_ALL // self.choices))

    def proof(self, choices: Sequence[Choice]) -> dict[str, Any] | None:
        """The proof of what these choices say, if one was demanded (E-146)."""
        if not self.request.provider.require_proof:
            return None
        return proof(self.card.id, [prompt.tokens for prompt in self.prompts], choices)

    def highest_cost_micro(self, prices: Prices) -> int:
        """What the answer can cost at the most, in micro-USD (E-197)."""
        return highest_cost_micro(prices, self.prompt_tokens, self.max_tokens * self.choices)
