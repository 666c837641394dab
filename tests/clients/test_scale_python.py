"""The official `scale-gp-beta` client for Python on `/v5`, unmodified but for address, key and account."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import scale_gp_beta as scale
from openai import OpenAI
from scale_gp_beta import AsyncSGPClient, SGPClient, Stream
from scale_gp_beta.types import Completion, InferenceResponse, InferenceResponseChunk
from scale_gp_beta.types.chat import ChatCompletion, ChatCompletionChunk

from engy_mock import EngyMock
from engy_mock.dialects import routes
from engy_mock.vocabulary.errors import (
    ApiError,
    MockFailed,
    NoWorker,
    RateLimited,
    TooLarge,
    UpstreamFailed,
    UpstreamTimeout,
)

MODEL = "openai/gpt-4o"
PROMPT = "The capital of France is"
MESSAGES: list[dict[str, object]] = [{"role": "user", "content": "Tell me about rivers."}]
Transport = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(scope="module")
def _kept() -> Iterator[tuple[ExitStack, dict[tuple[str, bool], SGPClient]]]:
    with ExitStack() as stack:
        yield stack, {}


def _made(engy: EngyMock, kept: Any, *, is_strict: bool) -> SGPClient:
    """A client, made once: certificates that nobody reads take their time."""
    stack, made = kept
    key = (engy.origin, is_strict)
    if key not in made:
        own = SGPClient(
            base_url=engy.origin, api_key="a key", account_id="an account", _strict_response_validation=is_strict
        )
        made[key] = stack.enter_context(own)
    client = made[key]
    assert isinstance(client, SGPClient)
    return client


@pytest.fixture
def client(engy: EngyMock, _kept: Any) -> SGPClient:
    """A blocking client as it comes, which retries."""
    return _made(engy, _kept, is_strict=False)


@pytest.fixture
def strict(engy: EngyMock, _kept: Any) -> SGPClient:
    """A client that checks all that it is told."""
    return _made(engy, _kept, is_strict=True)


@pytest.fixture(params=[False, True], ids=["default", "strict"])
def either(engy: EngyMock, _kept: Any, request: pytest.FixtureRequest) -> SGPClient:
    """One after the other."""
    return _made(engy, _kept, is_strict=request.param)


def behind(engy: EngyMock, transport: Transport) -> SGPClient:
    """A client whose requests go through this function."""
    return SGPClient(
        base_url=engy.origin,
        api_key="a key",
        account_id="an account",
        http_client=httpx.Client(transport=httpx.MockTransport(transport), follow_redirects=True),
    )


def no_extra(value: Any) -> None:
    """S-19: the client's types know every field that has come."""
    if isinstance(value, list):
        for item in value:
            no_extra(item)
    elif hasattr(value, "model_extra"):
        # What a default client knows by another name it keeps under both.
        aliases = {field.alias for field in type(value).model_fields.values()}
        assert set(value.model_extra or ()) <= aliases, value.model_extra
        for name in type(value).model_fields:
            no_extra(getattr(value, name))


COMPLETION_FIELDS: dict[str, Any] = {
    "model": MODEL,
    "best_of": 3,
    "echo": True,
    "frequency_penalty": 0.5,
    "logit_bias": {"5": 10},
    "logprobs": 2,
    "max_tokens": 5,
    "n": 2,
    "presence_penalty": -0.5,
    "seed": 7,
    "stop": ["zebra"],
    "stream": False,
    "suffix": "the end",
    "temperature": 0.5,
    "top_p": 0.9,
    "user": "u-1",
}


@pytest.mark.parametrize("prompt", [PROMPT, [PROMPT, "Bread is"]], ids=["string", "list"])
def test_completion_parameters_arrive(engy: EngyMock, client: SGPClient, prompt: Any):
    """S-25 to S-39: every parameter arrives under its own name, and the answer is typed."""
    completion = client.completions.create(prompt=prompt, **COMPLETION_FIELDS)
    assert engy.journal.last.json() == {"prompt": prompt, **COMPLETION_FIELDS}
    assert engy.journal.last.path == "/v5/completions"
    assert isinstance(completion, Completion)
    assert len(completion.choices) == 2 * (1 if isinstance(prompt, str) else 2)
    no_extra(completion)


