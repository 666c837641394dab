"""`POST /v5/responses`: the format of `/v1/responses` with another framing, for the models of one vendor."""

from typing import Any

import pytest

from engy_mock.gateway import Gateway
from engy_mock.vocabulary import json
from tests.dialects.called import CHAT, CHAT_PATH, RESPONSE, RESPONSES_PATH, Answer, ask, wrong

WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}


@pytest.fixture(scope="module")
def gateway() -> Gateway:
    return Gateway()


def respond(gateway: Gateway, **fields: Any) -> Answer:
    """The answer to a request for a response with these fields."""
    body = {**RESPONSE, **fields}
    return ask(gateway, RESPONSES_PATH, {name: value for name, value in body.items() if value is not ...})


GOOD: list[tuple[str, Any]] = [
    ("input", [{"role": "user", "content": "Hi"}]),
    ("instructions", "Be brief."),
    ("max_output_tokens", 1),
    ("temperature", 0),
    ("temperature", 2),
    ("top_p", 0),
    ("top_p", 1),
    ("include", ["message.output_text.logprobs"]),
    ("metadata", {"a": "b"}),
    ("reasoning", {"effort": "high"}),
    ("text", {"format": {"type": "text"}}),
    ("parallel_tool_calls", False),
    ("store", True),
    ("stream", False),
    ("tool_choice", "auto"),
    ("tools", [WEATHER, {"type": "web_search"}]),
    ("truncation", "auto"),
    ("truncation", "disabled"),
    ("previous_response_id", "resp_1"),
    ("background", True),
    ("conversation", "conv_1"),
    ("presence_penalty", "x"),
    ("nobody", 1),
]


@pytest.mark.parametrize(("field", "value"), GOOD, ids=lambda value: str(value)[:30])
def test_accepted(gateway: Gateway, field: str, value: Any):
    """S-68: every documented field is taken at the ends of its range, unknown ones without effect."""
    answer = respond(gateway, **{"max_output_tokens": 2, field: value})
    assert answer.status == 200
    assert answer.json()["model"] == "openai/gpt-4o"


WRONG: list[tuple[str, Any, list[Any], str]] = [
    ("model", ..., ["model"], "missing"),
    ("input", ..., ["input"], "missing"),
    ("input", 5, ["input"], "string_type"),
    ("max_output_tokens", 0, ["max_output_tokens"], "greater_than_equal"),
    ("temperature", 2.1, ["temperature"], "less_than_equal"),
    ("top_p", 1.1, ["top_p"], "less_than_equal"),
    ("truncation", "never", ["truncation"], "literal_error"),
    ("include", "x", ["include"], "list_type"),
    ("metadata", {"a": 1}, ["metadata", "a"], "string_type"),
    ("parallel_tool_calls", 1, ["parallel_tool_calls"], "bool_type"),
    ("stream", "x", ["stream"], "bool_type"),
    ("store", "x", ["store"], "bool_type"),
    (
        "text",
        {"format": {"type": "json_schema", "schema": {"type": "zz"}}},
        ["text", "format", "schema"],
        "schema",
    ),
    ("previous_response_id", 5, ["previous_response_id"], "string_type"),
]


