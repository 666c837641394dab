"""What a test can expect of requests that the service refused: they were sent, so they are never an absence."""

import gzip
import json
from base64 import b64encode
from typing import Any

import pytest

from engy_mock import MockError, UnmetExpectation
from tests.scripting.captured import PATHS, ask, body_for

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}

REFUSALS = {
    "a field that breaks a rule": (400, {"temperature": 9}),
    "a model that is not there": (404, {"model": "nope"}),
    "a bad key": (401, {"key": "nobody's"}),
    "a prompt that is too long": (400, {"pad": "a " * 300_000}),
    "a turn that breaks a rule": (400, {"turns": [{"role": "nobody", "content": "no"}]}),
    "no worker": (503, {"provider": {"zdr": True, "require_proof": True}}),
}


@pytest.fixture
def say(engy):
    """Send the same request with one thing wrong."""
    with engy.http_client() as client:

        def say(text="my password is hunter2", key=None, pad="", turns=(), status=200, **more):
            messages = [
                {"role": "system", "content": "be brief"},
                *turns,
                {"role": "user", "content": text + pad},
            ]
            body = {"model": "glm-5.2", "messages": messages, "max_tokens": 5, "tools": [TOOL], **more}
            headers = {"Authorization": f"Bearer {key or engy.api_key}"}
            assert client.post("/v1/chat/completions", json=body, headers=headers).status_code == status

        yield say


@pytest.mark.parametrize(("status", "wrong"), REFUSALS.values(), ids=REFUSALS)
def test_what_was_refused_was_asked(engy, say, status, wrong):
    """Model, turns, tools and form are read as far as the body can be, whatever it was refused for."""
    say(status=status, **wrong)
    entry = engy.journal.last
    model = wrong.get("model", "glm-5.2")
    assert entry.model == model
    assert engy.journal.where(model=model) == [entry]
    words = {"says": "hunter2", "system": "brief", "offers": "look", "model": model, "stream": False}
    assert engy.asked(**words, tool_result=False, endpoint="chat", surface="v1", times=1) == [entry]
    assert engy.asked(lambda request: "hunter2" in request.last_user_text) == [entry]
    assert engy.asked_in_order({"says": "hunter2"}) == [entry]
    for word, value in words.items():
        with pytest.raises(UnmetExpectation, match="there were 1"):
            engy.asked(**{word: value}, times=0)
    engy.check_prompts(has="hunter2")
    with pytest.raises(UnmetExpectation, match=r"\(user\) has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")
    with pytest.raises(UnmetExpectation, match=r"its prompt has \d+ tokens, 3 are allowed"):
        engy.check_prompts(max_prompt_tokens=3)


def test_one_good_request_hides_none_that_was_refused(engy, say):
    say("all is well")
    say(temperature=9, status=400)
    with pytest.raises(UnmetExpectation, match=r"1\. POST /v1/chat/completions .* -> 400"):
        engy.check_prompts(lacks="hunter2")


@pytest.mark.parametrize("route", [*PATHS, "v5 inference"])
def test_every_dialect_is_read(engy, route):
    """A request without a key that is valid, and one that breaks a rule as well."""
    body = (
        body_for(route, stream=False, text="hunter2")
        if route in PATHS
        else {"model": "m", "args": {"a": "hunter2"}}
    )
    path = PATHS.get(route, "/v5/inference")
    with engy.http_client() as client:
        for wrong in ({}, {"stream": "perhaps"}):
            assert client.post(path, json=body | wrong).status_code == 401
    assert len(engy.asked(says="hunter2", model=body["model"])) == 2
    with pytest.raises(UnmetExpectation, match="has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")


UNREAD = {
    "no JSON": (b'{"messages": [{"role": "user", "content": "hunter2', "is no JSON object"),
    "no JSON, and too long to be kept": (b"hunter2 " * 40_000, "had 320000 bytes and could not be read"),
    "a list": (b'["hunter2"]', "is no JSON object"),
    "UTF-16": ('{"model": "glm-5.2", "prompt": "hunter2"}'.encode("utf-16"), "is no JSON object"),
    "UTF-16 without a mark": ('{"prompt": "hunter2"}'.encode("utf-16-le"), "is no JSON object"),
    "UTF-32": ('{"prompt": "hunter2"}'.encode("utf-32"), "is no JSON object"),
    "a form": (b"content=hunter%32", "is no JSON object"),
    "Base64": (b64encode(b"hunter2"), "is no JSON object"),
    "compressed, which no header says": (gzip.compress(b'{"prompt": "hunter2"}', mtime=0), "is no JSON object"),
}


