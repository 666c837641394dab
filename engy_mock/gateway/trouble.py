"""What faults make of one answer: which of them are chosen, where each of them acts, and which found no place."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engy_mock.books.course import LONG_SECONDS, is_endless, is_long
from engy_mock.gateway.timing import OWN_TIME
from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import Fault, Own, told
from engy_mock.scripting.occasion import Occasion
from engy_mock.vocabulary.events import Event, Heartbeat, Pause, Piece, Refused
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import Step

MAX_DEPTH = 8
"""How often a fault may choose others in its place."""


@dataclass(slots=True)
class Trouble:
    """The faults of one answer; `applied` and `not_applied` name them as the rule has them written, in order.

    `written` has, for each of `faults`, the one that has chosen it and its place, `occasions` when it acts. A
    fault that changes nothing has not been applied, whatever the reason: it is told, never dropped. `idle` are
    those that are not for the request. One that is to happen `after` more pieces than there are does not happen.
    """

    faults: Sequence[Fault]
    written: Sequence[tuple[int, Fault]]
    occasions: Sequence[Occasion]
    idle: Sequence[str] = ()
    _acted: list[bool] = field(init=False)
    _retold: list[bool] = field(init=False)
    _pieces: float = math.inf
    _beyond: list[int] = field(default_factory=list)
    _silent: list[bool] = field(init=False)
    _long: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        # What is early and refuses nothing has acted before the body was read: it has invited nobody to send it.
        self._acted = [isinstance(own, Early) and own.answer() is None for own in self.faults]
        self._retold = [False] * len(self.faults)
        self._silent = [False] * len(self.faults)
        self._long = [False] * len(self.faults)

    @property
    def applied(self) -> list[str]:
        """The faults that have changed the answer."""
        return [told(own) for own in self._written(self._acted).values()]

    @property
    def not_applied(self) -> list[str]:
        """The faults that have changed nothing; one that waits for the client to leave may still do so."""
        applied = self._written(self._acted)
        rest = self._written([not own.runs_on for own in self.faults])
        return [*self.idle, *(told(own) for place, own in rest.items() if place not in applied)]

    @property
    def silences(self) -> list[str]:
        """The faults that have made the answer fall silent for ever: each needs a place among the stalls."""
        return [told(own) for own in self._written(self._silent).values()]

    @property
    def stalls(self) -> list[str]:
        """The faults that make it fall silent for long: so each of them does, unless time stands still."""
        return [told(own) for own in self._written(self._long).values()]

    @property
    def is_free(self) -> bool:
        """Whether a fault has put something in place of the answer that nobody pays for."""
        return any(own.is_free for own, acted in zip(self.faults, self._acted, strict=True) if acted)

    @property
    def swaps_form(self) -> bool:
        """Whether a stream is told as a whole answer, and the other way round."""
        return any(own.swaps_form for own in self.faults)

    @property
    def running_on(self) -> list[str]:
        """The faults for which an answer goes on without its client."""
        return [told(own) for own in self._written([own.runs_on for own in self.faults]).values()]

    def retold(self, generation: Generation) -> Generation:
        """The answer that is told instead of this one."""
        pieces = max([_pieces_of(choice) for choice in generation.choices], default=0)
        for place, own in enumerate(self.faults):
            if type(own).retold is not Fault.retold and not _is_beyond(own, pieces):
                found = own.retold(generation, self.occasions[place])
                self._retold[place] |= found != generation
                self._acted[place] |= found != generation
                generation = found
        return generation

    @property
    def is_retold_alone(self) -> bool:
        """Whether all that the faults have done is to put other words in the place of the model's."""
        return any(self._retold) and self._acted == self._retold

    def take_back(self) -> None:
        """The other words cannot be seen in what is told: those faults have changed nothing."""
        self._acted = [False] * len(self.faults)

    def events(self, events: list[Event], *, is_page: bool = False) -> list[Event]:
        """The events that are told instead of these; a refusal is not an answer that could be changed.

        A page has no events: it can only be refused.
        """
        for place, own in enumerate(self.faults):
            is_refused = bool(events) and isinstance(events[0], Refused)
            if is_refused and not own.takes_refusals:
                continue
            if not is_page and not is_refused:
                self._pieces = sum([isinstance(event, Piece) for event in events])
                if _is_beyond(own, self._pieces):
                    self._beyond.append(place)
                    continue
            if type(own).__call__ is not Fault.__call__:
                found = list(own(iter(events)))
                if is_page and not any(isinstance(event, Refused) for event in found):
                    continue
                self._acted[place] |= isinstance(own, Own) or found != events
                self._silent[place] |= _falls_silent(found) and not _falls_silent(events)
                self._long[place] |= _long_silences(found) > _long_silences(events) and own.kind not in OWN_TIME
                events = found
        refused = next((event for event in events if isinstance(event, Refused)), None)
        return events if refused is None else [refused]

    def steps(self, steps: Iterable[Step], *, is_swapped: bool = False) -> list[Step]:
        """The steps that are performed instead of these, which may be in the other form already."""
        done = list(steps)
        for place, own in enumerate(self.faults):
            self._acted[place] |= is_swapped and own.swaps_form
            if type(own).wire is not Fault.wire and place not in self._beyond:
                found = list(own.wire(iter(done)))
                self._acted[place] |= found != done
                self._silent[place] |= any(map(is_endless, found)) and not any(map(is_endless, done))
                is_longer = sum(map(is_long, found)) > sum(map(is_long, done))
                self._long[place] |= is_longer and own.kind not in OWN_TIME
                done = found
        return done

    def _written(self, chosen: Sequence[bool]) -> dict[int, Fault]:
        """The faults of the rule that have chosen any of these, by their places."""
        return dict([written for written, is_one in zip(self.written, chosen, strict=True) if is_one])


