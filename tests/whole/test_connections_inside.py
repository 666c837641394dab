"""Clients inside the process have connections too: what is done to those is the same over both doors."""

import json
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from typing import Any

import httpx2
import pytest

from engy_mock import EngyMock, Limits
from engy_mock.mock.without_socket import NOWHERE
from tests.doors.both import LIBRARIES, TALKERS, Manner

BODY: dict[str, Any] = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 3}
TALKER = pytest.mark.parametrize("talker", TALKERS, ids=str)


def told(talker, engy, deeds, *, has_socket, **options):
    """What a client makes of a story: a status or an error for each request in it.

    `ask` and `stream` are requests, `wait` is a minute of the mock's time, `new` another client. At `close` the
    door is closed once more, at `open` it is once less, and at `reset` all is as it was.
    """
    engy.reset()
    said, closed = [], ExitStack()
    with ExitStack() as clients:
        talk = clients.enter_context(talker.talking(engy, has_socket=has_socket, **options))
        for deed in deeds:
            if isinstance(deed, dict):
                engy.when().faults(deed)
            elif deed == "wait":
                engy.clock.advance(60)
            elif deed == "close":
                closed.enter_context(engy.refuse_connections())
            elif deed == "open":
                closed.close()
            elif deed == "reset":
                engy.reset()
            elif deed == "new":
                talk = clients.enter_context(talker.talking(engy, has_socket=has_socket, **options))
            else:
                body = json.dumps({**BODY, "stream": deed == "stream"})
                headers = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}
                seen = talk("POST", "/v1/chat/completions", headers=headers, content=body)
                said.append(seen.error or seen.status)
    return said, [(entry.status, entry.faults, entry.not_applied) for entry in engy.journal]


USED_UP = {"kind": "idle-close", "requests": 1}
LEASED: dict[str, Sequence[Any]] = {
    "used up": [USED_UP, "ask", "ask", "ask", "ask"],
    "used up by a stream": [USED_UP, "stream", "stream", "new", "ask"],
    "used up by two": [{"kind": "idle-close", "requests": 2}, "ask", "stream", "ask", "ask"],
    "too late": [{"kind": "idle-close"}, "ask", "ask", "wait", "ask", "ask"],
    "another client": [{"kind": "idle-close"}, "ask", "wait", "new", "ask", "wait", "ask"],
    "sooner than promised": [{"kind": "keep-alive-mismatch"}, "ask", "ask", "wait", "stream", "ask"],
}


@TALKER
@pytest.mark.parametrize("story", LEASED)
def test_a_connection_that_is_used_too_late(talker, story):
    """It is broken, and the next one is a new one."""
    with EngyMock() as engy:
        over_socket = told(talker, engy, LEASED[story], has_socket=True)
        assert told(talker, engy, LEASED[story], has_socket=False) == over_socket
        assert any(isinstance(one, tuple) for one in over_socket[0])
        assert all(faults and not in_vain for _, faults, in_vain in over_socket[1])


REFUSED: dict[str, Sequence[Any]] = {
    "from the beginning": ["close", "ask", "ask", "open", "ask", "new", "stream"],
    "another client": ["ask", "close", "ask", "stream", "new", "ask", "open", "ask"],
    "after a broken answer": [{"kind": "cut"}, "ask", "close", "ask", "open", "ask"],
    "after a reset": ["close", "ask", "reset", "ask", "open", "new", "stream"],
    "twice": ["close", "close", "ask", "open", "ask"],
}


@TALKER
@pytest.mark.parametrize("story", REFUSED)
def test_a_door_that_is_closed(talker, story):
    """It refuses new connections, in the words of the client's own library; those that are there go on."""
    with EngyMock() as engy:
        over_socket = told(talker, engy, REFUSED[story], has_socket=True)
        assert told(talker, engy, REFUSED[story], has_socket=False) == over_socket
        assert any("ConnectError" in str(one) or "ConnectorError" in str(one) for one in over_socket[0])


def test_a_mock_that_does_not_run_refuses_for_a_while(monkeypatch):
    """Seconds of the wall, stretched like those of a mock that runs."""
    now = 1000.0
    monkeypatch.setattr("engy_mock.serving.holds.monotonic", lambda: now)
    engy = EngyMock(time_scale=2)
    for is_refused in (True, False):
        with engy.refuse_connections(seconds=1) if is_refused else nullcontext():
            now += 1.9
            for make in (engy.http_client, lambda: httpx2.Client(transport=engy.transport(), base_url=NOWHERE)):
                with make() as client, pytest.raises(httpx2.ConnectError) if is_refused else nullcontext():
                    assert client.get("/v1/models").status_code == 200
    engy.refuse_connections()
    engy.reset()
    assert engy.http_client().get("/v1/models").status_code == 200
    engy.refuse_connections()
    with engy, engy.http_client() as client:
        assert client.get("/v1/models").status_code == 200


@TALKER
def test_clients_end_connections_that_nobody_uses(talker):
    """Then it does not matter any more how long they might have been used."""
    options: dict[str, Any] = {}
    if isinstance(talker, Manner):
        options["limits"] = LIBRARIES[talker.library].Limits(max_keepalive_connections=0)
    else:
        options["headers"] = {"Connection": "close"}
    story = [USED_UP, "ask", "ask", "stream", "ask"]
    with EngyMock() as engy:
        over_socket = told(talker, engy, story, has_socket=True, **options)
        assert told(talker, engy, story, has_socket=False, **options) == over_socket
        assert over_socket[0] == [200] * 4


def test_a_transport_keeps_no_connection_that_is_too_old(monkeypatch):
    """Neither longer than its library would, nor longer than the service."""
    now = 1000.0
    monkeypatch.setattr("engy_mock.serving.links.monotonic", lambda: now)
    usual, patient = httpx2.Limits(keepalive_expiry=5), httpx2.Limits(keepalive_expiry=None)
    for limits, idle_seconds, kept in ((usual, 120, 4.9), (patient, 120, 119), (patient, 3, 2.9)):
        engy = EngyMock(limits=Limits(idle_seconds=idle_seconds))
        options: dict[str, Any] = {} if limits is usual else {"limits": limits}
        engy.when().faults(USED_UP)
        for seconds, is_kept in ((kept, True), (kept + 1.2, False)):
            with engy.http_client(headers={"Authorization": "Bearer sk-engy-x"}, **options) as client:
                assert client.post("/v1/chat/completions", json=BODY).status_code == 200
                now += seconds
                if is_kept:
                    with pytest.raises(httpx2.ReadError):
                        client.post("/v1/chat/completions", json=BODY)
                assert client.post("/v1/chat/completions", json=BODY).status_code == 200
