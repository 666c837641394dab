"""Scenarios by name: those of the user's own folders before those that come with the package."""

import re
from collections.abc import Iterable, Iterator
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

if TYPE_CHECKING:
    from engy_mock.scripting.scenario import Scenario

ENDINGS = (".yaml", ".yml", ".json")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_NAME = 60
MAX_INCLUDED = 100


def shipped() -> Path:
    """The folder with the scenarios that come with the package."""
    package = Path(__file__).parents[1]
    inside = package / "scenarios"
    return inside if inside.is_dir() else package.parent / "scenarios"


class Library:
    """Finds scenarios by name in folders, the first that has one wins; never anywhere else."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self.folders = (*folders, shipped())

    def names(self) -> list[str]:
        """The names that can be found, in order."""
        files = [path for folder in self.folders for path in _inside(folder)]
        return sorted({path.name.partition(".")[0] for path in files if path.suffix in ENDINGS})

    def find(self, name: str) -> "Scenario":
        """The scenario of this name; raises MockError."""
        return _read(self.path_of(name))

    def path_of(self, name: str) -> Path:
        """Where the scenario of this name stands; raises MockError."""
        if not NAME.fullmatch(name):
            raise MockError(f"{quoted(name)} is no name of a scenario: lower case letters, digits and hyphens are")
        if len(name) > MAX_NAME:
            raise MockError(f"{quoted(name)} is no name of a scenario: it has more than {MAX_NAME} characters")
        for folder in self.folders:
            for ending in ENDINGS:
                path = folder / f"{name}{ending}"
                if not _is_file(path):
                    continue
                if folder.resolve() not in path.resolve().parents:
                    raise MockError(f"{path}: leads out of its folder")
                return path
        known = self.names()
        hint = did_you_mean(name, known) or (
            " `engy-mock scenarios list` shows those that there are; folders of your own are named by "
            "scenario_folders=, or --scenarios."
        )
        raise MockError(f"there is no scenario {name!r}.{hint}")

    def named(self, wanted: str | Path) -> "Scenario":
        """The scenario of this name, or in the file at this path; raises MockError."""
        if isinstance(wanted, Path) or wanted.endswith(ENDINGS) or "/" in wanted or "\\" in wanted:
            return _read(Path(wanted))
        return self.find(wanted)

    def with_included(self, scenario: "Scenario") -> Iterator["Scenario"]:
        """A scenario and all that it includes, each once, in the order in which they take part.

        Raises MockError for a circle, and for two files of one name. What a scenario includes stands in its own
        folder or in this library.
        """
        yield from _unfolded(scenario, self, (), {})


def check_same(one: "Scenario", other: "Scenario") -> None:
    """Raise MockError for two scenarios of one name that do not come from the same file."""
    if one.source != other.source and realpath(one.source) != realpath(other.source):
        raise MockError(f"two scenarios are called {one.name}: {one.source} and {other.source}")


def _inside(folder: Path) -> list[Path]:
    """What is in a folder, nothing if there is none; raises MockError for one that cannot be read."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        raise MockError(f"{quoted(str(folder))}: cannot be read: {quoted(str(error))}") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError) as error:
        raise MockError(f"{quoted(str(path))}: cannot be read: {quoted(str(error))}") from None


def _read(path: Path) -> "Scenario":
    # Here and not at the top: a mock without scenarios should not pay for loading what reads them.
    from engy_mock.scripting.scenario import from_file

    return from_file(path)


def _unfolded(
    scenario: "Scenario", library: Library, around: tuple[str, ...], seen: dict[str, "Scenario"]
) -> Iterator["Scenario"]:
    if scenario.name in seen:
        check_same(seen[scenario.name], scenario)
    if scenario.name in around:
        circle = " > ".join((*around[around.index(scenario.name) :], scenario.name))
        raise MockError(f"{scenario.source}: scenarios include each other: {circle}")
    if scenario.name in seen:
        return
    seen[scenario.name] = scenario
    if len(seen) > MAX_INCLUDED:
        raise MockError(f"{scenario.source}: more than {MAX_INCLUDED} scenarios are included")
    yield scenario
    own = Library((Path(scenario.source).parent, *library.folders[:-1]))
    for name in scenario.include:
        try:
            found = own.find(name)
        except MockError as error:
            raise MockError(f"{scenario.source}, include: {error}") from None
        yield from _unfolded(found, library, (*around, scenario.name), seen)
