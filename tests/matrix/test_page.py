"""The page of results: it has a row for each kind, can be read again, and still says what Python's clients do."""

import re

import pytest

from engy_mock.scripting.fault import catalogue
from tests.matrix import page
from tests.matrix.__main__ import main
from tests.matrix.cases import CASES, case
from tests.matrix.columns import COLUMNS, IN_PYTHON, PACKAGES, Column, installed
from tests.matrix.measuring import Measuring, jobs
from tests.matrix.outcome import Outcome, read
from tests.matrix.recorded import recorded

TEXT = page.PAGE.read_text("utf-8")
MEASURED = page.measured(TEXT)

NOT_TO_BE_SEEN = frozenset({"cancel-unnoticed", "expect-100-never", "load-latency", "nameless-model"})
"""Kinds that a single call of these clients leaves no room for."""

SAMPLE = (
    "200-html",
    "cut",
    "malformed-json",
    "no-message-stop",
    "response-failed",
    "tool-index-missing",
    "truncate",
    "usage-zero",
)
"""Kinds of all sections that take no time."""


def test_a_row_for_each_kind():
    """The page and the catalogue have the same kinds, each in its section."""
    assert sorted(page.kinds(TEXT)) == sorted(catalogue())
    assert [kind for kind in catalogue() if not page.section(kind)] == []


def test_every_outcome_can_be_read():
    """All cells are outcomes, and none is left out where the kind has a place."""
    assert {job.cell for job in jobs(catalogue(), PACKAGES)} <= set(MEASURED)
    assert {outcome.sign for outcome in MEASURED.values()} == {"ok", "S", "SDK", "RAW", "hang", "n/a"}
    assert all(outcome.error for outcome in MEASURED.values() if outcome.sign in ("SDK", "RAW"))


def test_every_kind_was_seen():
    """A row without any outcome would mean that its case has no place for the kind."""
    seen = {kind for (kind, _, _), outcome in MEASURED.items() if outcome != page.NOWHERE}
    assert set(catalogue()) - seen == NOT_TO_BE_SEEN


def test_the_page_shows_what_was_recorded_otherwise():
    """Both outcomes stand on the page where they differ, and nowhere else."""
    facts = recorded()
    others = [cell for cell, outcome in facts.items() if cell in MEASURED and not MEASURED[cell].fits(outcome)]
    assert page.written(MEASURED, facts, page.versions(TEXT)) == TEXT
    assert len(others) > 0
    assert page.written(MEASURED, {}, page.versions(TEXT)).count("(recorded: ") == 0


def test_what_was_recorded_is_of_the_catalogue():
    """Each fact is about a kind that there is, on a route and in a form that the kind is for."""
    places = {job.cell for job in jobs(catalogue(), PACKAGES)}
    assert set(recorded()) - places == set()


@pytest.mark.parametrize(
    "text",
    [
        "cut: {OP: {raw: ok}}",
        "cut: {OP chat: {stem: ok}}",
        "cut: {SG chat: {helper: ok}}",
        "cut: {OP chat: {raw: x}}",
    ],
)
def test_facts_are_checked(text):
    """A column, a form or an outcome that there is not is refused."""
    with pytest.raises(ValueError, match="no "):
        recorded(text)


def test_cases_are_of_the_catalogue():
    """Each case is about a kind that there is, and each kind can be made."""
    assert set(CASES) <= set(catalogue())
    for kind in catalogue():
        assert case(kind).fault(kind).kind == kind


def cell(*outcomes: str) -> dict[page.Cell, Outcome]:
    return {
        ("cut", "OP chat", form): read(outcome) for form, outcome in zip(COLUMNS[0].forms, outcomes, strict=True)
    }


