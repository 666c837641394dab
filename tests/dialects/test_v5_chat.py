"""`POST /v5/chat/completions` and the list of models that it can be asked of."""

from typing import Any

import pytest
from hypothesis import given, settings

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fold import tell
from engy_mock.dialects.surfaces import V5
from engy_mock.gateway import Gateway
from engy_mock.model.vendors import VENDORS, vendor_card
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import UpstreamFailed
from engy_mock.vocabulary.events import Failure, Receipt
from engy_mock.vocabulary.generation import Generation
from tests.dialects.called import CHAT, CHAT_PATH, KEY, RECORDS_PATH, Answer, ask, wrong
from tests.dialects.made import REQUEST_ID, generations
from tests.dialects.sdk import heard

MODELS_PATH = "/v5/chat/completions/models"
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


def chat(gateway: Gateway, **fields: Any) -> Answer:
    """The answer to a chat request with these fields."""
    body = {**CHAT, **fields}
    return ask(gateway, CHAT_PATH, {name: value for name, value in body.items() if value is not ...})


def contents(gateway: Gateway, **fields: Any) -> list[str]:
    return [choice["message"]["content"] for choice in chat(gateway, **fields).json()["choices"]]


GOOD: list[tuple[str, Any]] = [
    ("max_tokens", 1),
    ("max_completion_tokens", 1),
    ("temperature", 0),
    ("temperature", 2),
    ("top_p", 0),
    ("top_p", 1),
    ("top_k", 5),
    ("frequency_penalty", -2),
    ("presence_penalty", 2),
    ("n", 128),
    ("seed", 1),
    ("stop", ["a", "b", "c", "d"]),
    ("stream", False),
    ("stream_options", {"include_usage": True}),
    ("logprobs", True),
    ("top_logprobs", 20),
    ("logit_bias", {"5": -100}),
    ("tools", [WEATHER] * 128),
    ("tool_choice", "auto"),
    ("parallel_tool_calls", False),
    ("functions", [{"name": "f", "parameters": {}}]),
    ("function_call", "auto"),
    ("function_call", {"name": "f"}),
    ("response_format", {"type": "text"}),
    ("reasoning_effort", "low"),
    ("reasoning_effort", "high"),
    ("modalities", ["text"]),
    ("prediction", {"type": "content", "content": "x"}),
    ("audio", {"voice": "alloy", "format": "wav"}),
    ("store", True),
    ("metadata", {"a": "b"}),
    ("user", "u-1"),
    ("user", 5),
    ("anything", [{}]),
]


@pytest.mark.parametrize(("field", "value"), GOOD, ids=lambda value: str(value)[:30])
def test_accepted(gateway: Gateway, field: str, value: Any):
    """S-49, S-50: every documented field is taken at the ends of its range, and so is any unknown one."""
    assert chat(gateway, **{"max_tokens": 1, field: value}).status == 200


WRONG: list[tuple[str, Any, list[Any], str]] = [
    ("model", ..., ["model"], "missing"),
    ("messages", ..., ["messages"], "missing"),
    ("messages", "Hi", ["messages"], "list_type"),
    ("messages", [], ["messages"], "too_short"),
    ("messages", [{"role": "user"}], ["messages", 0, "content"], "missing"),
    ("messages", [{"role": "robot", "content": "x"}], ["messages", 0, "role"], "union_tag_invalid"),
    ("max_tokens", 0, ["max_tokens"], "greater_than_equal"),
    ("max_completion_tokens", "x", ["max_completion_tokens"], "int_type"),
    ("temperature", 2.5, ["temperature"], "less_than_equal"),
    ("top_p", -1, ["top_p"], "greater_than_equal"),
    ("top_k", 1.5, ["top_k"], "int_type"),
    ("frequency_penalty", 2.5, ["frequency_penalty"], "less_than_equal"),
    ("presence_penalty", -2.5, ["presence_penalty"], "greater_than_equal"),
    ("n", 0, ["n"], "greater_than_equal"),
    ("n", 129, ["n"], "less_than_equal"),
    ("seed", "x", ["seed"], "int_type"),
    ("stop", list("abcde"), ["stop"], "too_long"),
    ("stream", 1, ["stream"], "bool_type"),
    ("logprobs", 2, ["logprobs"], "bool_type"),
    ("top_logprobs", 21, ["top_logprobs"], "less_than_equal"),
    ("logit_bias", {"5": -101}, ["logit_bias", "5"], "greater_than_equal"),
    ("tools", [WEATHER] * 129, ["tools"], "too_long"),
    ("tools", [{"type": "browser"}], ["tools", 0, "type"], "literal_error"),
    ("tool_choice", "required", ["tool_choice"], "tools_missing"),
    ("functions", {}, ["functions"], "list_type"),
    ("function_call", 5, ["function_call"], "string_type"),
    ("response_format", {"type": "json_schema"}, ["response_format", "json_schema", "schema"], "missing"),
    ("reasoning_effort", "max", ["reasoning_effort"], "literal_error"),
    ("modalities", "text", ["modalities"], "list_type"),
    ("prediction", [], ["prediction"], "dict_type"),
    ("audio", "x", ["audio"], "dict_type"),
    ("store", "x", ["store"], "bool_type"),
    ("metadata", {"a": 1}, ["metadata", "a"], "string_type"),
]


