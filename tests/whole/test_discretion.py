"""What no refusal tells, whatever has made it: the key of the caller, and more than a little of what was sent."""

import json
from typing import Any

import pytest

from engy_mock.gateway import Gateway
from engy_mock.gateway.discretion import MAX_MESSAGE, MAX_TOLD, discreet
from engy_mock.scripting.refusals import Refusal
from engy_mock.vocabulary.errors import InvalidRequest, Violation
from engy_mock.vocabulary.wire import Call, Whole

ENGY = "sk-engy-canarycanarycanary"
SCALE = "canary/canary~canary"
LONG = "Q" * 100_000
CHAT = [{"role": "user", "content": "x"}]
V1 = {"authorization": f"Bearer {ENGY}"}
V5 = {"x-api-key": SCALE}


def with_schema(schema: object) -> list[Any]:
    """A request of every route that can be asked for a form, with this schema."""
    named = {"name": "n", "schema": schema}
    tool = {"type": "function", "function": {"name": "t", "parameters": schema}}
    flat = {"type": "function", "name": "t", "parameters": schema}
    v1, v5 = {"model": "glm-5.2"}, {"model": "openai/gpt-4o"}
    asked = {"text": {"format": {"type": "json_schema", **named}}}
    document = {"response_format": {"type": "json_schema", "json_schema": named}}
    own = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    called = {"tools": [{"name": "t", "input_schema": schema}], "tool_choice": {"type": "any"}}
    return [
        ("/v1/chat/completions", {**v1, "messages": CHAT, **document}),
        ("/v1/chat/completions", {**v1, "messages": CHAT, "tools": [tool], "tool_choice": "required"}),
        ("/v1/responses", {**v1, "input": "x", **asked}),
        ("/v1/responses", {**v1, "input": "x", "tools": [flat], "tool_choice": "required"}),
        ("/v1/messages", {**v1, "messages": CHAT, "max_tokens": 5, **own}),
        ("/v1/messages", {**v1, "messages": CHAT, "max_tokens": 5, **called}),
        ("/v5/chat/completions", {**v5, "messages": CHAT, **document}),
        ("/v5/chat/completions", {**v5, "messages": CHAT, "tools": [tool], "tool_choice": "required"}),
        ("/v5/responses", {**v5, "input": "x", **asked}),
        ("/v5/responses", {**v5, "input": "x", "tools": [flat], "tool_choice": "required"}),
    ]


def refused(path: str, body: object, gateway: Gateway | None = None) -> str:
    """What a call is told that is refused."""
    headers = {"host": "localhost", **(V5 if path.startswith("/v5") else V1)}
    call = Call(method="POST", path=path, headers=headers, body=json.dumps(body).encode())
    (step,) = (gateway or Gateway()).answer(call)
    assert isinstance(step, Whole)
    assert step.head.status in (400, 404, 422)
    return step.body.decode()


def key_of(path: str) -> str:
    return SCALE if path.startswith("/v5") else ENGY


@pytest.mark.parametrize("place", range(len(with_schema({}))))
def test_a_refused_schema_is_told_in_short(place: int):
    """E-196, Q-32: neither a key nor much of the schema, wherever in it they stand."""
    path, _ = with_schema({})[place]
    for name in (key_of(path), LONG, LONG + key_of(path), "/" * 70 + key_of(path)):
        for schema in (
            {"type": "object", "properties": {name: {"type": "zz"}}, "required": [name]},
            {"type": "object", "properties": {name: False}, "required": [name]},
            {"type": "object", "properties": {"a": {"type": name}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {"pattern": f"(({name}"}}, "required": ["a"]},
            {"$ref": f"#/{name}"},
        ):
            _, body = with_schema(schema)[place]
            said = refused(path, body)
            assert "canarycan" not in said
            assert "canary/can" not in said
            assert "canary~1can" not in said
            assert len(said) < 600
            assert said.count("Q") <= 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v5/completions", {"model": SCALE, "prompt": "a"}),
        ("/v5/completions", {"model": f"openai/{SCALE}", "prompt": "a"}),
        ("/v5/completions", {"model": "openai/gpt-4o", "prompt": "a", "logit_bias": {SCALE: 500}}),
        ("/v5/chat/completions", {"model": "openai/gpt-4o", "messages": [{"role": SCALE, "content": "x"}]}),
        ("/v5/responses", {"model": "openai/gpt-4o", "input": "a", "metadata": {SCALE: 5}}),
        (f"/v5/{SCALE}", {}),
        ("/v1/messages", {"model": ENGY, "messages": CHAT, "max_tokens": 5}),
        ("/v1/responses", {"model": "glm-5.2", "input": "a", "metadata": {ENGY: 5}}),
    ],
)
def test_a_key_that_went_astray_is_told_nowhere(path: str, body: object):
    """E-196: not by its place either, nor under `/v5`, where a key has no form of its own."""
    said = refused(path, body)
    assert "canarycan" not in said
    assert "canary/can" not in said


def test_the_journal_has_what_was_told():
    """Q-32: an entry repeats the refusal, not what was left out of it."""
    gateway = Gateway()
    refused("/v5/completions", {"model": f"openai/{SCALE}", "prompt": "a"}, gateway)
    (entry,) = gateway.journal
    assert entry.error == "model 'openai/[key]' not found"


def call(**headers: str) -> Call:
    return Call(method="POST", path="/v5/completions", headers=headers, body=b"")


def test_every_message_has_a_bound():
    """E-196: whatever a check may quote, so much is told and no more."""
    found = [Violation(path=("a" * 12, 0, SCALE), message=LONG)] * 100
    told = discreet(InvalidRequest(LONG, param=LONG, violations=found), call(**V5))
    assert told.message == f"{'Q' * (MAX_MESSAGE - 3)}..." == str(told)
    assert told.param is not None
    assert len(told.param) == 200
    assert len(told.violations) == MAX_TOLD
    assert {(v.path, len(v.message)) for v in told.violations} == {(("a" * 12, 0, "[key]"), MAX_MESSAGE)}


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("canary-canary", "got 'canary-canary'", "got '[key]'"),
        ("canary-canary-canary", "got 'canary-canary-c...", "got '[key]..."),
        ('canary"canary"', r"got \"canary\"canary\"\"", r"got \"[key]\""),
        ("test-1", "test-12", "[key]2"),
        ("test", "a test", "a test"),
        ("k", "kind", "kind"),
    ],
)
def test_keys_in_a_text(key: str, text: str, told: str):
    """A key goes in every spelling and where it was cut; what could be any word stays."""
    assert discreet(InvalidRequest(text), call(**{"x-api-key": key})).message == told


def test_what_a_rule_says_is_the_authors():
    """A refusal that a test has worded is told as it stands."""
    error = Refusal(status=400, message=LONG + SCALE).error(hurries=False)
    assert discreet(error, call(**V5)) is error
