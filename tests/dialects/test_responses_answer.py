"""What a response looks like, whole and as a stream of events (E-183 to E-190)."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from openai.types.responses import ResponseError, ResponseStreamEvent
from pydantic import TypeAdapter

from engy_mock.dialects.chat_stream import MAX_REMEMBERED
from engy_mock.dialects.fold import tell
from engy_mock.dialects.responses import Responses
from engy_mock.dialects.surfaces import V5
from engy_mock.vocabulary.errors import (
    ApiError,
    InsufficientBalance,
    InvalidKey,
    InvalidRequest,
    ModelNotFound,
    NoWorker,
    RateLimited,
    TooLarge,
    UpstreamFailed,
    UpstreamTimeout,
)
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
from tests.dialects.heard_responses import KINDS, heard, response, server_events
from tests.dialects.made import REQUEST_ID, body, envelope, generations, responding, token

PARIS = Generation(
    choices=(
        Choice(
            reasoning=("The", " user", " as", "ks", "."),
            text=("The", " capital", " of", " France", " is", " Paris", "."),
        ),
    ),
    usage=Usage(prompt_tokens=200, completion_tokens=19, cached_tokens=128, reasoning_tokens=11),
)
CALL = ToolCall("get_weather", '{"city":"Paris"}', call_id="call_0123456789abcdef01234567")
BARE_CALL = ToolCall("now", call_id="call_1123456789abcdef01234567")
KEYS = [
    "id", "object", "created_at", "completed_at", "status", "background", "error", "incomplete_details",
    "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "output",
    "parallel_tool_calls", "previous_response_id", "presence_penalty", "frequency_penalty",
    "prompt_cache_key", "reasoning", "safety_identifier", "service_tier", "store", "temperature", "text",
    "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "usage", "user",
]  # fmt: skip
RECEIPT = {"request_id": REQUEST_ID, "charged_micro": 43}
STREAMED = responding(stream=True)


def whole(*, request: GenerationRequest | None = None, **fields: Any) -> dict[str, Any]:
    """A whole answer with this choice, once the client's own type has taken it."""
    return response(body(Responses(), request or responding(), Choice(**fields)))


def encoded(*events: Event, request: GenerationRequest = STREAMED, proof: Any = None) -> bytes:
    """The bytes of these events."""
    encoder = Responses().encoder(envelope(request, PARIS, proof=proof))
    return b"".join(encoder.encode(event) for event in events)


def types(stream: bytes) -> list[str]:
    """The types of the events without their common beginning."""
    return [event["type"].removeprefix("response.") for event in server_events(stream)]


def test_the_least_answer():
    """E-183: every field of the published object, in its order; null where there is nothing to say."""
    data = Responses().body(PARIS, envelope(responding(), PARIS))
    document = response(data)
    assert list(document) == [*KEYS, "x_engy"]
    reasoning, message = document.pop("output")
    usage = document.pop("usage")
    assert document == {
        "id": "resp_3f2a9c41d8e04b7a9c1e5d20",
        "object": "response",
        "created_at": 1792281600,
        "completed_at": 1792281600,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "model": "glm-5.2",
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 0.95,
        "truncation": "disabled",
        "user": None,
        "x_engy": RECEIPT,
    }
    assert json.dumps(usage, separators=(",", ":")) == (
        '{"input_tokens":200,"input_tokens_details":{"cached_tokens":128,"cache_write_tokens":0},'
        '"output_tokens":19,"output_tokens_details":{"reasoning_tokens":11},"total_tokens":219}'
    ), "E-184"
    assert json.dumps(reasoning, separators=(",", ":")) == (
        f'{{"id":"{reasoning["id"]}","type":"reasoning","summary":[],'
        '"content":[{"type":"reasoning_text","text":"The user asks."}],"status":"completed"}'
    ), "E-185"
    assert json.dumps(message, separators=(",", ":")) == (
        f'{{"id":"{message["id"]}","type":"message","role":"assistant","status":"completed",'
        '"content":[{"type":"output_text","text":"The capital of France is Paris.",'
        '"annotations":[],"logprobs":[]}]}'
    ), "E-185"
    assert b": " not in data.replace(b"France is", b""), "E-10"


