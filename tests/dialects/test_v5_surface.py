"""What holds for all of `/v5`: keys, accounts, models and vendors, refusals and their order, other paths."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.books.accounts import Account
from engy_mock.dialects import errors, routes
from engy_mock.dialects.surfaces import V1, V5
from engy_mock.gateway import Gateway
from engy_mock.gateway.understanding import Understanding
from engy_mock.model.vendors import VENDOR_CARDS, VENDORS, check_vendor, vendor_card
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule
from engy_mock.vocabulary import json
from engy_mock.vocabulary.clock import StandingClock
from engy_mock.vocabulary.errors import (
    ApiError,
    InvalidKey,
    InvalidRequest,
    MockFailed,
    NameConflict,
    NoWorker,
    RateLimited,
    TooLarge,
    Unprocessable,
    UpstreamFailed,
    UpstreamTimeout,
    Violation,
)
from engy_mock.vocabulary.wire import Call, Whole
from tests.dialects.called import (
    CHAT,
    CHAT_PATH,
    COMPLETION,
    COMPLETIONS_PATH,
    INFERENCE,
    INFERENCE_PATH,
    KEY,
    RECORDS_PATH,
    RESPONSE,
    RESPONSES_PATH,
    ask,
)

POSTS: list[tuple[str, dict[str, Any]]] = [
    (COMPLETIONS_PATH, COMPLETION),
    (CHAT_PATH, CHAT),
    (RESPONSES_PATH, RESPONSE),
    (INFERENCE_PATH, INFERENCE),
]
RECORD = {"name": "mine", "model_vendor": "openai", "model_type": "chat_completion"}
CALLS: list[tuple[str, str, Any]] = [
    *(("POST", path, body) for path, body in POSTS),
    ("POST", RECORDS_PATH, RECORD),
    ("GET", RECORDS_PATH, None),
    ("GET", "/v5/chat/completions/models", None),
]


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture(scope="module")
def kept() -> Gateway:
    """A gateway for tests that leave it as it is."""
    return Gateway()


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=[f"{m} {p}" for m, p, _ in CALLS])
def test_headers(gateway: Gateway, method: str, path: str, body: Any):
    """S-5, S-15: the key alone is required, the answer is JSON, and carries none of Engy's request ids."""
    answer = ask(gateway, path, body, method=method)
    assert answer.status == 200
    assert answer.headers.keys() == {"content-type", "x-engy-mock-plan"}
    assert answer.headers["content-type"] == "application/json"
    assert b"x_engy" not in answer.data


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=[f"{m} {p}" for m, p, _ in CALLS])
@pytest.mark.parametrize("headers", [{}, {"x-api-key": ""}, {"x-api-key": "  "}], ids=str)
def test_no_key(gateway: Gateway, method: str, path: str, body: Any, headers: dict[str, str]):
    """S-10, S-11: a key that is missing or empty is 401."""
    answer = ask(gateway, path, body, method=method, headers=headers)
    assert (answer.status, answer.detail()) == (401, "invalid api key")
    assert answer.headers.keys() == {"content-type", "x-engy-mock-plan"}
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("key", ["x", "sk-engy-test", "any key at all", "\u00e9"])
def test_any_key(gateway: Gateway, key: str):
    """S-11: any other key is valid, whatever its form."""
    assert ask(gateway, RECORDS_PATH, headers={"x-api-key": key}).status == 200


def test_closed_accounts(gateway: Gateway):
    """S-11: with `closed_accounts` only registered keys are valid."""
    gateway.settings.closed_accounts = True
    gateway.accounts.by_key["own"] = Account(name="a1")
    assert ask(gateway, RECORDS_PATH, headers={"x-api-key": "own"}).status == 200
    assert ask(gateway, RECORDS_PATH, headers=KEY).status == 401


BEARER = {"authorization": "Bearer own"}


@pytest.mark.parametrize(
    ("headers", "accepts", "status"),
    [
        (BEARER, False, 401),
        (BEARER, True, 200),
        ({"authorization": "Basic x"}, True, 401),
        ({"x-api-key": "", **BEARER}, True, 401),
        ({"x-api-key": "k", "authorization": "nonsense"}, False, 200),
        ({"x-api-key": "k", "authorization": "nonsense"}, True, 200),
    ],
    ids=str,
)
def test_bearer_keys(gateway: Gateway, headers: dict[str, str], accepts: bool, status: int):
    """S-12: `x-api-key` wins; a bearer key alone opens nothing, unless a setting admits it."""
    gateway.settings.v5_accepts_bearer = accepts
    assert ask(gateway, RECORDS_PATH, headers=headers).status == status


