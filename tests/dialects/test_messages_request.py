"""What a messages request may say, and what it then means (E-164 to E-169)."""

import base64
import json
from typing import Any

import pytest

from engy_mock.dialects.messages import Messages
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
from tests.dialects.made import MESSAGES, messages

PNG = b"\x89PNG\r\n\x1a\n\x00\x01"
PICTURE = Image(media_type="image/png", data=PNG)
WEATHER = {"name": "get_weather", "input_schema": {"type": "object"}}
EFFORTS = "none, minimal, low, medium, high, xhigh, max"


def text(words: str, **more: object) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, **more}


def picture(data: bytes = PNG, kind: str = "png") -> dict[str, Any]:
    """An image block."""
    source = {"type": "base64", "media_type": f"image/{kind}", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source, "cache_control": None}


def result(content: object = None, **more: object) -> dict[str, Any]:
    """A block with what a tool answered."""
    block = {"type": "tool_result", "tool_use_id": "toolu_1", **more}
    return block if content is None else {**block, "content": content}


def use(**arguments: object) -> dict[str, Any]:
    """A block with a tool call."""
    return {"type": "tool_use", "id": "toolu_1", "name": "f", "input": arguments}


def said(*turns: object) -> dict[str, Any]:
    """A body with these messages."""
    return {"messages": list(turns)}


def user(*content: object) -> dict[str, Any]:
    """A body with one message of the user, made of these blocks."""
    return said({"role": "user", "content": list(content)})


def assistant(*content: object) -> dict[str, Any]:
    """A body with one message of the assistant, made of these blocks."""
    return said({"role": "assistant", "content": list(content)})


def test_the_least_request():
    """E-164: model, messages and max_tokens are enough; everything else has its default."""
    body = {**MESSAGES, "unknown": [1]}
    request = Messages().parse(body, V1)
    assert (request.endpoint, request.surface, request.model) == ("messages", "v1", "glm-5.2")
    assert request.prompt == Conversation(messages=(Message(role="user", text="Hi"),))
    assert (request.sampling, request.max_tokens, request.stop, request.copies) == (Sampling(), 64, (), 1)
    assert (request.tools, request.tool_choice, request.parallel_tool_calls) == ((), ToolChoice(), True)
    assert (request.thinking, request.scoring) == (ThinkingWish(), Scoring())
    assert (request.is_streamed, request.include_usage, request.cache_key) == (False, False, None)
    assert (request.provider, request.response_format) == (ProviderWish(), ResponseFormat())
    assert request.body is body, "E-7: unknown fields are kept"


