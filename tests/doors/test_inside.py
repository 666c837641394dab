"""Clients inside the process: how they come about, how their answers wait, and how they are broken off."""

import asyncio
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import httpx2
import pytest

from engy_mock import EngyMock, Limits, MockError, WallClock
from engy_mock.serving.inside import Inside
from engy_mock.vocabulary.wire import Begin, Close, End, Head, Unframed, Wait, Write
from tests.doors.pretend import SSE, says, whole

BEGIN, ONE, TWO = Begin(Head(200, SSE)), Write(b"data: one\n\n"), Write(b"data: two\n\n")
STALL = says(BEGIN, ONE, Wait(math.inf), TWO, End())
LIBRARIES = pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])


def made(**options: Any) -> Any:
    """A mock that does not run; to these tests its gateway is the pretended one."""
    return EngyMock(**options)


# How they come about
# -------------------


@LIBRARIES
def test_a_mock_that_was_never_started_answers(library):
    mock = made()
    with mock.http_client(library) as client:
        assert isinstance(client, library.Client)
        assert client.post("/v1/x", content=b"hello").content == b"hello"
    assert not mock.is_running
    assert mock.gateway.journal[0].headers["host"] == "127.0.0.1:0"


@LIBRARIES
async def test_so_it_does_for_asynchronous_clients(library):
    async with made().async_http_client(library) as client:
        assert isinstance(client, library.AsyncClient)
        assert (await client.post("/v1/x", content=b"hello")).content == b"hello"


def test_a_mock_that_runs_answers_under_its_address(mock):
    with mock.http_client() as client:
        assert str(client.base_url).rstrip("/") == mock.origin
        assert client.get(f"{mock.base_url}/y").content == b"/v1/y"


def test_httpx2_is_taken_first_and_httpx_where_it_is_missing(monkeypatch):
    mock = made()
    assert type(mock.http_client()) is httpx2.Client
    assert type(mock.async_http_client()) is httpx2.AsyncClient
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert type(mock.http_client()) is httpx.Client
    assert isinstance(mock.transport(), httpx.BaseTransport)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MockError, match="needs httpx2 or httpx"):
        mock.async_transport()


@LIBRARIES
async def test_transports_go_into_clients_of_ones_own(library):
    """They are what the library's own types ask for, and any number of clients may share one."""
    mock = made()
    transport, async_transport = mock.transport(library), mock.async_transport(library)
    assert isinstance(transport, library.BaseTransport)
    assert isinstance(async_transport, library.AsyncBaseTransport)
    for _ in range(2):
        with library.Client(mounts={"http://here.test": transport}) as client:
            assert client.get("http://here.test/v1/x").content == b"/v1/x"
        async with library.AsyncClient(transport=async_transport) as client:
            assert (await client.get("https://here.test/v1/x")).content == b"/v1/x"


def test_options_are_those_of_the_client():
    options = {
        "base_url": "http://localhost/v1/",
        "headers": {"X-A": "1"},
        "timeout": 3,
        "follow_redirects": False,
    }
    mock = made()
    with mock.http_client(**options) as client:
        assert (client.timeout.read, client.follow_redirects) == (3, False)
        assert client.get("x").content == b"/v1/x"
    assert mock.gateway.journal[0].headers["x-a"] == "1"


def test_redirects_are_followed_as_the_official_clients_do():
    mock = made()
    mock.gateway.answers["/v1/x"] = says(whole(b"", status=307, headers=(("Location", "/v1/y"),)))
    mock.gateway.answers["/v1/z"] = says(whole(b"", status=307, headers=(("Location", "/v1/z"),)))
    with mock.http_client() as client:
        assert client.get("/v1/x").content == b"/v1/y"
        with pytest.raises(httpx2.TooManyRedirects):
            client.get("/v1/z")


async def test_a_blocking_client_may_be_used_where_a_loop_runs():
    with made().http_client() as client:
        assert client.get("/v1/x").content == b"/v1/x"


def test_loops_of_another_kind_are_told():
    """A coroutine that nothing of asyncio drives."""

    async def ask():
        await made().async_http_client().get("/v1/x")

    running = ask()
    with pytest.raises(MockError, match="need a loop of asyncio"):
        running.send(None)