def test_the_key_that_wins(gateway: Gateway):
    """S-12: of two keys that of `x-api-key` says whose account it is."""
    gateway.settings.v5_accepts_bearer = True
    gateway.accounts.by_key["own"] = Account(name="a1")
    ask(gateway, RECORDS_PATH, RECORD, headers={"x-api-key": "own"})
    both = {"x-api-key": "other", **BEARER}
    assert ask(gateway, RECORDS_PATH, headers=both).json()["total"] == 0
    assert ask(gateway, RECORDS_PATH, headers=BEARER).json()["total"] == 1


@pytest.mark.parametrize(
    ("key", "account", "status"),
    [
        ("own", None, 200),
        ("own", "", 200),
        ("own", "a1", 200),
        ("own", "a2", 403),
        ("own", "nobody", 403),
        ("other", "a1", 200),
        ("other", "anything", 200),
    ],
)
@pytest.mark.parametrize("path", [RECORDS_PATH, "/v5/chat/completions/models", "/v4/beta/completions"])
def test_accounts(gateway: Gateway, path: str, key: str, account: str | None, status: int):
    """S-13, S-77: the account need not be named; a registered key opens its own account only."""
    gateway.accounts.by_key = {"own": Account(name="a1"), "second": Account(name="a2")}
    headers = {"x-api-key": key} | ({} if account is None else {"x-selected-account-id": account})
    answer = ask(gateway, path, COMPLETION if "beta" in path else None, headers=headers)
    assert answer.status == status
    if status == 403:
        assert answer.detail() == f"no access to account '{account}'"


def test_accounts_are_not_asked_for_on_v1(gateway: Gateway):
    """S-13: the header means nothing on the other surface."""
    gateway.accounts.by_key["sk-engy-own"] = Account(name="a1")
    headers = {"authorization": "Bearer sk-engy-own", "x-selected-account-id": "a2"}
    assert ask(gateway, "/v1/models", headers=headers).status == 200


def test_other_keys_are_never_kept(gateway: Gateway):
    """S-14: the key of another service is accepted without effect, and nowhere to be found afterwards."""
    canary = "sk-canary-0123456789"
    asked = ask(gateway, CHAT_PATH, CHAT, headers={**KEY, "x-openai-api-key": canary})
    assert asked.json()["choices"] == ask(gateway, CHAT_PATH, CHAT).json()["choices"]
    assert canary not in repr(list(gateway.journal))
    refused = ask(gateway, CHAT_PATH, {}, headers={**KEY, "x-openai-api-key": canary})
    assert canary not in refused.data.decode()
    assert canary not in repr(gateway)


def test_names_are_repeated_as_sent(gateway: Gateway):
    """S-20: a model is split at the first slash, and told as it was sent."""
    gateway.catalog.add(vendor_card("bedrock/meta/llama"))
    for path in (COMPLETIONS_PATH, CHAT_PATH):
        body = {**COMPLETION, **CHAT, "model": "bedrock/meta/llama"}
        assert ask(gateway, path, body).json()["model"] == "bedrock/meta/llama"


def test_vendors():
    """S-21: the twelve vendors, all of whom may serve models."""
    assert VENDORS == (
        "openai",
        "cohere",
        "vertex_ai",
        "anthropic",
        "azure",
        "gemini",
        "launch",
        "llmengine",
        "model_zoo",
        "bedrock",
        "xai",
        "fireworks_ai",
    )
    for vendor in VENDORS:
        check_vendor(f"{vendor}/x")


NAMES = [
    ("gpt-4o", 400, "model must be vendor/name, got 'gpt-4o'"),
    ("", 400, "model must be vendor/name, got ''"),
    ("acme/gpt-4o", 400, "unknown vendor 'acme'"),
    ("/gpt-4o", 400, "unknown vendor ''"),
    ("OpenAI/gpt-4o", 400, "unknown vendor 'OpenAI'"),
    ("openai/nope", 404, "model 'openai/nope' not found"),
    ("openai/", 404, "model 'openai/' not found"),
    ("openai/openai/gpt-4o", 404, "model 'openai/openai/gpt-4o' not found"),
    ("openai/glm-5.2", 404, "model 'openai/glm-5.2' not found"),
    ("glm-5.2", 400, "model must be vendor/name, got 'glm-5.2'"),
]


