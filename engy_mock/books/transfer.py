"""What of an answer a client could take from the wire: its body, and whether the transfer came to its end."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engy_mock.books.course import Course, is_endless
from engy_mock.vocabulary.wire import Begin, Close, Head, Repeat, Step, Unframed, Whole, Write

Ending = Literal["whole", "cut", "silent", "left", "garbled"]
"""How a transfer ended: in order, before its end, in a silence without end, by the client, or not in HTTP."""

_PLAIN = frozenset({"", "identity"})
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_FORM = zlib.MAX_WBITS | 32


@dataclass(frozen=True, slots=True)
class Transfer:
    """`head` is None where none came, `body` what is in the frames of the transfer, unpacked."""

    head: Head | None
    body: bytes
    ending: Ending

    def header(self, name: str) -> str | None:
        """The first header of this name, in lower case."""
        headers = () if self.head is None else self.head.headers
        return next((value for other, value in headers if other.lower() == name), None)


def transfer(course: Course, *, has_left: bool) -> Transfer:
    """What came over the wire of an answer whose steps are known."""
    return brought(course.sent, is_open=bool(course.unsent), has_left=has_left)


def brought(steps: Sequence[Step], *, is_open: bool = False, has_left: bool = False) -> Transfer:
    """What these steps bring over the wire; others may have been meant to follow."""
    head: Head | None = None
    length: int | None = None
    body: list[bytes] = []
    is_garbled = False
    for step in steps:
        match step:
            case Whole():
                head, length = step.head, len(step.body)
                body.append(step.body)
            case Begin():
                if head is None or head.status < 200:
                    head, length = step.head, step.length
            case Write(data=data) | Repeat(data=data):
                body.append(data)
            case Unframed(data=data):
                is_garbled = is_garbled or not data.startswith(b"HTTP/1.1 103 ")
    data = b"".join(body)
    if head is None:
        return Transfer(None, b"", "garbled" if is_garbled else _early(steps, is_open=is_open, has_left=has_left))
    declared = next((value for name, value in head.headers if name.lower() == "content-length"), None)
    if declared is not None and declared.isdigit():
        length = int(declared)
    data, ending = _framed(steps, data, length, head, is_open=is_open, has_left=has_left)
    if is_garbled and ending != "silent":
        ending = "garbled"
    data, is_packed_well = _unpacked(data, head)
    return Transfer(head, data, ending if is_packed_well else "garbled")


def _framed(
    steps: Sequence[Step], data: bytes, length: int | None, head: Head, *, is_open: bool, has_left: bool
) -> tuple[bytes, Ending]:
    """The body as its frame has it, and how it ended."""
    if length is not None and len(data) >= length:
        return data[:length], "whole"
    last = steps[-1]
    if is_open or is_endless(last):
        return data, "left" if has_left else "silent"
    if isinstance(last, Close):
        # Under HTTP/1.0 the end of the connection is that of the body, and no other can be told from it.
        return data, "whole" if head.version == "1.0" and length is None and not last.abrupt else "cut"
    return data, "whole" if length is None else "cut"


def _early(steps: Sequence[Step], *, is_open: bool, has_left: bool) -> Ending:
    """How an answer ended that had no head."""
    if is_open or (steps and is_endless(steps[-1])):
        return "left" if has_left else "silent"
    return "cut"


def _unpacked(data: bytes, head: Head) -> tuple[bytes, bool]:
    """The body without its encodings, and whether it could be unpacked to its end."""
    named = ",".join([value for name, value in head.headers if name.lower() == "content-encoding"])
    is_good = True
    for coding in reversed([one.strip().lower() for one in named.split(",")]):
        if coding in _PLAIN:
            continue
        if coding not in _PACKED:
            return data, False
        unpacker = zlib.decompressobj(_ANY_FORM)
        try:
            data = unpacker.decompress(data)
            is_good = is_good and unpacker.eof
        except zlib.error:
            return b"", False
    return data, is_good