# How answers are told
# --------------------


def test_an_answer_is_told_as_it_is_read():
    """Nothing is made before somebody wants it: the next write is decided when the last one has been taken."""
    told = []

    def answer(call):
        yield BEGIN
        for n in range(5):
            told.append(n)
            yield Write(b"%d" % n)
        yield End()

    mock = made()
    mock.gateway.answers["/v1/x"] = answer
    with mock.http_client() as client, client.stream("GET", "/v1/x") as response:
        pieces = response.iter_raw()
        assert (next(pieces), told) == (b"0", [0, 1])
        assert (next(pieces), told) == (b"1", [0, 1, 2])
        assert b"".join(pieces) == b"234"
    assert mock.gateway.left == []


def test_an_answer_without_an_end_may_be_left():
    def answer(call):
        yield BEGIN
        while True:
            yield ONE
            yield Wait(1)

    mock = made()
    mock.gateway.answers["/v1/x"] = answer
    with mock.http_client() as client, client.stream("GET", "/v1/x") as response:
        lines = response.iter_lines()
        assert [next(lines) for _ in range(3)] == ["data: one", "", "data: one"]
        assert mock.gateway.closed == []
    assert mock.gateway.left == ["/v1/x"]


def test_what_was_found_behind_an_end_changes_nothing():
    """An answer that goes on, or falls silent, behind its end is over for its client."""
    mock = made()
    for more in ((Wait(math.inf),), (Unframed(b"x"), Wait(math.inf)), (Close(abrupt=True),)):
        mock.gateway.answers["/v1/x"] = says(BEGIN, ONE, End(), *more)
        with mock.http_client() as client:
            assert client.get("/v1/x").content == b"data: one\n\n"
    assert len(mock.gateway.closed) == 3


# How they wait
# -------------


