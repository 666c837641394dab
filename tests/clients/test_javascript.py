"""JavaScript clients, run by Node.js against a running mock, unmodified but for address and key.

Each script in `tests/js` puts a client through its paces and tells what it found; what it must be is said here,
and where Python's official client gets the same, that is the measure.
"""

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from jsonschema import Draft202012Validator
from openai import OpenAI

from engy_mock import EngyMock

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parents[1] / "js"
OPENAI_PACKAGES = ["openai", "openai-6"]

Node = Callable[..., Any]

HELLO = "Tell me about the weather in the mountains."
CHAT: dict[str, Any] = {"model": "glm-5.2", "messages": [{"role": "user", "content": HELLO}]}
PROMPT: dict[str, Any] = {"model": "glm-5.2", "prompt": "The old bridge", "max_tokens": 9, "logprobs": 3}
RESPONSE: dict[str, Any] = {"model": "glm-5.2", "input": HELLO}
MESSAGE: dict[str, Any] = {**CHAT, "max_tokens": 2000}

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = {"name": "get_weather", "description": "The weather of the next days.", "parameters": WEATHER}


def asked_of_node(mock: EngyMock, script: str, asked: object) -> Any:
    """What a script tells."""
    if not (SCRIPTS / "node_modules").is_dir():
        pytest.fail("the JavaScript clients are missing: run `npm install --prefix tests/js`", pytrace=False)
    done = subprocess.run(
        ["node", "--import", "./fence.mjs", f"{script}.mjs"],
        cwd=SCRIPTS,
        env={
            **os.environ,
            "OPENAI_BASE_URL": mock.base_url,
            "OPENAI_API_KEY": mock.api_key,
            "ANTHROPIC_BASE_URL": mock.origin,
            "ANTHROPIC_API_KEY": mock.api_key,
        },
        input=json.dumps(asked),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def mock() -> Iterator[EngyMock]:
    with EngyMock() as mock:
        yield mock


@pytest.fixture(scope="module")
def node(mock: EngyMock) -> Node:
    """Run a script, once for all tests that ask the same."""
    told: dict[str, Any] = {}

    def run(script: str, **asked: object) -> Any:
        key = json.dumps([script, asked])
        if key not in told:
            told[key] = asked_of_node(mock, script, asked)
        return told[key]

    return run


@pytest.fixture(scope="module")
def openai(mock: EngyMock) -> Iterator[OpenAI]:
    with OpenAI(base_url=mock.base_url, api_key=mock.api_key, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def anthropic(mock: EngyMock) -> Iterator[Anthropic]:
    with Anthropic(base_url=mock.origin, api_key=mock.api_key, max_retries=0) as client:
        yield client


def fits(arguments: Any) -> None:
    """The arguments are what the schema of the weather asks for."""
    Draft202012Validator(WEATHER).validate(arguments)


def is_a_trip(found: Any) -> bool:
    """The object that the scripts ask for in their own schema language."""
    return (
        set(found) == {"city", "days", "stops"}
        and isinstance(found["city"], str)
        and isinstance(found["days"], int)
        and all(isinstance(stop, str) for stop in found["stops"])
    )


def test_scripts_stay_on_this_machine(mock: EngyMock):
    """A script that reaches for another machine fails, whatever the client makes of the error."""
    with pytest.raises(AssertionError, match=r"wanted to reach engy\.example"):
        asked_of_node(mock, "nowhere", {})


class TestChat:
    """The `openai` package on chat, completions and models."""

    @pytest.fixture(params=OPENAI_PACKAGES)
    def told(self, node: Node, request: pytest.FixtureRequest) -> Any:
        return node("openai-chat", client=request.param, chat=CHAT, prompt=PROMPT, tool=TOOL)

    def test_whole(self, told: Any, openai: OpenAI):
        """Choices, usage and charge are those that Python gets; the request id is where the client looks."""
        here = openai.chat.completions.create(**CHAT).to_dict()
        for name in ("object", "created", "model", "choices", "usage"):
            assert told["whole"][name] == here[name]
        usage = told["whole"]["usage"]
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        assert told["whole"]["x_engy"]["request_id"] == told["requestId"]
        assert told["whole"]["id"] == "chatcmpl-" + told["requestId"][:24]

    def test_streamed(self, told: Any, openai: OpenAI):
        """Chunk for chunk what Python gets, and together the whole answer."""
        options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
        here = [chunk.to_dict() for chunk in openai.chat.completions.create(**CHAT, **options)]
        there = told["chunks"]
        assert [chunk["choices"] for chunk in there] == [chunk["choices"] for chunk in here]
        assert there[-1]["usage"] == told["whole"]["usage"]
        deltas = [choice["delta"] for chunk in there for choice in chunk["choices"]]
        message = told["whole"]["choices"][0]["message"]
        assert "".join(delta.get("content", "") for delta in deltas) == message["content"]
        assert "".join(delta.get("reasoning_content", "") for delta in deltas) == message["reasoning_content"]
        assert [choice["finish_reason"] for choice in there[-2]["choices"]] == ["stop"]

    def test_stream_helper(self, told: Any):
        """`.stream()` gathers the whole answer, tells its pieces, and adds up the usage."""
        helper, (choice,) = told["helper"], told["whole"]["choices"]
        assert helper["final"]["choices"][0]["message"]["content"] == choice["message"]["content"]
        assert "".join(helper["pieces"]) == choice["message"]["content"]
        assert len(helper["pieces"]) > 10
        assert helper["final"]["choices"][0]["finish_reason"] == "stop"
        # Version 6 adds up the totals alone.
        assert helper["usage"].items() <= told["whole"]["usage"].items()
        assert set(helper["usage"]) >= {"prompt_tokens", "completion_tokens", "total_tokens"}

    def test_parse(self, told: Any):
        """`.parse()` with a zod schema gives an object that the schema takes, bounds included."""
        assert is_a_trip(told["parsed"])
        assert 1 <= told["parsed"]["days"] <= 9

    def test_run_tools(self, told: Any):
        """`.runTools()` calls the function with arguments that fit, and hands the result back."""
        (arguments,) = told["run"]["calls"]
        fits(arguments)
        asked, called, result = told["run"]["messages"]
        assert asked == CHAT["messages"][0]
        (call,) = called["tool_calls"]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
            "get_weather",
            arguments,
        )
        assert call["id"].startswith("call_")
        assert result == {"role": "tool", "tool_call_id": call["id"], "content": "Sunny."}

    def test_completions(self, told: Any, openai: OpenAI):
        """The raw text and each of its log probabilities are those that Python gets."""
        here = openai.completions.create(**PROMPT).to_dict()
        assert told["raw"]["choices"] == here["choices"]
        assert told["raw"]["usage"] == here["usage"]
        assert len(told["raw"]["choices"][0]["logprobs"]["tokens"]) > 0

    def test_models(self, told: Any, openai: OpenAI):
        """The list, as an iterator."""
        assert told["models"] == [model.to_dict() for model in openai.models.list()]


class TestResponses:
    """The `openai` package on responses."""

    @pytest.fixture(params=OPENAI_PACKAGES)
    def told(self, node: Node, request: pytest.FixtureRequest) -> Any:
        return node("openai-responses", client=request.param, request=RESPONSE, tool={"type": "function", **TOOL})

    def test_whole(self, told: Any, openai: OpenAI):
        """The text is that of chat, in Python and here."""
        here = openai.chat.completions.create(**CHAT)
        usage = told["whole"]["usage"]
        assert told["text"] == here.choices[0].message.content
        assert told["whole"]["status"] == "completed"
        assert told["whole"]["id"] == "resp_" + told["requestId"][:24]
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] == here.usage.total_tokens

    def test_streamed(self, told: Any):
        """The pieces are the text, and the last event has the whole response."""
        events = told["events"]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
        assert "".join(deltas) == told["text"]
        assert events[-1]["type"] == "response.completed"
        assert events[-1]["response"]["usage"] == told["whole"]["usage"]

    def test_stream_helper(self, told: Any):
        """`.stream()` follows every event and ends with the whole response."""
        assert told["helper"]["kinds"] == [event["type"] for event in told["events"]]
        assert told["helper"]["final"]["output_text"] == told["text"]
        assert told["helper"]["final"]["usage"] == told["whole"]["usage"]

    def test_parse_and_tools(self, told: Any):
        """A zod schema gets its object, a demanded tool its arguments."""
        assert is_a_trip(told["parsed"])
        (call,) = [item for item in told["called"]["output"] if item["type"] == "function_call"]
        assert call["name"] == "get_weather"
        fits(json.loads(call["arguments"]))


