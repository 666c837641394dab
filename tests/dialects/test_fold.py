"""A generation told as events says the same as the generation itself, folded back or read by a client."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.completions import Completions
from engy_mock.dialects.fold import fold, tell
from engy_mock.vocabulary.errors import UpstreamFailed
from engy_mock.vocabulary.events import (
    Cut,
    Ended,
    Failure,
    Finished,
    Pause,
    Raw,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.request import GenerationRequest, ToolCall
from tests.dialects.made import chat, choices, completion, envelope, generations, token
from tests.dialects.sdk import checked, heard, payloads

CHAT_REQUESTS = [
    chat(),
    chat(logprobs=True),
    chat(top_logprobs=3, stream=True, stream_options={"include_usage": True}),
]
COMPLETION_REQUESTS = [
    completion(),
    completion(logprobs=3),
    completion(echo=True),
    completion(logprobs=2, echo=True),
    completion(logprob_start_len=1),
    completion(logprob_start_len=1, logprobs=2, echo=True),
]


def test_tell():
    """A choice is told in the order reasoning, text, calls; usage and the end come once, at the end."""
    call = ToolCall("f", call_id="call_1")
    entries = ((token("a"),), (token("b"),))
    first = Choice(reasoning=("r",), text=("a", "b"), tool_calls=(call, call), logprobs=entries)
    second = Choice(index=1, text=("c",), finish_reason="length", prompt_text="p")
    usage = Usage(prompt_tokens=1, completion_tokens=2)
    assert list(tell(Generation(choices=(first, second), usage=usage))) == [
        Started(0),
        ReasoningDelta("r", 0),
        TextDelta("a", entries[0], 0),
        TextDelta("b", entries[1], 0),
        ToolCallDelta(call, 0, 0),
        ToolCallDelta(call, 1, 0),
        Finished("stop", None, 0),
        Started(1, "p"),
        TextDelta("c", None, 1),
        Finished("length", None, 1),
        UsageReported(usage),
        Ended(),
    ]


@given(generations())
def test_fold_is_the_inverse_of_tell(generation: Generation):
    """Folding what was told gives the generation back, but for token ids and empty lists."""
    folded = fold(tell(generation))
    assert folded.usage == generation.usage
    for got, told in zip(folded.choices, generation.choices, strict=True):
        assert (got.index, got.finish_reason, got.stop_sequence) == (
            told.index,
            told.finish_reason,
            told.stop_sequence,
        )
        assert (got.text, got.tool_calls) == (told.text, told.tool_calls)
        assert got.reasoning == (("",) if told.reasoning == () else told.reasoning)
        assert got.logprobs == (told.logprobs or None)
        assert (got.prompt_text, got.prompt_logprobs) == (told.prompt_text, told.prompt_logprobs)


@given(generations(), st.sampled_from(CHAT_REQUESTS))
def test_a_chat_answer_survives_the_fold(generation: Generation, request: GenerationRequest):
    """The folded events make the same bytes, and the client's own type takes them."""
    around = envelope(request, generation)
    whole = Chat().body(generation, around)
    assert Chat().body(fold(tell(generation)), around) == whole
    assert len(checked(whole, ChatCompletion)["choices"]) == len(generation.choices)


@given(generations(), st.sampled_from(COMPLETION_REQUESTS))
def test_a_completion_survives_the_fold(generation: Generation, request: GenerationRequest):
    """The folded events make the same bytes, whatever is echoed or scored."""
    around = envelope(request, generation)
    whole = Completions().body(generation, around)
    assert Completions().body(fold(tell(generation)), around) == whole
    assert json.loads(whole)["object"] == "text_completion"


@given(generations(), st.sampled_from(CHAT_REQUESTS))
def test_a_stream_says_what_the_whole_answer_says(generation: Generation, request: GenerationRequest):
    """A client that reads the chunks has in the end what the whole answer would have told it."""
    around = envelope(request, generation)
    whole = json.loads(Chat().body(generation, around))
    encoder = Chat().encoder(around)
    stream = b"".join(encoder.encode(event) for event in tell(generation))
    client = heard(stream)
    assert client.is_done
    assert client.receipt == whole["x_engy"]
    assert client.usage == (whole["usage"] if request.include_usage else None)
    for choice in whole["choices"]:
        message, told = choice["message"], client.choices[choice["index"]]
        assert told.content == (message["content"] or "")
        assert told.reasoning == message.get("reasoning_content")
        assert [told.tool_calls[place] for place in range(len(told.tool_calls))] == message.get("tool_calls", [])
        assert told.finish_reason == choice["finish_reason"]
        assert (told.logprobs or []) == choice.get("logprobs", {}).get("content", [])
    for payload in payloads(stream)[:-1]:
        assert checked(payload, ChatCompletionChunk)["object"] == "chat.completion.chunk"


@given(choices())
def test_a_plain_completion_is_what_the_client_expects(choice: Choice):
    """Completions with log probabilities of generated text pass the client's own type."""
    generation = Generation(choices=(choice,), usage=Usage(prompt_tokens=1, completion_tokens=1))
    request = completion(logprobs=3)
    stopped = {"tool_calls": "stop"}.get(choice.finish_reason, choice.finish_reason)
    document = json.loads(Completions().body(generation, envelope(request, generation)))
    document["choices"][0]["finish_reason"] = stopped
    logprobs = checked(json.dumps(document), Completion)["choices"][0]["logprobs"]
    assert len({len(column) for column in logprobs.values()}) == 1


@pytest.mark.parametrize("trouble", [Pause(math.inf), Raw(b"x"), Cut()], ids=str)
def test_troubles_say_nothing(trouble: Pause | Raw | Cut):
    """Pauses, raw bytes and cuts leave no mark in what is folded."""
    generation = Generation(choices=(Choice(text=("a",)),), usage=Usage(prompt_tokens=1, completion_tokens=2))
    assert fold([trouble, *tell(generation), trouble]) == generation


def test_a_failure_is_raised():
    """An answer that fails in the middle is no answer."""
    with pytest.raises(UpstreamFailed, match="upstream failed"):
        fold([Started(), TextDelta("a"), Failure(UpstreamFailed("upstream failed"))])


def test_a_torn_answer_has_defaults():
    """What a fault swallowed at the end is filled in: it stopped, and nothing was counted."""
    assert fold([Started(), TextDelta("a")]) == Generation(
        choices=(Choice(text=("a",)),), usage=Usage(prompt_tokens=0, completion_tokens=0)
    )


def test_log_probabilities_stay_with_their_pieces():
    """A piece without entries between scored ones keeps its place."""
    entry = (token("b"),)
    (choice,) = fold([TextDelta("a"), TextDelta("b", entry), TextDelta("c")]).choices
    assert choice.logprobs == ((), entry, ())
