"""What a chat request may say, and what it then means ("Create a chat completion", Body parameters)."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.surfaces import V1
from engy_mock.vocabulary.errors import InvalidRequest
from engy_mock.vocabulary.request import (
    Conversation,
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
from tests.dialects.made import CHAT, chat

BYTES = {
    "png": b"\x89PNG\r\n\x1a\n\x00\x01",
    "jpeg": b"\xff\xd8\xff\xe0\x00",
    "gif": b"GIF89a\x01",
    "webp": b"RIFF\x00\x01\x02\x0aWEBPVP8 ",
}
DESCRIBED = {"name": "f", "description": "d", "parameters": {"a": 1}}
WEATHER = {"type": "function", "function": {"name": "get_weather"}}
EFFORTS = "none, minimal, low, medium, high, xhigh, max"
ROLES = "system, user, developer, assistant, tool"
IMAGE_RULE = "must be a data:image/...;base64, URI of type png, jpeg, gif or webp"


def uri(kind: str, data: bytes) -> str:
    """A data URI."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def picture(url: object) -> dict[str, Any]:
    """An image part."""
    return {"type": "image_url", "image_url": {"url": url}}


def said(*messages: object) -> dict[str, Any]:
    """A body with these messages."""
    return {"messages": list(messages)}


def user(content: object) -> dict[str, Any]:
    """A body with one user message."""
    return said({"role": "user", "content": content})


def assistant(**fields: object) -> dict[str, Any]:
    """A body with one assistant message."""
    return said({"role": "assistant", **fields})


def test_the_least_request():
    """Only model and messages are required; everything else has its documented default."""
    body = {**CHAT, "unknown": [1]}
    request = Chat().parse(body, V1)
    assert request.endpoint == "chat"
    assert request.surface == "v1"
    assert request.model == "glm-5.2"
    assert request.prompt == Conversation(messages=(Message(role="user", text="Hi"),))
    assert request.sampling == Sampling()
    assert (request.max_tokens, request.stop, request.copies) == (None, (), 1)
    assert (request.tools, request.tool_choice, request.parallel_tool_calls) == ((), ToolChoice(), True)
    assert (request.thinking, request.scoring) == (ThinkingWish(), Scoring())
    assert (request.is_streamed, request.include_usage, request.cache_key) == (False, False, None)
    assert (request.provider, request.response_format) == (ProviderWish(), ResponseFormat())
    assert request.body is body, "E-7: unknown fields are kept"


