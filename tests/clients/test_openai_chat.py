"""The official `openai` client for Python on chat and completions, unmodified but for address and key."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from engy_mock import EngyMock
from tests.dialects.sdk import checked

HELLO: list[Any] = [{"role": "user", "content": "Tell me about the weather in the mountains."}]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
                "unit": {"enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}


class Trip(BaseModel):
    """What a structured answer is parsed into."""

    city: str
    days: int
    stops: list[str]


@pytest.fixture
async def waiting_client(engy: EngyMock) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(max_retries=0) as client:
        yield client


def folded(chunks: list[ChatCompletionChunk]) -> dict:
    """A stream read plainly, as the OpenAI documentation says."""
    found: dict = {"reasoning": "", "content": "", "calls": {}, "logprobs": [], "finish": None, "usage": None}
    for chunk in chunks:
        if chunk.usage is not None:
            found["usage"] = chunk.usage
        for choice in chunk.choices:
            delta = choice.delta
            found["content"] += delta.content or ""
            found["reasoning"] += (delta.model_extra or {}).get("reasoning_content") or ""
            for call in delta.tool_calls or ():
                kept = found["calls"].setdefault(call.index, {"name": "", "arguments": "", "id": call.id})
                kept["name"] += call.function.name or ""
                kept["arguments"] += call.function.arguments or ""
            if choice.logprobs is not None:
                found["logprobs"] += choice.logprobs.content
            found["finish"] = choice.finish_reason or found["finish"]
    return found


SETTINGS = [
    pytest.param({}, id="plain"),
    pytest.param({"reasoning_effort": "none"}, id="without-thinking"),
    pytest.param({"reasoning_effort": "high", "max_tokens": 7}, id="cut-in-reasoning"),
    pytest.param({"max_tokens": 60}, id="cut-in-text"),
    pytest.param({"stop": [" the", "."], "reasoning_effort": "none"}, id="stops"),
    pytest.param({"logprobs": True, "top_logprobs": 5}, id="logprobs"),
    pytest.param({"logprobs": True, "stop": "e"}, id="logprobs-and-stop"),
    pytest.param({"tools": [WEATHER]}, id="tools-offered"),
    pytest.param({"tools": [WEATHER], "tool_choice": "required"}, id="tools-required"),
    pytest.param({"tools": [WEATHER], "tool_choice": "required", "max_tokens": 80}, id="tools-cut"),
    pytest.param({"response_format": {"type": "json_object"}}, id="json"),
    pytest.param({"temperature": 0, "seed": 5, "top_p": 1}, id="greedy"),
    pytest.param({"temperature": 1.4, "top_p": 1, "seed": 5, "max_tokens": 100}, id="wild"),
]


@pytest.mark.parametrize("extra", SETTINGS)
@pytest.mark.parametrize("model", ["glm-5.2", "kimi-k3", "deepseek-v4.1-flash"])
def test_a_stream_folds_to_the_whole_answer(engy, client, model, extra):
    """fold(stream) == whole, for text, reasoning, tools, log probabilities, cuts and stops."""
    engy.settings.prompt_cache = False
    whole = client.chat.completions.create(model=model, messages=HELLO, **extra)
    stream = list(
        client.chat.completions.create(
            model=model, messages=HELLO, stream=True, stream_options={"include_usage": True}, **extra
        )
    )
    read = folded(stream)
    choice = whole.choices[0]
    assert read["content"] == (choice.message.content or "")
    assert read["reasoning"] == ((choice.message.model_extra or {}).get("reasoning_content") or "")
    assert read["finish"] == choice.finish_reason
    assert read["usage"] == whole.usage
    assert read["logprobs"] == (choice.logprobs.content if choice.logprobs else [])
    calls = [(c["name"], c["arguments"]) for _, c in sorted(read["calls"].items())]
    assert calls == [(c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()]
    assert stream[-2].model_extra["x_engy"]["charged_micro"] == whole.model_extra["x_engy"]["charged_micro"]


@pytest.mark.slow
@pytest.mark.parametrize("extra", SETTINGS)
def test_answers_fit_the_strict_types(engy, extra):
    """Every field of every answer is one that the released package knows, of its type."""
    with httpx2.Client(base_url=engy.base_url, headers={"Authorization": f"Bearer {engy.api_key}"}) as http:
        body = {"model": "glm-5.2", "messages": HELLO, **extra}
        checked(http.post("/chat/completions", json=body).content, ChatCompletion)
        text = http.post(
            "/chat/completions", json={**body, "stream": True, "stream_options": {"include_usage": True}}
        ).text
        events = [event.removeprefix("data: ") for event in text.split("\n\n") if event]
        assert events[-1] == "[DONE]"
        for event in events[:-1]:
            checked(event, ChatCompletionChunk)
        raw = {"model": "glm-5.2", "prompt": "The old bridge", "max_tokens": 9}
        for more in ({}, {"logprobs": 3}, {"echo": True}):
            checked(http.post("/completions", json={**raw, **more}).content, Completion)
        echoed = http.post("/completions", json={**raw, "echo": True, "logprobs": 2}).json()
        # The types know no null in these lists, but nothing precedes the first token (E-156).
        logprobs = echoed["choices"][0]["logprobs"]
        assert logprobs["token_logprobs"][0] is logprobs["top_logprobs"][0] is None
        logprobs["token_logprobs"][0], logprobs["top_logprobs"][0] = 0.0, {}
        checked(json.dumps(echoed), Completion)


async def test_the_async_client_gets_the_same(client, waiting_client):
    """One client blocks, one waits: the answers are equal but for their ids."""
    blocking = client.chat.completions.create(model="kimi-k3", messages=HELLO)
    waiting = await waiting_client.chat.completions.create(model="kimi-k3", messages=HELLO)
    assert waiting.choices == blocking.choices
    assert waiting.usage == blocking.usage
    assert waiting.id != blocking.id
    pieces = []
    async for chunk in await waiting_client.chat.completions.create(model="kimi-k3", messages=HELLO, stream=True):
        pieces += [choice.delta.content or "" for choice in chunk.choices]
    assert "".join(pieces) == blocking.choices[0].message.content


def test_the_stream_helper(client):
    """`.stream()` gathers a completion that equals the whole one, and tells each piece as an event."""
    whole = client.chat.completions.create(model="glm-5.2", messages=HELLO, logprobs=True)
    with client.chat.completions.stream(model="glm-5.2", messages=HELLO, logprobs=True) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert final.choices[0].message.content == whole.choices[0].message.content
    assert final.choices[0].finish_reason == "stop"
    assert kinds.count("content.delta") > 10
    assert kinds[-1] == "content.done" or "content.done" in kinds


def test_the_stream_helper_gathers_tool_calls(client):
    """`.stream()` with tools: the arguments arrive parsed."""
    with client.chat.completions.stream(
        model="glm-5.2",
        messages=HELLO,
        tools=[openai.pydantic_function_tool(Trip)],
        tool_choice="required",
    ) as stream:
        final = stream.get_final_completion()
    (call,) = final.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, Trip)
    assert call.id.startswith("call_")
    assert final.choices[0].finish_reason == "tool_calls"


def test_parse_gives_a_model(client):
    """`.parse()` with a pydantic model: the made-up document validates."""
    answer = client.chat.completions.parse(model="glm-5.2", messages=HELLO, response_format=Trip)
    assert isinstance(answer.choices[0].message.parsed, Trip)
    again = client.chat.completions.parse(model="glm-5.2", messages=HELLO, response_format=Trip)
    assert again.choices[0].message.parsed == answer.choices[0].message.parsed


def test_a_conversation_with_a_tool(client):
    """Ask, call, result, answer: the history that the client builds is taken back."""
    messages: list = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = client.chat.completions.create(
        model="glm-5.2", messages=messages, tools=[WEATHER], tool_choice="required"
    )
    message = first.choices[0].message
    (call,) = message.tool_calls
    arguments = json.loads(call.function.arguments)
    assert isinstance(arguments["city"], str)
    assert 1 <= arguments["days"] <= 7
    messages += [message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}]
    second = client.chat.completions.create(model="glm-5.2", messages=messages, tools=[WEATHER])
    assert second.choices[0].message.content
    assert second.choices[0].finish_reason == "stop"


REFUSALS = [
    (openai.BadRequestError, 400, {"messages": []}, "messages"),
    (openai.BadRequestError, 400, {"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
    (openai.NotFoundError, 404, {"model": "nope"}, "nope"),
    (openai.NotFoundError, 404, {"model": "a/b/glm-5.2"}, "a/b/glm-5.2"),
]


@pytest.mark.parametrize(("kind", "status", "extra", "words"), REFUSALS)
@pytest.mark.parametrize("stream", [False, True])
def test_refusals_are_the_clients_own_exceptions(client, kind, status, extra, words, stream):
    """A refusal is a plain JSON answer with its status, also when a stream was asked for."""
    body = {"model": "glm-5.2", "messages": HELLO, "stream": stream, **extra}
    with pytest.raises(kind) as caught:
        client.chat.completions.create(**body)
    error = caught.value
    assert error.status_code == status
    assert words in error.message
    assert error.type == "invalid_request_error"
    assert error.body["code"] == status
    assert len(error.request_id) == 32


def test_a_bad_key_is_401(engy):
    """E-17: a key of another form."""
    with (
        OpenAI(api_key="sk-other", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="invalid api key"),
    ):
        client.chat.completions.create(model="glm-5.2", messages=HELLO)


def test_a_window_that_is_too_small(client):
    """E-80, R-41: the code and both numbers are there."""
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(
            model="glm-5.2", messages=[{"role": "user", "content": "word " * 230_000}], max_tokens=10
        )
    assert caught.value.code == "context_length_exceeded"
    assert "229376" in caught.value.message


async def test_32_callers_at_once_get_what_one_gets(client, waiting_client):
    """D-2: parallel callers change nothing; repeats draw their ids from one set."""
    alone = [
        client.chat.completions.create(model="glm-5.2", messages=[{"role": "user", "content": f"Hello {n % 4}"}])
        for n in range(32)
    ]
    engy_ids = sorted(answer.id for answer in alone)
    together = await asyncio.gather(
        *(
            waiting_client.chat.completions.create(
                model="glm-5.2", messages=[{"role": "user", "content": f"Hello {n % 4}"}]
            )
            for n in range(32)
        )
    )
    assert [a.choices for a in together] == [a.choices for a in alone]
    assert len({a.id for a in together} | set(engy_ids)) == 64


def test_what_the_journal_knows(engy, client):
    """The books are closed when the client has its answer."""
    answer = client.chat.completions.create(model="glm-5.2", messages=HELLO)
    entry = engy.journal.last
    assert (entry.status, entry.path) == (200, "/v1/chat/completions")
    assert entry.request.last_user_text == HELLO[0]["content"]
    assert entry.usage.total_tokens == answer.usage.total_tokens
    assert entry.charged_micro == answer.model_extra["x_engy"]["charged_micro"]
    assert entry.json()["model"] == "glm-5.2"
