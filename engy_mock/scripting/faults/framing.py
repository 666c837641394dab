"""Faults of framing: lengths, chunks and heads that do not fit what they stand around ("Transport")."""

from collections.abc import Iterator
from dataclasses import replace

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.heads import reheaded, with_header, without
from engy_mock.scripting.places import parted_steps, upto
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.wire import Begin, Close, End, Frame, Step, Unframed

NO_SIZE = b"zz\r\n"
"""What stands where the size of a chunk should."""

BEYOND = 64
"""How many bytes a declared length exceeds the body by."""

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </v1/models>; rel=preload; as=fetch\r\n\r\n"

TRAILER = "X-Engy-Mock-Body-Bytes"


def _size(steps: list[Step]) -> int:
    """How many bytes the body has."""
    return sum([len(step.data) for step in steps if isinstance(step, Frame)])


def _declared(steps: list[Step], size: int) -> Iterator[Step]:
    """The steps with this length declared, whatever the body has."""
    return reheaded(steps, lambda head: with_header(head, "Content-Length", str(size)))


@fault("bad-chunk-size")
class BadChunkSize(Fault):
    """Begin a chunk with a size that is not hexadecimal after some pieces, then close the connection."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The first pieces, then no chunk; a whole answer is chunked to that end."""
        before, rest = parted_steps(steps, self.after)
        broken = next(rest, None)
        if not before or broken is None:
            yield from before
            return
        if isinstance(broken, Frame) and broken.is_whole:
            before = list(
                reheaded(
                    before,
                    lambda head: with_header(without(head, "Content-Length"), "Transfer-Encoding", "chunked"),
                )
            )
        yield from before
        yield Unframed(NO_SIZE)
        yield Close()


@fault("content-length-long")
class ContentLengthLong(Fault):
    """Declare more bytes than the body has, then close the connection behind it."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The body, short of what was promised."""
        done = list(steps)
        return _declared(done, _size(done) + BEYOND)


@fault("content-length-short")
class ContentLengthShort(Fault):
    """Declare half of the bytes that the body has."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The body, longer than was promised."""
        done = list(steps)
        return _declared(done, _size(done) // 2)


@fault("early-hints")
class EarlyHints(Fault):
    """Send a 103 before the answer."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A head without an answer, then the answer."""
        for step in steps:
            if isinstance(step, Begin):
                yield Unframed(HINTS)
            yield step


@fault("http10")
class Http10(Fault):
    """Answer in HTTP/1.0, where the body ends with the connection; after some pieces if `after` says so."""

    after: Count | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """All that is said, or the first pieces."""
        return events if self.after is None else upto(self.after, events)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The older version, without a declared length."""
        return reheaded(steps, lambda head: replace(without(head, "Content-Length"), version="1.0"))


@fault("trailers")
class Trailers(Fault):
    """Send headers behind the body, which is chunked to that end."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A header that is announced, and follows the last chunk."""
        done = list(steps)
        size = str(_size(done))
        for step in reheaded(done, lambda head: with_header(without(head, "Content-Length"), "Trailer", TRAILER)):
            yield End(((TRAILER, size),)) if isinstance(step, End) else step
