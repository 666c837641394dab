"""What stands around messages: keys, headers, refusals in their own envelope, and the counting of tokens."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic.types import MessageTokensCount
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.dialects import routes
from engy_mock.dialects.limits import anthropic_limits, openai_limits
from engy_mock.dialects.messages import Messages
from engy_mock.dialects.surfaces import V1
from engy_mock.gateway import Gateway
from engy_mock.vocabulary.errors import (
    ApiError,
    InsufficientBalance,
    InvalidKey,
    InvalidRequest,
    MethodNotAllowed,
    MockFailed,
    ModelNotFound,
    NotFound,
    NoWorker,
    PermissionDenied,
    RateLimited,
    TooLarge,
    UnsupportedMediaType,
    UpstreamFailed,
    UpstreamTimeout,
)
from engy_mock.vocabulary.wire import Begin, Call, End, Head, Step, Whole, Write
from tests.dialects.heard_messages import heard
from tests.dialects.made import MESSAGES
from tests.dialects.sdk import checked

KEY = {"authorization": "Bearer sk-engy-test"}
URL = "/v1/messages"
COUNT = "/v1/messages/count_tokens"


@pytest.fixture(scope="module")
def gateway() -> Gateway:
    return Gateway()


def steps(
    gateway: Gateway,
    body: object = MESSAGES,
    *,
    path: str = URL,
    method: str = "POST",
    headers: dict[str, str] | None = None,
    query: str = "",
) -> Iterator[Step]:
    """The answer to a call; a body that is not bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return gateway.answer(
        Call(method=method, path=path, headers=KEY if headers is None else headers, body=data, query=query)
    )


def whole(gateway: Gateway, *arguments: Any, **more: Any) -> tuple[Head, dict[str, Any]]:
    """The head and the document of a whole answer."""
    (step,) = steps(gateway, *arguments, **more)
    assert isinstance(step, Whole)
    document = json.loads(step.body)
    assert isinstance(document, dict)
    return step.head, document


def refused(gateway: Gateway, *arguments: Any, **more: Any) -> tuple[int, str, str]:
    """Status, type and message of a refusal, once its envelope is found right."""
    head, document = whole(gateway, *arguments, **more)
    assert ("Content-Type", "application/json") in head.headers
    assert list(document) == ["type", "error"], "E-192"
    assert (document["type"], list(document["error"])) == ("error", ["type", "message"]), "E-192"
    return head.status, document["error"]["type"], document["error"]["message"]


TABLE: list[tuple[ApiError, int, str]] = [
    (InvalidRequest("m", param="x", code="context_length_exceeded"), 400, "invalid_request_error"),
    (InvalidKey("m"), 401, "authentication_error"),
    (InsufficientBalance("m"), 402, "billing_error"),
    (PermissionDenied("m"), 403, "permission_error"),
    (ModelNotFound("m", param="model"), 404, "not_found_error"),
    (NotFound("m"), 404, "not_found_error"),
    (MethodNotAllowed("m"), 405, "invalid_request_error"),
    (TooLarge("m"), 413, "request_too_large"),
    (UnsupportedMediaType("m"), 415, "invalid_request_error"),
    (RateLimited("m"), 429, "rate_limit_error"),
    (MockFailed(), 500, "api_error"),
    (UpstreamFailed("m"), 502, "api_error"),
    (NoWorker("m"), 503, "api_error"),
    (UpstreamTimeout("m"), 504, "timeout_error"),
]


@pytest.mark.parametrize(
    ("error", "status", "kind"), TABLE, ids=[f"{row[1]} {type(row[0]).__name__}" for row in TABLE]
)
def test_the_envelope(error: ApiError, status: int, kind: str):
    """E-192, E-193: every cause has its type, and nothing else stands in the envelope."""
    document = json.loads(Messages().error(error, V1, "id"))
    assert document == {"type": "error", "error": {"type": kind, "message": error.message}}
    assert error.status == status


