"""Scenarios under way: in which phase each of them is, and which rules are in force."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from engy_mock.scripting.library import check_same
from engy_mock.scripting.memory import Memory
from engy_mock.scripting.rules import Rule
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    # Reading scenarios takes a while to load: only those who have one should pay for it.
    from engy_mock.scripting.scenario import Phase, Scenario

MAX_TURNS = 10_000
"""How many phases without length may follow each other at one moment."""


class Scene:
    """One scenario under way. Its phases end by count, by time, or by `go`."""

    def __init__(self, scenario: "Scenario", stage: "Stage", now: float) -> None:
        self.scenario = scenario
        self._stage = stage
        self._common = _anew(scenario.rules, now)
        self._requests = 0
        self._began = now
        self.current: Phase | None = None
        self.rules: tuple[Rule, ...] = self._common
        if scenario.phases:
            self.enter(scenario.phases[0], now)

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.scenario.name

    @property
    def phase(self) -> str | None:
        """The name of the phase that it is in; None if it has no phases."""
        self._stage.rules()
        return None if self.current is None else self.current.name

    def go(self, phase: str) -> None:
        """Go to the phase of this name; raises MockError."""
        self._stage.go(self, phase)

    def end(self) -> None:
        """Take part no longer."""
        self._stage.end(self.name)

    def enter(self, phase: "Phase", now: float) -> None:
        """Begin a phase at this moment of mock time, its rules unused."""
        self.current = phase
        self._began = now
        self._requests = 0
        self.rules = (*_anew(phase.rules, now), *self._common)

    def tick(self, now: float) -> bool:
        """Leave the phases whose time is over at this moment; returns whether there were any."""
        met: dict[str, float] = {}
        for turn in range(MAX_TURNS):
            phase = self.current
            if phase is not None and phase.name in met:
                # Round again: whole rounds leave it where it is, however many there were time for.
                round_trip = self._began - met[phase.name]
                if round_trip > 0:
                    self._began += max(now - self._began, 0) // round_trip * round_trip
                    met = {}
            if phase is not None:
                met[phase.name] = self._began
            if phase is None or phase.seconds is None or phase.next is None or now < self._began + phase.seconds:
                return turn > 0
            self.enter(self.scenario.phase(phase.next), self._began + phase.seconds)
        raise MockError(f"scenario {self.name}: its phases follow each other without taking any time")

    def count(self, now: float) -> bool:
        """Take note of a request; returns whether it was the last of its phase."""
        self._requests += 1
        phase = self.current
        if phase is None or phase.requests is None or phase.next is None or self._requests < phase.requests:
            return False
        self.enter(self.scenario.phase(phase.next), now)
        return True


def _anew(rules: Iterable[Rule], now: float) -> tuple[Rule, ...]:
    """The same rules, unused."""
    return tuple(replace(rule, used=0, met=0, tokens=0, began=now, memory=Memory()) for rule in rules)


class Stage:
    """The scenarios of one mock that are under way, in the order in which they were begun.

    `changed` is called when their models may have become others.
    """

    def __init__(self, now: Callable[[], float], changed: Callable[[], None]) -> None:
        self._now = now
        self._changed = changed
        self._scenes: list[Scene] = []
        self._rules: tuple[Rule, ...] = ()
        self._lock = RLock()

    @property
    def scenes(self) -> Sequence[Scene]:
        """The scenarios under way."""
        return tuple(self._scenes)

    def still(self) -> AbstractContextManager[object]:
        """Nothing begins, moves on or ends in a block of this."""
        return self._lock

    def check(self, scenario: "Scenario") -> None:
        """Raise MockError if another file's scenario of this name takes part."""
        for scene in self._scenes:
            if scene.name == scenario.name:
                check_same(scene.scenario, scenario)

    def begin(self, scenario: "Scenario") -> Scene:
        """Let a scenario take part; one that does already begins anew, in its old place."""
        with self._lock:
            scene = Scene(scenario, self, self._now())
            for place, other in enumerate(self._scenes):
                if other.name == scenario.name:
                    self._scenes[place] = scene
                    break
            else:
                self._scenes.append(scene)
            self._refresh()
            return scene

    def end(self, name: str) -> None:
        """Let a scenario take part no longer; raises MockError if it does not."""
        with self._lock:
            left = [scene for scene in self._scenes if scene.name != name]
            if len(left) == len(self._scenes):
                names = ", ".join(scene.name for scene in self._scenes) or "none"
                raise MockError(f"scenario {name!r:.80} is not under way: {names} is")
            self._scenes = left
            self._refresh()

    def clear(self) -> None:
        """End all scenarios."""
        with self._lock:
            if self._scenes:
                self._scenes = []
                self._refresh()

    def go(self, scene: Scene, phase: str) -> None:
        """Let a scenario go to one of its phases; raises MockError."""
        if not isinstance(phase, str):
            raise MockError(f"go takes the name of a phase, got {phase!r:.80}")
        with self._lock:
            if not any(other is scene for other in self._scenes):
                raise MockError(f"scenario {scene.name} is not under way: it has ended, or began anew")
            scene.enter(scene.scenario.phase(phase), self._now())
            self._refresh()

    def rules(self) -> tuple[Rule, ...]:
        """The rules in force at this moment."""
        self.tick()
        return self._rules

    def tick(self) -> None:
        """Leave the phases whose time is over at this moment."""
        if self._scenes:
            with self._lock:
                now = self._now()
                moved = [scene for scene in self._scenes if scene.tick(now)]
                if moved:
                    self._refresh()

    def count(self) -> None:
        """A request for an answer of a model has come as far as the rules."""
        if self._scenes:
            with self._lock:
                now = self._now()
                moved = [scene for scene in self._scenes if scene.count(now)]
                if moved:
                    self._refresh()

    def _refresh(self) -> None:
        self._rules = tuple(rule for scene in self._scenes for rule in scene.rules)
        self._changed()