FORMAT = {"type": "json_schema", "name": "n", "description": "d", "schema": {"type": "object"}, "strict": True}
BARE_FORMAT = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
SHELL = {"type": "function", "name": "shell", "description": "d", "parameters": {"type": "object"}}

REPEATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("model as sent", {"model": "engy/glm-5.2"}, {}),
    ("instructions", {"instructions": "Be kind."}, {}),
    ("limit", {"max_output_tokens": 99_999_999, "max_tool_calls": 3}, {}),
    ("E-182 metadata", {"metadata": {"topic": "x"}}, {}),
    ("no metadata", {"metadata": None}, {"metadata": {}}),
    ("not parallel", {"parallel_tool_calls": False}, {}),
    ("whose", {"prompt_cache_key": "k", "safety_identifier": "s", "user": "u"}, {}),
    ("sampling", {"temperature": 0, "top_p": 0.5, "presence_penalty": -1, "frequency_penalty": 2}, {}),
    ("reasoning", {"reasoning": {"effort": "low", "summary": "auto"}}, {}),
    (
        "effort alone",
        {"reasoning": {"effort": "xhigh", "enabled": True}},
        {"reasoning": {"effort": "xhigh", "summary": None}},
    ),
    ("E-9", {"reasoning_effort": "high"}, {"reasoning": {"effort": "high", "summary": None}}),
    ("E-182 store", {"store": True, "background": False}, {"store": False}),
    ("E-182 tier", {"service_tier": "flex", "truncation": "auto"}, {"service_tier": "default"}),
    ("E-182 truncation", {"truncation": "auto"}, {"truncation": "disabled"}),
    ("text", {"text": {"format": FORMAT, "verbosity": "low"}}, {}),
    ("verbosity", {"text": {"verbosity": "low"}}, {"text": {"format": {"type": "text"}, "verbosity": "low"}}),
    ("top", {"top_logprobs": 5}, {}),
    ("required", {"tools": [{**SHELL, "strict": False}], "tool_choice": "required"}, {}),
    (
        "named",
        {"tools": [{**SHELL, "strict": True}], "tool_choice": {"type": "function", "name": "shell"}},
        {},
    ),
    (
        "E-182a tools of other types are left out",
        {"tools": [{"type": "web_search"}, SHELL, {"type": "custom", "name": "x"}]},
        {"tools": [{**SHELL, "strict": None}]},
    ),
    (
        "formats with every field of a published one",
        {"text": {"format": BARE_FORMAT}},
        {"text": {"format": {**BARE_FORMAT, "description": None, "strict": False}, "verbosity": "medium"}},
    ),
    (
        "tools with every field of a published one",
        {"tools": [{"name": "now", "type": "function"}]},
        {"tools": [{**SHELL, "name": "now", "description": None, "parameters": None, "strict": None}]},
    ),
]


@pytest.mark.parametrize(("fields", "shown"), [row[1:] for row in REPEATED], ids=[row[0] for row in REPEATED])
def test_what_is_repeated(fields: dict[str, Any], shown: dict[str, Any]):
    """E-182, E-183: the request comes back as sent, but for what this service does not do."""
    document = whole(request=responding(**fields))
    expected = shown or {name: value for name, value in fields.items() if name in KEYS}
    assert {name: document[name] for name in expected} == expected
    assert list(document) == [*KEYS, "x_engy"]


def test_numbers_in_force():
    """E-50, E-183: where nothing was asked for, the numbers are those of the model."""
    around = replace(envelope(responding(), PARIS), temperature=0.5, top_p=0.25)
    document = response(Responses().body(PARIS, around))
    assert (document["temperature"], document["top_p"]) == (0.5, 0.25)
    around = replace(around, request=responding(temperature=0, top_p=1))
    document = response(Responses().body(PARIS, around))
    assert (document["temperature"], document["top_p"]) == (0.0, 1.0)


def test_ids():
    """E-114: each item has an id of its own, which follows from the request's, streamed or not."""
    fields: dict[str, Any] = {"reasoning": ("r",), "text": ("t",), "tool_calls": (CALL, BARE_CALL)}
    ids = [item["id"] for item in whole(**fields)["output"]]
    assert [name[: name.index("_") + 1] for name in ids] == ["rs_", "msg_", "fc_", "fc_"]
    assert len({name[-24:] for name in ids}) == 4
    assert {len(name.partition("_")[2]) for name in ids} == {24}
    generation = Generation(choices=(Choice(**fields),), usage=PARIS.usage)
    assert [item["id"] for item in heard(encoded(*tell(generation)))["output"]] == ids


