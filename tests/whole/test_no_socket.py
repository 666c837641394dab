"""One suite over both doors: whatever is asked on whichever route, the answer without a socket is the same."""

import asyncio
import gc
import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI
from scale_gp_beta import AsyncSGPClient, SGPClient

from engy_mock import EngyMock, Limits, MockError
from engy_mock.faults import by_kind
from tests.doors.both import MANNERS, Manner

ASKED = [{"role": "user", "content": "What is the capital of France?"}]
CHAT: dict[str, Any] = {"model": "glm-5.2", "messages": ASKED, "max_tokens": 40}
COMPLETION: dict[str, Any] = {"model": "glm-5.2", "prompt": "The capital of France is", "max_tokens": 8}
MESSAGES: dict[str, Any] = {"model": "glm-5.2", "messages": ASKED, "max_tokens": 40}
RESPONSE: dict[str, Any] = {"model": "glm-5.2", "input": "Tell me about rivers.", "max_output_tokens": 40}
V5_CHAT = {**CHAT, "model": "openai/gpt-4o"}
V5_COMPLETION = {**COMPLETION, "model": "openai/gpt-4o"}
V5_RESPONSE = {**RESPONSE, "model": "openai/gpt-4o"}
V5_INFERENCE: dict[str, Any] = {"model": "openai/gpt-4o", "args": {"prompt": "Tell me about rivers."}}
RECORD = {"name": "own", "model_vendor": "xai", "model_type": "chat_completion"}

KEY = {"Authorization": "Bearer sk-engy-anything"}
V5_KEY = {"x-api-key": "any key"}
JSON = {"Content-Type": "application/json"}
STREAM = {"stream": True}

Call = tuple[str, str, dict[str, str], bytes | None]


def post(path: str, body: dict[str, Any] | bytes, **headers: str) -> Call:
    key = V5_KEY if path.startswith(("/v5", "/v4")) else KEY
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return "POST", path, {**JSON, **key, **headers}, content


def get(path: str, method: str = "GET", **headers: str) -> Call:
    return method, path, {**(V5_KEY if path.startswith("/v5") else KEY), **headers}, None


CALLS: dict[str, Call] = {
    "chat": post("/v1/chat/completions", CHAT),
    "chat, the same again": post("/v1/chat/completions", CHAT),
    "chat stream": post("/v1/chat/completions", {**CHAT, **STREAM, "logprobs": True, "top_logprobs": 2}),
    "chat stream with usage": post(
        "/v1/chat/completions", {**CHAT, **STREAM, "stream_options": {"include_usage": True}}
    ),
    "completion": post("/v1/completions", {**COMPLETION, "echo": True, "logprobs": 3}),
    "completion stream": post("/v1/completions", {**COMPLETION, **STREAM, "n": 2}),
    "message": post("/v1/messages", MESSAGES),
    "message stream": post("/v1/messages", {**MESSAGES, **STREAM}),
    "count": post("/v1/messages/count_tokens?beta=true", {"model": "glm-5.2", "messages": ASKED}),
    "response": post("/v1/responses", RESPONSE),
    "response stream": post("/v1/responses", {**RESPONSE, **STREAM}),
    "models": get("/v1/models"),
    "head of the models": get("/v1/models", "HEAD"),
    "v5 chat": post("/v5/chat/completions", V5_CHAT),
    "v5 chat stream": post("/v5/chat/completions", {**V5_CHAT, **STREAM}),
    "v4 chat": post("/v4/beta/chat/completions", V5_CHAT),
    "v5 chat models": get("/v5/chat/completions/models?model_vendor=openai&limit=3"),
    "v5 completion": post("/v5/completions", V5_COMPLETION),
    "v5 completion stream": post("/v5/completions", {**V5_COMPLETION, **STREAM}),
    "v5 response": post("/v5/responses", V5_RESPONSE),
    "v5 response stream": post("/v5/responses", {**V5_RESPONSE, **STREAM}),
    "v5 inference": post("/v5/inference", V5_INFERENCE),
    "v5 inference stream": post(
        "/v5/inference", {**V5_INFERENCE, "args": {"prompt": "Tell me about rivers.", "stream": True}}
    ),
    "v5 model made": post("/v5/models", RECORD),
    "v5 model": get("/v5/models/xai%2Fown"),
    "v5 model changed": ("PATCH", "/v5/models/xai%2Fown", {**JSON, **V5_KEY}, b'{"model_metadata":{"a":"b"}}'),
    "v5 models": get("/v5/models?limit=3"),
    "v5 model removed": get("/v5/models/xai%2Fown", "DELETE"),
    "zipped": post(
        "/v1/chat/completions",
        gzip.compress(json.dumps(CHAT).encode(), mtime=0),
        **{"Content-Encoding": "gzip"},
    ),
    "badly zipped": post("/v1/chat/completions", b"{}", **{"Content-Encoding": "gzip"}),
    "no key": post("/v1/chat/completions", CHAT, Authorization=""),
    "no JSON": post("/v1/messages", b'{"model": '),
    "no object": post("/v1/responses", b"[]"),
    "no model": post("/v1/chat/completions", {**CHAT, "model": "gpt-9"}),
    "no field": post("/v1/chat/completions", {"model": "glm-5.2"}),
    "form": post("/v1/completions", b"a=b", **{"Content-Type": "application/x-www-form-urlencoded"}),
    "no route": get("/v1/nothing"),
    "no route below v5": get("/v5/nothing"),
    "wrong method": get("/v1/chat/completions"),
    "foreign host": get("/v1/models", Host="models.example"),
    "vision": post("/v1/chat/completions", {**CHAT, "messages": [{"role": "user", "content": [{"type": "?"}]}]}),
}


