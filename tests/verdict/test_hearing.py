"""What clients hand over as what they got: objects of the official SDKs, their plain forms, chunks, exceptions."""

import anthropic
import openai
import pytest

from engy_mock import MockError
from engy_mock.verdict.hearing import heard

QUESTION = [{"role": "user", "content": "Hello"}]
TEXT = "one two three"


@pytest.fixture
def clients(engy):
    """The official clients, without a socket."""
    http = engy.http_client()
    engy.when(says="Hello").reply(TEXT)
    return (
        openai.OpenAI(base_url=engy.base_url, api_key=engy.api_key, http_client=http),
        anthropic.Anthropic(base_url=engy.origin, api_key=engy.api_key, http_client=http),
    )


def chat(clients, **more):
    return clients[0].chat.completions.create(model="glm-5.2", messages=QUESTION, reasoning_effort="none", **more)


def completion(clients, **more):
    return clients[0].completions.create(model="glm-5.2", prompt="Hello", **more)


def response(clients, **more):
    return clients[0].responses.create(model="glm-5.2", input="Hello", reasoning={"effort": "none"}, **more)


def message(clients, **more):
    return clients[1].messages.create(model="glm-5.2", messages=QUESTION, max_tokens=500, **more)


CREATED = [
    (create, form)
    for create in (chat, completion, response, message)
    for form in ("object", "dump", "stream")
    if form != "stream" or create is not completion  # the service streams no completions
]


@pytest.mark.parametrize(("create", "form"), CREATED, ids=lambda one: getattr(one, "__name__", one))
def test_answers_of_the_official_clients(engy, clients, create, form):
    """The text and the end of an answer, as an object, as plain values, and as the chunks of a stream."""
    said = list(create(clients, stream=True)) if form == "stream" else create(clients)
    if form == "dump":
        said = said.model_dump()
    found = heard(said, None, None)
    assert found.texts == (TEXT,)
    assert found.finish is not None or form == "stream"
    assert found.error is None
    assert engy.heard(said) is said
    assert engy.verdict(fail_level="warning").check().outcomes == {"answered": 1}


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("text", ("text",)),
        (b"text", ("text",)),
        (None, ("",)),
        (["one ", "two"], ("one two",)),
        ({"choices": None}, ("",)),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, ("No.",)),
        ({"choices": [{"text": "a", "index": 1}, {"text": "b", "index": 0}]}, ("a", "b")),
        ({"object": "generic_inference", "response": {"output": "text"}}, ("text",)),
        ({"error": {"message": "x"}}, ("",)),
    ],
)
def test_plain_forms(said, texts):
    assert tuple(sorted(heard(said, None, None).texts)) == texts


def test_tool_calls_are_named():
    call = {"function": {"name": "get_weather", "arguments": "{}"}}
    assert heard({"choices": [{"message": {"tool_calls": [call]}}]}, None, None).tool_calls == ("get_weather",)
    assert heard({"content": [{"type": "tool_use", "name": "f"}]}, None, None).tool_calls == ("f",)


def test_errors_of_the_official_clients(engy, clients):
    """The classes, the words and the status of an error, and the id of its request."""
    engy.when(says="Goodbye").refuse(402)
    question = [{"role": "user", "content": "Goodbye"}]
    with pytest.raises(openai.APIStatusError) as caught:
        clients[0].chat.completions.create(model="glm-5.2", messages=question, max_tokens=3)
    found = heard(caught.value, None, None)
    assert found.error.kinds[:3] == ("APIStatusError", "APIError", "OpenAIError")
    assert found.error.statuses == (402,)
    assert "402" in found.error.says
    assert engy.journal.last.request_id in found.ids


@pytest.mark.parametrize("wrong", [{"said": 7}, {"error": "text"}, {"said": "x", "of": 7}])
def test_what_cannot_be_heard(engy, wrong):
    with pytest.raises(MockError):
        engy.heard(wrong.pop("said", None), **wrong)


@pytest.mark.parametrize("said", ["x", "", {"choices": []}])
def test_an_answer_and_an_error_at_once(engy, said):
    """Which of both the caller got, nobody can know; None beside an error is nothing."""
    with pytest.raises(MockError, match="not both"):
        engy.heard(said, error=ValueError("no"))
    assert engy.journal.heard == ()
    assert engy.heard(None, error=ValueError("no")) is None
    assert engy.journal.heard[0].error is not None


def test_nothing_said(engy):
    with pytest.raises(MockError, match="what the client has got"):
        engy.heard()
