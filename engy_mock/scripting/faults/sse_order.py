"""Faults of order: events broken, said twice, or at the wrong place ("SSE")."""

from collections.abc import Iterator
from dataclasses import replace

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.places import parted_steps
from engy_mock.vocabulary.wire import Begin, Frame, Step


def _is_piece(step: Step | None) -> bool:
    return isinstance(step, Frame) and step.is_piece


@fault("malformed-json", streams=True)
class MalformedJson(Fault):
    """Cut the JSON of one event in the middle, after some pieces; the others are whole."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Half of an event where a piece should be."""
        before, rest = parted_steps(steps, self.after)
        yield from before
        broken = next(rest, None)
        if isinstance(broken, Frame) and broken.is_piece:
            data = sse.payload(broken)
            broken = sse.with_payload(broken, data[: len(data) // 2])
        if broken is not None:
            yield broken
        yield from rest


@fault("duplicate-chunk", streams=True)
class DuplicateChunk(Fault):
    """Say one piece twice, after some others."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same event again."""
        before, rest = parted_steps(steps, self.after)
        yield from before
        for place, step in enumerate(rest):
            yield step
            if place == 0 and isinstance(step, Frame) and step.is_piece:
                yield replace(step, is_piece=False)


@fault("reordered-chunks", streams=True)
class ReorderedChunks(Fault):
    """Say a piece before the one that should come before it, after some others."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Two events in each other's place."""
        before, rest = parted_steps(steps, self.after)
        behind = list(rest)
        pieces = [place for place, step in enumerate(behind) if _is_piece(step)]
        if len(pieces) > 1:
            one, other, *_ = pieces
            behind[one], behind[other] = behind[other], behind[one]
        yield from before
        yield from behind


@fault("replayed-stream", streams=True)
class ReplayedStream(Fault):
    """Begin the stream anew in the middle, or after some pieces, in the same body."""

    after: Count | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The first events, then all of them."""
        done = list(steps)
        half = (sum([isinstance(step, Frame) and step.is_piece for step in done]) + 1) // 2
        before, rest = parted_steps(iter(done), half if self.after is None else self.after)
        begun = [step for step in before if not isinstance(step, Begin)]
        yield from before
        for step in begun:
            yield replace(step, is_piece=False) if isinstance(step, Frame) else step
        yield from rest