ACCEPTED: list[tuple[str, dict[str, Any], str, object]] = [
    ("E-38 vendor", {"model": "engy/glm-5.2"}, "model", "engy/glm-5.2"),
    ("E-45", {"max_tokens": 1}, "max_tokens", 1),
    ("E-45 huge", {"max_tokens": 10**30}, "max_tokens", 10**30),
    ("E-46", {"max_completion_tokens": 7}, "max_tokens", 7),
    ("E-46 wins", {"max_completion_tokens": 7, "max_tokens": 9}, "max_tokens", 7),
    ("E-46 null", {"max_completion_tokens": None, "max_tokens": 9}, "max_tokens", 9),
    ("E-47", {"stream": True}, "is_streamed", True),
    ("E-47 false", {"stream": False}, "is_streamed", False),
    ("E-48", {"stream": True, "stream_options": {"include_usage": True}}, "include_usage", True),
    ("E-48 false", {"stream": True, "stream_options": {"include_usage": False}}, "include_usage", False),
    ("E-48 null", {"stream": True, "stream_options": {"include_usage": None}}, "include_usage", False),
    ("E-48 no stream", {"stream_options": {"include_usage": True}}, "include_usage", False),
    ("E-49 low", {"temperature": 0}, "sampling", Sampling(temperature=0.0)),
    ("E-49 high", {"temperature": 2}, "sampling", Sampling(temperature=2.0)),
    ("E-50", {"top_p": 1}, "sampling", Sampling(top_p=1.0)),
    ("E-51", {"top_k": -1, "min_p": 0.5}, "sampling", Sampling(top_k=-1, min_p=0.5)),
    (
        "E-52",
        {"presence_penalty": -2, "frequency_penalty": 2},
        "sampling",
        Sampling(presence_penalty=-2.0, frequency_penalty=2.0),
    ),
    ("E-53", {"seed": -(10**40)}, "sampling", Sampling(seed=-(10**40))),
    ("E-54 string", {"stop": "END"}, "stop", ("END",)),
    ("E-54 strings", {"stop": ["a", "", "b"]}, "stop", ("a", "b")),
    ("E-54 empty", {"stop": ""}, "stop", ()),
    ("E-54 none", {"stop": []}, "stop", ()),
    ("E-55", {"n": 5}, "copies", 1),
    (
        "E-56",
        {"tools": [{"type": "function", "function": DESCRIBED}]},
        "tools",
        (Tool(name="f", description="d", parameters={"a": 1}),),
    ),
    (
        "E-56 bare",
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": None, "strict": True}}]},
        "tools",
        (Tool(name="f"),),
    ),
    ("E-56 empty", {"tools": []}, "tools", ()),
    ("E-57 auto", {"tool_choice": "auto"}, "tool_choice", ToolChoice(mode="auto")),
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
    (
        "E-59",
        {"response_format": {"type": "json_object"}},
        "response_format",
        ResponseFormat(type="json_object"),
    ),
    ("E-59 any", {"response_format": {"type": "poem"}}, "response_format", ResponseFormat(type="poem")),
    (
        "E-59 schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"a": 1}}}},
        "response_format",
        ResponseFormat(type="json_schema", schema={"a": 1}, name="n"),
    ),
    (
        "E-59 boolean schema",
        {"response_format": {"type": "json_schema", "json_schema": {"schema": False}}},
        "response_format",
        ResponseFormat(type="json_schema", schema=False),
    ),
    ("E-63", {"logprobs": True}, "scoring", Scoring(logprobs=True)),
    ("E-63 null", {"logprobs": None}, "scoring", Scoring()),
    ("E-64", {"top_logprobs": 30}, "scoring", Scoring(logprobs=True, top=30)),
    ("E-64 wins", {"top_logprobs": 1, "logprobs": False}, "scoring", Scoring(logprobs=True, top=1)),
    ("E-64 zero", {"top_logprobs": 0}, "scoring", Scoring()),
    ("E-64 zero on", {"top_logprobs": 0, "logprobs": True}, "scoring", Scoring(logprobs=True)),
    ("E-65", {"prompt_cache_key": "k", "user": "u"}, "cache_key", "k"),
    ("E-65 user", {"prompt_cache_key": None, "user": "u"}, "cache_key", "u"),
    ("E-65 empty", {"prompt_cache_key": "", "user": "u"}, "cache_key", "u"),
    (
        "E-66",
        {"provider": {"zdr": True, "require_proof": None, "order": ["x"]}},
        "provider",
        ProviderWish(zdr=True),
    ),
    ("E-66 proof", {"provider": {"require_proof": True}}, "provider", ProviderWish(require_proof=True)),
    (
        "E-67",
        {"logit_bias": {"50256": -100, "007": 1.5}},
        "sampling",
        Sampling(logit_bias={50256: -100.0, 7: 1.5}),
    ),
    ("E-67 ignored", {"repetition_penalty": "x", "stop_token_ids": 5}, "sampling", Sampling()),
    ("E-130", {"enable_thinking": False, "thinking": {"type": "disabled"}}, "thinking", ThinkingWish()),
]


@pytest.mark.parametrize(
    ("fields", "attribute", "value"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED]
)
def test_accepted(fields: dict[str, Any], attribute: str, value: object):
    """Each field has its meaning (E-38 to E-67)."""
    assert getattr(chat(**fields), attribute) == value


def test_null_equals_absence():
    """E-8: null for every optional field is the request without them."""
    optional = {field: None for row in ACCEPTED for field in row[1] if field != "model"}
    request = chat(**optional)
    assert len(optional) > 25
    assert replace(request, body=CHAT) == chat()


def test_numbers_are_floats_with_one_zero():
    """What JSON writes as 1, 1.0 or -0.0 is one number, so that equal wishes have equal digests."""
    sampling = chat(temperature=-0.0, presence_penalty=-0.0, top_p=1, logit_bias={"5": -0.0}).sampling
    assert repr((sampling.temperature, sampling.presence_penalty, sampling.top_p)) == "(0.0, 0.0, 1.0)"
    assert repr(sampling.logit_bias) == "{5: 0.0}"


