"""What strangers may cost: sizes, deadlines, numbers, and requests that are none."""

import gzip
import json
import resource
import tracemalloc
import zlib
from typing import cast

import pytest
import uvloop

from engy_mock import EngyMock, Limits
from engy_mock.serving.connections import room_for_connections
from engy_mock.vocabulary.wire import Begin, End, Head, Wait, Write
from tests.doors.pretend import Gateway, says
from tests.doors.raw import PATIENCE, Raw, request

CAP = 100_000
GZIPPED = gzip.compress(b"hello", mtime=0)
SHORT = Limits(body_bytes=CAP, header_seconds=0.3, body_seconds=0.3, lingering_seconds=0.3, max_connections=5)


@pytest.fixture
def mock():
    with EngyMock(limits=SHORT) as mock:
        yield mock


def chunked(data, size=8192):
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [0, 1, CAP])
def test_a_body_up_to_the_cap_is_taken(raw, service, size):
    body = b"x" * size
    raw.send(request("/v1/x", body))
    raw.read_answer()
    raw.send(request("/v1/x", b"", "Transfer-Encoding: chunked") + chunked(body))
    raw.read_answer()
    assert [call.body for call in service.journal] == [body, body]


@pytest.mark.parametrize(
    "sent",
    [
        request("/v1/x", b"x" * (CAP + 1)),
        request("/v1/x", b"", "Transfer-Encoding: chunked") + chunked(b"x" * (CAP + 1)),
        request("/v1/x", b"", f"Content-Length: {10**15}") + b"x" * 1000,
        request("/v1/x", gzip.compress(b"x" * (CAP + 1)), "Content-Encoding: gzip"),
        request("/v1/x", zlib.compress(b"x" * (CAP + 1)), "Content-Encoding: deflate"),
    ],
    ids=["length", "chunked", "promised", "gzip", "deflate"],
)
def test_a_body_over_the_cap_is_trouble_for_the_gateway(raw, service, sent):
    """The gateway hears of it in its turn; the client can read the answer however much it sends (Q-11)."""
    raw.send(sent)
    head, body = raw.read_answer()
    assert (head[:12], body) == (b"HTTP/1.1 413", b"body exceeds 100000 bytes")
    [call] = service.journal
    assert (call.body, call.trouble.status) == (b"", 413)


def test_a_connection_with_an_unread_body_is_closed(raw):
    """What would follow could not be told from the rest of the body."""
    raw.send(request("/v1/x", b"x" * 1000, f"Content-Length: {10**6}"))
    raw.send(b"x" * (10**6 - 1000) + request("/v1/y"))
    data, _ = raw.read_to_end()
    assert data.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in data


def test_no_body_is_invited_that_is_too_large(raw):
    raw.send(request("/v1/x", b"", f"Content-Length: {CAP + 1}", "Expect: 100-continue"))
    assert raw.read_answer()[0].startswith(b"HTTP/1.1 413 ")


def test_a_connection_goes_on_after_a_bomb(raw, service):
    """A compressed body was read to its end, whatever it unpacks to."""
    bomb = gzip.compress(b"\0" * (30 * CAP))
    raw.send(request("/v1/x", bomb, "Content-Encoding: gzip") + request("/v1/y"))
    assert raw.read_answer()[1] == b"body exceeds 100000 bytes"
    assert raw.read_answer()[1] == b"/v1/y"


def test_a_bomb_costs_no_memory():
    """300 KiB that unpack to 300 MiB: never more than a little over the cap (Q-12)."""
    piece = zlib.compressobj(1, wbits=31)
    bomb = b"".join(piece.compress(bytes(1 << 20)) for _ in range(300)) + piece.flush()
    with EngyMock(limits=Limits(body_bytes=1 << 20)) as mock, Raw(mock.port) as raw:
        tracemalloc.start()
        try:
            raw.send(request("/v1/x", bomb, "Content-Encoding: gzip"))
            assert raw.read_answer()[0].startswith(b"HTTP/1.1 413 ")
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("identity", bytes),
    ],
)
def test_compressed_bodies_are_unpacked(raw, service, coding, pack):
    raw.send(request("/v1/x", pack(b"hello"), f"Content-Encoding: {coding}"))
    raw.read_answer()
    assert [call.body for call in service.journal] == [b"hello"]


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", b"hello"),
        ("gzip", GZIPPED[:-6]),
        ("gzip", GZIPPED + GZIPPED),
        ("deflate", b"\x08hello"),
        ("br", b"hello"),
        ("gzip, gzip", gzip.compress(GZIPPED, mtime=0)),
    ],
)
def test_what_cannot_be_unpacked_is_trouble(raw, service, coding, data):
    """The connection goes on: the body was read to its end (Q-12)."""
    raw.send(request("/v1/x", data, f"Content-Encoding: {coding}") + request("/v1/y"))
    assert raw.read_answer()[0].startswith(b"HTTP/1.1 400 ")
    assert raw.read_answer()[1] == b"/v1/y"
    assert service.journal[0].body == b""


