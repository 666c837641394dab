"""Which exchanges are attempts at one call, and to which call belongs what the client says it got."""

import pytest

from tests.verdict.journals import outcomes, sent


def groups(engy):
    return [group.exchanges for group in engy.verdict().groups]


def test_equal_requests_after_a_failure_are_one_call(quiet):
    quiet.when().refuse(500, times=2)
    for at in (0, 1, 3, 9):
        sent(quiet, at=at)
    assert groups(quiet) == [(0, 1, 2), (3,)]
    assert outcomes(quiet) == ["recovered", "answered"]


def test_overlapping_equal_requests_are_calls_of_their_own(quiet):
    """Nobody tries again before the end of an attempt."""
    quiet.when().refuse(500, times=4)
    for at in (0.0, 0.005, 1.0, 1.2):
        sent(quiet, at=at)
    assert groups(quiet) == [(0, 2), (1, 3)]


def test_the_count_of_the_client_tells_attempts_apart(quiet):
    """Of two equal calls the one goes on that has as many attempts as the client says."""
    quiet.when().refuse(500, times=5)
    for at, count in ((0.0, 0), (0.005, 0), (1.0, 1), (2.0, 1), (3.0, 2)):
        sent(quiet, at=at, retry_count=count)
    assert groups(quiet) == [(0, 2, 4), (1, 3)]


def test_a_count_of_nought_says_nothing(quiet):
    """An application that tries again by itself counts from nought each time."""
    quiet.when().refuse(500, times=1)
    sent(quiet, retry_count=0)
    sent(quiet, at=1, retry_count=0)
    assert groups(quiet) == [(0, 1)]


def test_a_client_may_try_again_what_it_could_not_read(quiet):
    """If it says so: a whole answer is otherwise the end of its call."""
    sent(quiet, retry_count=0)
    sent(quiet, at=1, retry_count=1)
    sent(quiet, at=2, retry_count=0)
    assert groups(quiet) == [(0, 1), (2,)]


def test_a_client_that_had_enough_asks_anew(quiet):
    """Who leaves a stream that speaks, and asks the same again, has not tried again."""
    quiet.when().reply("a " * 9000)
    sent(quiet, stream=True, leaves_after=2)
    sent(quiet, stream=True, at=1)
    assert groups(quiet) == [(0,), (1,)]
    assert quiet.verdict().findings == ()


def test_a_silence_that_the_client_has_left_unnoticed(quiet):
    """While the mock still tells a stall, the client may have gone: its next attempt belongs to the same call."""
    quiet.when(stream=True).reply("one two", faults=[{"kind": "half-open", "after": 1}], times=1)
    sent(quiet, stream=True, is_over=False)
    sent(quiet, stream=True, at=5)
    assert groups(quiet) == [(0, 1)]
    assert outcomes(quiet) == ["recovered"]


@pytest.mark.parametrize("endpoint", ["chat", "messages", "responses"])
def test_words_find_their_call(quiet, endpoint):
    """By the id of the answer, whatever the order."""
    for place in range(3):
        quiet.when(says=str(place)).reply(f"answer {place}")
        sent(quiet, f"question {place}", endpoint=endpoint)
    prefix = {"chat": "chatcmpl-", "messages": "msg_", "responses": "resp_"}[endpoint]
    for place in (1, 2, 0):
        quiet.heard("something", of=prefix + quiet.journal[place].request_id[:24])
    verdict = quiet.verdict(oracle=lambda group, texts: None if texts == ("something",) else f"{texts}")
    assert verdict.findings == ()


def test_texts_find_their_call(quiet):
    """Without an id, by their words, else the latest that nobody has spoken of."""
    for place in range(3):
        quiet.when(says=str(place)).reply(f"answer {place}")
        sent(quiet, f"question {place}")
    for text in ("answer 1", "Hm.", "answer 0"):
        quiet.heard(text)
    heard = {}
    quiet.verdict(oracle=lambda group, texts: heard.update({group.exchanges: texts}))
    assert heard == {(0,): ("answer 0",), (1,): ("answer 1",), (2,): ("Hm.",)}


def test_errors_find_the_call_that_failed(quiet):
    quiet.when(says="1").refuse(500)
    for place in range(3):
        sent(quiet, f"question {place}")
    quiet.heard(error=RuntimeError("500"))
    assert outcomes(quiet) == ["answered", "reported", "answered"]


def test_pages_are_calls_too(quiet):
    quiet.when(endpoint="models").refuse(500, times=1)
    sent(quiet, endpoint="models")
    sent(quiet, endpoint="models", at=1)
    sent(quiet, endpoint="models", at=2)
    assert groups(quiet) == [(0, 1), (2,)]


def test_a_window(quiet):
    """Only exchanges from a number on count."""
    quiet.when().refuse(400, times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert len(quiet.verdict().findings) == 1
    since = len(quiet.journal)
    sent(quiet, "Another", at=2)
    verdict = quiet.verdict(since=since)
    assert verdict.findings == ()
    assert [group.exchanges for group in verdict.groups] == [(2,)]
