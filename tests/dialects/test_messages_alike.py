"""The same conversation means and gets the same in chat and in messages (E-13, E-165)."""

import base64
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.dialects.chat import Chat
from engy_mock.dialects.messages import Messages
from engy_mock.dialects.surfaces import V1
from engy_mock.gateway import Gateway, Settings
from engy_mock.vocabulary.wire import Call, Whole

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\x01").decode()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO = [{"role": "user", "content": "What is the weather like in the mountains?"}]
CHAT_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA},
}
TOOL = {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}
CHAT_CLOCK = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
CLOCK = {"name": "now", "input_schema": {"type": "object"}}


def text(words: str) -> dict[str, Any]:
    """A text block, which is a text part of chat too."""
    return {"type": "text", "text": words}


CHAT_PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
SHOWN_PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}

ROUND_OF_TOOLS: tuple[dict[str, Any], dict[str, Any]] = (
    {
        "tools": [CHAT_TOOL],
        "messages": [
            *HELLO,
            {
                "role": "assistant",
                "content": "Let me look.",
                "reasoning_content": "A tool helps.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city":"Bern"}'},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
            {"role": "tool", "tool_call_id": "c2", "content": [text("It is "), text("noon.")]},
            {"role": "user", "content": "And tomorrow?"},
        ],
    },
    {
        "tools": [TOOL],
        "messages": [
            *HELLO,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "A tool helps.", "signature": "x"},
                    text("Let me look."),
                    {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Bern"}},
                    {"type": "tool_use", "id": "c2", "name": "now", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "Sunny."},
                    {"type": "tool_result", "tool_use_id": "c2", "content": [text("It is "), text("noon.")]},
                    text("And tomorrow?"),
                ],
            },
        ],
    },
)

SYSTEM = {"role": "system", "content": "Be brief."}

