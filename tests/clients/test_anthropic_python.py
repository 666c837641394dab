"""The official `anthropic` client for Python on messages, unmodified but for address and key."""

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

import anthropic
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import Message, MessageParam, ToolParam
from pydantic import BaseModel

from engy_mock import EngyMock
from tests.dialects.heard_messages import heard
from tests.dialects.sdk import checked

ASKED = "Tell me about the weather in the mountains."
HELLO: list[MessageParam] = [{"role": "user", "content": ASKED}]
WEATHER: ToolParam = {
    "name": "get_weather",
    "description": "The weather of a place.",
    "input_schema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
        },
        "required": ["city", "days"],
        "additionalProperties": False,
    },
}
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\x01").decode()


class Trip(BaseModel):
    """What a structured answer is parsed into."""

    city: str
    days: int
    stops: list[str]


@pytest.fixture(scope="module")
def _kept() -> Iterator[tuple[ExitStack, dict[str, Anthropic]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def client(engy: EngyMock, _kept: tuple[ExitStack, dict[str, Anthropic]]) -> Anthropic:
    """A blocking client that does not retry; made once, since certificates take their time."""
    stack, made = _kept
    if engy.origin not in made:
        own = Anthropic(base_url=engy.origin, api_key=engy.api_key, max_retries=0)
        made[engy.origin] = stack.enter_context(own)
    return made[engy.origin]


def told(message: Message) -> dict[str, Any]:
    """A message without what differs between two answers to the same request."""
    return message.model_dump(exclude={"id"}, exclude_none=True)


def test_create(client: Anthropic):
    """E-170, E-171: an answer with reasoning and text, typed, with its request id."""
    message = client.messages.create(model="engy/glm-5.2", max_tokens=500, messages=HELLO)
    assert [block.type for block in message.content] == ["thinking", "text"]
    thinking, text = message.content
    assert thinking.type == "thinking"
    assert thinking.thinking
    assert thinking.signature
    assert text.type == "text"
    assert text.text
    assert (message.model, message.stop_reason, message.stop_sequence) == ("engy/glm-5.2", "end_turn", None)
    assert message.usage.input_tokens > 10
    assert message.usage.output_tokens > 20
    assert message._request_id is not None
    assert message.id == "msg_" + message._request_id[:24]


def test_strictly(client: Anthropic, engy: EngyMock):
    """E-170: the bytes fit the client's own type, with no field that it does not know, whole and streamed."""
    raw = client.messages.with_raw_response.create(model="glm-5.2", max_tokens=300, messages=HELLO)
    document = checked(raw.read(), Message)
    with client.messages.with_streaming_response.create(
        model="glm-5.2", max_tokens=300, messages=HELLO, stream=True
    ) as response:
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        streamed = heard(response.read())
    assert {**streamed, "id": document["id"]} == document
    assert [entry.status for entry in engy.journal] == [200, 200]
    assert engy.journal[0].charged_micro == engy.journal[1].charged_micro


@pytest.mark.parametrize("model", ["glm-5.2", "kimi-k3", "qwen3.8-27b", "deepseek-v4.1-flash"])
def test_the_raw_stream(client: Anthropic, model: str):
    """E-173 to E-175: typed events in their order."""
    kinds = [
        event.type for event in client.messages.create(model=model, max_tokens=300, messages=HELLO, stream=True)
    ]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") > 0


def test_the_helper(client: Anthropic):
    """E-173: the helper puts the same message together as the plain answer is."""
    plain = client.messages.create(model="glm-5.2", max_tokens=300, messages=HELLO)
    with client.messages.stream(model="glm-5.2", max_tokens=300, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
        assert stream.request_id is not None
        assert message.id == "msg_" + stream.request_id[:24]
        assert stream.get_final_text() == text
    assert told(message) == told(plain)


def test_the_events_of_the_helper(client: Anthropic):
    """E-175: reasoning, its signature and text reach the helper's own events."""
    with client.messages.stream(model="glm-5.2", max_tokens=300, messages=HELLO) as stream:
        events = list(stream)
    thinking = [event.snapshot for event in events if event.type == "thinking"]
    (signature,) = [event.signature for event in events if event.type == "signature"]
    stopped = [event.content_block.type for event in events if event.type == "content_block_stop"]
    assert stopped == ["thinking", "text"]
    (final,) = [event.message for event in events if event.type == "message_stop"]
    assert final.content[0].to_dict() == {
        "type": "thinking",
        "thinking": thinking[-1],
        "signature": signature,
    }


async def test_without_blocking(engy: EngyMock, client: Anthropic):
    """The other client hears the same, raw, streamed and through the helper."""
    plain = told(client.messages.create(model="glm-5.2", max_tokens=120, messages=HELLO))
    async with AsyncAnthropic(max_retries=0) as waiting:
        message = await waiting.messages.create(model="glm-5.2", max_tokens=120, messages=HELLO)
        assert told(message) == plain
        kinds = [
            event.type
            async for event in await waiting.messages.create(
                model="glm-5.2", max_tokens=120, messages=HELLO, stream=True
            )
        ]
        assert kinds[-1] == "message_stop"
        async with waiting.messages.stream(model="glm-5.2", max_tokens=120, messages=HELLO) as stream:
            text = "".join([piece async for piece in stream.text_stream])
            final = await stream.get_final_message()
        assert told(final) == plain
        assert text == await stream.get_final_text()
        counted = await waiting.messages.count_tokens(model="glm-5.2", messages=HELLO)
        assert counted.input_tokens == message.usage.input_tokens
        with pytest.raises(anthropic.NotFoundError):
            await waiting.messages.create(model="nope", max_tokens=1, messages=HELLO)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_round_of_tools(client: Anthropic, is_streamed: bool):
    """E-166, E-167, E-172: a demanded call has an input that fits its schema, and its result goes back."""
    arguments: dict[str, Any] = {
        "model": "glm-5.2",
        "max_tokens": 500,
        "tools": [WEATHER],
        "tool_choice": {"type": "any"},
    }
    if is_streamed:
        with client.messages.stream(messages=HELLO, **arguments) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(messages=HELLO, **arguments)
    call = message.content[-1]
    assert message.stop_reason == "tool_use"
    assert call.type == "tool_use"
    assert call.id.startswith("toolu_")
    assert len(call.id) == len("toolu_") + 24
    assert call.name == "get_weather"
    assert set(call.input) == {"city", "days"}
    assert isinstance(call.input["days"], int)
    history: list[MessageParam] = [
        *HELLO,
        {"role": "assistant", "content": message.content},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": [{"type": "text", "text": "Sunny."}],
                },
                {"type": "text", "text": "And tomorrow?"},
            ],
        },
    ]
    answer = client.messages.create(model="glm-5.2", max_tokens=500, tools=[WEATHER], messages=history)
    assert answer.stop_reason == "end_turn"
    assert answer.content[-1].type == "text"


