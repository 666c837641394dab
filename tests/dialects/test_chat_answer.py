"""What a chat answer looks like, whole and as a stream of chunks."""

import json
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.chat_stream import MAX_REMEMBERED
from engy_mock.dialects.fold import tell
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary.errors import InvalidRequest, UpstreamFailed, UpstreamTimeout
from engy_mock.vocabulary.events import (
    Cut,
    Ended,
    Event,
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
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob, Usage
from engy_mock.vocabulary.request import GenerationRequest, ToolCall
from tests.dialects.made import body, chat, envelope, token
from tests.dialects.sdk import checked, heard, payloads

GOLDEN = Path(__file__).parent / "golden"

PARIS = Generation(
    choices=(
        Choice(
            reasoning=("The", " user", " as", "ks", " for", " the", " capital", " of", " France", "."),
            text=("The", " capital", " of", " France", " is", " Paris", "."),
        ),
    ),
    usage=Usage(prompt_tokens=22, completion_tokens=19, reasoning_tokens=11),
)
CALL = ToolCall("get_weather", '{"city":"Paris"}', call_id="call_0123456789abcdef01234567")
BARE_CALL = ToolCall("now", call_id="call_1123456789abcdef01234567")
SHOWN_CALL = {
    "id": "call_0123456789abcdef01234567",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
}
SHOWN_BARE_CALL = {
    "id": "call_1123456789abcdef01234567",
    "type": "function",
    "function": {"name": "now", "arguments": "{}"},
}
HEAD = (
    '{"id":"chatcmpl-3f2a9c41d8e04b7a9c1e5d20","object":"chat.completion.chunk",'
    '"created":1792281600,"model":"glm-5.2",'
)
RECEIPT = '"x_engy":{"request_id":"3f2a9c41d8e04b7a9c1e5d20a7b6c3e1","charged_micro":43}'


def choice_of(*, request: GenerationRequest | None = None, **fields: Any) -> dict[str, Any]:
    """The first choice of a whole answer, once the client's own type has taken it."""
    document = checked(body(Chat(), request or chat(), Choice(**fields)), ChatCompletion)
    choice = document["choices"][0]
    assert isinstance(choice, dict)
    return choice


def encoded(*events: Event, request: GenerationRequest | None = None, proof: Any = None) -> bytes:
    """The bytes of these events."""
    encoder = Chat().encoder(envelope(request or chat(stream=True), PARIS, proof=proof))
    return b"".join(encoder.encode(event) for event in events)


def test_the_documented_answer():
    """E-105 to E-113: the documentation's example, byte for byte."""
    golden = json.loads((GOLDEN / "chat.json").read_text("utf-8"))
    data = Chat().body(PARIS, envelope(chat(), PARIS))
    assert data.decode() == json.dumps(golden, separators=(",", ":"))
    assert checked(data, ChatCompletion) == golden


def test_the_documented_stream():
    """E-118 to E-124: the same answer as a stream with `include_usage`, byte for byte."""
    request = chat(stream=True, stream_options={"include_usage": True})
    stream = encoded(*tell(PARIS), request=request)
    assert stream == (GOLDEN / "chat-stream.txt").read_bytes()
    chunks = [checked(payload, ChatCompletionChunk) for payload in payloads(stream)[:-1]]
    assert len(chunks) == 1 + 10 + 7 + 1 + 1


def test_the_keys_of_an_answer():
    """E-105: these keys in this order and no others, also with everything that can be asked for."""
    request = chat(top_logprobs=1)
    whole = json.loads(
        body(Chat(), request, Choice(text=("a",), logprobs=((token("a"),),)), proof={"scheme": "toploc"})
    )
    assert list(whole) == ["id", "object", "created", "model", "choices", "usage", "x_engy", "proof"]
    assert list(whole["choices"][0]) == ["index", "message", "finish_reason", "logprobs"]
    assert whole["proof"] == {"scheme": "toploc"}


def test_the_model_as_sent():
    """E-30: the answer repeats the model as it was sent."""
    assert json.loads(body(Chat(), chat(model="engy/glm-5.2"), Choice()))["model"] == "engy/glm-5.2"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ("Hi", "!")}, {"content": "Hi!"}),
        ({}, {"content": ""}),
        ({"reasoning": ("Hm", "m"), "finish_reason": "length"}, {"content": "", "reasoning_content": "Hmm"}),
        ({"reasoning": (), "text": ("a",)}, {"content": "a", "reasoning_content": ""}),
        ({"tool_calls": (CALL,)}, {"content": None, "tool_calls": [SHOWN_CALL]}),
        ({"tool_calls": (CALL,), "text": ("",)}, {"content": None, "tool_calls": [SHOWN_CALL]}),
        (
            {"tool_calls": (CALL, BARE_CALL), "text": ("So",), "reasoning": ("r",)},
            {"content": "So", "reasoning_content": "r", "tool_calls": [SHOWN_CALL, SHOWN_BARE_CALL]},
        ),
    ],
)
def test_the_message(fields: dict[str, Any], message: dict[str, Any]):
    """E-107, E-108, E-136: keys that have nothing to say are left out; content is null beside calls only."""
    shown = choice_of(**fields)["message"]
    assert shown == {"role": "assistant", **message}
    assert list(shown) == ["role", *message]


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter"])
def test_the_finish_reason(reason: str):
    """E-109: it is the one that the generation has."""
    assert choice_of(finish_reason=reason)["finish_reason"] == reason


