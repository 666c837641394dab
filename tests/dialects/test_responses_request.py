"""What a request for a response may say, and what it then means (E-179 to E-182a)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.errors import judged
from engy_mock.dialects.responses import Responses
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.request import (
    Conversation,
    GenerationRequest,
    Image,
    Message,
    ProviderWish,
    ResponseFormat,
    Sampling,
    Scoring,
    ThinkingWish,
    Tool,
    ToolCall,
    ToolChoice,
)
from tests.dialects.made import CHAT, RESPONSE, responding

PNG = "data:image/png;base64,iVBORw0KGgoAAQ=="
PICTURE = Image(media_type="image/png", data=b"\x89PNG\r\n\x1a\n\x00\x01")
WEATHER = {"type": "function", "name": "get_weather"}
EFFORTS = "none, minimal, low, medium, high, xhigh, max"
STATE = "is not supported, as nothing is kept between calls"


def text(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


def answered(words: str) -> dict[str, Any]:
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def called(call_id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def returned(call_id: str, output: Any = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def messages(*items: Any, **fields: Any) -> tuple[Message, ...]:
    """The turns that a request with these items comes to."""
    return responding(input=list(items), **fields).messages


def test_the_least_request():
    """E-7: only model and input are required, everything else has its default, unknown fields are kept."""
    body = {**RESPONSE, "unknown": [1], "store": True, "truncation": "auto", "service_tier": "flex"}
    request = Responses().parse(body, V1)
    prompt = Conversation(messages=(Message(role="user", text="Hi"),))
    assert request == GenerationRequest(
        endpoint="responses", surface="v1", model="glm-5.2", prompt=prompt, body=body
    )
    assert request.body is body


USER = Message(role="user", text="Hi")

CONVERSATIONS: list[tuple[str, list[Any], list[Message]]] = [
    ("E-179 message", [{"type": "message", "role": "user", "content": "Hi"}], [USER]),
    ("E-179 without a type", [{"role": "user", "content": "Hi"}], [USER]),
    ("E-179 null for a type", [{"type": None, "role": "user", "content": "Hi"}], [USER]),
    ("E-179 parts", [{"role": "user", "content": [text("H"), text("i")]}], [USER]),
    ("E-179 no parts", [{"role": "user", "content": []}], [Message(role="user")]),
    ("E-179 system", [{"role": "system", "content": "Be."}], [Message(role="system", text="Be.")]),
    (
        "E-182a developer",
        [{"type": "message", "role": "developer", "content": [text("Be.")]}],
        [Message(role="system", text="Be.")],
    ),
    (
        "E-179 what was answered",
        [
            {"role": "user", "content": "Hi"},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "phase": None}
            | {"content": [answered("Hel"), answered("lo")]},
        ],
        [USER, Message(role="assistant", text="Hello")],
    ),
    (
        "E-179 picture",
        [
            {
                "role": "user",
                "content": [text("a"), {"type": "input_image", "image_url": PNG, "detail": "auto"}],
            }
        ],
        [Message(role="user", text="a", parts=("a", PICTURE))],
    ),
    (
        "E-179 reasoning is dropped",
        [
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text"}]},
            {"role": "assistant", "content": "Hello"},
        ],
        [USER, Message(role="assistant", text="Hello")],
    ),
    (
        "E-182a as agents send it",
        [
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "summary": [], "content": None, "encrypted_content": None, "role": 5},
            called("c1", "shell", '{"a":1}'),
            {**returned("c1", [text("o"), text("k")]), "id": "fco_1"},
        ],
        [
            USER,
            Message(role="assistant", tool_calls=(ToolCall("shell", '{"a":1}', call_id="c1"),)),
            Message(role="tool", text="ok", tool_call_id="c1"),
        ],
    ),
    (
        "calls belong to the message that they follow",
        [
            {"role": "assistant", "content": "Let me see."},
            {"type": "reasoning"},
            {**called("c1"), "id": "fc_1", "status": "completed"},
            called("c2", "g"),
            returned("c2"),
            returned("c1"),
        ],
        [
            Message(
                role="assistant",
                text="Let me see.",
                tool_calls=(ToolCall("f", call_id="c1"), ToolCall("g", call_id="c2")),
            ),
            Message(role="tool", text="ok", tool_call_id="c2"),
            Message(role="tool", text="ok", tool_call_id="c1"),
        ],
    ),
    (
        "calls in two rounds",
        [called("c1"), returned("c1"), called("c2"), {"role": "user", "content": "Hi"}, called("c3")],
        [
            Message(role="assistant", tool_calls=(ToolCall("f", call_id="c1"),)),
            Message(role="tool", text="ok", tool_call_id="c1"),
            Message(role="assistant", tool_calls=(ToolCall("f", call_id="c2"),)),
            USER,
            Message(role="assistant", tool_calls=(ToolCall("f", call_id="c3"),)),
        ],
    ),
    (
        "two answers in a row",
        [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}, called("c1")],
        [
            Message(role="assistant", text="a"),
            Message(role="assistant", text="b", tool_calls=(ToolCall("f", call_id="c1"),)),
        ],
    ),
    (
        "E-42 arguments that do not parse",
        [called("c1", arguments="{"), {"type": "function_call", "call_id": "c2", "name": "f"}],
        [Message(role="assistant", tool_calls=(ToolCall("f", call_id="c1"), ToolCall("f", call_id="c2")))],
    ),
    (
        "a picture from a tool",
        [returned("c1", [{"type": "input_image", "image_url": PNG}])],
        [Message(role="tool", parts=(PICTURE,), tool_call_id="c1")],
    ),
]


@pytest.mark.parametrize(
    ("items", "turns"), [row[1:] for row in CONVERSATIONS], ids=[row[0] for row in CONVERSATIONS]
)
def test_conversations(items: list[Any], turns: list[Message]):
    """E-179, E-182a: what the items of the input mean."""
    assert list(messages(*items)) == turns


def test_instructions():
    """E-180: instructions are the first system message; empty ones say nothing."""
    developer = {"role": "developer", "content": "Also."}
    turns = messages(developer, {"role": "user", "content": "Hi"}, instructions="Be kind.")
    assert turns == (Message(role="system", text="Be kind."), Message(role="system", text="Also."), USER)
    assert responding(instructions="").messages == (USER,)
    assert responding(instructions=None).messages == (USER,)


FORMAT = {"type": "json_schema", "name": "n", "schema": {"a": 1}, "strict": True}

ACCEPTED: list[tuple[str, dict[str, Any], str, Any]] = [
    ("E-30 vendor", {"model": "engy/glm-5.2"}, "model", "engy/glm-5.2"),
    ("E-180 limit", {"max_output_tokens": 7}, "max_tokens", 7),
    ("E-180 no limit of chat", {"max_tokens": 7, "max_completion_tokens": 7}, "max_tokens", None),
    ("E-180 no stop", {"stop": ["a"]}, "stop", ()),
    ("E-47", {"stream": True}, "is_streamed", True),
    ("E-47 null", {"stream": None}, "is_streamed", False),
    (
        "E-180 sampling",
        {"temperature": 0, "top_p": 1, "presence_penalty": -2, "frequency_penalty": 2, "seed": 5, "top_k": 2},
        "sampling",
        Sampling(temperature=0.0, top_p=1.0, presence_penalty=-2.0, frequency_penalty=2.0),
    ),
    (
        "E-180 tools",
        {"tools": [{**WEATHER, "description": "d", "parameters": {"a": 1}, "strict": True}]},
        "tools",
        (Tool(name="get_weather", description="d", parameters={"a": 1}),),
    ),
    (
        "E-182a other tools",
        {
            "tools": [
                {"type": "web_search", "external_web_access": False},
                WEATHER,
                {"type": "namespace", "name": "crm", "tools": [WEATHER]},
                {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
                {"type": "local_shell"},
            ]
        },
        "tools",
        (Tool(name="get_weather"),),
    ),
    ("no tools", {"tools": []}, "tools", ()),
    ("E-57 none", {"tool_choice": "none"}, "tool_choice", ToolChoice(mode="none")),
    (
        "E-57 required",
        {"tools": [WEATHER], "tool_choice": "required"},
        "tool_choice",
        ToolChoice(mode="required"),
    ),
    (
        "E-57 named",
        {"tools": [WEATHER], "tool_choice": WEATHER},
        "tool_choice",
        ToolChoice(mode="named", name="get_weather"),
    ),
    ("E-58", {"parallel_tool_calls": False}, "parallel_tool_calls", False),
    ("E-58 null", {"parallel_tool_calls": None}, "parallel_tool_calls", True),
    ("E-180 text", {"text": {"format": {"type": "text"}}}, "response_format", ResponseFormat()),
    ("E-180 no format", {"text": {"verbosity": "low"}}, "response_format", ResponseFormat()),
    ("E-180 null format", {"text": {"format": None}}, "response_format", ResponseFormat()),
    (
        "E-180 object",
        {"text": {"format": {"type": "json_object"}}},
        "response_format",
        ResponseFormat(type="json_object"),
    ),
    (
        "E-180 schema",
        {"text": {"format": FORMAT, "verbosity": "high"}},
        "response_format",
        ResponseFormat(type="json_schema", schema={"a": 1}, name="n"),
    ),
    (
        "E-180 effort",
        {"reasoning": {"effort": "low", "summary": "auto"}},
        "thinking",
        ThinkingWish(effort="low"),
    ),
    ("E-182 summary alone", {"reasoning": {"summary": "detailed"}}, "thinking", ThinkingWish()),
    ("E-9 enabled", {"reasoning": {"enabled": False}}, "thinking", ThinkingWish(enabled=False)),
    (
        "E-9 wishes of chat",
        {"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": False}},
        "thinking",
        ThinkingWish(effort="high"),
    ),
    ("E-180 alternatives", {"top_logprobs": 3}, "scoring", Scoring(logprobs=True, top=3)),
    ("E-180 no alternatives", {"top_logprobs": 0}, "scoring", Scoring()),
    (
        "E-185 include alone",
        {"include": ["reasoning.encrypted_content", "message.output_text.logprobs"]},
        "scoring",
        Scoring(logprobs=True),
    ),
    (
        "E-185 include with alternatives",
        {"include": ["message.output_text.logprobs"], "top_logprobs": 30},
        "scoring",
        Scoring(logprobs=True, top=30),
    ),
    ("E-182 include", {"include": ["reasoning.encrypted_content"]}, "scoring", Scoring()),
    ("E-182 no include", {"include": None}, "scoring", Scoring()),
    ("E-180 cache key", {"prompt_cache_key": "k", "user": "u"}, "cache_key", "k"),
    ("E-180 user", {"user": "u", "safety_identifier": "s"}, "cache_key", "u"),
    ("E-9 provider", {"provider": {"zdr": True}}, "provider", ProviderWish(zdr=True)),
    ("E-181 nothing of it", {"previous_response_id": None, "background": False}, "max_tokens", None),
    ("E-181 null", {"conversation": None, "prompt": None, "background": None}, "max_tokens", None),
]


@pytest.mark.parametrize(
    ("fields", "name", "value"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED]
)
def test_accepted(fields: dict[str, Any], name: str, value: object):
    """E-180, E-182: what the fields mean."""
    assert getattr(responding(**fields), name) == value


ITEMS = "message, function_call, function_call_output, reasoning"
IMAGE_RULE = "must be a data:image/...;base64, URI of type png, jpeg, gif or webp"

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("E-180", {"model": None}, "model", "model must be a string, got null"),
    ("E-179", {"input": []}, "input", "input must not be empty, got []"),
    ("E-179", {"input": [{"type": "reasoning"}]}, "input", "input must hold more than reasoning"),
    ("E-179", {"input": 5}, "input", "input must be a string or an array, got 5"),
    ("E-179", {"input": None}, "input", "input must be a string or an array, got null"),
    ("E-179", {"input": [5]}, "input[0]", "input[0] must be an object, got 5"),
    ("E-179", {"input": [{}]}, "input[0].role", "input[0].role is required"),
    (
        "E-179",
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
        "input[0].type",
        f'input[0].type must be one of {ITEMS}, got "item_reference"',
    ),
    ("E-179", {"input": [{"type": 5}]}, "input[0].type", f"input[0].type must be one of {ITEMS}, got 5"),
    (
        "E-179",
        {"input": [{"role": "tool", "content": "x"}]},
        "input[0].role",
        'input[0].role must be one of system, user, developer, assistant, got "tool"',
    ),
    ("E-179", {"input": [{"role": "user"}]}, "input[0].content", "input[0].content is required"),
    (
        "E-179",
        {"input": [{"role": "assistant", "content": None}]},
        "input[0].content",
        "input[0].content must be a string or an array, got null",
    ),
    (
        "E-179",
        {"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        "input[0].content[0].type",
        'input[0].content[0].type must be one of input_text, output_text, input_image, got "text"',
    ),
    (
        "E-179",
        {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
        "input[0].content[0].text",
        "input[0].content[0].text is required",
    ),
    (
        "E-143",
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://a.b/c.png"}]}]},
        "input[0].content[0].image_url",
        f'input[0].content[0].image_url {IMAGE_RULE}, got "https://a.b/c.png"',
    ),
    (
        "E-143",
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]}]},
        "input[0].content[0].image_url",
        "input[0].content[0].image_url is required",
    ),
    (
        "E-179",
        {"input": [{"type": "function_call", "name": "f"}]},
        "input[0].call_id",
        "input[0].call_id is required",
    ),
    (
        "E-179",
        {"input": [returned("c", 5)]},
        "input[0].output",
        "input[0].output must be a string or an array, got 5",
    ),
    (
        "E-179",
        {"input": [returned("c", [{"type": "input_file"}])]},
        "input[0].output[0].type",
        'input[0].output[0].type must be one of input_text, output_text, input_image, got "input_file"',
    ),
    ("E-180", {"instructions": ["x"]}, "instructions", 'instructions must be a string, got ["x"]'),
    ("E-45", {"max_output_tokens": 0}, "max_output_tokens", "max_output_tokens must be at least 1, got 0"),
    ("E-49", {"temperature": 2.5}, "temperature", "temperature must be at most 2, got 2.5"),
    ("E-50", {"top_p": 0}, "top_p", "top_p must be above 0, got 0"),
    ("E-64", {"top_logprobs": 31}, "top_logprobs", "top_logprobs must be at most 30, got 31"),
    (
        "E-60",
        {"reasoning": {"effort": "much"}},
        "reasoning.effort",
        f'reasoning.effort must be one of {EFFORTS}, got "much"',
    ),
    (
        "E-181",
        {"previous_response_id": "resp_1"},
        "previous_response_id",
        f'previous_response_id {STATE}, got "resp_1"',
    ),
    ("E-181", {"conversation": "conv_1"}, "conversation", f'conversation {STATE}, got "conv_1"'),
    ("E-181", {"conversation": {"id": "c"}}, "conversation", f'conversation {STATE}, got {{"id":"c"}}'),
    ("E-181", {"background": True}, "background", f"background {STATE}, got true"),
    ("E-181", {"prompt": {"id": "pmpt_1"}}, "prompt", f'prompt {STATE}, got {{"id":"pmpt_1"}}'),
    ("tools", {"tools": [5]}, "tools[0]", "tools[0] must be an object, got 5"),
    ("tools", {"tools": [{"name": "f"}]}, "tools[0].type", "tools[0].type is required"),
    (
        "tools in the form of chat",
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools[0].name",
        "tools[0].name is required",
    ),
    ("E-57", {"tool_choice": "required"}, "tool_choice", "tool_choice must not be required without tools"),
    (
        "E-57 left out",
        {"tools": [{"type": "web_search"}], "tool_choice": "required"},
        "tool_choice",
        "tool_choice must not be required without tools",
    ),
    (
        "E-57",
        {"tools": [WEATHER], "tool_choice": {"type": "function", "name": "f"}},
        "tool_choice.name",
        'tool_choice.name must be the name of a tool that is offered, got "f"',
    ),
    (
        "E-57",
        {"tools": [WEATHER], "tool_choice": {"type": "web_search"}},
        "tool_choice.type",
        'tool_choice.type must be function, got "web_search"',
    ),
    ("text", {"text": "x"}, "text", 'text must be an object, got "x"'),
    ("text", {"text": {"format": {}}}, "text.format.type", "text.format.type is required"),
    (
        "E-180 schema",
        {"text": {"format": {"type": "json_schema", "name": "n"}}},
        "text.format.schema",
        "text.format.schema is required",
    ),
    (
        "E-180 schema",
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": 5}}},
        "text.format.schema",
        "text.format.schema must be an object or a boolean, got 5",
    ),
    ("E-182", {"metadata": {"a": 1}}, "metadata.a", "metadata.a must be a string, got 1"),
    ("E-66", {"provider": {"zdr": "yes"}}, "provider.zdr", 'provider.zdr must be a boolean, got "yes"'),
]


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [row[1:] for row in REFUSED],
    ids=[f"{row[0]} {row[2]}" for row in REFUSED],
)
def test_refused(fields: dict[str, Any], param: str, message: str):
    """E-179, E-181: a violation names the field and the value."""
    with pytest.raises(InvalidRequest) as caught:
        responding(**fields)
    assert (caught.value.message, caught.value.param) == (message, param)


def test_required():
    """E-179: without model and input there is no request."""
    for name in RESPONSE:
        with pytest.raises(InvalidRequest, match=f"^{name} is required$"):
            Responses().parse({key: value for key, value in RESPONSE.items() if key != name}, V1)


def test_strict_tools():
    """E-181: by a setting, tools of other types are refused instead of left out."""
    tools = [WEATHER, {"type": "web_search"}, {"type": "custom", "name": "f"}]
    with pytest.raises(InvalidRequest) as caught:
        Responses(strict_tools=True).parse({**RESPONSE, "tools": tools}, V1)
    assert [(one.param, one.message) for one in caught.value.violations] == [
        ("tools[1].type", 'tools[1].type must be function, got "web_search"'),
        ("tools[2].type", 'tools[2].type must be function, got "custom"'),
    ]
    assert Responses(strict_tools=True).parse({**RESPONSE, "tools": [WEATHER]}, V1).tools


def test_previous_response():
    """S-69: where a surface says so, the id of an earlier response is taken, to no effect."""
    body = {**RESPONSE, "previous_response_id": "resp_1"}
    assert replace(Responses(takes_previous=True).parse(body, V1), body=RESPONSE) == responding()


def test_relations_are_reported_together():
    """What only two fields together get wrong is collected, and the first gives the message."""
    with pytest.raises(InvalidRequest) as caught:
        responding(
            input=[{"type": "reasoning"}],
            tool_choice="required",
            previous_response_id="resp_1",
            text={"format": {"type": "json_schema"}},
        )
    assert [one.param for one in caught.value.violations] == [
        "previous_response_id",
        "tool_choice",
        "text.format.schema",
        "input",
    ]


def test_waived_ranges():
    """E-89: fields that the model replaces are not held to their range."""
    body = {**RESPONSE, "temperature": 9, "top_p": 2, "presence_penalty": 5}
    waived = frozenset({"temperature", "top_p", "presence_penalty"})
    assert Responses().parse(body, V1, any_number=waived).sampling.temperature == 9.0


AGENT: dict[str, Any] = {
    "model": "glm-5.2",
    "instructions": "You are a coding agent.",
    "input": [
        {"type": "message", "role": "developer", "content": [text("Sandbox: read-only.")]},
        {"type": "message", "role": "user", "content": [text("<environment/>"), text("Fix the test.")]},
        {"type": "reasoning", "summary": [], "content": None, "encrypted_content": None},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"cmd":["ls"]}', "call_id": "call_1"},
        {"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": [text("a.py")]},
    ],
    "tools": [
        {
            "type": "function",
            "name": "shell",
            "description": "Runs a command.",
            "strict": False,
            "parameters": {"type": "object", "properties": {"cmd": {"type": "array"}}, "required": ["cmd"]},
        },
        {"type": "web_search", "external_web_access": False},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark"}},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "service_tier": "priority",
    "prompt_cache_key": "session-1",
    "text": {"verbosity": "low"},
    "truncation": "disabled",
    "client_metadata": {"installation": "1"},
}


def test_the_body_of_an_agent():
    """E-182a: a body as coding agents send it is the chat that it says."""
    chat = Chat().parse(
        {
            "model": "glm-5.2",
            "messages": [
                {"role": "system", "content": "You are a coding agent."},
                {"role": "system", "content": "Sandbox: read-only."},
                {"role": "user", "content": "<environment/>Fix the test."},
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "shell", "arguments": '{"cmd":["ls"]}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "a.py"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "shell",
                        "description": "Runs a command.",
                        "parameters": AGENT["tools"][0]["parameters"],
                    },
                }
            ],
            "reasoning_effort": "medium",
            "stream": True,
            "prompt_cache_key": "session-1",
        },
        V1,
    )
    assert Responses().parse(AGENT, V1) == replace(chat, endpoint="responses", body=AGENT)


@pytest.mark.parametrize(
    ("param", "shown", "message", "told"),
    [
        ("messages", "input", "messages are too long", "messages are too long"),
        ("max_tokens", "max_output_tokens", "prompt 5 + max_tokens 3", "prompt 5 + max_tokens 3"),
        ("model", "model", "no", "no"),
        ("input[0].role", "input[0].role", "input[0].role is", "input[0].role is"),
        (None, None, "no", "no"),
        (
            "response_format.json_schema.schema",
            "text.format.schema",
            "response_format.json_schema.schema: #: no",
            "text.format.schema: #: no",
        ),
        (
            "tools[1].function.parameters",
            "tools[1].parameters",
            "tools[1].function.parameters: #: no",
            "tools[1].parameters: #: no",
        ),
    ],
)
def test_refusals_name_the_fields_of_this_format(param: str | None, shown: str | None, message: str, told: str):
    """E-191: what the model finds wrong with a chat is told of the field that the client sent."""
    error = InvalidRequest(message, param=param, code="context_length_exceeded")
    assert json.loads(Responses().error(judged(error, V1, "responses"), V1, "")) == {
        "error": {
            "message": told,
            "type": "invalid_request_error",
            "param": shown,
            "code": "context_length_exceeded",
        }
    }
    assert (error.param, error.message) == (param, message)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = [
    "auto", "function", "function_call", "function_call_output", "input_image", "input_text", "json_schema",
    "item_reference", "message", "output_text", "reasoning", "required", "text", "user", "web_search", PNG,
]  # fmt: skip
KEYS = [
    "arguments", "call_id", "content", "detail", "effort", "format", "id", "image_url", "name", "output",
    "parameters", "role", "schema", "summary", "text", "tools", "type", "verbosity", "zdr",
]  # fmt: skip
FIELDS = [
    "background", "chat_template_kwargs", "conversation", "include", "input", "instructions", "user",
    "max_output_tokens", "max_tool_calls", "metadata", "model", "parallel_tool_calls", "prompt", "provider",
    "previous_response_id", "reasoning", "reasoning_effort", "safety_identifier", "stream", "temperature",
    "text", "tool_choice", "tools", "top_logprobs", "top_p",
]  # fmt: skip
anything = st.recursive(
    scalars | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
LEAKS = ("pydantic", "Form", "Input should", "is invalid", "~", "dictionary")


def spoken(fields: dict[str, Any]) -> None:
    """The fields become a request, or a refusal in plain words that begin with the field."""
    try:
        request = responding(**fields)
    except ApiError as error:
        refusal = error
    else:
        assert request.messages
        return
    assert refusal.status == 400
    for violation in refusal.violations:
        ours = violation.message.partition(", got ")[0]
        assert ours.startswith(violation.param)
        assert not [leak for leak in LEAKS if leak in ours]
        assert violation.message.isprintable()


@given(fields=st.dictionaries(st.sampled_from(FIELDS), anything, max_size=4))
def test_any_body_is_a_request_or_a_refusal(fields: dict[str, Any]):
    """Q-15: whatever JSON arrives, it is read or refused."""
    spoken(fields)


def item(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "type": kind}


small = st.recursive(
    scalars | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=5,
)
items = st.builds(item, st.sampled_from(WORDS), st.dictionaries(st.sampled_from(KEYS), small, max_size=4))


@settings(max_examples=60)
@given(items=st.lists(items, max_size=3))
def test_any_item_is_read_or_refused(items: list[Any]):
    """The same for the inside of items."""
    spoken({"input": items})


def test_sameness_of_defaults():
    """E-13: the least request is that of chat."""
    chat = Chat().parse(CHAT, V1)
    assert replace(responding(), endpoint="chat", body=CHAT) == chat
