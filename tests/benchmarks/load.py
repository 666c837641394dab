"""A load generator of raw sockets: keep-alive connections that ask, read the answer, and ask again.

HTTP clients in Python are slower than the servers measured here; this one only looks where an answer ends.
"""

import asyncio
import gc
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CONNECTIONS = 8

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_END_OF_CHUNKS = b"\r\n0\r\n\r\n"
"""JSON escapes its line ends, so these bytes occur nowhere else in a chunked answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round of load brought."""

    answers: int
    events: int
    seconds: float
    generator_load: float
    """The share of the round in which the generator itself computed; near 1 it measures itself."""

    @property
    def answers_per_second(self) -> float:
        """Whole answers per second, over all connections."""
        return self.answers / self.seconds

    @property
    def events_per_second(self) -> float:
        """Server-sent events per second, over all connections."""
        return self.events / self.seconds

    @property
    def seconds_per_answer(self) -> float:
        """The time of one answer when there is one connection."""
        return self.seconds / self.answers


def http_request(port: int, path: str, body: bytes) -> bytes:
    """A request as it stands on the wire."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer sk-engy-benchmark\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


class _Connection(asyncio.Protocol):
    """One connection; `is_over` is asked before each request."""

    def __init__(self, requests: Iterator[bytes], is_over: Callable[[], bool]) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self.answers = 0
        self.events = 0
        self._requests = requests
        self._is_over = is_over
        self._received = bytearray()
        self._expected: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        received = self._received
        is_new = not received
        received += data
        if is_new or self._expected is None:
            end = received.find(b"\r\n\r\n")
            if end < 0:
                return
            if received[9:12] != b"200":
                self._fail(bytes(received[:2000]).decode(errors="replace"))
                return
            length = _LENGTH.search(received, 0, end + 2)
            self._expected = end + 4 + int(length[1]) if length else 0
        if self._expected:
            if len(received) < self._expected:
                return
        elif not received.endswith(_END_OF_CHUNKS):
            return
        else:
            self.events += received.count(b"\n\n")
        self.answers += 1
        self._expected = None
        received.clear()
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self._fail(f"the server closed the connection: {error}")

    def _ask(self) -> None:
        if self._is_over():
            self.done.set_result(None)
            self._transport.close()
        else:
            self._transport.write(next(self._requests))

    def _fail(self, reason: str) -> None:
        self.done.set_exception(RuntimeError(reason))
        self._transport.close()


async def _drive(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> Round:
    loop = asyncio.get_running_loop()
    began, computed = time.perf_counter(), time.process_time()
    deadline = began + seconds

    def is_over() -> bool:
        return time.perf_counter() >= deadline

    pairs = [
        await loop.create_connection(lambda: _Connection(requests, is_over), "127.0.0.1", port)
        for _ in range(connections)
    ]
    crew = [protocol for _, protocol in pairs]
    await asyncio.wait_for(asyncio.gather(*(member.done for member in crew)), seconds + 60)
    elapsed = time.perf_counter() - began
    return Round(
        answers=sum(member.answers for member in crew),
        events=sum(member.events for member in crew),
        seconds=elapsed,
        generator_load=(time.process_time() - computed) / elapsed,
    )


def drive(port: int, requests: Iterator[bytes], *, seconds: float, connections: int = CONNECTIONS) -> Round:
    """Ask for so many seconds, then let the open answers end; raises RuntimeError on any answer but a 200."""
    gc.collect()
    gc.disable()
    try:
        return asyncio.run(_drive(port, requests, connections, seconds))
    finally:
        gc.enable()