CAUSES: list[tuple[str, dict[str, Any], tuple[int, str, str]]] = [
    (
        "E-15 no key",
        {"headers": {}},
        (401, "authentication_error", "invalid api key"),
    ),
    (
        "E-17 bad key",
        {"headers": {"x-api-key": "sk-ant-1"}},
        (401, "authentication_error", "invalid api key"),
    ),
    (
        "E-6 not JSON",
        {"body": b"{"},
        (
            400,
            "invalid_request_error",
            "the body is not JSON: EOF while parsing an object at line 1 column 1",
        ),
    ),
    (
        "E-6 array",
        {"body": []},
        (400, "invalid_request_error", "the body must be a JSON object, got an array"),
    ),
    (
        "E-6 content type",
        {"headers": {**KEY, "content-type": "text/plain"}},
        (415, "invalid_request_error", "content type must be application/json"),
    ),
    (
        "E-68 host",
        {"headers": {**KEY, "host": "evil.example"}},
        (403, "permission_error", "host not allowed"),
    ),
    (
        "E-164 field",
        {"body": {**MESSAGES, "max_tokens": 0}},
        (400, "invalid_request_error", "max_tokens must be at least 1, got 0"),
    ),
    ("E-31 model", {"body": {**MESSAGES, "model": "nope"}}, (404, "not_found_error", "model nope not found")),
    (
        "E-79 window",
        {
            "body": {
                **MESSAGES,
                "model": "qwen3.6-35b-a3b",
                "messages": [{"role": "user", "content": "a " * 200_001}],
            }
        },
        (
            400,
            "invalid_request_error",
            "prompt has 200007 tokens; qwen3.6-35b-a3b takes at most 200000 input tokens, window 208192",
        ),
    ),
    (
        "E-144 images",
        {
            "body": {
                **MESSAGES,
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"},
                            }
                        ],
                    }
                ],
            }
        },
        (400, "invalid_request_error", "glm-5.2 does not accept images"),
    ),
    (
        "E-145 images",
        {
            "body": {
                **MESSAGES,
                "model": "kimi-k3",
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"},
                            }
                        ]
                        * 11,
                    }
                ],
            }
        },
        (413, "request_too_large", "11 images, at most 10 allowed"),
    ),
    (
        "E-4 method",
        {"method": "GET"},
        (405, "invalid_request_error", "method GET not allowed on /v1/messages"),
    ),
    (
        "E-4 method of the page",
        {"method": "PUT", "path": COUNT},
        (405, "invalid_request_error", "method PUT not allowed on /v1/messages/count_tokens"),
    ),
    (
        "E-5 below",
        {"path": "/v1/messages/batches/b_1"},
        (404, "not_found_error", "no route POST /v1/messages/batches/b_1"),
    ),
    ("E-5 slash", {"path": "/v1/messages/"}, (404, "not_found_error", "no route POST /v1/messages/")),
    ("E-177 key", {"path": COUNT, "headers": {}}, (401, "authentication_error", "invalid api key")),
    (
        "E-177 field",
        {"path": COUNT, "body": {"model": "glm-5.2"}},
        (400, "invalid_request_error", "messages is required"),
    ),
    (
        "E-177 model",
        {"path": COUNT, "body": {**MESSAGES, "model": "nope"}},
        (404, "not_found_error", "model nope not found"),
    ),
    (
        "E-177 empty",
        {"path": COUNT, "body": b""},
        (400, "invalid_request_error", "the body is not JSON: EOF while parsing a value at line 1 column 0"),
    ),
]


@pytest.mark.parametrize(("call", "refusal"), [row[1:] for row in CAUSES], ids=[row[0] for row in CAUSES])
def test_every_cause(gateway: Gateway, call: dict[str, Any], refusal: tuple[int, str, str]):
    """E-193, R-39: whatever is wrong, the route speaks one language."""
    assert refused(gateway, **call) == refusal


def test_a_stream_is_refused_whole(gateway: Gateway):
    """Section 5: a refusal is a plain answer with its status also where a stream was asked for."""
    assert refused(gateway, {**MESSAGES, "stream": True, "model": "nope"})[0] == 404


