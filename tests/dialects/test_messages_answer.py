"""What a message looks like, whole and as a stream of events (E-170 to E-178)."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message
from hypothesis import given

from engy_mock.dialects.chat_stream import MAX_REMEMBERED
from engy_mock.dialects.fold import tell
from engy_mock.dialects.messages import Messages
from engy_mock.vocabulary.errors import ApiError, RateLimited, UpstreamFailed, UpstreamTimeout
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
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.signature import signature
from tests.dialects.heard_messages import heard, server_events
from tests.dialects.made import body, choices, envelope, messages
from tests.dialects.sdk import checked

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
THOUGHT = "The user asks for the capital of France."
CALL = ToolCall("get_weather", '{"city":"Paris"}', call_id="call_0123456789abcdef01234567")
SHOWN_CALL = {
    "type": "tool_use",
    "id": "toolu_0123456789abcdef01234567",
    "name": "get_weather",
    "input": {"city": "Paris"},
}
NOTHING = Usage(prompt_tokens=5, completion_tokens=3)


def message_of(**fields: Any) -> dict[str, Any]:
    """A whole answer, once the client's own type has taken it."""
    return checked(body(Messages(), messages(), Choice(**fields)), Message)


def encoded(*events: Event, proof: Any = None) -> bytes:
    """The bytes of these events."""
    encoder = Messages().encoder(envelope(messages(stream=True), PARIS, proof=proof))
    return b"".join(encoder.encode(event) for event in events)


def shown(*events: Event) -> list[tuple[Any, ...]]:
    """The events of a stream, shortened: type, index, and the block or the delta."""
    short = []
    for event in server_events(encoded(*events)):
        rest = [event[key] for key in ("index", "content_block", "delta") if key in event]
        short.append((event["type"], *rest))
    return short


def test_the_example():
    """E-170, E-171: the documentation's first example in this format, byte for byte."""
    golden = (GOLDEN / "messages.json").read_text("utf-8").replace("@", signature(THOUGHT))
    data = Messages().body(PARIS, envelope(messages(), PARIS))
    assert data.decode() == json.dumps(json.loads(golden), separators=(",", ":"))
    assert checked(data, Message)["usage"] == {"input_tokens": 22, "output_tokens": 19}


def test_the_example_as_a_stream():
    """E-173 to E-176: the same answer as a stream, byte for byte."""
    golden = (GOLDEN / "messages-stream.txt").read_text("utf-8").replace("@", signature(THOUGHT))
    stream = encoded(*tell(PARIS))
    assert stream.decode() == golden
    assert heard(stream) == json.loads(Messages().body(PARIS, envelope(messages(), PARIS)))


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"text": ("Hi", "!")}, [{"type": "text", "text": "Hi!"}]),
        ({}, []),
        ({"text": ("", "")}, []),
        ({"tool_calls": (CALL,)}, [SHOWN_CALL]),
        (
            {"reasoning": ("Hm", "m"), "finish_reason": "length"},
            [{"type": "thinking", "thinking": "Hmm", "signature": signature("Hmm")}],
        ),
        (
            {"reasoning": (), "text": ("a",)},
            [
                {"type": "thinking", "thinking": "", "signature": signature("")},
                {"type": "text", "text": "a"},
            ],
        ),
        (
            {"reasoning": ("r",), "text": ("So",), "tool_calls": (CALL, ToolCall("now", call_id="call_9"))},
            [
                {"type": "thinking", "thinking": "r", "signature": signature("r")},
                {"type": "text", "text": "So"},
                SHOWN_CALL,
                {"type": "tool_use", "id": "toolu_9", "name": "now", "input": {}},
            ],
        ),
    ],
)
def test_the_content(fields: dict[str, Any], content: list[dict[str, Any]]):
    """E-171: reasoning, text, calls; what is not there has no block."""
    message = message_of(**fields)
    assert message["content"] == content
    assert list(message) == [
        "id",
        "type",
        "role",
        "model",
        "content",
        "stop_reason",
        "stop_sequence",
        "usage",
    ]
    assert [list(block) for block in message["content"]] == [list(block) for block in content]


@pytest.mark.parametrize("arguments", ["", "not JSON", '{"city":"Par', "[1]", "5", '"x"', "null"])
def test_arguments_that_are_no_object(arguments: str):
    """E-171, E-175: `input` is an object whatever the limit left; the stream shows the text as it is."""
    call = ToolCall("f", arguments, call_id="call_1")
    message = message_of(tool_calls=(call,), finish_reason="length")
    assert (message["content"][0]["input"], message["stop_reason"]) == ({}, "max_tokens")
    (_, (_, _, delta)) = shown(ToolCallDelta(call))
    assert delta == {"type": "input_json_delta", "partial_json": arguments or "{}"}


