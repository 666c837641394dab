"""Where a write on the socket ends: frames cut into parts, joined, or held back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engy_mock.vocabulary.wire import Close, End, Frame, Step


def cut(frame: Frame, places: Sequence[int]) -> Iterator[Frame]:
    """The frame in parts that end at these places, each a write of its own; the last of them is the piece."""
    begin = 0
    for end in places:
        yield replace(frame, data=frame.data[begin:end], is_piece=False, ends_write=True)
        begin = end
    yield replace(frame, data=frame.data[begin:], ends_write=True)


def chopped(frame: Frame, size: int) -> Iterator[Frame]:
    """The frame in parts of so many bytes."""
    return cut(frame, range(size, len(frame.data), size))


def held_back(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps with all frames behind whatever lies between them, just before the end."""
    held: list[Step] = []
    for step in steps:
        if isinstance(step, Frame):
            held.append(step)
            continue
        if isinstance(step, End | Close):
            yield from held
            held.clear()
        yield step
    yield from held


def grouped(steps: Iterable[Step], size: int | None) -> Iterator[Step]:
    """The steps with so many frames to a write (None: all of them), however large it gets."""
    count = 0
    for step in steps:
        if isinstance(step, Frame):
            count += 1
            yield replace(step, ends_write=count == size)
            count = 0 if count == size else count
        else:
            yield step