def test_a_body_that_does_not_come_is_trouble(raw, service):
    """It has a deadline of its own (Q-16)."""
    raw.send(request("/v1/x", b"hel", "Content-Length: 5"))
    assert raw.read_answer()[1] == b"the body did not arrive within 0.3 seconds"
    assert raw.read_to_end() == (b"", "fin")
    assert service.journal[0].trouble.status == 400


def test_a_body_with_broken_chunks_is_trouble(raw, caplog):
    raw.send(request("/v1/x", b"", "Transfer-Encoding: chunked"))
    raw.send(b"zz\r\nhello\r\n")
    data, _ = raw.read_to_end()
    assert data.startswith(b"HTTP/1.1 400 ")
    assert data.count(b"HTTP/1.1 ") == 1
    assert not [record for record in caplog.records if record.levelno >= 30]


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"POST /v1/x HT", request()[:-20], b"\r\n"])
def test_a_head_that_does_not_come_ends_the_connection(raw, service, sent):
    """Half a head is not waited for (Q-16)."""
    raw.send(sent)
    assert raw.read_to_end() == (b"", "fin")
    assert not service.journal


@pytest.mark.parametrize("asked", [0, 1])
def test_a_connection_is_not_idle_for_ever(asked):
    """Whether or not it has ever asked for something (Q-16)."""
    with EngyMock(limits=Limits(idle_seconds=0.2)) as mock, Raw(mock.port) as raw:
        for _ in range(asked):
            raw.send(request())
            raw.read_answer()
        assert raw.read_to_end() == (b"", "fin")


@pytest.mark.slow
def test_deadlines_for_heads_leave_the_rest_alone(mock, service):
    """Neither a long answer nor the time between two requests is a head that does not come."""
    service.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x"), Wait(float("inf")))
    with Raw(mock.port) as raw:
        for path in ("/v1/y", "/v1/y", "/v1/x"):
            raw.send(request(path, b"x" * 50_000))
            raw.read_until(b"xxx" if path == "/v1/y" else b"x\r\n")
            raw.socket.settimeout(0.7)
            with pytest.raises(TimeoutError):
                raw.read_until(b"it never says this")
            raw.socket.settimeout(PATIENCE)


def test_no_answer_lasts_for_ever(until):
    """Not even one that stalls (Q-18)."""
    with EngyMock(limits=Limits(answer_seconds=0.2)) as mock, Raw(mock.port) as raw:
        gateway = cast(Gateway, mock.gateway)
        gateway.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x"), Wait(float("inf")))
        raw.send(request())
        raw.read_to_end()
        until(lambda: gateway.closed)


def test_the_connection_idle_longest_makes_room(mock, service):
    """Busy connections stay, and the new one is served (Q-16)."""
    service.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x"), Wait(float("inf")))
    raws = [Raw(mock.port) for _ in range(5)]
    try:
        raws[0].send(request("/v1/x"))
        raws[0].read_until(b"x\r\n")
        for raw in (raws[2], raws[1], *raws[3:5]):
            raw.send(request("/v1/y"))
            raw.read_answer()
        raws.append(Raw(mock.port))
        raws[5].send(request("/v1/y"))
        assert raws[5].read_answer()[1] == b"/v1/y"
        assert raws[2].read_to_end() == (b"", "fin")
        for raw in (raws[1], *raws[3:]):
            raw.send(request("/v1/z"))
            assert raw.read_answer()[1] == b"/v1/z"
    finally:
        for raw in raws:
            raw.leave()


def test_connections_leave_files_for_others(monkeypatch):
    for soft, room in ((1000, 750), (100_000, 2048), (resource.RLIM_INFINITY, 2048)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert room_for_connections(2048) == room


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"hello\r\n\r\n", "the request is not valid HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "the request is not valid HTTP"),
        (b"GET /v1/x HTTP/9.9\r\nHost: x\r\n\r\n", "the request is not valid HTTP"),
        (b"GET /v1/x HTTP/1.1\r\n\r\n", "the request is not valid HTTP"),
        (request("/v1/x", b"", "Content-Length: 1", "Content-Length: 2"), "the request is not valid HTTP"),
        (request("/v1/x", b"", "Content-Length: x"), "the request is not valid HTTP"),
        (
            request("/v1/x", b"", "Content-Length: 1", "Transfer-Encoding: chunked"),
            "the request is not valid HTTP",
        ),
        (request("/v1/x", b"", "sk-engy-secret"), "the request is not valid HTTP"),
        (request("/v1/x", b"", *["A: sk-engy-secret"] * 200), "the request is not valid HTTP"),
        (request("/caf\xe9"), "the request is not valid HTTP"),
        (request("/" + "x" * 9000), "the request line or a header is too long"),
        (request("/v1/x", b"", "A: sk-engy-secret" + "x" * 9000), "the request line or a header is too long"),
    ],
)
def test_what_is_no_http_is_refused_in_json(raw, service, caplog, sent, message):
    """In the envelope of OpenAI, repeating nothing of it, and without an alarm in the log (R-38, Q-17, Q-40)."""
    raw.send(sent)
    data, _ = raw.read_to_end()
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\nServer: engy-mock\r\n")
    assert b"\r\nContent-Type: application/json\r\n" in head
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": 400}
    assert json.loads(body) == {"error": error}
    assert not service.journal
    assert not [record for record in caplog.records if record.levelno >= 30]