THINKING = [
    ({"reasoning_effort": "low"}, ThinkingWish(effort="low")),
    ({"reasoning_effort": "none", "reasoning": {"effort": "max"}}, ThinkingWish(effort="none")),
    ({"reasoning": {"effort": "high", "enabled": False}}, ThinkingWish(effort="high")),
    ({"reasoning_effort": None, "reasoning": {"effort": "xhigh"}}, ThinkingWish(effort="xhigh")),
    ({"reasoning": {"effort": None, "enabled": False}}, ThinkingWish(enabled=False)),
    (
        {"reasoning": {"enabled": True}, "chat_template_kwargs": {"enable_thinking": False}},
        ThinkingWish(enabled=True),
    ),
    ({"chat_template_kwargs": {"enable_thinking": False, "thinking": True}}, ThinkingWish(enabled=False)),
    ({"chat_template_kwargs": {"enable_thinking": None, "thinking": True}}, ThinkingWish(enabled=True)),
    ({"chat_template_kwargs": {"thinking": False}}, ThinkingWish(enabled=False)),
    ({"chat_template_kwargs": {"thinking": "deep", "other": 1}}, ThinkingWish()),
    ({"reasoning": {}, "chat_template_kwargs": {}}, ThinkingWish()),
]


@pytest.mark.parametrize(("fields", "wish"), THINKING, ids=[json.dumps(row[0]) for row in THINKING])
def test_which_wish_about_thinking_counts(fields: dict[str, Any], wish: ThinkingWish):
    """E-127: the first field that says something counts, in the documented order."""
    assert chat(**fields).thinking == wish


@pytest.mark.parametrize("effort", EFFORTS.split(", "))
def test_every_effort_is_taken(effort: str):
    """E-60, E-61: both fields take the seven levels."""
    assert chat(reasoning_effort=effort).thinking.effort == effort
    assert chat(reasoning={"effort": effort}).thinking.effort == effort


MESSAGES = [
    ("E-40 system", {"role": "system", "content": "s"}, Message(role="system", text="s")),
    ("E-40 developer", {"role": "developer", "content": "s"}, Message(role="system", text="s")),
    ("E-41 empty", {"role": "user", "content": ""}, Message(role="user")),
    ("E-41 no parts", {"role": "user", "content": []}, Message(role="user")),
    (
        "E-41 texts",
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        Message(role="user", text="ab"),
    ),
    ("E-41 null", {"role": "assistant", "content": None}, Message(role="assistant")),
    ("E-41 absent", {"role": "assistant"}, Message(role="assistant")),
    (
        "E-42",
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                {"id": None, "function": {"name": "g", "arguments": "{broken"}},
                {"function": {"name": "h"}},
            ],
        },
        Message(
            role="assistant",
            tool_calls=(
                ToolCall("f", '{"a": 1}', call_id="c1"),
                ToolCall("g", "{}"),
                ToolCall("h", "{}"),
            ),
        ),
    ),
    ("E-42 null", {"role": "user", "content": "u", "tool_calls": None}, Message(role="user", text="u")),
    (
        "E-43",
        {"role": "tool", "content": "t", "tool_call_id": "nobody"},
        Message(role="tool", text="t", tool_call_id="nobody"),
    ),
    (
        "E-44",
        {"role": "assistant", "content": "a", "reasoning_content": "r"},
        Message(role="assistant", text="a"),
    ),
    (
        "E-44 null",
        {"role": "assistant", "content": "a", "reasoning_content": None, "name": "n"},
        Message(role="assistant", text="a"),
    ),
]


@pytest.mark.parametrize(("message", "turn"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES])
def test_messages(message: dict[str, Any], turn: Message):
    """Each message becomes a turn (E-40 to E-44)."""
    assert chat(**said(message)).messages == (turn,)