def shown(output: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    """Type, status and what is said of each item."""
    return [
        (
            item["type"],
            item["status"],
            item["arguments"] if "arguments" in item else item["content"][0]["text"],
        )
        for item in output
    ]


DONE, CUT = "completed", "incomplete"
OUTPUTS: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({"text": ("Hi", "!")}, [("message", DONE, "Hi!")]),
    ({}, [("message", DONE, "")]),
    ({"text": ("",)}, [("message", DONE, "")]),
    ({"reasoning": ("r",)}, [("reasoning", DONE, "r"), ("message", DONE, "")]),
    ({"reasoning": (), "text": ("a",)}, [("reasoning", DONE, ""), ("message", DONE, "a")]),
    ({"tool_calls": (CALL,)}, [("function_call", DONE, CALL.arguments)]),
    (
        {"reasoning": ("r",), "tool_calls": (CALL, BARE_CALL)},
        [("reasoning", DONE, "r"), ("function_call", DONE, CALL.arguments), ("function_call", DONE, "{}")],
    ),
    (
        {"reasoning": ("r",), "text": ("a",), "tool_calls": (BARE_CALL,)},
        [("reasoning", DONE, "r"), ("message", DONE, "a"), ("function_call", DONE, "{}")],
    ),
    ({"finish_reason": "length"}, [("message", CUT, "")]),
    ({"text": ("a",), "finish_reason": "length"}, [("message", CUT, "a")]),
    ({"reasoning": ("r", "s"), "finish_reason": "length"}, [("reasoning", CUT, "rs")]),
    (
        {"reasoning": ("r",), "text": ("a",), "finish_reason": "length"},
        [("reasoning", DONE, "r"), ("message", CUT, "a")],
    ),
    (
        {
            "text": ("a",),
            "tool_calls": (BARE_CALL, CALL.changed(arguments='{"ci')),
            "finish_reason": "length",
        },
        [("message", DONE, "a"), ("function_call", DONE, "{}"), ("function_call", CUT, '{"ci')],
    ),
    ({"text": ("a",), "finish_reason": "content_filter"}, [("message", CUT, "a")]),
]


@pytest.mark.parametrize(("fields", "output"), OUTPUTS)
def test_output(fields: dict[str, Any], output: list[tuple[str, str, str]]):
    """E-185, E-186: reasoning, text, calls; what was cut is the last item, and it alone is incomplete."""
    document = whole(**fields)
    assert shown(document["output"]) == output
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = reasons.get(fields.get("finish_reason", "stop"))
    assert document["status"] == ("completed" if reason is None else "incomplete")
    assert document["incomplete_details"] == (None if reason is None else {"reason": reason})
    assert document["completed_at"] == (1792281600 if reason is None else None)
    assert document["error"] is None
    generation = Generation(choices=(Choice(**fields),), usage=Usage(prompt_tokens=5, completion_tokens=3))
    assert heard(encoded(*tell(generation))) == document


def test_function_calls():
    """E-185: a call has an id of its own, and the one that ties it to its result."""
    (item,) = whole(tool_calls=(CALL,), finish_reason="tool_calls")["output"]
    assert list(item) == ["id", "type", "call_id", "name", "arguments", "status"]
    assert (item["call_id"], item["name"]) == (CALL.id, "get_weather")


SMILE = TokenLogprob(id=1, token="bytes:\\xf0\\x9f", raw=b"\xf0\x9f", logprob=-1.5, top=((" a", b" a", -0.25),))
SCORED = Choice(text=("Hi", "\U0001f600"), logprobs=((token("Hi", -0.125),), (SMILE, token("!"))))
ENTRIES = [
    {"token": "Hi", "bytes": [72, 105], "logprob": -0.125, "top_logprobs": []},
    {
        "token": "bytes:\\xf0\\x9f",
        "bytes": [240, 159],
        "logprob": -1.5,
        "top_logprobs": [{"token": " a", "bytes": [32, 97], "logprob": -0.25}],
    },
    {"token": "!", "bytes": [33], "logprob": -0.5, "top_logprobs": []},
]


