"""The same conversation means and gets the same in chat and in responses (E-13, E-180)."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.responses import Responses
from engy_mock.dialects.surfaces import V1
from engy_mock.gateway import Gateway, Settings
from engy_mock.vocabulary.wire import Call, End, Whole, Write
from tests.dialects.heard_responses import heard, response

PNG = "data:image/png;base64,iVBORw0KGgoAAQ=="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO = [{"role": "user", "content": "What is the weather like in the mountains?"}]
SYSTEM = {"role": "system", "content": "Be brief."}
WEATHER = {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA}
CHAT_TOOLS = [{"type": "function", "function": WEATHER}, {"type": "function", "function": {"name": "now"}}]
TOOLS = [{"type": "function", **WEATHER, "strict": True}, {"type": "function", "name": "now"}]
CALL = {"name": "get_weather", "arguments": '{"city":"Bern"}'}


def text(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


def answered(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "output_text", "text": words}]}


def chat_call(call_id: str, **function: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": function}


ALIKE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("plain", {}, {}),
    ("a string", {}, {"input": HELLO[0]["content"]}),
    ("vendor", {"model": "engy/glm-5.2"}, {"model": "other/glm-5.2"}),
    ("instructions", {"messages": [SYSTEM, *HELLO]}, {"instructions": "Be brief."}),
    (
        "a developer",
        {"messages": [{"role": "developer", "content": "Be brief."}, *HELLO]},
        {
            "input": [
                {"type": "message", "role": "developer", "content": [text("Be "), text("brief.")]},
                *HELLO,
            ]
        },
    ),
    (
        "system in its place",
        {"messages": [*HELLO, SYSTEM], "model": "qwen3.8-27b"},
        {"input": [*HELLO, SYSTEM], "model": "qwen3.8-27b"},
    ),
    (
        "prefill",
        {"messages": [*HELLO, {"role": "assistant", "content": "The sun"}]},
        {"input": [*HELLO, answered("The sun")]},
    ),
    ("sampling", {"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5, "top_p": 0.9}),
    ("greedy", {"temperature": 0}, {"temperature": 0}),
    (
        "penalties",
        {"presence_penalty": 1, "frequency_penalty": 1, "max_tokens": 60},
        {"presence_penalty": 1, "frequency_penalty": 1, "max_output_tokens": 60},
    ),
    ("fixed sampling", {"model": "kimi-k3"}, {"model": "kimi-k3", "temperature": 0.3, "top_p": 7}),
    ("limit in the text", {"max_tokens": 70}, {"max_output_tokens": 70}),
    ("limit in the reasoning", {"max_tokens": 5}, {"max_output_tokens": 5}),
    ("effort", {"reasoning_effort": "high"}, {"reasoning": {"effort": "high", "summary": "auto"}}),
    ("no effort", {"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}}),
    (
        "thinking",
        {"reasoning": {"enabled": True}, "model": "deepseek-v4.1-flash"},
        {"reasoning": {"enabled": True}, "model": "deepseek-v4.1-flash"},
    ),
    ("wishes of chat", {"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    ("tools on offer", {"tools": CHAT_TOOLS}, {"tools": [*TOOLS, {"type": "web_search"}]}),
    (
        "a tool demanded",
        {"tools": CHAT_TOOLS, "tool_choice": "required"},
        {"tools": [{"type": "custom", "name": "x"}, *TOOLS], "tool_choice": "required"},
    ),
    (
        "a tool named",
        {
            "tools": CHAT_TOOLS,
            "tool_choice": {"type": "function", "function": {"name": "now"}},
            "parallel_tool_calls": False,
        },
        {"tools": TOOLS, "tool_choice": {"type": "function", "name": "now"}, "parallel_tool_calls": False},
    ),
    (
        "a tool cut",
        {"tools": CHAT_TOOLS, "tool_choice": "required", "reasoning_effort": "none", "max_tokens": 6},
        {"tools": TOOLS, "tool_choice": "required", "reasoning": {"effort": "none"}, "max_output_tokens": 6},
    ),
    (
        "tools forbidden",
        {"tools": CHAT_TOOLS, "tool_choice": "none"},
        {"tools": TOOLS, "tool_choice": "none"},
    ),
    (
        "a round of tools",
        {
            "tools": CHAT_TOOLS,
            "messages": [
                *HELLO,
                {
                    "role": "assistant",
                    "content": "Let me look.",
                    "reasoning_content": "A tool helps.",
                    "tool_calls": [chat_call("c1", **CALL), chat_call("c2", name="now", arguments="{}")],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
                {"role": "tool", "tool_call_id": "c2", "content": "It is noon."},
                {"role": "user", "content": "And tomorrow?"},
            ],
        },
        {
            "tools": TOOLS,
            "input": [
                *HELLO,
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
                {"id": "msg_1", **answered("Let me look.")},
                {"type": "function_call", "call_id": "c1", **CALL},
                {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "now", "arguments": "{}"},
                {"type": "function_call_output", "id": "x", "call_id": "c1", "output": "Sunny."},
                {"type": "function_call_output", "call_id": "c2", "output": [text("It is "), text("noon.")]},
                {"role": "user", "content": "And tomorrow?"},
            ],
        },
    ),
    (
        "pictures",
        {
            "model": "kimi-k3",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Hm?"},
                        {"type": "image_url", "image_url": {"url": PNG}},
                    ],
                }
            ],
        },
        {
            "model": "kimi-k3",
            "input": [
                {
                    "role": "user",
                    "content": [text("Hm?"), {"type": "input_image", "image_url": PNG, "detail": "low"}],
                }
            ],
        },
    ),
    (
        "an object",
        {"response_format": {"type": "json_object"}},
        {"text": {"format": {"type": "json_object"}}},
    ),
    (
        "a schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}}},
    ),
    (
        "log probabilities",
        {"top_logprobs": 2, "max_tokens": 60},
        {"top_logprobs": 2, "max_output_tokens": 60},
    ),
    (
        "bare log probabilities",
        {"logprobs": True, "reasoning_effort": "none"},
        {"include": ["message.output_text.logprobs"], "reasoning_effort": "none"},
    ),
    ("whose cache", {"prompt_cache_key": "k"}, {"prompt_cache_key": "k", "safety_identifier": "s"}),
    ("which workers", {"provider": {"zdr": True}}, {"provider": {"zdr": True}}),
    ("streamed", {"stream": True}, {"stream": True}),
]
CHAT = {"model": "glm-5.2", "messages": HELLO}
RESPONSE = {"model": "glm-5.2", "input": HELLO}
WAIVED = frozenset({"top_p", "temperature"})

alike = pytest.mark.parametrize(("chat", "fields"), [row[1:] for row in ALIKE], ids=[row[0] for row in ALIKE])


@alike
def test_the_same_request(chat: dict[str, Any], fields: dict[str, Any]):
    """E-180: the two formats are two ways to write one request."""
    one = Chat().parse({**CHAT, **chat}, V1)
    other = Responses().parse({**RESPONSE, **fields}, V1, any_number=WAIVED)
    if one.model == "kimi-k3":
        other = replace(other, sampling=one.sampling)
    assert replace(other, model=one.model, endpoint="chat", body=one.body) == one


@cache
def gateway() -> Gateway:
    """One service for all conversations: without a cache no answer depends on earlier ones."""
    return Gateway(settings=Settings(prompt_cache=False))


def answer(path: str, body: dict[str, Any]) -> bytes:
    """The body of the answer to a body."""
    call = Call(
        method="POST",
        path=path,
        headers={"authorization": "Bearer sk-engy-test"},
        body=json.dumps(body).encode(),
    )
    begin, *steps = gateway().answer(call)
    if isinstance(begin, Whole):
        assert begin.head.status == 200, begin.body
        return begin.body
    assert isinstance(steps.pop(), End)
    return b"".join(step.data for step in steps if isinstance(step, Write))


@alike
def test_the_same_content(chat: dict[str, Any], fields: dict[str, Any]):
    """E-13: words, calls, counts and the reason to stop are the same, and the same again as a stream."""
    one = json.loads(answer("/v1/chat/completions", {**CHAT, **chat, "stream": False}))
    body = {**RESPONSE, **fields, "stream": False}
    other = response(answer("/v1/responses", body))
    choice, said = one["choices"][0], one["choices"][0]["message"]
    items: dict[str, list[Any]] = {"reasoning": [], "message": [], "function_call": []}
    for item in other["output"]:
        items[item["type"]].append(item)
    reasoning = [said["reasoning_content"]] if "reasoning_content" in said else []
    assert [item["content"][0]["text"] for item in items["reasoning"]] == reasoning
    assert "".join(item["content"][0]["text"] for item in items["message"]) == (said["content"] or "")
    assert [(item["name"], item["arguments"]) for item in items["function_call"]] == [
        (call["function"]["name"], call["function"]["arguments"]) for call in said.get("tool_calls", [])
    ]
    if "logprobs" in choice:
        assert items["message"][0]["content"][0]["logprobs"] == choice["logprobs"]["content"] != []
    assert other["usage"]["input_tokens"] == one["usage"]["prompt_tokens"]
    assert other["usage"]["output_tokens"] == one["usage"]["completion_tokens"]
    assert other["usage"]["output_tokens_details"] == one["usage"]["completion_tokens_details"]
    assert other["x_engy"]["charged_micro"] == one["x_engy"]["charged_micro"]
    assert other["status"] == ("incomplete" if choice["finish_reason"] == "length" else "completed")
    streamed = heard(answer("/v1/responses", {**body, "stream": True}))
    assert without_ids(streamed) == without_ids(other)


def without_ids(document: dict[str, Any]) -> dict[str, Any]:
    """The same without what belongs to one request alone (E-14)."""
    output = [{**item, "id": None, "call_id": None} for item in document["output"]]
    return {**document, "id": None, "x_engy": document["x_engy"]["charged_micro"], "output": output}


def test_what_is_covered():
    """The table has each way to end, so that the comparison means something."""
    ends = {
        name: [
            (item["type"], item["status"])
            for item in json.loads(answer("/v1/responses", {**RESPONSE, **fields}))["output"]
        ]
        for name, _, fields in ALIKE
        if name in {"plain", "limit in the text", "limit in the reasoning", "a tool demanded", "a tool cut"}
    }
    thought = ("reasoning", "completed")
    assert ends == {
        "plain": [thought, ("message", "completed")],
        "limit in the text": [thought, ("message", "incomplete")],
        "limit in the reasoning": [("reasoning", "incomplete")],
        "a tool demanded": [thought, ("function_call", "completed")],
        "a tool cut": [("function_call", "incomplete")],
    }


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": "hi " * 230_000}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": PNG}]}]}, "input"),
        ({"model": "nope"}, "model"),
    ],
)
def test_refusals_of_the_model(fields: dict[str, Any], param: str):
    """E-75 to E-80: what the model refuses is told of the fields of this format."""
    call = Call(
        method="POST",
        path="/v1/responses",
        headers={"authorization": "Bearer sk-engy-test"},
        body=json.dumps({**RESPONSE, **fields}).encode(),
    )
    (step,) = gateway().answer(call)
    assert isinstance(step, Whole)
    assert json.loads(step.body)["error"]["param"] == param