class TestMessages:
    """The `@anthropic-ai/sdk` package."""

    @pytest.fixture
    def told(self, node: Node) -> Any:
        tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": WEATHER}
        return node("anthropic", request=MESSAGE, tool=tool)

    def test_whole(self, told: Any, anthropic: Anthropic):
        """Blocks and usage are those that Python gets; the request id is where the client looks."""
        here = anthropic.messages.create(**MESSAGE).to_dict()
        for name in ("type", "role", "model", "content", "stop_reason", "usage"):
            assert told["whole"][name] == here[name]
        assert [block["type"] for block in told["whole"]["content"]] == ["thinking", "text"]
        assert told["whole"]["id"] == "msg_" + told["requestId"][:24]

    def test_streamed(self, told: Any, anthropic: Anthropic):
        """Event for event what Python gets, but for the id."""
        here = [event.to_dict() for event in anthropic.messages.create(**MESSAGE, stream=True)]
        assert told["events"][1:] == here[1:]
        assert {**told["events"][0]["message"], "id": ""} == {**here[0]["message"], "id": ""}

    def test_stream_helper(self, told: Any):
        """`.stream()` gathers the whole message and tells text, thoughts and signature."""
        helper, whole = told["helper"], told["whole"]
        assert helper["final"]["content"] == whole["content"]
        assert helper["final"]["usage"] == whole["usage"]
        assert helper["final"]["stop_reason"] == "end_turn"
        thinking, text = whole["content"]
        assert "".join(helper["texts"]) == text["text"]
        assert "".join(helper["thoughts"]) == thinking["thinking"]
        assert helper["signatures"] == [thinking["signature"]]
        assert helper["final"]["id"] == "msg_" + helper["requestId"][:24]

    def test_tools(self, told: Any):
        """Inputs fit, streamed and whole alike, and the result of a tool leads to an answer."""
        called, calling = told["tools"]["called"], told["tools"]["calledInAStream"]
        assert called["stop_reason"] == calling["stop_reason"] == "tool_use"
        use, streamed = called["content"][-1], calling["content"][-1]
        assert use["id"].startswith("toolu_")
        assert (use["name"], use["input"]) == (streamed["name"], streamed["input"])
        fits(use["input"])
        assert json.loads("".join(told["helper"]["inputs"])) == use["input"]
        assert told["tools"]["answered"]["stop_reason"] == "end_turn"
        assert told["tools"]["answered"]["content"][-1]["type"] == "text"

    def test_the_rest(self, told: Any):
        """A zod schema gets its object; thinking can be forbidden; counted tokens are those of the answer."""
        assert is_a_trip(told["parsed"])
        assert [block["type"] for block in told["thoughtless"]["content"]] == ["text"]
        assert told["counted"] == {"input_tokens": told["whole"]["usage"]["input_tokens"]}