@pytest.mark.parametrize("kind", BYTES)
def test_pictures(kind: str):
    """E-143: the decoded bytes of a picture stand among the texts, in order."""
    content = [
        {"type": "text", "text": "Look: "},
        {"type": "image_url", "image_url": {"url": uri(kind, BYTES[kind]), "detail": "low"}},
        {"type": "text", "text": "nice"},
    ]
    (turn,) = chat(**user(content)).messages
    assert turn.parts == ("Look: ", Image(media_type=f"image/{kind}", data=BYTES[kind]), "nice")
    assert turn.text == "Look: nice"
    assert [image.data for image in turn.images] == [BYTES[kind]]


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("E-38", {"model": None}, "model", "model must be a string, got null"),
    ("E-38 empty", {"model": ""}, "model", 'model must not be empty, got ""'),
    ("E-39", said(), "messages", "messages must not be empty, got []"),
    ("E-39 null", {"messages": None}, "messages", "messages must be an array, got null"),
    ("E-39 string", {"messages": "hi"}, "messages", 'messages must be an array, got "hi"'),
    ("E-39 item", said("hi"), "messages[0]", 'messages[0] must be an object, got "hi"'),
    ("E-40", said({"content": "x"}), "messages[0].role", "messages[0].role is required"),
    (
        "E-40 other",
        said({"role": "critic", "content": "x"}),
        "messages[0].role",
        f'messages[0].role must be one of {ROLES}, got "critic"',
    ),
    (
        "E-40 number",
        said({"role": 1, "content": "x"}),
        "messages[0].role",
        f"messages[0].role must be one of {ROLES}, got 1",
    ),
    ("E-41", said({"role": "user"}), "messages[0].content", "messages[0].content is required"),
    (
        "E-41 null",
        user(None),
        "messages[0].content",
        "messages[0].content must be a string or an array, got null",
    ),
    (
        "E-41 number",
        user(5),
        "messages[0].content",
        "messages[0].content must be a string or an array, got 5",
    ),
    (
        "E-41 object",
        user({"type": "text", "text": "x"}),
        "messages[0].content",
        'messages[0].content must be a string or an array, got {"type":"text","text":"x"}',
    ),
    (
        "E-41 part",
        user(["x"]),
        "messages[0].content[0]",
        'messages[0].content[0] must be an object, got "x"',
    ),
    (
        "E-41 no type",
        user([{"text": "x"}]),
        "messages[0].content[0].type",
        "messages[0].content[0].type is required",
    ),
    (
        "E-41 other type",
        user([{"type": "file"}]),
        "messages[0].content[0].type",
        'messages[0].content[0].type must be one of text, image_url, got "file"',
    ),
    (
        "E-41 no text",
        user([{"type": "text"}]),
        "messages[0].content[0].text",
        "messages[0].content[0].text is required",
    ),
    (
        "E-41 text",
        user([{"type": "text", "text": None}]),
        "messages[0].content[0].text",
        "messages[0].content[0].text must be a string, got null",
    ),
    (
        "E-42",
        assistant(tool_calls={}),
        "messages[0].tool_calls",
        "messages[0].tool_calls must be an array, got {}",
    ),
    (
        "E-42 user",
        said({"role": "user", "content": "x", "tool_calls": []}),
        "messages[0].tool_calls",
        "messages[0].tool_calls is for assistant messages only, got []",
    ),
    (
        "E-42 function",
        assistant(tool_calls=[{}]),
        "messages[0].tool_calls[0].function",
        "messages[0].tool_calls[0].function is required",
    ),
    (
        "E-42 arguments",
        assistant(tool_calls=[{"function": {"name": "f", "arguments": {}}}]),
        "messages[0].tool_calls[0].function.arguments",
        "messages[0].tool_calls[0].function.arguments must be a string, got {}",
    ),
    (
        "E-43",
        said({"role": "tool", "content": "x"}),
        "messages[0].tool_call_id",
        "messages[0].tool_call_id is required",
    ),
    (
        "E-44",
        assistant(reasoning_content=5),
        "messages[0].reasoning_content",
        "messages[0].reasoning_content must be a string, got 5",
    ),
    (
        "E-44 user",
        said({"role": "user", "content": "x", "reasoning_content": "r"}),
        "messages[0].reasoning_content",
        'messages[0].reasoning_content is for assistant messages only, got "r"',
    ),
    ("E-45", {"max_tokens": 0}, "max_tokens", "max_tokens must be at least 1, got 0"),
    ("E-45 float", {"max_tokens": 1.0}, "max_tokens", "max_tokens must be an integer, got 1.0"),
    ("E-8", {"max_tokens": True}, "max_tokens", "max_tokens must be an integer, got true"),
    (
        "E-46",
        {"max_completion_tokens": -1},
        "max_completion_tokens",
        "max_completion_tokens must be at least 1, got -1",
    ),
    ("E-47", {"stream": 1}, "stream", "stream must be a boolean, got 1"),
    ("E-48", {"stream_options": []}, "stream_options", "stream_options must be an object, got []"),
    (
        "E-48 usage",
        {"stream_options": {"include_usage": "yes"}},
        "stream_options.include_usage",
        'stream_options.include_usage must be a boolean, got "yes"',
    ),
    ("E-49", {"temperature": "hot"}, "temperature", 'temperature must be a number, got "hot"'),
    ("E-49 low", {"temperature": -0.1}, "temperature", "temperature must be at least 0, got -0.1"),
    ("E-49 high", {"temperature": 2.5}, "temperature", "temperature must be at most 2, got 2.5"),
    ("E-49 bool", {"temperature": False}, "temperature", "temperature must be a number, got false"),
    ("E-50", {"top_p": 0}, "top_p", "top_p must be above 0, got 0"),
    ("E-50 zero", {"top_p": -0.0}, "top_p", "top_p must be above 0, got -0.0"),
    ("E-50 high", {"top_p": 2.0}, "top_p", "top_p must be at most 1, got 2.0"),
    ("E-51", {"top_k": 1.5}, "top_k", "top_k must be an integer, got 1.5"),
    ("E-51 min_p", {"min_p": 1.1}, "min_p", "min_p must be at most 1, got 1.1"),
    ("E-52", {"presence_penalty": 3}, "presence_penalty", "presence_penalty must be at most 2, got 3"),
    (
        "E-52 low",
        {"frequency_penalty": -3},
        "frequency_penalty",
        "frequency_penalty must be at least -2, got -3",
    ),
    ("E-53", {"seed": "1"}, "seed", 'seed must be an integer, got "1"'),
    ("E-54", {"stop": 5}, "stop", "stop must be a string or an array, got 5"),
    ("E-54 object", {"stop": {}}, "stop", "stop must be a string or an array, got {}"),
    ("E-54 item", {"stop": ["a", None]}, "stop[1]", "stop[1] must be a string, got null"),
    ("E-55", {"n": 0}, "n", "n must be at least 1, got 0"),
    ("E-56", {"tools": {}}, "tools", "tools must be an array, got {}"),
    (
        "E-56 type",
        {"tools": [{"type": "web_search", "function": {"name": "f"}}]},
        "tools[0].type",
        'tools[0].type must be function, got "web_search"',
    ),
    (
        "E-56 function",
        {"tools": [{"type": "function"}]},
        "tools[0].function",
        "tools[0].function is required",
    ),
    (
        "E-56 name",
        {"tools": [WEATHER, {"type": "function", "function": {"name": ""}}]},
        "tools[1].function.name",
        'tools[1].function.name must not be empty, got ""',
    ),
    (
        "E-56 parameters",
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]},
        "tools[0].function.parameters",
        "tools[0].function.parameters must be an object, got []",
    ),
    (
        "E-57",
        {"tool_choice": "maybe"},
        "tool_choice",
        'tool_choice must be one of auto, required, none, or an object, got "maybe"',
    ),
    ("E-57 array", {"tool_choice": []}, "tool_choice", "tool_choice must be a string or an object, got []"),
    (
        "E-57 type",
        {"tool_choice": {"type": "tool", "function": {"name": "f"}}},
        "tool_choice.type",
        'tool_choice.type must be function, got "tool"',
    ),
    (
        "E-57 required",
        {"tool_choice": "required"},
        "tool_choice",
        "tool_choice must not be required without tools",
    ),
    (
        "E-57 required, empty",
        {"tool_choice": "required", "tools": []},
        "tool_choice",
        "tool_choice must not be required without tools",
    ),
    (
        "E-57 named",
        {"tool_choice": {"type": "function", "function": {"name": "sing"}}, "tools": [WEATHER]},
        "tool_choice.function.name",
        'tool_choice.function.name must be the name of a tool that is offered, got "sing"',
    ),
    (
        "E-58",
        {"parallel_tool_calls": 0},
        "parallel_tool_calls",
        "parallel_tool_calls must be a boolean, got 0",
    ),
    ("E-59", {"response_format": "json"}, "response_format", 'response_format must be an object, got "json"'),
    ("E-59 type", {"response_format": {}}, "response_format.type", "response_format.type is required"),
    (
        "E-59 no schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
        "response_format.json_schema.schema",
        "response_format.json_schema.schema is required",
    ),
    (
        "E-59 nothing",
        {"response_format": {"type": "json_schema"}},
        "response_format.json_schema.schema",
        "response_format.json_schema.schema is required",
    ),
    (
        "E-59 schema",
        {"response_format": {"type": "json_schema", "json_schema": {"schema": "x"}}},
        "response_format.json_schema.schema",
        'response_format.json_schema.schema must be an object or a boolean, got "x"',
    ),
    (
        "E-60",
        {"reasoning_effort": "huge"},
        "reasoning_effort",
        f'reasoning_effort must be one of {EFFORTS}, got "huge"',
    ),
    ("E-61", {"reasoning": True}, "reasoning", "reasoning must be an object, got true"),
    (
        "E-61 effort",
        {"reasoning": {"effort": 3}},
        "reasoning.effort",
        f"reasoning.effort must be one of {EFFORTS}, got 3",
    ),
    (
        "E-61 enabled",
        {"reasoning": {"enabled": 1}},
        "reasoning.enabled",
        "reasoning.enabled must be a boolean, got 1",
    ),
    (
        "E-62",
        {"chat_template_kwargs": []},
        "chat_template_kwargs",
        "chat_template_kwargs must be an object, got []",
    ),
    ("E-63", {"logprobs": 5}, "logprobs", "logprobs must be a boolean, got 5"),
    ("E-64", {"top_logprobs": 31}, "top_logprobs", "top_logprobs must be at most 30, got 31"),
    ("E-64 low", {"top_logprobs": -1}, "top_logprobs", "top_logprobs must be at least 0, got -1"),
    ("E-64 bool", {"top_logprobs": True}, "top_logprobs", "top_logprobs must be an integer, got true"),
    ("E-65", {"user": 5}, "user", "user must be a string, got 5"),
    ("E-65 key", {"prompt_cache_key": {}}, "prompt_cache_key", "prompt_cache_key must be a string, got {}"),
    ("E-66", {"provider": []}, "provider", "provider must be an object, got []"),
    ("E-66 zdr", {"provider": {"zdr": "yes"}}, "provider.zdr", 'provider.zdr must be a boolean, got "yes"'),
    ("E-67", {"logit_bias": []}, "logit_bias", "logit_bias must be an object, got []"),
    ("E-67 key", {"logit_bias": {"a": 1}}, "logit_bias", 'logit_bias must have token ids as keys, got "a"'),
    (
        "E-67 sign",
        {"logit_bias": {"-1": 1}},
        "logit_bias",
        'logit_bias must have token ids as keys, got "-1"',
    ),
    ("E-67 value", {"logit_bias": {"5": 101}}, "logit_bias.5", "logit_bias.5 must be at most 100, got 101"),
    ("E-67 bool", {"logit_bias": {"5": True}}, "logit_bias.5", "logit_bias.5 must be a number, got true"),
    (
        "E-143",
        user([picture("https://example.com/a.png")]),
        "messages[0].content[0].image_url.url",
        f'messages[0].content[0].image_url.url {IMAGE_RULE}, got "https://example.com/a.png"',
    ),
    (
        "E-143 type",
        user([picture(uri("bmp", b"BM"))]),
        "messages[0].content[0].image_url.url",
        f'messages[0].content[0].image_url.url {IMAGE_RULE}, got "data:image/bmp;base64,Qk0="',
    ),
    (
        "E-143 not base64",
        user([picture("data:image/png,abc")]),
        "messages[0].content[0].image_url.url",
        f'messages[0].content[0].image_url.url {IMAGE_RULE}, got "data:image/png,abc"',
    ),
    (
        "E-143 number",
        user([picture(5)]),
        "messages[0].content[0].image_url.url",
        "messages[0].content[0].image_url.url must be a string, got 5",
    ),
    (
        "E-143 bare",
        user([{"type": "image_url", "image_url": "data:"}]),
        "messages[0].content[0].image_url",
        'messages[0].content[0].image_url must be an object, got "data:"',
    ),
    (
        "E-144 base64",
        user([picture("data:image/png;base64,iVBOR*")]),
        "messages[0].content[0].image_url.url",
        'messages[0].content[0].image_url.url must hold valid Base64, got "data:image/png;base64,iVBOR*"',
    ),
    (
        "E-144 padding",
        user([picture("data:image/gif;base64,R0lGODlhAQ")]),
        "messages[0].content[0].image_url.url",
        'messages[0].content[0].image_url.url must hold valid Base64, got "data:image/gif;base64,R0lGODlhAQ"',
    ),
    (
        "E-144 not ASCII",
        user([picture("data:image/gif;base64,é")]),
        "messages[0].content[0].image_url.url",
        'messages[0].content[0].image_url.url must hold valid Base64, got "data:image/gif;base64,é"',
    ),
    (
        "E-144 empty",
        user([picture("data:image/webp;base64,")]),
        "messages[0].content[0].image_url.url",
        "messages[0].content[0].image_url.url must hold bytes that begin like image/webp, got "
        '"data:image/webp;base64,"',
    ),
]


