"""What a client sees on the wire, byte for byte, and what the mock notices of a client."""

import math
import socket
import threading

import pytest
import uvloop

from engy_mock import EngyMock
from engy_mock.vocabulary.wire import Begin, Close, End, Head, Unframed, Wait, Write
from tests.doors.pretend import JSON, SSE, says, whole
from tests.doors.raw import Raw, request

HOUSE = b"Server: engy-mock\r\nDate: Sun, 18 Oct 2026 00:00:00 GMT\r\nX-Content-Type-Options: nosniff\r\n"
JSON_HEAD = b"HTTP/1.1 200 OK\r\n" + HOUSE + b"Content-Type: application/json\r\n"
SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\n" + HOUSE + b"Content-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\n"
)
STREAM = (Begin(Head(200, SSE)), Write(b"data: one\n\n"), Write(b"data: two\n\n"))
CHUNKS = b"b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n"


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def mock(request):
    """Loops differ in how they buffer and close, so everything here holds on both."""
    with EngyMock(loop_factory=request.param) as mock:
        yield mock


def test_a_whole_answer(raw):
    raw.send(request("/v1/x", b"hello"))
    assert raw.read_answer() == (JSON_HEAD + b"Content-Length: 5\r\n\r\n", b"hello")


def test_a_stream(raw, service):
    service.answers["/v1/x"] = says(*STREAM, End())
    raw.send(request())
    assert raw.read_answer() == (SSE_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", CHUNKS + b"0\r\n\r\n")


@pytest.mark.parametrize(
    ("close", "ending"), [(Close(abrupt=True), "reset"), (Close(abrupt=False), "fin")], ids=["reset", "cut"]
)
def test_a_broken_stream(raw, service, close, ending):
    """All that was said before arrives, then RST or FIN without a last chunk."""
    service.answers["/v1/x"] = says(*STREAM, close)
    raw.send(request())
    assert raw.read_to_end() == (SSE_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS, ending)


@pytest.mark.parametrize("size", [100, 300_000])
def test_a_reset_comes_behind_the_last_byte(raw, service, size):
    """Also behind more bytes than a socket takes at once."""
    service.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x" * size), Close(abrupt=True))
    raw.send(request())
    data, ending = raw.read_to_end()
    assert (data.count(b"x" * size), ending) == (1, "reset")


@pytest.mark.parametrize(
    ("steps", "answer", "ending"),
    [
        ((Close(abrupt=True),), b"", "reset"),
        ((Close(),), b"", "fin"),
        ((Unframed(b"SSH-2.0-x\r\n"), Close()), b"SSH-2.0-x\r\n", "fin"),
    ],
    ids=["reset-before-headers", "empty-reply", "garbage-reply"],
)
def test_answers_that_are_no_http(raw, service, steps, answer, ending):
    service.answers["/v1/x"] = says(*steps)
    raw.send(request())
    assert raw.read_to_end() == (answer, ending)


def test_a_connection_is_kept(raw, service):
    """Whole answers, streams and refusals follow each other on one connection."""
    service.answers["/v1/x"] = says(*STREAM, End())
    for path, body in (("/v1/a", b"/v1/a"), ("/v1/x", CHUNKS + b"0\r\n\r\n"), ("/v1/b", b"/v1/b")) * 3:
        raw.send(request(path))
        assert raw.read_answer()[1] == body


def test_a_client_that_wants_to_close_is_obeyed(raw):
    raw.send(request("/v1/x", b"", "Connection: close"))
    data, ending = raw.read_to_end()
    assert data == JSON_HEAD + b"Content-Length: 5\r\nConnection: close\r\n\r\n/v1/x"
    assert ending == "fin"


def test_pipelined_requests_are_answered_in_order(raw, service):
    service.answers["/v1/x"] = says(*STREAM, Wait(1), End())
    paths = ["/v1/a", "/v1/x", "/v1/b", "/v1/x"] * 20
    raw.send(b"".join(request(path) for path in paths))
    bodies = [raw.read_answer()[1] for _ in paths]
    assert bodies == [b"/v1/a", CHUNKS + b"0\r\n\r\n", b"/v1/b", CHUNKS + b"0\r\n\r\n"] * 20


def test_head_gets_the_head_alone(raw):
    raw.send(request("/v1/x", method="HEAD") + request("/v1/y"))
    assert raw.read_until(b"\r\n\r\n") == JSON_HEAD + b"Content-Length: 5\r\n\r\n"
    assert raw.read_answer()[1] == b"/v1/y"


def test_http_1_0(raw, service):
    """An old client gets a body without chunks, and its end is the end of the connection."""
    service.answers["/v1/x"] = says(*STREAM, End())
    raw.send(request(version="1.0"))
    body = b"data: one\n\ndata: two\n\n"
    assert raw.read_to_end() == (SSE_HEAD + b"Connection: close\r\n\r\n" + body, "fin")


def test_http_1_0_with_keep_alive(raw):
    for _ in range(2):
        raw.send(request(version="1.0", body=b"hi").replace(b"\r\n\r\n", b"\r\nConnection: keep-alive\r\n\r\n"))
        assert raw.read_answer() == (
            JSON_HEAD + b"Content-Length: 2\r\nConnection: keep-alive\r\n\r\n",
            b"hi",
        )


def test_expect_100_continue(raw):
    """A client that asks first is told to go on, once."""
    head, body = request("/v1/x", b"hello", "Expect: 100-continue").split(b"\r\n\r\n")
    raw.send(head + b"\r\n\r\n")
    assert raw.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    raw.send(body)
    assert raw.read_answer() == (JSON_HEAD + b"Content-Length: 5\r\n\r\n", b"hello")


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/v1/messages/count_tokens?beta=true&x=%20", "/v1/messages/count_tokens", "beta=true&x=%20"),
        ("/v5/a%2Fb/../c", "/v5/a%2Fb/../c", ""),
        ("http://elsewhere.test/v1/x?y", "/v1/x", "y"),
    ],
)
def test_path_and_query_are_left_as_they_came(raw, service, target, path, query):
    raw.send(request(target))
    raw.read_answer()
    assert [(call.path, call.query) for call in service.journal] == [(path, query)]


