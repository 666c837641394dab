"""Official clients inside the process, and that of aiohttp: broken answers are what a connection makes of them."""

import asyncio
import json
import math
from typing import Any

import aiohttp
import httpx
import httpx2
import openai
import pytest
import uvloop
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI
from scale_gp_beta import SGPClient

from engy_mock import EngyMock, Limits
from engy_mock.vocabulary.wire import Begin, Close, End, Head, Step, Unframed, Wait, Write
from tests.doors.pretend import SSE, says, whole
from tests.doors.raw import PATIENCE

BEGIN = Begin(Head(200, SSE))
CHUNK = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": None}],
}
PIECE = Write(b"data: " + json.dumps(CHUNK).encode() + b"\n\n")
EVENT = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "one"}}
NAMED = Write(b"event: content_block_delta\ndata: " + json.dumps(EVENT).encode() + b"\n\n")
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}

BROKEN: dict[str, tuple[Step, str]] = {
    "reset": (Close(abrupt=True), "ReadError"),
    "cut": (Close(), "RemoteProtocolError"),
    "stall": (Wait(math.inf), "ReadTimeout"),
    "bad chunk size": (Unframed(b"zz\r\n"), "RemoteProtocolError"),
}


def made(path: str, *steps: Step, **options: Any) -> EngyMock:
    """A mock that was never started and says this on one path."""
    mock: Any = EngyMock(**options)
    mock.gateway.answers[path] = says(*steps)
    return mock  # type: ignore[no-any-return]


@pytest.mark.parametrize("broken", BROKEN)
def test_openai(broken):
    """In mid-stream the client's own exception, with that of its library as the cause."""
    step, cause = BROKEN[broken]
    mock = made("/v1/chat/completions", BEGIN, PIECE, step)
    http_client = mock.http_client(timeout=0.05)
    expected = openai.APITimeoutError if broken == "stall" else openai.APIConnectionError
    with OpenAI(base_url="http://localhost/v1", api_key="k", max_retries=0, http_client=http_client) as client:
        chunks = iter(client.chat.completions.create(**ASKED))
        assert next(chunks).choices[0].delta.content == "one"
        with pytest.raises(expected) as caught:
            next(chunks)
    assert type(caught.value.__cause__) is getattr(httpx2, cause)


@pytest.mark.parametrize("broken", BROKEN)
async def test_openai_asynchronously(broken):
    step, cause = BROKEN[broken]
    mock = made("/v1/chat/completions", BEGIN, PIECE, step)
    http_client = mock.async_http_client(timeout=0.05)
    async with AsyncOpenAI(
        base_url="http://localhost/v1", api_key="k", max_retries=0, http_client=http_client
    ) as client:
        chunks = aiter(await client.chat.completions.create(**ASKED))
        assert (await anext(chunks)).choices[0].delta.content == "one"
        with pytest.raises(openai.APIConnectionError) as caught:
            await anext(chunks)
    assert type(caught.value.__cause__) is getattr(httpx2, cause)


@pytest.mark.parametrize("broken", BROKEN)
def test_anthropic(broken):
    """In mid-stream the library's exception as it is."""
    step, name = BROKEN[broken]
    mock: Any = made("/v1/messages", BEGIN, NAMED, step)
    http_client = mock.http_client(timeout=0.05)
    with Anthropic(base_url="http://localhost", api_key="k", max_retries=0, http_client=http_client) as client:
        events = iter(client.messages.create(**ASKED, max_tokens=5))
        next(events)
        with pytest.raises(getattr(httpx2, name)):
            next(events)


@pytest.mark.parametrize("broken", BROKEN)
def test_scale(broken):
    step, name = BROKEN[broken]
    mock = made("/v5/chat/completions", BEGIN, PIECE, step)
    http_client = mock.http_client(httpx, timeout=0.05)
    with SGPClient(
        base_url="http://localhost", api_key="k", account_id="a", max_retries=0, http_client=http_client
    ) as client:
        chunks: Any = iter(client.chat.completions.create(**ASKED))
        next(chunks)
        with pytest.raises(getattr(httpx, name)):
            next(chunks)