def books(engy: EngyMock) -> list[Any]:
    """What the journal knows of each exchange, but for what only says who asked."""
    fields = ("method", "path", "body", "request_id", "status", "usage", "charged_micro", "pieces_sent", "error")
    return [[getattr(entry, field) for field in (*fields, "rule", "headers")] for entry in engy.journal]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_every_route_answers_the_same(manner: Manner) -> None:
    """Status, reason, each header and each byte; streams, refusals and odd bodies included."""
    with EngyMock(seed=3) as engy, EngyMock(seed=3) as other:
        for mock in (engy, other):
            mock.when(endpoint="chat", says="France").refuse(429, retry_after=2, times=1)
        for name, (method, target, headers, content) in CALLS.items():
            over_socket = manner.over_socket(engy, method, target, headers=headers, content=content)
            inside = manner.inside(other, method, target, headers=headers, content=content)
            assert inside == over_socket, name
            assert over_socket.error is None
        assert books(engy) == books(other)
        assert len(books(engy)) == len(CALLS)


def test_the_suite_asks_on_every_route() -> None:
    """A route that is added later is asked for as well."""
    from engy_mock.dialects.routes import ROUTES

    asked = {(method, target.partition("?")[0]) for method, target, _, _ in CALLS.values()}
    asked |= {(method, "/v5/models/{name}") for method, path in asked if path.startswith("/v5/models/")}
    assert {(route.method, route.path) for route in ROUTES} <= asked


# The official clients
# --------------------

BLOCKING: dict[str, tuple[Any, Any, Callable[[Any], list[Any]]]] = {
    "openai": (
        OpenAI,
        httpx2,
        lambda client: [
            client.chat.completions.create(**CHAT),
            *client.chat.completions.create(**CHAT, stream=True),
            client.completions.create(**COMPLETION),
            client.responses.create(**RESPONSE),
            *client.responses.create(**RESPONSE, stream=True),
            *client.models.list(),
        ],
    ),
    "anthropic": (
        Anthropic,
        httpx2,
        lambda client: [
            client.messages.create(**MESSAGES),
            *client.messages.create(**MESSAGES, stream=True),
            client.messages.count_tokens(model="glm-5.2", messages=ASKED),
        ],
    ),
    "scale": (
        SGPClient,
        httpx,
        lambda client: [
            client.chat.completions.create(**V5_CHAT),
            *client.chat.completions.create(**V5_CHAT, stream=True),
            client.completions.create(**V5_COMPLETION),
            *client.completions.create(**V5_COMPLETION, stream=True),
            client.inference.create(**V5_INFERENCE),
            *client.models.list(limit=3),
        ],
    ),
}


async def _openai(client: Any) -> list[Any]:
    chat = client.chat.completions.create
    return [
        await chat(**CHAT),
        *[chunk async for chunk in await chat(**CHAT, stream=True)],
        await client.responses.create(**RESPONSE),
    ]


