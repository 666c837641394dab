"""The page of results: the measured matrix as Markdown, and back."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from sys import modules

from engy_mock.scripting.fault import catalogue
from tests.matrix.columns import COLUMNS, LIBRARIES, PACKAGES, Column
from tests.matrix.outcome import Outcome, read

PAGE = Path(__file__).with_name("RESULTS.md")

SECTIONS = ("Transport", "HTTP", "SSE", "Chat", "Completions", "Messages", "Responses", "Behaviour", "Quirks")
"""The parts of the catalogue."""

Cell = tuple[str, str, str]
Matrix = Mapping[Cell, Outcome]

NOWHERE = Outcome("n/a")

INTRO = """\
# The client matrix

What released clients make of every fault that engy_mock knows, each measured against a mock of its own: retries
off, a read timeout of one second for faults that fall silent, and a scripted answer with reasoning, text and two
tool calls where the dialect has room for them. `python -m tests.matrix` writes this page.

| Sign | What the program under test gets |
|---|---|
| `ok` | the same answer as without the fault |
| `S` | no exception, but another text, reasoning, finish reason, usage, other tool calls, or none of them |
| `SDK` | an exception of the client's own family, with its class |
| `RAW` | an exception that the client's own family does not cover, with its class |
| `hang` | no end within four seconds, for which a watchdog was needed |
| `n/a` | the fault has no place there |

A cell gives the forms in the order of its heading, or one outcome for all of them: `raw` is a stream read event by
event, `helper` one read through the client's own helper, `stream` the only way of streaming that a client has,
`whole` an answer without a stream. Error parts of the AI SDK count as exceptions; one of class `Object` is the
error of the service as it came. Where something else was recorded when the catalogue was made, it stands behind
the outcome in parentheses; in a raw stream a recorded `ok` said no more than that no exception came. Kinds that
show only where several calls are under way, or where a client leaves, have no place in a table of single calls;
those of connections that are used again are shown by whole answers alone.
"""

_CELL_FORM = re.compile(r"(?P<outcome>[^()]+?)(?: \(recorded: (?P<recorded>[^()]+)\))?")
_HEADING = re.compile(r"(?P<name>.+?)<br>(?P<forms>[a-z /]+)")
_VERSION = re.compile(r"^\| (?P<client>[A-Z0-9]{2,3}) \| [^|]+ \| (?P<version>[^|]+) \|$", re.MULTILINE)


def section(kind: str) -> str:
    """The part of the catalogue that a kind belongs to, as its module names it; empty if it does not."""
    said = (modules[catalogue()[kind].__module__].__doc__ or "").partition("\n")[0]
    named = re.search(r'\("(\w+)"\)', said)
    return named[1] if named and named[1] in SECTIONS else ""


def written(matrix: Matrix, recorded: Matrix, versions: Mapping[str, str]) -> str:
    """The page."""
    lines = [INTRO, "| Client | Library | Version |", "|---|---|---|"]
    lines += [f"| {client} | {LIBRARIES[client]} | {versions[client]} |" for client in PACKAGES]
    for name in SECTIONS:
        kinds = sorted(kind for kind in catalogue() if section(kind) == name)
        lines += ["", f"## {name}", "", *_table(kinds, matrix, recorded)]
    return "\n".join(lines) + "\n"


def _table(kinds: Iterable[str], matrix: Matrix, recorded: Matrix) -> Iterator[str]:
    rows = list(kinds)
    columns = [
        column
        for column in COLUMNS
        if any(matrix.get((kind, column.name, form), NOWHERE) != NOWHERE for kind in rows for form in column.forms)
    ]
    headings = [f"{column.name}<br>{' / '.join(column.forms)}" for column in columns]
    yield f"| {' | '.join(['Kind', *headings])} |"
    yield "|" + "---|" * (len(columns) + 1)
    for kind in rows:
        cells = [_cell(kind, column, matrix, recorded) for column in columns]
        yield f"| {' | '.join([f'`{kind}`', *cells])} |"


def _cell(kind: str, column: Column, matrix: Matrix, recorded: Matrix) -> str:
    """The outcomes of all forms, or one that all have."""
    said = []
    for form in column.forms:
        outcome, other = matrix.get((kind, column.name, form), NOWHERE), recorded.get((kind, column.name, form))
        said.append(str(outcome) if other is None or outcome.fits(other) else f"{outcome} (recorded: {other})")
    return said[0] if len(set(said)) == 1 else " / ".join(said)


def measured(text: str) -> dict[Cell, Outcome]:
    """The outcomes on a page, those that have no place too; raises ValueError for what is none."""
    found: dict[Cell, Outcome] = {}
    columns: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if cells and cells[0] == "Kind":
            columns = [_heading(cell) for cell in cells[1:]]
        elif cells and columns:
            kind = cells[0].strip("`")
            for (name, forms), cell in zip(columns, cells[1:], strict=True):
                for form, outcome in zip(forms, _outcomes(cell, len(forms)), strict=True):
                    found[kind, name, form] = outcome
    return found


def kinds(text: str) -> list[str]:
    """The rows of a page."""
    return list(dict.fromkeys(re.findall(r"^\| `([^`]+)` \| .* \|$", text.partition("\n## ")[2], re.MULTILINE)))


def versions(text: str) -> dict[str, str]:
    """The versions of the clients that a page was measured with."""
    return {client: version.strip() for client, version in _VERSION.findall(text)}


def _heading(cell: str) -> tuple[str, list[str]]:
    found = _HEADING.fullmatch(cell)
    if found is None:
        raise ValueError(f"no heading: {cell!r}")
    return found["name"], found["forms"].split(" / ")


def _outcomes(cell: str, count: int) -> list[Outcome]:
    parts = re.split(r" / ", cell)
    found = []
    for part in parts if len(parts) > 1 else parts * count:
        said = _CELL_FORM.fullmatch(part)
        if said is None:
            raise ValueError(f"no outcome: {part!r}")
        found.append(read(said["outcome"]))
    return found


def differences(page: Matrix, now: Matrix) -> list[str]:
    """What has been measured now and is not what the page says, in words."""
    return [
        f"{' '.join(cell)}: {now[cell]}, on the page {page.get(cell, NOWHERE)}"
        for cell in sorted(now)
        if now[cell] != page.get(cell, NOWHERE)
    ]
