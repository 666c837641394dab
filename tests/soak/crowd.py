"""A crowd that does nothing: connections that are idle, and clients that read very slowly."""

import asyncio
import json
import socket
import time
from contextlib import suppress

from tests.soak.asking import KEY, Asking, Caller, Tally, chat

SLOW_READS_EVERY = 0.2
"""Seconds between two reads of a slow reader, of a few bytes each."""

HELLO = Asking(name="hello", path="/v1/chat/completions", body=chat())


class Crowd:
    """So many connections on which nothing is said, and so many on which a long answer is hardly read."""

    def __init__(self, port: int, *, idle: int, slow: int) -> None:
        self._port = port
        self._wanted = (idle, slow)
        self._sockets: list[socket.socket] = []
        self._readers: list[asyncio.Task[None]] = []

    async def gather(self) -> None:
        """Connect all of them."""
        idle, slow = self._wanted
        loop = asyncio.get_running_loop()
        for number in range(slow):
            own = await self._connect(buffer=4096)
            await loop.sock_sendall(own, _long_request(number))
            self._readers.append(asyncio.create_task(_read_slowly(own)))
        for _ in range(idle):
            await self._connect()

    async def disperse(self) -> None:
        """Disconnect all of them."""
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        for own in self._sockets:
            own.close()

    async def _connect(self, buffer: int | None = None) -> socket.socket:
        own = socket.socket()
        self._sockets.append(own)
        if buffer is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        own.setblocking(False)
        await asyncio.get_running_loop().sock_connect(own, ("127.0.0.1", self._port))
        return own


def _long_request(number: int) -> bytes:
    """One whose answer does not fit into any buffer on its way: thirty alternatives for each token."""
    prompt = f"The old town has a bridge and a river, number {number}. " * 40
    body = {"model": "glm-5.2", "prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 30}
    return Asking(name="long", path="/v1/completions", body=body, key=KEY).request(number)


async def _read_slowly(own: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while await loop.sock_recv(own, 64):
            await asyncio.sleep(SLOW_READS_EVERY)


async def seconds_of_new_requests(port: int, count: int) -> list[float]:
    """How long so many requests take from connecting to their end, one after the other."""
    seconds: list[float] = []
    tally = Tally()
    for number in range(count):
        caller = Caller(port, tally)
        began = time.perf_counter()
        await caller.ask(HELLO, number)
        seconds.append(time.perf_counter() - began)
        await caller.leave()
    if tally.wrong:
        raise RuntimeError(f"new requests were not answered as they should be: {json.dumps(tally.wrong)}")
    return seconds