def test_arguments_that_the_limit_cuts(client: Anthropic):
    """E-171, E-172: a cut call has an empty input, and the helper does not fail on what there is of it."""
    arguments: dict[str, Any] = {
        "model": "glm-5.2",
        "tools": [WEATHER],
        "tool_choice": {"type": "tool", "name": "get_weather"},
        "thinking": {"type": "disabled"},
        "messages": HELLO,
    }
    whole = client.messages.create(max_tokens=500, **arguments)
    limit = whole.usage.output_tokens - 4
    cut = client.messages.create(max_tokens=limit, **arguments)
    (call,) = cut.content
    assert call.type == "tool_use"
    assert (cut.stop_reason, call.input, cut.usage.output_tokens) == ("max_tokens", {}, limit)
    with client.messages.stream(max_tokens=limit, **arguments) as stream:
        assert stream.get_final_message().stop_reason == "max_tokens"


@pytest.mark.parametrize(
    ("thinking", "blocks"),
    [
        ({"type": "enabled", "budget_tokens": 1024}, ["thinking", "text"]),
        ({"type": "adaptive"}, ["thinking", "text"]),
        ({"type": "disabled"}, ["text"]),
    ],
)
@pytest.mark.parametrize("model", ["glm-5.2", "deepseek-v4.1-flash"])
def test_thinking(client: Anthropic, model: str, thinking: Any, blocks: list[str]):
    """E-168: it is on when asked for and off when forbidden, whatever the model does by default."""
    message = client.messages.create(model=model, max_tokens=2000, messages=HELLO, thinking=thinking)
    assert [block.type for block in message.content] == blocks


