"""Where in an answer something happens: after so many pieces, counted in events or in frames."""

from collections.abc import Iterator
from typing import TypeVar

from engy_mock.vocabulary.events import Event, Finished, Piece, Started
from engy_mock.vocabulary.wire import Begin, Frame, Step

T = TypeVar("T")


def parted(events: Iterator[Event], after: int) -> tuple[list[Event], Iterator[Event]]:
    """The events up to the end of so many pieces, and those behind them.

    The beginnings of choices belong to the first part, and so do ends of choices that others follow; the last
    end never does, however far `after` reaches.
    """
    before: list[Event] = []
    ends: list[Event] = []
    seen = 0
    for event in events:
        if isinstance(event, Piece):
            if seen >= after:
                return before, _chained((*ends, event), events)
            seen += 1
        elif isinstance(event, Finished):
            ends.append(event)
            continue
        elif not isinstance(event, Started):
            return before, _chained((*ends, event), events)
        before += ends
        ends.clear()
        before.append(event)
    return before, iter(ends)


def upto(after: int, events: Iterator[Event]) -> Iterator[Event]:
    """The events up to the end of so many pieces."""
    return iter(parted(events, after)[0])


def parted_steps(steps: Iterator[Step], after: int) -> tuple[list[Step], Iterator[Step]]:
    """The same for steps: heads and what stands before the first piece belong to the first part.

    The body of a whole answer has no places inside: it is behind them all.
    """
    before: list[Step] = []
    seen = 0
    for step in steps:
        is_last = isinstance(step, Frame) and (step.is_whole or isinstance(step.event, Finished))
        is_piece = isinstance(step, Frame) and step.is_piece
        if is_last or (is_piece and seen >= after) or not isinstance(step, Begin | Frame):
            return before, _chained((step,), steps)
        seen += is_piece
        before.append(step)
    return before, iter(())


def before_pieces(steps: Iterator[Step], *frames: Frame) -> Iterator[Step]:
    """The steps of a stream with more frames before its first piece; others as they are."""
    before, rest = parted_steps(steps, 0)
    first = next(rest, None)
    yield from before
    if before and not (isinstance(first, Frame) and first.is_whole):
        yield from frames
    if first is not None:
        yield first
    yield from rest


def _chained(first: tuple[T, ...], rest: Iterator[T]) -> Iterator[T]:
    yield from first
    yield from rest
