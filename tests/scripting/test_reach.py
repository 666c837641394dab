"""What can come of a rule at all: words that no call can fit, and words of a reply that no answer can tell."""

from typing import Any

import pytest

from engy_mock import EngyMock, MockError, Reply, ToolCall, UnmetExpectation
from engy_mock.books.entry import Entry
from engy_mock.dialects.routes import ROUTES
from engy_mock.scripting.matchers import ENDPOINTS
from engy_mock.scripting.reach import PAGES, SERVED, TOLD
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Call, Whole
from tests.scripting.captured import MODELS, PATHS, body_for

CALL = ToolCall("get_weather", city="Paris")

PARTS: dict[str, Any] = {
    "reasoning": "Hm.",
    "tool_calls": (CALL,),
    "finish_reason": "length",
    "logprobs": {"one": -7.5},
    "response": {"answer": 42},
}
"""A value for each part of a reply that has no place everywhere."""

ROUTED = {**PATHS, "v5 inference": "/v5/inference"}


def asked(engy: EngyMock, route: str) -> tuple[bytes, Entry]:
    """The body of the answer to a request that asks for all there is, and its place in the journal."""
    more: dict[str, Any] = {}
    match route.removeprefix("v5 "):
        case "chat":
            more = {"logprobs": True, "tools": True}
        case "completions":
            more = {"logprobs": 1}
        case "responses":
            more = {"include": ["message.output_text.logprobs"], "tools": True}
        case "messages":
            more = {"tools": True, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    body = (
        {"model": MODELS["v5 chat"], "args": {"prompt": "x"}}
        if route == "v5 inference"
        else body_for(route, stream=False, **more)
    )
    headers = {"authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key, "host": "127.0.0.1"}
    headers["content-type"] = "application/json"
    call = Call(method="POST", path=ROUTED[route], headers=headers, body=json.write(body))
    (step,) = engy.gateway.answer(call)
    assert isinstance(step, Whole)
    assert step.head.status == 200
    return step.body, engy.journal.last


@pytest.fixture(scope="module")
def engy() -> EngyMock:
    """A mock without a socket."""
    return EngyMock()


@pytest.mark.parametrize("part", TOLD)
@pytest.mark.parametrize("route", ROUTED)
def test_parts(engy: EngyMock, route: str, part: str):
    """On every route each part of a reply changes the answer, or is told as one that did not."""
    bodies, entries = [], []
    for reply in (Reply(text="one two"), Reply(text="one two", **{part: PARTS[part]})):
        engy.reset()
        engy.when().reply(reply)
        body, entry = asked(engy, route)
        bodies.append(body)
        entries.append(entry)
    assert entries[0].not_applied == ()
    assert entries[1].not_applied == (() if bodies[0] != bodies[1] else (f"reply {part}",))


def test_beside_faults(engy: EngyMock):
    """What is told in vain stands beside the faults, and fails the test."""
    engy.reset()
    engy.when().reply(tool_calls=[CALL], faults=["finish-odd", "no-done"])
    _, entry = asked(engy, "completions")
    assert entry.not_applied == ("no-done", "reply tool_calls")
    with pytest.raises(UnmetExpectation, match="exchange 0: tool_calls of the reply changed nothing"):
        engy.verify()


def test_from_a_function(engy: EngyMock):
    """What a function says in vain is told too."""
    engy.reset()
    engy.when(endpoint="completions").reply(lambda request: Reply(text="x", tool_calls=(CALL,)))
    assert asked(engy, "completions")[1].not_applied == ("reply tool_calls",)


NEVER = [
    ({"endpoint": "models"}, {"text": "x"}, "a reply can never apply in when(endpoint='models')"),
    ({"endpoint": "count_tokens"}, {"json": 1}, "a reply can never apply in when(endpoint='count_tokens')"),
    ({"endpoint": "records"}, {"text": ["x", "y"]}, "a reply can never apply in when(endpoint='records')"),
    ({"endpoint": "models"}, {"text": lambda request: "x"}, "a reply can never apply"),
    ({"endpoint": "completions"}, {"tool_calls": [CALL]}, "tool_calls of a reply can never apply"),
    ({"endpoint": "completions"}, {"text": "x", "reasoning": "y"}, "reasoning of a reply can never apply"),
    ({"endpoint": "completions"}, {"text": ["x", Reply(reasoning="y")]}, "reasoning of a reply can never apply"),
    ({"endpoint": "chat"}, {"response": {}}, "it is for inference on v5 alone"),
    ({"surface": "v1"}, {"response": None}, "response of a reply can never apply in when(surface='v1')"),
    ({"surface": "v5"}, {"text": "x", "reasoning": "y"}, "for chat, messages, responses on v1 alone"),
    ({"endpoint": "messages"}, {"text": "x", "logprobs": {"x": -1}}, "logprobs of a reply can never apply"),
    ({"endpoint": "inference"}, {"text": "x", "finish_reason": "length"}, "finish_reason of a reply can never"),
]


@pytest.mark.parametrize(("words", "reply", "said"), NEVER)
def test_never(engy: EngyMock, words: Any, reply: Any, said: str):
    """A reply that can never be told is refused when the rule is written."""
    engy.reset()
    with pytest.raises(MockError) as caught:
        engy.when(**words).reply(**reply)
    assert said in str(caught.value)
    assert not engy.gateway.script.rules


def test_never_in_a_file(engy: EngyMock, tmp_path):
    """The same in a scenario file, with the place."""
    path = tmp_path / "never.yaml"
    path.write_text("description: x\nrules:\n  - when: {endpoint: completions}\n    reply: {reasoning: y}\n")
    with pytest.raises(MockError, match=r"line 4, rules\[0\]\.reply: reasoning of a reply can never apply"):
        engy.scenario(path)


CONTRADICTIONS = [
    ({"endpoint": "models", "says": "x"}, "says= looks at what a model is asked"),
    ({"endpoint": "records", "model": "glm-5.2"}, "model= looks at what a model is asked"),
    ({"refused": 401, "offers": "x"}, "which calls with refused=401 do not show"),
    ({"endpoint": "completions", "offers": "x"}, "offers= looks at conversations"),
    ({"endpoint": "completions", "system": "x"}, "system= looks at conversations"),
    ({"endpoint": "inference", "tool_result": True}, "tool_result= looks at conversations"),
    ({"endpoint": "records", "stream": True}, "stream=True is for answers of a model"),
    ({"field": {"a": {1}}}, "field= takes values of JSON, and no request has {1} for 'a'"),
    ({"field": {"a.b": [1, {"c": float("nan")}]}}, "no request has nan for 'a.b'"),
    ({"field": {"a": (1, 2)}}, "no request has (1, 2) for 'a'"),
    ({"key": "a\nb"}, "key= takes a text on one line"),
    ({"endpoint": "messages", "surface": "v5"}, "endpoint='messages' is on surface v1 alone, not on v5"),
]


@pytest.mark.parametrize(("words", "said"), CONTRADICTIONS)
def test_contradictions(engy: EngyMock, words: Any, said: str):
    """Words that no call can fit together are refused."""
    with pytest.raises(MockError) as caught:
        engy.when(**words)
    assert said in str(caught.value)
    with pytest.raises(MockError, match="a function looks at what a model is asked"):
        engy.when(lambda request: True, endpoint="models")


def test_more_answers_than_requests(engy: EngyMock):
    """An answer that no request can get any more is refused when the rule is written."""
    engy.reset()
    with pytest.raises(MockError, match="2 answers, but times=1: the last one can never be given"):
        engy.when().reply(["a", "b"], times=1)
    with pytest.raises(MockError, match="3 answers, but at has 2"):
        engy.when(at=[1, 5]).reply(["a", "b", "c"])
    engy.when(at=[1, 5]).reply(["a", "b"])


def test_log_probabilities_that_nobody_sees(engy: EngyMock):
    """Values for tokens that are not said, or to requests that ask for none, are told."""
    engy.reset()
    engy.when().reply("one two", logprobs={"one": -7.5, "zz": -1.0})
    assert asked(engy, "chat")[1].not_applied == ("reply logprobs 'zz'",)
    call = Call(
        method="POST",
        path=PATHS["chat"],
        headers={"authorization": f"Bearer {engy.api_key}", "content-type": "application/json"},
        body=json.write(body_for("chat", stream=False)),
    )
    tuple(engy.gateway.answer(call))
    assert engy.journal.last.not_applied == ("reply logprobs",)


def test_broken_arguments_where_an_object_is_told(engy: EngyMock):
    """A whole message shows arguments as an object: a text that is none cannot be seen there."""
    engy.reset()
    engy.when().reply(tool_calls=[ToolCall("get_weather", arguments='{"city": "Par')])
    body, entry = asked(engy, "messages")
    assert b'"input":{}' in body
    assert entry.not_applied == ("reply tool_calls get_weather arguments",)
    body, entry = asked(engy, "chat")
    assert b'{\\"city\\": \\"Par' in body
    assert entry.not_applied == ()


@pytest.mark.parametrize("kind", ["logprob-top-count", "zero-width-token"])
def test_other_words_that_nobody_sees(engy: EngyMock, kind: str):
    """A fault whose words do not show in what is told has changed nothing, whatever the model would say."""
    engy.reset()
    engy.when().reply("one two")
    body = {"model": "glm-5.2", "prompt": ["a", "b"], "logprobs": 2, "max_tokens": 9}
    headers = {"authorization": f"Bearer {engy.api_key}", "content-type": "application/json"}
    call = Call(method="POST", path=PATHS["completions"], headers=headers, body=json.write(body))
    (plain,) = engy.gateway.answer(call)
    engy.reset()
    engy.when().reply("one two", faults=[kind])
    (marred,) = engy.gateway.answer(call)
    assert isinstance(plain, Whole)
    assert isinstance(marred, Whole)
    assert engy.journal.last.not_applied == (() if plain.body != marred.body else (kind,))
    assert engy.journal.last.faults == ((kind,) if plain.body != marred.body else ())


@pytest.mark.parametrize("endpoint", PAGES)
def test_what_pages_take(engy: EngyMock, endpoint: Any):
    """What can befall a page is allowed, and what needs pieces is not."""
    engy.reset()
    engy.when(endpoint=endpoint, tool_result=False).refuse(503)
    engy.when(endpoint=endpoint).let_through()
    engy.when(endpoint=endpoint).faults("headers-many", delay=1)
    with pytest.raises(MockError, match="no pieces are told there"):
        engy.when(endpoint=endpoint).faults(pace=5)


def test_rows():
    """The rows say where the endpoints are that there are."""
    assert tuple(SERVED) == ENDPOINTS
    found = {(route.endpoint, route.surface.name) for route in ROUTES}
    assert {(endpoint, surface) for endpoint, surfaces in SERVED.items() for surface in surfaces} == found
    assert {route.endpoint for route in ROUTES if route.page is not None} == set(PAGES)
