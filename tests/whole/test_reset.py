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
