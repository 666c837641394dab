"""Reading a request's body: whole, unpacked, and never more than the cap."""

from __future__ import annotations

import asyncio
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from engy_mock.serving.limits import Limits
from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, TooLarge, bare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import StreamReader, web

_HTTP_11 = (1, 1)
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_ZLIB_METHOD = 8


class BodyUnread(Exception):
    """The body is of no use; `error` says why, `is_broken` that not even its end can be found any more."""

    def __init__(self, error: ApiError, *, is_broken: bool = False) -> None:
        super().__init__(error.message)
        self.error = bare(error)
        self.is_broken = is_broken


async def read_body(
    request: web.BaseRequest, limits: Limits, *, invites: bool = True, since: float | None = None
) -> bytes:
    """The body without its compression; raises BodyUnread. Without `invites` nobody is told to go on.

    Its head came `since`, or just now.

    aiohttp's own decompression stays off: it takes a gzip body that was cut short for a whole one, and goes
    on unpacking a bomb while it waits for its end.
    """
    from aiohttp.web import RequestPayloadError

    if not request.body_exists or request.method == "CONNECT":
        return b""
    content, cap = request.content, limits.body_bytes
    try:
        if content.is_eof():
            data = content.read_nowait()
        elif (request.content_length or 0) > cap:
            raise BodyUnread(too_large(cap))
        else:
            if invites:
                await _invite(request)
            waited = 0.0 if since is None else monotonic() - since
            async with asyncio.timeout(limits.body_seconds - waited):
                data = await _received(content, cap)
    except TimeoutError:
        message = f"the body did not arrive within {limits.body_seconds:g} seconds"
        raise BodyUnread(InvalidRequest(message)) from None
    except RequestPayloadError:
        raise BodyUnread(InvalidRequest("the body is not framed as HTTP demands"), is_broken=True) from None
    try:
        return unpacked(data, request.headers.get("content-encoding"), cap)
    except ApiError as error:
        raise BodyUnread(error) from None


def opened(data: bytes, headers: Mapping[str, str], limits: Limits) -> tuple[bytes, ApiError | None]:
    """A whole body without its compression, or nothing and what is wrong with it."""
    if len(data) <= limits.body_bytes and "content-encoding" not in headers:
        return data, None
    try:
        return unpacked(data, headers.get("content-encoding"), limits.body_bytes), None
    except ApiError as error:
        return b"", bare(error)


def unpacked(data: bytes, coding: str | None, cap: int) -> bytes:
    """A whole body without its compression; raises TooLarge or InvalidRequest."""
    if len(data) > cap:
        raise too_large(cap)
    return inflated(data, coding.strip().lower(), cap) if coding else data


def inflated(data: bytes, coding: str, cap: int) -> bytes:
    """What a compressed body unpacks to, at most the cap; raises TooLarge or InvalidRequest."""
    if coding == "identity" or not data:
        return data
    window = _WINDOWS.get(coding)
    if window is None:
        raise InvalidRequest("content encoding must be gzip, deflate or identity")
    if coding == "deflate" and data[0] & 0x0F != _ZLIB_METHOD:
        window = -zlib.MAX_WBITS  # many clients call the bare format by this name
    inflater = zlib.decompressobj(window)
    try:
        text = inflater.decompress(data, cap + 1)
    except zlib.error:
        raise InvalidRequest(f"the body is not valid {coding}") from None
    if len(text) > cap:
        raise too_large(cap)
    if not inflater.eof or inflater.unused_data:
        raise InvalidRequest(f"the body is not valid {coding}")
    return text


async def _invite(request: web.BaseRequest) -> None:
    """Tell a client that waits for it to go on with its body."""
    if request.version >= _HTTP_11 and request.headers.get("expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # it is not the answer yet


async def _received(content: StreamReader, cap: int) -> bytes:
    """All bytes up to the end of the body; raises BodyUnread as soon as there are more than the cap."""
    taken, size = BytesIO(), 0  # it grows in place, as bodies may be large
    while chunk := await content.readany():
        size += len(chunk)
        if size > cap:
            raise BodyUnread(too_large(cap))
        taken.write(chunk)
    return taken.getvalue()


def too_large(cap: int) -> TooLarge:
    """The refusal of a body above the cap."""
    return TooLarge(f"body exceeds {cap} bytes")
