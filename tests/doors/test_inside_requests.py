"""Requests without a socket reach the gateway as they do over one, or are refused in the same words."""

import gzip
import json
import zlib

import pytest

from engy_mock import EngyMock, Limits
from tests.doors.both import MANNERS
from tests.doors.pretend import whole

CAP = 100_000
BOMB = gzip.compress(b"x" * (CAP + 1), mtime=0)


def pieces(*data):
    """A body whose length nobody knows beforehand; made anew for each request."""
    return lambda: iter(data)


def later(*data):
    async def body():
        for piece in data:
            yield piece

    return body


REQUESTS = {
    "get": ("GET", "/v1/x", [], None),
    "get with a body": ("GET", "/v1/x", [], b"hello"),
    "post": ("POST", "/v1/x", [], b"hello"),
    "post without a body": ("POST", "/v1/x", [], None),
    "delete": ("DELETE", "/v1/x", [], None),
    "patch": ("PATCH", "/v1/x", [], b"{}"),
    "options": ("OPTIONS", "/v1/x", [], None),
    "trace": ("TRACE", "/v1/x", [], None),
    "propfind": ("PROPFIND", "/v1/x", [], b"hello"),
    "unknown method": ("FOO", "/v1/x", [], None),
    "no method": ("NO SUCH", "/v1/x", [], None),
    "query": ("GET", "/v1/x?a=b%20c&d=%2F?e", [], None),
    "empty query": ("GET", "/v1/x?", [], None),
    "escapes": ("GET", "/v5/a%2Fb/../c//d;e=f@g", [], None),
    "letters": ("GET", "/v1/caf\xe9 \u20ac?x=\xfc y", [], None),
    "long target": ("GET", "/v1/" + "a" * 7000, [], None),
    "target too long": ("GET", "/v1/" + "a" * 9000, [], None),
    "headers": ("GET", "/v1/x", [("X-API-Key", "k"), ("x-Odd_~!", "a  b"), ("X-Empty", "")], None),
    "same header twice": ("GET", "/v1/x", [("X-A", "1"), ("X-A", "2"), ("x-a", "3")], None),
    "content type twice": ("POST", "/v1/x", [("Content-Type", "a/b"), ("Content-Type", "c/d")], b"{}"),
    "two hosts": ("GET", "/v1/x", [("HOST", "elsewhere.test")], None),
    "bytes in a header": ("GET", "/v1/x", [(b"X-A", b"caf\xe9 \xff")], None),
    "utf-8 in a header": ("GET", "/v1/x", [(b"X-A", "caf\xe9".encode())], None),
    "space behind a header": ("GET", "/v1/x", [("X-A", "a ")], None),
    "space before a header": ("GET", "/v1/x", [("X-A", " a")], None),
    "line end in a header": ("GET", "/v1/x", [("X-A", "a\r\nX-B: c")], None),
    "control in a header": ("GET", "/v1/x", [("X-A", "a\x01b")], None),
    "space in a name": ("GET", "/v1/x", [("X A", "a")], None),
    "long header": ("GET", "/v1/x", [("X-A", "a" * 8100)], None),
    "header too long": ("GET", "/v1/x", [("X-A", "a" * 9000)], None),
    "many headers": ("GET", "/v1/x", [(f"X-{n}", "1") for n in range(110)], None),
    "too many headers": ("GET", "/v1/x", [(f"X-{n}", "1") for n in range(200)], None),
    "close": ("POST", "/v1/x", [("Connection", "close")], b"hello"),
    "keep": ("POST", "/v1/x", [("Connection", "Keep-Alive, x-y")], b"hello"),
    "upgrade": ("GET", "/v1/x", [("Connection", "Upgrade"), ("Upgrade", "websocket")], None),
    "expect": ("POST", "/v1/x", [("Expect", "100-continue")], b"hello"),
    "declared too long": ("POST", "/v1/x", [("Content-Length", "9")], b"hello"),
    "declared too short": ("POST", "/v1/x", [("Content-Length", "3")], b"hello"),
    "declared oddly": ("POST", "/v1/x", [("Content-Length", "five")], b"hello"),
    "chunked": ("POST", "/v1/x", [], pieces(b"he", b"", b"llo")),
    "chunked nothing": ("POST", "/v1/x", [], pieces()),
    "other transfer coding": ("POST", "/v1/x", [("Transfer-Encoding", "gzip")], b"hello"),
    "gzip": ("POST", "/v1/x", [("Content-Encoding", "gzip")], gzip.compress(b"hello", mtime=0)),
    "deflate": ("POST", "/v1/x", [("Content-Encoding", "Deflate")], zlib.compress(b"hello")),
    "identity": ("POST", "/v1/x", [("Content-Encoding", "identity")], b"hello"),
    "no gzip": ("POST", "/v1/x", [("Content-Encoding", "gzip")], b"hello"),
    "half a gzip": ("POST", "/v1/x", [("Content-Encoding", "gzip")], gzip.compress(b"hello", mtime=0)[:-3]),
    "bomb": ("POST", "/v1/x", [("Content-Encoding", "gzip")], BOMB),
    "unknown coding": ("POST", "/v1/x", [("Content-Encoding", "br")], b"hello"),
    "coding of nothing": ("POST", "/v1/x", [("Content-Encoding", "br")], None),
    "at the cap": ("POST", "/v1/x", [], b"x" * CAP),
    "over the cap": ("POST", "/v1/x", [], b"x" * 1_000_000),
    "chunked over the cap": ("POST", "/v1/x", [], pieces(*[b"x" * 100_000] * 10)),
}