@pytest.mark.parametrize(("field", "value", "place", "kind"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong(gateway: Gateway, field: str, value: Any, place: list[Any], kind: str):
    """S-68: out of range, of a wrong type or missing is 422."""
    assert wrong(respond(gateway, **{field: value})) == [(["body", *place], kind)]


def test_a_schema_that_is_none(gateway: Gateway):
    """S-68, S-79: it is told of the field that was sent, at its own place among the tools."""
    tools = [WEATHER, {"type": "function", "name": "f", "parameters": {"minimum": "x"}}]
    answer = respond(gateway, tools=tools, tool_choice={"type": "function", "name": "f"})
    assert answer.status == 422
    assert answer.detail() == [
        {
            "loc": ["body", "tools", 1, "parameters"],
            "msg": 'tools[1].parameters: #: minimum "x" is not a number',
            "type": "schema",
        }
    ]


@pytest.mark.parametrize(
    ("model", "status", "detail"),
    [
        ("anthropic/claude-sonnet-4", 400, "unsupported vendor 'anthropic'"),
        ("acme/x", 400, "unknown vendor 'acme'"),
        ("gpt-4o", 400, "model must be vendor/name, got 'gpt-4o'"),
        ("openai/nope", 404, "model 'openai/nope' not found"),
        ("xai/nope", 400, "unsupported vendor 'xai'"),
    ],
)
def test_vendors(gateway: Gateway, model: str, status: int, detail: str):
    """S-22, S-67: only the models of `openai` answer here."""
    answer = respond(gateway, model=model)
    assert (answer.status, answer.detail()) == (status, detail)


def test_the_answer(gateway: Gateway):
    """S-70: the object of `/v1/responses` but for `x_engy`, with complete usage."""
    document = respond(gateway, max_output_tokens=4).json()
    twin = ask(
        gateway,
        "/v1/responses",
        {**RESPONSE, "model": "deepseek-v4.1-flash", "max_output_tokens": 4},
        headers={"authorization": "Bearer sk-engy-test"},
    ).json()
    assert list(document) == [name for name in twin if name != "x_engy"]
    assert (document["object"], document["created_at"]) == ("response", 1792281600)
    assert document["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 14,
    }
    assert (document["temperature"], document["top_p"]) == (1.0, 1.0), "S-34"
    assert {"id", "model", "output", "parallel_tool_calls", "tool_choice", "tools"} <= document.keys()


def test_the_same_words_as_in_a_chat(gateway: Gateway):
    """E-13: the same conversation with the same settings has the same content in both formats."""
    (item,) = respond(gateway).json()["output"]
    (choice,) = ask(gateway, CHAT_PATH, CHAT).json()["choices"]
    assert item["content"][0]["text"] == choice["message"]["content"]


def test_no_state(gateway: Gateway):
    """S-69: an earlier response is named again, and is no part of the prompt."""
    first = respond(gateway).json()
    second = respond(gateway, previous_response_id=first["id"]).json()
    assert second["previous_response_id"] == first["id"]
    assert second["usage"] == first["usage"]
    assert second["output"][0]["content"] == first["output"][0]["content"]


@pytest.mark.parametrize(("path", "method"), [("/x", "GET"), ("/x", "DELETE"), ("/x/cancel", "POST")])
def test_no_other_routes(gateway: Gateway, path: str, method: str):
    """S-69: a response cannot be fetched, deleted or cancelled."""
    assert ask(gateway, RESPONSES_PATH + path, method=method).status == 404


STREAMED: list[dict[str, Any]] = [
    {},
    {"max_output_tokens": 3},
    {"tools": [WEATHER], "tool_choice": "required"},
    {"include": ["message.output_text.logprobs"]},
]


@pytest.mark.parametrize("fields", STREAMED, ids=lambda fields: ",".join(fields))
def test_a_stream(gateway: Gateway, fields: dict[str, Any]):
    """S-1 to S-4, S-71: the events of `/v1` in the same order, as data lines only, and no end mark."""
    answer = respond(gateway, **fields, stream=True)
    assert b"[DONE]" not in answer.data
    events = answer.chunks()
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    twin = ask(
        gateway,
        "/v1/responses",
        {**RESPONSE, **fields, "model": "deepseek-v4.1-flash", "stream": True},
        headers={"authorization": "Bearer sk-engy-test"},
    )
    kinds = [
        json.read(line.removeprefix(b"data: "))["type"]
        for line in twin.data.splitlines()
        if line.startswith(b"data: ")
    ]
    assert list(dict.fromkeys(event["type"] for event in events)) == list(dict.fromkeys(kinds))
    last = events[-1]["response"]
    assert "x_engy" not in last
    whole = respond(gateway, **fields).json()
    assert last["usage"] == whole["usage"]
    for told, item in zip(last["output"], whole["output"], strict=True):
        assert told.get("content") == item.get("content")
        assert told.get("arguments") == item.get("arguments")


def test_named_events(gateway: Gateway):
    """S-71: a setting adds the names of the events; nothing else changes."""
    plain = respond(gateway, stream=True).chunks()
    gateway.settings.v5_named_events = True
    named = respond(gateway, stream=True).data.decode()
    gateway.settings.v5_named_events = False
    *events, rest = named.split("\n\n")
    assert rest == ""
    assert len(events) == len(plain)
    for event, twin in zip(events, plain, strict=True):
        name, data = event.split("\n")
        assert name == f"event: {twin['type']}"
        assert json.read(data.removeprefix("data: "))["type"] == twin["type"]