@pytest.mark.parametrize(("model", "status", "detail"), NAMES, ids=[row[0] for row in NAMES])
@pytest.mark.parametrize(("path", "body"), POSTS, ids=[path for path, _ in POSTS])
def test_wrong_names(kept: Gateway, path: str, body: dict[str, Any], model: str, status: int, detail: str):
    """S-22: no vendor and an unknown one are 400, an unknown name is 404."""
    answer = ask(kept, path, {**body, "model": model})
    assert (answer.status, answer.detail()) == (status, detail)


CATALOGUE = [
    ("openai/gpt-4o", "chat_completion", 128_000, 16_384),
    ("openai/gpt-4o-mini", "chat_completion", 128_000, 16_384),
    ("openai/gpt-3.5-turbo-instruct", "completion", 4_096, 4_096),
    ("anthropic/claude-sonnet-4", "chat_completion", 200_000, 64_000),
    ("gemini/gemini-2.5-flash", "chat_completion", 1_048_576, 65_536),
    ("llmengine/llama-3-1-8b-instruct", "chat_completion", 131_072, 8_192),
]


def test_the_catalogue():
    """S-23: the built-in models with their windows."""
    assert [(card.id, card.type, card.context, card.max_output) for card in VENDOR_CARDS] == CATALOGUE


@pytest.mark.parametrize("model", [row[0] for row in CATALOGUE])
def test_every_model_serves_everything(kept: Gateway, model: str):
    """S-23: completions, chat and inference, whatever the type of the model."""
    for path, body in POSTS:
        if path != RESPONSES_PATH:
            assert ask(kept, path, {**body, "model": model, "max_tokens": 2}).status == 200


def test_models_of_a_test(gateway: Gateway):
    """S-23: a test can put models in."""
    body = {**CHAT, "model": "azure/own"}
    assert ask(gateway, CHAT_PATH, body).status == 404
    gateway.catalog.add(vendor_card("azure/own", context=40, max_output=10))
    assert ask(gateway, CHAT_PATH, body).json()["usage"]["completion_tokens"] <= 10


def test_models_differ(kept: Gateway):
    """S-23: two models have two voices."""
    answers = [ask(kept, CHAT_PATH, {**CHAT, "model": model}).json()["choices"] for model, *_ in CATALOGUE]
    texts = [choices[0]["message"]["content"] for choices in answers]
    assert len(set(texts)) > 1


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        (COMPLETIONS_PATH, {"prompt": "word " * 4000, "max_tokens": 94}, 200),
        (COMPLETIONS_PATH, {"prompt": "word " * 4000, "max_tokens": 95}, 400),
        (COMPLETIONS_PATH, {"prompt": "word " * 5000}, 400),
        (CHAT_PATH, {"messages": [{"role": "user", "content": "word " * 5000}]}, 400),
        (CHAT_PATH, {"messages": [{"role": "user", "content": "word " * 4000}], "max_tokens": 4096}, 400),
        (INFERENCE_PATH, {"args": {"prompt": "word " * 5000}}, 400),
    ],
)
def test_windows(kept: Gateway, path: str, fields: dict[str, Any], status: int):
    """S-24: prompt and limit together must fit into the context."""
    body = {**dict(POSTS)[path], "model": "openai/gpt-3.5-turbo-instruct", **fields}
    answer = ask(kept, path, body)
    assert answer.status == status
    if status == 400:
        assert "4096" in answer.detail()


def test_nothing_is_charged(gateway: Gateway):
    """S-24: there are no prices: no answer costs anything or needs a balance."""
    gateway.accounts.by_key["poor"] = Account(name="a1", balance_micro=0)
    for path, body in POSTS:
        assert ask(gateway, path, body, headers={"x-api-key": "poor"}).status == 200
        assert gateway.journal.last.charged_micro == 0