def test_log_probabilities():
    """E-185, E-189: one entry per text token, in whole answers and on each event with text."""
    request = responding(top_logprobs=1, stream=True)
    (part,) = response(body(Responses(), request, SCORED))["output"][0]["content"]
    assert part["logprobs"] == ENTRIES
    assert list(part["logprobs"][0]) == ["token", "bytes", "logprob", "top_logprobs"]
    generation = Generation(choices=(SCORED,), usage=PARIS.usage)
    stream = encoded(*tell(generation), request=request)
    found = {
        name: [event["logprobs"] for event in server_events(stream) if event["type"].endswith(name)]
        for name in ("output_text.delta", "output_text.done")
    }
    assert found == {"output_text.delta": [ENTRIES[:1], ENTRIES[1:]], "output_text.done": [ENTRIES]}
    assert heard(stream)["output"][0]["content"] == [part]


def test_log_probabilities_not_asked_for():
    """E-189: without the wish the lists are empty, even if the values are known."""
    assert response(body(Responses(), responding(), SCORED))["output"][0]["content"][0]["logprobs"] == []
    generation = Generation(choices=(SCORED,), usage=PARIS.usage)
    assert heard(encoded(*tell(generation)))["output"][0]["content"][0]["logprobs"] == []


def test_a_proof():
    """E-146: a proof follows the receipt, at the top of the final response."""
    proof = {"scheme": "toploc"}
    document = response(body(Responses(), responding(), Choice(), proof=proof))
    assert list(document)[-2:] == ["x_engy", "proof"]
    streamed = heard(encoded(*tell(PARIS), proof=proof))
    assert (streamed["x_engy"], streamed["proof"]) == (RECEIPT, proof)


def test_the_order_of_a_stream():
    """E-187, E-188: the lifecycle of each item, one after the other, between the states of the response."""
    choice = Choice(reasoning=("r", "s"), text=("a",), tool_calls=(CALL, BARE_CALL), finish_reason="tool_calls")
    call = [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    stream = encoded(*tell(Generation(choices=(choice,), usage=PARIS.usage)))
    assert types(stream) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        *call,
        *call,
        "completed",
    ]
    assert b"[DONE]" not in stream


def test_the_events_byte_for_byte():
    """E-187 to E-189: name, type, number, then the fields in this order."""
    choice = Choice(reasoning=("r",), text=("a",), tool_calls=(CALL,))
    stream = encoded(*tell(Generation(choices=(choice,), usage=PARIS.usage))).decode()
    ids = [item["id"] for item in heard(stream.encode())["output"]]
    first, second, third = [f'"item_id":"{name}","output_index":{place}' for place, name in enumerate(ids)]
    texted = '{"type":"output_text","text":"a","annotations":[],"logprobs":[]}'
    called = f'"type":"function_call","call_id":"{CALL.id}","name":"get_weather"'
    said = '"{\\"city\\":\\"Paris\\"}"'
    expected = [
        (
            "output_item.added",
            f'"output_index":0,"item":{{"id":"{ids[0]}","type":"reasoning","summary":[],"content":[],'
            '"status":"in_progress"}',
        ),
        ("content_part.added", f'{first},"content_index":0,"part":{{"type":"reasoning_text","text":""}}'),
        ("reasoning_text.delta", f'{first},"content_index":0,"delta":"r"'),
        ("reasoning_text.done", f'{first},"content_index":0,"text":"r"'),
        ("content_part.done", f'{first},"content_index":0,"part":{{"type":"reasoning_text","text":"r"}}'),
        (
            "output_item.done",
            f'"output_index":0,"item":{{"id":"{ids[0]}","type":"reasoning","summary":[],'
            '"content":[{"type":"reasoning_text","text":"r"}],"status":"completed"}',
        ),
        (
            "output_item.added",
            f'"output_index":1,"item":{{"id":"{ids[1]}","type":"message","role":"assistant",'
            '"status":"in_progress","content":[]}',
        ),
        (
            "content_part.added",
            f'{second},"content_index":0,"part":{texted.replace(chr(34) + "a" + chr(34), chr(34) * 2)}',
        ),
        ("output_text.delta", f'{second},"content_index":0,"delta":"a","logprobs":[]'),
        ("output_text.done", f'{second},"content_index":0,"text":"a","logprobs":[]'),
        ("content_part.done", f'{second},"content_index":0,"part":{texted}'),
        (
            "output_item.done",
            f'"output_index":1,"item":{{"id":"{ids[1]}","type":"message","role":"assistant",'
            f'"status":"completed","content":[{texted}]}}',
        ),
        (
            "output_item.added",
            f'"output_index":2,"item":{{"id":"{ids[2]}",{called},"arguments":"","status":"in_progress"}}',
        ),
        ("function_call_arguments.delta", f'{third},"delta":{said}'),
        ("function_call_arguments.done", f'{third},"name":"get_weather","arguments":{said}'),
        (
            "output_item.done",
            f'"output_index":2,"item":{{"id":"{ids[2]}",{called},"arguments":{said},"status":"completed"}}',
        ),
    ]
    events = [
        f'event: response.{name}\ndata: {{"type":"response.{name}","sequence_number":{number},{fields}}}'
        for number, (name, fields) in enumerate(expected, 2)
    ]
    created, in_progress, *inner, completed, rest = stream.split("\n\n")
    assert inner == events
    assert rest == ""
    begins = 'event: response.{0}\ndata: {{"type":"response.{0}","sequence_number":{1},"response":{{"id":'
    assert created.startswith(begins.format("created", 0))
    assert in_progress.startswith(begins.format("in_progress", 1))
    assert completed.startswith(begins.format("completed", len(events) + 2))


