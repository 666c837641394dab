"""The verdict as a test holds it: levels, texts, JSON that stays the same, journals that have lost something."""

import json

import pytest

from engy_mock import EngyMock, MockError, Settings, UnmetExpectation
from engy_mock.books.journal import Journal, Usual
from engy_mock.verdict.words import WORDS
from tests.verdict.journals import sent


def test_nothing_to_say(quiet):
    verdict = quiet.verdict()
    assert verdict.check() is verdict
    assert str(verdict) == "0 calls: none\nnothing is wrong with the client"
    assert verdict.snapshot() == {
        "is_complete": True,
        "lost": 0,
        "fails": False,
        "outcomes": {},
        "findings": [],
        "calls": [],
    }


def test_levels(quiet):
    """Errors fail a verdict unless it is told otherwise; warnings only where they are to."""
    quiet.when().refuse(503)
    sent(quiet)
    quiet.verdict().check()
    quiet.verdict(fail_level="never").check()
    with pytest.raises(UnmetExpectation, match="warning gave-up"):
        quiet.verdict(fail_level="warning").check()
    with pytest.raises(UnmetExpectation, match="warning gave-up"):
        quiet.verdict().raise_for("warning")
    assert quiet.verdict().fails("warning")
    assert not quiet.verdict(ignore="gave-up").fails("warning")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"fail_level": "errors"}, "unknown fail_level 'errors'. Did you mean 'error'?"),
        ({"ignore": ["gave-upp"]}, "no finding has the word 'gave-upp'. Did you mean 'gave-up'?"),
    ],
)
def test_unknown_words(quiet, words, said):
    with pytest.raises(MockError) as caught:
        quiet.verdict(**words)
    assert said in str(caught.value)


def history():
    """A bad day, at times that differ from run to run."""
    engy = EngyMock(settings=Settings(hurries_retries=False))
    engy.when().refuse(429, retry_after=3, times=1)
    return engy


def test_the_json_is_the_same_in_every_run():
    """What was measured is for people only."""
    texts = set()
    for wait in (0.1, 0.7):
        engy = history()
        sent(engy)
        sent(engy, at=wait)
        sent(engy, "Something else", at=9)
        verdict = engy.verdict()
        texts.add(verdict.json())
        assert f"waited {wait - 0.01:.3g} s" in str(verdict)
    [text] = texts
    found = json.loads(text)
    assert found["outcomes"] == {"answered": 1, "recovered": 1}
    assert found["calls"][0] == {
        "method": "POST",
        "path": "/v1/chat/completions",
        "exchanges": [0, 1],
        "statuses": [429, 200],
        "outcome": "recovered",
    }
    assert [finding["word"] for finding in found["findings"]] == ["retry-after-ignored"]


def test_a_journal_that_has_lost_something(quiet):
    """What was dropped may have been anything: the verdict is incomplete, and fails."""
    quiet.gateway.journal = Journal(lambda: Usual(journal_entries=2))
    for place in range(3):
        sent(quiet, f"question {place}")
    verdict = quiet.verdict()
    assert (verdict.lost, verdict.is_complete, verdict.findings) == (1, False, ())
    assert "incomplete: the journal has dropped 1 exchanges" in str(verdict)
    with pytest.raises(UnmetExpectation, match="incomplete"):
        verdict.check()
    quiet.verdict(fail_level="never").check()
    assert quiet.verdict(since=1).is_complete


def test_a_reset_forgets_what_was_heard(quiet):
    quiet.when().refuse(500)
    sent(quiet)
    quiet.heard("")
    quiet.reset()
    sent(quiet)
    assert quiet.verdict().findings == ()


def test_every_word_is_told_with_advice():
    """Each word says what a good client does, in one sentence."""
    for word, row in WORDS.items():
        assert row.advice.endswith("."), word
        assert row.severity in {"error", "warning"}, word
