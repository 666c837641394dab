"""Clocks that stand, and yet suit clients that wait: one goes along with them, one begins today."""

import time
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI

from engy_mock import EngyMock, MockError
from engy_mock.faults import ColdStart, RetryAfter
from engy_mock.gateway.patience import hint
from engy_mock.vocabulary.clock import http_date
from engy_mock.vocabulary.wire import Head

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]
NOW = 1_800_000_000.0


def ask(engy, key=None, retries=2, **more):
    with OpenAI(
        base_url="http://localhost/v1",
        api_key=key or engy.api_key,
        max_retries=retries,
        http_client=engy.http_client(),
    ) as client:
        return client.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=5, **more)


def test_a_quota_refills_for_who_waits():
    """Who comes again after a refusal finds the time that he was told to wait; who does not, leaves it alone."""
    engy = EngyMock(clock="patient")
    account = engy.account(requests_per_minute=2)
    began = engy.clock.now()
    for seed in range(5):
        ask(engy, account.key, seed=seed)
    assert [entry.status for entry in engy.journal] == [200, 200, 429, 200, 200, 429, 200]
    assert engy.clock.now() == began + 120
    ask(engy, account.key, retries=0, seed=10)
    with pytest.raises(openai.RateLimitError):
        ask(engy, account.key, retries=0, seed=11)
    assert engy.clock.now() == began + 120
    engy.reset()
    assert engy.clock.now() == began


@pytest.mark.parametrize(
    "trouble",
    [ColdStart(seconds=90), RetryAfter(value=90), RetryAfter(value=90, form="date"), RetryAfter(form="ms")],
)
def test_time_passes_whoever_refuses(trouble):
    """A rule, a fault, a date or milliseconds: the hint counts, and the client does not wait for it."""
    engy = EngyMock(clock="patient")
    began = engy.clock.now()
    engy.when().faults(trouble, times=1)
    with httpx2.Client(transport=engy.transport(), base_url="http://localhost") as http:
        body = {"model": "glm-5.2", "messages": HELLO, "max_tokens": 5, "seed": 7}
        headers = {"Authorization": f"Bearer {engy.api_key}"}
        statuses = [http.post("/v1/chat/completions", json=body, headers=headers).status_code for _ in range(2)]
    assert statuses[0] in (429, 503)
    assert statuses[1] == 200
    assert engy.clock.now() > began


def test_a_rehearsal_moves_no_clock():
    from engy_mock.gateway.rehearsal import rehearse
    from engy_mock.vocabulary.wire import Call

    engy = EngyMock(clock="patient")
    engy.when().refuse(503, retry_after=30)
    call = Call(
        method="POST",
        path="/v1/chat/completions",
        headers={"host": "localhost", "authorization": f"Bearer {engy.api_key}"},
        body=b'{"model":"glm-5.2","messages":[{"role":"user","content":"Hello"}]}',
    )
    began = engy.clock.now()
    list(engy.gateway.answer(call))
    rehearse(engy.gateway, call)
    assert engy.clock.now() == began
    list(engy.gateway.answer(call))
    assert engy.clock.now() == began + 30


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((("Retry-After", "42"), ("retry-after-ms", "1")), 42.0),
        ((("retry-after", "0.25"),), 0.25),
        ((("Retry-After", http_date(NOW + 30)),), 30.0),
        ((("Retry-After", http_date(NOW - 30)),), 0.0),
        ((("retry-after-ms", "1500"),), 1.5),
        ((("Retry-After", "soon"),), None),
        ((("Retry-After", "-5"),), None),
        ((), None),
    ],
)
def test_hints(headers, seconds):
    """Seconds, a date, or milliseconds; what is no hint is none."""
    assert hint(Head(429, headers), NOW) == seconds


def test_a_clock_may_begin_today():
    """It stands, at the machine's time: a dated hint lies in the future of a client, too."""
    engy = EngyMock(clock="today")
    assert abs(engy.clock.now() - time.time()) < 60
    stood = engy.clock.now()
    engy.when().refuse(429, faults=[RetryAfter(value=50, form="date")])
    with pytest.raises(openai.RateLimitError) as refused:
        ask(engy, retries=0)
    assert refused.value.response.headers["retry-after"] == http_date(stood + 50)
    assert engy.clock.now() == stood


def test_words_for_clocks():
    with pytest.raises(MockError, match=r"clock= takes 'standing', 'today', .* Did you mean 'patient'\?"):
        EngyMock(clock="pateint")  # type: ignore[arg-type]