@pytest.mark.parametrize(("field", "value", "place", "kind"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong(gateway: Gateway, field: str, value: Any, place: list[Any], kind: str):
    """S-50: out of range, of a wrong type or missing is 422, with the place of what is wrong."""
    assert (["body", *place], kind) in wrong(chat(gateway, **{field: value}))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "nonsense"},
            '#: type "nonsense" is none of null, boolean, integer, number, string, array, object',
        ),
        ({"properties": {"a": {"minimum": "x"}}}, '#/properties/a: minimum "x" is not a number'),
        ({"properties": ["a"]}, '#: properties ["a"] is not an object'),
        ({"required": "a"}, '#: required "a" is not a list'),
        ({"properties": {"a": 5}}, "#/properties/a: 5 is not a schema, an object or a boolean"),
        ({"$ref": "#/nope"}, '#: $ref "#/nope" leads nowhere in this schema'),
    ],
)
def test_a_schema_that_is_none(gateway: Gateway, schema: Any, message: str):
    """S-50, S-79: what cannot be read in a schema is a wrong value of the field that holds it."""
    formed = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    for fields, place, name in (
        (formed, ["response_format", "json_schema", "schema"], "response_format.json_schema.schema"),
        (
            {"tools": [tool], "tool_choice": "required"},
            ["tools", 0, "function", "parameters"],
            "tools[0].function.parameters",
        ),
    ):
        answer = chat(gateway, **fields)
        assert answer.status == 422
        found = {"loc": ["body", *place], "msg": f"{name}: {message}", "type": "schema"}
        assert answer.detail() == [found]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 10, "maximum": 1},
        {"enum": []},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
    ],
)
def test_a_schema_that_nothing_fits(gateway: Gateway, schema: Any):
    """S-79: it is a schema, and the request one that cannot be met."""
    formed = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    answer = chat(gateway, response_format=formed)
    assert answer.status == 400
    assert answer.detail().startswith("response_format.json_schema.schema: #")


def test_the_answer(gateway: Gateway):
    """S-51: the fields of a whole answer, and nothing beside them."""
    document = chat(gateway, max_tokens=3).json()
    assert document.pop("id").removeprefix("chatcmpl-").isalnum()
    (choice,) = document.pop("choices")
    assert document == {
        "object": "chat.completion",
        "created": 1792281600,
        "model": "openai/gpt-4o",
        "system_fingerprint": "fp_engy_mock",
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 3,
            "total_tokens": 13,
            "completion_tokens_details": {
                "accepted_prediction_tokens": 0,
                "audio_tokens": 0,
                "reasoning_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
        },
    }
    content = choice["message"]["content"]
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": content, "refusal": None},
        "finish_reason": "length",
        "logprobs": None,
    }


def test_logprobs(gateway: Gateway):
    """S-51: asked for, they are two lists, of the content and of a refusal that there is none of."""
    (choice,) = chat(gateway, logprobs=True, top_logprobs=2, max_tokens=4).json()["choices"]
    assert list(choice["logprobs"]) == ["content", "refusal"]
    assert choice["logprobs"]["refusal"] == []
    assert [len(entry["top_logprobs"]) for entry in choice["logprobs"]["content"]] == [2] * 4
    assert "".join(entry["token"] for entry in choice["logprobs"]["content"]) == choice["message"]["content"]


def test_a_tool_call(gateway: Gateway):
    """S-51: a call that is demanded is made; there is no text beside it."""
    (choice,) = chat(gateway, tools=[WEATHER], tool_choice="required").json()["choices"]
    message = choice["message"]
    assert choice["finish_reason"] == "tool_calls"
    assert list(message) == ["role", "content", "refusal", "tool_calls"]
    (call,) = message["tool_calls"]
    assert list(call) == ["id", "type", "function"]
    assert call["function"]["name"] == "get_weather"
    assert isinstance(json.read(call["function"]["arguments"])["city"], str)


@pytest.mark.parametrize("content", ["What is the capital of France?", "Tell me about rivers.", "Hi"])
def test_copies(gateway: Gateway, content: str):
    """S-52: `n` choices with the indexes 0 to n - 1, no two alike."""
    messages = [{"role": "user", "content": content}]
    document = chat(gateway, messages=messages, n=6).json()
    assert [choice["index"] for choice in document["choices"]] == [0, 1, 2, 3, 4, 5]
    texts = [choice["message"]["content"] for choice in document["choices"]]
    assert len(set(texts)) == 6
    assert texts[:2] == contents(gateway, messages=messages, n=2)