async def _anthropic(client: Any) -> list[Any]:
    create = client.messages.create
    return [await create(**MESSAGES), *[event async for event in await create(**MESSAGES, stream=True)]]


async def _scale(client: Any) -> list[Any]:
    chat = client.chat.completions.create
    return [await chat(**V5_CHAT), *[chunk async for chunk in await chat(**V5_CHAT, stream=True)]]


ASYNCHRONOUS: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {
    "openai": (AsyncOpenAI, httpx2, _openai),
    "anthropic": (AsyncAnthropic, httpx2, _anthropic),
    "scale": (AsyncSGPClient, httpx, _scale),
}


def _options(name: str, address: EngyMock) -> dict[str, Any]:
    account = {"account_id": "an account"} if name == "scale" else {}
    base_url = address.base_url if name == "openai" else address.origin
    return {"base_url": base_url, "api_key": address.api_key, **account}


@pytest.mark.parametrize("name", BLOCKING)
def test_official_clients_hear_the_same(name: str) -> None:
    """Whole and streamed, each as its client reads it."""
    make, library, ask = BLOCKING[name]
    with EngyMock() as engy, EngyMock() as other:
        with make(**_options(name, engy)) as client:
            over_socket = ask(client)
        with make(**_options(name, other), http_client=other.http_client(library)) as client:
            assert ask(client) == over_socket
        assert books(engy) == books(other)


@pytest.mark.parametrize("name", ASYNCHRONOUS)
async def test_official_asynchronous_clients_hear_the_same(name: str) -> None:
    make, library, ask = ASYNCHRONOUS[name]
    async with EngyMock() as engy, EngyMock() as other:
        async with make(**_options(name, engy)) as client:
            over_socket = await ask(client)
        async with make(**_options(name, other), http_client=other.async_http_client(library)) as client:
            assert await ask(client) == over_socket
        assert books(engy) == books(other)


async def test_aiohttp_hears_the_same() -> None:
    """Status, headers and bytes of every call, over a connection in memory."""
    import aiohttp

    async def seen(session: aiohttp.ClientSession, call: Call) -> tuple[Any, ...]:
        method, target, headers, content = call
        async with session.request(method, target, headers=headers, data=content) as response:
            return response.status, response.reason, response.raw_headers, await response.read()

    async with EngyMock(seed=3) as engy, aiohttp.ClientSession(base_url=engy.origin) as over_socket:
        other = EngyMock(seed=3)
        async with other.aiohttp_session() as inside:
            for name, call in CALLS.items():
                assert await seen(inside, call) == await seen(over_socket, call), name
        assert books(engy) == books(other)


# What the client leaves behind
# -----------------------------


def test_a_client_that_leaves_pays_for_what_it_got() -> None:
    """E-200: a stream that is closed early is settled at once, for the pieces delivered."""
    engy = EngyMock()
    engy.settings.one_event_per_write = True
    with (
        engy.http_client(headers=KEY) as client,
        client.stream("POST", "/v1/chat/completions", json={**CHAT, "stream": True}) as response,
    ):
        pieces = response.iter_raw()
        first = [next(pieces) for _ in range(5)]
        entry = engy.journal.last
        assert (entry.client_left, entry.usage) == (False, None)
    assert entry.client_left
    assert b"[DONE]" not in b"".join(first)
    assert 0 < entry.pieces_sent <= 5
    assert entry.usage.completion_tokens == entry.pieces_sent
    assert 0 < entry.charged_micro < 100


@pytest.mark.slow
def test_a_client_that_is_forgotten_pays_as_well() -> None:
    """So does one that nobody closes, once it is gone."""
    engy = EngyMock()
    engy.settings.one_event_per_write = True
    with engy.http_client(headers=KEY) as client:
        request = client.build_request("POST", "/v1/chat/completions", json={**CHAT, "stream": True})
        client.send(request, stream=True)
        gc.collect()
    assert engy.journal.last.client_left