@pytest.mark.parametrize(("path", "body"), POSTS, ids=[path for path, _ in POSTS])
def test_public_paths(kept: Gateway, path: str, body: dict[str, Any]):
    """S-6: `/public` may stand before `/v5`, and changes nothing."""
    plain, public = ask(kept, path, body).json(), ask(kept, f"/public{path}", body).json()
    for name in ("choices", "response"):
        assert plain.get(name) == public.get(name)
    assert ask(kept, "/public/v5/models").status == 200
    assert ask(kept, "/public/public/v5/models").status == 404
    assert ask(kept, "/public/v1/models").status == 404


@pytest.mark.parametrize(
    ("path", "twin", "body"),
    [
        ("/v4/beta/completions", COMPLETIONS_PATH, {**COMPLETION, "n": 2, "logprobs": 1}),
        ("/v4/beta/chat/completions", CHAT_PATH, CHAT),
    ],
)
def test_beta_paths(kept: Gateway, path: str, twin: str, body: dict[str, Any]):
    """S-77: the same handlers under another path, streams included; the account may be left out."""
    old, new = ask(kept, path, body).json(), ask(kept, twin, body).json()
    assert {**old, "id": 0} == {**new, "id": 0}
    old_chunks = ask(kept, path, {**body, "stream": True}).chunks()
    new_chunks = ask(kept, twin, {**body, "stream": True}).chunks()
    assert [chunk["choices"] for chunk in old_chunks] == [chunk["choices"] for chunk in new_chunks]
    refused = ask(kept, path, {})
    assert (refused.status, type(refused.detail())) == (422, list)


@pytest.mark.parametrize(
    "path",
    [
        "/v4/beta/models",
        "/v4/beta/chat/completions/models",
        "/v4/beta",
        "/v4/beta/completions/x",
        "/v5",
        "/v5/",
        "/v5/nope",
        "/v5/models/",
        "/v5/models/a/b",
        "/v5/responses/x",
        "/v5/embeddings",
        "/public/v5/nope",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_paths(kept: Gateway, path: str, method: str):
    """S-78, S-80: what is not served is 404, in the form of this surface, without any key."""
    answer = ask(kept, path, method=method, headers={})
    assert answer.status == 404
    assert path in answer.detail()
    assert answer.headers.keys() == {"content-type", "x-engy-mock-plan"}
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/v4/completions", "/v4/chat/completions", "/v4"])
def test_other_old_paths(kept: Gateway, path: str):
    """S-78: other paths of the older version are 404."""
    assert ask(kept, path, COMPLETION).status == 404


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (COMPLETIONS_PATH, "POST"),
        (CHAT_PATH, "POST"),
        ("/v5/chat/completions/models", "GET"),
        (RESPONSES_PATH, "POST"),
        (INFERENCE_PATH, "POST"),
        (RECORDS_PATH, "GET, POST"),
        ("/v5/models/x", "DELETE, GET, PATCH"),
        ("/v4/beta/completions", "POST"),
    ],
)
def test_methods(kept: Gateway, path: str, allowed: str):
    """S-80: another method is 405 with those that are served, in the form of this surface."""
    answer = ask(kept, path, method="PUT", headers={})
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert "PUT" in answer.detail()


def test_no_redirects(kept: Gateway):
    """S-18: nothing is redirected, not even a slash too many."""
    for path in ("/v5/models/", "/v5//models", "/v5/completions/"):
        assert ask(kept, path).status == 404


ERRORS = [
    (InvalidRequest("m"), 400, "m"),
    (InvalidRequest("m", violations=[Violation(path=("n",), message="m", kind="int_type")]), 400, "m"),
    (InvalidKey("m"), 401, "m"),
    (NameConflict("m"), 409, "m"),
    (TooLarge("m"), 413, "m"),
    (Unprocessable("m"), 422, [{"loc": ["body"], "msg": "m", "type": "value_error"}]),
    (
        Unprocessable("m", violations=[Violation(path=("a", 0), message="x", kind="missing", place="query")]),
        422,
        [{"loc": ["query", "a", 0], "msg": "x", "type": "missing"}],
    ),
    (RateLimited("m"), 429, "m"),
    (MockFailed(), 500, "the mock failed"),
    (UpstreamFailed("m"), 502, "m"),
    (NoWorker("m"), 503, "m"),
    (UpstreamTimeout("m"), 504, "m"),
]