@pytest.mark.parametrize(
    ("now", "facts", "said"),
    [
        (("ok", "ok", "ok"), {}, "ok"),
        (("ok", "S", "n/a"), {}, "ok / S / n/a"),
        (("S", "S", "S"), {"raw": "ok"}, "S (recorded: ok) / S / S"),
        (("RAW KeyError",) * 3, {"raw": "error", "helper": "RAW", "whole": "SDK"}, None),
    ],
)
def test_cells(now, facts, said):
    """One outcome stands for all forms; a recorded one stands behind the measured one if it does not fit."""
    known = {("cut", "OP chat", form): read(outcome) for form, outcome in facts.items()}
    text = page.written(cell(*now), known, dict.fromkeys(PACKAGES, "1.0"))
    (row,) = [line for line in text.splitlines() if line.startswith("| `cut` |")]
    assert row == f"| `cut` | {said or 'RAW KeyError / RAW KeyError / RAW KeyError (recorded: SDK)'} |"
    again = page.measured(text)
    assert {place: again[place] for place in cell(*now)} == cell(*now)


def test_differences():
    """What is not as on the page is told, a cell without a place too."""
    before, now = cell("ok", "S", "n/a"), cell("ok", "RAW KeyError", "S")
    assert page.differences(before, before) == []
    assert page.differences(before, now) == [
        "cut OP chat helper: RAW KeyError, on the page S",
        "cut OP chat whole: S, on the page n/a",
    ]


def test_a_page_that_cannot_be_read():
    """A cell that is no outcome is refused, as is a heading without forms."""
    text = page.written(cell("ok", "S", "n/a"), {}, dict.fromkeys(PACKAGES, "1.0"))
    with pytest.raises(ValueError, match="no outcome"):
        page.measured(text.replace("ok / S / n/a", "fine / S / n/a"))
    with pytest.raises(ValueError, match="no heading"):
        page.measured(text.replace("OP chat<br>", "OP chat "))


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("client", sorted(IN_PYTHON))
def test_a_sample_is_as_on_the_page(client):
    """A few rows, measured now; a client of another release than the page's may behave otherwise."""
    if installed(client) != page.versions(TEXT)[client]:
        pytest.skip(f"{client} is {installed(client)} here, the page has {page.versions(TEXT)[client]}")
    with Measuring() as measuring:
        now = measuring.measure(jobs(SAMPLE, [client]), workers=1)
    assert len(now) > 5
    assert page.differences(MEASURED, now) == []


@pytest.mark.parametrize("words", [["--only", "cutt"], ["--clients", "XX"]])
def test_the_command_knows_its_words(words, capsys):
    """A kind or a client that there is not is refused before anything is measured."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert f"there is no {words[1]}" in capsys.readouterr().err


def test_the_command_compares(capsys, tmp_path, monkeypatch):
    """With `--check` nothing is written; differences are told, and in the status."""
    assert main(["--check", "--only", "usage-zero", "--clients", "SG"]) == 0
    other = tmp_path / "page.md"
    other.write_text(re.sub(r"(\| `usage-zero` \|).*", lambda row: row[0].replace(" S ", " ok "), TEXT), "utf-8")
    monkeypatch.setattr(page, "PAGE", other)
    before = other.read_text("utf-8")
    assert main(["--check", "--only", "usage-zero", "--clients", "SG"]) == 1
    assert other.read_text("utf-8") == before
    assert "usage-zero SG chat whole: S, on the page ok" in capsys.readouterr().out


def test_the_command_writes(tmp_path):
    """What was not measured now is taken from the page."""
    output = tmp_path / "page.md"
    versions = {**page.versions(TEXT), "SG": installed("SG")}
    assert main(["--only", "usage-zero", "--clients", "SG", "--output", str(output)]) == 0
    assert output.read_text("utf-8") == page.written(MEASURED, recorded(), versions)


def test_columns_know_their_places():
    """Endpoint, surface and form decide where a kind has a place."""

    def forms(kind: str, column: Column) -> list[str]:
        return [form for form in column.forms if column.has_room_for(catalogue()[kind], form)]

    chat = COLUMNS[0]
    assert forms("cut", chat) == ["raw", "helper", "whole"]
    assert forms("role-every-chunk", chat) == ["raw", "helper"]
    assert forms("sse-for-json", chat) == ["whole"]
    assert forms("no-message-stop", chat) == []
    assert [column.name for column in COLUMNS if forms("request-id-odd", column) == []] == [
        "SG chat",
        "SG completions",
    ]
