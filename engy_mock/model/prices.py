"""What an answer costs, in exact decimals (E-116, E-197)."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache

from engy_mock.model.cards import Prices
from engy_mock.vocabulary.generation import Usage

_HALF = Decimal("0.5")


@lru_cache(maxsize=4096)
def charge_micro(prices: Prices, usage: Usage) -> int:
    """The charge in micro-USD: exact, then rounded once, halves up."""
    exact = (
        (usage.prompt_tokens - usage.cached_tokens) * prices.input
        + usage.cached_tokens * prices.cached
        + usage.completion_tokens * prices.output
    )
    return int((exact + _HALF).to_integral_value(ROUND_FLOOR))


@lru_cache(maxsize=4096)
def highest_cost_micro(prices: Prices, prompt_tokens: int, max_tokens: int) -> int:
    """What is set aside before an answer, in micro-USD: nothing cached, the whole limit used, rounded up."""
    return int((prompt_tokens * prices.input + max_tokens * prices.output).to_integral_value(ROUND_CEILING))
