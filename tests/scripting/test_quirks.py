"""The quirks of single servers, each as the scenario of its name, down to the wire ("Quirks")."""

import json
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from engy_mock import EngyMock, MockError
from engy_mock.model.cards import CARDS
from tests.scripting.captured import PATHS, Capture, ask, body_for, send
from tests.scripting.meeting import WRONG_KEY, Asking

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]


def listed(engy: EngyMock, key: str | None = None) -> dict[str, dict[str, Any]]:
    """The rows of the list of models by id."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return {row["id"]: row for row in httpx2.get(f"{engy.base_url}/models", headers=headers).json()["data"]}


def chat(engy: EngyMock, text: str = "Hello!", *, stream: bool = False, **more: Any) -> Capture:
    """One chat."""
    return ask(engy, "chat", stream=stream, text=text, **more)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_timeout_in_200(engy: EngyMock, stream: bool):
    """E-202: a plain 200 whose body is the error of a 504, without a type."""
    engy.scenario("timeout-in-200")
    for _ in range(2):
        seen = chat(engy, stream=stream)
        assert (seen.status, seen.headers["content-type"]) == (200, "application/json")
        error = {"message": "miner timeout or disconnect", "param": None, "code": 504}
        assert seen.document == {"error": error}
        assert engy.journal.last.charged_micro == 0
    assert "choices" in (chat(engy, stream=False).document)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_200_without_choices(engy: EngyMock, stream: bool):
    """E-203: no choices in a 200, once as a missing key and once as null."""
    engy.scenario("200-without-choices")
    for _ in range(2):
        seen = chat(engy, stream=stream)
        assert seen.status == 200
        documents = seen.documents if stream else [seen.document]
        found = [document.get("choices", "missing") for document in documents]
        assert found == [("missing", None)[len(engy.journal) - 1]] * len(documents)
    assert chat(engy).document["choices"]


def test_model_vanishes(engy: EngyMock):
    """E-206: listed and 404 for a while, then not even listed, then back."""
    scene = engy.scenario("model-vanishes")
    assert [chat(engy, seed=number).status for number in range(2)] == [200, 200]
    for phase, is_listed in (("listed", True), ("unlisted", False)):
        assert scene.phase == phase
        assert ("glm-5.2" in listed(engy)) is is_listed
        assert len(listed(engy)) == 7 + is_listed
        seen = chat(engy)
        assert (seen.status, seen.document["error"]["type"]) == (404, "invalid_request_error")
        assert chat(engy, model="kimi-k3").status == 200
        engy.clock.advance(30)
    assert "glm-5.2" in listed(engy)
    assert chat(engy).status == 200


@pytest.mark.engy(clock="wall", time_scale=0.001)
def test_slow_refusal(engy: EngyMock):
    """E-207: thirty seconds of silence, then 503."""
    engy.scenario("slow-refusal")
    seen = chat(engy)
    assert (seen.status, seen.headers["retry-after"]) == (503, "1")
    assert seen.document["error"]["type"] == "service_unavailable_error"
    assert engy.journal.last.faults == ("slow-headers seconds=30",)
    assert [chat(engy, seed=number).status for number in range(2)] == [503, 200]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ["chat", "completions", "responses"])
def test_worker_fields(engy: EngyMock, route: str, stream: bool):
    """E-208: x_engy has two fields more, wherever it stands."""
    if route == "completions" and stream:
        stream = False
    engy.scenario("worker-fields")
    seen = ask(engy, route, stream=stream)
    documents = seen.documents if stream else [seen.document]
    tops = [top for one in documents for top in (one, one.get("response", {}))]
    (receipt,) = [top["x_engy"] for top in tops if "x_engy" in top]
    assert list(receipt) == ["request_id", "charged_micro", "miner", "worker"]
    assert receipt["request_id"] == engy.journal.last.request_id
    assert receipt["miner"].startswith("miner-")
    assert receipt["worker"].startswith("worker-")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_thin_usage(engy: EngyMock, stream: bool):
    """E-209: no completion_tokens_details, and nothing else is missing."""
    engy.scenario("thin-usage")
    seen = chat(engy, stream=stream, stream_options={"include_usage": True})
    (usage,) = [one["usage"] for one in (seen.documents if stream else [seen.document]) if "usage" in one]
    assert list(usage) == ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details"]
    assert engy.journal.last.not_applied == ()
    completion = ask(engy, "completions", stream=False).document
    assert "completion_tokens_details" not in completion["usage"]


@pytest.mark.parametrize("wanted", [False, True])
def test_usage_on_finish(engy: EngyMock, wanted: bool):
    """E-210: the counts stand on the finish chunk beside x_engy, asked for or not, and on no other."""
    engy.scenario("usage-on-finish")
    seen = chat(engy, stream=True, stream_options={"include_usage": wanted})
    having = [document for document in seen.documents if "usage" in document]
    assert having == [seen.documents[-1]]
    assert having[0]["choices"][0]["finish_reason"] == "stop"
    assert "x_engy" in having[0]
    assert having[0]["usage"]["total_tokens"] > 0


def test_nameless_model(engy: EngyMock):
    """E-211: the list has a ninth row with an empty id and no price."""
    before = listed(engy)
    engy.scenario("nameless-model")
    rows = listed(engy)
    nameless = rows.pop("")
    assert rows == before
    assert "pricing" not in nameless
    assert nameless["object"] == "model"


def test_tighter_caps(engy: EngyMock):
    """E-212: the second request is too long where the first was not, though the list says the same."""
    before = listed(engy)
    engy.scenario("tighter-caps")
    long = "tide " * 2100
    assert chat(engy, long, max_tokens=1).status == 200
    seen = chat(engy, long, max_tokens=1)
    error = seen.document["error"]
    assert (seen.status, error["code"]) == (400, "context_length_exceeded")
    assert "glm-5.2 takes at most 2048 input tokens, window 262144" in error["message"]
    assert listed(engy) == before
    assert chat(engy, "short", max_tokens=1).status == 200
    assert chat(engy, long, model="kimi-k3", max_tokens=1).status == 200


@pytest.mark.slow
def test_wider_window(engy: EngyMock):
    """E-213: a prompt above the listed window is accepted, and the list stays as it is."""
    long = "tide " * 263_000
    assert chat(engy, long, model="glm-5.3-flash", max_tokens=1).status == 400
    scene = engy.scenario("wider-window")
    seen = chat(engy, long, model="glm-5.3-flash", max_tokens=1)
    assert seen.status == 200
    row = listed(engy)["glm-5.3-flash"]
    assert row["context_length"] == row["max_model_len"] == 262_144
    assert seen.document["usage"]["prompt_tokens"] > 262_144
    assert engy.catalog.find("glm-5.3-flash").max_input == 1_048_576
    scene.end()
    assert chat(engy, long, model="glm-5.3-flash", max_tokens=1).status == 400


def test_discount_account(engy: EngyMock):
    """E-214: the account pays 26 to 33 % less, is shown that in the list, and others are not."""
    full = listed(engy)
    other = engy.account("other")
    scene = engy.scenario("discount-account")
    mine = listed(engy, engy.api_key)
    shares = {
        1 - Decimal(mine[card.id]["pricing"][name]) / Decimal(full[card.id]["pricing"][name])
        for card in CARDS
        for name in ("prompt", "completion", "input_cache_read")
    }
    assert (min(shares), max(shares)) == (Decimal("0.26"), Decimal("0.33"))
    assert listed(engy) == listed(engy, other.key) == full
    charged = chat(engy, "What is the capital of France?").document["x_engy"]["charged_micro"]
    scene.end()
    assert charged < chat(engy, "What is the capital of France?").document["x_engy"]["charged_micro"]
    assert listed(engy, engy.api_key) == full


def logprobs(engy: EngyMock) -> list[float]:
    """The log probabilities of the same answer, with those of the alternatives."""
    entries = chat(engy, logprobs=True, top_logprobs=3).document["choices"][0]["logprobs"]["content"]
    return [one["logprob"] for entry in entries for one in (entry, *entry["top_logprobs"])]


def test_drifting_logprobs(engy: EngyMock):
    """E-215: the same tokens are scored by several servers, never more than 0.02 apart; the order stays."""
    calm = logprobs(engy)
    engy.scenario("drifting-logprobs")
    runs = [logprobs(engy) for _ in range(16)]
    assert 1 < len({tuple(run) for run in runs}) <= 4
    spans = [max(values) - min(values) for values in zip(*runs, strict=True)]
    assert 0.005 < max(spans) <= 0.02
    assert all(abs(one - other) <= 0.01 for run in runs for one, other in zip(run, calm, strict=True))
    assert all(-100 <= value <= 0 for run in runs for value in run)
    plain = chat(engy)
    assert (plain.status, engy.journal.last.not_applied) == (200, ("drifting-logprobs",))
    with pytest.raises(MockError, match="can never apply"):
        engy.when(endpoint="messages").faults("drifting-logprobs")


def test_drifting_logprobs_of_prompts(engy: EngyMock):
    """E-215: scored prompts drift as well; what precedes nothing still has no value."""

    def scored() -> list[float | None]:
        body = {"model": "glm-5.2", "prompt": "The capital of France is Paris.", "max_tokens": 1}
        body |= {"echo": True, "logprobs": 1}
        found: list[float | None] = send(engy, "/v1/completions", body).document["choices"][0]["logprobs"][
            "token_logprobs"
        ]
        return found

    engy.scenario("drifting-logprobs")
    runs = [scored() for _ in range(8)]
    assert 1 < len({tuple(run) for run in runs}) <= 4
    assert {run[0] for run in runs} == {None}


@pytest.mark.parametrize("demand", ["schema", "tool"])
def test_ignores_schema(engy: EngyMock, demand: str):
    """E-216: plain sentences whatever form is demanded, of this model alone."""
    engy.scenario("ignores-schema")
    more: dict[str, Any] = {"tools": TOOLS, "tool_choice": "required"}
    if demand == "schema":
        form = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
        more = {"response_format": form}

    def answer(model: str) -> dict[str, Any]:
        body = body_for("chat", stream=False) | {"model": model, "reasoning_effort": "none"} | more
        choice: dict[str, Any] = send(engy, "/v1/chat/completions", body).document["choices"][0]
        return choice

    heeding = answer("qwen3.8-27b")
    if demand == "schema":
        assert json.loads(heeding["message"]["content"]).keys() == {"city"}
    else:
        assert heeding["finish_reason"] == "tool_calls"
    ignoring = answer("qwen3.6-35b-a3b")
    assert ignoring["finish_reason"] == "stop"
    assert "tool_calls" not in ignoring["message"]
    assert ignoring["message"]["content"][0].isalpha()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ["chat", "messages"])
def test_relayed_worker_error(engy: EngyMock, route: str, stream: bool):
    """E-217: the words of the worker behind `serve 400: `, cut at 500 characters, as a ServeError."""
    engy.scenario("relayed-worker-error")
    seen = ask(engy, route, stream=stream)
    error = seen.document["error"]
    assert (seen.status, error["type"]) == (400, "ServeError")
    start, _, body = error["message"].partition(": ")
    assert (start, len(body)) == ("serve 400", 500)
    assert body.startswith('{"object":"error"')
    assert ask(engy, route, stream=stream).status == 400
    assert ask(engy, route, stream=stream).status == 200


@pytest.mark.parametrize("model", ["deepseek-v4-flash-0731", "deepseek-v4.1-flash"])
def test_deaf_to_enabled(engy: EngyMock, model: str):
    """E-218: `reasoning.enabled` does not turn thinking on, an effort and the template do, and others hear it."""

    def reasons(asked: str = model, **more: Any) -> bool:
        return "reasoning_content" in chat(engy, model=asked, **more).document["choices"][0]["message"]

    assert reasons(reasoning={"enabled": True})
    engy.scenario("deaf-to-enabled")
    assert not reasons(reasoning={"enabled": True})
    assert reasons(reasoning={"effort": "high"})
    assert reasons(chat_template_kwargs={"enable_thinking": True})
    assert reasons("kimi-k3", reasoning={"enabled": True})


@pytest.mark.parametrize("route", ["chat", "messages", "responses"])
def test_strict_ids(engy: EngyMock, route: str):
    """E-219: no header of a stream tells its request id; whole answers have theirs."""
    engy.scenario("strict-ids")
    names = {"x-engy-request-id", "x-request-id", "request-id"}
    assert names.isdisjoint(ask(engy, route).headers)
    assert ask(engy, route, stream=False).headers["x-request-id"] == engy.journal.last.request_id


def test_terms_are_given_back(engy: EngyMock, tmp_path: Any):
    """What a scenario agrees with the default account ends with it; a reset brings the first terms back."""
    account = engy.accounts.default
    account.max_concurrent = 7
    scene = engy.scenario("small-account")
    assert (account.max_concurrent, account.requests_per_minute) == (2, 10)
    assert [chat(engy, seed=number).status for number in range(11)] == [200] * 10 + [429]
    scene.end()
    assert (account.max_concurrent, account.requests_per_minute) == (7, None)
    engy.scenario("small-account")
    engy.reset()
    assert engy.accounts.default is not account
    assert (engy.accounts.default.max_concurrent, engy.accounts.default.requests_per_minute) == (None, None)
    path = tmp_path / "wrong.yaml"
    path.write_text("description: x\naccount: {discount_percent: {glm-5.22: 5}}", encoding="utf-8")
    with pytest.raises(
        MockError, match=r"account.discount_percent: unknown model 'glm-5.22' .* Did you mean 'glm-5.2'"
    ):
        engy.scenario(path)
    path.write_text("description: x\naccount: {max_concurent: 5}", encoding="utf-8")
    with pytest.raises(MockError, match=r"line 2, account.max_concurent: .* Did you mean 'max_concurrent'"):
        engy.scenario(path)


@pytest.mark.parametrize("route", ["chat", "messages", "responses"])
def test_refusal_in_stream(engy: EngyMock, route: str):
    """E-204: status 200, and nothing in the stream but a refusal for want of room; whole answers are given."""
    engy.scenario("refusal-in-stream")
    assert ask(engy, route, stream=False).status == 200
    for _ in range(2):
        seen = ask(engy, route)
        assert (seen.status, seen.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        error = refusal_of(seen, route)
        assert error["message"] == "concurrency limit of 4 reached"
        if route == "chat":
            assert (error["type"], error["code"]) == ("rate_limit_error", 429)
        assert engy.journal.last.charged_micro == engy.accounts.default.held_micro == 0
    assert len(ask(engy, route).documents) > 5


@pytest.mark.parametrize("route", ["chat", "messages", "responses"])
def test_bad_key_in_stream(engy: EngyMock, route: str):
    """E-205: a streamed request with a bad key gets 200 and one error frame, code 401; a whole one gets 401."""
    engy.scenario("bad-key-in-stream")
    asking = Asking(path=PATHS[route], body=body_for(route, stream=True), key=WRONG_KEY)
    seen = asking.sent(engy)
    assert (seen.status, seen.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    error = refusal_of(seen, route)
    assert error["message"] == "invalid api key"
    if route == "chat":
        assert (error["type"], error["code"]) == ("authentication_error", 401)
    whole = Asking(path=PATHS[route], body=body_for(route, stream=False), key=WRONG_KEY).sent(engy)
    assert whole.status == 401
    assert ask(engy, route).documents[0] != seen.documents[0]


def refusal_of(seen: Capture, route: str) -> dict[str, Any]:
    """The error of a stream that has nothing else in it; a failed response is in it as far as it has come."""
    last: dict[str, Any] = seen.documents[-1]
    if route == "responses":
        assert (last["type"], last["response"]["output"]) == ("response.failed", [])
        last = last["response"]
    else:
        assert len(seen.documents) == 1
        assert b"[DONE]" not in seen.body
    found: dict[str, Any] = last["error"]
    return found