@pytest.mark.parametrize(("error", "status", "detail"), ERRORS, ids=[str(row[1]) for row in ERRORS])
@pytest.mark.parametrize("path", [COMPLETIONS_PATH, CHAT_PATH, RESPONSES_PATH, INFERENCE_PATH, RECORDS_PATH])
def test_refusals(path: str, error: ApiError, status: int, detail: Any):
    """S-79, S-80: every cause has a detail and nothing else, in each dialect."""
    route = routes.speaker(path)
    assert json.read(route.dialect.error(error, route.surface, "id")) == {"detail": detail}
    assert error.status == status


def fault(kind: str) -> InvalidRequest:
    return InvalidRequest("m", violations=[Violation(path=("x",), message="m", kind=kind)])


@pytest.mark.parametrize(
    ("kind", "endpoint", "status"),
    [
        ("less_than_equal", "completions", 400),
        ("too_long", "completions", 400),
        ("best_of_below", "completions", 400),
        ("missing", "completions", 422),
        ("int_type", "completions", 422),
        ("less_than_equal", "chat", 422),
        ("less_than_equal", "responses", 422),
        ("missing", "inference", 422),
    ],
)
def test_the_status_of_wrong_fields(kind: str, endpoint: Any, status: int):
    """S-40, S-50: ranges are 400 on completions and 422 elsewhere; on `/v1` everything is 400."""
    assert errors.judged(fault(kind), V5, endpoint).status == status
    assert errors.judged(fault(kind), V1, endpoint).status == 400
    assert errors.judged(InvalidRequest("m"), V5, endpoint).status == 400


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"5", b"\xff", b"\xef\xbb\xbf{}", b'{"a":NaN}', b"[" * 5000],
    ids=repr,
)
@pytest.mark.parametrize("path", [*dict(POSTS), RECORDS_PATH])
def test_broken_bodies(kept: Gateway, path: str, body: bytes):
    """S-80: what is no JSON object is 400."""
    answer = ask(kept, path, body or b" ")
    assert answer.status == 400
    answer.detail()


@pytest.mark.parametrize("path", [*dict(POSTS), RECORDS_PATH])
def test_content_types(kept: Gateway, path: str):
    """S-15, S-80: a body of another content type is 415; a JSON type may have a charset or be absent."""
    answer = ask(kept, path, {}, headers={**KEY, "content-type": "text/plain"})
    assert (answer.status, answer.detail()) == (415, "content type must be application/json")
    for kind in ("application/json; charset=utf-8", "application/x+json"):
        assert ask(kept, path, {}, headers={**KEY, "content-type": kind}).status == 422


