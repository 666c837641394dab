"""The files that a server was told of: read again when they are saved, and while they are broken as they were."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engy_mock.cli.options import chosen
from engy_mock.cli.pace import settings_of, takes_time
from engy_mock.scripting.library import check_folder, check_same
from engy_mock.vocabulary.clock import StandingClock
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.files import Mark, mark

if TYPE_CHECKING:
    from engy_mock.cli.rows import Rows
    from engy_mock.gateway import Settings
    from engy_mock.mock import EngyMock
    from engy_mock.scripting.scenario import Scenario
    from engy_mock.scripting.stage import Scene

LIVE = frozenset({"allow-host", "cors-origin", "scenario", "scenario-header", "accounts", "pace", "answers"})
"""The options that a server changes while it runs; others need another start."""

_log = logging.getLogger("engy_mock")


@dataclass(slots=True)
class Watched:
    """A file, how it looked last, and what is wrong with it."""

    path: Path
    mark: Mark | None
    complaint: str | None = None


class Files:
    """The scenarios, accounts and options of one server.

    `given` is what the command line says, which counts before the environment and the file with options.
    """

    def __init__(self, given: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> None:
        self._given = given
        self._environment = environment
        self.options = self._choose()
        self._first = self.options
        self._scenarios: list[Sequence[Scenario]] = []
        self._watched: dict[Path, Watched] = {}
        self._rows: Rows = {}
        self._is_read = False

    @property
    def complaints(self) -> list[str]:
        """What is wrong with files, and has to wait for another start."""
        return [one.complaint for one in self._watched.values() if one.complaint is not None]

    def prepare(self, engy: EngyMock) -> None:
        """Make a mock that is as new what the files want; raises MockError for a file that was never good."""
        if not self._is_read:
            self._read_all(engy)
            self._is_read = True
        self._settle(engy.settings)
        self._let_time_pass(engy)
        if self._rows:
            self._open_accounts(engy, self._rows)
        for parts in self._scenarios:
            engy.gateway.scenes.play(parts)

    def look(self, engy: EngyMock) -> None:
        """Read again what has been saved since the last look."""
        self._watch_scenarios(engy)
        for watched in list(self._watched.values()):
            now = mark(watched.path)
            if now == watched.mark:
                continue
            watched.mark = now
            try:
                self._read_again(watched, engy)
            except MockError as error:
                watched.complaint = f"{error} (what was good before goes on)"
                _log.warning("%s", watched.complaint)
            else:
                _log.info("read again: %s", watched.path)
                if watched.complaint is not None:
                    _log.warning("%s", watched.complaint)

    def _read_all(self, engy: EngyMock) -> None:
        for folder in self.options["scenarios"]:
            check_folder(Path(folder))
        self._scenarios = self._wanted(engy)
        config, accounts = self.options["config"], self.options["accounts"]
        for path in (config, accounts and Path(accounts)):
            if path is not None:
                self._watch(path, mark(path))
        self._rows = self._read_accounts(self.options)

    def _wanted(self, engy: EngyMock) -> list[Sequence[Scenario]]:
        """What takes part from the start, each with all that it includes; raises MockError."""
        scenes = engy.gateway.scenes
        scenes.check_aside(self.options["scenario-header"])
        return [scenes.unfolded(scenes.library.named(name)) for name in self.options["scenario"]]

    def _watch_scenarios(self, engy: EngyMock) -> None:
        """Watch what takes part from the start, and what somebody has let take part since; nothing else."""
        under_way = [*[part for parts in self._scenarios for part in parts], *engy.gateway.scenes.from_files]
        sources = {Path(scenario.source): scenario.mark for scenario in under_way}
        config, accounts = self.options["config"], self.options["accounts"]
        others = {path for path in (config, accounts and Path(accounts)) if path is not None}
        for path in self._watched.keys() - sources.keys() - others:
            del self._watched[path]
        for path, seen in sources.items():
            self._watch(path, seen)

    def _watch(self, path: Path, seen: Mark | None) -> None:
        self._watched.setdefault(path, Watched(path, seen))

    def _read_accounts(self, options: Mapping[str, Any]) -> Rows:
        """What the file with accounts says now; raises MockError."""
        if options["accounts"] is None:
            return {}
        from engy_mock.cli.rows import read_accounts

        return read_accounts(Path(options["accounts"]))

    def _open_accounts(self, engy: EngyMock, rows: Rows, before: Rows | None = None) -> None:
        """Let these accounts be there, in place of those before; raises MockError, and all is as it was."""
        from engy_mock.cli.rows import open_accounts

        # On their way out, scenarios put the terms back that they have found.
        engy.gateway.scenes.beneath(
            lambda: open_accounts(Path(str(self.options["accounts"])), engy.accounts, rows, before)
        )
        self._rows = rows

    def _read_again(self, watched: Watched, engy: EngyMock) -> None:
        """Let what a file says now hold; raises MockError."""
        if watched.path == self.options["config"]:
            watched.complaint = self._choose_again(engy)
            return
        if self.options["accounts"] is not None and watched.path == Path(self.options["accounts"]):
            self._open_accounts(engy, self._read_accounts(self.options), self._rows)
        elif any(Path(part.source) == watched.path for parts in self._scenarios for part in parts):
            self._play_again(self._wanted(engy), engy)
            engy.gateway.scenes.read_again(watched.path)
        else:
            engy.gateway.scenes.read_again(watched.path)
        watched.complaint = None

    def _choose(self, config: Path | None = None) -> dict[str, Any]:
        """The options as the files have them now; raises MockError."""
        given = self._given if config is None else {**self._given, "config": config}
        return chosen(given, self._environment)

    def _choose_again(self, engy: EngyMock) -> str | None:
        """Choose the options anew; returns what only another start would change."""
        # A file that has been found is asked for from then on: if it is away, or says nothing, that is a mistake.
        before = self.options
        self.options = self._choose(before["config"])
        try:
            wanted = self._wanted(engy)
            for model in settings_of(self.options["pace"])["pace_by_model"]:
                engy.gateway.catalog.row(model)
            self._leaving(wanted, engy)
            self._settle(replace(engy.settings))
            rows = self._read_accounts(self.options)
            if rows != self._rows:
                self._open_accounts(engy, rows, self._rows)
        except MockError:
            self.options = before
            raise
        engy.gateway.scenes.beneath(lambda: self._settle(engy.settings))
        self._play_again(wanted, engy)
        if self.options["accounts"]:
            self._watch(Path(self.options["accounts"]), mark(Path(self.options["accounts"])))
        self._let_time_pass(engy)
        late = [name for name in self.options if name not in LIVE and self.options[name] != self._first[name]]
        return f"{self.options['config']}: another start is needed for {', '.join(late)}" if late else None

    def _settle(self, settings: Settings) -> None:
        """Let the options that are settings hold; raises MockError."""
        settings.allowed_hosts = frozenset(self.options["allow-host"])
        settings.cors_origins = frozenset(self.options["cors-origin"])
        settings.scenario_header = frozenset(self.options["scenario-header"]) or False
        settings.answers = self.options["answers"]
        for name, value in settings_of(self.options["pace"]).items():
            setattr(settings, name, value)

    def _let_time_pass(self, engy: EngyMock) -> None:
        """Let the clock run if answers are to take time: under one that stands nobody waits."""
        clock = engy.gateway.clock
        if takes_time(self.options["pace"]) and isinstance(clock, StandingClock):
            clock.run()

    def _play_again(self, wanted: list[Sequence[Scenario]], engy: EngyMock) -> None:
        """Let these scenarios take part in place of those before; what somebody has ended since stays so."""
        scenes = engy.gateway.scenes
        before = {part.name for parts in self._scenarios for part in parts}
        for scene in self._leaving(wanted, engy):
            before.discard(scene.name)  # what takes its name takes part
            scene.end()
        under_way = {scene.name for scene in scenes.stage.scenes}
        self._scenarios = wanted
        for parts in wanted:
            scenes.play_again([part for part in parts if part.name in under_way or part.name not in before])

    def _leaving(self, wanted: list[Sequence[Scenario]], engy: EngyMock) -> list[Scene]:
        """What takes part no longer; raises MockError for two of one name among what does."""
        before = {(part.name, part.source) for parts in self._scenarios for part in parts}
        after = [part for parts in wanted for part in parts]
        gone = before - {(part.name, part.source) for part in after}
        found: list[Scene] = []
        staying = list(after)
        for scene in engy.gateway.scenes.stage.scenes:
            if (scene.name, scene.scenario.source) in gone:
                found.append(scene)
            else:
                staying.append(scene.scenario)
        by_name: dict[str, Scenario] = {}
        for one in staying:
            check_same(by_name.setdefault(one.name, one), one)
        return found
