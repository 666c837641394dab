"""The service as an aiohttp application, on the loop of the test."""

import asyncio
import math

import aiohttp
import pytest

from engy_mock import EngyMock, Limits
from engy_mock.vocabulary.wire import Begin, Close, End, Head, Wait, Write
from tests.doors.pretend import SSE, says

STREAM = (Begin(Head(200, SSE)), Write(b"data: one\n\n"), Wait(1), Write(b"data: two\n\n"))


@pytest.fixture
def engy():
    return EngyMock(limits=Limits(body_bytes=1000))


@pytest.fixture
async def client(engy, aiohttp_client):
    return await aiohttp_client(engy.app())


async def test_it_needs_no_start(engy, client):
    answer = await client.post("/v1/x", data=b"hello")
    assert (answer.status, await answer.read()) == (200, b"hello")
    assert answer.headers["Server"] == "engy-mock"
    assert [call.body for call in engy.journal] == [b"hello"]


@pytest.mark.parametrize("path", ["/", "/v1/nope", "/v5/a%2Fb?c=d"])
async def test_the_gateway_sees_every_path(engy, client, path):
    await client.get(path)
    assert engy.journal[0].path == path.partition("?")[0]


async def test_streams(engy, client):
    engy.gateway.answers["/v1/x"] = says(*STREAM, End())
    answer = await client.get("/v1/x")
    assert await answer.read() == b"data: one\n\ndata: two\n\n"


async def test_broken_streams(engy, client):
    engy.gateway.answers["/v1/x"] = says(*STREAM, Close(abrupt=True))
    answer = await client.get("/v1/x")
    with pytest.raises((aiohttp.ClientPayloadError, ConnectionResetError)):
        await answer.read()


async def test_the_cap_on_bodies_is_the_mock_s(engy, client):
    answer = await client.post("/v1/x", data=b"x" * 1001)
    assert (answer.status, await answer.text()) == (413, "body exceeds 1000 bytes")


async def test_expect_100_continue(client):
    answer = await client.post("/v1/x", data=b"hello", expect100=True)
    assert await answer.read() == b"hello"


async def test_a_client_that_leaves_is_noticed(engy, client):
    engy.gateway.answers["/v1/x"] = says(*STREAM, Wait(math.inf))
    answer = await client.get("/v1/x")
    answer.close()
    async with asyncio.timeout(5):
        while not engy.gateway.left:
            await asyncio.sleep(0.01)


async def test_the_end_of_the_server_ends_stalls(engy, aiohttp_client):
    """Also where nobody has set a short time for shutting down."""
    client = await aiohttp_client(engy.app(), server_kwargs={"shutdown_timeout": 60})
    engy.gateway.answers["/v1/x"] = says(*STREAM, Wait(math.inf))
    await client.get("/v1/x")
    async with asyncio.timeout(5):
        await client.server.close()
    assert engy.gateway.left == ["/v1/x"]


async def test_reset_breaks_off_what_is_under_way(engy, client):
    engy.gateway.answers["/v1/x"] = says(*STREAM, Wait(math.inf))
    answer = await client.get("/v1/x")
    engy.reset()
    with pytest.raises(aiohttp.ClientError):
        await answer.read()


async def test_it_serves_beside_the_thread(engy, client):
    """One mock, both ways at once."""
    with engy:
        async with aiohttp.ClientSession() as session:
            await session.get(f"{engy.base_url}/one")
        await client.get("/v1/two")
    assert [call.path for call in engy.journal] == ["/v1/one", "/v1/two"]
