"""The models of the service as rows: prices, windows, what they take, how they think and speak."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from engy_mock.model.language import Voice
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.request import Effort, ThinkingWish

Level = Literal["off", "on", "low", "high", "max"]
ModelType = Literal["generic", "completion", "chat_completion"]

_EFFORT_LEVELS: dict[Effort, Level] = {
    "none": "off",
    "minimal": "off",
    "low": "low",
    "medium": "high",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}


@dataclass(frozen=True, slots=True, init=False)
class Prices:
    """USD per million tokens, which is also micro-USD per token.

    `Prices(input=Decimal("0.6"), output=Decimal(2), cached=Decimal("0.1"))`; all three have to be named.
    """

    input: Decimal
    output: Decimal
    cached: Decimal

    def __init__(
        self,
        *unnamed: object,
        input: Decimal | None = None,
        output: Decimal | None = None,
        cached: Decimal | None = None,
    ) -> None:
        if unnamed or input is None or output is None or cached is None:
            raise MockError(
                "Prices takes input=, output= and cached=, each a Decimal in USD per million tokens: "
                "Prices(input=Decimal('0.6'), output=Decimal(2), cached=Decimal('0.1'))"
            )
        object.__setattr__(self, "input", input)
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "cached", cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """One model. Windows are in tokens; `levels` are the efforts that its template knows.

    `fixes_sampling`: temperature 1.0, `top_p` 0.95, `n` 1 and penalties 0, whatever is asked.
    `moves_late_system`: a system message after the first place becomes a user message.
    `ignores_schema`: a response format, and that a tool must be called, have no effect. `hears_enabled`: the wish
    `reasoning.enabled: true` turns thinking on. `listed_context` is the window that the list tells, if another.
    `vendor` says who serves it under `/v5`; a model without one is served under `/v1`. `speaks_as` is the model
    whose words it has, if it has none of its own.
    """

    id: str
    prices: Prices
    context: int
    max_input: int
    max_output: int
    voice: Voice
    takes_images: bool = False
    default_level: Level = "off"
    levels: tuple[Level, ...] = ()
    can_think: bool = True
    can_stop_thinking: bool = True
    fixes_sampling: bool = False
    moves_late_system: bool = False
    ignores_schema: bool = False
    hears_enabled: bool = True
    is_available: bool = True
    is_listed: bool = True
    listed_context: int | None = None
    temperature: float = 1.0
    top_p: float = 0.95
    vendor: str | None = None
    type: ModelType = "chat_completion"
    speaks_as: str | None = None

    @property
    def speaker(self) -> str:
        """The model whose words it says."""
        return self.id if self.speaks_as is None else self.speaks_as

    def level(self, wish: ThinkingWish) -> Level:
        """The level that a wish comes to on this model."""
        if not self.can_think:
            return "off"
        level: Level
        if wish.effort is not None:
            level = _EFFORT_LEVELS[wish.effort]
        elif wish.enabled is not None:
            level = "off" if not wish.enabled else "high" if self.default_level == "off" else self.default_level
        else:
            level = self.default_level
        if level == "off":
            return "off" if self.can_stop_thinking else "low"
        if not self.levels:
            return "on"
        return "high" if level == "low" and "low" not in self.levels else level


def _prices(input: str, output: str, cached: str) -> Prices:
    return Prices(input=Decimal(input), output=Decimal(output), cached=Decimal(cached))


LOW_HIGH_MAX: tuple[Level, ...] = ("low", "high", "max")

CARDS = (
    ModelCard(
        id="glm-5.2",
        prices=_prices("0.68", "1.50", "0.18"),
        context=262_144,
        max_input=229_376,
        max_output=32_768,
        default_level="max",
        levels=("high", "max"),
        voice=Voice(name="glm-5.2", certainty=0.994, caution=1.0, sentences=(3, 5)),
    ),
    ModelCard(
        id="glm-5.3",
        prices=_prices("0.98", "3.08", "0.18"),
        context=327_680,
        max_input=294_912,
        max_output=32_768,
        default_level="max",
        levels=LOW_HIGH_MAX,
        can_stop_thinking=False,
        voice=Voice(name="glm-5.3", certainty=0.995, caution=0.9, sentences=(3, 6)),
    ),
    ModelCard(
        id="glm-5.3-flash",
        prices=_prices("0.135", "0.45", "0.027"),
        context=262_144,
        max_input=229_376,
        max_output=32_768,
        takes_images=True,
        default_level="max",
        levels=LOW_HIGH_MAX,
        can_stop_thinking=False,
        voice=Voice(name="glm-5.3-flash", certainty=0.991, caution=1.2, sentences=(2, 4)),
    ),
    ModelCard(
        id="kimi-k3",
        prices=_prices("1.95", "9.75", "0.195"),
        context=1_048_576,
        max_input=983_040,
        max_output=65_536,
        takes_images=True,
        default_level="on",
        fixes_sampling=True,
        voice=Voice(name="kimi-k3", certainty=0.996, caution=0.8, sentences=(4, 6)),
    ),
    ModelCard(
        id="qwen3.6-35b-a3b",
        prices=_prices("0.045", "0.30", "0.015"),
        context=208_192,
        max_input=200_000,
        max_output=8_192,
        default_level="on",
        moves_late_system=True,
        voice=Voice(name="qwen3.6-35b-a3b", certainty=0.990, caution=1.3, sentences=(2, 5)),
    ),
    ModelCard(
        id="qwen3.8-27b",
        prices=_prices("0.045", "0.32", "0.015"),
        context=1_001_536,
        max_input=936_000,
        max_output=65_536,
        takes_images=True,
        default_level="on",
        moves_late_system=True,
        voice=Voice(name="qwen3.8-27b", certainty=0.992, caution=1.1, sentences=(3, 5)),
    ),
    ModelCard(
        id="deepseek-v4-flash-0731",
        prices=_prices("0.045", "0.09", "0.009"),
        context=1_048_576,
        max_input=920_576,
        max_output=128_000,
        levels=LOW_HIGH_MAX,
        voice=Voice(name="deepseek-v4-flash-0731", certainty=0.993, caution=1.05, sentences=(2, 4)),
    ),
    ModelCard(
        id="deepseek-v4.1-flash",
        prices=_prices("0.04", "0.08", "0.008"),
        context=327_680,
        max_input=262_144,
        max_output=65_536,
        takes_images=True,
        levels=LOW_HIGH_MAX,
        voice=Voice(name="deepseek-v4.1-flash", certainty=0.994, caution=0.95, sentences=(3, 5)),
    ),
)
"""The eight models in the order in which `GET /v1/models` lists them (E-22 to E-29)."""
