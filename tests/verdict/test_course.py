"""What the journal knows of the course of an exchange: when, how much of it, and what became of the client."""

import pytest

from engy_mock import EngyMock, Limits
from tests.scripting.captured import ask
from tests.verdict.journals import sent

TEXT = "one two three four"


@pytest.mark.parametrize("stream", [True, False])
def test_a_good_answer(engy, stream):
    """Readings rise, nothing is left unsent, and the default snapshot has none of them."""
    ask(engy, stream=stream)
    entry = engy.journal.last
    course = entry.course
    assert course.arrived <= course.first <= course.last
    assert 0 <= entry.first_byte_seconds <= entry.last_byte_seconds
    assert entry.seconds >= 0
    assert (entry.fate, entry.pieces_sent, entry.text_unsent) == ("served", entry.pieces_planned, "")
    assert entry.text_sent == entry.text
    assert course.steps == ()
    assert not [name for name in entry.snapshot() if "second" in name or "course" in name]


@pytest.mark.parametrize(("kind", "fate"), [("reset", "cut off"), ("cut", "cut off"), ("truncate", "served")])
def test_an_answer_that_breaks(engy, kind, fate):
    """What was planned and not delivered is known, and who ended it."""
    engy.when().reply(TEXT, faults=[{"kind": kind, "after": 2}])
    ask(engy, stream=True)
    entry = engy.journal.last
    assert (entry.fate, entry.pieces_sent, entry.pieces_planned) == (fate, 2, 4)
    assert (entry.text_sent, entry.text_unsent) == ("one two", " three four")
    assert entry.course.unsent == ()
    assert entry.course.head.status == 200


def test_a_client_that_leaves(quiet):
    """The steps that never came to it are there."""
    quiet.when().reply(TEXT, faults=[{"kind": "slow-first-event", "seconds": 5}])
    entry = sent(quiet, stream=True, leaves_after=2)
    assert (entry.fate, entry.text_sent, entry.text_unsent) == ("left", "", TEXT)
    assert entry.last_byte_seconds is not None
    assert len(entry.course.unsent) > 0


def test_a_client_that_waits(quiet):
    quiet.when().reply(TEXT, faults=[{"kind": "stall", "after": 2}])
    entry = sent(quiet, stream=True, is_over=False)
    assert (entry.fate, entry.seconds, entry.text_sent) == ("waiting", None, "one two")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stall", "stall-with-comments", "half-open"])
def test_a_silence_that_the_mock_ends(kind):
    """Whoever waits until the mock has had enough has not left."""
    with EngyMock(limits=Limits(stall_seconds=0.05)) as engy:
        engy.when().reply(TEXT, faults=[{"kind": kind, "after": 2}])
        ask(engy, stream=True)
        entry = engy.journal.last
    assert (entry.fate, entry.client_left) == ("cut off", False)
    assert entry.charged_micro > 0, "what was delivered is paid for"


def test_a_refusal(engy):
    """Its head is kept, with the hints that it had."""
    engy.when().refuse(429, retry_after=7)
    sent(engy)
    entry = engy.journal.last
    assert entry.course.head.status == 429
    assert dict(entry.course.head.headers)["Retry-After"] == "7"
    assert entry.fate == "served"


def test_large_answers_are_not_kept(quiet):
    """An answer of many mebibytes makes no room for itself in the journal."""
    quiet.when().reply(TEXT, faults=[{"kind": "giant-event", "size": 8}])
    entry = sent(quiet, stream=True)
    assert (entry.course.steps, entry.course.is_kept) == ((), False)
    quiet.heard("something")
    assert quiet.verdict(fail_level="warning").check().outcomes == {"answered": 1}
