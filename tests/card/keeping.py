"""The results that are kept: one line of JSON for each kind, and the versions that they were seen with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps, loads
from pathlib import Path

from tests.card.columns import COLUMNS
from tests.card.result import Result, read

FILE = Path(__file__).with_name("results.json")

Cell = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of each call, by kind, column and form; calls that are not there had no place for the kind."""

    versions: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[Cell, Result] = field(default_factory=dict)


def written(kept: Kept) -> str:
    """The text of the file."""
    lines = [f'{{"versions": {dumps(dict(kept.versions))},', '"results": {']
    rows = []
    for kind in sorted({kind for kind, _, _ in kept.card}):
        found = {
            column.name: {
                form: str(kept.card[kind, column.name, form])
                for form in column.forms
                if (kind, column.name, form) in kept.card
            }
            for column in COLUMNS
        }
        rows.append(f"{dumps(kind)}: {dumps({name: forms for name, forms in found.items() if forms})}")
    return "\n".join([*lines, ",\n".join(rows), "}}"]) + "\n"


def parsed(text: str) -> Kept:
    """What such a text says."""
    found = loads(text)
    card = {
        (kind, column, form): read(result)
        for kind, columns in found["results"].items()
        for column, forms in columns.items()
        for form, result in forms.items()
    }
    return Kept(versions=found["versions"], card=card)


def kept() -> Kept:
    """What the project keeps; nothing before the first run."""
    return parsed(FILE.read_text("utf-8")) if FILE.exists() else Kept()


def differences(known: Mapping[Cell, Result], now: Mapping[Cell, Result]) -> list[str]:
    """What has been seen now and is not what is kept, in words."""
    return [
        f"{' '.join(cell)}: {now[cell]}, on the card {known.get(cell, 'n/a')}"
        for cell in sorted(now)
        if str(now[cell]) != str(known.get(cell, "n/a"))
    ]
