"""How fast an answer comes: what a rule says of time, and no fault of anybody."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from engy_mock.scripting.fault import LONGEST, Fault
from engy_mock.scripting.fault import Pause as Span
from engy_mock.scripting.reach import PAGES
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.events import Event, Pause, Piece
from engy_mock.vocabulary.wire import Step, Wait


@dataclass(frozen=True)
class Delay(Fault):
    """Say nothing for so many seconds, then answer."""

    kind: ClassVar[str] = "delay"
    takes_refusals: ClassVar[bool] = True

    seconds: Span

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A pause before the first byte."""
        yield Wait(self.seconds)
        yield from steps


@dataclass(frozen=True)
class Pace(Fault):
    """Tell so many pieces in a second."""

    kind: ClassVar[str] = "pace"

    per_second: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.per_second > 0:
            raise MockError(f"pace must be above 0 pieces a second, got {self.per_second!r}")
        if self.per_second * LONGEST < 1:
            raise MockError(f"pace must be at least one piece in {LONGEST} seconds, got {self.per_second!r}")

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """A page has no pieces."""
        return "no pieces are told there" if words.get("endpoint") in PAGES else super().misfit(words)

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """A pause before each piece."""
        for event in events:
            if isinstance(event, Piece):
                yield Pause(1 / self.per_second)
            yield event


def timing(delay: float | None, pace: float | None) -> tuple[Fault, ...]:
    """What makes an answer late by `delay` seconds and tells it at `pace` pieces a second."""
    timed: list[Fault] = []
    if pace is not None:
        timed.append(Pace(pace))
    if delay is not None:
        timed.append(Delay(delay))
    return tuple(timed)