@pytest.mark.parametrize(("body", "why"), UNREAD.values(), ids=UNREAD)
def test_what_cannot_be_read_is_nobodys_absence(engy, say, body, why):
    """Where nobody knows whether a request fits, that is said; one that surely fits is still found."""
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post("/v1/chat/completions", content=body).status_code == 400
    for expect in (
        lambda: engy.asked(says="hunter2"),
        lambda: engy.asked(says="hunter2", times=0),
        lambda: engy.asked(says="hunter2", at_most=0),
        lambda: engy.asked_in_order({"says": "hunter2"}),
    ):
        with pytest.raises(UnmetExpectation, match=why):
            expect()
    with pytest.raises(UnmetExpectation, match=r"hunter2|nobody knows what it said"):
        engy.check_prompts(lacks="hunter2")
    for unknown in ({"has": "hunter2"}, {"max_prompt_tokens": 9_999_999}):
        with pytest.raises(UnmetExpectation, match="nobody knows what it said"):
            engy.check_prompts(**unknown)
    for words in ({"model": "glm-5.2"}, {"field": {"model": "glm-5.2"}}, {"stream": True}, {"tool_result": True}):
        with pytest.raises(UnmetExpectation, match=why):
            engy.asked(**words, times=0)
    with pytest.raises(UnmetExpectation, match=why):
        engy.asked(lambda request: True, times=0)
    engy.asked(endpoint="chat", times=1)
    engy.asked(endpoint="messages", says="hunter2", times=0)
    say()
    assert [entry.number for entry in engy.asked(says="hunter2")] == [1]
    with pytest.raises(UnmetExpectation, match="nobody knows how it begins"):
        engy.check_prompts(keeps_prefix=True)


def test_another_type_of_content_changes_nothing(engy, say):
    """A body that is refused for its type (415) is read all the same; one that cannot be is nobody's absence."""
    say("all is well")
    headers = {"Authorization": f"Bearer {engy.api_key}", "content-type": "application/x-www-form-urlencoded"}
    with engy.http_client(headers=headers) as client:
        for body in (b"content=hunter%32", b'{"messages": [{"role": "user", "content": "swordfish"}]}'):
            assert client.post("/v1/chat/completions", content=body).status_code == 415
    with pytest.raises(UnmetExpectation, match=r"message 0 \(user\) has 'swordfish'"):
        engy.check_prompts(lacks="swordfish")
    for expect in (lambda: engy.check_prompts(lacks="hunter2"), lambda: engy.asked(says="hunter2", times=0)):
        with pytest.raises(UnmetExpectation, match="exchange 1 is no JSON object"):
            expect()


def test_an_empty_body_says_nothing(engy, say):
    say("all is well")
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post("/v1/chat/completions", content=b" ").status_code == 400
    engy.check_prompts(lacks="hunter2", max_prompt_tokens=100, keeps_prefix=True)
    engy.asked(says="hunter2", times=0)
    with pytest.raises(UnmetExpectation, match="its body is empty"):
        engy.check_prompts(has="well")


FINE = [{"role": "user", "content": "fine"}]

ANYWHERE: dict[str, tuple[dict[str, Any], str]] = {
    "a field of another dialect": ({"prompt": "hunter2"}, "prompt has 'hunter2'"),
    "a field that is misspelt": ({"mesages": [{"role": "user", "content": "hunter2"}]}, "mesages has 'hunter2'"),
    "a name": ({"hunter2": 1}, "hunter2 has 'hunter2'"),
    "what broke the rule": ({"messages": FINE, "temperature": "hunter2"}, "temperature has 'hunter2'"),
    "a part of no type": (
        {"messages": [{"role": "user", "content": [{"type": "note", "value": ["hunter2"]}]}]},
        "messages has 'hunter2'",
    ),
    "an escape": ({"mesages": '{"key": "\\u0068unter2"}'}, "mesages has 'hunter2'"),
    "a long field that is not kept": ({"mesages": "x" * 300_000 + "hunter2"}, "what else it said: mesages had no"),
}


@pytest.mark.parametrize(("body", "said"), ANYWHERE.values(), ids=ANYWHERE)
def test_all_that_a_broken_request_says_was_sent(engy, say, body, said):
    """Nobody knows what of it would have become a prompt, so that whatever stands in it counts for `lacks`."""
    say("all is well")
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post("/v1/chat/completions", json={"model": "glm-5.2"} | body).status_code == 400
    with pytest.raises(UnmetExpectation, match=said):
        engy.check_prompts(lacks="hunter2")
    if "mesages" not in body or len(body["mesages"]) < 1000:
        engy.check_prompts(lacks="swordfish")


@pytest.mark.parametrize("body", [{"prompt": "hunter2"}, {"mesages": [*FINE, "hunter2"]}])
def test_who_tells_the_model_nothing_may_have_meant_to(engy, body):
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post("/v1/chat/completions", json={"model": "glm-5.2"} | body).status_code == 400
    with pytest.raises(UnmetExpectation, match="the body of exchange 0 has no prompt that can be read"):
        engy.asked(says="hunter2", times=0)
    engy.asked(says="swordfish", times=0)
    engy.asked(model="glm-5.2", times=1)