def test_the_first_and_the_last_response():
    """E-189: nothing is counted or charged before the end, and the counts are the ones reported."""
    counts = Usage(prompt_tokens=1, completion_tokens=2)
    stream = encoded(Started(), TextDelta("a"), Finished(), UsageReported(counts), Ended())
    created, *_, last = [event for event in server_events(stream) if "response" in event]
    assert list(created["response"]) == KEYS
    assert list(last["response"]) == [*KEYS, "x_engy"]
    assert (created["response"]["status"], created["response"]["completed_at"]) == ("in_progress", None)
    assert last["response"]["usage"]["total_tokens"] == 3
    assert last["response"]["x_engy"] == RECEIPT


@pytest.mark.parametrize(
    "piece", ["", " Paris", '"\\\n\u2028\x7f\x01ß\U0001f600', "x" * (MAX_REMEMBERED + 1), "%d"]
)
@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta])
def test_any_piece(kind: type[TextDelta | ReasoningDelta], piece: str):
    """A piece arrives as it is, whatever is in it."""
    stream = encoded(Started(), kind(piece), kind("%b"), Finished(), Ended())
    assert heard(stream)["output"][0]["content"][0]["text"] == f"{piece}%b"


@pytest.mark.parametrize(
    "request_",
    [STREAMED, responding(stream=True, top_logprobs=3), responding(include=["message.output_text.logprobs"])],
    ids=["plain", "scored", "included"],
)
@settings(max_examples=40)
@given(generation=generations(most=1))
def test_a_stream_folds_to_the_whole_answer(request_: GenerationRequest, generation: Generation):
    """R-9, R-10: what is put together from the events is the whole answer, to the last field."""
    answer = Responses().body(generation, envelope(request_, generation))
    encoder = Responses().encoder(envelope(request_, generation))
    stream = b"".join(encoder.encode(event) for event in tell(generation))
    assert heard(stream) == json.loads(answer)
    assert json.dumps(heard(stream)) == json.dumps(response(answer)), "the order of the fields is the same"


def test_the_union_of_events():
    """R-9: the client's union of all events, in strict mode, takes each event for what its type says."""
    union: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    choice = Choice(reasoning=("r",), text=("a",), tool_calls=(CALL,), finish_reason="length")
    stream = encoded(*tell(Generation(choices=(choice,), usage=PARIS.usage)))
    failed = encoded(Started(), TextDelta("a"), Failure(UpstreamFailed("no")))
    for event in server_events(stream) + server_events(failed):
        taken = union.validate_json(json.dumps(event), strict=True)
        assert type(taken) is KINDS[event["type"]]


