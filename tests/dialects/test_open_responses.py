"""Responses by the published rules of Open Responses: their types, what they try, and their states.

Two of the published rules the service does not follow: there is no `[DONE]` behind the last event (E-187), and the
events of reasoning have the names that OpenAI gives them (E-188). It has nothing that needs a state, files or
tools of the server.
"""

import json
from typing import Any

import httpx2
import openresponses_types
import pytest
from openresponses_types import ResponseResource
from pydantic import BaseModel, ValidationError

from engy_mock import EngyMock, ToolCall
from tests.dialects.heard_responses import server_events

EVENTS: dict[str, type[BaseModel]] = {
    str(tag): kind
    for name, kind in vars(openresponses_types).items()
    if name.endswith("StreamingEvent")
    for tag in kind.model_fields["type"].annotation
}
"""The published types of events by their names."""

OPENAI_NAMES = {
    "response.reasoning_text.delta": "response.reasoning.delta",
    "response.reasoning_text.done": "response.reasoning.done",
}
"""The events that are published under another name than OpenAI's clients know."""

WEATHER: dict[str, Any] = {
    "type": "function",
    "name": "forecast",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4"
    "nGNgYPj/HwADAgH/5XCrFwAAAABJRU5ErkJggg=="
)
SCHEMA = {
    "type": "json_schema",
    "name": "town",
    "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
}


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


ASKED = [
    pytest.param({"input": [message("user", "Greet me with three words.")]}, id="basic"),
    pytest.param({"input": "A string is a message of the user."}, id="string"),
    pytest.param(
        {"input": [message("system", "Speak like a sailor."), message("user", "Greet me.")]}, id="system"
    ),
    pytest.param({"input": [message("user", "Will it rain in Rome?")], "tools": [WEATHER]}, id="tools-offered"),
    pytest.param({"input": "Will it rain?", "tools": [WEATHER], "tool_choice": "required"}, id="tools"),
    pytest.param(
        {"input": "Rain?", "tools": [WEATHER], "tool_choice": {"type": "function", "name": "forecast"}},
        id="one-tool",
    ),
    pytest.param(
        {
            "input": [
                message("user", "Will it rain?"),
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "forecast",
                    "arguments": '{"town": "Rome"}',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "Dry until Sunday."},
            ],
            "tools": [WEATHER],
        },
        id="tool-result",
    ),
    pytest.param(
        {
            "model": "kimi-k3",
            "input": [
                message(
                    "user",
                    [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PIXEL}],
                )
            ],
        },
        id="image",
    ),
    pytest.param(
        {
            "input": [
                message("user", "I live in Rome."),
                message("assistant", "A fine town."),
                message("user", "Where do I live?"),
            ]
        },
        id="turns",
    ),
    pytest.param({"input": "x", "max_output_tokens": 5}, id="cut-in-reasoning"),
    pytest.param({"input": "x", "max_output_tokens": 20, "reasoning": {"effort": "none"}}, id="cut-in-text"),
    pytest.param({"input": "x", "text": {"format": SCHEMA}}, id="schema"),
    pytest.param({"input": "x", "text": {"format": {**SCHEMA, "strict": None}}}, id="schema-null"),
    pytest.param({"input": "x", "text": {"format": {"type": "json_object"}, "verbosity": "low"}}, id="json"),
    pytest.param({"input": "x", "top_logprobs": 3, "include": ["message.output_text.logprobs"]}, id="logprobs"),
    pytest.param({"input": "x", "instructions": "Be brief.", "temperature": 0, "top_p": 0.5}, id="settings"),
    pytest.param({"input": "x", "reasoning": {"effort": "high", "summary": "auto"}}, id="reasoning"),
    pytest.param({"input": "x", "metadata": {"a": "b"}, "user": "u", "service_tier": "auto"}, id="metadata"),
]
"""What the published tests of conformance ask, in our words, and what else an answer can be."""


@pytest.fixture
def http(engy: EngyMock):
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    with engy.http_client(headers=headers) as client:
        yield client