ACCEPTED: list[tuple[str, dict[str, Any], str, object]] = [
    ("E-30", {"model": "engy/glm-5.2"}, "model", "engy/glm-5.2"),
    ("E-164", {"max_tokens": 1}, "max_tokens", 1),
    ("E-164 huge", {"max_tokens": 10**30}, "max_tokens", 10**30),
    ("E-165 temperature", {"temperature": 2}, "sampling", Sampling(temperature=2.0)),
    ("E-165 top_p", {"top_p": 1}, "sampling", Sampling(top_p=1.0)),
    ("E-165 top_k", {"top_k": 5}, "sampling", Sampling(top_k=5)),
    (
        "E-165 unknown numbers",
        {"seed": "x", "min_p": 7, "presence_penalty": [], "n": 0},
        "sampling",
        Sampling(),
    ),
    ("E-165 stops", {"stop_sequences": ["a", "", "b"]}, "stop", ("a", "b")),
    ("E-165 no stops", {"stop_sequences": []}, "stop", ()),
    ("E-165 stop of chat", {"stop": 5}, "stop", ()),
    ("E-165 user", {"metadata": {"user_id": "u"}}, "cache_key", "u"),
    ("E-165 nobody", {"metadata": {"user_id": None}}, "cache_key", None),
    ("E-165 user of chat", {"user": 5}, "cache_key", None),
    ("E-9 cache key", {"metadata": {"user_id": "u"}, "prompt_cache_key": "k"}, "cache_key", "k"),
    ("E-9 provider", {"provider": {"zdr": True, "order": []}}, "provider", ProviderWish(zdr=True)),
    (
        "E-165 of agents",
        {
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            "service_tier": "auto",
            "cache_control": {"type": "ephemeral"},
            "betas": ["x"],
            "diagnostics": None,
        },
        "sampling",
        Sampling(),
    ),
    ("E-2", {"stream": True}, "is_streamed", True),
    (
        "E-2 options of chat",
        {"stream": True, "stream_options": {"include_usage": True}},
        "include_usage",
        False,
    ),
    (
        "E-167",
        {"tools": [{"name": "f", "description": "d", "input_schema": {"a": 1}, "cache_control": {"ttl": "1h"}}]},
        "tools",
        (Tool(name="f", description="d", parameters={"a": 1}),),
    ),
    (
        "E-167 custom",
        {"tools": [{**WEATHER, "type": "custom", "strict": True}, {**WEATHER, "type": None}]},
        "tools",
        (Tool(name="get_weather", parameters={"type": "object"}),) * 2,
    ),
    ("E-167 no tools", {"tools": []}, "tools", ()),
    ("E-167 auto", {"tool_choice": {"type": "auto"}}, "tool_choice", ToolChoice()),
    ("E-167 none", {"tool_choice": {"type": "none"}}, "tool_choice", ToolChoice(mode="none")),
    (
        "E-167 any",
        {"tools": [WEATHER], "tool_choice": {"type": "any"}},
        "tool_choice",
        ToolChoice(mode="required"),
    ),
    (
        "E-167 tool",
        {"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "get_weather"}},
        "tool_choice",
        ToolChoice(mode="named", name="get_weather"),
    ),
    (
        "E-167 not parallel",
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        "parallel_tool_calls",
        False,
    ),
    (
        "E-167 parallel",
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        "parallel_tool_calls",
        True,
    ),
    (
        "E-59",
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        "response_format",
        ResponseFormat(type="json_schema", schema={"type": "object"}),
    ),
    ("E-169 nothing", {"container": None, "mcp_servers": []}, "stop", ()),
]


@pytest.mark.parametrize(
    ("fields", "attribute", "value"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED]
)
def test_accepted(fields: dict[str, Any], attribute: str, value: object):
    """Each field has its meaning (E-164 to E-168)."""
    assert getattr(messages(**fields), attribute) == value


def test_null_equals_absence():
    """E-8: null for every optional field is the request without them."""
    optional = {name for _, fields, _, _ in ACCEPTED for name in fields}
    optional |= {name for _, fields, _ in THINKING for name in fields}
    optional -= {"model", "max_tokens"}
    request = messages(system=None, **dict.fromkeys(optional))
    without = messages()
    for attribute in set(type(without).__dataclass_fields__) - {"body"}:
        assert getattr(request, attribute) == getattr(without, attribute)


THINKING: list[tuple[str, dict[str, Any], ThinkingWish]] = [
    ("E-168", {"thinking": {"type": "enabled", "budget_tokens": "many"}}, ThinkingWish(enabled=True)),
    ("E-168", {"thinking": {"type": "adaptive", "display": "omitted"}}, ThinkingWish(enabled=True)),
    ("E-168", {"thinking": {"type": "between_tools"}}, ThinkingWish(enabled=True)),
    ("E-168", {"thinking": {"type": "disabled"}}, ThinkingWish(enabled=False)),
    ("E-165", {"output_config": {"effort": "low"}}, ThinkingWish(effort="low")),
    ("E-165", {"output_config": {"effort": None}}, ThinkingWish()),
    (
        "E-168 effort says more",
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ThinkingWish(effort="high"),
    ),
    (
        "E-168 off is off",
        {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}, "reasoning_effort": "max"},
        ThinkingWish(enabled=False),
    ),
    ("E-9", {"reasoning_effort": "none"}, ThinkingWish(effort="none")),
    ("E-9", {"reasoning": {"enabled": False}}, ThinkingWish(enabled=False)),
    ("E-9", {"chat_template_kwargs": {"enable_thinking": False}}, ThinkingWish(enabled=False)),
    (
        "E-9 own fields first",
        {"output_config": {"effort": "low"}, "reasoning_effort": "max"},
        ThinkingWish(effort="low"),
    ),
    (
        "E-9 own switch first",
        {"thinking": {"type": "enabled"}, "reasoning_effort": "none"},
        ThinkingWish(enabled=True),
    ),
]


