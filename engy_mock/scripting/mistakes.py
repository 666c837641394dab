"""What is wrong with a file: all of it at once, each mistake with its line and key."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engy_mock.scripting.notation import Place, Sheet
from engy_mock.vocabulary.errors import MockError

if TYPE_CHECKING:
    from engy_mock.scripting.scenario import Scenario


class MistakenFile(MockError):
    """A file has mistakes, each of which names its place; `rest` is what the file says without them."""

    def __init__(self, mistakes: tuple[str, ...], rest: "Scenario | None" = None) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes
        self.rest = rest


class Mistakes:
    """The mistakes of one file, in the order of its lines."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._found: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, message: str) -> None:
        """Note down what is wrong at a place."""
        self._found.append((self._sheet.line_of(place), f"{self._sheet.at(place)}: {message}"))

    @contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Note down what a block complains of; an error that names its parameter stands there."""
        try:
            yield
        except MockError as error:
            self.note(place, error)

    def placed(self, error: MockError) -> None:
        """Note down an error that names its place itself."""
        self._found.append((0, str(error)))

    def note(self, place: Place, error: MockError) -> None:
        """Note down an error that a place has led to."""
        parameter = getattr(error, "parameter", None)
        self.add(place if parameter is None else (*place, parameter), str(error))

    @property
    def told(self) -> tuple[str, ...]:
        """Each mistake with its place."""
        return tuple([said for _, said in sorted(self._found, key=lambda one: one[0])])
