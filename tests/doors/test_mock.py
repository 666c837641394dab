"""What a test holds in its hand: an EngyMock from its start to its stop."""

import asyncio
import gc
import math
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from engy_mock import EngyMock, MockError, StandingClock, WallClock
from engy_mock.serving.server import origin
from engy_mock.vocabulary.wire import Begin, End, Head, Wait, Write
from tests.doors.pretend import SSE, Gateway, Settings, says
from tests.doors.raw import Raw, request

STALL = says(Begin(Head(200, SSE)), Write(b"data: x\n\n"), Wait(math.inf))


def ask(mock, body=b"hello"):
    return httpx2.post(f"{mock.base_url}/x", content=body).content


def open_sockets():
    here = Path("/proc/self/fd")
    links = (link for link in here.iterdir() if link.is_symlink()) if here.exists() else ()
    return sum(str(link.readlink()).startswith("socket:") for link in links)


def test_with_serves_in_a_thread():
    with EngyMock() as mock:
        assert ask(mock) == b"hello"
        assert mock.base_url == f"http://127.0.0.1:{mock.port}/v1"
        assert mock.origin == f"http://127.0.0.1:{mock.port}"
        assert [call.body for call in mock.journal] == [b"hello"]


async def test_async_with_serves_async_clients():
    async with EngyMock() as mock, httpx2.AsyncClient(base_url=mock.base_url) as client:
        answers = await asyncio.gather(*[client.post("/x", content=b"%d" % n) for n in range(32)])
        assert [answer.content for answer in answers] == [b"%d" % n for n in range(32)]


async def test_async_with_serves_blocking_clients():
    """A client that blocks the loop of the test does not block the mock."""
    async with EngyMock() as mock:
        assert ask(mock) == b"hello"


async def test_async_with_outlives_a_loop_that_stands_still():
    async with EngyMock() as mock:
        await asyncio.to_thread(ask, mock)
        threading.Event().wait(0.05)
        assert ask(mock) == b"hello"


def test_async_with_works_under_any_async_library():
    """Nothing is awaited, so it needs no loop at all."""
    mock = EngyMock()
    entering = mock.__aenter__()
    with pytest.raises(StopIteration) as entered:
        entering.send(None)
    assert entered.value.value is mock
    assert ask(mock) == b"hello"
    with pytest.raises(StopIteration):
        mock.__aexit__(None, None, None).send(None)


def test_start_and_stop():
    mock = EngyMock()
    assert mock.start() is mock
    assert ask(mock) == b"hello"
    mock.stop()
    mock.stop()
    assert ask(mock.start()) == b"hello"
    mock.stop()


def test_entering_twice_is_an_error():
    with EngyMock() as mock, pytest.raises(MockError, match=r"serves already, at http://.*make another"):
        mock.start()


@pytest.mark.parametrize("name", ["base_url", "origin", "port"])
def test_an_address_needs_a_start(name):
    mock = EngyMock()
    with pytest.raises(MockError, match=r"not running: write `with EngyMock\(\) as engy:`, or call start\(\)"):
        getattr(mock, name)
    with mock:
        getattr(mock, name)
    with pytest.raises(MockError):
        getattr(mock, name)


def test_two_mocks_are_apart():
    with EngyMock(seed=1) as one, EngyMock(seed=2) as two:
        ask(one, b"one")
        ask(two, b"two")
        assert (one.journal[0].body, two.journal[0].body) == (b"one", b"two")
        assert one.api_key != two.api_key
        assert (one.gateway.seed, two.gateway.seed) == (1, 2)


def test_the_key_has_the_right_form_and_is_plainly_made_up():
    keys = [EngyMock(seed=seed).api_key for seed in (0, 1, 0)]
    assert all(re.fullmatch(r"sk-engy-mock-[A-Za-z0-9_-]{38}", key) for key in keys)
    assert keys[0] == keys[2] != keys[1]


def test_reset_forgets_everything():
    settings: Any = Settings(closed_accounts=True)
    with EngyMock(clock=StandingClock(100), settings=settings) as mock:
        ask(mock)
        mock.clock.advance(10)
        mock.settings.closed_accounts = False
        mock.reset()
        assert len(mock.journal) == 0
        assert (mock.clock.now(), mock.settings.closed_accounts) == (100, True)
        assert ask(mock) == b"hello"


def test_reset_breaks_off_what_is_under_way(mock, service, raw, until):
    """An answer to an earlier test ends, while a connection that waits for its next request stays."""
    service.answers["/v1/stall"] = STALL
    with Raw(mock.port) as idle:
        idle.send(request())
        idle.read_answer()
        raw.send(request("/v1/stall"))
        raw.read_until(b"data")
        mock.reset()
        raw.read_to_end()
        until(lambda: "/v1/stall" in service.closed)
        idle.send(request())
        idle.read_answer()


