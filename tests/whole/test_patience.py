"""Clocks that stand, and yet suit clients that wait: one goes along with them, one begins today."""

import asyncio
import time
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from engy_mock import EngyMock, MockError
from engy_mock.faults import ColdStart, RetryAfter
from engy_mock.gateway.patience import Patience, hint
from engy_mock.vocabulary.clock import PatientClock, http_date, monotonic
from engy_mock.vocabulary.wire import Call, Head, Line

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


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("without_socket", [True, False])
async def test_a_crowd_waits_for_nobody_but_itself(retries, without_socket):
    """Many who ask the same at once are not one who comes again: only those who do are answered later."""
    with EngyMock(clock="patient") as engy:
        account, began = engy.account(requests_per_minute=5), engy.clock.now()
        http = engy.async_http_client() if without_socket else None
        async with AsyncOpenAI(
            base_url=engy.base_url, api_key=account.key, max_retries=retries, http_client=http
        ) as client:
            asking = [
                client.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=3) for _ in range(20)
            ]
            answers = await asyncio.gather(*asking, return_exceptions=True)
        answered = sum([not isinstance(answer, BaseException) for answer in answers])
        minutes = (engy.clock.now() - began) / 60
        # Some may have come for the second time before others came for the first.
        assert (answered, minutes) == (5, 0) if retries == 0 else (answered >= 15 and minutes in (2, 3))


class Door:
    """Calls that come to a patient clock by themselves: `comes` says whether it has moved for one."""

    def __init__(self):
        self.clock = PatientClock()
        self.patience = Patience(self.clock)

    def comes(self, line=None, count=None):
        headers = {} if count is None else {"x-stainless-retry-count": str(count)}
        self.call = Call(method="POST", path="/v1/chat/completions", headers=headers, body=b"{}", line=line)
        before = self.clock.now()
        self.patience.came(self.call)
        return self.clock.now() > before

    def is_refused(self):
        self.patience.told(self.call, Head(429, (("Retry-After", "10"),)))


def line(closed=None):
    return Line(monotonic(), closed)


def test_who_says_how_often_is_taken_at_its_word():
    """Only a second attempt comes behind a refusal of the first; a first one of many was never refused."""
    door = Door()
    for _ in range(3):
        assert not door.comes(line(), count=0)
        door.is_refused()
    assert not door.comes(line(), count=2)
    assert [door.comes(line(), count=1) for _ in range(4)] == [True, False, False, False]
    door.is_refused()
    assert door.comes(line(), count=2)
    assert not door.comes(count=0)
    door.is_refused()
    assert not door.comes(count=0)


def test_a_caller_of_its_own_loop_is_known_by_its_connection():
    """An official client without retries of its own, in a loop that tries again: one connection, one caller."""
    door, own = Door(), line()
    assert not door.comes(own, count=0)
    door.is_refused()
    assert door.comes(own, count=0)
    door.is_refused()
    assert not door.comes(line(), count=0)
    assert not door.comes(own, count=0)


def test_plain_clients_are_known_by_their_connections():
    """Who says nothing comes again on the same connection, or on a new one behind the end of the old one."""
    door, own, early, used = Door(), line(), line(), line()
    assert not door.comes(used)
    assert not door.comes(own)
    door.is_refused()
    assert not door.comes(early), "it was there before the other one was refused"
    assert not door.comes(used), "so was this one, whatever had come on it"
    assert not door.comes(line()), "the refused one's connection is still open"
    assert door.comes(own)
    door.is_refused()
    own.closed = monotonic()
    assert not door.comes(early), "it was there, and is no new one"
    again = line()
    assert door.comes(again)
    door.is_refused()
    again.closed = monotonic()
    other = line()
    assert not door.comes(used)
    assert door.comes(other), "what else came on it does not matter"
    door.is_refused()
    assert door.comes(None), "where connections are not known, whoever comes next"


def post(client, base_url, key, path="/chat/completions"):
    """Ask what all ask; returns the status."""
    body = {"model": "glm-5.2", "messages": HELLO, "max_tokens": 3}
    headers = {"Authorization": f"Bearer {key}"}
    return client.post(f"{base_url}{path}", json=body, headers=headers).status_code


def test_two_plain_clients_over_a_socket():
    """Each has a connection that stays open: nobody's clock moves for one that was not refused itself."""
    with EngyMock(clock="patient") as engy, httpx2.Client() as one, httpx2.Client() as other:
        key, began = engy.account(requests_per_minute=1).key, engy.clock.now()
        one.get(f"{engy.base_url}/models", headers={"Authorization": f"Bearer {key}"})
        statuses = [post(client, engy.base_url, key) for client in (one, other, one)]
        assert (statuses, engy.clock.now()) == ([200, 429, 429], began)
        assert [post(client, engy.base_url, key) for client in (one, other)] == [200, 429]
        assert engy.clock.now() == began + 60
        other.close()
        assert (post(one, engy.base_url, key), engy.clock.now()) == (429, began + 60), "the other one was refused"
        assert len({entry.line for entry in engy.journal}) == 2


@pytest.mark.parametrize("way", ["a client each", "none kept", "close"])
def test_a_plain_client_over_a_socket_that_closes(way):
    """Client or service closes it in between: then who comes on a new connection is the one who was refused."""
    with EngyMock(clock="patient") as engy:
        key, began = engy.account(requests_per_minute=1).key, engy.clock.now()
        if way == "a client each":
            statuses = [post(httpx2, engy.base_url, key) for _ in range(5)]
        else:
            limits = httpx2.Limits(max_keepalive_connections=0 if way == "none kept" else 5)
            headers = {"Connection": "close"} if way == "close" else {}
            with httpx2.Client(limits=limits, headers=headers) as client:
                statuses = [post(client, engy.base_url, key) for _ in range(5)]
        assert statuses == [200, 429, 200, 429, 200]
        assert engy.clock.now() == began + 120
        assert len({entry.line for entry in engy.journal}) == 5


def test_a_rehearsal_moves_no_clock():
    from engy_mock.gateway.rehearsal import rehearse

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
