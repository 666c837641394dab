"""A cassette becomes a scenario that passes the check and gives the same answers."""

import json
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai import OpenAI

from engy_mock import EngyMock, ToolCall
from engy_mock.cli import main
from tests.recording.test_record import CHAT, POSTS, post

TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def made(recorder, tmp_path):
    path = tmp_path / "made.yaml"
    assert main(["scenarios", "from-cassette", str(recorder.tape.path), "--out", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    return path


def said(answer, path):
    """What an answer says, without what is made up anew."""
    if "text/event-stream" in answer.headers["content-type"]:
        from engy_mock.recording.said import of_stream
        from engy_mock.recording.stream import moments, payload

        told, _ = of_stream([payload(one.data.decode()) for one in moments([(0, answer.content)])])
        return told.plain(), told.usage
    from engy_mock.recording.said import of_body

    told = of_body(answer.json())
    return told.plain(), told.usage


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in POSTS if case != "count_tokens"])
def test_every_dialect(service, recorder, tmp_path, capsys, case):
    """Text, reasoning, why it ended and the counts are the same; refusals are refused alike."""
    path, body = POSTS[case]
    before = post(recorder, path, body)
    scenario = made(recorder, tmp_path)
    with EngyMock(seed=99, scenarios=scenario) as engy:
        again = post(At(engy), path, body, authorization=f"Bearer {engy.api_key}")
    assert again.status_code == before.status_code
    if before.status_code == 200:
        assert said(again, path) == said(before, path)
        assert said(again, path)[0]
        assert engy.journal.last.rule == "scenario made, rule 1"
    else:
        assert again.json() == before.json()


def test_a_conversation_with_tools(service, recorder, tmp_path, capsys):
    """Ask, call, answer, and the same question again: each gets what it got then."""
    service.when(tool_result=False).reply(tool_calls=[ToolCall("f", x=1)], times=1)
    service.when(tool_result=True).reply("It is\none.\n\nYes: 'one'.", times=1)
    service.when().refuse(503, "later", retry_after=2, times=1)
    service.when(says="Count").reply("1", faults=[{"kind": "reset", "after": 1}])

    def talk(base_url, key):
        heard: list[Any] = []
        with OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
            messages: Any = [{"role": "user", "content": "What is it?"}]
            first = client.chat.completions.create(model="glm-5.2", messages=messages, tools=TOOLS)
            call = first.choices[0].message.tool_calls[0]
            heard.append((call.id, call.function.name, call.function.arguments))
            messages += [
                first.choices[0].message,
                {"role": "tool", "tool_call_id": call.id, "content": "1"},
            ]
            heard.append(client.chat.completions.create(model="glm-5.2", messages=messages, tools=TOOLS))
            heard[-1] = heard[-1].choices[0].message.content
            with pytest.raises(openai.InternalServerError) as refused:
                client.chat.completions.create(**CHAT)
            heard.append((refused.value.message, refused.value.response.headers["retry-after"]))
            stream = client.chat.completions.create(
                model="glm-5.2", messages=[{"role": "user", "content": "Count"}], stream=True
            )
            told = (choice.delta.content for chunk in stream for choice in chunk.choices)
            with pytest.raises(openai.APIConnectionError):
                heard.extend(told)
        return heard

    before = talk(recorder.base_url, "any")
    scenario = made(recorder, tmp_path)
    assert "It is\n" in scenario.read_text(encoding="utf-8")
    with EngyMock(scenarios=scenario) as engy:
        assert talk(engy.base_url, engy.api_key) == before


def test_what_is_left_out_is_told(service, recorder, tmp_path, capsys):
    """Pages and models that the mock lacks are named; the scenario is printed without --out."""
    post(recorder, *POSTS["count_tokens"])
    service.catalog.add(replace(next(iter(service.catalog)), id="mine"))
    post(recorder, "/v1/chat/completions", {**CHAT, "model": "mine"})
    assert main(["scenarios", "from-cassette", str(recorder.tape.path)]) == 0
    told = capsys.readouterr()
    assert "exchange 1 asks no model" in told.err
    assert "no model 'mine'" in told.err
    assert told.out.startswith("description:")
    assert json.dumps("mine") in told.out


def test_an_empty_cassette_is_no_scenario(recorder, capsys):
    """There is nothing to make one of."""
    assert main(["scenarios", "from-cassette", str(recorder.tape.path)]) == 1
    assert "no answer of a model" in capsys.readouterr().err


V5_HELLO = {"model": "openai/gpt-4o", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
SEVERAL: list[tuple[str, Any, int]] = [
    ("/v1/completions", {"model": "glm-5.2", "prompt": ["The sea", "A bridge"], "max_tokens": 6}, 2),
    ("/v5/completions", {"model": "openai/gpt-4o", "prompt": ["a", "b"], "n": 2, "max_tokens": 9}, 4),
    ("/v5/chat/completions", {**V5_HELLO, "n": 3}, 3),
    ("/v5/chat/completions", {**V5_HELLO, "n": 3, "stream": True}, 3),
]


@pytest.fixture
def both(service, record):
    """A recorder for both surfaces, and how to ask it."""
    recorder = record(service.origin)
    return recorder, lambda path, body: post(recorder, path, body, **{"x-api-key": "sk-of-the-client-0815"})


@pytest.mark.parametrize(
    ("path", "body", "count"), [SEVERAL[0], *[pytest.param(*one, marks=pytest.mark.slow) for one in SEVERAL[1:]]]
)
def test_choices_that_differ_are_not_dropped_one_by_one(both, capsys, path, body, count):
    """A rule has one answer: an exchange with several is left out as a whole, which is said."""
    recorder, ask = both
    ask(path, body)
    ask("/v1/chat/completions", CHAT)
    assert main(["scenarios", "from-cassette", str(recorder.tape.path)]) == 0
    told = capsys.readouterr()
    assert (
        f"exchange 1 has {count} choices that differ, of which a rule could give one, and is left out" in told.err
    )
    assert told.out.count("- when:") == 1


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_choices_that_are_alike_are_given(service, both, tmp_path, capsys, stream):
    """All choices of a dictated answer are the same, recorded and given."""
    recorder, ask = both
    service.when().reply("The same.")
    path, body = "/v5/chat/completions", {**V5_HELLO, "n": 3, "stream": stream}
    before = ask(path, body)
    with EngyMock(scenarios=made(recorder, tmp_path)) as engy:
        again = post(At(engy), path, body, **{"x-api-key": engy.api_key})
        assert engy.journal.last.rule == "scenario made, rule 1"
    assert again.text.count("same") == before.text.count("same") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "args"),
    [
        ({"response": {"labels": ["a", 1], "score": None}}, {"a": 1}),
        ({"response": None}, {"a": 1}),
        ({"response": [1]}, {"a": 1, "stream": True}),
        ({"text": "One two three."}, {"a": 1}),
        ({"text": "One two three."}, {"a": 1, "stream": True}),
    ],
)
def test_an_inference_has_a_response(service, both, tmp_path, capsys, reply, args):
    """A whole answer is given as one value, a stream of texts as its text (S-74)."""
    recorder, ask = both
    service.when(endpoint="inference").reply(**reply)
    body = {"model": "openai/gpt-4o", "args": args}
    before = ask("/v5/inference", body)
    with EngyMock(scenarios=made(recorder, tmp_path)) as engy:
        again = post(At(engy), "/v5/inference", body, **{"x-api-key": engy.api_key})
    assert before.status_code == 200
    assert again.content == before.content


class At:
    """What `post` needs to know of a mock."""

    def __init__(self, engy):
        self.origin = engy.origin