def test_the_allowed_method(gateway: Gateway):
    """E-4: a wrong method is told the right one."""
    head, _ = whole(gateway, method="DELETE")
    assert ("Allow", "POST") in head.headers


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/message", "/v1/messagesx", "/v1/chat/completions/messages/x", "/messages/"]
)
def test_neighbours_speak_the_other_language(gateway: Gateway, path: str):
    """E-5: only what stands at and below `/v1/messages` has this envelope."""
    _, document = whole(gateway, path=path)
    assert list(document) == ["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x-api-key": "sk-engy-a"}, 200),
        ({"authorization": "Bearer sk-engy-a"}, 200),
        ({"authorization": "bearer sk-engy-a", "x-api-key": "nonsense"}, 200),
        ({"authorization": "Bearer nonsense", "x-api-key": "sk-engy-a"}, 401),
        ({"x-api-key": ""}, 401),
        ({"api-key": "sk-engy-a"}, 401),
    ],
)
@pytest.mark.parametrize("path", [URL, COUNT])
def test_keys(gateway: Gateway, path: str, headers: dict[str, str], status: int):
    """E-16: both headers carry the key; if both are there, `Authorization` counts."""
    assert whole(gateway, path=path, headers=headers)[0].status == status


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"path": COUNT},
        {"headers": {}},
        {"method": "GET"},
        {"path": "/v1/messages/x"},
        {"body": {**MESSAGES, "max_tokens": 0}},
    ],
    ids=["answer", "page", "key", "method", "path", "field"],
)
def test_ids(gateway: Gateway, call: dict[str, Any]):
    """E-11: every answer has the request id in three headers."""
    head, document = whole(gateway, **call)
    found = {name.lower(): value for name, value in head.headers}
    assert len(found["request-id"]) == 32
    assert found["request-id"] == found["x-request-id"] == found["x-engy-request-id"]
    if document.get("type") == "message":
        assert document["id"] == "msg_" + found["request-id"][:24], "E-114"


def test_ids_elsewhere(gateway: Gateway):
    """E-11: only messages have the third header."""
    head, _ = whole(gateway, path="/v1/chat/completions")
    assert {name for name, _ in head.headers} == {
        "Content-Type",
        "X-Engy-Request-Id",
        "X-Engy-Mock-Plan",
        "x-request-id",
    }


def test_a_stream(gateway: Gateway):
    """E-11, E-173: a stream has the same headers, ends with its last event, and tells the whole answer."""
    first, *writes, last = steps(gateway, {**MESSAGES, "stream": True})
    assert isinstance(first, Begin)
    headers = dict(first.head.headers)
    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["request-id"] == headers["x-request-id"]
    assert isinstance(last, End)
    data = b"".join(step.data for step in writes if isinstance(step, Write))
    assert b"[DONE]" not in data
    streamed = heard(data)
    _, document = whole(gateway)
    assert {**streamed, "id": document["id"]} == document


def test_equal_requests_have_equal_signatures(gateway: Gateway):
    """E-13, E-14, E-171: a repeated request has another id and the same seal."""
    (_, one), (_, other) = whole(gateway), whole(gateway)
    assert one["id"] != other["id"]
    assert one["content"] == other["content"]
    assert one["content"][0]["signature"]


def test_an_answer_goes_back(gateway: Gateway):
    """R-55: what was answered, seals included, is accepted as history."""
    _, document = whole(gateway)
    hello = {"role": "user", "content": "Hi"}
    turn = {"role": "assistant", "content": document["content"]}
    body = {**MESSAGES, "messages": [hello, turn, {"role": "user", "content": "Go on."}]}
    assert whole(gateway, body)[0].status == 200


def test_usage_of_the_cache_by_a_setting():
    """E-170: the setting shows it in whole answers and in streams."""
    gateway = Gateway()
    gateway.settings.messages_cache_counts = True
    assert whole(gateway)[1]["usage"]["cache_read_input_tokens"] == 0
    data = b"".join(s.data for s in steps(gateway, {**MESSAGES, "stream": True}) if isinstance(s, Write))
    assert heard(data)["usage"]["cache_read_input_tokens"] == 0


