"""What an EngyMock can be made with: looked at when it is made, so that nothing fails later and elsewhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, cast

from engy_mock.vocabulary.clock import Clock, PatientClock, StandingClock, WallClock, standing_today
from engy_mock.vocabulary.errors import MockError, did_you_mean

CLOCKS: Mapping[str, Callable[[], Clock]] = {
    "standing": StandingClock,
    "today": standing_today,
    "patient": PatientClock,
    "wall": WallClock,
}
"""The clocks that have a word."""

WORDS = (
    "seed",
    "port",
    "host",
    "clock",
    "settings",
    "limits",
    "time_scale",
    "strict",
    "verify",
    "scenario",
    "scenarios",
    "scenario_folders",
    "tls",
    "cassette",
    "replay",
    "control",
    "control_token",
    "complaints",
    "loop_factory",
)
"""All that an EngyMock takes."""

SEED_BITS = 64


def clock_of(wanted: Any) -> Clock:
    """The clock that is meant by one, by its word or by None; raises MockError."""
    if wanted is None:
        return StandingClock()
    if isinstance(wanted, str) and wanted in CLOCKS:
        return CLOCKS[wanted]()
    if isinstance(wanted, type) or not all(
        callable(getattr(wanted, name, None)) for name in ("now", "waits_for_real")
    ):
        words = ", ".join(map(repr, CLOCKS))
        hint = did_you_mean(wanted, tuple(CLOCKS)) if isinstance(wanted, str) else ""
        raise MockError(f"clock= takes {words} or a clock, got {wanted!r:.80}{'.' + hint if hint else ''}")
    return cast("Clock", wanted)


def check_known(whose: str, word: str, known: Sequence[str]) -> None:
    """Raise MockError, with the nearest right spelling, for a word that there is not."""
    if word not in known:
        hint = did_you_mean(word, known) or f" Known are {', '.join(known)}."
        raise MockError(f"{whose} has no {word!r:.80}.{hint}")


def check_seed(seed: object) -> None:
    """Raise MockError for what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed.bit_length() > SEED_BITS:
        raise MockError(f"seed= takes a whole number of at most {SEED_BITS} bits, got {shown(seed)}")


def check_kind(word: str, value: object, kind: type) -> None:
    """Raise MockError unless the value is of this kind, or None."""
    if value is not None and not isinstance(value, kind):
        raise MockError(f"{word}= takes a {kind.__name__}, got {value!r:.80}")


def check_place(host: object, port: object) -> None:
    """Raise MockError for what is no place to listen at; which ports there are, the server knows."""
    if not isinstance(host, str):
        raise MockError(f"host= takes a name or an address, got {host!r:.80}")
    if isinstance(port, bool) or not isinstance(port, int):
        raise MockError(f"port= takes a whole number, got {port!r:.80}")


def check_callable(word: str, value: object) -> None:
    """Raise MockError unless the value can be called, or is None."""
    if value is not None and not callable(value):
        raise MockError(f"{word}= takes a function, got {value!r:.80}")


def check_span(word: str, value: object) -> None:
    """Raise MockError for what is no finite number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_span(value):
        raise MockError(f"{word}= takes a number from 0, got {shown(value)}")


def scenarios_of(wanted: Any) -> tuple[Any, ...]:
    """The scenarios that are meant by one or by several; each is looked at when it takes part."""
    return (wanted,) if isinstance(wanted, str) or not isinstance(wanted, Iterable) else tuple(wanted)


def folders_of(wanted: object) -> tuple[str | Path, ...]:
    """The folders that are meant by one or by several; raises MockError."""
    folders = (wanted,) if isinstance(wanted, str | Path) or not isinstance(wanted, Iterable) else tuple(wanted)
    for folder in folders:
        if not isinstance(folder, str | Path):
            raise MockError(f"scenario_folders= takes paths, got {folder!r:.80}")
    return folders


def shown(value: object) -> str:
    """A value as a message shows it; Python writes down no number of very many digits."""
    try:
        return f"{value!r:.80}"
    except ValueError:
        return "a very large number"


def _is_span(value: float) -> bool:
    try:
        return isfinite(value) and value >= 0
    except OverflowError:
        return False