@pytest.mark.parametrize(
    ("fields", "param", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(fields: dict[str, Any], param: str, message: str):
    """A violation is 400; it names the field and the value (E-38 to E-67, E-143, E-144)."""
    with pytest.raises(InvalidRequest) as caught:
        chat(**fields)
    assert (caught.value.status, caught.value.param, caught.value.message) == (400, param, message)
    assert caught.value.violations[0].message == message


@pytest.mark.parametrize(("declared", "real"), [(a, b) for a in BYTES for b in BYTES if a != b])
def test_a_picture_of_another_type(declared: str, real: str):
    """E-144: bytes that begin unlike the declared type are refused."""
    with pytest.raises(InvalidRequest, match=f"must hold bytes that begin like image/{declared}, got"):
        chat(**user([picture(uri(declared, BYTES[real]))]))


@pytest.mark.parametrize("field", ["model", "messages"])
def test_required(field: str):
    """E-38, E-39: model and messages must be there."""
    with pytest.raises(InvalidRequest, match=rf"^{field} is required$") as caught:
        Chat().parse({name: value for name, value in CHAT.items() if name != field}, V1)
    assert caught.value.param == field


ANY_NUMBER = frozenset({"temperature", "top_p", "n", "presence_penalty", "frequency_penalty"})


def test_any_number_is_taken_where_the_model_replaces_it():
    """E-89: the range of these fields is waived, and the values stay as they are."""
    fields = {"temperature": 9, "top_p": -1, "n": 0, "presence_penalty": 3.5, "frequency_penalty": -7}
    request = Chat().parse({**CHAT, **fields, "seed": 1}, V1, any_number=ANY_NUMBER)
    assert request.sampling == Sampling(
        temperature=9.0, top_p=-1.0, presence_penalty=3.5, frequency_penalty=-7.0, seed=1
    )
    assert request.body["n"] == 0


@pytest.mark.parametrize(
    ("fields", "params"),
    [
        ({"temperature": "x"}, ["temperature"]),
        ({"temperature": 9, "top_p": True, "n": "1"}, ["top_p", "n"]),
        ({"temperature": 9, "min_p": 9}, ["min_p"]),
        ({"temperature": 9, "tool_choice": "required"}, ["tool_choice"]),
    ],
)
def test_any_number_waives_nothing_else(fields: dict[str, Any], params: list[str]):
    """E-89: types, other fields and relations are still checked."""
    with pytest.raises(InvalidRequest) as caught:
        Chat().parse({**CHAT, **fields}, V1, any_number=ANY_NUMBER)
    assert [violation.param for violation in caught.value.violations] == params