def test_cached_tokens():
    """E-110: usage is complete, cached tokens included."""
    usage = Usage(prompt_tokens=200, completion_tokens=10, cached_tokens=128, reasoning_tokens=4)
    generation = Generation(choices=(Choice(),), usage=usage)
    shown = checked(Chat().body(generation, envelope(chat(), generation)), ChatCompletion)["usage"]
    assert shown == {
        "prompt_tokens": 200,
        "completion_tokens": 10,
        "total_tokens": 210,
        "prompt_tokens_details": {"cached_tokens": 128},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }


SMILE = TokenLogprob(id=1, token="bytes:\\xf0\\x9f", raw=b"\xf0\x9f", logprob=-1.5, top=((" a", b" a", -0.25),))
SCORED = Choice(text=("Hi", "\U0001f600"), logprobs=((token("Hi", -0.125),), (SMILE, token("!"))))
SHOWN_ENTRIES = [
    {"token": "Hi", "logprob": -0.125, "bytes": [72, 105], "top_logprobs": []},
    {
        "token": "bytes:\\xf0\\x9f",
        "logprob": -1.5,
        "bytes": [240, 159],
        "top_logprobs": [{"token": " a", "logprob": -0.25, "bytes": [32, 97]}],
    },
    {"token": "!", "logprob": -0.5, "bytes": [33], "top_logprobs": []},
]


def test_log_probabilities():
    """E-111: one entry per text token, with bytes and alternatives."""
    document = checked(body(Chat(), chat(logprobs=True), SCORED), ChatCompletion)
    assert document["choices"][0]["logprobs"] == {"content": SHOWN_ENTRIES}
    entry = document["choices"][0]["logprobs"]["content"][0]
    assert list(entry) == ["token", "logprob", "bytes", "top_logprobs"]


def test_log_probabilities_not_asked_for():
    """E-106: without the wish there is no key, even if the values are known."""
    assert "logprobs" not in json.loads(body(Chat(), chat(), SCORED))["choices"][0]
    assert b"logprobs" not in encoded(TextDelta("a", (token("a"),)))


def test_log_probabilities_of_no_text():
    """A wish for log probabilities of an answer without text is met with an empty list."""
    assert choice_of(request=chat(logprobs=True), tool_calls=(CALL,))["logprobs"] == {"content": []}


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (Started(), '{"role":"assistant","content":""}'),
        (ReasoningDelta(" Hm"), '{"reasoning_content":" Hm"}'),
        (TextDelta(" Paris"), '{"content":" Paris"}'),
        (TextDelta(""), '{"content":""}'),
        (TextDelta('"\\\n\u2028\x7f\x01ß\U0001f600'), '{"content":"\\"\\\\\\n\u2028\x7f\\u0001ß\U0001f600"}'),
        (TextDelta("x" * (MAX_REMEMBERED + 1)), f'{{"content":"{"x" * (MAX_REMEMBERED + 1)}"}}'),
        (
            ToolCallDelta(CALL, 1),
            '{"tool_calls":[{"index":1,"id":"call_0123456789abcdef01234567","type":"function",'
            '"function":{"name":"get_weather","arguments":"{\\"city\\":\\"Paris\\"}"}}]}',
        ),
    ],
)
def test_running_chunks(event: Event, delta: str):
    """E-119 to E-122: each running chunk, byte for byte; no finish reason, no usage, no log probabilities."""
    chunk = f'{HEAD}"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}'
    assert encoded(event).decode() == f"data: {chunk}\n\n"
    assert json.loads(chunk)["choices"][0]["delta"] == json.loads(delta)