CHAT_FIELDS: dict[str, Any] = {
    "model": MODEL,
    "messages": MESSAGES,
    "audio": {"voice": "alloy"},
    "frequency_penalty": 0.5,
    "function_call": {"name": "f"},
    "functions": [{"name": "f"}],
    "logit_bias": {"5": 10},
    "logprobs": True,
    "max_completion_tokens": 5,
    "max_tokens": 6,
    "metadata": {"a": "b"},
    "modalities": ["text"],
    "n": 2,
    "parallel_tool_calls": False,
    "prediction": {"type": "content"},
    "presence_penalty": 0.1,
    "reasoning_effort": "low",
    "response_format": {"type": "text"},
    "seed": 7,
    "stop": "zebra",
    "store": False,
    "stream": False,
    "stream_options": {"include_usage": True},
    "temperature": 0.5,
    "tool_choice": "none",
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "top_k": 40,
    "top_logprobs": 1,
    "top_p": 0.9,
}


def test_chat_parameters_arrive(engy: EngyMock, client: SGPClient):
    """S-14, S-49: every parameter arrives under its own name; the other key in a header that nobody keeps."""
    answer = client.chat.completions.create(**CHAT_FIELDS, x_openai_api_key="sk-canary")
    assert engy.journal.last.json() == CHAT_FIELDS
    assert "sk-canary" not in repr(engy.journal.last)
    assert isinstance(answer, ChatCompletion)
    assert [choice.index for choice in answer.choices] == [0, 1]
    no_extra(answer)


def test_response_parameters_arrive(engy: EngyMock, client: SGPClient):
    """S-68, S-70: the same for responses."""
    fields: dict[str, Any] = {
        "model": MODEL,
        "input": "Tell me about rivers.",
        "include": ["message.output_text.logprobs"],
        "instructions": "Be brief.",
        "max_output_tokens": 5,
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "previous_response_id": "resp_1",
        "reasoning": {"effort": "low"},
        "store": True,
        "stream": False,
        "temperature": 0.5,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
        "top_p": 0.9,
        "truncation": "auto",
    }
    answer: Any = client.responses.create(**fields)
    assert engy.journal.last.json() == fields
    assert (answer.object, answer.status, answer.previous_response_id) == ("response", "incomplete", "resp_1")
    assert (answer.temperature, answer.top_p, answer.metadata) == (0.5, 0.9, {"a": "b"})


def test_inference_parameters_arrive(engy: EngyMock, client: SGPClient):
    """S-73, S-76: the same for inference; whole numbers arrive as they are within an object."""
    fields: dict[str, Any] = {
        "model": MODEL,
        "args": {"prompt": "Hi", "steps": 5},
        "inference_configuration": {"num_retries": 1, "timeout_seconds": 2},
    }
    answer = client.inference.create(**fields)
    assert engy.journal.last.json() == fields
    assert isinstance(answer, InferenceResponse)
    assert isinstance(answer.response, dict)
    assert answer.response["args"] == fields["args"]
    no_extra(answer)


def test_extra_bodies(engy: EngyMock, client: SGPClient):
    """S-19: an explicit None is null, and unknown fields are accepted at the top level."""
    nothing: Any = None
    client.completions.create(model=MODEL, prompt=PROMPT, stop=nothing, extra_body={"nobody": 1})
    assert engy.journal.last.json() == {"model": MODEL, "prompt": PROMPT, "stop": None, "nobody": 1}
    assert engy.journal.last.status == 200


def test_whole_answers(either: SGPClient):
    """S-8: a client that checks everything reads whole answers of every route."""
    completion = either.completions.create(model=MODEL, prompt=[PROMPT, "Bread is"], n=2, logprobs=3)
    assert completion.choices[0].text == " Paris."
    assert completion.usage is not None
    no_extra(completion)
    chat: Any = either.chat.completions.create(model=MODEL, messages=MESSAGES, logprobs=True, top_logprobs=2, n=2)
    assert chat.choices[0].message.content
    assert len(chat.choices[0].logprobs.content[0].top_logprobs) == 2
    no_extra(chat)
    no_extra(either.chat.completions.models())
    response: Any = either.responses.create(model=MODEL, input="Tell me about rivers.")
    assert response.output[0].content[0].text == chat.choices[0].message.content
    inference: Any = either.inference.create(model=MODEL, args={"prompt": "Hi"})
    assert inference.object == "generic_inference"


