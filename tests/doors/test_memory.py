"""Connections in memory: how what is written arrives at the other end."""

import asyncio

import pytest

from engy_mock.serving.memory import READ_SIZE, End, connect


class Reader(asyncio.Protocol):
    """Notes what comes, and the end."""

    def __init__(self) -> None:
        self.heard: list[bytes | str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, End)
        self.end = transport

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def eof_received(self) -> None:
        self.heard.append("eof")

    def connection_lost(self, error: Exception | None) -> None:
        self.heard.append("lost" if error is None else type(error).__name__)


@pytest.fixture
async def pair() -> tuple[Reader, Reader]:
    """Two ends that have just been connected."""
    near, far = Reader(), Reader()
    connect(asyncio.get_running_loop(), near, far)
    return near, far


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_writes_without_a_pause_arrive_as_one(pair):
    """Others do not, and no more comes at once than a loop reads from a socket; a large write stays whole."""
    near, far = pair
    far.end.write(b"a")
    far.end.write(b"b")
    await turns()
    far.end.write(b"c")
    await turns()
    assert near.heard == [b"ab", b"c"]
    far.end.write(b"d")
    far.end.write(bytes(READ_SIZE))
    far.end.write(b"e")
    await turns()
    assert near.heard[2:] == [b"d", bytes(READ_SIZE), b"e"]
    assert near.end.get_write_buffer_size() == 0


@pytest.mark.parametrize(("ending", "expected"), [("close", ["eof", "lost"]), ("reset", ["ConnectionResetError"])])
async def test_who_does_not_read_hears_of_no_end(pair, ending, expected):
    """Neither of what came before it; both come as soon as there is reading."""
    near, far = pair
    near.end.pause_reading()
    far.end.write(b"last words")
    getattr(far.end, ending)()
    await turns()
    assert near.heard == []
    near.end.resume_reading()
    await turns()
    assert near.heard == [b"last words", *expected]
