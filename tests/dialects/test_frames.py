"""Many pieces written at one go are the frames that they would be one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.dialect import Dialect
from engy_mock.dialects.fold import tell
from engy_mock.dialects.frames import frames
from engy_mock.dialects.messages import Messages
from engy_mock.dialects.responses import Responses
from engy_mock.vocabulary.events import Piece
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.request import GenerationRequest
from tests.dialects.made import chat, envelope, generations, messages, responding

STREAMS: list[tuple[Dialect, GenerationRequest]] = [
    (Chat(), chat(stream=True)),
    (Chat(), chat(stream=True, logprobs=True)),
    (Messages(), messages(stream=True)),
    (Responses(), responding(stream=True)),
]


def _one_by_one(generation: Generation, dialect: Dialect, request: GenerationRequest) -> list[tuple[bytes, bool]]:
    encoder = dialect.encoder(envelope(request, generation))
    told = [(encoder.encode(event), isinstance(event, Piece)) for event in tell(generation)]
    return [(data, is_piece) for data, is_piece in told if data]


def _at_once(generation: Generation, dialect: Dialect, request: GenerationRequest) -> list[tuple[bytes, bool]]:
    encoder = dialect.encoder(envelope(request, generation))
    return [(data, is_piece) for written, is_piece in frames(generation, encoder) for data in written]


@given(generations(), st.sampled_from(STREAMS))
def test_frames(generation, stream):
    """The same bytes, and the same of them count as pieces, in every dialect."""
    assert _at_once(generation, *stream) == _one_by_one(generation, *stream)


@pytest.mark.parametrize("text", ["", '"\\\n\u2028\U0001f642', "long " * 50])
def test_frames_of_odd_pieces(text):
    """Empty and very long pieces too, and those of a second choice."""
    choices = tuple(Choice(index=index, reasoning=(text,), text=("a", text, "b")) for index in range(2))
    generation = Generation(choices=choices, usage=Usage(prompt_tokens=1, completion_tokens=8))
    for stream in STREAMS:
        assert _at_once(generation, *stream) == _one_by_one(generation, *stream)