def test_headers_do_not_regard_case(raw, service):
    raw.send(request("/v1/x", b"", "X-Api-KEY: k"))
    raw.read_answer()
    assert service.journal[0].headers["x-api-key"] == "k"


@pytest.mark.parametrize("method", ["CONNECT", "OPTIONS", "DELETE", "PROPFIND"])
def test_every_method_reaches_the_gateway(raw, service, method):
    raw.send(request("127.0.0.1:80" if method == "CONNECT" else "/v1/x", method=method))
    raw.read_answer()
    assert [call.method for call in service.journal] == [method]


def test_an_upgrade_is_declined(raw):
    """A request to become a web socket is a request like any other (Q-10)."""
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    raw.send(request("/v1/x", b"", *upgrade, method="GET"))
    assert raw.read_answer()[1] == b"/v1/x"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["fin", "reset"])
@pytest.mark.parametrize("seconds", [math.inf, 0.0])
def test_a_client_that_leaves_is_noticed(raw, service, until, how, seconds):
    """In mid-stream or in a pause, the answer is closed, and so settled, exactly once."""

    def answer(call):
        yield Begin(Head(200, SSE))
        while True:
            yield Write(b"data: x\n\n")
            yield Wait(seconds)

    service.answers["/v1/x"] = answer
    raw.send(request())
    raw.read_until(b"data: x")
    if how == "reset":
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    raw.leave()
    until(lambda: service.closed)
    assert service.left == service.closed == ["/v1/x"]


def test_a_client_that_has_left_before_its_answer_is_noticed(raw, service, until):
    gate = threading.Event()

    def answer(call):
        gate.wait(5)
        yield whole(b"x" * 10)

    service.answers["/v1/x"] = answer
    raw.send(request())
    until(lambda: service.journal)
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    raw.leave()
    gate.set()
    until(lambda: service.closed)


@pytest.mark.parametrize("abrupt", [True, False])
def test_a_client_may_leave_before_it_is_cut_off(mock, service, until, caplog, abrupt):
    """It never reads all that was said before the cut: that is no alarm, and the books are closed."""
    service.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x" * 30_000_000), Close(abrupt=abrupt))
    with Raw(mock.port, receive_buffer=65536) as raw:
        raw.send(request())
        raw.read_until(b"xxx")
        assert not service.closed
    until(lambda: service.closed)
    assert not [record for record in caplog.records if record.levelno >= 30]


def test_a_slow_reader_costs_no_memory(mock, service, until):
    """The answer is not made faster than it is read: few of its 100 MiB exist at a time (Q-18)."""
    made = 0

    def answer(call):
        nonlocal made
        yield Begin(Head(200, ()))
        for _ in range(1600):
            made += 1
            yield Write(b"x" * 65536)
        yield End()

    service.answers["/v1/x"] = answer
    with Raw(mock.port, receive_buffer=65536) as raw:
        raw.send(request())
        raw.read_until(b"xxx")
        until(lambda: made > 2)
        seen = -1
        while seen != made:  # until it makes no more
            seen = made
            threading.Event().wait(0.1)
        assert made < 400
        assert not service.closed
        raw.leave()
    until(lambda: service.closed)
    assert service.left == ["/v1/x"]


def test_a_slow_reader_gets_everything(mock, service):
    pieces = [b"%07d." % n * 8192 for n in range(60)]
    service.answers["/v1/x"] = says(Begin(Head(200, JSON)), *map(Write, pieces), End())
    with Raw(mock.port, receive_buffer=65536) as raw:
        raw.send(request("/v1/x", b"", version="1.0"))
        assert raw.read_to_end()[0].endswith(b"\r\n\r\n" + b"".join(pieces))


@pytest.mark.parametrize(
    "steps", [(), (Begin(Head(200, JSON)), Write(b"x"), Write(b"y"))], ids=["before", "within"]
)
def test_a_defect_is_logged_and_never_shown(raw, service, caplog, steps):
    """A failing gateway gives a 500, or a broken answer if it had begun; the log has the reason (Q-40, Q-46)."""

    def answer(call):
        yield from steps
        raise LookupError("a secret")

    service.answers["/v1/x"] = answer
    raw.send(request())
    data, _ = raw.read_to_end()
    assert b"secret" not in data
    if steps:
        assert not data.endswith(b"0\r\n\r\n")
    else:
        assert data.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
        assert b"\r\nX-Engy-Mock-Bug: 1\r\n" in data
        assert data.endswith(
            b'{"error":{"message":"the mock failed","type":"server_error","param":null,"code":500}}'
        )
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (record.name, record.exc_info[0]) == ("engy_mock", LookupError)
    assert service.closed == ["/v1/x"]
