"""The official `openai` client for Python on responses, unmodified but for address and key."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from engy_mock import EngyMock
from engy_mock.model.engine import Engine
from engy_mock.vocabulary.errors import (
    ApiError,
    InsufficientBalance,
    MockFailed,
    NoWorker,
    PermissionDenied,
    RateLimited,
    TooLarge,
    UpstreamFailed,
    UpstreamTimeout,
)
from tests.dialects.heard_responses import heard, response

HELLO = "Tell me about the weather in the mountains."
MODELS = ["glm-5.2", "kimi-k3", "deepseek-v4.1-flash"]

WEATHER: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of the next days.",
    "strict": True,
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
}

SETTINGS = [
    pytest.param({}, id="plain"),
    pytest.param({"reasoning": {"effort": "none"}}, id="without-thinking"),
    pytest.param({"reasoning": {"effort": "high"}, "max_output_tokens": 7}, id="cut-in-reasoning"),
    pytest.param({"max_output_tokens": 60}, id="cut-in-text"),
    pytest.param({"top_logprobs": 5, "include": ["message.output_text.logprobs"]}, id="logprobs"),
    pytest.param({"include": ["message.output_text.logprobs"]}, id="bare-logprobs"),
    pytest.param({"tools": [WEATHER, {"type": "web_search"}]}, id="tools-offered"),
    pytest.param({"tools": [WEATHER], "tool_choice": "required"}, id="tools-required"),
    pytest.param(
        {
            "tools": [WEATHER],
            "tool_choice": "required",
            "max_output_tokens": 80,
            "reasoning": {"effort": "none"},
        },
        id="tools-cut",
    ),
    pytest.param({"text": {"format": {"type": "json_object"}, "verbosity": "low"}}, id="json"),
    pytest.param({"temperature": 0, "top_p": 1, "instructions": "Be brief."}, id="greedy"),
    pytest.param(
        {"metadata": {"a": "b"}, "user": "u", "store": True, "truncation": "auto", "service_tier": "flex"},
        id="repeated",
    ),
]


class Trip(BaseModel):
    """What a structured answer is parsed into."""

    city: str
    days: int
    stops: list[str]


@pytest.fixture
async def waiting_client(engy: EngyMock) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(max_retries=0) as client:
        yield client


def folded(events: list[ResponseStreamEvent]) -> dict[str, Any]:
    """A stream read plainly, as the OpenAI documentation says."""
    found: dict[str, Any] = {"reasoning": "", "text": "", "calls": {}, "logprobs": []}
    for event in events:
        if event.type == "response.output_text.delta":
            found["text"] += event.delta
            found["logprobs"] += [(entry.token, entry.logprob) for entry in event.logprobs]
        elif event.type == "response.reasoning_text.delta":
            found["reasoning"] += event.delta
        elif event.type == "response.function_call_arguments.delta":
            found["calls"][event.output_index] = found["calls"].get(event.output_index, "") + event.delta
    return found


def said(answer: Response) -> dict[str, Any]:
    """The same out of a whole answer."""
    found: dict[str, Any] = {"reasoning": "", "text": answer.output_text, "calls": {}, "logprobs": []}
    for place, item in enumerate(answer.output):
        if item.type == "reasoning":
            found["reasoning"] = "".join(part.text for part in item.content or ())
        elif item.type == "function_call":
            found["calls"][place] = item.arguments
        elif item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    found["logprobs"] += [(entry.token, entry.logprob) for entry in part.logprobs or ()]
    return found


def without_ids(answer: Response) -> dict[str, Any]:
    """A response without what belongs to one request alone (E-14)."""
    document: dict[str, Any] = answer.to_dict()
    for item in document["output"]:
        item["id"] = item["call_id"] = None
    document["x_engy"] = document["x_engy"]["charged_micro"]
    return {**document, "id": None}


@pytest.mark.parametrize("extra", SETTINGS)
@pytest.mark.parametrize("model", MODELS)
def test_a_stream_folds_to_the_whole_answer(engy: EngyMock, client: OpenAI, model: str, extra: dict[str, Any]):
    """E-187: fold(stream) == whole, for text, reasoning, tools, log probabilities and cuts."""
    engy.settings.prompt_cache = False
    whole = client.responses.create(model=model, input=HELLO, **extra)
    events = list(client.responses.create(model=model, input=HELLO, stream=True, **extra))
    assert folded(events) == said(whole)
    last = events[-1]
    assert last.type in ("response.completed", "response.incomplete")
    assert without_ids(last.response) == without_ids(whole)
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.slow
@pytest.mark.parametrize("extra", SETTINGS)
def test_answers_fit_the_strict_types(engy: EngyMock, extra: dict[str, Any]):
    """R-9, R-10: every field of every document and event is one that the released package knows."""
    with httpx2.Client(base_url=engy.base_url, headers={"Authorization": f"Bearer {engy.api_key}"}) as http:
        body = {"model": "glm-5.2", "input": HELLO, **extra}
        whole = http.post("/responses", json=body)
        stream = http.post("/responses", json={**body, "stream": True})
    assert whole.headers["content-type"] == "application/json"
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert list(heard(stream.content)) == list(response(whole.content))


def test_the_answer_in_words(client: OpenAI):
    """E-183 to E-186: what a program reads from an answer."""
    answer = client.responses.create(model="glm-5.2", input=HELLO)
    assert answer.status == "completed"
    assert answer.output_text
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    assert answer.created_at == answer.completed_at == 1792281600
    assert answer.id == "resp_" + (answer._request_id or "")[:24]


def test_an_answer_that_was_cut(client: OpenAI):
    """E-186: the reason is where programs look for it."""
    answer = client.responses.create(model="glm-5.2", input=HELLO, max_output_tokens=5)
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"
    assert answer.output_text == ""


@pytest.mark.parametrize("model", MODELS)
def test_structured_answers(client: OpenAI, model: str):
    """E-59, E-180: `parse` gets an object that fits the model of the caller, and the one that chat gets."""
    answer = client.responses.parse(model=model, input=HELLO, text_format=Trip)
    assert isinstance(answer.output_parsed, Trip)
    chat = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": HELLO}], response_format=Trip
    )
    assert answer.output_parsed == chat.choices[0].message.parsed


def test_the_stream_helper(client: OpenAI):
    """The helper of the client follows every event and ends with the whole response."""
    kinds = []
    with client.responses.stream(model="glm-5.2", input=HELLO, text_format=Trip) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "response.output_text.done":
                assert isinstance(event.parsed, Trip)
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert (
        final.output_parsed == client.responses.parse(model="glm-5.2", input=HELLO, text_format=Trip).output_parsed
    )


def test_a_round_of_tools(client: OpenAI):
    """E-182a, E-185: what was put out goes back in as it is, and `call_id` ties a result to its call."""
    asked: list[Any] = [{"role": "user", "content": HELLO}]
    fields: dict[str, Any] = {"model": "glm-5.2", "input": asked, "tools": [WEATHER]}
    first = client.responses.create(**fields, tool_choice="required")
    (call,) = [item for item in first.output if item.type == "function_call"]
    arguments = json.loads(call.arguments)
    assert call.name == "get_weather"
    assert isinstance(arguments["city"], str)
    assert 1 <= arguments["days"] <= 7
    asked += [item.to_dict() for item in first.output]
    asked.append({"type": "function_call_output", "call_id": call.call_id, "output": "Sunny."})
    second = client.responses.create(**fields)
    assert second.status == "completed"
    assert second.output_text
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens


def test_tools_from_models(client: OpenAI):
    """The helper parses the arguments into the model that the tool was made of."""
    tool = openai.pydantic_function_tool(Trip, name="plan")
    with client.responses.stream(
        model="glm-5.2",
        input=HELLO,
        tools=[tool],
        tool_choice={"type": "function", "name": "plan"},
    ) as stream:
        final = stream.get_final_response()
    (call,) = [item for item in final.output if item.type == "function_call"]
    assert isinstance(call.parsed_arguments, Trip)


async def test_the_waiting_client(waiting_client: AsyncOpenAI, client: OpenAI):
    """The asynchronous client gets the same: whole, streamed, parsed, and by its stream helper."""
    blocking = client.responses.create(model="glm-5.2", input=HELLO)
    whole = await waiting_client.responses.create(model="glm-5.2", input=HELLO)
    assert without_ids(whole) == without_ids(blocking)
    events = [
        event async for event in await waiting_client.responses.create(model="glm-5.2", input=HELLO, stream=True)
    ]
    assert folded(events) == said(whole)
    async with waiting_client.responses.stream(model="glm-5.2", input=HELLO) as stream:
        assert (await stream.get_final_response()).output_text == whole.output_text
    parsed = await waiting_client.responses.parse(model="glm-5.2", input=HELLO, text_format=Trip)
    assert isinstance(parsed.output_parsed, Trip)


async def test_callers_at_once_get_what_one_gets(client: OpenAI, waiting_client: AsyncOpenAI):
    """E-14: parallel callers change nothing; repeats draw their ids from one set."""
    inputs = [f"Hello {number % 4}" for number in range(16)]
    alone = [client.responses.create(model="glm-5.2", input=words) for words in inputs]
    together = await asyncio.gather(
        *(waiting_client.responses.create(model="glm-5.2", input=words) for words in inputs)
    )
    assert [answer.output_text for answer in together] == [answer.output_text for answer in alone]
    assert len({answer.id for answer in [*alone, *together]}) == 32


REFUSED = [
    ({"model": "nope"}, openai.NotFoundError, "model nope not found", "model"),
    ({"input": []}, openai.BadRequestError, "input must not be empty, got []", "input"),
    (
        {"max_output_tokens": 0},
        openai.BadRequestError,
        "max_output_tokens must be at least 1, got 0",
        "max_output_tokens",
    ),
    (
        {"previous_response_id": "resp_1"},
        openai.BadRequestError,
        'previous_response_id is not supported, as nothing is kept between calls, got "resp_1"',
        "previous_response_id",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        openai.BadRequestError,
        "tools[0].name is required",
        "tools[0].name",
    ),
]


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("fields", "kind", "message", "param"), REFUSED, ids=[row[3] for row in REFUSED])
def test_refusals(
    client: OpenAI,
    fields: dict[str, Any],
    kind: type[openai.APIStatusError],
    message: str,
    param: str,
    is_streamed: bool,
):
    """E-181, E-191: a refusal is a plain answer, also to `stream`; it names the field and the request."""
    with pytest.raises(kind) as caught:
        client.responses.create(**{"model": "glm-5.2", "input": "Hi", "stream": is_streamed, **fields})
    assert caught.value.message == f"Error code: {caught.value.status_code} - {message}"
    assert (caught.value.param, caught.value.type) == (param, "invalid_request_error")
    assert caught.value.code == str(caught.value.status_code)
    assert caught.value.request_id == caught.value.response.headers["x-engy-request-id"]
    assert len(caught.value.request_id or "") == 32


def test_a_bad_key(engy: EngyMock):
    """E-17: a key of another form."""
    with (
        OpenAI(api_key="sk-other", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="invalid api key"),
    ):
        client.responses.create(model="glm-5.2", input="Hi")


def test_a_prompt_that_is_too_long(client: OpenAI):
    """R-41: code, both numbers, and the field of this format."""
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="glm-5.2", input="word " * 230_000)
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")
    assert "229376" in caught.value.message


STATUSES: list[tuple[ApiError, type[openai.APIStatusError], str]] = [
    (
        InsufficientBalance("request needs 1551 micro-USD, 50 available"),
        openai.APIStatusError,
        "insufficient_quota",
    ),
    (PermissionDenied("no entry"), openai.PermissionDeniedError, "permission_error"),
    (TooLarge("image 2 has 23068672 bytes"), openai.APIStatusError, "invalid_request_error"),
    (RateLimited("concurrency limit of 4 reached"), openai.RateLimitError, "rate_limit_error"),
    (MockFailed(), openai.InternalServerError, "server_error"),
    (UpstreamFailed("upstream failed"), openai.InternalServerError, "server_error"),
    (NoWorker("no worker meets provider.zdr"), openai.InternalServerError, "service_unavailable_error"),
    (UpstreamTimeout("miner timeout or disconnect"), openai.InternalServerError, "timeout_error"),
]


@pytest.mark.parametrize(("error", "kind", "type_"), STATUSES, ids=[str(row[0].status) for row in STATUSES])
def test_each_status(
    client: OpenAI,
    monkeypatch: pytest.MonkeyPatch,
    error: ApiError,
    kind: type[openai.APIStatusError],
    type_: str,
):
    """E-193: the client raises what belongs to the status, with the message and the request id."""

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Engine, "prepare", refuse)
    with pytest.raises(kind) as caught:
        client.responses.create(model="glm-5.2", input=f"Hi {error.status}")
    assert (caught.value.status_code, caught.value.code) == (error.status, str(error.status))
    assert caught.value.message == f"Error code: {error.status} - {error.message}"
    assert caught.value.type == type_
    assert len(caught.value.request_id or "") == 32


@pytest.fixture
def failing(engy: EngyMock) -> None:
    """Every answer fails after four pieces, whatever it says."""
    engy.when().faults({"kind": "fail", "after": 4, "status": 502, "message": "upstream failed"})


@pytest.mark.usefixtures("failing")
def test_a_failure_in_the_stream(client: OpenAI):
    """E-190, R-10: the last event is the failed response, with what was said so far."""
    events = list(client.responses.create(model="glm-5.2", input=HELLO, stream=True))
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert (last.response.error.code, last.response.error.message) == ("server_error", "upstream failed")
    assert last.response.status == "failed"
    assert said(last.response) == folded(events)
    assert last.response.usage is None


@pytest.mark.usefixtures("failing")
def test_a_failure_in_the_stream_helper(client: OpenAI):
    """The helper shows the failed response as an event, and has no final response."""
    with client.responses.stream(model="glm-5.2", input=HELLO) as stream:
        kinds = [event.type for event in stream]
        with pytest.raises(RuntimeError, match=r"response\.completed"):
            stream.get_final_response()
    assert kinds[-1] == "response.failed"


def test_no_state(client: OpenAI):
    """E-2, E-4: nothing is kept, so nothing can be fetched."""
    answer = client.responses.create(model="glm-5.2", input=HELLO, store=True)
    assert (answer.model_extra or {})["store"] is False
    with pytest.raises(openai.NotFoundError, match="no route"):
        client.responses.retrieve(answer.id)


def test_what_the_journal_knows(engy: EngyMock, client: OpenAI):
    """The books are closed when the client has its answer, streamed or not."""
    answer = client.responses.create(model="glm-5.2", input=HELLO)
    for is_streamed in (False, True):
        if is_streamed:
            list(client.responses.create(model="glm-5.2", input=HELLO, stream=True))
        entry = engy.journal.last
        assert (entry.status, entry.path) == (200, "/v1/responses")
        assert entry.request is not None
        assert entry.request.last_user_text == HELLO
        assert entry.charged_micro == (answer.model_extra or {})["x_engy"]["charged_micro"]