class TestAiSdk:
    """The AI SDK through its OpenAI-compatible and its Anthropic provider."""

    @pytest.fixture(params=["chat", "messages"])
    def route(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def told(self, node: Node, mock: EngyMock, route: str) -> Any:
        return node("ai-sdk", baseURL=mock.base_url, apiKey=mock.api_key, model="glm-5.2", prompt=HELLO)[route]

    @pytest.mark.parametrize("way", ["whole", "stream"])
    def test_text(self, told: Any, way: str, openai: OpenAI):
        """`generateText` and `streamText`: text, reasoning, finish reason and usage are those that Python gets."""
        here = openai.chat.completions.create(**CHAT, max_tokens=2000)
        message, found, usage = here.choices[0].message, told[way], told[way]["usage"]
        assert found["text"] == message.content
        assert found["reasoning"] == message.model_extra["reasoning_content"]
        assert found["finishReason"] == "stop"
        assert usage["inputTokens"] == here.usage.prompt_tokens
        assert usage["outputTokens"] == here.usage.completion_tokens
        assert usage["totalTokens"] == here.usage.total_tokens
        assert found["modelId"] == "glm-5.2"
        assert found["warnings"] == []

    def test_ids_and_details(self, told: Any, route: str):
        """The answer's id is told; chat tells how many tokens were reasoning, messages do not (E-170)."""
        assert told["whole"]["id"].startswith({"chat": "chatcmpl-", "messages": "msg_"}[route])
        details = told["whole"]["usage"]["outputTokenDetails"]
        if route == "chat":
            assert details["reasoningTokens"] > 0
            assert details["textTokens"] + details["reasoningTokens"] == told["whole"]["usage"]["outputTokens"]

    def test_parts_of_a_stream(self, told: Any):
        """The full stream tells reasoning, then text, in pieces, and no error."""
        parts = told["stream"]["parts"]
        order = list(dict.fromkeys(part["type"] for part in parts))
        assert order == [
            "start",
            "start-step",
            "reasoning-start",
            "reasoning-delta",
            "reasoning-end",
            "text-start",
            "text-delta",
            "text-end",
            "finish-step",
            "finish",
        ]
        for kind, whole in (("text-delta", "text"), ("reasoning-delta", "reasoning")):
            pieces = [part["text"] for part in parts if part["type"] == kind]
            assert len(pieces) > 10
            assert "".join(pieces) == told["whole"][whole]

    def test_tools(self, told: Any):
        """A tool is executed with arguments that fit, in each step, whole and streamed."""
        assert len(told["called"]) == 2
        for step in (*told["called"], told["calledInAStream"]):
            assert step["finishReason"] == "tool-calls"
            (call,), (result,) = step["toolCalls"], step["toolResults"]
            assert call["toolName"] == "weather"
            assert not call.get("invalid")
            assert 1 <= call["input"]["days"] <= 7
            assert result["output"] == f"Sunny in {call['input']['city']}."
        first = told["called"][0]["toolCalls"][0]["input"]
        assert told["calledInAStream"]["toolCalls"][0]["input"] == first

    def test_structured(self, told: Any):
        """An object of the schema, the same whole and streamed."""
        found = told["structured"]
        assert "@" in found["email"]
        assert len(found["stops"]) >= 2
        assert told["structuredInAStream"] == {"last": found, "final": found}

    def test_cut(self, told: Any):
        """The limit is a finish reason of its own."""
        assert told["cut"]["finishReason"] == "length"
        assert told["cut"]["usage"]["outputTokens"] == 3


KINDS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    402: "APIError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    409: "ConflictError",
    413: "APIError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    500: "InternalServerError",
    502: "InternalServerError",
    503: "InternalServerError",
    504: "InternalServerError",
    529: "InternalServerError",
}
"""The class that OpenAI's client has for a status."""