def test_a_fault_of_the_mock(gateway: Gateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    """S-80: a fault in the mock says so, in the form of this surface."""
    monkeypatch.setattr(Understanding, "understood", lambda *_: 1 / 0)
    answer = ask(gateway, CHAT_PATH, CHAT)
    assert (answer.status, answer.detail()) == (500, "the mock failed")
    assert answer.headers["x-engy-mock-bug"] == "1"
    assert caplog.records


ORDER: list[tuple[str, int, dict[str, Any]]] = [
    ("host", 403, {"headers": {"host": "evil.test"}}),
    ("path", 404, {"path": "/v5/nope"}),
    ("method", 405, {"method": "PUT"}),
    ("key", 401, {"headers": {"x-api-key": ""}}),
    ("account", 403, {"headers": {"x-selected-account-id": "a2"}}),
    ("content type", 415, {"headers": {"content-type": "text/plain"}}),
    ("size", 413, {"trouble": TooLarge("body exceeds 33554432 bytes")}),
    ("JSON", 400, {"body": b"{"}),
    ("fields", 422, {"fields": {"prompt": 5}}),
    ("vendor", 400, {"fields": {"model": "acme/x"}}),
    ("name", 404, {"fields": {"model": "openai/nope"}}),
    ("window", 400, {"fields": {"model": "openai/gpt-3.5-turbo-instruct", "max_tokens": 4096}}),
    ("concurrency", 429, {"is_crowded": True}),
]


@pytest.mark.parametrize("place", range(len(ORDER)), ids=[row[0] for row in ORDER])
def test_order_of_refusals(gateway: Gateway, place: int):
    """S-81: of all that is wrong with a call the first in this order is told."""
    account = gateway.accounts.by_key["own"] = Account(name="a1")
    wrong: dict[str, Any] = {"path": COMPLETIONS_PATH, "method": "POST", "headers": {"x-api-key": "own"}}
    fields = dict(COMPLETION)
    for _, _, change in reversed(ORDER[place:]):
        change = dict(change)
        if change.pop("is_crowded", False):
            account.hold(0)
            account.max_concurrent = 1
        fields |= change.pop("fields", {})
        headers = change.pop("headers", {})
        wrong |= change
        wrong["headers"] = {**wrong["headers"], **headers}
    body = wrong.pop("body", json.write(fields))
    (step,) = gateway.answer(Call(body=body, **wrong))
    assert isinstance(step, Whole)
    assert step.head.status == ORDER[place][1]
    assert list(json.read(step.body)) == ["detail"]


def test_a_rule_comes_last(gateway: Gateway):
    """S-81: what a test has scripted is not reached by a request that is refused anyhow."""
    account = gateway.accounts.by_key["own"] = Account(name="a1", max_concurrent=1)
    gateway.script.add(Rule(description="all", conditions=(), answers=(Refusal(status=418),)))
    held = account.hold(0)
    headers = {"x-api-key": "own"}
    assert ask(gateway, CHAT_PATH, CHAT, headers=headers).status == 429
    held.settle(0)
    assert ask(gateway, CHAT_PATH, CHAT, headers=headers).status == 418


def test_time_shows(gateway: Gateway):
    """E-12: answers and records are of the time that the mock's clock shows."""
    gateway.clock = StandingClock(1792281600 + 3600)
    assert ask(gateway, CHAT_PATH, CHAT).json()["created"] == 1792285200
    assert ask(gateway, RECORDS_PATH, RECORD).json()["created_at"] == "2026-10-18T01:00:00Z"


def test_the_same_bytes_everywhere():
    """S-44, E-13: another mock with the same seed answers alike, one with another seed does not."""
    for path, body in POSTS:
        first, again, other = (ask(Gateway(seed=seed), path, body).data for seed in (0, 0, 1))
        assert first == again
        assert first != other


def test_answers_leave_each_other_alone(gateway: Gateway):
    """E-13: who asks with logprobs, usage or a stream, and who asked before, changes no content."""
    first = ask(gateway, CHAT_PATH, CHAT).json()["choices"][0]["message"]
    ask(gateway, CHAT_PATH, {**CHAT, "logprobs": True, "user": "x"})
    assert ask(gateway, CHAT_PATH, {**CHAT, "metadata": {}}).json()["choices"][0]["message"] == first


names = st.sampled_from(
    [
        *COMPLETION, *CHAT, *RESPONSE, *INFERENCE, *RECORD, "n", "best_of", "echo", "logprobs", "stop", "stream",
        "stream_options", "temperature", "top_p", "max_tokens", "logit_bias", "seed", "tools", "tool_choice",
        "response_format", "top_logprobs", "vendor_configuration", "on_conflict", "text", "include", "truncation",
    ]
)  # fmt: skip
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(
        ["openai/gpt-4o", "openai/x", "x/y", "launch", "user", "required", "json_object", "function"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
LIMITED = {"max_tokens": 3, "max_output_tokens": 3, "n": 2}


@settings(max_examples=120)
@given(st.sampled_from([*dict(POSTS), RECORDS_PATH]), st.dictionaries(names, values, max_size=5), st.booleans())
def test_any_body(path: str, fields: dict[str, Any], is_near: bool):
    """Q-15, S-79: whatever JSON is sent, the answer is 200, or a refusal with a detail, never 5xx."""
    body = {**LIMITED, **dict(POSTS).get(path, RECORD), **fields} if is_near else fields
    if isinstance(body.get("n"), int):
        body["n"] = min(body["n"], 4)
    answer = ask(ANY_GATEWAY, path, json.write(body))
    assert answer.status in (200, 400, 404, 409, 413, 422)
    if answer.status != 200:
        answer.detail()
    elif answer.is_streamed:
        assert answer.chunks()
    else:
        assert answer.json()


ANY_GATEWAY = Gateway()


@settings(max_examples=60)
@given(values)
def test_any_change(body: Any):
    """Q-15, S-66: the same of the changes of a record."""
    id = ask(ANY_GATEWAY, RECORDS_PATH, {**RECORD, "on_conflict": "update"}).json()["id"]
    answer = ask(ANY_GATEWAY, f"{RECORDS_PATH}/{id}", json.write(body), method="PATCH")
    assert answer.status in (200, 400, 409, 422)
    if answer.status != 200:
        answer.detail()
