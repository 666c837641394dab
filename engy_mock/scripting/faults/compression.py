"""Faults of compression: encodings that are broken, held back, or not what the head says ("Transport")."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.heads import reheaded, with_header, without
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.places import parted_steps
from engy_mock.scripting.writes import held_back
from engy_mock.vocabulary.wire import Frame, Step

GZIP_HEAD = bytes.fromhex("1f8b08000000000000ff")
"""The same on every machine: no name, no time, no operating system."""

_LEVEL = 6
_INVALID = b"\xff"
"""What can begin no block of compressed data."""

_ZSTD_MAGIC = bytes.fromhex("28b52ffd")
_MAX_BLOCK = 128 * 1024


class Gzip:
    """Packs a body part by part; each part can be unpacked as soon as it is there."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._head = GZIP_HEAD
        self._check = self._size = 0

    def part(self, data: bytes) -> bytes:
        """The next part of the body."""
        head, self._head = self._head, b""
        self._check = zlib.crc32(data, self._check)
        self._size += len(data)
        return head + self._deflate.compress(data) + self._deflate.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        """What stands behind the last part."""
        check, size = (number.to_bytes(4, "little") for number in (self._check, self._size & 0xFFFFFFFF))
        return self._deflate.flush() + check + size


def _encoded(steps: Iterable[Step], coding: str) -> Iterator[Step]:
    """The steps with a head that names this encoding; the length is that of the packed body."""
    return reheaded(steps, lambda head: with_header(without(head, "Content-Length"), "Content-Encoding", coding))


def gzipped(steps: Iterable[Step], coding: str = "gzip") -> list[Step]:
    """The steps with a packed body, frame by frame."""
    done = list(_encoded(steps, coding))
    last = _last(done)
    packer = Gzip()
    for place, step in enumerate(done):
        if isinstance(step, Frame):
            data = packer.part(step.data)
            done[place] = replace(step, data=data + packer.end() if place == last else data)
    return done


def _last(steps: list[Step]) -> int:
    """Where the last frame stands."""
    return max([place for place, step in enumerate(steps) if isinstance(step, Frame)], default=-1)


@fault("gzip-corrupt")
class GzipCorrupt(Fault):
    """Pack the body, and let it be no packed data any more after some pieces."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Good parts, then bytes that cannot be unpacked."""
        before, rest = parted_steps(steps, self.after)
        good = len(before)
        is_first = not any(isinstance(step, Frame) for step in before)
        for place, step in enumerate(gzipped([*before, *rest])):
            if place < good or not isinstance(step, Frame):
                yield step
                continue
            head = GZIP_HEAD if is_first else b""
            is_first = False
            yield replace(step, data=head + _INVALID * (len(step.data) - len(head)))


@fault("gzip-truncated")
class GzipTruncated(Fault):
    """Pack the body, and send only the first half of the packed data, in good order."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The parts that make up the first half."""
        done = gzipped(steps)
        left = sum([len(step.data) for step in done if isinstance(step, Frame)]) // 2
        for step in done:
            if not isinstance(step, Frame):
                yield step
            elif left:
                yield replace(step, data=step.data[:left])
                left -= min(left, len(step.data))


@fault("gzip-unflushed", streams=True)
class GzipUnflushed(Fault):
    """Pack a stream without ever flushing, so that all of it comes at its end."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Nothing but the head, then everything."""
        done = list(_encoded(held_back(steps), "gzip"))
        last = _last(done)
        packer = Gzip()
        packed = packer.part(b"".join([step.data for step in done if isinstance(step, Frame)])) + packer.end()
        for place, step in enumerate(done):
            yield replace(step, data=packed if place == last else b"") if isinstance(step, Frame) else step


@fault("zstd-per-event", streams=True)
class ZstdPerEvent(Fault):
    """Pack each event of a stream as a zstd frame of its own, for clients that offer to unpack zstd."""

    def suits(self, occasion: Occasion) -> bool:
        """The client offers it."""
        offered = occasion.asked.headers.get("accept-encoding") or ""
        return any(coding.partition(";")[0].strip().lower() == "zstd" for coding in offered.split(","))

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One packed frame after the other, where many decoders stop behind the first."""
        for step in _encoded(steps, "zstd"):
            yield replace(step, data=zstd(step.data)) if isinstance(step, Frame) else step


def zstd(data: bytes) -> bytes:
    """A zstd frame that holds the data as it is: what that costs in size, no library has to be there for it."""
    size = len(data)
    if size < 256:
        head = bytes([0x20, size])
    elif size < 65_792:
        head = bytes([0x60]) + (size - 256).to_bytes(2, "little")
    else:
        head = bytes([0xA0]) + size.to_bytes(4, "little")
    blocks = []
    for begin in range(0, max(size, 1), _MAX_BLOCK):
        block = data[begin : begin + _MAX_BLOCK]
        is_last = begin + _MAX_BLOCK >= size
        blocks.append((len(block) << 3 | is_last).to_bytes(3, "little") + block)
    return _ZSTD_MAGIC + head + b"".join(blocks)


@fault("double-content-encoding")
class DoubleContentEncoding(Fault):
    """Pack the body once and say that it is packed twice."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A body that does not unpack a second time."""
        yield from gzipped(steps, "gzip, gzip")
