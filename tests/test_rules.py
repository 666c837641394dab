"""Which test stands for which rule of the services: every rule that the mock claims to follow is named by one.

Rules are named by number in docstrings, comments and ids of tests: `E-41`, `S-7`, or a span, `E-93 to E-97`.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

CLAIMED = {
    "E": [*range(1, 220)],
    "S": [*range(1, 83)],
    "R": [*range(1, 94)],
    "Q": [*range(1, 50)],
}
"""The rules by their letter: the Engy API, Scale's /v5, what field reports demand of the normal mode, security."""

ELSEWHERE: dict[str, dict[int, str]] = {
    "E": {},
    "S": {},
    "R": {},
    "Q": {},
}
"""Claimed rules that no test can name so far, and why."""

NAME = re.compile(r"\b([EQRS])-(\d+)[a-z]?(?:\s+(?:to|-)\s+(?:[EQRS]-)?(\d+))?")


def named() -> dict[tuple[str, int], set[str]]:
    """The test files that name each rule."""
    found: dict[tuple[str, int], set[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.name == Path(__file__).name or "node_modules" in path.parts:
            continue
        for letter, first, last in NAME.findall(path.read_text(encoding="utf-8")):
            for number in range(int(first), int(last or first) + 1):
                found.setdefault((letter, number), set()).add(path.relative_to(TESTS).as_posix())
    return found


@pytest.mark.parametrize("letter", CLAIMED)
def test_every_rule_has_a_test_that_names_it(letter):
    """A rule without a test is a promise that nobody keeps watch over."""
    known = named()
    without = [
        f"{letter}-{number}"
        for number in CLAIMED[letter]
        if (letter, number) not in known and number not in ELSEWHERE[letter]
    ]
    assert without == []


def test_an_exception_that_has_become_a_test_is_none_any_more():
    """The list of what is missing does not outlive its reasons."""
    known = named()
    assert [(a, n) for a, rows in ELSEWHERE.items() for n in rows if (a, n) in known] == []


def test_spans_are_read_as_spans():
    """The reader of this table reads single rules and spans."""
    assert NAME.findall("E-41 and E-93 to E-97, S-7 to 9") == [("E", "41", ""), ("E", "93", "97"), ("S", "7", "9")]
