"""A request as a client inside the process sends it, and how it reaches the service without a socket."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from multidict import CIMultiDict, CIMultiDictProxy

from engy_mock.serving.body import too_large, unpacked
from engy_mock.serving.limits import Limits
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.wire import Call

_PLAIN_METHODS = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT"})
_PLAIN_HEADERS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: (?:[!-~](?:[ -~]*[!-~])?)?\r\n)*")
_MAX_PLAIN_SIZE = 4000
_MAX_PLAIN_HEADERS = 100
"""Whatever is smaller than this is smaller than any limit of the server's parser."""

_BUFFER = 64 * 1024
_LINE_BOUND = 8190
"""The longest line that aiohttp's parser takes."""


class Unsendable(Exception):
    """A request that no client could put on a wire; the message is the one that clients show."""


class Refused(Exception):
    """A request that the door refuses before the service hears of it."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(error.message)
        self.error = error


class Arrived(NamedTuple):
    """A request as the server has read it; `wants_close` if the connection ends behind its answer."""

    call: Call
    wants_close: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: method, target and headers as they would stand on the wire, and the body without framing."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def arrive(self, limits: Limits) -> Arrived:
        """What the server reads; raises Unsendable or Refused, and what h11 raises for a body of a wrong size."""
        return self._arrive_plainly(limits) or self._arrive_as_bytes(limits)

    def _arrive_plainly(self, limits: Limits) -> Arrived | None:
        """The short way for requests with nothing odd about them; None for all others."""
        if self.method not in _PLAIN_METHODS or len(self.target) > _MAX_PLAIN_SIZE:
            return None
        plain = _plain_headers(tuple(self.headers))
        if plain is None or plain.length not in (None, str(len(self.body))):
            return None
        path, _, query = self.target.decode("ascii").partition("?")
        return self._arrived(self.method, path, query, plain.headers, limits)

    def _arrive_as_bytes(self, limits: Limits) -> Arrived:
        """The long way: h11 writes what clients would write, and aiohttp's parser reads it."""
        from aiohttp.http import HttpRequestParser
        from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
        from h11 import CLIENT, Connection, Data, EndOfMessage, LocalProtocolError, Request

        if self.method == "CONNECT":
            raise Unsendable("a tunnel needs a connection, and there is none inside the process")
        writer = Connection(CLIENT)
        try:
            request = Request(method=self.method, target=self.target, headers=self.headers)
        except LocalProtocolError as error:
            raise Unsendable(str(error)) from error
        head = writer.send(request)
        assert head is not None
        if self.body:
            writer.send(Data(data=self.body))
        writer.send(EndOfMessage())
        # How the body is framed has been seen to, and without a loop the parser takes none; two ways it refuses.
        framing = re.findall(rb"(?im)^(?:content-length|transfer-encoding):.*\r\n", head)
        if len(framing) == 1:
            head = head.replace(framing[0], b"")
        parser = HttpRequestParser(
            None, None, _BUFFER, max_line_size=_LINE_BOUND, max_field_size=_LINE_BOUND, auto_decompress=False
        )
        try:
            [(message, _)], _, _ = parser.feed_data(head)
        except HttpProcessingError as error:
            what = "line or a header is too long" if isinstance(error, LineTooLong) else "is not valid HTTP"
            raise Refused(InvalidRequest(f"the request {what}")) from error
        headers = CIMultiDict(message.headers)
        headers.extend(
            [
                (name.decode("ascii"), value.decode("ascii"))
                for name, value in self.headers
                if name.lower() in {b"content-length", b"transfer-encoding"}
            ]
        )
        url = message.url
        proxy = CIMultiDictProxy(headers)
        arrived = self._arrived(message.method, url.raw_path, url.raw_query_string, proxy, limits)
        return arrived._replace(wants_close=arrived.wants_close or message.should_close)

    def _arrived(
        self, method: str, path: str, query: str, headers: CIMultiDictProxy[str], limits: Limits
    ) -> Arrived:
        body, cap = self.body, limits.body_bytes
        trouble: ApiError | None = None
        # The rest of a body above the cap is never read, so the connection cannot go on.
        is_over = len(body) > cap
        if is_over:
            body, trouble = b"", too_large(cap)
        elif "content-encoding" in headers:
            try:
                body = unpacked(body, headers["content-encoding"], cap)
            except ApiError as error:
                body, trouble = b"", error
        call = Call(method=method, path=path, query=query, headers=headers, body=body, trouble=trouble)
        return Arrived(call, wants_close=is_over)


class _Plain(NamedTuple):
    """Headers with nothing odd about them; `length` is that of the body, None if it is chunked."""

    headers: CIMultiDictProxy[str]
    length: str | None


@lru_cache(maxsize=256)
def _plain_headers(sent: tuple[tuple[bytes, bytes], ...]) -> _Plain | None:
    """Headers as aiohttp reads them, or None if there is something about them that it might refuse.

    A client sends the same ones again and again.
    """
    block = b"".join([b"%b: %b\r\n" % header for header in sent])
    is_plain = len(block) <= _MAX_PLAIN_SIZE and _PLAIN_HEADERS.fullmatch(block)
    if not is_plain or not block.count(b"\r\n") == len(sent) <= _MAX_PLAIN_HEADERS:
        return None
    headers = CIMultiDict([(name.decode("ascii"), value.decode("ascii")) for name, value in sent])
    get = headers.get
    is_chunked = get("transfer-encoding") == "chunked"
    if (
        len({name.lower() for name, _ in sent}) < len(sent)
        or "host" not in headers
        or "upgrade" in headers
        or get("connection", "keep-alive").lower() != "keep-alive"
        or ("transfer-encoding" in headers and (not is_chunked or "content-length" in headers))
    ):
        return None
    return _Plain(CIMultiDictProxy(headers), None if is_chunked else get("content-length", "0"))
