"""Findings about further attempts: each word with a case that it is for, and a near one that it is not for."""

import pytest

from engy_mock.vocabulary.clock import START, http_date
from tests.verdict.journals import outcomes, sent, words

HINT = {"retry_after": 2}


@pytest.mark.parametrize(
    ("wait", "found"),
    [(0.5, ["retry-after-ignored"]), (1.8, ["retry-after-ignored"]), (1.86, []), (2.0, []), (9.0, [])],
)
def test_retry_after_ignored(quiet, wait, found):
    """A hint in the head is waited for; 50 ms and a twentieth are granted (R-81)."""
    quiet.when().refuse(429, retry_after=2, times=1)
    sent(quiet)
    sent(quiet, at=0.01 + wait)
    assert words(quiet) == found
    assert outcomes(quiet) == ["recovered"]


def test_retry_after_ignored_is_told_with_what_was_measured(quiet):
    quiet.when().refuse(429, retry_after=2, times=1)
    sent(quiet)
    sent(quiet, at=0.51)
    [finding] = quiet.verdict().findings
    assert finding.exchanges == (0, 1)
    assert finding.evidence == (
        "the 429 comes with a hint, Retry-After asks for 2 s, and the next attempt came sooner; "
        "a sleep that the test has replaced must call engy.clock.advance(seconds)"
    )
    assert finding.measured == {"asked_for": 2.0, "waited": pytest.approx(0.5)}
    assert "error retry-after-ignored (exchange 0, 1)" in str(finding)
    assert "waited 0.5 s" in str(finding)
    assert "measured" not in finding.snapshot()


@pytest.mark.parametrize(
    ("fault", "wait", "found"),
    [
        ({"form": "ms", "value": 2}, 0.5, ["retry-after-ignored"]),
        ({"form": "ms", "value": 2}, 2.0, []),
        ({"form": "fraction", "value": 0.5}, 0.1, ["retry-after-ignored"]),
        ({"form": "zero"}, 0.0, []),
        ({"form": "negative", "value": 30}, 0.0, []),
        ({"form": "text"}, 0.0, []),
        ({"form": "past-date"}, 0.0, []),
        ({"value": 61}, 30.0, ["retry-after-ignored"]),
        ({"value": 90}, 90.0, []),
        ({"value": 2, "place": "json"}, 0.5, ["retry-after-ignored"]),
        ({"value": 2, "place": "json"}, 2.0, []),
        ({"value": 2, "place": "message"}, 0.5, ["retry-after-ignored"]),
        ({"value": 2, "form": "ms", "place": "message"}, 2.0, []),
    ],
)
def test_forms_of_the_hint(quiet, fault, wait, found):
    """Seconds, fractions, milliseconds, in the head, the body, or words; what is no wait asks for none (R-81)."""
    quiet.when().reply("x", faults=[{"kind": "retry-after", **fault}], times=1)
    sent(quiet)
    sent(quiet, at=0.01 + wait)
    assert words(quiet) == found
    severities = {finding.severity for finding in quiet.verdict().findings}
    assert severities <= ({"warning"} if "place" in fault else {"error"})


def test_a_hint_in_the_body_beside_one_in_the_head(quiet):
    """Who goes by the shortest hint has ignored none: a client may know one of them only."""
    quiet.when().reply("x", faults=["conflicting-retry-hints"], times=1)
    sent(quiet)
    sent(quiet, at=1.01)
    assert words(quiet) == []


@pytest.mark.parametrize(("wait", "found"), [(1.0, ["retry-after-ignored"]), (27.5, []), (30.0, [])])
def test_dates(quiet, wait, found, monkeypatch):
    """A date is waited for by the client's own clock or by the mock's, whichever is sooner (R-83)."""
    from engy_mock.verdict import judging

    class Wall:
        def now(self) -> float:
            return START + 1000.0

    monkeypatch.setattr(judging, "WallClock", Wall)
    monkeypatch.setattr(judging, "monotonic", lambda: 1000.0)
    quiet.when().refuse(429, retry_after=http_date(START + 30), times=1)
    sent(quiet)
    sent(quiet, at=0.01 + wait)
    assert words(quiet) == found


def test_dates_of_a_clock_that_stands_far_off(quiet):
    """A date that lies in the client's own past asks for nothing, whatever the mock's clock shows."""
    quiet.when().refuse(429, retry_after=http_date(START + 30), times=1)
    sent(quiet)
    sent(quiet, at=0.5)
    assert words(quiet) == []


def test_a_client_that_moves_the_clock_has_waited(quiet):
    """Under the standing clock a test may advance it in place of waiting."""
    quiet.when().refuse(429, retry_after=60, times=1)
    sent(quiet)
    quiet.clock.advance(60)
    sent(quiet, at=0.02)
    assert words(quiet) == []


