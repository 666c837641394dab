"""Several callers with the same request: none is blamed for the others, and one without patience is found."""

import asyncio
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from threading import Barrier
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI, OpenAIError

from engy_mock import EngyMock
from engy_mock.vocabulary.wire import Line
from tests.verdict.journals import outcomes, sent, words

QUESTION: dict[str, Any] = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Why do bridges sway?"}]}
HINT = 0.3


def groups(engy):
    return [group.exchanges for group in engy.verdict().groups]


def lines(*opened):
    """Connections that are open from these seconds on, and never closed."""
    return [Line(moment) for moment in opened]


def together(count, caller):
    """So many callers in threads that begin at one time."""
    start = Barrier(count)

    def call(_):
        start.wait()
        return caller()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


@pytest.mark.slow
@pytest.mark.parametrize("callers", [2, 8])
def test_official_clients_in_threads(callers):
    """Refusals that come at once never overlap: the counts tell the callers apart."""
    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=HINT, times=2 * callers)

        def ask():
            with OpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
                client.chat.completions.create(**QUESTION)

        together(callers, ask)
        assert len(engy.journal) == 3 * callers
        assert [group.outcome for group in engy.verdict(fail_level="warning").check().groups] == (
            ["recovered"] * callers
        )


@pytest.mark.slow
def test_official_clients_on_one_loop():
    """The same with one client that many tasks share."""

    async def ask(engy):
        async with AsyncOpenAI(base_url=engy.base_url, api_key=engy.api_key) as client:
            await asyncio.gather(*[client.chat.completions.create(**QUESTION) for _ in range(6)])

    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=HINT, times=12)
        asyncio.run(ask(engy))
        assert engy.verdict(fail_level="warning").check().outcomes == {"recovered": 6}


@pytest.mark.slow
@pytest.mark.parametrize("callers", [2, 6])
def test_official_clients_inside_the_process(callers):
    """Without a socket there are only the counts to go by."""
    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=HINT, times=callers)

        def ask():
            with OpenAI(base_url=engy.base_url, api_key=engy.api_key, http_client=engy.http_client()) as client:
                client.chat.completions.create(**QUESTION)

        together(callers, ask)
        assert engy.verdict(fail_level="warning").check().outcomes == {"recovered": callers}


def test_patient_clients_without_counts():
    """Connections that are open at one time tell that there are several callers."""
    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=HINT, times=3)
        asyncio.run(_patient(engy, 3))
        assert engy.verdict(fail_level="warning").check().outcomes == {"recovered": 3}


async def _patient(engy, callers):
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    async with httpx.AsyncClient(base_url=engy.base_url, headers=headers) as client:

        async def ask():
            while (answer := await client.post("chat/completions", json=QUESTION)).status_code == 429:
                await asyncio.sleep(float(answer.headers["retry-after"]))

        await asyncio.gather(*[ask() for _ in range(callers)])


def with_urllib(engy):
    """A connection of its own for each attempt."""
    request = urllib.request.Request(
        f"{engy.base_url}/chat/completions",
        json.dumps(QUESTION).encode(),
        {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()


def with_one_connection(engy):
    """All attempts on one connection."""
    connection = HTTPConnection("127.0.0.1", engy.port)
    headers = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}

    def ask(engy):
        connection.request("POST", "/v1/chat/completions", json.dumps(QUESTION), headers)
        connection.getresponse().read()

    return ask, connection.close


def with_an_official_client(engy):
    """One that does not try again by itself: its count is always nought."""
    client = OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0)

    def ask(engy):
        try:
            client.chat.completions.create(**QUESTION)
        except OpenAIError:
            return

    return ask, client.close


@pytest.mark.parametrize("opened", [None, with_one_connection, with_an_official_client])
def test_one_client_without_patience(opened):
    """A loop that asks again at once is found, whatever it asks with."""
    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=2, times=11)
        ask, close = (with_urllib, None) if opened is None else opened(engy)
        for _ in range(12):
            ask(engy)
        if close is not None:
            close()
        assert sorted(words(engy)) == ["retry-after-ignored", "retry-storm"]
        assert groups(engy) == [tuple(range(12))]


def test_several_clients_without_patience():
    """A crowd does not hide them: nobody patient has made these attempts."""
    with EngyMock() as engy:
        engy.when().refuse(429, retry_after=5, times=8)

        def loop():
            ask, close = with_one_connection(engy)
            for _ in range(3):
                ask(engy)
            close()

        together(4, loop)
        assert "retry-after-ignored" in words(engy)


REFUSED_TWICE = [(0.0, 0), (0.02, 1), (2.1, 0), (2.12, 1)]


def test_connections_that_stand_open_show_a_crowd(quiet):
    """A client opens no second connection while its first one is free."""
    quiet.when().refuse(429, retry_after=2, times=2)
    used = lines(0.0, 0.015)
    for at, place in REFUSED_TWICE:
        sent(quiet, at=at, line=used[place])
    assert groups(quiet) == [(0, 2), (1, 3)]
    assert words(quiet) == []


