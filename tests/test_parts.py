"""The parts of the suite: what is fast leaves out rows of large tables, and CI leaves out nothing."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLED, pytest_collection_modifyitems

TOP = Path(__file__).parents[1]


class Row:
    """A test as pytest has collected it."""

    def __init__(self, name):
        self.nodeid = name
        self.marks = []

    def add_marker(self, mark):
        self.marks.append(mark.name)


@pytest.mark.parametrize("name", SAMPLED)
def test_what_is_sampled_is_there(name):
    """A test that is renamed takes its row along."""
    path, _, function = name.partition("::")
    assert f"def {function}(" in (TOP / path).read_text(encoding="utf-8")


def test_one_row_in_so_many_is_fast():
    """The first of each, and every so many that follow; other tests are left alone."""
    (name, every), *_ = SAMPLED.items()
    rows: list[Any] = [Row(f"{name}[{number}]") for number in range(2 * every + 1)]
    other: Any = Row("tests/test_parts.py::test_x[1]")
    pytest_collection_modifyitems([*rows, other])
    assert [number for number, row in enumerate(rows) if not row.marks] == [0, every, 2 * every]
    assert other.marks == []


def test_ci_runs_the_rest():
    """All parts that a plain `pytest` leaves out, but for the hours of load."""
    run = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    assert 'parts="slow or matrix"' in run