class Spy(Inside):
    """Notes how long it would wait instead of waiting."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.waits = []
        self.now = 0.0

    def wait(self, seconds, age):
        self.waits.append(round(seconds, 1))
        self.now += seconds

    async def wait_on_loop(self, seconds, age, sleeper=None):
        if seconds > 0:
            self.wait(seconds, age)


@pytest.fixture
def watched(monkeypatch):
    """A mock of the wall clock whose clients wait in no time."""
    mock = made(clock=WallClock(), time_scale=2)
    mock._inside = spy = Spy(mock._serving_shell(), time_scale=2)
    monkeypatch.setattr("engy_mock.serving.inside.monotonic", lambda: spy.now)
    monkeypatch.setattr("engy_mock.serving.performance.monotonic", lambda: spy.now)
    monkeypatch.setattr("engy_mock.serving.pace.monotonic", lambda: spy.now)
    return mock


PAUSES = says(BEGIN, Wait(10), ONE, Wait(20), Wait(5), TWO, Wait(0), End())


def test_pauses_pass_on_the_wall_to_scale(watched):
    """Under a clock that waits for real, and only if nobody has waited long enough already."""
    watched.gateway.answers["/v1/x"] = PAUSES
    with watched.http_client(timeout=None) as client, client.stream("GET", "/v1/x") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"data: one\n\n"
        watched._inside.now += 30  # the client does something else meanwhile
        assert next(pieces) == b"data: two\n\n"
        assert [*pieces] == []
    assert watched._inside.waits == [20, 10, 10]


def test_a_pause_beyond_the_timeout_is_cut_by_it(watched):
    """The timeout counts from when the client begins to read, over all pauses until something comes."""
    watched.gateway.answers["/v1/x"] = PAUSES
    with watched.http_client(timeout=45) as client, client.stream("GET", "/v1/x") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"data: one\n\n"
        with pytest.raises(httpx2.ReadTimeout, match="timed out"):
            next(pieces)
    assert watched._inside.waits == [20, 40, 5]
    assert watched.gateway.left == ["/v1/x"]


async def test_so_it_is_for_asynchronous_clients(watched):
    watched.gateway.answers["/v1/x"] = PAUSES
    async with watched.async_http_client(httpx, timeout=45) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/v1/x")
    assert watched._inside.waits == [20, 40, 5]


def test_under_a_standing_clock_only_a_stall_waits(watched):
    """And no longer than stalls may last; behind it comes nothing more."""
    mock = made()
    mock._inside = watched._inside = Spy(mock._serving_shell())
    mock.gateway.answers["/v1/x"] = says(BEGIN, Wait(9), ONE, Wait(math.inf), TWO, End())
    with mock.http_client(timeout=None) as client, pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
        client.get("/v1/x")
    assert mock._inside.waits == [Limits().stall_seconds]


def test_an_answer_may_not_last_for_ever(watched):
    """The same bound holds as over a socket."""
    watched.gateway.answers["/v1/x"] = says(BEGIN, *(Wait(300), ONE) * 9, End())
    with (
        watched.http_client(timeout=None) as client,
        pytest.raises(httpx2.RemoteProtocolError, match="incomplete"),
    ):
        client.get("/v1/x")
    assert watched._inside.waits == [600, 600, 600, 600]


def test_stalls_are_bounded_in_number():
    mock = made(limits=Limits(max_stalls=0))
    mock.gateway.answers["/v1/x"] = STALL
    with mock.http_client(timeout=None) as client, pytest.raises(httpx2.RemoteProtocolError):
        client.get("/v1/x")
    assert mock._inside.pace.refused == 1


async def test_others_have_their_turn_while_an_answer_stalls():
    """An asynchronous client blocks nobody, and can be cancelled, which closes the answer."""
    mock = made()
    mock.gateway.answers["/v1/x"] = STALL
    async with mock.async_http_client(timeout=None) as client:
        stalled = asyncio.create_task(client.get("/v1/x"))
        answers = await asyncio.gather(*[client.get(f"/v1/{n}") for n in range(8)])
        assert [answer.content for answer in answers] == [b"/v1/%d" % n for n in range(8)]
        while not mock._inside.pace.stalls:
            await asyncio.sleep(0)
        stalled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stalled
    assert mock.gateway.left == ["/v1/x"]
    assert mock._inside.pace.stalls == 0


# How they are broken off
# -----------------------

BREAKS = pytest.mark.parametrize("name", ["reset", "stop"])


@BREAKS
@pytest.mark.parametrize("steps", [(), (BEGIN, ONE)], ids=["before the head", "within"])
def test_a_stall_ends_with_the_mock(until, name, steps):
    """In whichever thread it waits, a client hears the end of its connection."""
    mock = made()
    mock.gateway.answers["/v1/x"] = says(*steps, Wait(math.inf), End())
    with mock.http_client(timeout=None) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.get, "/v1/x")
        until(lambda: mock._inside is not None and mock._inside._bells)
        getattr(mock, name)()
        with pytest.raises(httpx2.RemoteProtocolError, match="incomplete" if steps else "without sending"):
            answer.result(timeout=10)
        assert mock.gateway.left == ["/v1/x"]
        mock.gateway.answers.clear()
        assert client.get("/v1/y").content == b"/v1/y"


@BREAKS
async def test_a_stall_on_a_loop_ends_with_the_mock(name):
    mock = made()
    mock.gateway.answers["/v1/x"] = STALL
    async with mock.async_http_client(timeout=None) as client:
        answer = asyncio.create_task(client.get("/v1/x"))
        while not (mock._inside and mock._inside._bells):
            await asyncio.sleep(0)
        await asyncio.to_thread(getattr(mock, name))
        with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
            await answer


def test_an_answer_that_is_half_read_ends_with_the_mock():
    mock = made()
    mock.gateway.answers["/v1/x"] = says(BEGIN, ONE, TWO, End())
    with mock.http_client() as client, client.stream("GET", "/v1/x") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"data: one\n\n"
        mock.reset()
        with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
            next(pieces)
    assert mock.gateway.left == ["/v1/x"]


def test_a_loop_that_is_closed_does_not_hinder_a_reset():
    mock = made()
    mock.gateway.answers["/v1/x"] = STALL

    async def give_up():
        async with asyncio.timeout(0.01):
            await mock.async_http_client(timeout=None).get("/v1/x")

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert mock._inside._bells == {}

    def ring():
        raise RuntimeError("Event loop is closed")

    rung = threading.Event()
    mock._inside._bells = {1: ring, 2: rung.set}
    mock.reset()
    assert rung.is_set()