def test_tool_calls(either: SGPClient):
    """S-51, S-53: a demanded call, whole and streamed."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    fields: dict[str, Any] = {"model": MODEL, "messages": MESSAGES, "tools": [tool], "tool_choice": "required"}
    whole: Any = either.chat.completions.create(**fields)
    assert whole.choices[0].finish_reason == "tool_calls"
    assert whole.choices[0].message.tool_calls[0].function.name == "f"
    chunks = list(either.chat.completions.create(**fields, stream=True))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [(call.index, call.function and call.function.name) for call in calls] == [(0, "f")]


def test_completion_streams(engy: EngyMock, client: SGPClient):
    """S-1 to S-3, S-46: every chunk arrives in order, and the loop ends by itself."""
    whole = client.completions.create(model=MODEL, prompt=PROMPT, n=2)
    chunks = list(
        client.completions.create(
            model=MODEL, prompt=PROMPT, n=2, stream=True, stream_options={"include_usage": True}
        )
    )
    *pieces, last = chunks
    for choice in whole.choices:
        told = [piece.choices[0] for piece in pieces if piece.choices[0].index == choice.index]
        assert "".join(part.text for part in told) == choice.text
        assert told[-1].finish_reason == choice.finish_reason
    assert last.choices == []
    assert last.usage == whole.usage
    no_extra(chunks)


def test_chat_streams(either: SGPClient):
    """S-1, S-8, S-53: a strict client reads chat streams too."""
    whole: Any = either.chat.completions.create(model=MODEL, messages=MESSAGES)
    chunks = list(
        either.chat.completions.create(
            model=MODEL, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
    )
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in chunks)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    no_extra(chunks)


def test_what_strict_clients_reject(strict: SGPClient):
    """S-8, S-46: the null reason of a running choice follows OpenAI, and such a client does not take it."""
    with pytest.raises(scale.APIResponseValidationError):
        list(strict.completions.create(model=MODEL, prompt=PROMPT, stream=True))
    with pytest.raises(scale.APIResponseValidationError):
        strict.completions.create(model=MODEL, prompt=PROMPT, echo=True, logprobs=1)


async def test_the_asynchronous_client(engy: EngyMock, client: SGPClient):
    """S-1, S-61: the same on a loop: whole answers, streams, and pages."""
    whole = client.completions.create(model=MODEL, prompt=PROMPT)
    chat: Any = client.chat.completions.create(model=MODEL, messages=MESSAGES)
    async with AsyncSGPClient(base_url=engy.origin, api_key="k", account_id="a") as own:
        assert (await own.completions.create(model=MODEL, prompt=PROMPT)).choices == whole.choices
        pieces = [chunk async for chunk in await own.completions.create(model=MODEL, prompt=PROMPT, stream=True)]
        assert "".join(piece.choices[0].text for piece in pieces) == whole.choices[0].text
        stream = await own.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)
        deltas = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(deltas) == chat.choices[0].message.content
        for name in "abc":
            await own.models.create(model={"name": name, "model_vendor": "xai", "model_type": "generic"})
        assert [model.name async for model in own.models.list(limit=2)] == ["a", "b", "c"]
        answer: Any = await own.responses.create(model=MODEL, input="Hi")
        assert answer.status == "completed"
        assert isinstance(await own.inference.create(model=MODEL), InferenceResponse)


def rewritten(stream: bytes, way: str) -> bytes:
    """A stream in another of the forms that its standard allows."""
    if way == "CRLF":
        return stream.replace(b"\n", b"\r\n")
    if way == "comments":
        return b": hello\n\n" + stream.replace(b"\n\n", b"\n\n: keep-alive\n")
    return stream


@pytest.mark.slow
@pytest.mark.parametrize("way", ["LF", "CRLF", "comments"])
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_framings(engy: EngyMock, client: SGPClient, way: str, size: int):
    """S-2 to S-4: other line ends, tiny writes and comment lines make no difference to a client."""

    def told(client: SGPClient) -> tuple[list[Any], list[Any]]:
        completion = client.completions.create(model=MODEL, prompt=PROMPT, stream=True)
        chat = client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=8)
        return [chunk.choices for chunk in completion], [chunk.choices for chunk in chat]

    def transport(request: httpx.Request) -> httpx.Response:
        answer = httpx.post(request.url, headers=request.headers, content=request.content)
        data = rewritten(answer.content, way)
        pieces = (data[begin : begin + size] for begin in range(0, len(data), size))
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces)

    with behind(engy, transport) as own:
        again = told(own)
    assert again == told(client)


def test_an_end_mark_would_break_it(engy: EngyMock):
    """S-1: the reason why there is none: this client takes `[DONE]` for a chunk."""
    body = b'data: {"id":"x","choices":[],"created":1,"model":"m"}\n\ndata: [DONE]\n\n'
    with (
        behind(engy, lambda _: httpx.Response(200, content=body)) as own,
        pytest.raises(json.JSONDecodeError),
    ):
        list(own.completions.create(model=MODEL, prompt=PROMPT, stream=True))


def test_named_events_would_be_lost(engy: EngyMock):
    """S-3: the reason for data lines only: this client drops every event that has a name."""
    body = b'event: message\ndata: {"id":"x","choices":[],"created":1,"model":"m"}\n\n'
    with behind(engy, lambda _: httpx.Response(200, content=body)) as own:
        assert list(own.completions.create(model=MODEL, prompt=PROMPT, stream=True)) == []


def test_openai_clients(engy: EngyMock):
    """S-1, S-6, S-72: the OpenAI client at `/v5` reads answers and streams of three routes to a clean end."""
    headers = {"x-api-key": "a key"}
    with OpenAI(base_url=f"{engy.origin}/v5", api_key="unused", default_headers=headers, max_retries=0) as own:
        whole = own.completions.create(model=MODEL, prompt=PROMPT)
        pieces = list(own.completions.create(model=MODEL, prompt=PROMPT, stream=True))
        assert "".join(piece.choices[0].text for piece in pieces) == whole.choices[0].text == " Paris."
        messages: Any = MESSAGES
        chat = own.chat.completions.create(model=MODEL, messages=messages)
        deltas = list(own.chat.completions.create(model=MODEL, messages=messages, stream=True))
        assert "".join(d.choices[0].delta.content or "" for d in deltas) == chat.choices[0].message.content
        for names_events in (False, True):
            engy.settings.v5_named_events = names_events
            events = list(own.responses.create(model=MODEL, input="Tell me about rivers.", stream=True))
            assert events[-1].type == "response.completed"
            assert events[-1].response.output_text == chat.choices[0].message.content
        with pytest.raises(openai.UnprocessableEntityError) as caught:
            own.chat.completions.create(model=MODEL, messages=[])
        assert isinstance(caught.value.body, dict)
        assert caught.value.body["detail"][0]["loc"] == ["body", "messages"]


def test_openai_clients_with_bearer_keys(engy: EngyMock):
    """S-12: with the setting an OpenAI client needs no other header."""
    with OpenAI(base_url=f"{engy.origin}/v5", api_key="a key", max_retries=0) as own:
        with pytest.raises(openai.AuthenticationError):
            own.completions.create(model=MODEL, prompt=PROMPT)
        engy.settings.v5_accepts_bearer = True
        assert own.completions.create(model=MODEL, prompt=PROMPT).choices[0].text == " Paris."


def test_streamed_responses(engy: EngyMock, client: SGPClient):
    """S-72: this client hands a streamed response on as text."""
    text: Any = client.responses.create(model=MODEL, input="Hi", max_output_tokens=3, stream=True)
    assert isinstance(text, str)
    assert text.startswith('data: {"type":"response.created"')
    assert text.endswith("\n\n")
    assert "event:" not in text


def test_streamed_inference(engy: EngyMock, client: SGPClient):
    """S-76: a stream is text, unless it is asked for with a class."""
    text: Any = client.inference.create(model=MODEL, args={"prompt": "Hi", "stream": True})
    assert isinstance(text, str)
    stream = client.post(
        "/v5/inference",
        body={"model": MODEL, "args": {"prompt": "Hi"}, "stream": True},
        cast_to=InferenceResponseChunk,
        stream=True,
        stream_cls=Stream[InferenceResponseChunk],
    )
    whole: Any = client.inference.create(model=MODEL, args={"prompt": "Hi"})
    assert "".join(str(chunk.response) for chunk in stream) == whole.response["output"]


def test_whole_numbers_become_floats(engy: EngyMock):
    """S-76: what a response of 5 is to this client."""
    body = {"object": "generic_inference", "response": 5}
    with behind(engy, lambda _: httpx.Response(200, json=body)) as own:
        answer = own.inference.create(model=MODEL)
    assert isinstance(answer.response, float)


def test_the_list_of_models(client: SGPClient):
    """S-7, S-54, S-55: the client finds the models, and a vendor's."""
    found = client.chat.completions.models(model_vendor="openai", limit=5, sort_by="model_name", sort_order="desc")
    assert [item.name for item in found.items] == ["gpt-4o-mini", "gpt-4o"]
    assert found.object == "list"
    assert {item.api_model_type for item in found.items} == {"chat_completion"}


