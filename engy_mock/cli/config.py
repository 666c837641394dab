"""Options in a file: `[tool.engy-mock]` of a `pyproject.toml`, or a YAML or TOML file of their own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engy_mock.cli.options import NAMES, OPTIONS, value_of
from engy_mock.vocabulary import files
from engy_mock.vocabulary.errors import MockError, did_you_mean

if TYPE_CHECKING:
    from engy_mock.scripting.notation import Place, Sheet

PROJECT = "pyproject.toml"
TABLE = "engy-mock"
YAML = frozenset({".yaml", ".yml", ".json"})
MAX_BYTES = 1024 * 1024


def from_file(path: Path | None) -> tuple[Path | None, dict[str, Any]]:
    """The file that was read and what it says; without a path the project's in this folder, if it says anything.

    Raises MockError with file, line and key of a mistake.
    """
    if path is None:
        path = Path(PROJECT)
        # Most projects say nothing, and need not wait for what reads files of options.
        if not path.is_file() or _own(_value(path)) is None:
            return None, {}
        return path, _options(_project(path), path.parent)
    sheet = read(path)
    if sheet.value is None:
        what = f"there is no table [tool.{TABLE}]" if path.name == PROJECT else "there are no options in it"
        raise MockError(f"{path}: {what}")
    return path, _options(sheet, path.parent)


def read(path: Path) -> Sheet:
    """A file with data, whichever of the known languages it is in; raises MockError."""
    if path.suffix in YAML:
        from engy_mock.scripting import notation

        return notation.read_file(path)
    if path.name == PROJECT:
        return _project(path)
    if path.suffix != ".toml":
        raise MockError(f"{path}: a YAML, JSON or TOML file is wanted")
    return _toml(path)


def _project(path: Path) -> Sheet:
    """What a project says of this package alone; its value is None if that is nothing."""
    from engy_mock.scripting.notation import Sheet

    # What stands in other tables is no concern of anybody's here.
    return Sheet(f"{path}, [tool.{TABLE}]", _own(_value(path)), {("",): 1})


def _own(value: dict[str, Any]) -> Any:
    """What a project says of this package; None if that is nothing."""
    tool = value.get("tool", {})
    return tool.get(TABLE) if isinstance(tool, dict) else None


def _toml(path: Path) -> Sheet:
    from engy_mock.scripting.notation import Sheet

    value = _value(path) or None  # what is empty says nothing, as in YAML
    return Sheet(str(path), value, _lines(files.read(path, MAX_BYTES).decode("utf-8-sig")))


def _value(path: Path) -> dict[str, Any]:
    text = files.read(path, MAX_BYTES, str(path))
    try:
        return tomllib.loads(text.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        place = re.search(r"line \d+", str(error))
        where = f"{path}, {place[0]}" if place else str(path)
        raise MockError(f"{where}: not valid TOML: {str(error).partition(' (')[0]}") from None


def _lines(text: str) -> dict[Place, int]:
    """The lines of the keys at the top of a TOML file."""
    found: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            break
        key = line.partition("=")[0].strip().strip("\"'")
        if key and not key.startswith("#"):
            found.setdefault((key,), number)
    return found


def _options(sheet: Sheet, folder: Path) -> dict[str, Any]:
    """The options in what was read."""
    if not isinstance(sheet.value, dict):
        raise MockError(f"{sheet.source}: options are a mapping, got {type(sheet.value).__name__}")
    by_name = {option.name: option for option in OPTIONS}
    found: dict[str, Any] = {}
    for key, said in sheet.value.items():
        option = by_name.get(str(key).replace("_", "-"))
        place = sheet.at((key,)) if (key,) in sheet.lines else f"{sheet.source}, {key}"
        if option is None:
            hint = did_you_mean(str(key), NAMES) or f" Known are {', '.join(NAMES)}."
            raise MockError(f"{place}: there is no such option.{hint}")
        if said is not None:
            found[option.name] = value_of(option, said, place, folder)
    return found