async def test_an_asynchronous_client_that_leaves_pays_for_what_it_got() -> None:
    engy = EngyMock()
    engy.settings.one_event_per_write = True
    async with engy.async_http_client(headers=KEY) as client:
        body = {**CHAT, "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            pieces = response.aiter_raw()
            for _ in range(5):
                await anext(pieces)
            await pieces.aclose()
    assert engy.journal.last.client_left
    assert 0 < engy.journal.last.pieces_sent <= 5


def test_the_journal_is_up_to_date_at_the_end_of_an_answer() -> None:
    """Nobody ever waits for the books, neither behind a whole answer nor behind a stream."""
    engy = EngyMock()
    with engy.http_client(headers=KEY) as client:
        for body in (CHAT, {**CHAT, "stream": True}):
            client.post("/v1/chat/completions", json=body)
            assert engy.journal.last.usage is not None
            assert not engy.journal.last.client_left


def test_callers_in_parallel_get_the_same_answers() -> None:
    """One client may serve any number of threads, and one mock any number of loops, one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    engy = EngyMock()
    bodies = [{**CHAT, "messages": [{"role": "user", "content": f"Number {n % 8}"}]} for n in range(64)]

    def said(response: Any) -> str:
        text: str = response.json()["choices"][0]["message"]["content"]
        return text

    with engy.http_client(headers=KEY) as client:
        alone = [said(client.post("/v1/chat/completions", json=body)) for body in bodies]
        with ThreadPoolExecutor(16) as pool:
            together = [*pool.map(lambda body: said(client.post("/v1/chat/completions", json=body)), bodies)]

    async def on_a_loop() -> list[str]:
        async with engy.async_http_client(headers=KEY) as client:
            answers = await asyncio.gather(*[client.post("/v1/chat/completions", json=body) for body in bodies])
            return [said(answer) for answer in answers]

    transport = engy.async_transport()

    async def on_another_loop(body: dict[str, Any]) -> str:
        client = httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=KEY)
        return said(await client.post("/v1/chat/completions", json=body))

    assert alone == together == asyncio.run(on_a_loop())
    assert alone[:4] == [asyncio.run(on_another_loop(body)) for body in bodies[:4]]
    assert len(engy.journal) == 64 * 3 + 4
    assert len({entry.request_id for entry in engy.journal}) == len(engy.journal)


REPRESENTATIVE = ("bad-chunk-size", "cut", "http10", "refuse", "reset", "stall", "truncate")


def course(kind, *, has_socket):
    """What the mock says of an exchange with a fault: its end, its price, and the verdict on the client."""
    body = {**CHAT, "stream": True}
    with EngyMock(limits=Limits(stall_seconds=0.3)) as engy:
        engy.when(endpoint="chat", stream=True).reply("one two three four", faults=[{"kind": kind}])
        headers = {"authorization": f"Bearer {engy.api_key}"}
        inside = httpx2.Client(base_url=engy.origin, follow_redirects=True) if has_socket else engy.http_client()
        with inside as client:
            try:
                said = client.post("/v1/chat/completions", json=body, headers=headers, timeout=2)
            except httpx2.HTTPError as error:
                engy.heard(error=error)
            else:
                engy.heard(said.text)
        # A client on a connection may know of the end before the service does.
        for _ in range(200):
            if all(one.fate != "waiting" for one in engy.journal):
                break
            time.sleep(0.01)
        verdict = engy.verdict()
        words = [finding.word for finding in verdict.findings]
        entries = [(one.fate, one.client_left, one.charged_micro, one.pieces_sent) for one in engy.journal]
        return entries, verdict.outcomes, words


def kinds_of_streams():
    for kind in sorted(by_kind()):
        try:
            EngyMock().when(endpoint="chat", stream=True).reply("x", faults=[{"kind": kind}])
        except MockError:
            continue
        yield kind if kind in REPRESENTATIVE else pytest.param(kind, marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", list(kinds_of_streams()))
def test_an_exchange_ends_the_same(kind):
    """The fate of the client, its bill and the verdict do not depend on the way that it came."""
    assert course(kind, has_socket=False) == course(kind, has_socket=True)


@pytest.mark.parametrize("library", ["requests", json, 5])
def test_a_library_that_is_none_is_named(engy, library):
    """Whoever asks for a client of another library is told which will do."""
    for make in (engy.http_client, engy.async_http_client, engy.transport, engy.async_transport):
        with pytest.raises(MockError, match="is one of the modules httpx2 or httpx, got "):
            make(library)