@pytest.mark.parametrize("used", [lines(0.0) * 2, [Line(0.0, 0.011), Line(0.015)], [None, None]])
def test_without_a_sign_there_is_one_caller(quiet, used):
    """On one connection, or on one after the other, and where nothing is known of them."""
    quiet.when().refuse(429, retry_after=2, times=2)
    for at, place in REFUSED_TWICE:
        sent(quiet, at=at, line=used[place])
    assert groups(quiet) == [(0, 1, 2), (3,)]
    assert words(quiet) == ["retry-after-ignored"]


def test_a_crowd_explains_no_attempt_that_came_too_soon(quiet):
    """Both callers ask again at once, each on its own connection."""
    quiet.when().refuse(429, retry_after=2, times=2)
    used = lines(0.0, 0.05)
    for at, place in [(0.0, 0), (0.02, 0), (0.06, 1), (0.08, 1)]:
        sent(quiet, at=at, line=used[place])
    assert words(quiet) == ["retry-after-ignored"]


def test_a_connection_for_another_request_is_no_sign(quiet):
    """An application with many calls at once has many connections; each call may still have no patience."""
    quiet.when(says="Hello").refuse(400, times=1)
    used = lines(0.0, 0.05)
    sent(quiet, at=0.0, line=used[0])
    sent(quiet, "Another one", at=0.04, lasts=1.0, line=used[0])
    sent(quiet, at=0.06, line=used[1])
    assert words(quiet) == ["retried-non-retryable"]


def test_callers_that_are_all_told_the_same(quiet):
    """Where each of several callers gets a 400, none has tried again; where one does, it has."""
    quiet.when().refuse(400)
    used = lines(0.0, 0.0)
    sent(quiet, at=0.1, line=used[0])
    sent(quiet, at=0.2, line=used[1])
    assert groups(quiet) == [(0,), (1,)]
    assert words(quiet) == []


def test_a_caller_that_was_there_before(quiet):
    """A connection that was open before a failure was not opened because of it."""
    quiet.when().refuse(429, retry_after=2, times=2)
    used = lines(0.0, 0.005, 0.006)
    for at, line in zip((0.0, 0.02, 0.04), used, strict=True):
        sent(quiet, at=at, line=line)
    assert groups(quiet) == [(0,), (1,), (2,)]
    assert set(outcomes(quiet)) == {"gave-up", "answered"}
    assert quiet.verdict().errors == ()


def test_an_outage_for_many_callers_is_no_storm(quiet):
    """Without a hint, a patient caller waits a little; in a crowd nobody makes more attempts than a call has."""
    quiet.when().refuse(500, times=24)
    used = lines(*[place / 1000 for place in range(12)])
    for moment in (0.1, 0.9, 2.5):
        for place, line in enumerate(used):
            sent(quiet, at=moment + place / 100, line=line)
    assert groups(quiet) == [(place, place + 12, place + 24) for place in range(12)]
    assert "retry-storm" not in words(quiet)


def test_a_count_of_nought_begins_a_call_where_clients_count(quiet):
    """Two that gave up, and two that begin; an application's own attempts come when nobody else is there."""
    quiet.when().refuse(429, retry_after=1, times=4)
    for at, count in ((0.0, 0), (0.1, 0), (1.1, 1), (1.2, 1), (1.3, 0)):
        sent(quiet, at=at, retry_count=count)
    assert groups(quiet) == [(0, 2), (1, 3), (4,)]
    assert quiet.verdict().errors == ()


def test_official_clients_that_an_application_calls_again(quiet):
    """One caller after the other: the attempts of the application are attempts at the same call."""
    quiet.when().refuse(429, retry_after=1, times=3)
    for at, count in ((0.0, 0), (1.1, 1), (1.2, 0), (1.3, 0)):
        sent(quiet, at=at, retry_count=count)
    assert groups(quiet) == [(0, 1, 2, 3)]
    assert words(quiet) == ["retry-after-ignored"]


def test_other_keys_and_clients_are_other_callers(quiet):
    """Who asks with another key has not been refused."""
    quiet.when().refuse(429, retry_after=2, times=1)
    sent(quiet)
    other = quiet.account(balance_micro=10**9)
    quiet.api_key, own = other.key, quiet.api_key
    sent(quiet, at=0.1)
    quiet.api_key = own
    assert groups(quiet) == [(0,), (1,)]


def test_a_crowd_that_never_gets_an_answer(quiet):
    """Only the latest calls wait for one more attempt, so that a long outage can be read."""
    quiet.when().refuse(503, retry_after=1000)
    used = lines(*[place / 1000 for place in range(200)])
    for place, line in enumerate(used):
        sent(quiet, at=1 + place / 50, line=line)
    verdict = quiet.verdict()
    assert verdict.outcomes == {"gave-up": 200}
    assert verdict.errors == ()