ALIKE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("plain", {}, {}),
    ("vendor", {"model": "engy/glm-5.2"}, {"model": "other/glm-5.2"}),
    ("system", {"messages": [SYSTEM, *HELLO]}, {"system": "Be brief."}),
    ("system of blocks", {"messages": [SYSTEM, *HELLO]}, {"system": [text("Be "), text("brief.")]}),
    (
        "system in its place",
        {"messages": [*HELLO, SYSTEM], "model": "qwen3.8-27b"},
        {"messages": [*HELLO, SYSTEM], "model": "qwen3.8-27b"},
    ),
    (
        "prefill",
        {"messages": [*HELLO, {"role": "assistant", "content": "The sun"}]},
        {"messages": [*HELLO, {"role": "assistant", "content": [text("The "), text("sun")]}]},
    ),
    (
        "sampling",
        {"temperature": 0.5, "top_p": 0.9, "top_k": 3},
        {"temperature": 0.5, "top_p": 0.9, "top_k": 3},
    ),
    ("greedy", {"temperature": 0}, {"temperature": 0}),
    ("stop", {"stop": [" and", " the"]}, {"stop_sequences": [" and", " the"]}),
    ("limit", {"max_tokens": 40}, {"max_tokens": 40}),
    ("effort", {"reasoning_effort": "high"}, {"output_config": {"effort": "high"}}),
    (
        "effort beside thinking",
        {"reasoning": {"effort": "low"}, "model": "deepseek-v4.1-flash"},
        {
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "output_config": {"effort": "low"},
            "model": "deepseek-v4.1-flash",
        },
    ),
    (
        "thinking",
        {"reasoning": {"enabled": True}, "model": "deepseek-v4.1-flash"},
        {"thinking": {"type": "adaptive"}, "model": "deepseek-v4.1-flash"},
    ),
    ("no thinking", {"reasoning": {"enabled": False}}, {"thinking": {"type": "disabled"}}),
    ("wishes of chat", {"reasoning_effort": "none"}, {"reasoning_effort": "none"}),
    ("tools on offer", {"tools": [CHAT_TOOL, CHAT_CLOCK]}, {"tools": [TOOL, CLOCK]}),
    (
        "a tool demanded",
        {"tools": [CHAT_TOOL], "tool_choice": "required"},
        {"tools": [TOOL], "tool_choice": {"type": "any"}},
    ),
    (
        "a tool named",
        {
            "tools": [CHAT_TOOL, CHAT_CLOCK],
            "tool_choice": {"type": "function", "function": {"name": "now"}},
            "parallel_tool_calls": False,
        },
        {
            "tools": [TOOL, CLOCK],
            "tool_choice": {"type": "tool", "name": "now", "disable_parallel_tool_use": True},
        },
    ),
    (
        "a tool cut",
        {"tools": [CHAT_TOOL], "tool_choice": "required", "reasoning_effort": "none", "max_tokens": 6},
        {
            "tools": [TOOL],
            "tool_choice": {"type": "any"},
            "output_config": {"effort": "none"},
            "max_tokens": 6,
        },
    ),
    (
        "tools forbidden",
        {"tools": [CHAT_TOOL], "tool_choice": "none"},
        {"tools": [TOOL], "tool_choice": {"type": "none"}},
    ),
    ("a round of tools", *ROUND_OF_TOOLS),
    (
        "pictures",
        {
            "model": "kimi-k3",
            "messages": [{"role": "user", "content": [text("What is this?"), CHAT_PICTURE, text("Say.")]}],
        },
        {
            "model": "kimi-k3",
            "messages": [{"role": "user", "content": [text("What is this?"), SHOWN_PICTURE, text("Say.")]}],
        },
    ),
    (
        "a picture from a tool",
        {
            "model": "glm-5.3-flash",
            "messages": [
                *HELLO,
                {"role": "tool", "tool_call_id": "c1", "content": [CHAT_PICTURE, text("Look.")]},
            ],
        },
        {
            "model": "glm-5.3-flash",
            "messages": [
                *HELLO,
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [SHOWN_PICTURE, text("Look.")],
                        }
                    ],
                },
            ],
        },
    ),
    (
        "a form",
        {
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
            "reasoning_effort": "high",
        },
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "high"}},
    ),
    ("whose cache", {"user": "u"}, {"metadata": {"user_id": "u"}}),
    ("which workers", {"provider": {"zdr": True}}, {"provider": {"zdr": True}}),
    ("streamed", {"stream": True}, {"stream": True}),
]
NAMES = [row[0] for row in ALIKE]
BOTH = {"model": "glm-5.2", "max_tokens": 400, "messages": HELLO}

alike = pytest.mark.parametrize(("chat", "messages"), [row[1:] for row in ALIKE], ids=NAMES)


@alike
def test_the_same_request(chat: dict[str, Any], messages: dict[str, Any]):
    """E-165: the two formats are two ways to write one request."""
    one = Chat().parse({**BOTH, **chat}, V1)
    other = Messages().parse({**BOTH, **messages}, V1)
    one = replace(one, response_format=replace(one.response_format, name=None))
    other = replace(other, model=one.model, endpoint="chat", body=one.body)
    assert other == one


words = st.text(max_size=8)
pieces = st.lists(words.map(text) | st.just("a picture"), max_size=3)
arguments = st.dictionaries(words, st.none() | st.booleans() | st.integers() | words | st.lists(words), max_size=2)
calls = st.lists(st.tuples(st.sampled_from(["get_weather", "now"]), arguments), max_size=2)
turns = st.one_of(
    st.tuples(st.just("system"), words | pieces),
    st.tuples(st.just("user"), words | pieces),
    st.tuples(st.just("assistant"), st.tuples(st.lists(words.map(text), max_size=2), calls)),
    st.tuples(st.just("tool"), words | pieces),
)


def with_pictures(content: Any, picture: dict[str, Any]) -> Any:
    """A content in which each picture has this form."""
    return (
        content if isinstance(content, str) else [picture if piece == "a picture" else piece for piece in content]
    )


