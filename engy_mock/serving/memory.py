"""Two ends of a connection in memory, for a client and a server that share a loop."""

import asyncio
import errno
import os
from collections import deque
from collections.abc import Callable
from typing import Any

HIGH_WATER = 64 * 1024

READ_SIZE = 256 * 1024
"""How much asyncio reads at a time."""


def connect(loop: asyncio.AbstractEventLoop, client: asyncio.Protocol, server: asyncio.Protocol) -> None:
    """Make a connection between two protocols."""
    near, far = End(loop, client), End(loop, server)
    near.other, far.other = far, near
    server.connection_made(far)
    client.connection_made(near)


class End(asyncio.Transport):
    """One end. What is written here waits at the other end until the loop's next turn, or until it is read there.

    Writes without a pause between them arrive as one, as on a socket they mostly do. What was written before the
    end of a connection still arrives, and whoever waits for it has read it before the end is told: that comes a
    turn of the loop later. Whoever does not read hears of no end.
    """

    other: "End"

    def __init__(self, loop: asyncio.AbstractEventLoop, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._inbox: deque[bytes] = deque()
        self._size = 0
        self._high, self._low = HIGH_WATER, HIGH_WATER // 4
        self._is_reading = True
        self._is_closing = False
        self._has_news = False
        self._writer_waits = False
        self._ending: BaseException | None = None
        self._has_ended = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes; after the end of the connection they are lost."""
        other = self.other
        if data and not self._is_closing and not other._is_closing:
            other._inbox.append(bytes(data))
            other._size += len(data)
            self._loop.call_soon(other._deliver)
            self._let_the_writer_wait()

    def close(self) -> None:
        """End the connection behind what was written."""
        self._close(None)

    def abort(self) -> None:
        """End the connection; nothing is held back here that would be lost by it."""
        self._close(None)

    def reset(self) -> None:
        """End the connection as by RST."""
        self._close(ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)))

    def is_closing(self) -> bool:
        """Whether this end is closed, or is about to be."""
        return self._is_closing

    def pause_reading(self) -> None:
        """Let what comes wait."""
        self._is_reading = False

    def resume_reading(self) -> None:
        """Take what has come, and what comes."""
        if not self._is_reading:
            self._is_reading = True
            self._loop.call_soon(self._deliver)

    def is_reading(self) -> bool:
        """Whether what comes is taken."""
        return self._is_reading and not self._is_closing

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """From how many bytes on a writer has to wait, and down to how many."""
        if high is None:
            high = HIGH_WATER if low is None else 4 * low
        self._high, self._low = high, high // 4 if low is None else low
        self._let_the_writer_wait()

    def get_write_buffer_size(self) -> int:
        """How many bytes have not been read yet."""
        return self.other._size

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """The lower and the upper limit."""
        return self._low, self._high

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Who speaks here."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another one speak."""
        self._protocol = protocol

    def can_write_eof(self) -> bool:
        """Both directions end together."""
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """`reset` stands for what one would do to a socket in order to end it by RST; there is no socket."""
        reset: Callable[[], None] = self.reset
        return reset if name == "reset" else default

    def _let_the_writer_wait(self) -> None:
        if self.other._size > self._high and not self._writer_waits:
            self._writer_waits = True
            self._protocol.pause_writing()

    def _close(self, ending: BaseException | None) -> None:
        """Close this end now, and the other one behind what it has not read yet."""
        if self._is_closing:
            return
        other = self.other
        self._is_closing = True
        self._inbox.clear()
        self._size = 0
        self._loop.call_soon(self._end, None)
        other._ending = ending
        self._loop.call_soon(other._deliver)

    def _deliver(self) -> None:
        """Give the protocol what has come; behind all of it, the end."""
        while self._inbox and self._is_reading and not self._is_closing:
            data = self._next()
            assert isinstance(self._protocol, asyncio.Protocol)
            self._protocol.data_received(data)
            if not self._has_news:
                self._has_news = True
                self._loop.call_soon(self._let_be_read)
        other = self.other
        if other._writer_waits and self._size <= other._low:
            other._writer_waits = False
            other._protocol.resume_writing()
        has_read_all = self._is_reading and not self._inbox and not self._has_news
        if other._is_closing and has_read_all and not self._is_closing:
            self._is_closing = True
            if self._ending is None:
                assert isinstance(self._protocol, asyncio.Protocol)
                self._protocol.eof_received()
            self._end(self._ending)

    def _next(self) -> bytes:
        """What is read at once: one write, and those behind it that fit in."""
        data = self._inbox.popleft()
        if self._inbox:
            writes, size = [data], len(data)
            while self._inbox and size + len(self._inbox[0]) <= READ_SIZE:
                writes.append(self._inbox.popleft())
                size += len(writes[-1])
            data = b"".join(writes)
        self._size -= len(data)
        return data

    def _let_be_read(self) -> None:
        """Go on behind those who have waited for what has come."""
        self._has_news = False
        self._deliver()

    def _end(self, error: BaseException | None) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._protocol.connection_lost(error if isinstance(error, Exception) else None)