BODIES: list[dict[str, Any]] = [
    {},
    {"model": "engy/kimi-k3"},
    {"system": "Be brief.", "tools": [{"name": "f", "input_schema": {"type": "object"}}]},
    {"thinking": {"type": "disabled"}},
    {"output_config": {"effort": "high"}},
    {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
]


@pytest.mark.parametrize("query", ["", "beta=true"])
@pytest.mark.parametrize("fields", BODIES)
def test_count_tokens(gateway: Gateway, fields: dict[str, Any], query: str):
    """E-3, E-177, R-53: the number that the same request has in its usage, with and without a query."""
    body = {**MESSAGES, **fields}
    _, document = whole(gateway, body)
    without = {name: value for name, value in body.items() if name != "max_tokens"}
    for counted in (without, {**without, "max_tokens": "many"}):
        head, count = whole(gateway, counted, path=COUNT, query=query)
        assert (head.status, count) == (200, {"input_tokens": document["usage"]["input_tokens"]})
        checked(json.dumps(count), MessageTokensCount)


def test_counting_takes_what_messages_take(gateway: Gateway):
    """E-89, E-177: numbers that the model replaces may be any, others not."""
    body = {**MESSAGES, "temperature": 9}
    assert whole(gateway, {**body, "model": "kimi-k3"}, path=COUNT)[0].status == 200
    assert refused(gateway, body, path=COUNT)[2] == "temperature must be at most 2, got 9"


def test_counting_is_free():
    """E-177: no hold, no charge."""
    gateway = Gateway()
    gateway.accounts.default.balance_micro = 0
    assert refused(gateway)[:2] == (402, "billing_error")
    assert whole(gateway, path=COUNT)[0].status == 200
    assert gateway.accounts.default.charged_micro == 0


def test_limit_headers():
    """E-194, R-44: whole numbers, and the time of the reset from the mock's clock."""
    error = RateLimited("m", limit=4)
    assert anthropic_limits(error, 1792281600.5) == (
        ("anthropic-ratelimit-requests-limit", "4"),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", "2026-10-18T00:00:01Z"),
    )
    assert openai_limits(error, 1792281600.5) == (
        ("x-ratelimit-limit-requests", "4"),
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "1s"),
    )


@pytest.mark.parametrize(
    ("path", "header", "others"),
    [
        (URL, "anthropic-ratelimit-requests-limit", "x-ratelimit"),
        (COUNT, "anthropic-ratelimit-requests-limit", "x-ratelimit"),
        ("/v1/chat/completions", "x-ratelimit-limit-requests", "anthropic"),
    ],
)
def test_limit_headers_by_route(monkeypatch: pytest.MonkeyPatch, path: str, header: str, others: str):
    """E-194, R-44: a 429 has `Retry-After` and the limit headers of its dialect."""
    error = RateLimited("concurrency limit of 4 reached", limit=4, headers=(("Retry-After", "1"),))

    def crowded(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("engy_mock.gateway.check_content", crowded)
    head, _ = whole(Gateway(), path=path)
    found = dict(head.headers)
    assert (head.status, found["Retry-After"], found[header]) == (429, "1", "4")
    assert not any(name.startswith(others) for name in found)


def test_rows():
    """Both routes of the dialect differ from others by rows only: keys, ids, limits."""
    rows = [route for route in routes.ROUTES if isinstance(route.dialect, Messages)]
    assert [route.path for route in rows] == [URL, COUNT]
    for route in rows:
        assert route.key_headers == ("authorization", "x-api-key")
        assert route.id_headers == ("X-Engy-Request-Id", "x-request-id", "request-id")


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
RICH: dict[str, Any] = {
    "model": "kimi-k3",
    "max_tokens": 3,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi", "citations": None},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"},
                },
            ],
        },
        {"role": "system", "content": "Be kind."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": [1, None, "x"]}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "a"}],
                    "is_error": True,
                }
            ],
        },
    ],
    "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}],
    "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
    "stop_sequences": ["x"],
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
    "metadata": {"user_id": "u"},
    "reasoning_effort": "low",
    "reasoning": {"effort": "low", "enabled": True},
    "chat_template_kwargs": {"thinking": True},
    "prompt_cache_key": "k",
    "provider": {"zdr": True},
    "container": None,
    "mcp_servers": [],
}
"""A body with everything in it, for a random hand to damage."""

