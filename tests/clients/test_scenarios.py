"""The shipped scenarios through official clients: what the good client of each description does, copes.

Nobody waits: a wait is noted down, and moves the clock of the mock instead.
"""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

from engy_mock import EngyMock

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]
CHAT: dict[str, Any] = {"model": "glm-5.2", "messages": HELLO, "max_tokens": 60}


@pytest.fixture(scope="module")
def _patient() -> Iterator[list[OpenAI]]:
    kept: list[OpenAI] = []
    yield kept
    for client in kept:
        client.close()


@pytest.fixture
def patient(engy: EngyMock, _patient: list[OpenAI]) -> OpenAI:
    """A client that tries again rather often."""
    if not _patient or str(_patient[0].base_url) != f"{engy.base_url}/":
        _patient[:0] = [OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=20)]
    return _patient[0]


@pytest.fixture
def waits(engy: EngyMock, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long clients waited, by the clock of the mock."""
    noted: list[float] = []

    def wait(seconds: float) -> None:
        noted.append(seconds)
        engy.clock.advance(seconds)

    monkeypatch.setattr(time, "sleep", wait)
    monkeypatch.setattr(time, "time", engy.clock.now)
    return noted


def statuses(engy: EngyMock) -> list[int]:
    """What became of each attempt."""
    return [entry.status for entry in engy.journal]


def text_of(stream: Any) -> str:
    """The text of a stream of chunks."""
    return "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)


@pytest.mark.engy(scenario="busy-hour")
def test_busy_hour(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """Two waits of a second, then the broken stream is asked for anew."""
    with pytest.raises(openai.APIConnectionError):
        text_of(patient.chat.completions.create(**CHAT, stream=True))
    assert waits == [1, 1]
    whole = patient.chat.completions.create(**CHAT).choices[0].message.content
    assert text_of(patient.chat.completions.create(**CHAT, stream=True)) == whole
    assert statuses(engy) == [429, 429, 200, 200, 200]


@pytest.mark.engy(scenario="rate-limit-burst")
def test_rate_limit_burst(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """Four waits as long as told."""
    assert patient.chat.completions.create(**CHAT).choices
    assert waits == [1, 1, 1, 1]
    assert statuses(engy) == [429] * 4 + [200]


@pytest.mark.engy(scenario="retry-after-forms")
def test_retry_after_forms(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """What is a hint is heeded, what is none is not, and a day is too long."""
    with pytest.raises(openai.RateLimitError):
        patient.chat.completions.create(**CHAT)
    assert waits[:4] == [2, 0.25, 0.75, 20]
    # Past, zero, negative, a word, and hints that only a reader of bodies finds: the client's own growing waits.
    assert all(3 <= wait <= 8 for wait in waits[4:])
    assert len(waits) == 11
    assert patient.chat.completions.create(**CHAT).choices
    assert statuses(engy) == [429] * 12 + [200]


@pytest.mark.engy(scenario="spent-quota")
def test_spent_quota(engy: EngyMock, patient: OpenAI):
    """The code says that no further attempt is worth its while."""
    with pytest.raises(openai.RateLimitError) as caught:
        patient.with_options(max_retries=0).chat.completions.create(**CHAT)
    assert (caught.value.code, caught.value.type) == ("insufficient_quota", "insufficient_quota")


@pytest.mark.engy(scenario="cold-start", settings={"hurries_retries": False})
def test_cold_start(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """One wait, as long as the model takes to start."""
    engy.clock.advance(12)
    assert patient.chat.completions.create(**CHAT).choices
    assert waits == [18]
    assert statuses(engy) == [503, 200]


@pytest.mark.engy(scenario="outage")
def test_outage(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """Whoever waits as told is there again when the service is."""
    assert patient.chat.completions.create(**CHAT).choices
    engy.clock.advance(60)
    assert patient.chat.completions.create(**CHAT).choices
    assert statuses(engy)[:13] == [200] + [503] * 12
    assert waits[:12] == [10] * 12
    engy.clock.advance(60)
    assert patient.chat.completions.create(**CHAT).choices
    assert statuses(engy)[-2:] == [200, 200]


@pytest.mark.engy(scenario="rate-limited-tier", settings={"hurries_retries": False})
def test_rate_limited_tier(engy: EngyMock, waits: list[float]):
    """Headers count down; the refusal says when the next minute begins."""
    engy.clock.advance(15)
    with Anthropic(base_url=engy.origin, api_key=engy.api_key) as client:
        left = [
            int(client.messages.with_raw_response.create(**CHAT).headers["anthropic-ratelimit-requests-remaining"])
            for _ in range(12)
        ]
    assert left == [7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4]
    assert waits == [45]


@pytest.mark.engy(scenario="overloaded")
def test_overloaded(engy: EngyMock, waits: list[float]):
    """529 passes like 503."""
    with Anthropic(base_url=engy.origin, api_key=engy.api_key, max_retries=3) as client:
        assert client.messages.create(**CHAT).content
    assert statuses(engy) == [529, 529, 529, 200]


@pytest.mark.engy(scenario="flapping")
def test_flapping(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """A budget of one retry for each request is enough for ever."""
    modest = patient.with_options(max_retries=1)
    assert all(modest.chat.completions.create(**CHAT).choices for _ in range(6))
    assert statuses(engy) == [429, 200, 503, 200] * 3


@pytest.mark.engy(scenario="key-rotation")
def test_key_rotation(engy: EngyMock, patient: OpenAI):
    """The old key is good for three requests, the new one for all that follow."""
    client, answers = patient.with_options(api_key="sk-engy-before-the-rotation"), []
    for _ in range(5):
        try:
            answers.append(client.chat.completions.create(**CHAT))
        except openai.AuthenticationError:
            client = client.with_options(api_key=engy.api_key)
            answers.append(client.chat.completions.create(**CHAT))
    assert len(answers) == 5
    assert statuses(engy) == [200, 200, 200, 401, 200, 200]


@pytest.mark.engy(scenario="credit-runs-out")
def test_credit_runs_out(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """What was paid for is there; the sixth request is tried once."""
    answers = [patient.chat.completions.create(**CHAT) for _ in range(5)]
    with pytest.raises(openai.APIStatusError) as caught:
        patient.chat.completions.create(**CHAT)
    assert all(answer.choices for answer in answers)
    assert (caught.value.status_code, waits) == (402, [])
    assert statuses(engy) == [200] * 5 + [402]


@pytest.mark.engy(scenario="model-retired")
def test_model_retired(engy: EngyMock, patient: OpenAI, waits: list[float]):
    """Another model of the list takes over, without a second attempt at the first."""
    models = ["glm-5.2", "kimi-k3"]
    for _ in range(5):
        try:
            answer = patient.chat.completions.create(**{**CHAT, "model": models[0]})
        except openai.NotFoundError:
            models.pop(0)
            answer = patient.chat.completions.create(**{**CHAT, "model": models[0]})
        assert answer.choices
    assert statuses(engy) == [200, 200, 200, 404, 200, 200]
    assert waits == []
    engy.clock.advance(3600)
    assert "glm-5.2" not in [model.id for model in patient.models.list()]


@pytest.mark.engy(scenario="timeout-in-200")
def test_timeout_in_200(engy: EngyMock, patient: OpenAI):
    """An answer without choices has an error in it, which says what to do."""
    answers: list[Any] = []
    while not answers or answers[-1].choices is None:
        answers.append(patient.chat.completions.create(**CHAT))
    codes = [(answer.model_extra or {}).get("error", {}).get("code") for answer in answers]
    assert codes == [504, 504, None]


@pytest.mark.engy(scenario="tighter-caps")
def test_tighter_caps(engy: EngyMock, patient: OpenAI):
    """The refusal names the limit that a shortened prompt fits into."""
    pages = ["The tide comes in and goes out again. " * 60] * 8

    def ask() -> Any:
        question: Any = [{"role": "user", "content": "".join(pages)}]
        return patient.chat.completions.create(**{**CHAT, "messages": question})

    assert ask().choices
    with pytest.raises(openai.BadRequestError) as caught:
        ask()
    assert caught.value.code == "context_length_exceeded"
    has, most = (int(number) for number in re.findall(r"(\d+) (?:input )?tokens", str(caught.value)))
    del pages[len(pages) * most // has :]
    assert ask().choices
    assert statuses(engy) == [200, 400, 200]


TOOL: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.engy(scenario="tool-call-trouble")
def test_tool_call_trouble(engy: EngyMock, patient: OpenAI):
    """What cannot be run is told to the model, which then does better; nothing is run that was not asked for."""
    tools: list[Any] = [{"type": "function", "function": {"name": "get_weather", "parameters": TOOL}}]
    ran, refused = [], []
    for _ in range(5):
        message = patient.chat.completions.create(**CHAT, tools=tools).choices[0].message
        for call in message.tool_calls or ():
            assert call.type == "function"
            try:
                arguments = json.loads(call.function.arguments)
            except json.JSONDecodeError:
                refused.append("arguments")
                continue
            if call.function.name != "get_weather":
                refused.append(call.function.name)
            elif call.id in ran:
                refused.append("id")
            else:
                ran.append(call.id)
                assert arguments == {"city": "Paris"}
    assert refused[:2] == ["arguments", "arguments"]
    assert refused[3:] == ["id"]
    assert len(ran) == 2
    history: list[Any] = [*HELLO, message, {"role": "tool", "tool_call_id": ran[-1], "content": "12 degrees"}]
    last = patient.chat.completions.create(**{**CHAT, "messages": history}, tools=tools).choices[0].message
    assert last.content == "It is twelve degrees in Paris, with a light wind from the west."


@pytest.mark.engy(scenario="agent-session")
def test_agent_session(engy: EngyMock):
    """An agent that runs what it is told to changes the file, and stops when it is told that it is done."""
    files = {"src/greeting.py": 'def greet():\n    return "Hello!"\n'}

    def run(name: str, given: Any) -> str:
        if name == "read_file":
            return files[given["path"]]
        files[given["path"]] = given["content"]
        return "written"

    tools: list[Any] = [{"name": name, "input_schema": {"type": "object"}} for name in ("read_file", "write_file")]
    turns: list[Any] = [{"role": "user", "content": "Let the greeting take a name."}]
    with Anthropic(base_url=engy.origin, api_key=engy.api_key) as client:
        while True:
            message = client.messages.create(model="glm-5.2", max_tokens=500, messages=turns, tools=tools)
            turns.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if isinstance(block, anthropic.types.ToolUseBlock)]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": run(call.name, call.input)}
                for call in calls
            ]
            turns.append({"role": "user", "content": results})
    assert 'return f"Hello, {name}!"' in files["src/greeting.py"]
    assert [message.stop_reason, len(engy.journal)] == ["end_turn", 3]


@pytest.mark.slow
@pytest.mark.engy(scenario="markdown-tour")
def test_markdown_tour(engy: EngyMock, patient: OpenAI):
    """Twelve stops one after the other, the same by what is asked for, streamed to the letter; then the model."""

    def ask(text: str) -> str:
        question: Any = [{"role": "user", "content": text}]
        stream = patient.chat.completions.create(model="glm-5.2", messages=question, max_tokens=3000, stream=True)
        return text_of(stream)

    subjects = ["headings", "lists", "nested", "tables", "code", "links"]
    subjects += ["quotes", "math", "emoji", "right to left", "long lines", "html"]
    stops = [ask("Next, please!") for _ in subjects]
    assert [ask(f"Show me {subject}.") for subject in subjects] == stops
    assert stops[0].startswith("# The lighthouse")
    assert "| Model     | Context | Price |" in stops[3]
    assert stops[4].count("```python\n") == 1
    assert "e\u0301 is written with two characters, \u00e9 with one" in stops[8]
    assert "\u05e9\u05dc\u05d5\u05dd" in stops[9]
    assert ask("Next, please!") not in stops


@pytest.mark.engy(scenario="refusal-in-stream")
def test_refusal_in_stream(engy: EngyMock, patient: OpenAI):
    """The error comes while the stream is read; nothing has been shown, so the same is asked again."""
    for _ in range(2):
        stream = patient.chat.completions.create(**CHAT, stream=True)
        with pytest.raises(openai.APIError, match="concurrency limit of 4 reached"):
            next(stream)
    assert text_of(patient.chat.completions.create(**CHAT, stream=True)) == engy.journal.last.text
    assert statuses(engy) == [200, 200, 200]


@pytest.mark.engy(scenario="overload-in-stream")
def test_overload_in_stream(engy: EngyMock):
    """An overload inside a stream is an exception whose status tells nothing; asked anew, the answer is whole."""
    with Anthropic(base_url=engy.origin, api_key=engy.api_key, max_retries=0) as client:
        for after in (0, 0, 3):
            with client.messages.stream(**CHAT) as stream, pytest.raises(anthropic.APIStatusError) as caught:
                stream.get_final_text()
            assert caught.value.status_code == 200
            assert engy.journal.last.pieces_sent == after
        with client.messages.stream(**CHAT) as stream:
            assert stream.get_final_text() == engy.journal.last.text


TRIPS = {("bom", "messages"), ("event-without-data", "chat")}
"""What official clients of today do not read, though the standard allows it."""


@pytest.mark.slow
@pytest.mark.engy(scenario="sse-torture")
def test_sse_torture(engy: EngyMock, patient: OpenAI):
    """The official clients read the legal oddities as what they are, all but two."""
    (scene,) = engy.gateway.scenes.stage.scenes

    def read(route: str) -> str:
        if route == "chat":
            return text_of(patient.chat.completions.create(**CHAT, stream=True))
        with client.messages.stream(**CHAT) as stream:
            return stream.get_final_text()

    with Anthropic(base_url=engy.origin, api_key=engy.api_key) as client:
        for rule in scene.rules:
            for route in ("chat", "messages"):
                rule.used = 0
                if (rule.faults[0].kind, route) in TRIPS:
                    with pytest.raises((AssertionError, json.JSONDecodeError)):
                        read(route)
                else:
                    assert read(route) == engy.journal.last.text, (rule.faults, route)
                assert len(engy.journal.last.faults) == len(rule.faults)
    assert "\u2028\u00e9,\x85" in engy.journal.last.text