def test_the_later_limit_wins(gateway: Gateway):
    """S-49: `max_completion_tokens` counts, not `max_tokens`."""
    usage = chat(gateway, max_tokens=9, max_completion_tokens=2).json()["usage"]
    assert usage["completion_tokens"] == 2


def test_no_thinking(gateway: Gateway):
    """S-24: no model thinks, whatever effort is asked for: nothing is told or counted, and no turn is put in."""
    plain = chat(gateway).json()
    asked = chat(gateway, reasoning_effort="high", reasoning={"effort": "max"}).json()
    assert asked["choices"] == plain["choices"]
    assert asked["usage"] == plain["usage"]
    assert "reasoning_content" not in asked["choices"][0]["message"]


def test_a_stream(gateway: Gateway):
    """S-1, S-53: role, pieces, finish chunk with an empty delta, and no end mark."""
    answer = chat(gateway, stream=True, max_tokens=3)
    chunks = answer.chunks()
    assert b"[DONE]" not in answer.data
    assert b"x_engy" not in answer.data
    assert [list(chunk) for chunk in chunks] == [
        ["id", "object", "created", "model", "choices", "system_fingerprint"]
    ] * 5
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    found = [choice for chunk in chunks for choice in chunk["choices"]]
    assert {tuple(sorted(choice)) for choice in found} == {("delta", "finish_reason", "index", "logprobs")}
    assert found[0]["delta"] == {"role": "assistant", "content": ""}
    assert [list(choice["delta"]) for choice in found[1:]] == [["content"]] * 3 + [[]]
    assert [choice["finish_reason"] for choice in found] == [None] * 4 + ["length"]


def test_usage_in_a_stream(gateway: Gateway):
    """S-53: the usage chunk is there if and only if it is asked for."""
    whole = chat(gateway).json()
    *before, last = chat(gateway, stream=True, stream_options={"include_usage": True}).chunks()
    assert (last["choices"], last["usage"]) == ([], whole["usage"])
    assert not [chunk for chunk in (*before, *chat(gateway, stream=True).chunks()) if "usage" in chunk]


def test_a_tool_call_in_a_stream(gateway: Gateway):
    """S-53: a call is told whole, with its index."""
    chunks = chat(gateway, stream=True, tools=[WEATHER], tool_choice="required").chunks()
    ((call,),) = [
        c["choices"][0]["delta"]["tool_calls"] for c in chunks if "tool_calls" in c["choices"][0]["delta"]
    ]
    assert list(call) == ["index", "id", "type", "function"]


STREAMED: list[dict[str, Any]] = [
    {},
    {"n": 3, "max_tokens": 9},
    {"logprobs": True},
    {"top_logprobs": 3, "n": 2},
    {"tools": [WEATHER], "tool_choice": "required", "n": 2},
    {"response_format": {"type": "json_object"}},
]


@pytest.mark.parametrize("fields", STREAMED, ids=lambda fields: ",".join(fields))
def test_a_stream_says_what_the_whole_answer_says(gateway: Gateway, fields: dict[str, Any]):
    """S-53, E-13: put together, the chunks are the whole answer."""
    gateway.settings.prompt_cache = False
    whole = chat(gateway, **fields).json()
    told = heard(chat(gateway, **fields, stream=True, stream_options={"include_usage": True}).data)
    assert told.usage == whole["usage"]
    for choice in whole["choices"]:
        client = told.choices[choice["index"]]
        message = choice["message"]
        assert client.content == (message["content"] or "")
        assert client.finish_reason == choice["finish_reason"]
        assert client.logprobs == ((choice["logprobs"] or {}).get("content"))
        # The ids of calls belong to the request; the calls themselves are the same.
        functions = [call["function"] for call in message.get("tool_calls", [])]
        assert [call["function"] for call in client.tool_calls.values()] == functions


@settings(max_examples=60)
@given(generations())
def test_any_stream_folds(generation: Generation):
    """S-53: the chunks of any answer are its whole answer."""
    request = Chat().parse(
        {**CHAT, "logprobs": True, "stream": True, "stream_options": {"include_usage": True}}, V5
    )
    receipt = Receipt(request_id=REQUEST_ID, charged_micro=0)
    around = Envelope(request=request, surface=V5, receipt=receipt, created=1792281600, usage=generation.usage)
    whole = json.read(Chat().body(generation, around))
    encoder = Chat().encoder(around)
    client = heard(b"".join(encoder.encode(event) for event in tell(generation)))
    assert not client.is_done
    assert client.usage == whole["usage"]
    for choice in whole["choices"]:
        told = client.choices[choice["index"]]
        assert told.content == (choice["message"]["content"] or "")
        assert told.finish_reason == choice["finish_reason"]
        assert (told.logprobs or []) == choice["logprobs"]["content"]
    failure = encoder.encode(Failure(UpstreamFailed("upstream failed")))
    assert json.read(failure.removeprefix(b"data: "))["error"]["status_code"] == 502, "S-82"


