"""Credit, limits and workers as official clients meet them: exceptions, headers, and how often they try again."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import anthropic
import openai
import pytest
import scale_gp_beta
from anthropic import Anthropic
from openai import OpenAI
from scale_gp_beta import SGPClient

from engy_mock import Account, EngyMock
from engy_mock.books.fleet import Fleet

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]
BOTH = {"provider": {"zdr": True, "require_proof": True}}


@pytest.fixture
def account(engy: EngyMock) -> Account:
    """What the clients of this file pay with."""
    return engy.account("mine")


@pytest.fixture(scope="module")
def _kept() -> Iterator[dict[str, Any]]:
    """Clients, made once: each costs a fifth of a second."""
    made: dict[str, Any] = {}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def by_openai(engy: EngyMock, account: Account, _kept: dict[str, Any]) -> OpenAI:
    """A client as it comes, which tries again."""
    if "openai" not in _kept:
        _kept["openai"] = OpenAI(base_url=engy.base_url, api_key=account.key)
    client: OpenAI = _kept["openai"]
    return client


@pytest.fixture
def by_anthropic(engy: EngyMock, account: Account, _kept: dict[str, Any]) -> Anthropic:
    """Another."""
    if "anthropic" not in _kept:
        _kept["anthropic"] = Anthropic(base_url=engy.origin, api_key=account.key)
    client: Anthropic = _kept["anthropic"]
    return client


@pytest.fixture
def by_scale(engy: EngyMock, account: Account, _kept: dict[str, Any]) -> SGPClient:
    """A third."""
    if "scale" not in _kept:
        _kept["scale"] = SGPClient(base_url=engy.origin, api_key=account.key, account_id=account.name)
    client: SGPClient = _kept["scale"]
    return client


def statuses(engy: EngyMock) -> list[int]:
    return [entry.status for entry in engy.journal]


@pytest.mark.parametrize("stream", [False, True])
def test_no_credit_by_openai(engy: EngyMock, account: Account, by_openai: OpenAI, stream: bool):
    """E-84, E-193, E-197: 402 has no class of its own there, and is never tried again."""
    account.balance_micro = 50
    for ask in (
        lambda: by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, stream=stream),
        lambda: by_openai.responses.create(model="glm-5.2", input="Hello!", stream=stream),
        lambda: by_openai.completions.create(model="glm-5.2", prompt="Hello!"),
    ):
        with pytest.raises(openai.APIStatusError, match=r"request needs \d+ micro-USD, 50 available") as caught:
            ask()
        assert (caught.value.status_code, caught.value.type) == (402, "insufficient_quota")
    assert statuses(engy) == [402] * 3
    assert account.charged_micro == 0
    account.deposit(1_000)
    assert by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=9).choices


def test_no_credit_by_anthropic(engy: EngyMock, account: Account, by_anthropic: Anthropic):
    """E-84, E-192: it has a class there."""
    account.balance_micro = 50
    with pytest.raises(anthropic.PaymentRequiredError, match="50 available") as caught:
        by_anthropic.messages.create(model="glm-5.2", max_tokens=1024, messages=HELLO)
    assert caught.value.type == "billing_error"
    assert statuses(engy) == [402]


def test_a_minute_by_openai(engy: EngyMock, account: Account, by_openai: OpenAI):
    """E-194: the limit headers can be read off the exception; three attempts, without any waiting."""
    account.requests_per_minute = 1
    by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=5)
    engy.clock.advance(12.5)
    with pytest.raises(openai.RateLimitError, match="limit of 1 requests per minute reached") as caught:
        by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=5)
    assert caught.value.type == "rate_limit_error"
    headers = caught.value.response.headers
    assert headers["retry-after"] == "48"
    assert headers["x-ratelimit-limit-requests"] == "1"
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert headers["x-ratelimit-reset-requests"] == "48s"
    assert statuses(engy) == [200, 429, 429, 429]
    engy.clock.advance(int(headers["retry-after"]))
    assert by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=5).choices


def test_tokens_by_anthropic(engy: EngyMock, account: Account, by_anthropic: Anthropic):
    """E-194: the same in the names of that client, with a time in place of a span."""
    account.tokens_per_minute = 20
    by_anthropic.messages.create(model="glm-5.2", max_tokens=8, messages=HELLO)
    with pytest.raises(anthropic.RateLimitError, match="limit of 20 tokens per minute reached") as caught:
        by_anthropic.messages.create(model="glm-5.2", max_tokens=8, messages=HELLO)
    assert caught.value.type == "rate_limit_error"
    headers = caught.value.response.headers
    assert headers["retry-after"] == "60"
    assert headers["anthropic-ratelimit-tokens-limit"] == "20"
    assert headers["anthropic-ratelimit-tokens-remaining"] == "0"
    assert headers["anthropic-ratelimit-tokens-reset"] == "2026-10-18T00:01:00Z"
    assert statuses(engy) == [200, 429, 429, 429]


def test_a_minute_by_scale(engy: EngyMock, account: Account, by_scale: SGPClient):
    """S-80, S-81: a plain detail, the time to wait, and three attempts."""
    account.requests_per_minute = 1
    ask: dict[str, Any] = {"model": "openai/gpt-4o", "prompt": "Hello!", "max_tokens": 5}
    by_scale.completions.create(**ask)
    with pytest.raises(scale_gp_beta.RateLimitError) as caught:
        by_scale.completions.create(**ask)
    assert caught.value.body == {"detail": "limit of 1 requests per minute reached"}
    assert caught.value.response.headers["retry-after"] == "60"
    assert statuses(engy) == [200, 429, 429, 429]


def test_no_worker(engy: EngyMock, by_openai: OpenAI, by_anthropic: Anthropic):
    """E-82, E-148: 503 with a hint; it is tried again, and does not help."""
    with pytest.raises(openai.InternalServerError, match=r"no worker meets provider\.zdr and") as refused:
        by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, extra_body=BOTH)
    assert (refused.value.status_code, refused.value.type) == (503, "service_unavailable_error")
    assert refused.value.response.headers["retry-after"] == "1"
    with pytest.raises(anthropic.InternalServerError, match="no worker meets") as caught:
        by_anthropic.messages.create(model="glm-5.2", max_tokens=5, messages=HELLO, extra_body=BOTH)
    assert (caught.value.status_code, caught.value.type) == (503, "api_error")
    assert statuses(engy) == [503] * 6


def test_proof_and_cache_reach_the_client(by_openai: OpenAI):
    """E-110, E-146: beside the fields that the package knows, and in one that it knows."""
    text = "Tell me about the rivers of this country. " * 20
    turns: list[Any] = [{"role": "user", "content": text}]
    answers = [
        by_openai.chat.completions.create(
            model="glm-5.2",
            messages=turns,
            max_tokens=40,
            extra_body={"provider": {"require_proof": True}},
        )
        for _ in range(2)
    ]
    first, second = (answer.usage.prompt_tokens_details.cached_tokens for answer in answers)
    assert (first, bool(second)) == (0, True)
    extra = answers[1].model_extra
    assert extra["proof"]["n_tokens"] == answers[1].usage.completion_tokens
    assert extra["x_engy"]["charged_micro"] < answers[0].model_extra["x_engy"]["charged_micro"]


def test_a_place_until_the_client_leaves(
    engy: EngyMock, account: Account, by_openai: OpenAI, monkeypatch: pytest.MonkeyPatch
):
    """E-83, E-88, E-200: a stream that nobody reads keeps its place, one that is left gives it up and is paid."""
    is_free = Event()
    leave = Fleet.leave

    def left(fleet: Fleet) -> None:
        leave(fleet)
        if account.under_way == 0:
            is_free.set()

    monkeypatch.setattr(Fleet, "leave", left)
    account.max_concurrent = 1
    engy.when(says="long").reply("word " * 6000)
    # Thirty alternatives make some kilobytes of each event: more than all buffers on the way hold.
    long = by_openai.chat.completions.create(
        model="glm-5.2",
        messages=[{"role": "user", "content": "Something long, please."}],
        stream=True,
        logprobs=True,
        top_logprobs=30,
    )
    next(iter(long))
    with pytest.raises(openai.RateLimitError, match="concurrency limit of 1 reached") as caught:
        by_openai.chat.completions.create(model="glm-5.2", messages=HELLO)
    headers = caught.value.response.headers
    assert (headers["retry-after"], headers["x-ratelimit-limit-requests"]) == ("1", "1")
    assert (account.under_way, account.held_micro > 0, account.charged_micro) == (1, True, 0)
    assert not is_free.is_set()
    long.close()
    assert is_free.wait(10)
    assert by_openai.chat.completions.create(model="glm-5.2", messages=HELLO, max_tokens=5).choices
    entry = engy.journal[0]
    assert entry.client_left
    assert 0 < entry.usage.completion_tokens < 6000
    assert account.held_micro == 0
    assert account.charged_micro == sum(entry.charged_micro for entry in engy.journal)


def test_32_clients_at_once(engy: EngyMock, account: Account, by_openai: OpenAI):
    """E-88, E-199: on real connections, whoever has seen the end of its answer finds its place free again."""
    account.max_concurrent = 32
    deposit = account.balance_micro

    def ask(number: int) -> list[int]:
        charges = []
        for turn in range(2):
            stream = by_openai.chat.completions.create(
                model="glm-5.2",
                messages=[{"role": "user", "content": f"Number {number} asks about rivers."}],
                max_tokens=20,
                stream=True,
            )
            chunks = list(stream)
            assert chunks, turn
            charges.append(chunks[-1].model_extra["x_engy"]["charged_micro"])
        return charges

    with ThreadPoolExecutor(32) as pool:
        charges = [charge for own in pool.map(ask, range(32)) for charge in own]
    assert len(charges) == len(engy.journal) == 64
    assert account.charged_micro == sum(charges)
    assert account.balance_micro == deposit - sum(charges)
    assert (account.held_micro, account.under_way) == (0, 0)