FAILURES: list[tuple[ApiError, str]] = [
    (UpstreamFailed("upstream failed"), "server_error"),
    (UpstreamTimeout("too late"), "server_error"),
    (NoWorker("nobody"), "server_error"),
    (RateLimited("slowly"), "rate_limit_exceeded"),
    (InsufficientBalance("too poor"), "rate_limit_exceeded"),
    (InvalidRequest("too long"), "invalid_prompt"),
    (TooLarge("too large"), "invalid_prompt"),
    (InvalidKey("invalid api key"), "invalid_prompt"),
    (ModelNotFound("gone"), "invalid_prompt"),
]


@pytest.mark.parametrize(("error", "code"), FAILURES, ids=[type(row[0]).__name__ for row in FAILURES])
def test_failure(error: ApiError, code: str):
    """E-186, E-190: the last event says what failed, in a published code, and nothing is charged."""
    stream = encoded(Started(), ReasoningDelta("r"), TextDelta("a"), TextDelta("b"), Failure(error))
    document = heard(stream)
    assert types(stream)[-2:] == ["output_text.delta", "failed"]
    assert (document["status"], document["error"]) == ("failed", {"code": code, "message": error.message})
    assert code in get_args(ResponseError.model_fields["code"].annotation)
    assert shown(document["output"]) == [("reasoning", DONE, "r"), ("message", CUT, "ab")]
    assert (document["usage"], document["completed_at"]) == (None, None)
    assert list(document) == KEYS


def test_failure_with_a_code_of_its_own():
    """E-195: a code that the error brings along is told as it is."""
    error = InvalidRequest("too long", code="context_length_exceeded")
    (*_, data) = encoded(Started(), Failure(error)).decode().strip().split("data: ")
    assert json.loads(data)["response"]["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize(
    ("events", "output"),
    [
        ([], []),
        ([Started()], []),
        ([Started(), ReasoningDelta("r")], [("reasoning", CUT, "r")]),
        ([Started(), ToolCallDelta(CALL)], [("function_call", CUT, CALL.arguments)]),
        ([Started(), TextDelta("a"), Finished()], [("message", DONE, "a")]),
    ],
)
def test_failure_at_any_place(events: list[Event], output: list[tuple[str, str, str]]):
    """R-10: wherever it fails, the stream begins as it should, and its last event is the end."""
    assert shown(heard(encoded(*events, Failure(UpstreamFailed("no"))))["output"]) == output


def test_pieces_in_any_order():
    """Whatever order a script tells things in, one item ends before the next begins."""
    a, r, b, c = TextDelta("a"), ReasoningDelta("r"), TextDelta("b"), TextDelta("c")
    document = heard(encoded(a, r, b, ToolCallDelta(CALL), c, Finished(), Ended()))
    assert [item["type"] for item in document["output"]] == [
        "message",
        "reasoning",
        "message",
        "function_call",
        "message",
    ]


def test_an_end_without_a_finish():
    """A script that leaves out why an answer ended leaves it complete."""
    document = heard(encoded(Started(), TextDelta("a"), Ended()))
    assert (document["status"], document["usage"]) == ("completed", None)


def test_silent_events():
    """Pauses, cuts and counts have no sign of their own."""
    assert encoded(Pause(1.0), Cut(), UsageReported(PARIS.usage)) == b""


def test_raw():
    """Raw bytes reach the body as they are, and have no number."""
    assert encoded(Raw(b": hm\n\xff")) == b": hm\n\xff"


def test_the_other_surface():
    """S-69 to S-71: `/v5` has the same events as `data:` lines only, without a receipt."""
    dialect = Responses(takes_previous=True, names_events=False)
    fields = {"model": "openai/gpt-4o", "input": "Hi", "previous_response_id": "resp_1", "stream": True}
    request = dialect.parse(fields, V5)
    around = replace(envelope(request, PARIS), surface=V5)
    encoder = dialect.encoder(around)
    stream = b"".join(encoder.encode(event) for event in tell(PARIS))
    assert b"event: " not in stream
    document = heard(stream, is_named=False)
    assert document == response(dialect.body(PARIS, around))
    assert list(document) == KEYS
    assert document["previous_response_id"] == "resp_1"
