"""Scenarios by name: those of the user's own folders before those that come with the package."""

import re
from collections.abc import Callable, Iterable, Iterator
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

if TYPE_CHECKING:
    from engy_mock.scripting.scenario import Scenario

ENDINGS = (".yaml", ".yml", ".json")
NAME = re.compile(r"\.*[a-z0-9_-][a-z0-9._-]*")
"""Names of scenarios: no path, and nothing but dots is none (Q-26)."""

MAX_NAME = 64
LETTERS = "lower case letters, digits, dots, hyphens and underscores"
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
        return sorted({path.stem for path in files if path.suffix in ENDINGS})

    def find(self, name: str) -> "Scenario":
        """The scenario of this name; raises MockError."""
        return _read(self.path_of(name))

    def path_of(self, name: str) -> Path:
        """Where the scenario of this name stands; raises MockError."""
        if not NAME.fullmatch(name):
            raise MockError(f"{quoted(name)} is no name of a scenario: {LETTERS} are")
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
        if name in known:
            raise MockError(f"the scenario {name!r} is no file that can be read")
        hint = did_you_mean(name, known) or (
            " `engy-mock scenarios list` shows those that there are; folders of your own are named by "
            "scenario_folders=, or --scenarios."
        )
        raise MockError(f"there is no scenario {name!r}.{hint}")

    def named(self, wanted: str | Path) -> "Scenario":
        """The scenario of this name, or in the file at this path; raises MockError."""
        if isinstance(wanted, Path) or is_path(wanted):
            return _read(Path(wanted))
        return self.find(wanted)

    def with_included(self, scenario: "Scenario") -> Iterator["Scenario"]:
        """A scenario and all that it includes, each once, in the order in which they take part.

        Raises MockError for a circle, and for two files of one name. What a scenario includes stands in its own
        folder or in this library.
        """
        yield from _Unfolding(self, _raised).of(scenario)

    def with_mistakes(self, wanted: str | Path, tell: Callable[[MockError], None]) -> Iterator["Scenario"]:
        """A scenario and all that it includes as far as they can be read; `tell` hears of every mistake."""
        try:
            scenario = self.named(wanted)
        except MockError as error:
            tell(error)
            rest = rest_of(error)
            if rest is None:
                return
            scenario = rest
        yield from _Unfolding(self, tell).of(scenario)


def is_path(wanted: str) -> bool:
    """Whether it is the path of a file that somebody means, and not the name of a scenario."""
    return wanted.endswith(ENDINGS) or "/" in wanted or "\\" in wanted


def check_folder(folder: Path) -> None:
    """Raise MockError for what is no folder to look into."""
    if not folder.is_dir():
        raise MockError(f"{quoted(str(folder))}: there is no such folder to look for scenarios in")


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


def rest_of(error: MockError) -> "Scenario | None":
    """What can be read of a file in spite of its mistakes."""
    rest: Scenario | None = getattr(error, "rest", None)
    return rest


def _raised(error: MockError) -> None:
    raise error


class _Unfolding:
    """Goes from a scenario to those that it includes, each once; `tell` hears of what is wrong on the way."""

    def __init__(self, library: Library, tell: Callable[[MockError], None]) -> None:
        self._library = library
        self._tell = tell
        self._seen: dict[str, Scenario] = {}

    def of(self, scenario: "Scenario", around: tuple[str, ...] = ()) -> Iterator["Scenario"]:
        """The scenario, then those that it includes; `around` are the names of those that led to it."""
        self._seen[scenario.name] = scenario
        yield scenario
        around = (*around, scenario.name)
        own = Library((Path(scenario.source).parent, *self._library.folders[:-1]))
        for number, name in enumerate(scenario.include):
            place = scenario.at("include", number)
            found = self._found(own, name, place)
            if found is None:
                continue
            if found.name in around:
                circle = " > ".join((*around[around.index(found.name) :], found.name))
                self._tell(_placed(place, f"scenarios include each other: {circle}"))
            elif found.name not in self._seen:
                if len(self._seen) >= MAX_INCLUDED:
                    self._tell(_placed(place, f"more than {MAX_INCLUDED} scenarios are included"))
                    return
                yield from self.of(found, around)

    def _found(self, library: Library, name: str, place: str) -> "Scenario | None":
        """What stands under a name that is included."""
        known = self._seen.get(name)
        try:
            found = library.find(name) if known is None else _read_again(known, library.path_of(name))
        except MockError as error:
            # A file with mistakes names their places itself.
            self._tell(error if hasattr(error, "mistakes") else _placed(place, str(error)))
            return rest_of(error)
        if known is not None and known is not found:
            try:
                check_same(known, found)
            except MockError as error:
                self._tell(_placed(place, str(error)))
                return None
        return found


def _placed(place: str, message: str) -> MockError:
    from engy_mock.scripting.mistakes import MistakenFile

    return MistakenFile((f"{place}: {message}",))


def _read_again(known: "Scenario", path: Path) -> "Scenario":
    """The scenario that is known, unless the path leads to another file."""
    return known if realpath(known.source) == realpath(path) else _read(path)