@pytest.mark.slow
@pytest.mark.parametrize("step", [Close(abrupt=True), Close(), Unframed(b"SSH-2.0-x\r\n")], ids=str)
def test_connection_errors_are_retried(step):
    """As over a socket, as often as the client wants."""
    mock: Any = made("/v1/chat/completions", step, Close())
    with (
        OpenAI(
            base_url="http://localhost/v1", api_key="k", max_retries=1, http_client=mock.http_client()
        ) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(**ASKED)
    counts = [call.headers["x-stainless-retry-count"] for call in mock.gateway.journal]
    assert counts == ["0", "1"]


# aiohttp
# -------

LOOPS = pytest.mark.parametrize("loop_factory", [None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])


async def _seen(session, path="/v1/x"):
    """Status and body of an answer, or the body up to where it broke and the kind of the break."""
    body = b""
    try:
        async with asyncio.timeout(PATIENCE), session.post(path, data=b"hello") as response:
            async for piece in response.content.iter_any():
                body += piece
            return response.status, body
    except (aiohttp.ClientError, TimeoutError) as error:
        return type(error), body


SHORT: tuple[Step, ...] = (Begin(Head(200, (*SSE, ("Content-Length", "999")))), PIECE, PIECE, End())

ENDS: dict[str, tuple[Step, ...]] = {
    "whole": (whole(b"hello"),),
    "large": (whole(b"x" * 1_000_000),),
    "stream": (BEGIN, PIECE, PIECE, End()),
    "large stream": (BEGIN, *[Write(b"%07d." % n * 20_000) for n in range(8)], End()),
    "reset before the head": (Close(abrupt=True),),
    "reset": (BEGIN, PIECE, Close(abrupt=True)),
    "cut": (BEGIN, PIECE, Close()),
    "too short": SHORT,
    "too short a whole": (whole(b"hello", headers=(("Content-Length", "9"),)),),
    "empty reply": (Close(),),
    "garbage": (Unframed(b"SSH-2.0-x\r\n"), Close()),
    "stall": (BEGIN, PIECE, Wait(math.inf)),
}
"""No bad chunk: in a packet of its own it makes aiohttp 3.14.5 wait for ever, and on a socket that is luck."""


@LOOPS
@pytest.mark.parametrize(
    "ends", [end if end == "too short" else pytest.param(end, marks=pytest.mark.slow) for end in ENDS]
)
def test_a_session_of_aiohttp_hears_the_same(ends, loop_factory):
    """Over the connection in memory as over a socket, on every kind of loop, and it leaves nothing behind."""
    steps = ENDS[ends]

    async def both():
        timeout = aiohttp.ClientTimeout(sock_read=0.5 if ends == "stall" else None)
        mock = made("/v1/x", *steps)
        with mock:
            async with aiohttp.ClientSession(base_url=mock.origin, timeout=timeout) as session:
                over_socket = await _seen(session)
        async with mock.aiohttp_session(timeout=timeout) as session:
            inside = await _seen(session)
        assert len(asyncio.all_tasks()) == 1
        return over_socket, inside

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        over_socket, inside = runner.run(both())
    assert inside == over_socket


def test_a_session_works_on_one_loop_after_another():
    """And a loop may be closed right behind its session."""
    mock = made("/v1/y", whole(b"ok"))

    async def ask():
        async with mock.aiohttp_session() as session:
            return [await _seen(session, path) for path in ("/v1/x", "/v1/y", "/v1/x")]

    for _ in range(3):
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(ask()) == [(200, b"hello"), (200, b"ok"), (200, b"hello")]
        loop.close()


async def test_a_session_keeps_its_connections():
    """And opens as many as are needed at once."""
    mock: Any = made("/v1/x", whole(b"ok"))
    async with mock.aiohttp_session() as session:
        kept = session.connector._keeper
        for _ in range(5):
            await _seen(session)
        assert len(kept._open) == 1
        await asyncio.gather(*[_seen(session) for _ in range(20)])
        assert 1 < len(kept._open) <= 20
    assert kept.is_empty


async def test_a_reader_of_aiohttp_that_is_slow_costs_no_memory():
    """The answer is not made faster than it is read."""
    made_so_far = 0

    def answer(call):
        nonlocal made_so_far
        yield BEGIN
        for _ in range(1600):
            made_so_far += 1
            yield Write(b"x" * 65536)
        yield End()

    mock: Any = EngyMock()
    mock.gateway.answers["/v1/x"] = answer
    async with mock.aiohttp_session() as session, session.post("/v1/x") as response:
        await response.content.readany()
        for _ in range(100):
            await asyncio.sleep(0)
        assert made_so_far < 20
        size = len(await response.read())
    assert made_so_far == 1600
    assert size > 100_000_000


async def test_a_client_of_aiohttp_that_leaves_is_noticed():
    mock: Any = made("/v1/x", BEGIN, PIECE, Wait(math.inf))
    async with mock.aiohttp_session() as session:
        async with session.post("/v1/x") as response:
            await response.content.readany()
        for _ in range(20):
            await asyncio.sleep(0)
        assert mock.gateway.left == ["/v1/x"]


@pytest.mark.parametrize("name", ["reset", "stop"])
async def test_an_answer_to_aiohttp_ends_with_the_mock(name):
    mock: Any = made("/v1/x", BEGIN, PIECE, Wait(math.inf))
    async with mock.aiohttp_session() as session, session.post("/v1/x") as response:
        await response.content.readany()
        await asyncio.to_thread(getattr(mock, name))
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.content.readany()


async def test_a_connector_goes_into_sessions_of_ones_own():
    """Whatever host and scheme they ask for, and with the caps of the mock."""
    mock: Any = made("/v1/y", whole(b"ok"), limits=Limits(body_bytes=10))
    async with aiohttp.ClientSession(connector=mock.aiohttp_connector(limit=1)) as session:
        assert await _seen(session, "http://here.test/v1/y") == (200, b"ok")
        assert await _seen(session, "https://here.test/v1/y") == (200, b"ok")
        async with session.post("http://here.test/v1/y", data=b"x" * 11) as response:
            assert response.status == 413


@pytest.mark.parametrize("steps", [(BEGIN,), (BEGIN, PIECE)], ids=["at once", "within"])
async def test_a_bad_chunk_does_not_keep_aiohttp_waiting(steps):
    """It comes with what was written before it; in a packet of its own it would hold up aiohttp for ever."""
    mock = made("/v1/x", *steps, Unframed(b"zz\r\n"), Wait(math.inf))
    async with mock.aiohttp_session() as session:
        assert await _seen(session) == (aiohttp.ClientResponseError, b"")