@pytest.mark.parametrize(
    ("id", "shown_id"),
    [("call_0f", "toolu_0f"), ("toolu_1", "toolu_1"), ("mine", "mine"), ("call_", "toolu_")],
)
def test_ids_of_calls(id: str, shown_id: str):
    """E-115: an id of chat has the same digits here; a test's own stays as it is."""
    message = message_of(tool_calls=(ToolCall("f", call_id=id),))
    assert message["content"][0]["id"] == shown_id


STOPS = [
    ({"finish_reason": "stop"}, "end_turn", None),
    ({"finish_reason": "stop", "stop_sequence": "END"}, "stop_sequence", "END"),
    ({"finish_reason": "length"}, "max_tokens", None),
    ({"finish_reason": "tool_calls", "tool_calls": (CALL,)}, "tool_use", None),
    ({"finish_reason": "function_call"}, "tool_use", None),
    ({"finish_reason": "content_filter"}, "refusal", None),
]


@pytest.mark.parametrize(("fields", "reason", "sequence"), STOPS, ids=[str(row[1]) for row in STOPS])
def test_why_it_stopped(fields: dict[str, Any], reason: str, sequence: str | None):
    """E-172: the reason in the words of this format, with the text that matched."""
    whole = message_of(**fields)
    assert (whole["stop_reason"], whole["stop_sequence"]) == (reason, sequence)
    generation = Generation(choices=(Choice(**fields),), usage=NOTHING)
    streamed = heard(encoded(*tell(generation)))
    assert (streamed["stop_reason"], streamed["stop_sequence"]) == (reason, sequence)


def test_signatures():
    """E-171, R-54: never empty, opaque, equal for equal words and no others."""
    assert signature("a") == signature("a") != signature("b")
    assert len(signature("")) > 100
    assert "Paris" not in signature("Paris" * 100)


def test_the_model_as_sent():
    """E-30: the answer repeats the model as it was sent."""
    assert json.loads(body(Messages(), messages(model="engy/glm-5.2"), Choice()))["model"] == "engy/glm-5.2"


def test_proof():
    """E-146: a proof is the last field of the whole answer, and stands on the event with the usage."""
    proof = {"scheme": "toploc"}
    whole = json.loads(body(Messages(), messages(), Choice(text=("a",)), proof=proof))
    assert list(whole)[-1] == "proof"
    generation = Generation(choices=(Choice(text=("a",)),), usage=NOTHING)
    stream = encoded(*tell(generation), proof=proof)
    assert heard(stream)["proof"] == whole["proof"] == proof


@pytest.mark.parametrize(("shows_cache_counts", "more"), [(False, {}), (True, {"cache_read_input_tokens": 128})])
def test_usage(shows_cache_counts: bool, more: dict[str, int]):
    """E-170, E-174, R-50: both numbers in all places; those of the cache only by the setting."""
    usage = Usage(prompt_tokens=200, completion_tokens=10, cached_tokens=128)
    generation = Generation(choices=(Choice(text=("a",)),), usage=usage)
    around = replace(envelope(messages(), generation), shows_cache_counts=shows_cache_counts)
    whole = checked(Messages().body(generation, around), Message)
    encoder = Messages().encoder(around)
    events = server_events(b"".join(encoder.encode(event) for event in tell(generation)))
    assert events[0]["message"]["usage"] == {"input_tokens": 200, "output_tokens": 0, **more}
    assert events[-2]["usage"] == whole["usage"] == {"input_tokens": 200, "output_tokens": 10, **more}


@given(choices())
def test_a_folded_stream_is_the_whole_answer(choice: Choice):
    """E-173 to E-175: whatever is said, a client hears the same in the events as in the whole message."""
    generation = Generation(choices=(choice,), usage=Usage(prompt_tokens=22, completion_tokens=19))
    whole = checked(Messages().body(generation, envelope(messages(), generation)), Message)
    assert heard(encoded(*tell(generation))) == whole


def test_start():
    """E-174, R-50, R-56: the skeleton with both numbers, then one ping."""
    assert encoded(Started()).decode() == (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_3f2a9c41d8e04b7a9c1e5d20",'
        '"type":"message","role":"assistant","model":"glm-5.2","content":[],"stop_reason":null,'
        '"stop_sequence":null,"usage":{"input_tokens":22,"output_tokens":0}}}\n\n'
        'event: ping\ndata: {"type":"ping"}\n\n'
    )