@pytest.mark.parametrize(
    "event", [Started(3), ReasoningDelta("a", 3), TextDelta("a", None, 3), ToolCallDelta(CALL, 0, 3)]
)
def test_chunks_of_another_choice(event: Event):
    """The index is that of the choice; all else is alike."""
    (payload,) = payloads(encoded(event))
    assert checked(payload, ChatCompletionChunk)["choices"][0]["index"] == 3


def test_finish_chunk():
    """E-123: an empty delta, the reason, and the receipt at the top."""
    chunk = f'{HEAD}"choices":[{{"index":0,"delta":{{}},"finish_reason":"length"}}],{RECEIPT}}}'
    assert encoded(Finished("length")).decode() == f"data: {chunk}\n\n"


def test_finish_chunk_with_proof():
    """E-123, E-146: a proof follows the receipt."""
    (payload,) = payloads(encoded(Finished(), proof={"scheme": "toploc"}))
    assert payload.endswith(f'"finish_reason":"stop"}}],{RECEIPT},"proof":{{"scheme":"toploc"}}}}')


def test_usage_chunk():
    """E-124: only if asked for; no choices and no receipt."""
    usage = UsageReported(PARIS.usage)
    assert encoded(usage) == b""
    assert encoded(usage, request=chat(stream_options={"include_usage": True})) == b""
    stream = encoded(usage, request=chat(stream=True, stream_options={"include_usage": True}))
    (payload,) = payloads(stream)
    chunk = checked(payload, ChatCompletionChunk)
    assert list(chunk) == ["id", "object", "created", "model", "choices", "usage"]
    assert (chunk["choices"], chunk["usage"]["total_tokens"]) == ([], 41)


def test_scored_chunks():
    """E-119: log probabilities stand on chunks with text, and on no others."""
    request = chat(stream=True, logprobs=True)
    generation = Generation(choices=(SCORED,), usage=PARIS.usage)
    stream = encoded(*tell(generation), request=request)
    chunks = [json.loads(payload) for payload in payloads(stream)[:-1]]
    assert ["logprobs" in chunk["choices"][0] for chunk in chunks] == [False, True, True, False]
    assert list(chunks[1]["choices"][0]) == ["index", "delta", "finish_reason", "logprobs"]
    assert heard(stream).choices[0].logprobs == SHOWN_ENTRIES


def test_the_end():
    """E-120: the end mark is the last thing."""
    assert encoded(Ended()) == b"data: [DONE]\n\n"


def test_silent_events():
    """Pauses and cuts have no sign of their own."""
    assert encoded(Pause(1.0), Cut()) == b""


def test_raw():
    """Raw bytes reach the body as they are."""
    assert encoded(Raw(b": hm\n\xff")) == b": hm\n\xff"


@pytest.mark.parametrize(
    ("error", "document"),
    [
        (
            UpstreamFailed("upstream failed"),
            '{"error":{"message":"upstream failed","type":"server_error","param":null,"code":502}}',
        ),
        (
            UpstreamTimeout("too late"),
            '{"error":{"message":"too late","type":"timeout_error","param":null,"code":504}}',
        ),
    ],
)
def test_failure(error: UpstreamFailed | UpstreamTimeout, document: str):
    """E-125, E-195: a failure is one error event in the envelope of refusals."""
    assert encoded(Failure(error)).decode() == f"data: {document}\n\n"


def test_a_refusal_says_whom_it_blames():
    """E-191: message, type, param and code, in this order; the code is the status."""
    with pytest.raises(InvalidRequest) as caught:
        chat(max_tokens=0)
    assert Chat().error(caught.value, V1, "").decode() == (
        '{"error":{"message":"max_tokens must be at least 1, got 0","type":"invalid_request_error",'
        '"param":"max_tokens","code":400}}'
    )
