"""Requests with nothing odd about them are read as aiohttp reads them, and odd ones are left to it."""

from contextvars import ContextVar

import pytest
import uvloop
from aiohttp.http import HttpRequestParser

from engy_mock import EngyMock
from engy_mock.serving.plain import top
from engy_mock.vocabulary.wire import Begin, End, Head, Wait, Write
from tests.doors.pretend import JSON, SSE, echo, says
from tests.doors.raw import Raw, request

PLAIN = {
    "get": b"GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "query": b"GET /v1/x?a=b%20c&d=/?e HTTP/1.1\r\nHost: a\r\n\r\n",
    "empty query": b"GET /v1/x? HTTP/1.1\r\nHost: a\r\n\r\n",
    "escapes": b"PUT /v5/a%2Fb/../c//d;e=f@g:h,(i)!* HTTP/1.1\r\nHost: a\r\n\r\n",
    "headers": b"PATCH / HTTP/1.1\r\nhOST: a\r\nX-Odd_~!: b  c, d\r\nX-Empty: \r\nAuthorization: Bearer e\r\n\r\n",
    "body": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
    "close": b"DELETE /v1/x HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
    "kept": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "packed": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n",
}

ODD = {
    "old": b"GET /v1/x HTTP/1.0\r\nHost: a\r\n\r\n",
    "head": b"HEAD /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "options": b"OPTIONS /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "tunnel": b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "absolute": b"GET http://a/v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "no path": b"GET //a/v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "fragment": b"GET /v1/x#y HTTP/1.1\r\nHost: a\r\n\r\n",
    "bytes": b"GET /v1/\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    "line feeds": b"GET /v1/x HTTP/1.1\nHost: a\n\r\n\r\n",
    "no host": b"GET /v1/x HTTP/1.1\r\nX-A: b\r\n\r\n",
    "chunks": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    "two lengths": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
    "odd length": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
    "long length": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 12345678901\r\n\r\n",
    "twice": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\r\nx-a: c\r\n\r\n",
    "expect": b"POST /v1/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
    "upgrade": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    "old handshake": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key1: x\r\n\r\n",
    "handshake": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nsec-websocket-version: 13\r\n\r\n",
    "options of a connection": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x\r\n\r\n",
    "for a proxy": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n",
    "no space": b"GET /v1/x HTTP/1.1\r\nHost:a\r\n\r\n",
    "folded": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n",
    "space in front": b"GET /v1/x HTTP/1.1\r\nHost:  a\r\n\r\n",
    "space in a name": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n",
    "control": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: b\x01\r\n\r\n",
    "many": b"GET /v1/x HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: b\r\n" % n for n in range(101)) + b"\r\n",
    "long": b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX-A: " + b"b" * 4000 + b"\r\n\r\n",
}


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def mock(request):
    """Loops differ in how they pass a connection on."""
    with EngyMock(loop_factory=request.param) as mock:
        yield mock


@pytest.mark.parametrize("head", PLAIN.values(), ids=PLAIN)
async def test_a_plain_head_is_read_as_aiohttp_reads_it(head):
    parser = HttpRequestParser(None, None, 2**16, auto_decompress=False)
    without_body = head.replace(b"Content-Length: 5\r\n", b"")
    [(message, _)], _, _ = parser.feed_data(without_body)
    found = top(head)
    assert found is not None
    assert (found.call.method, found.call.path) == (message.method, message.url.raw_path)
    assert found.call.query == message.url.raw_query_string
    headers = [(name.lower(), value) for name, value in found.call.headers.items()]
    assert [pair for pair in headers if pair[0] != "content-length"] == [
        (name.lower(), value) for name, value in message.headers.items()
    ]
    assert found.wants_close == message.should_close
    assert found.length == (5 if without_body != head else 0)


@pytest.mark.parametrize("head", ODD.values(), ids=ODD)
def test_an_odd_head_is_not_read(head):
    assert top(head) is None