def test_what_is_no_http_spoils_nothing_before_it(raw):
    raw.send(request("/v1/x"))
    assert raw.read_answer()[1] == b"/v1/x"
    raw.send(b"hello\r\n\r\n")
    assert raw.read_answer()[0].startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("loop_factory", [None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_crowd_that_comes_at_once_makes_room_as_well(loop_factory, until):
    """However many come in one turn of the loop: a new request is served, and the cap holds (Q-16)."""
    with EngyMock(limits=Limits(max_connections=5), loop_factory=loop_factory) as mock:
        crowd = [Raw(mock.port) for _ in range(60)]
        crowd.append(Raw(mock.port))
        crowd[-1].send(request("/v1/y"))
        assert crowd[-1].read_answer()[1] == b"/v1/y"
        until(lambda: sum(map(is_open, crowd)) <= 5)
        assert is_open(crowd[-1])
        for raw in crowd:
            raw.leave()


def is_open(raw):
    """Whether the other end has not ended the connection."""
    raw.socket.setblocking(False)
    try:
        return raw.socket.recv(1) != b""
    except BlockingIOError:
        return True
    finally:
        raw.socket.settimeout(PATIENCE)


@pytest.fixture(params=[(), ("X-Odd:  spaced",)], ids=["plain", "odd"])
def manner(request):
    """Headers of a request that is answered on the connection itself, or by way of aiohttp."""
    return request.param


def server_side(mock):
    """The connections that the mock has open."""
    return list(mock._thread._server._keeper._open)


@pytest.mark.slow
def test_a_client_that_reads_nothing_is_dropped_in_the_end(manner, until):
    """Though nothing more is told to it than it could be told at once (Q-16, Q-18)."""
    with EngyMock(limits=Limits(idle_seconds=0.2)) as mock, Raw(mock.port, receive_buffer=2048) as raw:
        gateway = cast(Gateway, mock.gateway)
        gateway.answers["/v1/x"] = says(Begin(Head(200, ())), Write(b"x" * 20_000), End())
        told = waiting = 0
        while not waiting:
            raw.send(request("/v1/x", b"", *manner))
            told += 1
            until(lambda told=told: len(gateway.closed) == told)
            [connection] = server_side(mock)
            waiting = connection.transport.get_write_buffer_size()
        until(lambda: not server_side(mock))


@pytest.mark.slow
def test_a_body_has_its_time_from_the_end_of_its_head_on(until):
    """Not from when aiohttp begins to wait for it, on a connection that is handed over (Q-16)."""
    with EngyMock(limits=Limits(body_seconds=1)) as mock, Raw(mock.port) as raw:
        raw.send(request("/v1/x", b"hel", "Content-Length: 5"))
        until(lambda: server_side(mock))
        [plain] = server_side(mock)
        until(lambda: plain.waits_since is not None)
        since = plain.waits_since
        until(lambda: server_side(mock) != [plain] and mock._shell.turns)
        [(odd, turn)] = mock._shell.turns.items()
        assert server_side(mock) == [odd]
        assert turn.since == since
        assert raw.read_answer()[1] == b"the body did not arrive within 1 seconds"


def test_a_body_costs_little_more_than_its_size(manner):
    """In whatever pieces it comes: less than twice the cap (Q-11)."""
    body = b"x" * (8 << 20)
    with EngyMock(limits=Limits(body_bytes=len(body))) as mock, Raw(mock.port) as raw:
        gateway = cast(Gateway, mock.gateway)
        gateway.answers["/v1/x"] = says(Begin(Head(200, ()), 2), Write(b"ok"), End())
        raw.send(request("/v1/x", b"", *manner))
        raw.read_answer()
        sent = request("/v1/x", body, *manner)
        tracemalloc.start()
        try:
            raw.send(sent)
            assert raw.read_answer()[1] == b"ok"
            assert tracemalloc.get_traced_memory()[1] < 1.5 * len(body)
        finally:
            tracemalloc.stop()
        assert gateway.journal[-1].body == body
