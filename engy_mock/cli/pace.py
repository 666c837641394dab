"""How fast a server speaks, as its command line has it: `slow`, `40`, `kimi-k3:first_seconds=2/per_second=9`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engy_mock.vocabulary.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

PROFILES = ("instant", "realistic", "slow")

NUMBERS = {"first_seconds": (0.0, 600.0), "per_second": (0.01, 1e6), "jitter": (0.0, 1.0), "half_at": (1.0, 1e6)}
"""The least and the most of each number of a tempo."""

Said = tuple[str | None, str]
"""A pace as it was written, and the model that it is for; None for all that nothing else is said of."""


def said_of(text: str) -> Said:
    """What is said of which model; raises ValueError that says what is wrong with it."""
    model, colon, said = text.rpartition(":")
    if colon and (not model or not said):
        raise ValueError(f"{text!r:.80} is not MODEL:PACE")
    _wanted(said)
    return model or None, said


def settings_of(said: Iterable[Said]) -> dict[str, Any]:
    """The settings by which all this holds, and nothing that was said before."""
    by_model = {model: _wanted(text) for model, text in said}
    return {"pace": by_model.pop(None, "instant"), "pace_by_model": by_model}


def takes_time(said: Iterable[Said]) -> bool:
    """Whether any of it makes somebody wait."""
    return any(text != "instant" for _, text in said)


def _wanted(said: str) -> Any:
    if said in PROFILES:
        return said
    if "=" in said:
        return _tempo(said)
    try:
        float(said)
    except ValueError:
        hint = did_you_mean(said, PROFILES)
        profiles = ", ".join(PROFILES)
        raise ValueError(f"{said!r:.80} is neither {profiles} nor a number of tokens a second.{hint}") from None
    return _number("per_second", said)


def _tempo(said: str) -> Any:
    """A tempo of numbers with slashes between them."""
    from engy_mock.model.tempo import Tempo

    numbers: dict[str, Any] = {}
    for part in said.split("/"):
        name, _, value = part.partition("=")
        if name not in NUMBERS:
            hint = did_you_mean(name, tuple(NUMBERS)) or f" Known are {', '.join(NUMBERS)}."
            raise ValueError(f"a pace has no {name!r:.80}.{hint}")
        numbers[name] = _number(name, value)
    if "per_second" not in numbers:
        raise ValueError(f"{said!r:.80} lacks per_second, the tokens a second")
    if "half_at" in numbers:
        numbers["half_at"] = round(numbers["half_at"])
    return Tempo(**numbers)


def _number(name: str, text: str) -> float:
    low, high = NUMBERS[name]
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise ValueError(f"{name} is a number from {low:g} to {high:,.0f}, got {text!r:.80}")
    return number