HEAD = len(request("/v1/x", b"hello")) - 5


@pytest.mark.parametrize("cut", [1, 12, HEAD - 3, HEAD, HEAD + 2])
def test_a_request_may_come_in_pieces(raw, service, cut):
    """Wherever it is cut, and what follows on the connection is answered too."""
    service.answers["/v1/x"] = echo
    sent = request("/v1/x", b"hello")
    raw.send(sent[:cut])
    raw.socket.settimeout(0.05)
    with pytest.raises(TimeoutError):
        raw.socket.recv(1)
    raw.socket.settimeout(10)
    raw.send(sent[cut:])
    assert raw.read_answer()[1] == b"hello"
    raw.send(request("/v1/y"))
    assert raw.read_answer()[1] == b"/v1/y"


@pytest.mark.parametrize("is_at_once", [True, False])
def test_plain_and_odd_requests_follow_each_other(raw, service, is_at_once):
    """Aiohttp takes over with the first odd one, whatever has been said before."""
    chunked = request("/v1/x", b"", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"
    sent = [request("/v1/a", b"one"), chunked, request("/v1/b", b"two"), request("/v1/c")]
    found = []
    if is_at_once:
        raw.send(b"".join(sent))
    for one in sent:
        if not is_at_once:
            raw.send(one)
        found.append(raw.read_answer()[1])
    assert found == [b"one", b"hello", b"two", b"/v1/c"]
    assert [call.path for call in service.journal] == ["/v1/a", "/v1/x", "/v1/b", "/v1/c"]


def test_what_comes_during_an_answer_waits_for_its_end(raw, service):
    """Whether it has to wait for something, or only lets others have their turn."""
    service.answers["/v1/waits"] = says(Begin(Head(200, SSE)), Write(b"one"), Wait(0), Write(b"two"), End())
    many = [Write(b"x") for _ in range(40)]
    service.answers["/v1/many"] = says(Begin(Head(200, SSE)), *many, End())
    odd = request("/v1/c", b"", "Transfer-Encoding: chunked") + b"0\r\n\r\n"
    raw.send(request("/v1/waits") + request("/v1/many") + request("/v1/b") + odd)
    assert raw.read_answer()[1] == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
    assert raw.read_answer()[1] == b"1\r\nx\r\n" * 40 + b"0\r\n\r\n"
    assert raw.read_answer()[1] == b"/v1/b"
    assert raw.read_answer()[1] == b"/v1/c"


def test_nothing_follows_an_answer_behind_which_the_connection_ends(raw, service):
    raw.send(request("/v1/a", b"", "Connection: close") + request("/v1/b"))
    data, ending = raw.read_to_end()
    assert (data.count(b"HTTP/1.1 "), ending) == (1, "fin")
    assert [call.path for call in service.journal] == ["/v1/a"]


@pytest.mark.slow
def test_what_comes_during_a_stall_is_taken_up_to_a_bound(raw, service):
    """A client that goes on and on costs no memory."""
    service.answers["/v1/x"] = says(Begin(Head(200, JSON)), Write(b"x"), Wait(float("inf")))
    raw.send(request())
    raw.read_until(b"x\r\n")
    raw.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        raw.send(request("/v1/y", b"y" * 64_000_000))


def test_each_answer_has_variables_of_its_own(mock, service):
    """What one answer sets, no other sees, on this connection or another."""
    variable: ContextVar[str] = ContextVar("variable", default="none")

    def answer(call):
        before = variable.get()
        variable.set(call.path)
        yield from (Begin(Head(200, SSE)), Write(before.encode()), Wait(0), Write(variable.get().encode()), End())

    service.answers["/v1/x"] = answer
    for _ in range(2):
        with Raw(mock.port) as raw:
            for _ in range(2):
                raw.send(request())
                assert raw.read_answer()[1] == b"4\r\nnone\r\n5\r\n/v1/x\r\n0\r\n\r\n"