def test_stop_ends_stalls_and_connections_at_once(mock, service):
    service.answers["/v1/stall"] = STALL
    port = mock.port
    raws = [Raw(port) for _ in range(20)]
    for raw in raws[:10]:
        raw.send(request("/v1/stall"))
        raw.read_until(b"data")
    mock.stop()
    assert service.left == ["/v1/stall"] * 10
    for raw in raws:
        raw.read_to_end()
        raw.leave()
    with pytest.raises(ConnectionRefusedError):
        Raw(port)


def test_many_threads_may_use_one(mock):
    """32 clients in parallel, each with its own answers."""

    def client(number):
        with Raw(mock.port) as raw:
            for turn in range(20):
                raw.send(request("/v1/x", b"%d-%d" % (number, turn)))
                yield raw.read_answer()[1]

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda number: list(client(number)), range(32)))
    assert answers == [[b"%d-%d" % (number, turn) for turn in range(20)] for number in range(32)]
    assert len(mock.journal) == 640


def test_many_streams_at_once(mock, service):
    pieces = [Write(b"data: %d\n\n" % n) for n in range(50)]
    paced = [step for piece in pieces for step in (piece, Wait(1))]
    service.answers["/v1/s"] = says(Begin(Head(200, SSE)), *paced, End())

    def client(_):
        with Raw(mock.port) as raw:
            raw.send(request("/v1/s", version="1.0"))
            return raw.read_to_end()[0].partition(b"\r\n\r\n")[2]

    with ThreadPoolExecutor(32) as pool:
        answers = set(pool.map(client, range(32)))
    assert answers == {b"".join(piece.data for piece in pieces)}


@pytest.mark.slow
def test_starting_and_stopping_leaves_nothing_behind():
    """No thread, no socket, no task: not even where clients and stalls were cut off."""
    gc.collect()
    threads, sockets, tasks = threading.active_count(), open_sockets(), open_tasks()
    for turn in range(50):
        with EngyMock() as mock:
            if turn % 2:
                cast(Gateway, mock.gateway).answers["/v1/stall"] = STALL
                with Raw(mock.port) as raw:
                    raw.send(request("/v1/stall"))
                    raw.read_until(b"data")
    gc.collect()
    assert (threading.active_count(), open_sockets()) == (threads, sockets)
    assert open_tasks() == tasks


def open_tasks() -> int:
    """The tasks of all loops that are not done."""
    return len([thing for thing in gc.get_objects() if isinstance(thing, asyncio.Task) and not thing.done()])


def test_a_busy_port_is_named():
    """A port that is taken is a clear error (Q-43)."""
    with EngyMock() as mock, pytest.raises(MockError, match=rf"port {mock.port} on 127\.0\.0\.1 is in use"):
        EngyMock(port=mock.port).start()


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("127.0.0.1", 70000, "port must be 0 to 65535, got 70000"),
        ("203.0.113.1", 0, "cannot listen on 203.0.113.1, port 0: "),
    ],
)
def test_an_address_that_cannot_be_is_named(host, port, message):
    with pytest.raises(MockError, match=message):
        EngyMock(host=host, port=port).start()


@pytest.mark.parametrize(
    ("host", "origin", "warnings"),
    [
        ("localhost", "http://localhost", 0),
        ("127.0.0.1", "http://127.0.0.1", 0),
        ("0.0.0.0", "http://127.0.0.1", 1),
    ],
)
def test_only_loopback_goes_without_a_warning(caplog, host, origin, warnings):
    """Who listens elsewhere is warned (Q-1)."""
    with EngyMock(host=host) as mock:
        assert mock.origin == f"{origin}:{mock.port}"
        assert ask(mock) == b"hello"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == warnings


def test_ipv6_is_written_in_brackets():
    assert origin("::1", 8787) == "http://[::1]:8787"


def test_the_wall_clock_cannot_be_moved():
    mock = EngyMock(clock=WallClock())
    with pytest.raises(MockError, match="WallClock cannot be moved: leave out clock="):
        mock.clock.advance(1)
    mock.reset()


def test_a_process_ends_with_a_mock_that_runs():
    """A mock that nobody stops, with a stall under way, keeps no process alive."""
    script = """
import sys
from tests.doors import pretend, raw
sys.modules["engy_mock.gateway"] = pretend
from engy_mock import EngyMock
from tests.doors.test_mock import STALL
mock = EngyMock().start()
mock.gateway.answers["/v1/x"] = STALL
client = raw.Raw(mock.port)
client.send(raw.request())
client.read_until(b"data")
print("over")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")


def test_repr_tells_whether_it_runs():
    mock = EngyMock()
    assert repr(mock) == "<EngyMock, not running>"
    with mock:
        assert repr(mock) == f"<EngyMock at {mock.base_url}>"