def test_effort(client: Anthropic):
    """E-165: the effort is the reasoning effort of the model."""
    efforts: tuple[Literal["low", "max"], ...] = ("low", "max")
    low, most = (
        client.messages.create(
            model="deepseek-v4.1-flash", max_tokens=2000, messages=HELLO, output_config={"effort": effort}
        )
        for effort in efforts
    )
    assert low.content[0].type == most.content[0].type == "thinking"
    assert low.content[0].thinking != most.content[0].thinking


def test_stop_sequences(client: Anthropic):
    """E-172: the matched string is told, and the text ends before it."""
    message = client.messages.create(
        model="deepseek-v4.1-flash", max_tokens=300, messages=HELLO, stop_sequences=["XYZ", " the"]
    )
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", " the")
    assert all(" the" not in block.text for block in message.content if block.type == "text")
    with client.messages.stream(
        model="deepseek-v4.1-flash", max_tokens=300, messages=HELLO, stop_sequences=[" the"]
    ) as stream:
        assert stream.get_final_message().stop_sequence == " the"


def test_the_limit(client: Anthropic):
    """E-172: an answer that does not fit says so."""
    message = client.messages.create(model="glm-5.2", max_tokens=3, messages=HELLO)
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 3)
    assert [block.type for block in message.content] == ["thinking"]


def test_prefill(client: Anthropic):
    """E-96: an answer that has been begun is continued, without reasoning."""
    begun: MessageParam = {"role": "assistant", "content": "The weather is"}
    message = client.messages.create(model="glm-5.2", max_tokens=300, messages=[*HELLO, begun])
    assert [block.type for block in message.content] == ["text"]


def test_images(client: Anthropic):
    """E-166: a picture goes along, alone or in the result of a tool."""
    message = client.messages.create(
        model="kimi-k3",
        max_tokens=300,
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ],
            }
        ],
    )
    assert message.usage.input_tokens > 256


def test_system_and_the_rest(client: Anthropic, engy: EngyMock):
    """E-165: what agents send: blocks with cache marks, a user, betas, context management."""
    message = client.beta.messages.create(
        model="glm-5.2",
        max_tokens=100,
        system=[
            {
                "type": "text",
                "text": "You are an agent.",
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            },
            {"type": "text", "text": "Be brief."},
        ],
        tools=[{**WEATHER, "cache_control": {"type": "ephemeral"}}],
        metadata={"user_id": "user_1"},
        thinking={"type": "adaptive"},
        context_management={"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        betas=["context-management-2025-06-27", "interleaved-thinking-2025-05-14"],
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}],
            }
        ],
    )
    assert message.role == "assistant"
    request = engy.journal.last.request
    assert request is not None
    assert request.messages[0].text == "You are an agent.Be brief."
    assert request.cache_key == "user_1"


def test_a_parsed_answer(client: Anthropic):
    """E-59: an answer that has to fit a type does."""
    message = client.messages.parse(model="glm-5.2", max_tokens=2000, messages=HELLO, output_format=Trip)
    assert isinstance(message.parsed_output, Trip)


def test_count_tokens(client: Anthropic):
    """E-177: the number that the request would have, with tools and system; betas change nothing."""
    message = client.messages.create(
        model="glm-5.2", max_tokens=50, system="Be brief.", tools=[WEATHER], messages=HELLO
    )
    counted = client.messages.count_tokens(model="glm-5.2", system="Be brief.", tools=[WEATHER], messages=HELLO)
    beta = client.beta.messages.count_tokens(
        model="glm-5.2",
        system="Be brief.",
        tools=[WEATHER],
        messages=[{"role": "user", "content": [{"type": "text", "text": ASKED}]}],
    )
    assert counted.input_tokens == beta.input_tokens == message.usage.input_tokens


