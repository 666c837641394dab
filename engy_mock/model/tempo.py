"""How fast models answer: profiles by name, a row for each model, and what a crowd makes of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.seeds import UnitSource

LONGEST = 600
"""No wait of a tempo is longer, in seconds (Q-19)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """Seconds to the first token, and tokens a second from then on.

    `jitter` is the share by which a wait may be longer or shorter. With `half_at` other answers under way there is
    half the speed for each, with twice as many a third; None is a machine that no crowd slows down.
    """

    # Older releases of pydantic do not hand their configuration down to what stands inside.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    first_seconds: Annotated[float, Limits(ge=0, le=LONGEST)] = 0.0
    per_second: Annotated[float, Limits(ge=1 / LONGEST)]
    jitter: Annotated[float, Limits(ge=0, le=1)] = 0.0
    half_at: Annotated[int, Limits(ge=1)] | None = None

    def beside(self, others: int) -> "Tempo":
        """The tempo of an answer that begins while so many others are under way."""
        if self.half_at is None or others < 1:
            return self
        slower = 1 + others / self.half_at
        return replace(self, first_seconds=self.first_seconds * slower, per_second=self.per_second / slower)

    def waits(self, tokens: Iterable[int], draws: UnitSource) -> Iterator[float]:
        """The seconds before each piece, which has so many tokens; the first begins with `first_seconds`."""
        for place, count in enumerate(tokens):
            seconds = count / self.per_second
            if place == 0:
                # The first token is there when the first seconds are over.
                seconds = self.first_seconds + (count - 1) / self.per_second
            yield min(LONGEST, seconds * (1 + self.jitter * (2 * draws.at(place) - 1)))


Profile = Literal["instant", "realistic", "slow"]
Wanted = Profile | Annotated[float, Limits(ge=1 / LONGEST)] | Tempo
"""What a pace may be: a profile, tokens a second, or a tempo."""

SLOW_FIRST, SLOW_REST = 5, 6
"""How many times as long everything takes in the profile `slow`."""

REALISTIC: Mapping[str, Tempo] = {
    "glm-5.2": Tempo(first_seconds=0.55, per_second=55, jitter=0.35, half_at=24),
    "glm-5.3": Tempo(first_seconds=0.7, per_second=45, jitter=0.35, half_at=20),
    "glm-5.3-flash": Tempo(first_seconds=0.3, per_second=95, jitter=0.3, half_at=48),
    "kimi-k3": Tempo(first_seconds=0.9, per_second=38, jitter=0.4, half_at=16),
    "qwen3.6-35b-a3b": Tempo(first_seconds=0.22, per_second=130, jitter=0.3, half_at=64),
    "qwen3.8-27b": Tempo(first_seconds=0.35, per_second=70, jitter=0.3, half_at=32),
    "deepseek-v4-flash-0731": Tempo(first_seconds=0.3, per_second=110, jitter=0.3, half_at=48),
    "deepseek-v4.1-flash": Tempo(first_seconds=0.28, per_second=120, jitter=0.3, half_at=48),
}
"""Made up to look plausible, large models slower than small ones: nobody's measurements."""

OF_OTHERS = Tempo(first_seconds=0.5, per_second=60, jitter=0.35, half_at=24)


def tempo_of(wanted: Wanted, model: str) -> Tempo | None:
    """The tempo of a model when this is wanted; None for no wait at all."""
    if isinstance(wanted, Tempo):
        return wanted
    if not isinstance(wanted, str):
        return Tempo(per_second=wanted)
    if wanted == "instant":
        return None
    tempo = REALISTIC.get(model, OF_OTHERS)
    if wanted == "realistic":
        return tempo
    return replace(tempo, first_seconds=tempo.first_seconds * SLOW_FIRST, per_second=tempo.per_second / SLOW_REST)