def in_chat(role: str, said: Any) -> dict[str, Any]:
    """A turn as chat writes it."""
    if role != "assistant":
        more = {"tool_call_id": "c1"} if role == "tool" else {}
        return {"role": role, "content": with_pictures(said, CHAT_PICTURE), **more}
    written, called = said
    tool_calls = [
        {"id": "c1", "function": {"name": name, "arguments": compact(values)}} for name, values in called
    ]
    return {"role": role, "content": written, "tool_calls": tool_calls}


def in_messages(role: str, said: Any) -> dict[str, Any]:
    """The same turn as a message of the other format."""
    if role == "assistant":
        written, called = said
        uses = [{"type": "tool_use", "id": "c1", "name": name, "input": values} for name, values in called]
        return {"role": role, "content": [*written, *uses]}
    content = with_pictures(said, SHOWN_PICTURE)
    if role == "tool":
        content = [{"type": "tool_result", "tool_use_id": "c1", "content": content}]
    return {"role": "user" if role == "tool" else role, "content": content}


def compact(value: object) -> str:
    """JSON as the mock writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(st.lists(turns, min_size=1, max_size=5))
def test_any_conversation(conversation: list[tuple[str, Any]]):
    """E-13, E-166: whatever was said, both formats mean the same turns."""
    one = Chat().parse({**BOTH, "messages": [in_chat(*turn) for turn in conversation]}, V1)
    other = Messages().parse({**BOTH, "messages": [in_messages(*turn) for turn in conversation]}, V1)
    assert other.prompt == one.prompt


@cache
def gateway() -> Gateway:
    """One service for all conversations: without a cache no answer depends on earlier ones."""
    return Gateway(settings=Settings(prompt_cache=False))


def answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The whole answer to a body."""
    call = Call(
        method="POST",
        path=path,
        headers={"authorization": "Bearer sk-engy-test"},
        body=json.dumps(body).encode(),
    )
    (step,) = gateway().answer(call)
    assert isinstance(step, Whole)
    assert step.head.status == 200, step.body
    document = json.loads(step.body)
    assert isinstance(document, dict)
    return document


@alike
def test_the_same_content(chat: dict[str, Any], messages: dict[str, Any]):
    """E-13: the words, the calls, their counts and the reason to stop are the same."""
    one = answer("/v1/chat/completions", {**BOTH, **chat, "stream": False})
    other = answer("/v1/messages", {**BOTH, **messages, "stream": False})
    choice = one["choices"][0]
    said: dict[str, list[Any]] = {"thinking": [], "text": [], "tool_use": []}
    for block in other["content"]:
        said[block["type"]].append(block)
    message = choice["message"]
    assert [block["thinking"] for block in said["thinking"]] == (
        [message["reasoning_content"]] if "reasoning_content" in message else []
    )
    assert "".join(block["text"] for block in said["text"]) == (message["content"] or "")
    calls = message.get("tool_calls", [])
    assert [block["name"] for block in said["tool_use"]] == [call["function"]["name"] for call in calls]
    if choice["finish_reason"] == "tool_calls":
        assert [block["input"] for block in said["tool_use"]] == [
            json.loads(call["function"]["arguments"]) for call in calls
        ]
    assert other["usage"] == {
        "input_tokens": one["usage"]["prompt_tokens"],
        "output_tokens": one["usage"]["completion_tokens"],
    }
    reasons = {"stop": {"end_turn", "stop_sequence"}, "length": {"max_tokens"}, "tool_calls": {"tool_use"}}
    assert other["stop_reason"] in reasons[choice["finish_reason"]]


def test_what_is_covered():
    """The table has each way to end, so that the comparison means something."""
    ends = {
        answer("/v1/messages", {**BOTH, **messages, "stream": False})["stop_reason"]
        for name, _, messages in ALIKE
        if name in {"plain", "stop", "limit", "a tool demanded"}
    }
    assert ends == {"end_turn", "stop_sequence", "max_tokens", "tool_use"}