SCHEMAS = {"input_schema", "schema"}
"""Where it stays out: which schemas can be met is for the model to say."""


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A body that is right but for one or two places."""
    body: dict[str, Any] = json.loads(json.dumps(RICH))
    for _ in range(draw(st.integers(1, 2))):
        place: Any = body
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            is_leaf = not place[key] or not isinstance(place[key], dict | list) or key in SCHEMAS
            if is_leaf or draw(st.integers(0, 3)) == 0:
                break
            place = place[key]
        if isinstance(place, dict) and draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(junk)
        if not body:
            break
    return body


@settings(max_examples=200)
@given(
    body=damaged() | st.dictionaries(st.sampled_from(["model", "messages", "max_tokens", "x"]), junk),
    path=st.sampled_from([URL, COUNT]),
)
def test_any_body(gateway: Gateway, body: dict[str, Any], path: str):
    """R-40: any JSON object is answered, or refused with a reason in the envelope of the route."""
    head, document = whole(gateway, body, path=path)
    if head.status == 200:
        assert document["type"] == "message" if path == URL else document["input_tokens"] > 0
    else:
        assert 400 <= head.status < 500
        assert list(document) == ["type", "error"]
        assert len(document["error"]["message"]) < 500


@settings(max_examples=50)
@given(
    data=st.binary(max_size=30)
    | st.text(max_size=30).map(str.encode)
    | junk.map(lambda value: json.dumps(value).encode())
)
def test_any_bytes(gateway: Gateway, data: bytes):
    """E-6: what is no JSON object is refused."""
    assert 400 <= refused(gateway, data)[0] < 500


ODD = {"type": "object", "properties": {"a": {"type": "zz"}}, "required": ["a"]}
NO_TYPE = '#/properties/a: type "zz" is none of null, boolean, integer, number, string, array, object'
TOOL = {"name": "t", "input_schema": {"type": "object"}}
FORMED = {"output_config": {"format": {"type": "json_schema", "schema": ODD}}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (FORMED, f"output_config.format.schema: {NO_TYPE}"),
        (
            {"tools": [{"name": "t", "input_schema": ODD}], "tool_choice": {"type": "any"}},
            f"tools[0].input_schema: {NO_TYPE}",
        ),
        (
            {"tools": [TOOL, {"name": "u", "input_schema": ODD}], "tool_choice": {"type": "tool", "name": "u"}},
            f"tools[1].input_schema: {NO_TYPE}",
        ),
        ({"tool_choice": {"type": "any"}}, "tool_choice.type must not be any without tools"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "u"}},
            'tool_choice.name must be the name of a tool that is offered, got "u"',
        ),
    ],
)
def test_refusals_name_the_fields_of_this_format(gateway: Gateway, fields: dict[str, Any], message: str):
    """E-177, E-191: what the model finds wrong is told of the field that was sent, counted or answered."""
    told = (400, "invalid_request_error", message)
    assert refused(gateway, {**MESSAGES, **fields}) == told
    assert refused(gateway, {**MESSAGES, **fields}, path=COUNT) == told


BROKEN = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}
PICTURED = [{"role": "user", "content": [{"type": "text", "text": "Hi"}, BROKEN]}]


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": PICTURED, "model": "nope"},
        {"messages": PICTURED},
        {"messages": PICTURED, "model": "kimi-k3"},
        {"messages": PICTURED, "model": "kimi-k3", "temperature": 7, "stop_sequences": 5},
        {"model": "nope", **FORMED},
        {"temperature": 7},
        {"messages": [{"role": "user", "content": "word " * 300_000}], **FORMED},
    ],
)
def test_counting_refuses_as_answering_does(gateway: Gateway, fields: dict[str, Any]):
    """E-177: the same cause first, in the same words, as the request that asks for an answer."""
    assert refused(gateway, {**MESSAGES, **fields}, path=COUNT) == refused(gateway, {**MESSAGES, **fields})


def test_counting_takes_what_answering_takes(gateway: Gateway):
    """E-89, E-177: numbers that the model replaces are not looked at, and nobody has to name a limit."""
    body = {"model": "kimi-k3", "messages": MESSAGES["messages"], "temperature": 9, "max_tokens": "no"}
    head, document = whole(gateway, body, path=COUNT)
    assert head.status == 200
    assert list(document) == ["input_tokens"]
