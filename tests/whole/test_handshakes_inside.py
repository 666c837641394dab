"""Clients inside the process shake hands with a mock that speaks TLS, and what comes of it is the same there."""

import asyncio
import re
import ssl
import threading
from typing import Any

import aiohttp
import httpx2
import pytest

from engy_mock import EngyMock, MockError
from engy_mock.serving.security import KINDS
from tests.doors.both import TALKERS, Aiohttp
from tests.doors.raw import PATIENCE

MODELS = "/v1/models"
TALKER = pytest.mark.parametrize("talker", TALKERS, ids=str)


@pytest.fixture(scope="module")
def secure():
    """A mock for each kind of door."""
    mocks = {kind: EngyMock(tls=kind).start() for kind in KINDS}
    yield mocks
    for mock in mocks.values():
        mock.stop()


def told(talker, engy, trust, url=MODELS, *, has_socket):
    """What a client makes of one request that trusts so; None for what is usual inside the process."""
    seconds = 0.1 if engy._tls == "handshake-stall" else PATIENCE
    options: dict[str, Any] = {}
    request: dict[str, Any] = {}
    if isinstance(talker, Aiohttp):
        # Connections wait for their handshakes at most so long; for answers a client waits longer.
        options["timeout"] = aiohttp.ClientTimeout(sock_connect=seconds, total=3 * seconds)
        request = {} if trust is None else {"ssl": trust}
    else:
        options["timeout"] = seconds
        options |= {} if trust is None else {"verify": trust}
    with talker.talking(engy, has_socket=has_socket, **options) as talk:
        seen = talk("GET", url, **request)
    # The place in the source that a message names is not always the same.
    return (seen.error[0], re.sub(r"\(?_ssl\.c:\d+[):]\s*", "", seen.error[1])) if seen.error else seen.status


VERDICTS = {
    "valid": None,
    "expired": "certificate has expired",
    "wrong-host": "certificate is not valid for",
    "self-signed": "self-signed certificate",
    "handshake-stall": "imeout",
}


@TALKER
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_of_a_handshake(secure, talker, kind):
    """The error of a connection, with the words of its handshake; or an answer to who looks at no certificate."""
    engy = secure[kind]
    engy.reset()
    trusting, careless = ssl.create_default_context(cadata=engy.authority), False
    over_socket = told(talker, engy, trusting, has_socket=True)
    verdict = VERDICTS[kind]
    assert over_socket == 200 if verdict is None else verdict in str(over_socket)
    assert told(talker, engy, trusting, has_socket=False) == over_socket
    assert told(talker, engy, None, has_socket=False) == over_socket
    assert len(engy.journal) == (3 if kind == "valid" else 0)
    if kind != "handshake-stall":
        assert told(talker, engy, careless, has_socket=True) == 200
        assert told(talker, engy, careless, has_socket=False) == 200


@TALKER
def test_who_trusts_others_does_not_trust_the_mock(secure, talker):
    """Nobody has told such a client of its authority."""
    others = ssl.create_default_context()
    over_socket = told(talker, secure["valid"], others, has_socket=True)
    assert told(talker, secure["valid"], others, has_socket=False) == over_socket
    assert "unable to get local issuer certificate" in over_socket[1]


@TALKER
@pytest.mark.parametrize("kind", ["valid", "handshake-stall"])
def test_plain_http_where_a_handshake_should_begin(secure, talker, kind):
    """Nobody understands it, and nobody answers."""
    engy = secure[kind]
    plain = engy.origin.replace("https", "http") + MODELS
    over_socket = told(talker, engy, None, plain, has_socket=True)
    assert told(talker, engy, None, plain, has_socket=False) == over_socket
    assert "Timeout" in over_socket[0] if kind == "handshake-stall" else "isconnected" in over_socket[1]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_mock_that_was_never_started(kind):
    """It has the same door."""
    engy = EngyMock(tls=kind)
    timeout = 0.05 if kind == "handshake-stall" else PATIENCE
    with engy.http_client(timeout=timeout) as client:
        assert str(client.base_url).startswith("https://")
        if kind == "valid":
            assert client.get(MODELS).status_code == client.get("https://localhost/v1/models").status_code == 200
        else:
            with pytest.raises((httpx2.ConnectError, httpx2.ConnectTimeout)):
                client.get(MODELS)
    async with httpx2.AsyncClient(
        transport=engy.async_transport(verify=False), base_url="https://here.test", timeout=timeout
    ) as careless:
        if kind == "handshake-stall":
            with pytest.raises(httpx2.ConnectTimeout):
                await careless.get("/v1/models")
        else:
            assert (await careless.get("/v1/models", headers={"Host": "localhost"})).status_code == 200


async def test_fingerprints_are_not_looked_at():
    """Which is said, and not passed over."""
    engy = EngyMock(tls="valid")
    async with engy.aiohttp_session() as session:
        with pytest.raises(MockError, match="no connection has a fingerprint"):
            await session.get(MODELS, ssl=aiohttp.Fingerprint(bytes(32)))


def test_a_stop_ends_handshakes_that_do_not_begin():
    """As it ends those on its port: the connection is gone."""
    engy = EngyMock(tls="handshake-stall")

    async def on_a_loop() -> list[str]:
        async def asynchronous() -> str:
            async with engy.async_http_client(timeout=None) as client:
                with pytest.raises(httpx2.ConnectError) as caught:
                    await client.get(MODELS)
            return str(caught.value)

        async def with_aiohttp() -> str:
            async with engy.aiohttp_session(timeout=aiohttp.ClientTimeout()) as session:
                with pytest.raises(aiohttp.ClientConnectorSSLError) as caught:
                    await session.get(MODELS)
            return str(caught.value)

        running = [asyncio.create_task(asynchronous()), asyncio.create_task(with_aiohttp())]
        await waiting(2)
        engy.stop()
        return list(await asyncio.gather(*running))

    async def waiting(count: int) -> None:
        while len(engy._from_inside()._bells) < count:
            await asyncio.sleep(0.001)

    said = asyncio.run(on_a_loop())

    def blocking() -> None:
        with engy.http_client(timeout=None) as client, pytest.raises(httpx2.ConnectError) as caught:
            client.get(MODELS)
        said.append(str(caught.value))

    thread = threading.Thread(target=blocking)
    thread.start()
    asyncio.run(waiting(1))
    engy.stop()
    thread.join()
    assert len(said) == 3
    assert all("EOF occurred in violation of protocol" in one for one in said)
