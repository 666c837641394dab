"""The card as it is kept: whole, true to its page and to the README, and its sentences true to it."""

from pathlib import Path

import pytest

from engy_mock.scripting.fault import catalogue
from engy_mock.verdict.words import WORDS
from tests.card import page
from tests.card.columns import COLUMNS, LIBRARIES
from tests.card.keeping import Kept, differences, kept, parsed, written
from tests.card.result import SIGNS, Result, read
from tests.card.telling import TELLING
from tests.card.trial import LASTING, LEFT_OUT, jobs

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def known() -> Kept:
    return kept()


def test_every_call_is_on_the_card(known):
    """D-7: each kind of the catalogue was met by each client that has a place for it, whole and streamed."""
    assert {job.cell for job in jobs(sorted(catalogue()), LIBRARIES)} == set(known.card)
    assert set(known.versions) == set(LIBRARIES) == {column.client for column in COLUMNS}
    assert all(known.versions.values())


def test_nobody_asks_without_an_answer(known):
    """Words are those of verdicts, and a class of an exception stands with those endings alone that have one."""
    for cell, result in known.card.items():
        assert set(result.words) <= set(WORDS), cell
        assert bool(result.error) == (result.sign in {"reported", "gave-up", "raw"}), cell


def test_the_page_is_written_from_what_is_kept(known):
    """Nobody has written in it by hand."""
    assert page.PAGE.read_text("utf-8") == page.written(known, LASTING)
    readme = README.read_text("utf-8")
    assert readme == page.in_readme(readme, known)
    assert page.summary(known) in readme


def test_what_is_kept_is_read_as_it_is_written(known):
    """The file is the one that would be written of it."""
    assert parsed(written(known)) == known


@pytest.mark.parametrize("telling", TELLING, ids=lambda telling: telling.kind)
def test_what_stands_out_is_on_the_card(known, telling):
    """Each sentence rests on calls that ended so, and on the word that it names."""
    found = {(column, form): known.card[telling.kind, column, form] for column, form in telling.calls}
    assert {call: result.sign for call, result in found.items()} == telling.calls
    assert not telling.word or any(telling.word in result.words for result in found.values())


def test_lists_name_kinds():
    """A kind that is renamed is found here."""
    assert set(catalogue()) >= LASTING | set(LEFT_OUT)


@pytest.mark.parametrize(
    "result",
    [
        *(Result(sign) for sign in SIGNS),
        Result("reported", "APIError"),
        Result("silent", "", ("truncated-accepted",)),
        Result("raw", "TypeError", ("charged-twice", "error-class-lost")),
    ],
    ids=str,
)
def test_results_are_read_as_they_are_written(result):
    assert read(str(result)) == result


def test_what_is_no_result():
    with pytest.raises(ValueError, match="no result"):
        read("fine")


def test_differences():
    """They are told in words, with what was not there."""
    known = {("cut", "OP chat", "whole"): Result("recovered")}
    now = {("cut", "OP chat", "whole"): Result("raw", "TypeError"), ("cut", "OP chat", "raw"): Result("hung")}
    assert differences(known, known) == []
    assert differences(known, now) == [
        "cut OP chat raw: hung, on the card n/a",
        "cut OP chat whole: raw TypeError, on the card recovered",
    ]