ANTHROPIC_KINDS = {
    **KINDS,
    402: "PaymentRequiredError",
    413: "ContentTooLargeError",
    503: "ServiceUnavailableError",
    504: "GatewayTimeoutError",
    529: "OverloadedError",
}

RETRIED = {409, 429, 500, 502, 503, 504, 529}


@pytest.fixture(scope="module")
def told_of_refusals() -> dict[tuple[str, int, bool], tuple[Any, int]]:
    """What each client made of each refusal, and how many attempts it made."""
    names = [*OPENAI_PACKAGES, "responses", "anthropic", "ai-chat", "ai-messages"]
    keys = [(name, status, stream) for name in names for status in KINDS for stream in (False, True)]
    questions: list[dict[str, Any]] = [
        {"client": name, "stream": stream, "content": f"{name} gets {status}, streamed: {stream}"}
        for name, status, stream in keys
    ]
    with EngyMock() as mock:
        for status in KINDS:
            mock.when(says=f"gets {status},").refuse(status, f"as told: {status}", headers={"retry-after-ms": "1"})
        asked = {"baseURL": mock.base_url, "apiKey": mock.api_key, "questions": questions}
        found = asked_of_node(mock, "refusals", asked)
        texts = [entry.request.last_user_text for entry in mock.journal if entry.request is not None]
    attempts = [texts.count(question["content"]) for question in questions]
    return dict(zip(keys, zip(found, attempts, strict=True), strict=True))


