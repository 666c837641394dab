"""Faults of lines: server-sent events with other line ends and spaces than those of the services ("SSE")."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Fault, fault
from engy_mock.vocabulary.wire import Frame, Step

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

MIXED = ((b"\n", b"\r\n"), (b"\r\n", b"\r"), (b"\r", b"\r"), (b"\r\n", b"\n"))
"""Pairs for the ends of the lines of an event, and of the empty line behind it; none run together into one."""


@fault("crlf", streams=True)
class Crlf(Fault):
    r"""End all lines of a stream with `\r\n`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Other line ends."""
        return sse.reworded(steps, lambda data: data.replace(b"\n", b"\r\n"))


@fault("cr-only", streams=True)
class CrOnly(Fault):
    r"""End all lines of a stream with `\r`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Other line ends."""
        return sse.reworded(steps, lambda data: data.replace(b"\n", b"\r"))


@fault("mixed-line-ends", streams=True)
class MixedLineEnds(Fault):
    r"""End the lines of a stream now with `\n`, now with `\r\n`, now with `\r`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Line ends that change from event to event, and within."""
        pairs = cycle(MIXED)

        def mixed(data: bytes) -> bytes:
            inner, last = next(pairs)
            lines = data.removesuffix(b"\n")
            return lines.replace(b"\n", inner) + last if lines.endswith(b"\n") else lines + inner

        return sse.reworded(steps, mixed)


@fault("data-no-space", streams=True)
class DataNoSpace(Fault):
    """Leave out the space behind `data:`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """`data:` and the value at once."""
        return sse.reworded(steps, lambda data: _data_lines(data, b"data:"))


@fault("data-two-spaces", streams=True)
class DataTwoSpaces(Fault):
    """Put two spaces behind `data:` where JSON follows, so that one is part of the value."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A space more; end marks are left alone."""
        for step in steps:
            if sse.is_event(step) and sse.document(step) is not None:
                yield replace(step, data=_data_lines(step.data, b"data:  "))
            else:
                yield step


def _data_lines(data: bytes, begin: bytes) -> bytes:
    """The lines of an event, those with data begun otherwise."""
    return b"\n".join([begin + line[6:] if line.startswith(b"data: ") else line for line in data.split(b"\n")])


@fault("multi-line-data", streams=True)
class MultiLineData(Fault):
    """Spread the JSON of each event over several `data:` lines."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The braces on lines of their own."""
        for step in steps:
            if sse.is_event(step) and sse.document(step) is not None:
                inner = sse.payload(step)[1:-1]
                yield sse.with_payload(step, b"{\ndata: %b\ndata: }" % inner)
            else:
                yield step


@fault("last-event-unterminated", streams=True)
class LastEventUnterminated(Fault):
    """End a stream without the empty line behind its last event, and without an end mark."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All events, the last of them open."""
        done = [step for step in steps if not sse.is_end_mark(step)]
        last = max([place for place, step in enumerate(done) if isinstance(step, Frame)], default=-1)
        for place, step in enumerate(done):
            if place == last and sse.is_event(step):
                yield replace(step, data=step.data.removesuffix(b"\n"))
            else:
                yield step


@fault("bom", streams=True)
class Bom(Fault):
    """Begin a stream with a byte order mark."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The mark, then the answer."""
        is_first = True
        for step in steps:
            if is_first and sse.is_event(step):
                is_first = False
                yield replace(step, data=BYTE_ORDER_MARK + step.data)
            else:
                yield step
