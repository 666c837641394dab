"""A client's connection as a wire, and two ways to end it in the middle of an answer: FIN and RST."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from engy_mock.vocabulary.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import web

    from engy_mock.serving.leases import Leases
    from engy_mock.vocabulary.clock import Clock
    from engy_mock.vocabulary.wire import Lease

_LINGER = struct.pack("ii", 1, 0)
_SIOCOUTQNSD = 0x894B
"""Linux: how many bytes the kernel holds that it has not sent yet; a reset would drop them."""

_LOOK_AGAIN_SECONDS = 0.001


@runtime_checkable
class Attentive(Protocol):
    """A connection that knows when something was said on it; one of somebody else's server does not."""

    heard_at: float

    def stop_reading(self) -> None:
        """Let all that the client still sends wait, even that it has left."""
        ...


class ConnectedWire:
    """The connection that a request came on."""

    __slots__ = ("_attentive", "_leases", "_request")

    def __init__(self, request: web.BaseRequest, leases: Leases) -> None:
        self._request = request
        self._leases = leases
        self._attentive = request.protocol if isinstance(request.protocol, Attentive) else None

    @property
    def is_silent(self) -> bool:
        """Whether nothing of the answer has been written yet."""
        return self._request.writer.output_size == 0

    async def write(self, data: bytes) -> None:
        """Write at once; raises ConnectionError if the client has left."""
        if self._attentive is not None:
            self._attentive.heard_at = monotonic()
        await self._request.writer.write(data)

    async def end(self, *, is_abrupt: bool) -> None:
        """End the connection behind the last byte."""
        if self._request.transport is not None:
            await end(self._request.transport, self._request.writer.drain, is_abrupt=is_abrupt)

    def abort(self) -> None:
        """End the connection wherever it stands."""
        if self._request.transport is not None:
            self._request.transport.abort()

    def stop_reading(self) -> None:
        """Let all that the client still sends wait in its system, even that it has left."""
        if self._attentive is not None:
            self._attentive.stop_reading()
        elif self._request.transport is not None:
            self._request.transport.pause_reading()

    def lease(self, lease: Lease, clock: Clock) -> None:
        """From now on the connection may be used again only under this lease."""
        self._leases.grant(self._request.protocol, lease, clock)


async def end(transport: asyncio.Transport, drain: Callable[[], Awaitable[None]], *, is_abrupt: bool) -> None:
    """Let all that was written go out, then end the connection by RST, or else by FIN."""
    transport.set_write_buffer_limits(0)  # from now on a drain waits for the last byte
    await drain()
    reset = transport.get_extra_info("reset")
    if is_abrupt and reset is not None:  # a connection in memory
        reset()
    elif is_abrupt:
        connection = transport.get_extra_info("socket")
        while not transport.is_closing() and _unsent(connection) > 0:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        if not transport.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        transport.abort()
    else:
        transport.close()


def _unsent(connection: socket.socket) -> int:
    """How many bytes wait in the kernel for a slow reader; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    import fcntl

    (size,) = struct.unpack("i", fcntl.ioctl(connection.fileno(), _SIOCOUTQNSD, bytes(4)))
    return int(size)