def test_hints_for_fixtures(engy):
    """Where the mock itself lets clients hurry, whoever waits for either hint has ignored none."""
    engy.when().refuse(429, times=1)
    sent(engy)
    sent(engy, at=0.02)
    assert words(engy) == []


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_retried_non_retryable(quiet, status):
    """What is the request's own fault stays so (section 12 of the catalogue)."""
    quiet.when().refuse(status, times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == ["retried-non-retryable"]


@pytest.mark.parametrize("status", [408, 409, 500, 502, 504, 529])
def test_what_may_be_retried(quiet, status):
    quiet.when().refuse(status, times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == []


def test_another_request_is_no_retry(quiet):
    """Only the same request again is: a smaller one after a 413 is what a good client sends."""
    quiet.when(says="long").refuse(413)
    sent(quiet, "a long text")
    sent(quiet, "a short text", at=1)
    assert words(quiet) == []
    assert outcomes(quiet) == ["gave-up", "answered"]


def test_a_call_that_was_reported_is_over(quiet):
    """The same request behind it is another call, not one more attempt."""
    quiet.when().refuse(400, times=1)
    sent(quiet)
    quiet.heard(error=RuntimeError("400"))
    sent(quiet, at=1)
    assert words(quiet) == []
    assert outcomes(quiet) == ["reported", "answered"]


@pytest.mark.parametrize(("value", "found"), [(True, []), (False, ["retried-non-retryable"])])
def test_should_retry_wins(quiet, value, found):
    """The header `x-should-retry` beats the status either way."""
    quiet.when().reply("x", faults=[{"kind": "should-retry", "value": value}], times=1)
    sent(quiet)
    sent(quiet, at=2)
    assert words(quiet) == found


def test_retried_spent_quota(quiet):
    """A quota that is used up stays so: one attempt is enough (R-80)."""
    quiet.when().reply("x", faults=["quota-exhausted"], times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == ["retried-spent-quota"]


def test_a_quota_that_refills_is_none_that_is_spent(quiet):
    quiet.when().reply("x", faults=["429-without-header"], times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == []


def test_one_attempt_at_a_spent_quota(quiet):
    """Who gives up at once is right, and is not blamed for it (R-80)."""
    quiet.when().reply("x", faults=["quota-exhausted"])
    sent(quiet)
    assert words(quiet) == []


def test_retried_permanent_error(quiet):
    """A 400 inside a 500 is permanent (R-86)."""
    quiet.when().reply("x", faults=["status-wrapped"], times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == ["retried-permanent-error"]


@pytest.mark.parametrize("endpoint", ["chat", "messages", "responses"])
def test_a_failure_of_the_server_is_not_permanent(quiet, endpoint):
    quiet.when().refuse(500, times=1)
    sent(quiet, endpoint=endpoint)
    sent(quiet, at=1, endpoint=endpoint)
    assert words(quiet) == []


@pytest.mark.parametrize(("count", "found"), [(10, []), (11, ["retry-storm"])])
def test_retry_storm(quiet, count, found):
    """More than ten attempts are a storm, though each of them waits as it should (R-84)."""
    quiet.when().reply("x", faults=["429-forever"])
    for place in range(count):
        sent(quiet, at=place * 1.5)
    assert words(quiet, ignore="gave-up") == found


@pytest.mark.parametrize(
    ("count", "wait", "counted", "found"),
    [
        (9, 0.02, False, ["no-backoff"]),
        (5, 0.0, False, ["no-backoff"]),
        (4, 0.0, False, []),
        (9, 0.02, True, []),
        (9, 0.2, False, ["no-backoff"]),
        (9, 0.3, False, []),
    ],
)
def test_hammering_where_a_hint_lets_it(quiet, count, wait, counted, found):
    """Many attempts without a pause are none that somebody asked for; official clients do as the hint says."""
    quiet.when().refuse(429, headers={"retry-after-ms": "1", "retry-after": "1"}, times=count - 1)
    for place in range(count):
        sent(quiet, at=place * (0.01 + wait), retry_count=place if counted else None)
    assert words(quiet) == found


def test_hammering_that_slows_down(quiet):
    """Waits that grow are a back-off, though they begin small."""
    quiet.when().refuse(429, headers={"retry-after-ms": "1"}, times=5)
    for at in (0.0, 0.02, 0.06, 0.12, 0.22, 0.4):
        sent(quiet, at=at)
    assert words(quiet) == []


def test_redirects_are_no_attempts(quiet):
    """Whoever follows a redirect that leads back to itself storms nothing."""
    quiet.when().reply("x", faults=["redirect-loop"])
    for place in range(20):
        sent(quiet, at=place * 0.02)
    assert words(quiet) == []
    assert outcomes(quiet) == ["gave-up"]


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ((0.0, 0.01), ["no-backoff"]),
        ((1.0, 1.0, 1.0), ["no-backoff"]),
        ((0.45, 0.9), []),
        ((0.4, 0.3), []),
        ((1.0,), []),
    ],
)
def test_no_backoff(quiet, waits, found):
    """Waits that are none, or always the same; one alone says nothing."""
    quiet.when().refuse(500, times=len(waits))
    at = 0.0
    sent(quiet)
    for wait in waits:
        at += 0.01 + wait
        sent(quiet, at=at)
    assert words(quiet) == found


def test_waits_that_were_asked_for_are_no_lack_of_backoff(quiet):
    quiet.when().refuse(429, retry_after=1, times=3)
    for place in range(4):
        sent(quiet, at=place * 1.01)
    assert words(quiet) == []


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ((0.5, 0.5, 0.501, 0.502), ["no-jitter"]),
        ((0.38, 0.42, 0.46, 0.5), []),
        ((0.5, 0.5, 0.5), []),
        ((0.01, 0.01, 0.01, 0.01), []),
    ],
)
def test_no_jitter(quiet, waits, found):
    """Callers that failed together and come back together; few of them, or drawn waits, prove nothing."""
    quiet.when().refuse(500, times=len(waits))
    for place in range(len(waits)):
        sent(quiet, f"caller {place}", at=place * 0.001)
    for place, wait in enumerate(waits):
        sent(quiet, f"caller {place}", at=place * 0.001 + 0.01 + wait)
    assert words(quiet) == found


def test_no_jitter_needs_failures_at_one_time(quiet):
    """Callers that failed one after the other come back one after the other."""
    quiet.when().refuse(500, times=4)
    for place in range(4):
        sent(quiet, f"caller {place}", at=place)
    for place in range(4):
        sent(quiet, f"caller {place}", at=place + 0.51)
    assert words(quiet) == []


def test_charged_twice(quiet):
    """An attempt that was left in mid-answer is paid for, and so is the next (R-78)."""
    quiet.when(stream=True).reply("one two three", faults=[{"kind": "stall", "after": 2}], times=1)
    sent(quiet, stream=True, leaves_after=3)
    sent(quiet, at=1, stream=True)
    assert words(quiet) == ["charged-twice"]
    assert outcomes(quiet) == ["recovered"]


def test_a_refusal_is_not_paid_for(quiet):
    quiet.when().refuse(500, times=1)
    sent(quiet)
    sent(quiet, at=1)
    assert words(quiet) == []


def test_gave_up(quiet):
    """A refusal that may pass, and nobody said that it was reported."""
    quiet.when().refuse(503)
    sent(quiet)
    sent(quiet, at=1.1)
    [finding] = quiet.verdict().findings
    assert (finding.word, finding.severity, finding.exchanges) == ("gave-up", "warning", (0, 1))
    assert "the last of 2 attempts ended in what may pass (was refused with 503)" in finding.evidence


def test_who_reports_has_not_given_up(quiet):
    quiet.when().refuse(503)
    sent(quiet)
    quiet.heard(error=RuntimeError("503"))
    assert words(quiet) == []
    assert outcomes(quiet) == ["reported"]


@pytest.mark.parametrize(("hint", "found"), [(121, []), (1, ["gave-up"])])
def test_who_is_asked_to_wait_for_long_may_give_up(quiet, hint, found):
    """Two minutes are too long for a call (R-82)."""
    quiet.when().refuse(429, retry_after=hint)
    sent(quiet)
    assert words(quiet) == found


def test_no_read_timeout(quiet):
    """A silence without end that only the mock ended, or that has lasted too long (R-78)."""
    quiet.when(stream=True).reply("one two", faults=[{"kind": "stall", "after": 1}])
    entry = sent(quiet, stream=True)
    assert entry.fate == "cut off"
    [error] = quiet.verdict().errors
    assert error.word == "no-read-timeout"
    assert outcomes(quiet) == ["hung"]


def test_a_silence_that_the_client_ended(quiet):
    """Whoever leaves has a timeout."""
    quiet.when(stream=True).reply("one two", faults=[{"kind": "stall", "after": 1}])
    entry = sent(quiet, stream=True, leaves_after=3)
    assert entry.fate == "left"
    assert words(quiet) == ["gave-up"]


@pytest.mark.parametrize(("patience", "found"), [(1e9, []), (0.0, ["no-read-timeout"])])
def test_a_silence_that_lasts(quiet, patience, found):
    """While a client waits, the verdict has so much patience."""
    quiet.when(stream=True).reply("one two", faults=[{"kind": "stall", "after": 1}])
    entry = sent(quiet, stream=True, is_over=False)
    assert entry.fate == "waiting"
    verdict = quiet.verdict(patience=patience)
    assert [one.word for one in verdict.errors] == list(verdict.words) == found
    assert verdict.outcomes == {"hung" if found else "under-way": 1}
    assert ("nothing is wrong with the client so far" in str(verdict)) is (not found)
