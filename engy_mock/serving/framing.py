"""The bytes around an answer: status line, headers, chunks, and whether the connection may go on."""

from functools import lru_cache

from engy_mock.vocabulary.wire import Head, header_lines

BODILESS = frozenset({204, 304})
"""Answers of these statuses have no body (RFC 9110, 6.4.1)."""

_FRAMING = frozenset({"connection", "content-length", "date", "transfer-encoding"})
_NOTHING: dict[str, str] = {}


class Framing:
    """Frames one answer for one client.

    `house` are the headers that stand on all answers. An answer that brings a framing header of its own is
    left as it stands, and the connection ends behind it unless the header is right. `is_kept` says, after the
    end, whether the connection may go on.
    """

    __slots__ = ("_has_no_body", "_house", "_is_chunked", "_is_http_11", "_is_mute", "_wants_close", "is_kept")

    def __init__(self, house: bytes, *, is_http_11: bool, is_mute: bool, wants_close: bool) -> None:
        self._house = house
        self._is_http_11 = is_http_11
        self._is_mute = self._has_no_body = is_mute
        self._is_chunked = False
        self._wants_close = wants_close
        self.is_kept = False

    def anew(self) -> "Framing":
        """The same for another answer in this one's place, behind which the connection ends."""
        return Framing(self._house, is_http_11=self._is_http_11, is_mute=self._is_mute, wants_close=True)

    def whole(self, head: Head, body: bytes) -> bytes:
        """An answer whose body is there."""
        return self.begin(head, len(body)) + self.piece(body)

    def begin(self, head: Head, length: int | None = None) -> bytes:
        """The head of an answer whose body has this length, or one that nobody knows yet."""
        status, given = head.status, _NOTHING
        if is_framed(tuple([name for name, _ in head.headers])):
            given = {name.lower(): value for name, value in head.headers}
        is_bodiless = status < 200 or status in BODILESS
        framing = ""
        if head.version == "1.0":
            self._is_http_11, length = False, None
        if "content-length" in given or "transfer-encoding" in given:
            self._wants_close |= given.get("content-length") != str(length)
        elif is_bodiless:
            pass
        elif length is not None:
            framing = f"Content-Length: {length}\r\n"
        elif self._is_http_11:
            self._is_chunked = True
            framing = "Transfer-Encoding: chunked\r\n"
        else:
            self._wants_close = True
        if "connection" in given:
            self._wants_close |= given["connection"].lower() == "close"
        elif self._wants_close:
            framing += "Connection: close\r\n"
        elif not self._is_http_11:
            framing += "Connection: keep-alive\r\n"
        self._has_no_body |= is_bodiless
        self.is_kept = not self._wants_close
        return b"%b%b%b%b\r\n" % (
            status_line(status, head.reason, head.version),
            _without_date(self._house) if "date" in given else self._house,
            header_lines(head.headers),
            framing.encode(),
        )

    def piece(self, data: bytes) -> bytes:
        """A piece of the body; nothing for an empty one, which would be the end of a chunked body."""
        if self._has_no_body or not data:
            return b""
        return b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data

    def end(self, trailers: tuple[tuple[str, str], ...] = ()) -> bytes:
        """The mark of the regular end."""
        return b"0\r\n%b\r\n" % header_lines(trailers) if self._is_chunked and not self._has_no_body else b""


@lru_cache(maxsize=256)
def is_framed(names: tuple[str, ...]) -> bool:
    """Whether an answer brings a header that the door would set itself."""
    return not _FRAMING.isdisjoint([name.lower() for name in names])


def _without_date(house: bytes) -> bytes:
    """The headers of the house for an answer that brings a time of its own."""
    return b"".join([line for line in house.splitlines(True) if not line.startswith(b"Date:")])


@lru_cache(maxsize=256)
def status_line(status: int, reason: str | None, version: str = "1.1") -> bytes:
    """The first line of an answer, in the server's own version of HTTP (RFC 9110, 6.2) unless told otherwise."""
    return f"HTTP/{version} {status} {Head(status, (), reason).phrase}\r\n".encode("latin-1")