def test_blocks_one_after_the_other():
    """E-175, R-52: a block ends when another kind of thing begins; indexes count from 0."""
    assert shown(
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextDelta("c"),
        TextDelta("d"),
        ToolCallDelta(CALL, 0),
        ToolCallDelta(CALL, 1),
        TextDelta("e"),
        Finished("tool_calls"),
    ) == [
        ("content_block_start", 0, {"type": "thinking", "thinking": "", "signature": ""}),
        ("content_block_delta", 0, {"type": "thinking_delta", "thinking": "a"}),
        ("content_block_delta", 0, {"type": "thinking_delta", "thinking": "b"}),
        ("content_block_delta", 0, {"type": "signature_delta", "signature": signature("ab")}),
        ("content_block_stop", 0),
        ("content_block_start", 1, {"type": "text", "text": ""}),
        ("content_block_delta", 1, {"type": "text_delta", "text": "c"}),
        ("content_block_delta", 1, {"type": "text_delta", "text": "d"}),
        ("content_block_stop", 1),
        ("content_block_start", 2, {**SHOWN_CALL, "input": {}}),
        ("content_block_delta", 2, {"type": "input_json_delta", "partial_json": '{"city":"Paris"}'}),
        ("content_block_stop", 2),
        ("content_block_start", 3, {**SHOWN_CALL, "input": {}}),
        ("content_block_delta", 3, {"type": "input_json_delta", "partial_json": '{"city":"Paris"}'}),
        ("content_block_stop", 3),
        ("content_block_start", 4, {"type": "text", "text": ""}),
        ("content_block_delta", 4, {"type": "text_delta", "text": "e"}),
        ("content_block_stop", 4),
    ]


def test_reasoning_twice():
    """Each block of reasoning is signed for its own words."""
    stream = shown(ReasoningDelta("a"), TextDelta("b"), ReasoningDelta("c"), Finished())
    deltas = [event[2] for event in stream if event[0] == "content_block_delta"]
    seals = [delta["signature"] for delta in deltas if delta["type"] == "signature_delta"]
    assert seals == [signature("a"), signature("c")]


@pytest.mark.parametrize(
    "piece",
    [" Paris", '"\\\n\u2028\x7f\x01ß\U0001f600', "x" * (MAX_REMEMBERED + 1)],
    ids=["short", "odd", "long"],
)
def test_pieces(piece: str):
    """E-175: a piece of text or reasoning is one delta, byte for byte."""
    written = json.dumps(piece, ensure_ascii=False)
    for event, kind, key in (
        (TextDelta(piece), "text", "text"),
        (ReasoningDelta(piece), "thinking", "thinking"),
    ):
        *_, last = encoded(type(event)("a"), event).decode().removesuffix("\n\n").split("\n\n")
        assert last == (
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
            f'"delta":{{"type":"{kind}_delta","{key}":{written}}}}}'
        )


def test_the_end():
    """E-173, E-174: why it ended and what it came to, then the end; there is no other end mark."""
    usage = Usage(prompt_tokens=22, completion_tokens=19, cached_tokens=3)
    assert encoded(Finished("length"), UsageReported(usage), Ended()).decode() == (
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"max_tokens",'
        '"stop_sequence":null},"usage":{"input_tokens":22,"output_tokens":19}}\n\n'
        'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    )


def test_an_end_without_a_reason():
    """What a fault took away is null, and the open block ends all the same."""
    stream = shown(TextDelta("a"), UsageReported(NOTHING))
    assert stream[-2:] == [
        ("content_block_stop", 0),
        ("message_delta", {"stop_reason": None, "stop_sequence": None}),
    ]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UpstreamFailed("m"), "api_error"),
        (UpstreamTimeout("m"), "timeout_error"),
        (RateLimited("m"), "rate_limit_error"),
    ],
)
@pytest.mark.parametrize("before", [(), (Started(), TextDelta("a"))], ids=["first", "later"])
def test_failure(error: ApiError, kind: str, before: tuple[Event, ...]):
    """E-178, E-195, R-3: an error event in the envelope of refusals; nothing is closed before it."""
    stream = encoded(*before, Failure(error))
    end = f'event: error\ndata: {{"type":"error","error":{{"type":"{kind}","message":"m"}}}}\n\n'
    assert stream.decode() == encoded(*before).decode() + end


def test_silent_events():
    """Pauses, cuts and an empty beginning of the text have no sign."""
    assert encoded(Pause(1.0), Pause(math.inf), Cut(), TextDelta("")) == b""


def test_raw():
    """Raw bytes reach the body as they are."""
    assert encoded(Raw(b": hm\n\xff")) == b": hm\n\xff"