@pytest.mark.parametrize("way", ["api_key", "auth_token", "x-api-key"])
def test_keys(engy: EngyMock, monkeypatch: pytest.MonkeyPatch, way: str):
    """E-16: each way in which this client can show its key opens the door."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ways: dict[str, dict[str, Any]] = {
        "api_key": {"api_key": engy.api_key},
        "auth_token": {"auth_token": engy.api_key},
        "x-api-key": {"default_headers": {"X-Api-Key": engy.api_key}},
    }
    with Anthropic(base_url=engy.origin, max_retries=0, **ways[way]) as client:
        assert client.messages.create(model="glm-5.2", max_tokens=1, messages=HELLO).usage.output_tokens == 1


def test_from_the_environment(engy: EngyMock):
    """A client made without anything finds the mock."""
    with Anthropic() as client:
        assert client.messages.create(model="glm-5.2", max_tokens=1, messages=HELLO).type == "message"


LEAST: dict[str, Any] = {"model": "glm-5.2", "max_tokens": 50, "messages": HELLO}
PICTURES = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}] * 11

REFUSALS: list[tuple[dict[str, Any], type[anthropic.APIStatusError], str, str]] = [
    (
        {"extra_body": {"temperature": 3}},
        anthropic.BadRequestError,
        "invalid_request_error",
        "temperature must be at most 2, got 3",
    ),
    (
        {"extra_headers": {"Authorization": "Bearer nonsense"}},
        anthropic.AuthenticationError,
        "authentication_error",
        "invalid api key",
    ),
    (
        {"extra_headers": {"Host": "evil.example"}},
        anthropic.PermissionDeniedError,
        "permission_error",
        "host not allowed",
    ),
    ({"model": "nope"}, anthropic.NotFoundError, "not_found_error", "model nope not found"),
    (
        {"model": "kimi-k3", "messages": [{"role": "user", "content": PICTURES}]},
        anthropic.ContentTooLargeError,
        "request_too_large",
        "11 images, at most 10 allowed",
    ),
    (
        {"extra_headers": {"Content-Type": "text/plain"}},
        anthropic.APIStatusError,
        "invalid_request_error",
        "content type must be application/json",
    ),
]


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    ("fields", "kind", "name", "words"), REFUSALS, ids=[f"{row[1].__name__}-{row[3][:9]}" for row in REFUSALS]
)
def test_refusals(
    client: Anthropic,
    fields: dict[str, Any],
    kind: type[anthropic.APIStatusError],
    name: str,
    words: str,
    is_streamed: bool,
):
    """E-192, E-193: each status raises its class, with type, message and request id."""
    with pytest.raises(kind) as caught:
        client.messages.create(**{**LEAST, **fields}, stream=is_streamed)
    error = caught.value
    assert (error.type, error.api_message) == (name, words)
    assert words in error.message
    assert error.request_id is not None
    assert len(error.request_id) == 32
    assert error.body == {"type": "error", "error": {"type": name, "message": words}}


def test_no_balance(client: Anthropic, engy: EngyMock):
    """E-193: an empty account has a class of its own."""
    engy.gateway.accounts.default.balance_micro = 50
    with pytest.raises(anthropic.PaymentRequiredError, match="50 available") as caught:
        client.messages.create(model="glm-5.2", max_tokens=1024, messages=HELLO)
    assert caught.value.type == "billing_error"


def test_a_wrong_method_and_a_wrong_path(client: Anthropic):
    """E-4, E-5: the framework's refusals are no different."""
    with pytest.raises(anthropic.APIStatusError, match="method GET not allowed") as caught:
        client.get("/v1/messages", cast_to=httpx2.Response)
    assert (caught.value.status_code, caught.value.type) == (405, "invalid_request_error")
    with pytest.raises(anthropic.NotFoundError, match="no route POST /v1/messages/batches") as caught:
        client.messages.batches.create(requests=[])
    assert caught.value.type == "not_found_error"


def test_leaving_early(client: Anthropic, engy: EngyMock):
    """A client that has heard enough can go, and the connection serves the next request."""
    with client.messages.stream(model="glm-5.2", max_tokens=2000, messages=HELLO) as stream:
        for event in stream:
            if event.type == "text":
                break
    assert client.messages.create(model="glm-5.2", max_tokens=1, messages=HELLO).type == "message"