@pytest.mark.parametrize(
    ("fields", "wish"),
    [row[1:] for row in THINKING],
    ids=[f"{row[0]} {json.dumps(row[1])}" for row in THINKING],
)
def test_which_wish_about_thinking_counts(fields: dict[str, Any], wish: ThinkingWish):
    """E-168, E-9: `disabled`, then an effort, then the switch, then the fields of chat."""
    assert messages(**fields).thinking == wish


@pytest.mark.parametrize("effort", EFFORTS.split(", "))
def test_every_effort_is_taken(effort: str):
    """E-165: an effort is the reasoning effort of chat."""
    assert messages(output_config={"effort": effort}).thinking.effort == effort


@pytest.mark.parametrize(
    ("system", "turns"),
    [
        ("Be brief.", ("Be brief.",)),
        ([text("Be "), text("brief.", cache_control={"type": "ephemeral"})], ("Be brief.",)),
        ("", ()),
        ([], ()),
        ([text("")], ()),
        (None, ()),
    ],
)
def test_system(system: object, turns: tuple[str, ...]):
    """E-165: instructions are the first message; those that say nothing are none."""
    first = tuple(Message(role="system", text=words) for words in turns)
    assert messages(system=system).messages == (*first, Message(role="user", text="Hi"))


TURNS: list[tuple[str, dict[str, Any], tuple[Message, ...]]] = [
    ("E-166 text", user(text("a"), text("b", citations=None)), (Message(role="user", text="ab"),)),
    ("E-166 nothing", user(), (Message(role="user"),)),
    ("E-166 silence", said({"role": "user", "content": ""}), (Message(role="user"),)),
    (
        "E-166 image",
        user(text("Look: "), picture(), text("nice")),
        (Message(role="user", text="Look: nice", parts=("Look: ", PICTURE, "nice")),),
    ),
    (
        "E-166 answer",
        assistant(text("I will. ", citations=[]), use(city="Zürich", days=2), text("Soon.")),
        (
            Message(
                role="assistant",
                text="I will. Soon.",
                tool_calls=(ToolCall("f", '{"city":"Zürich","days":2}', call_id="toolu_1"),),
            ),
        ),
    ),
    (
        "E-166 no arguments",
        assistant(use()),
        (Message(role="assistant", tool_calls=(ToolCall("f", "{}", call_id="toolu_1"),)),),
    ),
    (
        "E-166 thinking",
        assistant(
            {"type": "thinking", "thinking": "Hm.", "signature": "forged"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "thinking"},
            text("a"),
        ),
        (Message(role="assistant", text="a"),),
    ),
    ("E-166 only thinking", assistant({"type": "thinking", "thinking": "Hm."}), (Message(role="assistant"),)),
    ("E-166 no answer", assistant(), (Message(role="assistant"),)),
    (
        "E-166 result",
        user(result("20 degrees", is_error=False, cache_control={"type": "ephemeral"})),
        (Message(role="tool", text="20 degrees", tool_call_id="toolu_1"),),
    ),
    (
        "E-166 result of blocks",
        user(result([text("a"), text("b")], is_error=True)),
        (Message(role="tool", text="ab", tool_call_id="toolu_1"),),
    ),
    (
        "E-166 result with an image",
        user(result([text("a"), picture()])),
        (Message(role="tool", text="a", parts=("a", PICTURE), tool_call_id="toolu_1"),),
    ),
    ("E-166 no result", user(result()), (Message(role="tool", tool_call_id="toolu_1"),)),
    (
        "E-166 null result",
        user({"type": "tool_result", "tool_use_id": "toolu_1", "content": None, "is_error": None}),
        (Message(role="tool", tool_call_id="toolu_1"),),
    ),
    ("E-166 empty result", user(result([])), (Message(role="tool", tool_call_id="toolu_1"),)),
    (
        "E-166 results and words",
        user(text("First. "), result("1"), text("Then."), result("2", tool_use_id="other")),
        (
            Message(role="tool", text="1", tool_call_id="toolu_1"),
            Message(role="tool", text="2", tool_call_id="other"),
            Message(role="user", text="First. Then."),
        ),
    ),
    (
        "E-165 system among messages",
        said(
            {"role": "user", "content": "a"},
            {"role": "system", "content": "b"},
            {"role": "system", "content": [text("c", cache_control={"type": "ephemeral"}), text("d")]},
            {"role": "user", "content": "e"},
        ),
        (
            Message(role="user", text="a"),
            Message(role="system", text="b"),
            Message(role="system", text="cd"),
            Message(role="user", text="e"),
        ),
    ),
    (
        "E-96 prefill",
        said({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}),
        (Message(role="user", text="a"), Message(role="assistant", text="b")),
    ),
]