def created(client: SGPClient, *names: str) -> list[str]:
    """The ids of records that have been created."""
    return [
        client.models.create(model={"name": name, "model_vendor": "xai", "model_type": "chat_completion"}).id
        for name in names
    ]


def test_paging(engy: EngyMock, either: SGPClient):
    """S-59, S-61: five records at two a page take three requests, forwards and backwards."""
    ids = created(either, *"abcde")
    before = len(engy.journal)
    assert [model.id for model in either.models.list(limit=2)] == ids
    assert len(engy.journal) - before == 3
    backwards = list(either.models.list(limit=2, ending_before=ids[4]))
    assert [model.name for model in backwards] == ["c", "d", "a", "b"]
    page = either.models.list(limit=2, starting_after=ids[3], model_vendor="xai", sort_order="asc")
    assert [model.id for model in page.items] == ids[4:]
    assert page.has_more is False
    assert list(either.models.list(starting_after="nobody")) == []


def test_the_life_of_a_record(either: SGPClient):
    """S-16, S-58 to S-66: create, read, change and delete, as a strict client sees it."""
    image = {"command": ["serve"], "registry": "r", "repository": "x", "tag": "v1"}
    launch: Any = {
        "name": "bundle",
        "model_vendor": "launch",
        "vendor_configuration": {"model_image": image, "model_infra": {"cpus": 1}},
    }
    record = either.models.create(model=launch)
    assert (record.status, record.api_model_type, record.api_model_vendor) == ("deploying", "generic", "launch")
    with pytest.raises(scale.BadRequestError, match="model 'bundle' is deploying"):
        either.models.delete(record.id)
    assert either.models.retrieve(record.id).status == "ready"
    changed = either.models.update(record.id, model={"vendor_configuration": {"model_infra": {"cpus": 2}}})
    assert changed.status == "deploying"
    either.models.retrieve(record.id)
    assert either.models.update(record.id, model={"model_metadata": {"a": 1}}).metadata == {"a": 1}
    assert either.models.update(record.id, model={"name": "other"}).name == "other"
    engine: Any = {"name": "l", "model_vendor": "llmengine", "vendor_configuration": {"model": "llama"}}
    assert either.models.create(model=engine).api_model_type == "chat_completion"
    no_extra(either.models.retrieve(record.id))
    gone = either.models.delete(record.id)
    assert (gone.id, gone.deleted, gone.object) == (record.id, True, "model")
    with pytest.raises(scale.NotFoundError):
        either.models.retrieve(record.id)


