"""An answer that is told again says what it would have said without anybody remembering it."""

import json
from typing import Any

import pytest

from engy_mock import EngyMock
from engy_mock.gateway import Gateway, Settings
from engy_mock.gateway.memory import Memory
from engy_mock.vocabulary.wire import Call, Step, Whole

HELLO = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}]}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", HELLO),
    ("/v1/chat/completions", {**HELLO, "logprobs": True, "top_logprobs": 2}),
    ("/v1/completions", {"model": "glm-5.2", "prompt": "Hello", "echo": True, "logprobs": 1}),
    ("/v1/messages", {**HELLO, "max_tokens": 99}),
    ("/v1/responses", {"model": "glm-5.2", "input": "Hello"}),
    ("/v5/chat/completions", {**HELLO, "model": "openai/gpt-4o"}),
]


def _asked(gateway: Gateway, path: str, body: dict[str, Any], times: int) -> list[bytes]:
    headers = {"host": "localhost", "authorization": "Bearer sk-engy-x", "x-api-key": "x"}
    call = Call(method="POST", path=path, headers=headers, body=json.dumps(body).encode())
    told = [list(gateway.answer(call)) for _ in range(times)]
    return [step.body for steps in told for step in steps if isinstance(step, Whole)]


@pytest.mark.parametrize(("path", "body"), CALLS)
def test_told_again(path, body, monkeypatch):
    """Three answers to equal requests are the same bytes, remembered or not, and differ from each other."""
    remembered = _asked(Gateway(), path, body, 3)
    monkeypatch.setattr(Memory, "again", lambda *_: None)
    assert _asked(Gateway(), path, body, 3) == remembered
    assert len(set(remembered)) == len(remembered) == 3


def _streamed(gateway: Gateway, path: str, body: dict[str, Any], times: int) -> list[list[Step]]:
    headers = {"host": "localhost", "authorization": "Bearer sk-engy-x", "x-api-key": "x"}
    body = {**body, "stream": True}
    call = Call(method="POST", path=path, headers=headers, body=json.dumps(body).encode())
    return [list(gateway.answer(call)) for _ in range(times)]


@pytest.mark.parametrize(("path", "body"), CALLS)
@pytest.mark.parametrize("is_split", [False, True])
def test_streamed_again(path, body, is_split, monkeypatch):
    """The same for streams, write by write, and the journal knows the same of them."""
    gateways = [Gateway(settings=Settings(one_event_per_write=is_split)) for _ in range(2)]
    remembered = _streamed(gateways[0], path, body, 5)
    monkeypatch.setattr(Memory, "stream_again", lambda *_: None)
    assert _streamed(gateways[1], path, body, 5) == remembered
    assert all(remembered.count(told) == 1 for told in remembered)
    one, other = ([entry.snapshot() for entry in gateway.journal] for gateway in gateways)
    assert one == other
    pieces = [[entry.pieces_sent for entry in gateway.journal] for gateway in gateways]
    assert pieces[0] == pieces[1]
    assert gateways[0].accounts.default.charged_micro == gateways[1].accounts.default.charged_micro


def test_a_client_that_leaves_a_stream_told_again_pays_for_what_it_got():
    """Remembered or not, it is charged for the writes that it has seen (E-200)."""
    gateway = Gateway(settings=Settings(one_event_per_write=True))
    path, body = CALLS[0]
    _streamed(gateway, path, body, 4)
    headers = {"host": "localhost", "authorization": "Bearer sk-engy-x"}
    call = Call(method="POST", path=path, headers=headers, body=json.dumps({**body, "stream": True}).encode())
    steps: Any = gateway.answer(call)
    for _ in range(6):
        next(steps)
    steps.close()
    entry = gateway.journal.last
    assert entry.client_left
    assert 0 < entry.pieces_sent < gateway.journal[0].pieces_sent
    assert 0 < entry.charged_micro < gateway.journal[0].charged_micro


def test_time_and_prices_are_not_remembered():
    """What the clock and the account say is told as it is now."""
    with EngyMock() as engy:
        path, body = CALLS[0]
        first = json.loads(_asked(engy.gateway, path, body, 1)[0])
        engy.clock.advance(5)
        later = json.loads(_asked(engy.gateway, path, body, 1)[0])
        assert later["created"] == first["created"] + 5
        card = engy.gateway.catalog.find("glm-5.2")
        engy.gateway.accounts.default.prices = {card.id: engy.gateway.catalog.find("kimi-k3").prices}
        dearer = json.loads(_asked(engy.gateway, path, body, 1)[0])
        assert dearer["x_engy"]["charged_micro"] > later["x_engy"]["charged_micro"]
        assert dearer["choices"] == first["choices"]