def told(call):
    """All that the gateway sees of a call."""
    seen = {
        "method": call.method,
        "path": call.path,
        "query": call.query,
        "headers": sorted((name.lower(), value) for name, value in call.headers.items()),
        "body": [len(call.body), call.body[:100].hex()],
        "trouble": None if call.trouble is None else [call.trouble.status, call.trouble.message],
    }
    yield whole(json.dumps(seen).encode())


class Everywhere(dict):
    """The same answer on every path."""

    def get(self, path, default=None):
        return told


@pytest.fixture
def mock():
    with EngyMock(limits=Limits(body_bytes=CAP)) as mock:
        yield mock


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_gateway_sees_the_same(mock, service, manner, name):
    """Method, path, query, headers and body, and what is wrong with them; or else the client refuses to send."""
    service.answers = Everywhere()
    method, target, headers, content = REQUESTS[name]

    def asked():
        body = content() if callable(content) else content
        if callable(content) and manner.is_async:
            body = later(*body)()
        return {"headers": headers, "content": body}

    over_socket = manner.over_socket(mock, method, target, **asked())
    assert manner.inside(mock, method, target, **asked()) == over_socket
    assert over_socket.status or over_socket.error


def test_a_body_framed_in_two_ways_is_no_http(mock, service):
    """Over a socket it depends on the packets whether a client gets to read this."""
    headers = {"Content-Length": "5", "Transfer-Encoding": "chunked"}
    seen = MANNERS[0].inside(mock, "POST", "/v1/x", headers=headers, content=b"hello")
    assert (seen.status, json.loads(seen.body)["error"]["message"]) == (400, "the request is not valid HTTP")
    assert service.journal == []


def test_there_are_no_tunnels(mock, service):
    """What cannot be had inside the process is refused like anything that cannot be sent."""
    assert MANNERS[0].inside(mock, "CONNECT", "/").error[0] == "httpx2.LocalProtocolError"
    assert service.journal == []


TARGETS = [
    ("OPTIONS", "*"),
    ("OPTIONS", b"*"),
    ("GET", b"*"),
    ("GET", b"/v1/y?a=1"),
    ("GET", b"/v1/y#a"),
    ("GET", b"//v1/y"),
    ("GET", b"v1/y"),
    ("GET", b"http://localhost/v1/y"),
    ("GET", b"/a b"),
]


@pytest.mark.parametrize(("method", "target"), TARGETS)
@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_a_target_of_its_own_takes_the_place_of_the_address(mock, manner, method, target):
    """As the libraries allow it; it stands on the wire as it is, and is refused where it could not."""
    asked = (method, "/v1/x")
    over_socket = manner.over_socket(mock, *asked, extensions={"target": target})
    assert manner.inside(mock, *asked, extensions={"target": target}) == over_socket
    assert over_socket.body != b"/v1/x"