def hold(kind: type[BaseModel], document: Any) -> None:
    """Raise ValidationError unless the published type takes the document strictly.

    For the schema of a text format the published type takes null alone, so it is null here.
    """
    wished = document.get("response", document).get("text")
    if isinstance(wished, dict) and "schema" in wished["format"]:
        assert isinstance(wished["format"]["schema"], dict)
        wished["format"]["schema"] = None
    kind.model_validate_json(json.dumps(document), strict=True)


def hear(stream: bytes) -> list[dict[str, Any]]:
    """The events of a stream, each of which the published type takes."""
    events = server_events(stream)
    for event in events:
        name = OPENAI_NAMES.get(event["type"], event["type"])
        hold(EVENTS[name], {**json.loads(json.dumps(event)), "type": name})
    return events


@pytest.mark.parametrize("asked", ASKED)
def test_whole_answers_are_as_published(http: httpx2.Client, asked: dict[str, Any]):
    """E-183: the response object with every field that is required, each of its type."""
    answer = http.post("/v1/responses", json={"model": "glm-5.2", **asked})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    document = answer.json()
    assert document["output"]
    assert document["status"] == ("incomplete" if "max_output_tokens" in asked else "completed")
    hold(ResponseResource, document)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_streams_are_as_published(http: httpx2.Client, asked: dict[str, Any]):
    """E-187 to E-189: each event, and the states that an item and a response may be in."""
    answer = http.post("/v1/responses", json={"model": "glm-5.2", "stream": True, **asked})
    assert answer.headers["content-type"].partition(";")[0] == "text/event-stream"
    events = hear(answer.content)
    last = events[-1]["response"]
    assert last["status"] == ("incomplete" if "max_output_tokens" in asked else "completed")
    closed = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert closed == last["output"]
    # An item that is cut is the last one, and the response is cut with it.
    assert [item["status"] for item in closed[:-1]] == ["completed"] * (len(closed) - 1)
    assert closed[-1]["status"] == last["status"]
    calls = [event["type"].rpartition("_")[2] for event in events if "function_call_arguments" in event["type"]]
    assert bool(calls) == any(item["type"] == "function_call" for item in closed)
    assert asked.get("tool_choice") is None or calls


def test_scripted_calls_are_as_published(engy: EngyMock, http: httpx2.Client):
    """Several calls in one answer, behind reasoning and text."""
    engy.when().reply(
        "Wait.", reasoning="Two towns.", tool_calls=[ToolCall("forecast", town=town) for town in "ab"]
    )
    asked = {"model": "glm-5.2", "input": "x", "tools": [WEATHER]}
    hold(ResponseResource, http.post("/v1/responses", json=asked).json())
    events = hear(http.post("/v1/responses", json={**asked, "stream": True}).content)
    kinds = [event["item"]["type"] for event in events if event["type"] == "response.output_item.done"]
    assert kinds == ["reasoning", "message", "function_call", "function_call"]


@pytest.mark.parametrize("status", [500, 503, 429, 402])
def test_failures_are_as_published(engy: EngyMock, http: httpx2.Client, status: int):
    """E-190: the last event says what has failed, and is the only one that does."""
    engy.when().faults({"kind": "fail", "status": status, "after": 3})
    events = hear(http.post("/v1/responses", json={"model": "glm-5.2", "input": "x", "stream": True}).content)
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["code"]
    assert [event["type"] for event in events if event["type"] in ("error", "response.failed")] == [
        "response.failed"
    ]


def test_the_judge_can_say_no(http: httpx2.Client):
    """Each field that a response must have is missed where it is missing."""
    document = http.post("/v1/responses", json={"model": "glm-5.2", "input": "x"}).json()
    required = [name for name, field in ResponseResource.model_fields.items() if field.is_required()]
    assert len(required) > 25
    for name in required:
        with pytest.raises(ValidationError, match=name):
            hold(ResponseResource, {key: value for key, value in document.items() if key != name})
