"""Faults of connections: what happens when one is used again, and what clients make of it."""

import httpx2
import pytest
from aiohttp import ClientOSError

from engy_mock import EngyMock
from tests.doors.raw import Raw
from tests.scripting.captured import PATHS, asking, body_for
from tests.scripting.faults.official import PATIENCE, TEXT, WAYS, outcome


class Kept:
    """One connection that is used for several requests."""

    def __init__(self, engy, route="chat", *, stream=False):
        self.raw = Raw(engy.port)
        self.request = asking(engy, PATHS[route], body_for(route, stream=stream), is_kept=True)

    def asks(self):
        """The head of the next answer, or how the connection ended instead."""
        self.raw.send(self.request)
        try:
            return self.raw.read_answer()[0]
        except EOFError:
            return "fin"
        except ConnectionResetError:
            return "reset"


@pytest.fixture
def kept(engy):
    """Open a connection; it is closed at the end."""
    opened = []

    def kept(route="chat", *, stream=False):
        opened.append(Kept(engy, route, stream=stream))
        return opened[-1]

    yield kept
    for one in opened:
        one.raw.leave()


@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize("stream", [True, False])
def test_idle_for_too_long(engy, kept, route, stream):
    """R-77: within the time all is well; used again after it the connection is reset, and no answer is lost."""
    engy.when().reply("one two", faults=[{"kind": "idle-close", "seconds": 400}])
    client = kept(route, stream=stream and route != "completions")
    assert b" 200 OK" in client.asks()
    engy.clock.advance(399)
    assert b" 200 OK" in client.asks()
    engy.clock.advance(400)
    assert client.asks() == "reset"
    assert [(entry.status, entry.faults) for entry in engy.journal] == [(200, ("idle-close seconds=400",))] * 2
    assert engy.gateway.accounts.default.held_micro == 0
    assert b" 200 OK" in kept(route).asks()


def test_too_many_requests(engy, kept):
    """The connection takes so many requests, and another one as many again."""
    engy.when().reply("one", faults=[{"kind": "idle-close", "requests": 2}])
    for _ in range(2):
        client = kept()
        assert b" 200 OK" in client.asks()
        assert b" 200 OK" in client.asks()
        assert client.asks() == "reset"
    assert len(engy.journal) == 4


def test_a_promise_that_is_not_kept(engy, kept):
    """Five seconds are promised, and there is only one."""
    engy.when().reply("one", faults=["keep-alive-mismatch"])
    client = kept()
    head = client.asks()
    assert b"\r\nKeep-Alive: timeout=5\r\n" in head
    assert b"Connection: close" not in head
    engy.clock.advance(0.5)
    assert b" 200 OK" in client.asks()
    engy.clock.advance(1)
    assert client.asks() == "reset"


def test_a_reset_of_the_mock_makes_connections_well_again(engy, kept):
    """D-10: what was agreed before a reset does not hold behind it."""
    engy.when().reply("one", faults=[{"kind": "idle-close", "requests": 1}])
    client = kept()
    client.asks()
    engy.reset()
    assert b" 200 OK" in client.asks()


@pytest.mark.parametrize("way", ["OP chat", "OP responses stream", "AP", "AP stream", "SG chat"])
def test_what_clients_make_of_it(engy, clients, monkeypatch, way):
    """R-77: a connection error for who does not try again, an answer for who does."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    engy.when().reply(TEXT, faults=[{"kind": "idle-close", "seconds": 60}])
    assert outcome(clients, engy, way) == "ok"
    engy.clock.advance(60)
    assert outcome(clients, engy, way) == "APIConnectionError < ReadError"
    assert outcome(clients, engy, way) == "ok"
    engy.clock.advance(60)
    library, _, call = WAYS[way]
    assert call(clients.of(engy, library).with_options(max_retries=1, timeout=PATIENCE))[0] == TEXT


async def test_on_a_loop_of_the_test(aiohttp_client):
    """The application does the same for whoever runs it."""
    engy = EngyMock()
    engy.when().reply("one", faults=[{"kind": "idle-close", "requests": 1}])
    client = await aiohttp_client(engy.app())
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    body = body_for("chat", stream=False)
    for _ in range(2):
        answer = await client.post(PATHS["chat"], json=body, headers=headers)
        assert answer.status == 200
        with pytest.raises(ClientOSError):
            await client.post(PATHS["chat"], json=body, headers=headers)
    assert len(engy.journal) == 2


def test_a_reset_is_no_answer(engy):
    """For a plain library it is a read error."""
    engy.when().reply("one", faults=[{"kind": "idle-close", "seconds": 0}])
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    with httpx2.Client(headers=headers) as client:
        body = body_for("chat", stream=False)
        assert client.post(f"{engy.base_url}/chat/completions", json=body).status_code == 200
        with pytest.raises(httpx2.ReadError):
            client.post(f"{engy.base_url}/chat/completions", json=body)
