"""Answers that take their time: silence between their events, settled before the first of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engy_mock.gateway.settings import Settings
from engy_mock.model.tempo import LONGEST, Tempo, tempo_of
from engy_mock.vocabulary.events import Event, Pause, Piece, ToolCallDelta
from engy_mock.vocabulary.seeds import Draws, digest

OWN_TIME = frozenset({"delay", "pace"})
"""The kinds by which a rule says itself how long its answers take."""

CHARACTERS_OF_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Timing:
    """The tempo of one answer; `identity` stands for its request, whose jitter is always the same."""

    tempo: Tempo
    identity: str

    def paced(self, events: Sequence[Event]) -> list[Event]:
        """The events of a stream: silence behind its head, then before each piece but the first."""
        waits = self._waits(events)
        found: list[Event] = [Pause(next(waits))]
        has_begun = False
        for event in events:
            if isinstance(event, Piece):
                if has_begun:
                    found.append(Pause(next(waits)))
                has_begun = True
            found.append(event)
        return found

    def seconds(self, events: Sequence[Event]) -> float:
        """How long a whole answer takes: it comes when a stream would have brought its last piece."""
        return min(LONGEST, sum(self._waits(events)))

    def _waits(self, events: Sequence[Event]) -> Iterator[float]:
        sizes = [_tokens(event) for event in events if isinstance(event, Piece)]
        # An answer of no piece at all takes as long as its first one would have.
        return self.tempo.waits(sizes or [1], Draws(digest("tempo", self.identity)))


def timing(settings: Settings, model: str, others: int, identity: str) -> Timing | None:
    """How long an answer of this model takes while so many others are under way; None for no time at all."""
    if settings.pace == "instant" and not settings.pace_by_model:
        return None
    tempo = tempo_of(settings.pace_by_model.get(model, settings.pace), model)
    return None if tempo is None else Timing(tempo.beside(others), identity)


def _tokens(piece: Piece) -> int:
    """About how many tokens a piece is: a call of a tool is one piece however long it is."""
    return 1 + len(piece.call.arguments) // CHARACTERS_OF_A_TOKEN if isinstance(piece, ToolCallDelta) else 1
