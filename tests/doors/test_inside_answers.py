"""Answers without a socket are what they are over one: heads, bodies, and the exceptions where they break."""

import gzip
import math

import pytest

from engy_mock.vocabulary.wire import Begin, Close, End, Head, Step, Unframed, Wait, Whole, Write
from tests.doors.both import LIBRARIES, MANNERS
from tests.doors.pretend import JSON, SSE, says, whole

BEGIN = Begin(Head(200, SSE))
ONE, TWO = Write(b"data: one\n\n"), Write(b"data: two\n\n")
RST, FIN = Close(abrupt=True), Close()
ZIPPED = gzip.compress(b"data: one\n\n" * 40, mtime=0)
GZIP = (*SSE, ("Content-Encoding", "gzip"))

ANSWERS: dict[str, tuple[Step, ...]] = {
    "whole": (whole(b"hello"),),
    "nothing": (whole(b""),),
    "large": (whole(b"x" * 300_000),),
    "bodiless": (Whole(Head(204, ()), b""),),
    "not modified": (Whole(Head(304, JSON), b""),),
    "own phrase": (Whole(Head(200, JSON, "Quite Fine"), b"{}"),),
    "no phrase": (Whole(Head(200, JSON, ""), b"{}"),),
    "odd status": (Whole(Head(599, JSON), b"{}"),),
    "stream": (BEGIN, ONE, TWO, End()),
    "empty stream": (BEGIN, End()),
    "stream of nothing": (BEGIN, Write(b""), End()),
    "large stream": (BEGIN, *[Write(b"%07d." % n * 20_000) for n in range(4)], End()),
    "paused": (BEGIN, Wait(3), ONE, Wait(5), TWO, Wait(1), End()),
    "no end": (BEGIN, ONE),
    "no steps": (),
    "reset before the head": (RST,),
    "reset behind the head": (BEGIN, RST),
    "reset": (BEGIN, ONE, TWO, RST),
    "reset after a pause": (BEGIN, ONE, Wait(1), RST),
    "cut": (BEGIN, ONE, TWO, FIN),
    "cut behind the head": (BEGIN, FIN),
    "empty reply": (FIN,),
    "garbage": (Unframed(b"SSH-2.0-x\r\n"), FIN),
    "half a head": (Unframed(b"HTTP/1.1 200 OK\r\nX-Y: "), FIN),
    "bad chunk size": (BEGIN, ONE, Unframed(b"zz\r\ndata: two\n\n\r\n"), FIN),
    "bad end of a chunk": (BEGIN, ONE, Unframed(b"3\r\nabcdef\r\n"), FIN),
    "half a chunk": (BEGIN, ONE, Unframed(b"40\r\ndata: tw"), FIN),
    "half a chunk, then reset": (BEGIN, ONE, Unframed(b"40\r\ndata: tw"), RST),
    "chunk with an extension": (BEGIN, Unframed(b"5;name=value\r\nhello\r\n"), ONE, End()),
    "capital digits": (BEGIN, Unframed(b"A\r\n0123456789\r\n"), TWO, End()),
    "two chunks in a write": (BEGIN, Unframed(b"1\r\na\r\n2\r\nbc\r\n"), TWO, End()),
    "trailers": (BEGIN, ONE, Unframed(b"0\r\nX-Checksum: 1\r\n\r\n"), FIN),
    "behind the end": (BEGIN, ONE, End(), Unframed(b"more of it"), FIN),
    "length too long": (Whole(Head(200, (("Content-Length", "10"),)), b"short"),),
    "length too short": (Whole(Head(200, (("Content-Length", "3"),)), b'{"a":1}'),),
    "length of a stream": (Begin(Head(200, (("Content-Length", "20"),))), Write(b"a" * 15), FIN),
    "no length": (Begin(Head(200, (("Content-Length", "x"),))), Write(b"a" * 15), FIN),
    "two framings": (
        Begin(Head(200, (("Content-Length", "3"), ("Transfer-Encoding", "chunked")))),
        Unframed(b"5\r\nhello\r\n0\r\n\r\n"),
    ),
    "own connection header": (Whole(Head(200, (("Connection", "close"),)), b"{}"),),
    "same header twice": (Whole(Head(200, (("X-A", "1"), ("X-A", "2"), ("x-a", "3"))), b"{}"),),
    "huge header": (Whole(Head(200, (("X-A", "a" * 20_000),)), b"{}"),),
    "header beyond all bounds": (Whole(Head(200, (("X-A", "a" * 300_000),)), b"{}"),),
    "many headers": (Whole(Head(200, tuple([(f"X-{n}", str(n)) for n in range(150)])), b"{}"),),
    "empty header": (Whole(Head(200, (("X-A", ""),)), b"{}"),),
    "spaces in a header": (Whole(Head(200, (("X-A", "  a  b  "),)), b"{}"),),
    "latin header": (Whole(Head(200, (("X-A", "caf\xe9"),)), b"{}"),),
    "control in a header": (Whole(Head(200, (("X-A", "a\x01b"),)), b"{}"),),
    "early hints": (Unframed(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), whole(b"hello")),
    "http 1.0": (Unframed(b"HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nup to the end"), FIN),
    "http 1.0, then reset": (Unframed(b"HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nup to the end"), RST),
    "gzip": (Begin(Head(200, GZIP)), Write(ZIPPED[:20]), Write(ZIPPED[20:]), End()),
    "gzip, corrupt": (Begin(Head(200, GZIP)), Write(ZIPPED[:20]), Write(b"\xff" * 30), End()),
    "gzip, truncated": (Whole(Head(200, GZIP), ZIPPED[:-12]),),
    "gzip that is none": (Whole(Head(200, GZIP), b"hello"),),
    "redirect": (Whole(Head(307, (("Location", "/v1/y"),)), b""),),
}


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("answer", ANSWERS)
def test_both_doors_tell_the_same(mock, service, until, manner, answer):
    """Status, headers and bytes, and where it breaks, the very exception with the very words."""
    service.answers["/v1/x"] = says(*ANSWERS[answer])
    over_socket = manner.over_socket(mock, "POST", "/v1/x", content=b"hi")
    assert manner.inside(mock, "POST", "/v1/x", content=b"hi") == over_socket
    until(lambda: service.closed == ["/v1/x"] * 2)


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("steps", [(), (BEGIN,), (BEGIN, ONE), (BEGIN, ONE, TWO)], ids=len)
def test_a_defect_looks_the_same(mock, service, manner, steps):
    """A 500 where nothing had been said, or else a broken answer."""

    def answer(call):
        yield from steps
        raise LookupError("a secret")

    service.answers["/v1/x"] = answer
    over_socket = manner.over_socket(mock, "POST", "/v1/x")
    assert manner.inside(mock, "POST", "/v1/x") == over_socket


@pytest.mark.slow
@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("steps", [(), (BEGIN,), (BEGIN, ONE, TWO)], ids=len)
def test_a_stall_runs_into_the_timeout_of_the_client(mock, service, manner, steps):
    """Before the head, behind it and in the body; also while the mock's own clock stands."""
    service.answers["/v1/x"] = says(*steps, Wait(math.inf), End())
    timeout = LIBRARIES[manner.library].Timeout(5, read=0.2)
    over_socket = manner.over_socket(mock, "POST", "/v1/x", timeout=timeout)
    assert over_socket.error[0].endswith(".ReadTimeout")
    assert manner.inside(mock, "POST", "/v1/x", timeout=timeout) == over_socket


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "DELETE", "PROPFIND"])
@pytest.mark.parametrize("answer", ["whole", "stream", "bodiless", "cut"])
def test_other_methods(mock, service, method, answer):
    service.answers["/v1/x"] = says(*ANSWERS[answer])
    manner = MANNERS[0]
    assert manner.inside(mock, method, "/v1/x") == manner.over_socket(mock, method, "/v1/x")