def test_records_with_a_slash(client: SGPClient):
    """S-17: the client encodes what stands in a path, and the mock reads it as it was."""
    created(client, "a/b")
    assert client.models.retrieve("xai/a/b").name == "a/b"
    answer: Any = client.chat.completions.create(model="xai/a/b", messages=MESSAGES, max_tokens=1)
    assert answer.model == "xai/a/b"
    assert client.models.delete("xai/a/b").deleted


Refused = Callable[[SGPClient], object]

REFUSALS: list[tuple[str, int, type[scale.APIStatusError], Any, Refused]] = [
    (
        "vendor",
        400,
        scale.BadRequestError,
        "unknown vendor 'acme'",
        lambda c: c.completions.create(model="acme/x", prompt=PROMPT),
    ),
    (
        "range",
        400,
        scale.BadRequestError,
        "n must be at most 128, got 129",
        lambda c: c.completions.create(model=MODEL, prompt=PROMPT, n=129),
    ),
    (
        "key",
        401,
        scale.AuthenticationError,
        "invalid api key",
        lambda c: c.models.list(extra_headers={"x-api-key": ""}),
    ),
    (
        "name",
        404,
        scale.NotFoundError,
        "model 'openai/nope' not found",
        lambda c: c.completions.create(model="openai/nope", prompt=PROMPT),
    ),
    (
        "path",
        404,
        scale.NotFoundError,
        "no route GET /v5/nope",
        lambda c: c.get("/v5/nope", cast_to=object),
    ),
    (
        "method",
        405,
        scale.APIStatusError,
        "method PUT not allowed on /v5/models",
        lambda c: c.put("/v5/models", cast_to=object),
    ),
    (
        "content type",
        415,
        scale.APIStatusError,
        "content type must be application/json",
        lambda c: c.completions.create(model=MODEL, prompt=PROMPT, extra_headers={"Content-Type": "text/plain"}),
    ),
    (
        "clash",
        409,
        scale.ConflictError,
        "a model named 'a' exists",
        lambda c: created(c, "a", "a"),
    ),
    (
        "fields",
        422,
        scale.UnprocessableEntityError,
        [{"loc": ["body", "messages"], "msg": "messages must not be empty, got []", "type": "too_short"}],
        lambda c: c.chat.completions.create(model=MODEL, messages=[]),
    ),
    (
        "query",
        422,
        scale.UnprocessableEntityError,
        [{"loc": ["query", "limit"], "msg": "limit must be at least 1, got 0", "type": "greater_than_equal"}],
        lambda c: c.models.list(limit=0),
    ),
]