@pytest.mark.parametrize(("fields", "turns"), [row[1:] for row in TURNS], ids=[row[0] for row in TURNS])
def test_turns(fields: dict[str, Any], turns: tuple[Message, ...]):
    """Each message becomes one turn, or several where tools answered (E-165, E-166)."""
    assert messages(**fields).messages == turns


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("png", PNG),
        ("jpeg", b"\xff\xd8\xff\xe0\x00"),
        ("gif", b"GIF89a\x01"),
        ("webp", b"RIFF\0\1\2\nWEBPVP8 "),
    ],
)
def test_pictures(kind: str, data: bytes):
    """E-166: the decoded bytes of a picture are kept, with their type."""
    (turn,) = messages(**user(picture(data, kind))).messages
    assert turn.images == (Image(media_type=f"image/{kind}", data=data),)


BLOCKS_OF_USERS = "text, image, tool_result"
ROLES = "user, assistant, system"
C = "messages[0].content"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("E-164 model", {"model": None}, "model must be a string, got null"),
    ("E-164 max_tokens", {"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
    ("E-164 max_tokens true", {"max_tokens": True}, "max_tokens must be an integer, got true"),
    ("E-164 max_tokens null", {"max_tokens": None}, "max_tokens must be an integer, got null"),
    ("E-164 messages", said(), "messages must not be empty, got []"),
    ("E-165 temperature", {"temperature": 2.5}, "temperature must be at most 2, got 2.5"),
    ("E-165 top_p", {"top_p": 0}, "top_p must be above 0, got 0"),
    ("E-165 top_k", {"top_k": 1.5}, "top_k must be an integer, got 1.5"),
    ("E-165 stops", {"stop_sequences": "x"}, 'stop_sequences must be an array, got "x"'),
    ("E-165 stop", {"stop_sequences": ["x", 1]}, "stop_sequences[1] must be a string, got 1"),
    ("E-165 user", {"metadata": {"user_id": 1}}, "metadata.user_id must be a string, got 1"),
    ("E-165 metadata", {"metadata": []}, "metadata must be an object, got []"),
    ("E-165 system", {"system": 5}, "system must be a string or an array, got 5"),
    ("E-165 system block", {"system": [picture()]}, 'system[0].type must be text, got "image"'),
    ("E-165 system text", {"system": [{"type": "text"}]}, "system[0].text is required"),
    (
        "E-165 effort",
        {"output_config": {"effort": "huge"}},
        f'output_config.effort must be one of {EFFORTS}, got "huge"',
    ),
    (
        "E-165 role",
        said({"role": "tool", "content": "x"}),
        f'messages[0].role must be one of {ROLES}, got "tool"',
    ),
    ("E-165 no role", said({"content": "x"}), "messages[0].role is required"),
    ("E-165 message", said("x"), 'messages[0] must be an object, got "x"'),
    ("E-165 no content", said({"role": "user"}), f"{C} is required"),
    (
        "E-165 null content",
        said({"role": "assistant", "content": None}),
        f"{C} must be a string or an array, got null",
    ),
    ("E-166 block", user("x"), f'{C}[0] must be an object, got "x"'),
    ("E-166 no type", user({"text": "x"}), f"{C}[0].type is required"),
    ("E-166 no text", user({"type": "text"}), f"{C}[0].text is required"),
    ("E-166 misplaced call", user(use()), f'{C}[0].type must be one of {BLOCKS_OF_USERS}, got "tool_use"'),
    (
        "E-166 misplaced result",
        assistant(result("x")),
        f'{C}[0].type must be one of text, tool_use, thinking, redacted_thinking, got "tool_result"',
    ),
    ("E-166 result id", user({"type": "tool_result"}), f"{C}[0].tool_use_id is required"),
    ("E-166 is_error", user(result(is_error="no")), f'{C}[0].is_error must be a boolean, got "no"'),
    ("E-166 result content", user(result(5)), f"{C}[0].content must be a string or an array, got 5"),
    ("E-166 call id", assistant({**use(), "id": None}), f"{C}[0].id must be a string, got null"),
    ("E-166 call name", assistant({**use(), "name": ""}), f'{C}[0].name must not be empty, got ""'),
    ("E-166 call input", assistant({**use(), "input": "{}"}), f'{C}[0].input must be an object, got "{{}}"'),
    ("E-167 schema", {"tools": [{"name": "f"}]}, "tools[0].input_schema is required"),
    ("E-167 form of chat", {"tool_choice": "auto"}, 'tool_choice must be an object, got "auto"'),
    (
        "E-167 kind",
        {"tool_choice": {"type": "required"}},
        'tool_choice.type must be one of auto, any, tool, none, got "required"',
    ),
    ("E-167 any", {"tool_choice": {"type": "any"}}, "tool_choice.type must not be any without tools"),
    ("E-167 nameless", {"tool_choice": {"type": "tool"}}, "tool_choice.name is required"),
    (
        "E-167 unknown",
        {"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "f"}},
        'tool_choice.name must be the name of a tool that is offered, got "f"',
    ),
    (
        "E-168",
        {"thinking": {"type": "on"}},
        'thinking.type must be one of enabled, adaptive, between_tools, disabled, got "on"',
    ),
    ("E-168 boolean", {"thinking": True}, "thinking must be an object, got true"),
    (
        "E-169 server tool",
        {"tools": [WEATHER, {"type": "web_search_20250305", "name": "web_search"}]},
        'tools[1].type must be custom, got "web_search_20250305"',
    ),
    (
        "E-169 document",
        user({"type": "document", "source": {"type": "text", "data": "x"}}),
        f'{C}[0].type must be one of {BLOCKS_OF_USERS}, got "document"',
    ),
    (
        "E-169 document in a result",
        user(result([{"type": "document"}])),
        f'{C}[0].content[0].type must be one of text, image, got "document"',
    ),
    (
        "E-169 result of a server tool",
        assistant({"type": "web_search_tool_result", "content": []}),
        f'{C}[0].type must be one of text, tool_use, thinking, redacted_thinking, got "web_search_tool_result"',
    ),
    (
        "E-169 image by address",
        user({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
        f'{C}[0].source.type must be base64, got "url"',
    ),
    (
        "E-169 image by file",
        user(text("x"), {"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
        f'{C}[1].source.type must be base64, got "file"',
    ),
    ("E-169 citations", user(text("x", citations=[{}])), f"{C}[0].citations is not supported, got [{{}}]"),
    ("E-169 container", {"container": "c_1"}, 'container is not supported, got "c_1"'),
    ("E-169 servers", {"mcp_servers": [{"url": "x"}]}, 'mcp_servers is not supported, got [{"url":"x"}]'),
    (
        "E-144 Base64",
        user({**picture(), "source": {"type": "base64", "media_type": "image/png", "data": "%"}}),
        f'{C}[0].source.data must hold valid Base64, got "%"',
    ),
    (
        "E-144 bytes",
        user(result([text("x"), picture(b"GIF89a", "png")])),
        f'{C}[0].content[1].source.data must hold bytes that begin like image/png, got "R0lGODlh"',
    ),
    (
        "E-144 type",
        user(picture(PNG, "bmp")),
        f'{C}[0].source.media_type must be one of image/png, image/jpeg, image/gif, image/webp, got "image/bmp"',
    ),
    (
        "E-59 format",
        {"output_config": {"format": {"type": "poem"}}},
        'output_config.format.type must be json_schema, got "poem"',
    ),
    ("E-66", {"provider": {"zdr": 1}}, "provider.zdr must be a boolean, got 1"),
    ("E-9", {"reasoning_effort": "huge"}, f'reasoning_effort must be one of {EFFORTS}, got "huge"'),
]


@pytest.mark.parametrize(("fields", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(fields: dict[str, Any], message: str):
    """Each violation names the field and its value (E-164 to E-169)."""
    with pytest.raises(InvalidRequest) as caught:
        messages(**fields)
    assert caught.value.message == message
    assert caught.value.param == message.split(" ")[0]


@pytest.mark.parametrize("field", ["model", "messages", "max_tokens"])
def test_required(field: str):
    """E-164: these three must be there."""
    with pytest.raises(InvalidRequest, match=f"^{field} is required$"):
        Messages().parse({name: value for name, value in MESSAGES.items() if name != field}, V1)


def test_any_number_where_the_model_replaces_it():
    """E-89: numbers out of range pass where the model has its own."""
    body = {**MESSAGES, "temperature": 7, "top_p": -1}
    request = Messages().parse(body, V1, any_number=frozenset({"temperature", "top_p"}))
    assert request.sampling == Sampling(temperature=7.0, top_p=-1.0)


def test_an_agent():
    """E-165: what a coding agent sends: blocks with cache marks, 24 tools, 80 kB."""
    tools = [
        {
            "name": f"tool_{number}",
            "description": "Does one thing and does it well. " * 100,
            "input_schema": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
            **({"cache_control": {"type": "ephemeral"}} if number == 23 else {}),
        }
        for number in range(24)
    ]
    body = {
        "model": "glm-5.2",
        "max_tokens": 32000,
        "stream": True,
        "system": [
            text("x-billing: cc_version=2.1", cache_control=None),
            text("You are an agent. ", cache_control={"type": "ephemeral", "ttl": "1h"}),
            text("Be careful."),
        ],
        "tools": tools,
        "metadata": {"user_id": "user_1_account__session_2"},
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "messages": [
            {
                "role": "user",
                "content": [text("<system-reminder>Hi</system-reminder>"), text("List the files.")],
            },
            {"role": "system", "content": "Today is Monday."},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "", "signature": "c2ln"}, use(path=".")],
            },
            {"role": "user", "content": [result("a.py", is_error=False), text("Go on.")]},
        ],
    }
    assert len(json.dumps(body)) > 80_000
    request = Messages().parse(body, V1)
    assert [turn.role for turn in request.messages] == [
        "system",
        "user",
        "system",
        "assistant",
        "tool",
        "user",
    ]
    assert (len(request.tools), request.cache_key) == (24, "user_1_account__session_2")
    assert (request.thinking, request.is_streamed) == (ThinkingWish(effort="high"), True)