class TestRefusals:
    """Every status on every route, through each client as it comes, which tries again."""

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("status", KINDS)
    @pytest.mark.parametrize("client", [*OPENAI_PACKAGES, "responses", "anthropic"])
    def test_official(self, told_of_refusals: Any, client: str, status: int, stream: bool):
        """The class of the status, with message, type and request id; what may pass is tried three times."""
        error, attempts = told_of_refusals[client, status, stream]
        kinds = ANTHROPIC_KINDS if client == "anthropic" else KINDS
        assert (error["kind"], error["status"]) == (kinds[status], status)
        assert f"as told: {status}" in error["message"]
        assert len(error["requestId"]) == 32
        assert error["type"]
        assert attempts == (3 if status in RETRIED else 1)

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("status", KINDS)
    @pytest.mark.parametrize("client", ["ai-chat", "ai-messages"])
    def test_ai_sdk(self, told_of_refusals: Any, client: str, status: int, stream: bool):
        """One class for all, with status, the very message and the headers; attempts as above."""
        error, attempts = told_of_refusals[client, status, stream]
        assert (error["name"], error["status"]) == ("AI_APICallError", status)
        assert error["message"] == f"as told: {status}"
        assert len(error["requestId"]) == 32
        assert error["isRetryable"] is (status in RETRIED)
        assert error.get("wrapper") == ("AI_RetryError" if status in RETRIED else None)
        assert attempts == (3 if status in RETRIED else 1)


REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("chat", CHAT),
    ("chat", {**CHAT, "stream": True, "stream_options": {"include_usage": True}, "logprobs": True}),
    ("chat", CHAT),
    ("chat", {"model": "kimi-k3", "messages": [{"role": "user", "content": "Gr\u00fc\u00dfe \U0001f389 \u2028"}]}),
    ("chat", {**CHAT, "stream": True, "temperature": 0.7, "seed": 5, "stop": ["."]}),
    ("completions", PROMPT),
    ("completions", {**PROMPT, "prompt": ["The old bridge", "A ship"], "echo": True}),
    ("responses", RESPONSE),
    ("responses", {**RESPONSE, "stream": True}),
)


@pytest.fixture(scope="module")
def bodies() -> list[bytes]:
    """The bodies of the answers as they come to Python."""
    with EngyMock(seed=7) as mock, OpenAI(base_url=mock.base_url, api_key=mock.api_key) as client:
        places: dict[str, Any] = {
            "chat": client.chat.completions,
            "completions": client.completions,
            "responses": client.responses,
        }
        found = []
        for place, request in REQUESTS:
            if request.get("stream"):
                with places[place].with_streaming_response.create(**request) as answer:
                    found.append(b"".join(answer.iter_bytes()))
            else:
                found.append(places[place].with_raw_response.create(**request).content)
        return found


@pytest.mark.parametrize("package", OPENAI_PACKAGES)
def test_same_bytes(bodies: list[bytes], package: str):
    """Two fresh mocks of one seed, a client in Python and one in JavaScript: the same bodies, ids included."""
    with EngyMock(seed=7) as mock:
        told = asked_of_node(mock, "bytes", {"client": package, "requests": REQUESTS})
    there = [base64.b64decode(body) for body in told]
    assert there == bodies
    assert all(b"x_engy" in body for body in there)
    assert len(set(there)) == len(there)
