"""A reset gives a mock as new (D-10, Q-44)."""

import dataclasses

import httpx2
import pytest

from engy_mock import EngyMock, tokenizer_file


@pytest.fixture
def ask(engy: EngyMock):
    """Ask and give back status and body."""
    with httpx2.Client(headers={"Authorization": f"Bearer {engy.api_key}"}) as http:

        def ask(model="glm-5.2"):
            body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
            answer = http.post(f"{engy.base_url}/chat/completions", json=body)
            return answer.status_code, answer.content

        yield ask


def test_after_a_reset_everything_is_as_at_first(engy, ask):
    """Journal, rules, ids, balances, clock, settings and models."""
    first = ask()
    engy.when().refuse(429)
    engy.clock.advance(3600)
    engy.settings.closed_accounts = True
    engy.catalog.mark("kimi-k3", is_available=False)
    engy.catalog.use("glm-5.2", chat_template="{{ messages[0].content }} {# mine #}")
    engy.gateway.accounts.default.balance_micro = 5
    assert ask()[0] == 401
    engy.reset()
    assert len(engy.journal) == 0
    assert ask() == first
    assert ask("kimi-k3")[0] == 200


def test_what_was_set_before_the_start_stays():
    """A mock that is set up before it serves keeps its set-up through resets."""
    engy = EngyMock()
    card = next(iter(engy.catalog))
    engy.catalog.add(dataclasses.replace(card, id="mine"))
    engy.catalog.use("mine", tokenizer=tokenizer_file())
    with engy:
        engy.catalog.mark("mine", is_available=False)
        engy.reset()
        assert engy.catalog.find("mine").is_available


def ids_of(engy, paths):
    """The ids of requests for these paths, asked one after the other."""
    with engy.http_client() as client:
        return [client.get(path, headers={"x-api-key": engy.api_key}).headers["x-request-id"] for path in paths]


def test_ids_do_not_know_what_was_asked_before_a_reset():
    """E-14: what was learnt about a path says nothing about the same path with a query."""
    [fresh] = ids_of(EngyMock(), ["/v1/models?a=b"])
    used = EngyMock()
    ids_of(used, ["/v1/models", "/v1/models?a=c"])
    used.reset()
    assert ids_of(used, ["/v1/models?a=b"]) == [fresh]


def test_ids_are_the_same_in_any_order():
    """E-14: requests that differ in their query alone draw from the same set of ids, whoever comes first."""
    paths = ["/v1/models", "/v1/models?a=b", "/v1/models", "/v1/models?a=c", "/v1/models?a=b"]
    there, back = ids_of(EngyMock(), paths), ids_of(EngyMock(), paths[::-1])
    assert set(there) == set(back)
    assert len(set(there)) == len(paths)
