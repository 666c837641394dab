"""Heads of requests with nothing odd about them, read at a glance; all others are left to a real parser."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from multidict import CIMultiDict, CIMultiDictProxy

from engy_mock.books.entry import harmless
from engy_mock.vocabulary.wire import Call

MAX_HEAD = 4000
MAX_HEADERS = 100
"""Whatever is smaller than this is smaller than any limit of aiohttp's parser."""

METHODS = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT"})

_LINE = re.compile(
    rb"(DELETE|GET|PATCH|POST|PUT) (/(?!/)[!$%&'()*+,./0-9:;=@A-Z_a-z~-]*)(?:\?([!$-;=?-Z_a-z~]*))? HTTP/1\.1\r\n"
)
_HEADERS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: (?:[!-~](?:[ -~]*[!-~])?)?\r\n)*")
_LENGTH = re.compile(r"0|[1-9][0-9]{0,9}")
_ODD = ("expect", "proxy-connection", "upgrade")
_SOCKETS = "sec-websocket-"
"""Headers of a handshake: aiohttp refuses one that is out of date."""
_KEPT = {"keep-alive": False, "close": True}


_TARGET = re.compile(rb"[!-~]+ (?:https?://[^/?# ]*)?(/[!-\"$->@-~]*)(?:[?# ]|$)", re.IGNORECASE)

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://([^/?#]*)", re.IGNORECASE)

MAX_OPENING = 2048
"""So many bytes of a head that cannot be read are looked at, to find out where it was sent."""


def authority_in(target: str) -> str | None:
    """The host in a target that is a whole address."""
    found = _ABSOLUTE.match(target)
    return None if found is None else found[1]


def target_of(opening: bytes) -> str:
    """The path in the first line of a head that could not be read as a whole; `/` if that much cannot be read."""
    found = _TARGET.match(opening[:MAX_OPENING])
    return "/" if found is None else found[1].decode("ascii")


class Headers(NamedTuple):
    """Headers with nothing odd about them; `length` is that of the body, None if it is chunked.

    `kept` are those that may be kept.
    """

    named: CIMultiDictProxy[str]
    kept: Mapping[str, str]
    length: int | None
    wants_close: bool


class Top(NamedTuple):
    """A head that is read: the call without its body, its length, and whether the connection ends behind it."""

    call: Call
    length: int
    wants_close: bool


@lru_cache(maxsize=256)
def top(head: bytes) -> Top | None:
    """A head with the empty line behind it as aiohttp reads it, or None if it might be read in another way.

    A client sends the same ones again and again.
    """
    line = _LINE.match(head)
    headers = None if line is None else plain_headers(head[line.end() : -2])
    if line is None or headers is None or headers.length is None:
        return None
    method, path, query = (part.decode("ascii") for part in line.groups(b""))
    call = Call(method=method, path=path, query=query, headers=headers.named, kept=headers.kept)
    return Top(call, headers.length, headers.wants_close)


def plain_headers(lines: bytes) -> Headers | None:
    """Lines of headers as aiohttp reads them, or None if there is something about them that it might refuse."""
    if len(lines) > MAX_HEAD or not _HEADERS.fullmatch(lines):
        return None
    pairs = [line.split(": ", 1) for line in lines.decode("ascii").split("\r\n")[:-1]]
    headers = CIMultiDict([(name, value) for name, value in pairs])
    get = headers.get
    length, coding = get("content-length", "0"), get("transfer-encoding")
    wants_close = _KEPT.get(get("connection", "keep-alive").lower())
    names = {name.lower() for name, _ in pairs}
    if (
        len(pairs) > MAX_HEADERS
        or len(names) < len(pairs)
        or "host" not in headers
        or not names.isdisjoint(_ODD)
        or any(name.startswith(_SOCKETS) for name in names)
        or wants_close is None
        or not _LENGTH.fullmatch(length)
        or (coding is not None and (coding != "chunked" or "content-length" in headers))
    ):
        return None
    named = CIMultiDictProxy(headers)
    return Headers(named, harmless(named), int(length) if coding is None else None, wants_close)
