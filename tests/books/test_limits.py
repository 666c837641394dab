"""Limits of an account: requests at once, requests and tokens in a minute of the mock's clock."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock import EngyMock, WallClock
from engy_mock.books.limits import Minute
from engy_mock.vocabulary.wire import Call, Step
from tests.books.routes import CHAT, COMPLETIONS, MESSAGES, STREAMING, V1, V5, bearer, body, message
from tests.dialects.called import Answer, ask


@pytest.fixture
def engy() -> EngyMock:
    return EngyMock()


def asked(engy: EngyMock, key: str, path: str = CHAT, **fields: Any) -> Answer:
    return ask(engy.gateway, path, body(path, **fields), headers=bearer(key))


def begun(engy: EngyMock, key: str, path: str = CHAT) -> Iterator[Step]:
    """A stream of which the head has been taken."""
    data = json.dumps(body(path, stream=True)).encode()
    steps = engy.gateway.answer(Call(method="POST", path=path, headers=bearer(key), body=data))
    next(steps)
    return steps


@pytest.mark.parametrize("first", STREAMING)
@pytest.mark.parametrize("path", [*V1, *V5])
def test_requests_at_once(engy, first, path):
    """E-83, E-88, S-81: with the limit reached the next is 429, of whatever route; other accounts do not mind."""
    account = engy.account(max_concurrent=2)
    streams = [begun(engy, account.key, first), begun(engy, account.key, first)]
    assert account.under_way == 2
    refused = asked(engy, account.key, path)
    assert (refused.status, message(refused)) == (429, "concurrency limit of 2 reached")
    assert refused.headers["retry-after"] == "1"
    assert account.under_way == 2
    assert asked(engy, engy.api_key, path).status == 200
    list(streams[0])
    assert account.under_way == 1
    assert asked(engy, account.key, path).status == 200


def test_no_limit_by_default(engy):
    """E-88: fifty at once are fine, with any account."""
    for key in (engy.api_key, engy.account().key):
        streams = [begun(engy, key) for _ in range(50)]
        assert asked(engy, key).status == 200
        assert all(list(stream) for stream in streams)


def test_a_place_is_free_before_the_last_byte(engy):
    """E-88, E-199: a client that has seen the end of its answer can ask again at once."""
    account = engy.account(max_concurrent=1)
    steps = begun(engy, account.key)
    *_, last_write, end = (account.under_way for _ in steps)
    assert (last_write, end) == (0, 0)


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_client_that_leaves_frees_its_place(engy, taken):
    """E-88: also before the first byte."""
    engy.settings.one_event_per_write = True
    account = engy.account(max_concurrent=1)
    data = json.dumps(body(CHAT, stream=True)).encode()
    steps: Any = engy.gateway.answer(Call(method="POST", path=CHAT, headers=bearer(account.key), body=data))
    for _ in range(taken):
        next(steps)
    assert asked(engy, account.key).status == 429
    steps.close()
    steps.close()
    assert account.under_way == 0
    assert asked(engy, account.key).status == 200


def test_whatever_ends_an_exchange_frees_its_place(engy):
    """E-88: refusals of every kind, a scripted one, a defect: none keeps a place or leaves one behind."""
    account = engy.account(max_concurrent=1, balance_micro=100)
    engy.when(says="teapot").refuse(418)
    engy.when(says="defect").reply(lambda request: 1 / 0)
    rows: list[tuple[dict[str, Any], int]] = [
        ({"max_tokens": 0}, 400),
        ({"model": "nope"}, 404),
        ({"max_tokens": 1000}, 402),
        ({"text": "teapot"}, 418),
        ({"text": "defect"}, 500),
        ({}, 200),
    ]
    for fields, status in rows:
        assert asked(engy, account.key, **fields).status == status
        assert account.under_way == 0
    engy.gateway.defects.clear()


def test_pages_take_no_place(engy):
    """E-177: counting tokens and listing models is possible with all places taken and all minutes used up."""
    account = engy.account(max_concurrent=1, requests_per_minute=1, balance_micro=50)
    streams = [begun(engy, account.key)]
    assert asked(engy, account.key).status == 429
    counted = ask(engy.gateway, "/v1/messages/count_tokens", body(MESSAGES), headers=bearer(account.key))
    assert counted.status == 200
    for path in ("/v1/models", "/v5/models"):
        assert ask(engy.gateway, path, headers=bearer(account.key)).status == 200
    assert len(streams) == 1


def test_limits_of_the_default_account(engy):
    """E-88: set at any time, they act on the next request."""
    default = engy.accounts.default
    stream = begun(engy, engy.api_key)
    default.max_concurrent = 1
    assert asked(engy, engy.api_key).status == 429
    default.max_concurrent = 2
    assert asked(engy, engy.api_key).status == 200
    default.max_concurrent = 1
    assert asked(engy, "sk-engy-other").status == 429
    default.max_concurrent = None
    assert asked(engy, engy.api_key).status == 200
    list(stream)
    engy.reset()
    assert engy.accounts.default.max_concurrent is None


def test_requests_in_a_minute(engy):
    """E-194: refused until the first of them is a minute old, and so much is told in whole seconds, rounded up."""
    account = engy.account(requests_per_minute=2)
    assert asked(engy, account.key).status == 200
    engy.clock.advance(20.25)
    assert asked(engy, account.key).status == 200
    refused = asked(engy, account.key)
    assert (refused.status, message(refused)) == (429, "limit of 2 requests per minute reached")
    assert refused.headers["retry-after"] == "40"
    engy.clock.advance(39)
    assert asked(engy, account.key).headers["retry-after"] == "1"
    engy.clock.advance(1)
    assert asked(engy, account.key).status == 200
    assert asked(engy, account.key).headers["retry-after"] == "20"
    assert asked(engy, engy.api_key).status == 200


def test_tokens_in_a_minute(engy):
    """E-194: prompts count when they are admitted, answers when they end, both as `usage` has them."""
    account = engy.account(tokens_per_minute=40)
    total = asked(engy, account.key, max_tokens=10).json()["usage"]["total_tokens"]
    assert total == 19
    assert asked(engy, account.key, max_tokens=10).status == 200
    refused = asked(engy, account.key, max_tokens=1)
    assert refused.status == 429
    assert message(refused) == "limit of 40 tokens per minute reached: 38 used, the prompt has 9"
    assert refused.headers["retry-after"] == "60"
    assert refused.headers["x-ratelimit-limit-tokens"] == "40"
    engy.clock.advance(60)
    steps = begun(engy, account.key)
    assert asked(engy, account.key, "/v5/completions", max_tokens=1).status == 200
    engy.clock.advance(5)
    list(steps)
    assert asked(engy, account.key, COMPLETIONS, text=" the" * 30).headers["retry-after"] == "55"
    assert asked(engy, account.key, COMPLETIONS, text=" the" * 38).headers["retry-after"] == "60"


@pytest.mark.parametrize("path", [*V1, *V5])
@pytest.mark.parametrize("hurries", [True, False])
def test_a_prompt_over_the_limit_never_fits(engy, path, hurries):
    """E-83, E-194: no wait makes room for it, so it is told to be shorter, and nobody is asked to come again."""
    engy.settings.hurries_retries = hurries
    account = engy.account(tokens_per_minute=1)
    refused = asked(engy, account.key, path, text=" the" * 9)
    assert refused.status == 429
    assert re.fullmatch(
        r"the prompt has \d+ tokens, more than the limit of 1 tokens per minute: .* waiting does not help",
        message(refused),
    )
    assert refused.headers["x-should-retry"] == "false"
    assert not [name for name in refused.headers if "retry-after" in name or "reset" in name]
    limits = [value for name, value in refused.headers.items() if "ratelimit" in name]
    assert sorted(limits) == ([] if path in V5 else ["0", "1"]), "E-194"
    account.tokens_per_minute = 1000
    assert asked(engy, account.key, path).status == 200


def test_what_is_refused_uses_nothing_up(engy):
    """Requests that are not admitted leave the minute as it was; those that a rule refuses have been admitted."""
    account = engy.account(requests_per_minute=2, tokens_per_minute=1000, max_concurrent=1, balance_micro=10_000)
    engy.when(says="teapot").refuse(418)
    stream = begun(engy, account.key)
    assert [asked(engy, account.key).status for _ in range(3)] == [429, 429, 429]
    list(stream)
    assert [asked(engy, account.key, max_tokens=30_000).status for _ in range(3)] == [402, 402, 402]
    assert asked(engy, account.key, text="teapot").status == 418
    refused = asked(engy, account.key)
    assert message(refused) == "limit of 2 requests per minute reached"


def test_a_clock_that_goes_back(engy):
    """What was used in a future that has not come is not used; a reset is one such case."""
    account = engy.account(requests_per_minute=1)
    engy.clock.advance(1000)
    assert [asked(engy, account.key).status for _ in range(2)] == [200, 429]
    engy.clock.set(engy.clock.now() - 500)
    assert [asked(engy, account.key).status for _ in range(2)] == [200, 429]


LIMITED = [
    (
        CHAT,
        {
            "x-ratelimit-limit-requests": "1",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": 0,
        },
    ),
    (
        MESSAGES,
        {
            "anthropic-ratelimit-requests-limit": "1",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2026-10-18T00:01:00Z",
        },
    ),
    (V5[0], {}),
]


@pytest.mark.parametrize(("path", "expected"), LIMITED, ids=[path for path, _ in LIMITED])
def test_headers_of_a_limit(engy, path, expected):
    """E-194, R-44: the limit in force and the time of the reset, as the clients of the dialect know them."""
    account = engy.account(requests_per_minute=1)
    assert asked(engy, account.key, path).status == 200
    engy.clock.advance(10.5)
    headers = asked(engy, account.key, path).headers
    assert headers["retry-after"] == "50"
    expected = {name: value or "50s" for name, value in expected.items()}
    assert {name: value for name, value in headers.items() if "ratelimit" in name} == expected


@pytest.mark.parametrize("hurries", [True, False])
def test_nobody_waits_for_a_clock_that_stands(engy, hurries):
    """Official clients are told to try again at once, unless that is not wanted."""
    engy.settings.hurries_retries = hurries
    account = engy.account(requests_per_minute=1)
    asked(engy, account.key)
    assert asked(engy, account.key).headers.get("retry-after-ms") == ("1" if hurries else None)


def test_clients_of_a_clock_that_runs_wait():
    """With the machine's time a pause passes, so the hint is the real one."""
    engy = EngyMock(clock=WallClock())
    account = engy.account(requests_per_minute=1)
    asked(engy, account.key)
    headers = asked(engy, account.key).headers
    assert "retry-after-ms" not in headers
    assert int(headers["retry-after"]) <= 60


spans = st.floats(min_value=0, max_value=50).map(lambda seconds: math.floor(seconds * 8) / 8)


@settings(max_examples=150)
@given(st.lists(st.tuples(spans, st.integers(0, 9)), max_size=30), st.integers(1, 20))
def test_any_minute(uses: list[tuple[float, int]], limit: int):
    """What was used is the sum of the last sixty seconds, and the wait is the shortest that does."""
    minute = Minute()
    now = 1792281600.0
    known: list[tuple[float, int]] = []

    def used(at: float) -> int:
        return sum(amount for since, amount in known if at - 60 < since <= at)

    for span, amount in uses:
        now += span
        wait = minute.wait(amount, limit, now)
        assert minute.used == used(now)
        assert (wait == 0) == (used(now) + amount <= limit)
        if wait and amount <= limit:
            assert used(now + wait) + amount <= limit
            assert used(now + wait - 1) + amount > limit
        if not wait:
            minute.add(amount, now)
            known.append((now, amount))
