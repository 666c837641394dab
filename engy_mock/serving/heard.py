"""The client's end of an answer: status, headers and pieces of the body, out of the bytes on the wire.

What a regular answer consists of is seen at a glance; all else is left to h11, which the clients use as well, so
that they would say the same about it.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from engy_mock.serving.sent import Sent

if TYPE_CHECKING:
    import h11

READ_SIZE = 64 * 1024
MAX_INCOMPLETE = 100 * 1024
"""How much httpcore reads at a time, and how much of a head it keeps before it gives up."""

_MAX_PLAIN_HEAD = 16 * 1024
_PLAIN_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9][0-9]) ([ -~]*)(?=\r\n)")
_PLAIN_HEADER = re.compile(rb"\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)(?=\r\n)")
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_CHUNK = re.compile(rb"([0-9a-f]{1,8})\r\n")
_LAST_CHUNK = b"0\r\n\r\n"
_BODILESS = frozenset({b"204", b"304"})


class Garbled(Exception):
    """What came is not an answer by the rules of HTTP, or not a whole one."""


class Top(NamedTuple):
    """Status line and headers of an answer as a client sees them."""

    status: int
    reason: bytes
    headers: list[tuple[bytes, bytes]]
    version: bytes = b"HTTP/1.1"


class Heard:
    """An answer as far as it has been heard: `top` once there is one, then `pieces`; `is_over` at its end."""

    __slots__ = ("_head", "_parser", "_sent", "_trouble", "is_over", "pieces", "top")

    def __init__(self, sent: Sent) -> None:
        self._sent = sent
        self._head = b""
        self._parser: h11.Connection | None = None
        self._trouble: Garbled | None = None
        self.top: Top | None = None
        self.pieces: list[bytes] = []
        self.is_over = False

    def hear_all(self, top: Top, body: bytes) -> None:
        """Take a whole answer that nobody has to write and to read."""
        self.top = top
        self.pieces = [body] if body else []
        self.is_over = True

    def take(self) -> list[bytes]:
        """The pieces that have come since the last time."""
        pieces, self.pieces = self.pieces, []
        return pieces

    def check(self) -> None:
        """Raise Garbled if that was found behind what could be taken."""
        if self._trouble is not None:
            raise self._trouble

    def hear(self, data: bytes) -> None:
        """Take what came in one write, or the end of the connection if it is empty; raises Garbled."""
        if self._parser is not None:
            self._parse(data)
        elif not data:
            self._parse_oddly(data)
        elif self.top is not None:
            self._hear_chunks(data, 0)
        else:
            self._hear_head(data)

    def _hear_head(self, data: bytes) -> None:
        end = data.find(b"\r\n\r\n", 0, _MAX_PLAIN_HEAD)
        plain = _PLAIN_STATUS.match(data, 0, end + 2) if end > 0 and self._sent.method != "HEAD" else None
        if plain is None or plain[1] in _BODILESS:
            self._parse_oddly(data)
            return
        headers: list[tuple[bytes, bytes]] = _PLAIN_HEADER.findall(data, plain.end(), end + 2)
        framing = [(name.lower(), value) for name, value in headers if name.lower() in _FRAMING]
        size = len(data) - end - 4
        is_sized = framing == [(b"content-length", b"%d" % size)]
        is_chunked = framing == [(b"transfer-encoding", b"chunked")]
        if not (is_sized or is_chunked) or len(headers) != data.count(b"\r\n", plain.end(), end + 2) - 1:
            self._parse_oddly(data)
            return
        self.top = Top(int(plain[1]), plain[2], headers)
        if is_chunked:
            self._head = data[: end + 4]
            self._hear_chunks(data, end + 4)
        else:
            self.pieces = [data[end + 4 :]] if size else []
            self.is_over = True

    def _hear_chunks(self, data: bytes, start: int) -> None:
        """Whole chunks from there to the end of the data."""
        while start < len(data):
            if data.startswith(_LAST_CHUNK, start) and start + len(_LAST_CHUNK) == len(data):
                self.is_over = True
                return
            mark = _CHUNK.match(data, start)
            size = int(mark[1], 16) if mark is not None else 0
            if mark is None or not size or data[mark.end() + size : mark.end() + size + 2] != b"\r\n":
                self._parse_oddly(data[start:])
                return
            self.pieces.append(data[mark.end() : mark.end() + size])
            start = mark.end() + size + 2

    def _parse_oddly(self, data: bytes) -> None:
        """Leave the answer to h11 from here on."""
        import h11

        self._parser = parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_INCOMPLETE)
        sent = self._sent
        # The framing is of no interest to the answer, and the body was sent: only the method counts.
        parser.send(h11.Request(method=sent.method, target=sent.target, headers=[(b"Host", b"x")]))
        parser.send(h11.EndOfMessage())
        if self._head:
            parser.receive_data(self._head)
            parser.next_event()
        self._parse(data)

    def _parse(self, data: bytes) -> None:
        """Read what came as httpcore does: so much at a time, until h11 asks for more."""
        import h11

        parser, known = self._parser, self.top
        assert parser is not None
        if not data and parser.their_state is h11.SEND_RESPONSE:
            raise Garbled("Server disconnected without sending a response.")
        for start in range(0, len(data) or 1, READ_SIZE):
            try:
                parser.receive_data(data[start : start + READ_SIZE])
                while not self.is_over and (event := parser.next_event()) is not h11.NEED_DATA:
                    if isinstance(event, h11.Response):
                        headers = event.headers.raw_items()
                        version = b"HTTP/" + event.http_version
                        self.top = Top(event.status_code, event.reason, headers, version)
                    elif isinstance(event, h11.Data):
                        self.pieces.append(bytes(event.data))
                    elif isinstance(event, h11.EndOfMessage) or event is h11.PAUSED:
                        self.is_over = True
            except h11.RemoteProtocolError as error:
                self._trouble = Garbled(str(error))
                if self.top is known and not self.pieces:
                    raise self._trouble from error
                return
            if self.is_over:
                return
