"""An answer as it was told last; it is told again with another request id in the place of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engy_mock.vocabulary.generation import Generation

MAX_BODY = 32 * 1024
MAX_STREAM = 64 * 1024
MAX_WRITES = 512
"""Longer answers are not remembered."""

_ID_DIGITS = 24
"""So many digits of a request id stand for it in the id of an answer (E-114)."""


class Version(NamedTuple):
    """All that an answer to one request depends on, but for its id; `most` is how much shares one write."""

    generation: Generation
    created: int
    charged_micro: int
    most: int = 0

    def is_like(self, other: "Version | None") -> bool:
        """Whether both are told in the same bytes; the same words said anew count as others."""
        if other is None or self.generation is not other.generation:
            return False
        return (self.created, self.charged_micro, self.most) == (other.created, other.charged_micro, other.most)


class Blank:
    """Bytes of an answer with a blank where its request id was.

    A request id is a digest of the request, so that it occurs in an answer where it was put and nowhere else.
    """

    __slots__ = ("_begins", "_parts", "_wholes")

    def __init__(self, data: bytes, request_id: str) -> None:
        whole = request_id.encode()
        beginning = whole[:_ID_DIGITS]
        self._parts: list[bytes] = []
        self._wholes: list[int] = []
        self._begins: list[int] = []
        for number, part in enumerate(data.split(whole)):
            if number:
                self._leave_room(self._wholes)
            for count, text in enumerate(part.split(beginning)):
                if count:
                    self._leave_room(self._begins)
                self._parts.append(text)

    def _leave_room(self, places: list[int]) -> None:
        places.append(len(self._parts))
        self._parts.append(b"")

    def filled(self, request_id: str) -> bytes:
        """The same bytes with this request id."""
        parts, whole = self._parts[:], request_id.encode()
        for place in self._wholes:
            parts[place] = whole
        for place in self._begins:
            parts[place] = whole[:_ID_DIGITS]
        return b"".join(parts)


class Told(NamedTuple):
    """A write of a stream, and how many pieces of the answer have got through behind it."""

    data: bytes
    pieces: int


@dataclass(slots=True)
class Memory:
    """What was said last to one request, which most are never told again: what that takes is made when it is used.

    `body` is a whole answer with its request id, `writes` are those of a stream, from its second time on.
    """

    version: Version | None = None
    body: tuple[bytes, str] | None = None
    blank: Blank | None = None
    writes: Sequence[tuple[Blank, int]] = ()

    def keep(self, version: Version, request_id: str, body: bytes) -> None:
        """Remember a whole answer."""
        if len(body) <= MAX_BODY:
            self.version, self.body, self.blank = version, (body, request_id), None

    def again(self, version: Version, request_id: str) -> bytes | None:
        """The same answer for another request, or None if anything but the id has changed."""
        if self.body is None or not version.is_like(self.version):
            return None
        if self.blank is None:
            self.blank = Blank(*self.body)
        return self.blank.filled(request_id)

    def note(self, version: Version) -> bool:
        """Note that a stream is told; whether it is the same as last time, and worth keeping."""
        if version.is_like(self.version):
            return True
        self.version, self.writes = version, ()
        return False

    def keep_stream(self, version: Version, request_id: str, writes: Sequence[Told]) -> None:
        """Remember a stream write by write."""
        if version.is_like(self.version) and sum([len(data) for data, _ in writes]) <= MAX_STREAM:
            self.writes = [(Blank(data, request_id), pieces) for data, pieces in writes]

    def stream_again(self, version: Version, request_id: str) -> list[Told] | None:
        """The writes of the same stream for another request, or None if there are none."""
        writes = self.writes
        if not writes or not version.is_like(self.version):
            return None
        return [Told(blank.filled(request_id), pieces) for blank, pieces in writes]
