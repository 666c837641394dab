"""A rehearsal says what the real call is going to get, and leaves no trace."""

import json
import math
from typing import Any

import pytest

from engy_mock import EngyMock
from engy_mock.gateway.rehearsal import rehearse
from engy_mock.vocabulary.errors import InvalidRequest
from engy_mock.vocabulary.wire import Call

LONG = "The old town has a bridge and a river. " * 20


def call(engy, text="Hello!", path="/v1/chat/completions", key=None, **more):
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], "max_tokens": 8, **more}
    headers = {"authorization": f"Bearer {key or engy.api_key}"}
    return Call(method="POST", path=path, headers=headers, body=json.dumps(body).encode())


def state(engy):
    """Everything that a call may change."""
    return (
        [str(entry) for entry in engy.journal],
        [(repr(account), account.under_way) for account in engy.accounts],
        len(engy.cache),
        [(rule.name, rule.used, rule.tokens) for rule in engy.gateway.script.rules],
        [(rule.name, rule.used) for rule in engy.gateway.scenes.stage.rules()],
        [scene.phase for scene in engy.gateway.scenes.stage.scenes],
        engy.gateway.fleet.under_way,
        list(engy.gateway.defects),
    )


@pytest.fixture
def engy(tmp_path):
    (tmp_path / "two-phases.yaml").write_text(
        "description: x\n"
        "phases:\n"
        "  - name: first\n"
        "    until: {requests: 2}\n"
        "    rules: [{when: {says: phase}, reply: one}]\n"
        "  - name: second\n"
        "    rules: [{when: {says: phase}, reply: two}]\n"
    )
    engy = EngyMock(scenario_folders=[tmp_path], scenarios=["two-phases"])
    engy.when(says="twice").reply(["first", "second"], times=2)
    engy.when(says="refuse me").refuse(429, times=1)
    engy.when(says="break").reply("one two three four", faults=["cut"])
    return engy


ASKED: list[dict[str, Any]] = [
    {"text": "Hello!"},
    {"text": "Hello!", "stream": True},
    {"text": "Say it twice."},
    {"text": "Say it twice."},
    {"text": "Say it twice."},
    {"text": "Please refuse me."},
    {"text": "Please refuse me."},
    {"text": "break", "stream": True},
    {"text": LONG},
    {"text": LONG},
    {"text": "which phase"},
    {"text": "Hello!", "model": "nope"},
    {"text": "Hello!", "key": "bad"},
    {"text": "Hello!", "path": "/v1/nowhere"},
]


def test_what_is_rehearsed_is_what_happens(engy):
    """Rule, faults, cached tokens, charge and every byte, in whatever state the mock is."""
    for words in ASKED:
        asked = call(engy, **words)
        before = state(engy)
        rehearsed, steps = rehearse(engy.gateway, asked)
        assert state(engy) == before
        again, _ = rehearse(engy.gateway, asked)
        assert again.plan == rehearsed.plan
        assert list(engy.gateway.answer(asked)) == steps
        entry = engy.journal.last
        for name in (
            "status",
            "rule",
            "faults",
            "charged_micro",
            "usage",
            "plan",
            "request_id",
            "error",
            "account",
        ):
            assert getattr(entry, name) == getattr(rehearsed, name)


def test_a_poor_account_is_told_so_beforehand(engy):
    """Limits and balances count in a rehearsal, and are not used up by it."""
    poor = engy.account(requests_per_minute=1, balance_micro=10_000)
    for _ in range(3):
        assert rehearse(engy.gateway, call(engy, key=poor.key))[0].status == 200
    list(engy.gateway.answer(call(engy, key=poor.key)))
    assert rehearse(engy.gateway, call(engy, key=poor.key))[0].status == 429
    engy.clock.advance(60)
    assert rehearse(engy.gateway, call(engy, key=poor.key))[0].status == 200


def test_an_endless_answer_is_rehearsed_at_once(engy):
    engy.when(says="for ever").reply("one two three", faults=["stall"])
    _, steps = rehearse(engy.gateway, call(engy, "for ever", stream=True))
    assert getattr(steps[-1], "seconds", None) == math.inf


def test_what_would_change_more_than_books_is_not_rehearsed(engy):
    changing = Call(method="POST", path="/v5/models", headers={"x-api-key": "k"}, body=b"{}")
    with pytest.raises(InvalidRequest, match="records"):
        rehearse(engy.gateway, changing)