def listed(gateway: Gateway, query: str = "") -> list[str]:
    """The callable ids of the models in the list, once its form is found right."""
    document = ask(gateway, MODELS_PATH, query=query).json()
    assert list(document) == ["object", "items"], "S-55: no paging keys"
    assert document["object"] == "list"
    for item in document["items"]:
        assert list(item) == ["model_name", "model_type", "model_vendor", "model_availability"]
        assert item["model_type"] == "chat_completion"
    return [f"{item['model_vendor']}/{item['model_name']}" for item in document["items"]]


BUILT_IN = [
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
    "anthropic/claude-sonnet-4",
    "gemini/gemini-2.5-flash",
    "llmengine/llama-3-1-8b-instruct",
]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("", BUILT_IN),
        ("model_vendor=openai", BUILT_IN[:2]),
        ("model_vendor=xai", []),
        ("limit=2", BUILT_IN[:2]),
        ("limit=10000", BUILT_IN),
        ("sort_order=desc", BUILT_IN[::-1]),
        ("sort_order=asc", BUILT_IN),
        ("sort_by=model_name", [BUILT_IN[i] for i in (2, 3, 0, 1, 4)]),
        ("sort_by=model_vendor&sort_order=desc", [BUILT_IN[i] for i in (1, 0, 4, 3, 2)]),
        ("limit=2&starting_after=openai%2Fgpt-4o-mini", BUILT_IN[2:4]),
        ("limit=2&ending_before=gemini/gemini-2.5-flash", BUILT_IN[1:3]),
        ("starting_after=nobody", []),
        ("name=gpt-4o&nobody=1", BUILT_IN),
    ],
)
def test_the_list_of_models(gateway: Gateway, query: str, models: list[str]):
    """S-7, S-54, S-55, S-56: chat models only; a vendor without models has an empty list."""
    assert listed(gateway, query) == models


@pytest.mark.parametrize(
    ("query", "place", "kind"),
    [
        ("model_vendor=acme", "model_vendor", "literal_error"),
        ("model_vendor=", "model_vendor", "literal_error"),
        ("limit=0", "limit", "greater_than_equal"),
        ("limit=10001", "limit", "less_than_equal"),
        ("limit=ten", "limit", "int_type"),
        ("limit=", "limit", "int_type"),
        (f"limit={'9' * 5000}", "limit", "int_type"),
        ("sort_order=up", "sort_order", "literal_error"),
        ("sort_by=context", "sort_by", "literal_error"),
    ],
)
def test_wrong_queries(gateway: Gateway, query: str, place: str, kind: str):
    """S-54, S-56: an unknown vendor and a wrong page are 422, and stand in the query."""
    assert wrong(ask(gateway, MODELS_PATH, query=query)) == [(["query", place], kind)]


def test_every_listed_model_can_be_called(gateway: Gateway):
    """S-23, S-55: the vendor and the name together are what a chat is asked for."""
    for model in listed(gateway):
        assert chat(gateway, model=model, max_tokens=1).json()["model"] == model


def test_the_list_grows(gateway: Gateway):
    """S-23: models of a test, and records that are ready, are in the list; other types are not."""
    gateway.catalog.add(vendor_card("xai/grok-9"))
    gateway.catalog.add(vendor_card("xai/base", "completion"))
    for name, kind in (("mine", "chat_completion"), ("other", "generic")):
        record = {"name": name, "model_vendor": "cohere", "model_type": kind}
        assert ask(gateway, RECORDS_PATH, record).status == 200
    assert listed(gateway) == [*BUILT_IN, "xai/grok-9", "cohere/mine"]


def test_availability(gateway: Gateway):
    """S-55: a model that cannot be used just now is listed as such, and 404 on use."""
    gateway.catalog.mark("openai/gpt-4o", is_available=False)
    items = ask(gateway, MODELS_PATH).json()["items"]
    assert [item["model_availability"] for item in items] == ["unavailable", *["available"] * 4]
    assert chat(gateway).status == 404


def test_all_vendors_can_be_asked_for(gateway: Gateway):
    """S-21: the list can be asked for the models of any of the twelve."""
    assert len(VENDORS) == 12
    for vendor in VENDORS:
        assert ask(gateway, MODELS_PATH, query=f"model_vendor={vendor}", headers=KEY).status == 200
