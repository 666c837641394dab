"""What faults make of one answer: which of them are chosen, where each of them acts, and which found no place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import Fault, Own, told
from engy_mock.scripting.occasion import Occasion
from engy_mock.vocabulary.events import Event, Refused
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.wire import Step

MAX_DEPTH = 8
"""How often a fault may choose others in its place."""


@dataclass(slots=True)
class Trouble:
    """The faults of one answer; `applied` and `idle` name them as the journal does, in order.

    A fault that changes nothing has not been applied, whatever the reason: it is told, never dropped.
    """

    faults: list[Fault]
    idle: list[str] = field(default_factory=list)
    _acted: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        # What is early and has found its place has acted before the body was read.
        self._acted = [isinstance(own, Early) for own in self.faults]

    @property
    def applied(self) -> list[str]:
        """The faults that have changed the answer."""
        return [told(own) for own, acted in zip(self.faults, self._acted, strict=True) if acted]

    @property
    def not_applied(self) -> list[str]:
        """The faults that have changed nothing."""
        return self.idle + [told(own) for own, acted in zip(self.faults, self._acted, strict=True) if not acted]

    @property
    def is_free(self) -> bool:
        """Whether a fault has put something in place of the answer that nobody pays for."""
        return any(own.is_free for own, acted in zip(self.faults, self._acted, strict=True) if acted)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The answer that is told instead of this one."""
        for place, own in enumerate(self.faults):
            if type(own).retold is not Fault.retold:
                found = own.retold(generation, occasion)
                self._acted[place] |= found != generation
                generation = found
        return generation

    def events(self, events: list[Event]) -> list[Event]:
        """The events that are told instead of these; a refusal is not an answer that could be changed."""
        for place, own in enumerate(self.faults):
            if isinstance(events[0], Refused) and not own.takes_refusals:
                continue
            if type(own).__call__ is not Fault.__call__:
                found = list(own(iter(events)))
                self._acted[place] |= isinstance(own, Own) or found != events
                events = found
        refused = next((event for event in events if isinstance(event, Refused)), None)
        return events if refused is None else [refused]

    def steps(self, steps: Iterable[Step]) -> list[Step]:
        """The steps that are performed instead of these."""
        done = list(steps)
        for place, own in enumerate(self.faults):
            if type(own).wire is not Fault.wire:
                found = list(own.wire(iter(done)))
                self._acted[place] |= found != done
                done = found
        return done


def chosen(faults: Iterable[tuple[Fault, Occasion]]) -> Trouble:
    """The faults that befall an answer, as their rates and their own choices have it."""
    found: list[Fault] = []
    idle: list[str] = []
    for place, (own, occasion) in enumerate(faults):
        if own.rate < 1 and occasion.draws("rate", own.kind, place).at(0) >= own.rate:
            continue
        for one in _settled(own, occasion, MAX_DEPTH):
            if _is_out_of_place(one, occasion):
                idle.append(told(one))
            else:
                found.append(one)
    return Trouble(found, idle)


def _settled(own: Fault, occasion: Occasion, depth: int) -> Iterator[Fault]:
    for one in own.chosen(occasion):
        if one is own or depth == 0:
            yield one
        else:
            yield from _settled(one, occasion, depth - 1)


def _is_out_of_place(own: Fault, occasion: Occasion) -> bool:
    """Whether the request is one that the kind is not for."""
    asked = occasion.asked
    return bool(
        (own.endpoints and asked.endpoint not in own.endpoints)
        or (own.surfaces and asked.surface not in own.surfaces)
        or (own.is_for_streams is not None and own.is_for_streams is not asked.is_streamed)
        or not own.suits(occasion)
    )
