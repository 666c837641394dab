"""The files that a server was told of: read again when they are saved, and while they are broken as they were."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engy_mock.cli.options import chosen
from engy_mock.cli.pace import settings_of, takes_time
from engy_mock.vocabulary.clock import StandingClock
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from engy_mock.mock import EngyMock
    from engy_mock.scripting.scenario import Scenario

LIVE = frozenset({"allow-host", "cors-origin", "scenario", "scenario-header", "accounts", "pace", "answers"})
"""The options that a server changes while it runs; others need another start."""

Mark = tuple[int, int]

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
        self._scenarios: list[Scenario] = []
        self._watched: dict[Path, Watched] = {}
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
        self._open_accounts(engy)
        for scenario in self._scenarios:
            engy.gateway.scenes.begin(scenario)

    def look(self, engy: EngyMock) -> None:
        """Read again what has been saved since the last look."""
        for watched in list(self._watched.values()):
            mark = _mark(watched.path)
            if mark == watched.mark:
                continue
            watched.mark = mark
            try:
                self._read_again(watched, engy)
            except MockError as error:
                watched.complaint = f"{error} (what was good before goes on)"
                _log.warning("%s", watched.complaint)
            else:
                _log.info("read again: %s", watched.path)

    def _read_all(self, engy: EngyMock) -> None:
        self._scenarios = self._wanted(engy)
        config, accounts = self.options["config"], self.options["accounts"]
        self._watch([path for path in (config, accounts and Path(accounts)) if path is not None])
        self._watch(self._sources(engy))

    def _wanted(self, engy: EngyMock) -> list[Scenario]:
        found: list[Scenario] = []
        for name in self.options["scenario"]:
            scenes = engy.gateway.scenes
            found.append(scenes.library.named(name))
            for part in scenes.library.with_included(found[-1]):
                scenes.check(part)
        return found

    def _sources(self, engy: EngyMock) -> Iterable[Path]:
        found: list[Path] = []
        for scenario in self._scenarios:
            parts = engy.gateway.scenes.library.with_included(scenario)
            found += [path for part in parts if (path := Path(part.source)).is_file()]
        return found

    def _watch(self, paths: Iterable[Path]) -> None:
        for path in paths:
            self._watched.setdefault(path, Watched(path, _mark(path)))

    def _open_accounts(self, engy: EngyMock) -> None:
        path = self.options["accounts"]
        if path is None:
            return
        from engy_mock.cli.rows import open_accounts

        try:
            open_accounts(Path(path), engy.accounts)
        except MockError as error:
            if Path(path) not in self._watched or self._watched[Path(path)].complaint is None:
                raise
            _log.warning("%s", error)

    def _read_again(self, watched: Watched, engy: EngyMock) -> None:
        """Let what a file says now hold; raises MockError."""
        if watched.path == self.options["config"]:
            watched.complaint = self._choose_again(engy)
            return
        if self.options["accounts"] is not None and watched.path == Path(self.options["accounts"]):
            from engy_mock.cli.rows import open_accounts

            open_accounts(watched.path, engy.accounts)
        else:
            self._play_again(self._wanted(engy), engy)
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
        by_pace = settings_of(self.options["pace"])
        try:
            wanted = self._wanted(engy)
            for model in by_pace["pace_by_model"]:
                engy.gateway.catalog.row(model)
        except MockError:
            self.options = before
            raise
        settings = engy.settings
        settings.allowed_hosts = frozenset(self.options["allow-host"])
        settings.cors_origins = frozenset(self.options["cors-origin"])
        settings.scenario_header = frozenset(self.options["scenario-header"])
        settings.answers = self.options["answers"]
        for name, value in by_pace.items():
            setattr(settings, name, value)
        self._play_again(wanted, engy)
        self._watch([Path(self.options["accounts"])] if self.options["accounts"] else [])
        late = [name for name in self.options if name not in LIVE and self.options[name] != before[name]]
        clock = engy.gateway.clock
        if takes_time(self.options["pace"]) and isinstance(clock, StandingClock):
            clock.run()  # under a clock that stands nobody waits
        return f"{self.options['config']}: {', '.join(late)} need another start" if late else None

    def _play_again(self, wanted: list[Scenario], engy: EngyMock) -> None:
        """Let these scenarios take part in place of those before, each in the phase in which it was."""
        scenes = engy.gateway.scenes
        under_way = {scene.name: scene for scene in scenes.stage.scenes}
        names = [scenario.name for scenario in wanted]
        for scenario in self._scenarios:
            if scenario.name not in names and scenario.name in under_way:
                under_way[scenario.name].end()
        before = {scenario.name: scenario for scenario in self._scenarios}
        self._scenarios = wanted
        for scenario in wanted:
            if scenario.name in before and scenario.name not in under_way:
                continue  # somebody has ended it in the meantime
            phase = under_way[scenario.name].phase if scenario.name in under_way else None
            scene = scenes.begin(scenario)
            if phase is not None and phase in [one.name for one in scenario.phases]:
                scene.go(phase)
        self._watch(self._sources(engy))


def _mark(path: Path) -> Mark | None:
    """What changes when a file is saved; None if there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
