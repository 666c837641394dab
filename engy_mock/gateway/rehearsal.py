"""A call that is answered by a copy of the mock, so that nobody can tell afterwards that it was asked."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal
from engy_mock.dialects import routes
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.script import Script
from engy_mock.scripting.stage import Scene, Stage
from engy_mock.vocabulary.errors import InvalidRequest
from engy_mock.vocabulary.wire import Call, Step

if TYPE_CHECKING:
    from engy_mock.gateway import Gateway
    from engy_mock.gateway.scenes import Scenes


def rehearse(gateway: "Gateway", call: Call) -> tuple[Entry, list[Step]]:
    """The entry and the steps that the call would get now; raises InvalidRequest if that cannot be told.

    Balances, limits, cache, rules with a count, their memory and the ids are copies. Functions in rules run as
    they would for the real call.
    """
    if call.method not in ("GET", "OPTIONS") and routes.speaker(call.path).endpoint == "records":
        raise InvalidRequest("what changes model records cannot be rehearsed")
    understudy = _understudy(gateway)
    entries: list[Entry] = []
    steps = list(understudy.answer(call, entries.append))
    return entries[0], steps


def _understudy(gateway: "Gateway") -> "Gateway":
    """A gateway that would answer the next call as this one would."""
    other = copy(gateway)
    other.journal, other.defects, other._lock = Journal(), [], Lock()
    other.accounts, other.fleet, other.cache = gateway.accounts.copy(), gateway.fleet.copy(), gateway.cache.copy()
    other.settings = replace(gateway.settings)
    other.scenes = cast("Scenes", _Scenes(gateway.scenes))
    staged = other.scenes.stage.rules()
    other.script = Script(now=gateway.now, rules=list(_copies(gateway.script.rules)), more=lambda: staged)
    other.identities = gateway.identities.copy()
    other._patience = None  # a rehearsal moves no clock
    other.replay = None if gateway.replay is None else gateway.replay.copy()
    other._direction = gateway._direction.copy(other)
    other._speaker = gateway._speaker.copy(other)
    return other


def _copies(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The same rules, used as often, with memories of their own."""
    return tuple([replace(rule, memory=rule.memory.copy()) for rule in rules])


class _Scenes:
    """The scenarios under way, which do not go on."""

    def __init__(self, scenes: "Scenes") -> None:
        self.stage: Any = _Stage(scenes.stage)
        self._scenes = scenes

    def aside(self, name: str) -> "_Stage":
        return _Stage(self._scenes.aside(name))


class _Stage:
    """Their rules at this moment."""

    def __init__(self, stage: "Stage") -> None:
        self._rules = _copies(stage.rules())
        self.scenes: Sequence[Scene] = stage.scenes

    def rules(self) -> tuple[Rule, ...]:
        return self._rules

    def tick(self) -> None:
        """Time stands still in a rehearsal."""

    def count(self) -> None:
        """A rehearsal is no request."""