def test_what_no_prompt_has_counts_for_nobody_who_breaks_no_rule(engy, say):
    """A bad key makes no other prompt: fields that no model gets to see are none of it."""
    say("hello", user="hunter2", key="nobody's", status=401)
    engy.check_prompts(lacks="hunter2")


def test_a_body_that_was_not_read_may_have_said_anything(engy):
    """What was turned away at its head is an exchange whose words nobody knows."""
    engy.when().faults("early-response")
    assert ask(engy, stream=False, text="hunter2").status == 413
    with pytest.raises(UnmetExpectation, match="was refused before its body was read"):
        engy.asked(says="hunter2", times=0)
    with pytest.raises(UnmetExpectation, match="nobody knows what it said"):
        engy.check_prompts(lacks="hunter2")
    engy.asked(endpoint="chat", times=1)


@pytest.mark.parametrize("path", ["/v1/v1/chat/completions", "/v1/messages/count_tokens"])
def test_what_asks_no_model_can_leak_too(engy, say, path):
    """A prompt that was sent to the wrong place, or to be counted, was sent."""
    say("all is well")
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        client.post(path, json=body_for("messages", stream=False, text="hunter2"))
    with pytest.raises(UnmetExpectation, match="messages has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")
    engy.asked(says="hunter2", times=0)


@pytest.mark.parametrize("path", ["/v1/nope", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("content", [b'{"note": "hunter2"}', '{"prompt": "hunter2"}'.encode("utf-16")])
def test_what_was_sent_to_no_model_was_sent(engy, say, path, content):
    """Whatever stands in what was refused there counts, and what nobody can read may say anything."""
    say("all is well")
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        assert client.post(path, content=content).status_code in (400, 404)
    with pytest.raises(UnmetExpectation, match=r"note has 'hunter2'|nobody knows what it said"):
        engy.check_prompts(lacks="hunter2")
    engy.check_prompts(has="well", max_prompt_tokens=100, keeps_prefix=True)


def test_long_fields_of_a_refused_body_are_not_denied(engy, say):
    """Q-35: what is short is known, what is long neither there nor absent, what is missing is missing."""
    say(padding="x" * 300_000, temperature=9, status=400)
    assert engy.asked(field={"temperature": 9}, says="hunter2", times=1)
    assert engy.asked(field={"seed": 5}, times=0) == []
    with pytest.raises(MockError, match="nobody knows 'padding' any more"):
        engy.asked(field={"padding": "x"}, times=0)


IN_THE_PROMPT: dict[str, dict[str, Any]] = {
    "the name of a tool": {"tools": [{"type": "function", "function": {"name": "hunter2"}}]},
    "a parameter of a tool": {
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "parameters": {"type": "object", "properties": {"hunter2": {}}}},
            }
        ]
    },
    "what a parameter is for": {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "parameters": {"type": "object", "properties": {"q": {"description": 'is "hunter2"'}}},
                },
            }
        ]
    },
    "a result": {
        "turns": [
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "hunter2"},
        ]
    },
}

NOT_IN_THE_PROMPT: dict[str, dict[str, Any]] = {
    "a name": {"turns": [{"role": "user", "name": "hunter2", "content": "x"}]},
    "past reasoning": {"turns": [{"role": "assistant", "content": "x", "reasoning_content": "hunter2"}]},
    "a form": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"hunter2": {}}}},
        }
    },
    "a stop": {"stop": ["hunter2"]},
    "a user": {"user": "hunter2"},
}


@pytest.mark.parametrize("more", IN_THE_PROMPT.values(), ids=IN_THE_PROMPT)
def test_all_that_a_prompt_is_made_of_is_looked_at(engy, say, more):
    say("hello", **more)
    engy.check_prompts(has=["hunter2", "hello"])
    with pytest.raises(UnmetExpectation, match="has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")


@pytest.mark.parametrize("more", NOT_IN_THE_PROMPT.values(), ids=NOT_IN_THE_PROMPT)
def test_what_no_prompt_has_is_not_looked_at(engy, say, more):
    """The words make no prompt longer: the model never gets to see them."""
    say("hello", **more)
    engy.check_prompts(lacks="hunter2")
    other = json.loads(json.dumps(more).replace("hunter2", "another and longer text than that"))
    say("hello", **other)
    first, second = engy.journal
    assert first.usage.prompt_tokens == second.usage.prompt_tokens


def test_text_is_seen_as_it_is_meant(engy, say):
    """A schema is looked at as the prompt has it, and text by text."""
    say("hello", **IN_THE_PROMPT["what a parameter is for"])
    engy.check_prompts(has=['is "hunter2"', '{"description":'])


def test_prompts_of_tokens_are_texts_too(engy):
    tokens = engy.catalog.tokenizer(engy.catalog.find("glm-5.2")).encode("my password is hunter2")
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        body = {"model": "glm-5.2", "prompt": tokens, "max_tokens": 2}
        assert client.post("/v1/completions", json=body).status_code == 200
    with pytest.raises(UnmetExpectation, match="prompt 0 has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")