@pytest.mark.parametrize(
    ("status", "kind", "detail", "call"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_refusals(
    engy: EngyMock, client: SGPClient, status: int, kind: type[scale.APIStatusError], detail: Any, call: Refused
):
    """S-9, S-79: each status raises its class, nothing is tried again, and the body can be reached."""
    with pytest.raises(kind) as caught:
        call(client)
    assert type(caught.value) is kind
    assert caught.value.status_code == status
    assert caught.value.body == {"detail": detail}
    assert [entry.status for entry in engy.journal].count(status) == 1


def test_foreign_accounts(engy: EngyMock, client: SGPClient):
    """S-13: a registered key with another account's id is refused."""
    from engy_mock.books.accounts import Account

    engy.gateway.accounts.by_key["a key"] = Account(name="a1")
    with pytest.raises(scale.PermissionDeniedError, match="no access to account 'an account'"):
        client.models.list()
    assert list(client.with_options(account_id="a1").models.list()) == []


def test_large_bodies():
    """S-81: a body over the cap is 413, in the form of this surface."""
    from engy_mock.serving.limits import Limits

    with EngyMock(limits=Limits(body_bytes=1000)) as engy:
        own = SGPClient(base_url=engy.origin, api_key="k", account_id="a")
        with own, pytest.raises(scale.APIStatusError, match="body exceeds 1000 bytes") as caught:
            own.completions.create(model=MODEL, prompt="x" * 2000)
    assert caught.value.status_code == 413


SCRIPTED: list[tuple[ApiError, type[scale.APIStatusError]]] = [
    (RateLimited("concurrency limit of 4 reached"), scale.RateLimitError),
    (MockFailed(), scale.InternalServerError),
    (UpstreamFailed("upstream failed"), scale.InternalServerError),
    (NoWorker("no worker"), scale.InternalServerError),
    (UpstreamTimeout("timeout"), scale.InternalServerError),
    (TooLarge("body exceeds 33554432 bytes"), scale.APIStatusError),
]


def refusing(error: ApiError, *, times: int, seen: list[httpx.Request], **headers: str) -> Transport:
    """The first requests are refused in the mock's own words, the others get through."""

    def transport(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if len(seen) > times:
            answer = httpx.request(request.method, request.url, headers=request.headers, content=request.content)
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        route = routes.speaker(request.url.path)
        return httpx.Response(
            error.status,
            headers={"content-type": "application/json", **headers},
            content=route.dialect.error(error, route.surface, "id"),
        )

    return transport


@pytest.mark.parametrize(("error", "kind"), SCRIPTED, ids=[str(row[0].status) for row in SCRIPTED])
def test_scripted_refusals(engy: EngyMock, error: ApiError, kind: type[scale.APIStatusError]):
    """S-9: the causes that only a test makes raise their classes too; a header says not to try again."""
    seen: list[httpx.Request] = []
    transport = refusing(error, times=9, seen=seen, **{"x-should-retry": "false"})
    with behind(engy, transport) as own, pytest.raises(kind) as caught:
        own.completions.create(model=MODEL, prompt=PROMPT)
    assert (type(caught.value), caught.value.body) == (kind, {"detail": error.message})
    assert len(seen) == 1


@pytest.mark.parametrize(
    "error", [row[0] for row in SCRIPTED[:5]], ids=[str(row[0].status) for row in SCRIPTED[:5]]
)
def test_retries(engy: EngyMock, error: ApiError):
    """S-9, S-15: a refusal that says when to come back costs one more request, with the same body."""
    seen: list[httpx.Request] = []
    with behind(engy, refusing(error, times=1, seen=seen, **{"retry-after-ms": "1"})) as own:
        assert own.completions.create(model=MODEL, prompt=PROMPT).choices[0].text == " Paris."
    assert [request.headers["x-stainless-retry-count"] for request in seen] == ["0", "1"]
    assert seen[0].content == seen[1].content
    assert engy.journal.last.status == 200


def test_refusals_by_a_rule(engy: EngyMock, client: SGPClient):
    """S-9, S-79: what a rule refuses with is told as a detail; 429 is tried again, and then answered."""
    engy.when(surface="v5").refuse(429, "concurrency limit of 4 reached", times=2)
    assert client.completions.create(model=MODEL, prompt=PROMPT).choices[0].text == " Paris."
    assert [entry.status for entry in engy.journal] == [429, 429, 200]


@pytest.mark.parametrize("error", SCRIPTED, ids=lambda row: str(row[0].status))
def test_statuses_by_a_rule(engy: EngyMock, client: SGPClient, error: Any):
    """S-9, S-79: every status of the table raises its class, with the words of the rule as its detail."""
    cause, kind = error
    engy.when(surface="v5").refuse(cause.status, "no", headers={"x-should-retry": "false"})
    with pytest.raises(kind) as caught:
        client.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert (type(caught.value), caught.value.status_code) == (kind, cause.status)
    assert caught.value.body == {"detail": "no"}


def test_words_of_a_rule(engy: EngyMock, client: SGPClient):
    """S-8, S-42, S-51, S-74: scripted words and reasons, on three routes."""
    engy.when(endpoint="completions").reply("one two", finish_reason="content_filter")
    engy.when(endpoint="chat").reply("three", finish_reason="function_call")
    engy.when(endpoint="inference").reply(response={"a": [1, None]})
    completion = client.completions.create(model=MODEL, prompt=PROMPT)
    assert (completion.choices[0].text, completion.choices[0].finish_reason) == ("one two", "content_filter")
    chat: Any = client.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert (chat.choices[0].message.content, chat.choices[0].finish_reason) == ("three", "function_call")
    inference: Any = client.inference.create(model=MODEL)
    assert inference.response == {"a": [1, None]}


def test_retries_end(engy: EngyMock):
    """S-9: three attempts, then the exception."""
    seen: list[httpx.Request] = []
    transport = refusing(RateLimited("busy"), times=9, seen=seen, **{"retry-after-ms": "1"})
    with behind(engy, transport) as own, pytest.raises(scale.RateLimitError):
        own.completions.create(model=MODEL, prompt=PROMPT)
    assert len(seen) == 3


def test_what_the_client_sends(engy: EngyMock):
    """S-10, S-13, S-15, S-16: the key and the account in their headers, and no other key anywhere."""
    seen: list[httpx.Request] = []
    transport = refusing(RateLimited("busy"), times=0, seen=seen)
    with behind(engy, transport) as own:
        own.completions.create(model=MODEL, prompt=PROMPT)
        own.models.delete(created(own, "x")[0])
    headers = seen[0].headers
    assert (headers["x-api-key"], headers["x-selected-account-id"]) == ("a key", "an account")
    assert headers["accept"] == "application/json"
    assert "authorization" not in headers
    assert (seen[-1].content, seen[-1].headers["content-type"]) == (b"", "application/json")


@pytest.mark.parametrize("status", [301, 307])
def test_redirects(engy: EngyMock, status: int):
    """S-18: the client follows redirects, which the mock itself never sends."""
    seen: list[str] = []

    def transport(request: httpx.Request) -> httpx.Response:
        seen.append(f"{request.method} {request.url.path}")
        if len(seen) == 1:
            return httpx.Response(status, headers={"location": f"{engy.origin}/v5/models?limit=5"})
        return httpx.Response(200, json={"object": "list", "items": [], "has_more": False})

    with behind(engy, transport) as own:
        assert list(own.models.list()) == []
    assert seen == ["GET /v5/models", "GET /v5/models"]


def test_other_content_types(engy: EngyMock):
    """S-5: the reason for the exact type: without it a client hands text on, and says nothing."""
    body = b'{"id":"x","choices":[],"created":1,"model":"m"}'
    with behind(engy, lambda _: httpx.Response(200, headers={"content-type": "text/plain"}, content=body)) as own:
        answer: Any = own.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert isinstance(answer, str)


def test_the_environment(engy: EngyMock):
    """S-10, S-13: with the `engy` fixture a client finds address, key and account by itself."""
    with SGPClient() as own:
        assert own.completions.create(model=MODEL, prompt=PROMPT).choices[0].text == " Paris."
        assert own.account_id == engy.accounts.default.name
    account = engy.account("mine")
    with SGPClient(api_key=account.key, account_id=account.name) as own:
        own.completions.create(model=MODEL, prompt=PROMPT)
    with SGPClient(api_key=account.key) as own, pytest.raises(scale.PermissionDeniedError):
        own.completions.create(model=MODEL, prompt=PROMPT)


GENERATIONS = ["scale-gp-beta==0.1.0a20", "scale-gp-beta==0.1.0a39", "scale-gp==0.1.0a62"]

OLD_CLIENT = """
import asyncio, importlib, sys

name, origin = sys.argv[1:]
module = importlib.import_module(name)
options = {"account_id": "a"} if name == "scale_gp_beta" else {}
asked = {"model": "openai/gpt-4o", "prompt": "The capital of France is", "stream": True}

client = module.SGPClient(base_url=origin, api_key="k", **options)
root = client if name == "scale_gp_beta" else client.beta
print("".join(chunk.choices[0].text for chunk in root.completions.create(**asked)))

async def main():
    client = module.AsyncSGPClient(base_url=origin, api_key="k", **options)
    root = client if name == "scale_gp_beta" else client.beta
    print("".join([chunk.choices[0].text async for chunk in await root.completions.create(**asked)]))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_earlier_generations(engy: EngyMock, tmp_path: Path, generation: str):
    """S-1, S-77: the clients published before read a completions stream to its end, each in a place of its own."""
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", tmp_path, generation],
        capture_output=True,
        text=True,
    )
    if installed.returncode:
        pytest.skip(f"{generation} cannot be installed here")
    module = generation.partition("==")[0].replace("-", "_")
    said = subprocess.run(
        # Without what this environment has.
        [sys.executable, "-S", "-c", OLD_CLIENT, module, engy.origin],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert said.stdout == " Paris.\n Paris.\n", said.stderr
