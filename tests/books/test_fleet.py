"""Workers: which wishes they meet, how many requests they answer at once."""

import json
from typing import Any

import pytest

from engy_mock import EngyMock, Worker
from engy_mock.vocabulary.wire import Call
from tests.books.routes import CHAT, MESSAGES, V1, V5, bearer, body, message
from tests.dialects.called import Answer, ask

ZDR, PROOF = {"zdr": True}, {"require_proof": True}
BOTH = {**ZDR, **PROOF}


@pytest.fixture
def engy() -> EngyMock:
    return EngyMock()


def asked(engy: EngyMock, path: str, **fields: Any) -> Answer:
    return ask(engy.gateway, path, body(path, **fields), headers=bearer())


@pytest.mark.parametrize("path", V1)
@pytest.mark.parametrize(
    ("wish", "status"),
    [(None, 200), ({}, 200), (ZDR, 200), (PROOF, 200), (BOTH, 503), ({**BOTH, "zdr": False}, 200)],
)
def test_wishes(engy, path, wish, status):
    """E-82, E-148, E-9: each alone is met on all four routes, both together are not."""
    answer = asked(engy, path, provider=wish)
    assert answer.status == status
    if status == 503:
        error = answer.json()["error"]
        assert error["message"] == "no worker meets provider.zdr and provider.require_proof"
        assert error["type"] == ("api_error" if path == MESSAGES else "service_unavailable_error")
        assert answer.headers["retry-after"] == "1"
        assert engy.accounts.default.charged_micro == 0


@pytest.mark.parametrize(
    ("workers", "wish", "words"),
    [
        ((), ZDR, "no worker meets provider.zdr"),
        ((Worker(),), PROOF, "no worker meets provider.require_proof"),
        ((Worker(zdr=True),), ZDR, None),
        ((Worker(zdr=True),), PROOF, "no worker meets provider.require_proof"),
        ((Worker(), Worker(zdr=True, require_proof=True)), BOTH, None),
        ((), None, None),
    ],
)
def test_what_workers_can_promise(engy, workers, wish, words):
    """E-148: a setting; it acts on the next request, and a reset brings back what was."""
    assert asked(engy, CHAT, provider=ZDR).status == 200
    engy.settings.workers = workers
    answer = asked(engy, CHAT, provider=wish)
    assert (answer.status, words and message(answer)) == ((503, words) if words else (200, None))
    engy.reset()
    assert asked(engy, CHAT, provider=ZDR).status == 200


@pytest.mark.parametrize("path", V5)
def test_there_are_no_wishes_on_v5(engy, path):
    """S-19, S-81: the field is unknown there, so it is accepted and does nothing."""
    answer = asked(engy, path, provider=BOTH)
    assert answer.status == 200
    assert "proof" not in answer.json()


def test_capacity(engy):
    """E-83: a setting for all accounts together; each request has its place until its last byte."""
    engy.settings.capacity = 2
    accounts = [engy.account(), engy.account(), engy.account()]
    data = json.dumps(body(CHAT, stream=True)).encode()
    streams = [
        engy.gateway.answer(Call(method="POST", path=CHAT, headers=bearer(account.key), body=data))
        for account in accounts[:2]
    ]
    refused = ask(engy.gateway, CHAT, body(CHAT), headers=bearer(accounts[2].key))
    assert (refused.status, message(refused)) == (429, "capacity is exhausted")
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["x-ratelimit-limit-requests"] == "2"
    list(streams[0])
    assert ask(engy.gateway, CHAT, body(CHAT), headers=bearer(accounts[2].key)).status == 200
    streams[1].close()
    assert engy.gateway.fleet.under_way == 0


def test_a_reset_while_requests_are_under_way(engy):
    """They keep the books that they were admitted by, and take no places of the new ones."""
    engy.settings.capacity = 1
    account = engy.account(max_concurrent=1)
    data = json.dumps(body(CHAT, stream=True)).encode()
    call = Call(method="POST", path=CHAT, headers=bearer(account.key), body=data)
    stream = engy.gateway.answer(call)
    engy.reset()
    engy.settings.capacity = 1
    other = engy.gateway.answer(call)
    list(stream)
    assert (account.under_way, account.charged_micro > 0) == (0, True)
    assert engy.gateway.fleet.under_way == 1
    list(other)
    assert engy.gateway.fleet.under_way == 0