def chosen(faults: Iterable[tuple[Fault, Occasion]]) -> Trouble:
    """The faults that befall an answer, as their rates and their own choices have it."""
    found: list[Fault] = []
    written: list[tuple[int, Fault]] = []
    occasions: list[Occasion] = []
    idle: list[str] = []
    for place, (own, occasion) in enumerate(faults):
        if own.rate < 1 and occasion.draws("rate", own.kind, place).at(0) >= own.rate:
            continue
        if _is_out_of_place(own, occasion):
            idle.append(told(own))
            continue
        ones = list(_settled(own, occasion, MAX_DEPTH))
        if not ones and not own.spares:
            idle.append(told(own))
        for one in ones:
            if _is_out_of_place(one, occasion):
                idle.append(told(own))
            else:
                found.append(one)
                written.append((place, own))
                occasions.append(occasion)
    return Trouble(found, written, occasions, idle)


def _settled(own: Fault, occasion: Occasion, depth: int) -> Iterator[Fault]:
    for one in own.chosen(occasion):
        if one is own or depth == 0:
            yield one
        else:
            yield from _settled(one, occasion, depth - 1)


def _is_beyond(own: Fault, pieces: float) -> bool:
    """Whether the place at which a fault is to happen lies behind the end of an answer of so many pieces."""
    after = getattr(own, "after", None)
    return isinstance(after, int) and after > pieces


def _falls_silent(events: Iterable[Event]) -> bool:
    return any(
        (isinstance(event, Pause) and event.seconds == math.inf)
        or (isinstance(event, Heartbeat) and event.count is None)
        for event in events
    )


def _long_silences(events: Iterable[Event]) -> int:
    """How often they are silent for long, or as good as silent."""
    spans = [
        event.seconds if isinstance(event, Pause) else event.seconds * (event.count or math.inf)
        for event in events
        if isinstance(event, Pause | Heartbeat)
    ]
    return sum([LONG_SECONDS <= span < math.inf for span in spans])


def _pieces_of(choice: Choice) -> int:
    return len(choice.reasoning or ()) + len(choice.text) + len(choice.tool_calls)


def _is_out_of_place(own: Fault, occasion: Occasion) -> bool:
    """Whether the request is one that the kind is not for."""
    asked = occasion.asked
    return bool(
        (own.endpoints and asked.endpoint not in own.endpoints)
        or (own.surfaces and asked.surface not in own.surfaces)
        or (own.is_for_streams is not None and own.is_for_streams is not asked.is_streamed)
        or not own.suits(occasion)
    )
