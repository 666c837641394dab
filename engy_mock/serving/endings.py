"""Two ways to end a connection in the middle of an answer: FIN and RST, each behind the last byte."""

import asyncio
import socket
import struct
import sys

from aiohttp.abc import AbstractStreamWriter

_LINGER = struct.pack("ii", 1, 0)
_SIOCOUTQNSD = 0x894B
"""Linux: how many bytes the kernel holds that it has not sent yet; a reset would drop them."""

_LOOK_AGAIN_SECONDS = 0.001


async def end(transport: asyncio.Transport, writer: AbstractStreamWriter, *, is_abrupt: bool) -> None:
    """Let all that was written go out, then end the connection by RST, or else by FIN."""
    transport.set_write_buffer_limits(0)  # from now on a drain waits for the last byte
    await writer.drain()
    if is_abrupt:
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
