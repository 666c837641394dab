"""A request as a client inside the process sends it, and how it reaches the service without a socket."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from multidict import CIMultiDict, CIMultiDictProxy

from engy_mock.serving.body import opened
from engy_mock.serving.limits import Limits
from engy_mock.serving.plain import MAX_HEAD, METHODS, Headers, authority_in, plain_headers, target_of
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.wire import Call

_BUFFER = 64 * 1024
_LINE_BOUND = 8190
"""The longest line that aiohttp's parser takes."""


class Unsendable(Exception):
    """A request that no client could put on a wire; the message is the one that clients show."""


class Refused(Exception):
    """A request to this path that the door refuses before the service hears of it."""

    def __init__(self, path: str, error: ApiError) -> None:
        super().__init__(error.message)
        self.path = path
        self.error = error


class Arrived(NamedTuple):
    """A request as the server has read it; `wants_close` if the connection ends behind its answer."""

    call: Call
    wants_close: bool


@dataclass(slots=True)
class Sent:
    """A request: method, target and headers as they would stand on the wire, and the body without framing.

    The target `is_made_up` if it is another one than that of an address.
    """

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    is_made_up: bool = False

    def arrive(self, limits: Limits) -> Arrived:
        """What the server reads; raises Unsendable or Refused, and what h11 raises for a body of a wrong size."""
        return self._arrive_plainly(limits) or self._arrive_as_bytes(limits)

    def _arrive_plainly(self, limits: Limits) -> Arrived | None:
        """The short way for requests with nothing odd about them; None for all others."""
        if self.method not in METHODS or len(self.target) > MAX_HEAD or self.is_made_up:
            return None
        plain = _plain_headers(tuple(self.headers))
        if plain is None or plain.length not in (None, len(self.body)):
            return None
        path, _, query = self.target.decode("ascii").partition("?")
        call = Call(method=self.method, path=path, query=query, headers=plain.named, kept=plain.kept)
        return self._with_body(call, limits, wants_close=plain.wants_close)

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
            raise Refused(target_of(head), InvalidRequest(f"the request {what}")) from error
        headers = CIMultiDict(message.headers)
        headers.extend(
            [
                (name.decode("ascii"), value.decode("ascii"))
                for name, value in self.headers
                if name.lower() in {b"content-length", b"transfer-encoding"}
            ]
        )
        url = message.url
        call = Call(
            method=message.method,
            path=url.raw_path,
            query=url.raw_query_string,
            headers=CIMultiDictProxy(headers),
            authority=authority_in(message.path),
        )
        return self._with_body(call, limits, wants_close=message.should_close)

    def _with_body(self, call: Call, limits: Limits, *, wants_close: bool) -> Arrived:
        """The call, which had none so far."""
        call.body, call.trouble = opened(self.body, call.headers, limits)
        # The rest of a body above the cap is never read, so the connection cannot go on.
        return Arrived(call, wants_close or len(self.body) > limits.body_bytes)


@lru_cache(maxsize=256)
def _plain_headers(sent: tuple[tuple[bytes, bytes], ...]) -> Headers | None:
    """Headers as aiohttp reads them, or None; a client sends the same ones again and again."""
    lines = b"".join([b"%b: %b\r\n" % header for header in sent])
    return plain_headers(lines) if lines.count(b"\r\n") == len(sent) else None
