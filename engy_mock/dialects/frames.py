"""A generation as the frames of a stream, written in as few strokes as its dialect allows."""

from collections.abc import Iterator

from engy_mock.dialects.dialect import Encoder
from engy_mock.dialects.fold import Run, tell_in_runs
from engy_mock.vocabulary.events import Piece
from engy_mock.vocabulary.generation import Generation


def frames(generation: Generation, encoder: Encoder) -> Iterator[tuple[list[bytes], bool]]:
    """Frames that follow each other, and whether each of them is a piece of the answer; none is empty."""
    for part in tell_in_runs(generation):
        if isinstance(part, Run):
            yield encoder.encode_run(part), True
        else:
            data = encoder.encode(part)
            if data:
                yield [data], isinstance(part, Piece)
