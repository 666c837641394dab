"""A connection without a socket, which keeps every write apart."""

import asyncio
from typing import Any

TURNS = 20
"""How many turns of the loop an answer without a real pause gets."""


class Recorder(asyncio.Transport):
    """The transport of one connection; `writes` holds what was written, one entry for each write."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.ending: str | None = None
        self._protocol = protocol
        protocol.connection_made(self)

    async def hear(self, data: bytes) -> None:
        """Bring a request, and let the answer go as far as it gets."""
        await asyncio.sleep(0)
        self._protocol.data_received(data)
        for _ in range(TURNS):
            await asyncio.sleep(0)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.ending is not None

    def close(self) -> None:
        self._end("close")

    def abort(self) -> None:
        self._end("abort")

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def _end(self, ending: str) -> None:
        if self.ending is None:
            self.ending = ending
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)
