"""The card as a page for people, and its summary for the README."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from engy_mock.scripting.fault import catalogue
from engy_mock.verdict.words import WORDS
from tests.card.columns import COLUMNS, title
from tests.card.keeping import Kept
from tests.card.result import MEANINGS, SIGNS, Result, Sign
from tests.card.telling import TELLING
from tests.card.trial import LEFT_OUT
from tests.matrix.columns import Column
from tests.matrix.page import SECTIONS, section

PAGE = Path(__file__).with_name("CARD.md")

BEGIN, END = "<!-- card -->", "<!-- end of card -->"
"""What stands around the summary in the README."""

LETTERS: Mapping[Sign, str] = {
    "answered": "A",
    "recovered": "R",
    "reported": "E",
    "gave-up": "G",
    "raw": "X",
    "silent": "S",
    "passed-on": "P",
    "details": "D",
    "hung": "H",
    "n/a": "-",
}

SHOWN = tuple(sign for sign in SIGNS if sign != "n/a")

INTRO = """\
# The resilience card

What released clients make of every fault that engy_mock knows, in their usual way: with their own retries, asked
for a whole answer and for a stream, and otherwise as they come. `python -m tests.card` writes this page; with
`--check` it compares. It is about the releases below, with settings as they come: other releases and settings may
do better or worse.

Each call has a mock of its own. The first request meets the fault and every later one is well, so that whoever
asks again is helped. These would mean nothing then, and last: {lasting}.

The answer is a text with reasoning and two tool calls, where a case does not need another. Refusals carry a
hint of a millisecond, so nothing is said here about waits. Where the service falls silent, clients have a
read timeout of one second (three, where signs of life come in between), but for the AI SDK, which has none by
itself, and a watchdog comes after twelve. How each call ended is told to `engy.heard()`, and the words of
what was found are those of `engy.verdict()`. An agent of pydantic-ai is asked nothing that it has no word
for, like several choices.

| Letter | Ending | What the program got |
|---|---|---|
{letters}

A, R and E are what can be asked of a client, and P and D where nothing on the wire told that something was
wrong. G is safe, but a waste. S is what no client should do, H needs a deadline of the caller's own, and X an
`except` for classes that the client does not call its own.
"""

Cell = tuple[str, str, str]
Card = Mapping[Cell, Result]


def written(kept: Kept, lasting: Iterable[str]) -> str:
    """The page."""
    letters = "\n".join([f"| {LETTERS[sign]} | {sign} | {MEANINGS[sign]} |" for sign in SHOWN])
    lasts = ", ".join([f"`{kind}`" for kind in sorted(lasting)])
    lines = [INTRO.format(letters=letters, lasting=lasts)]
    lines += ["## All kinds", "", *_counts(kept.card, sorted(catalogue()), kept.versions)]
    lines += ["", "## What stands out", "", *[f"- {telling}" for telling in TELLING]]
    lines += ["", "## What the verdict found", "", *_words(kept.card)]
    lines += ["", "## What had no place", "", *_nowhere(kept.card)]
    for name in SECTIONS:
        kinds = sorted(kind for kind in catalogue() if section(kind) == name)
        lines += ["", f"## {name}", "", *_counts(kept.card, kinds, {}), "", *_kinds(kept.card, kinds)]
    return "\n".join(lines) + "\n"


def summary(kept: Kept) -> str:
    """The table in the README: how many calls ended how, for each client."""
    lines = [
        "| Client | calls | answered | recovered | reported | silently wrong | hung | raw exception |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for column in COLUMNS:
        found = _counted(kept.card, column, column.forms, sorted(catalogue()))
        answered = found["answered"] + found["details"] + found["passed-on"]
        reported = found["reported"] + found["gave-up"]
        numbers = (answered, found["recovered"], reported, found["silent"], found["hung"], found["raw"])
        name = title(column, kept.versions.get(column.client, ""))
        lines.append(f"| {name} | {' | '.join([str(number) for number in (sum(numbers), *numbers)])} |")
    return "\n".join(lines)


def _counted(card: Card, column: Column, forms: Iterable[str], kinds: Iterable[str]) -> Counter[Sign]:
    cells = [(kind, column.name, form) for kind in kinds for form in forms]
    return Counter([card[cell].sign for cell in cells if cell in card])


def _counts(card: Card, kinds: list[str], versions: Mapping[str, str]) -> Iterator[str]:
    """How many calls of each client ended how."""
    yield f"| Client | Asked for | {' | '.join(SHOWN)} |"
    yield f"|---|---|{'--:|' * len(SHOWN)}"
    for column in COLUMNS:
        for form in column.forms:
            found = _counted(card, column, [form], kinds)
            if any(found[sign] for sign in SHOWN):
                name = title(column, versions.get(column.client, ""))
                numbers = " | ".join([str(found[sign] or "") for sign in SHOWN])
                yield f"| {name} | {'a whole answer' if form == 'whole' else 'a stream'} | {numbers} |"


def _words(card: Card) -> Iterator[str]:
    """The words of all findings, with who does it and the kinds at which most do."""
    yield "| Word | | Calls | Clients | At most clients under |"
    yield "|---|---|--:|---|---|"
    for word, known in WORDS.items():
        cells = [cell for cell, result in card.items() if word in result.words]
        if cells:
            clients = [title(column) for column in COLUMNS if any(name == column.name for _, name, _ in cells)]
            who = "all" if len(clients) == len(COLUMNS) else ", ".join(clients)
            common = Counter([kind for kind, _, _ in cells])
            kinds = sorted(common, key=lambda kind: (-common[kind], kind))[:4]
            shown = ", ".join([f"`{kind}`" for kind in kinds])
            yield f"| `{word}` | {known.severity} | {len(cells)} | {who} | {shown} |"


def _nowhere(card: Card) -> Iterator[str]:
    """The kinds that no client could be shown, and why."""
    seen = {kind for (kind, _, _), result in card.items() if result.sign != "n/a"}
    missing = [kind for kind in sorted(catalogue()) if kind not in seen and kind not in LEFT_OUT]
    yield (
        f"{len(seen)} of {len(catalogue())} kinds were met by some client. These are for other routes than those "
        f"above, or show only where several calls are under way or a client leaves: "
        f"{', '.join([f'`{kind}`' for kind in missing])}."
    )
    for kind, reason in LEFT_OUT.items():
        yield f"`{kind}` is left out: {reason}."


def _kinds(card: Card, kinds: Iterable[str]) -> Iterator[str]:
    """The letters of each kind: whole answer and stream."""
    rows = list(kinds)
    columns = [
        column
        for column in COLUMNS
        if any((kind, column.name, form) in card for kind in rows for form in column.forms)
    ]
    if not columns:
        yield "No client of the card asks on these routes."
        return
    yield f"| Kind | {' | '.join([title(column) for column in columns])} |"
    yield f"|---|{'---|' * len(columns)}"
    for kind in rows:
        cells = []
        for column in columns:
            found = [card.get((kind, column.name, form), Result("n/a")) for form in column.forms]
            cells.append(" / ".join([LETTERS[result.sign] for result in found]))
        if any(cell.strip("- /") for cell in cells):
            yield f"| `{kind}` | {' | '.join(cells)} |"


def in_readme(readme: str, kept: Kept) -> str:
    """The README with the summary in its place."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{summary(kept)}\n{END}{after}"
