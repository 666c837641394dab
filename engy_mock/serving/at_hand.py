"""The response of httpx or httpx2 to a blocking client whose whole body is there: it is read in one go.

The libraries go through two chunkers, a decoder and three contexts for it, which takes longer than the answer.
"""

from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from engy_mock.serving.inside import Hearing

if TYPE_CHECKING:
    import httpx2

    Base = httpx2.Response
else:
    Base = object


T = TypeVar("T")


class AtHand(Base):
    """A response with an own way to its bytes, as long as nobody wants them in pieces or out of a coding."""

    _library: ModuleType
    _taken = 0

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """The body without its coding, in pieces of this size, or as it came."""
        is_plain = chunk_size is None and "content-encoding" not in self.headers
        is_untouched = not self.is_closed and not self.is_stream_consumed
        if not (is_plain and is_untouched and isinstance(self.stream, self._library.SyncByteStream)):
            yield from super().iter_bytes(chunk_size)
            return
        self.is_stream_consumed = True
        try:
            for piece in self.stream:
                self._taken += len(piece)
                yield piece
        finally:
            self.close()

    @property
    def num_bytes_downloaded(self) -> int:
        """How many bytes have been taken so far."""
        return self._taken or super().num_bytes_downloaded

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Packed, it is one of the library's own."""
        state = {**self.__getstate__(), "_num_bytes_downloaded": self.num_bytes_downloaded}
        state.pop("_taken", None)
        return _blank, (self._library.Response,), state


def _blank(kind: type[T]) -> T:
    """An object that is nothing yet; its state comes behind it."""
    return kind.__new__(kind)


class Body:
    """The body of an answer that has come as a whole."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    def __iter__(self) -> Iterator[bytes]:
        hearing = self._hearing
        yield from hearing.heard.take()
        hearing.keep()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._hearing.heard.take():
            yield piece
        self._hearing.keep()
