"""What was recorded of clients when the catalogue was made, cell by cell."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.matrix.columns import COLUMNS, STREAMED, Column
from tests.matrix.outcome import Outcome, read

ALSO = {"ON chat": ("ON chat", "ON6 chat")}
"""Columns of which the facts of another one hold, too: they were recorded with the older release."""

FACTS = Path(__file__).with_name("recorded.yaml")


def recorded(text: str | None = None) -> Mapping[tuple[str, str, str], Outcome]:
    """The recorded outcome by kind, column and form; raises ValueError for what is none."""
    columns = {column.name: column for column in COLUMNS}
    found: dict[tuple[str, str, str], Outcome] = {}
    for kind, rows in yaml.safe_load(FACTS.read_text("utf-8") if text is None else text).items():
        for name, outcomes in rows.items():
            if name not in columns:
                raise ValueError(f"{kind}: no column {name!r}")
            for word, outcome in outcomes.items():
                for form in _forms(columns[name], word):
                    found |= {(kind, one, form): read(outcome) for one in ALSO.get(name, (name,))}
    return found


def _forms(column: Column, word: str) -> tuple[str, ...]:
    """The forms of the column that a word stands for."""
    if word == "any":
        return column.forms
    forms = tuple(form for form in column.forms if form == word or (word == "stream" and form in STREAMED))
    if not forms:
        raise ValueError(f"{column.name} has no form {word!r}")
    return forms
