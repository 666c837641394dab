"""Clients that say no more: who listens on is told everything, who has left is noticed."""

import math
import socket

import pytest
import uvloop

from engy_mock import EngyMock
from engy_mock.vocabulary.wire import Begin, End, Head, Wait, Write
from tests.doors.pretend import SSE, says
from tests.doors.raw import request

STALL = (Begin(Head(200, SSE)), Write(b"x"), Wait(math.inf))


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def mock(request):
    with EngyMock(loop_factory=request.param, clock="wall") as mock:
        yield mock


@pytest.fixture(params=[(), ("X-Odd:  spaced",)], ids=["plain", "odd"])
def manner(request):
    """Headers of a request that is answered on the connection itself, or by way of aiohttp."""
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 0.04])
def test_a_client_that_only_listens_is_told_everything(raw, service, manner, seconds):
    """Also at a pace, as long as there is something to hear now and then; the connection ends behind it."""
    steps = [step for n in range(20) for step in (Write(b"%02d" % n), Wait(seconds))]
    service.answers["/v1/x"] = says(Begin(Head(200, SSE)), *steps, End())
    raw.send(request("/v1/x", b"", *manner))
    raw.socket.shutdown(socket.SHUT_WR)
    data, ending = raw.read_to_end()
    body = b"".join(b"2\r\n%02d\r\n" % n for n in range(20)) + b"0\r\n\r\n"
    assert (data.partition(b"\r\n\r\n")[2], ending) == (body, "fin")
    assert (service.closed, service.left) == (["/v1/x"], [])


def test_a_client_that_only_listens_hears_all_it_has_asked_for(raw, service, manner):
    """Whatever it had asked before it fell silent, one answer after the other."""
    service.answers["/v1/x"] = says(Begin(Head(200, SSE)), Write(b"x"), Wait(0.04), End())
    raw.send(request("/v1/x", b"", *manner) * 3 + request("/v1/y") + request("/v1/z", b"", "X-Odd:  spaced"))
    raw.socket.shutdown(socket.SHUT_WR)
    data, ending = raw.read_to_end()
    assert (data.count(b"HTTP/1.1 200 "), data[-5:], ending) == (5, b"/v1/z", "fin")


@pytest.mark.slow
def test_a_request_that_is_never_whole_is_not_waited_for(raw, service, manner, until):
    raw.send(request("/v1/x", b"hel", "Content-Length: 5", *manner))
    raw.socket.shutdown(socket.SHUT_WR)
    assert raw.read_to_end() == (b"", "fin")
    assert service.left == []


@pytest.mark.slow
@pytest.mark.parametrize("behind", [0, 100, 100_000])
def test_a_client_that_leaves_in_a_stall_is_noticed(raw, service, manner, until, behind):
    """Though it has sent more than is taken during an answer, as long as the systems take it (Q-19)."""
    service.answers["/v1/x"] = says(*STALL)
    raw.send(request("/v1/x", b"", *manner))
    raw.read_until(b"x\r\n")
    raw.socket.settimeout(0.2)
    more = request("/v1/y") * (behind // 50)
    try:
        raw.send(more)
    except TimeoutError:
        assert behind == 100_000
    raw.leave()
    until(lambda: service.left == ["/v1/x"])


@pytest.mark.slow
def test_a_client_that_leaves_at_once_is_noticed(raw, service, manner, until):
    """Before it could be told that it has left from that it only listens (Q-19)."""
    service.answers["/v1/x"] = says(*STALL)
    raw.send(request("/v1/x", b"", *manner))
    raw.leave()
    until(lambda: service.left == ["/v1/x"])
