"""What clients in the field have stumbled over does not happen here: the normal mode, on real streams."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from engy_mock.gateway import Gateway
from engy_mock.scripting.matchers import conditions
from engy_mock.scripting.rules import Rule
from engy_mock.vocabulary.generation import Reply
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.wire import Begin, Call, Whole, Write

HEADERS = {"host": "localhost", "authorization": "Bearer sk-engy-x", "content-type": "application/json"}
HELLO = [{"role": "user", "content": "Tell me about rivers and bridges."}]
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("a", "b")]
CALLS = Reply(text="Wait.", tool_calls=(ToolCall("a", x=1), ToolCall("b")))


def tell(path: str, body: Mapping[str, Any], reply: Reply | None = None) -> tuple[int, bytes]:
    """Status and body of one call, whole or streamed."""
    gateway = Gateway()
    if reply is not None:
        gateway.script.add(Rule(description="all", conditions=(), answers=(reply,)))
    status, data = 0, b""
    for step in gateway.answer(Call(method="POST", path=path, headers=HEADERS, body=json.dumps(body).encode())):
        match step:
            case Whole():
                status, data = step.head.status, step.body
            case Begin():
                status = step.head.status
            case Write():
                data += step.data
    return status, data


def chat(reply: Reply | None = None, **extra: Any) -> Any:
    """A whole chat answer."""
    status, data = tell("/v1/chat/completions", {"model": "glm-5.2", "messages": HELLO, **extra}, reply)
    assert status == 200
    return json.loads(data)


def chunks(reply: Reply | None = None, **extra: Any) -> list[Any]:
    """The chunks of a chat stream, without its end mark."""
    body = {"model": "glm-5.2", "messages": HELLO, "stream": True, **extra}
    status, data = tell("/v1/chat/completions", body, reply)
    assert status == 200
    *events, end, rest = data.decode().split("\n\n")
    assert (end, rest) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


STREAMS: list[Any] = [
    pytest.param({}, None, id="plain"),
    pytest.param({"stream_options": {"include_usage": True}}, None, id="usage"),
    pytest.param({"max_tokens": 5}, None, id="cut"),
    pytest.param({"tools": TOOLS}, CALLS, id="tools"),
    pytest.param({"logprobs": True, "top_logprobs": 2, "reasoning_effort": "none"}, None, id="logprobs"),
]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_framing(path):
    """R-8, R-2: every event is one line or two and an empty one; no `id:`, no `retry:`; all data parses."""
    own = {"input": "Hello"} if path.endswith("responses") else {"messages": HELLO}
    _, data = tell(path, {"model": "glm-5.2", "max_tokens": 200, "stream": True, **own})
    text = data.decode()
    form = r"(data: .*\n\n)+" if path.endswith("completions") else r"(event: .*\ndata: .*\n\n)+"
    assert re.fullmatch(form, text)
    payloads = re.findall(r"^data: (.*)$", text, re.MULTILINE)
    assert all(payload == "[DONE]" or json.loads(payload) for payload in payloads)


@pytest.mark.parametrize(("extra", "reply"), STREAMS)
def test_the_choices_of_a_stream(extra, reply):
    """R-11 to R-16, R-31, R-35: role first and once, reasoning before text, one finish on an empty delta."""
    told = [chunk["choices"][0] for chunk in chunks(reply, **extra) if chunk["choices"]]
    deltas = [choice["delta"] for choice in told]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert not any("role" in delta for delta in deltas[1:])
    assert [choice["finish_reason"] for choice in told[:-1]] == [None] * (len(told) - 1)
    assert told[-1]["finish_reason"] in {"stop", "length", "tool_calls"}
    assert deltas[-1] == {}
    order = ["reasoning_content" in delta for delta in deltas[1:-1]]
    assert order == sorted(order, reverse=True)


def test_tool_calls_of_a_stream():
    """R-17 to R-21: indexes from 0, identity in the first delta alone, arguments that parse."""
    deltas = [c["choices"][0]["delta"] for c in chunks(CALLS, tools=TOOLS) if c["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [call["index"] for call in calls] == [0, 1]
    assert [call["function"]["name"] for call in calls] == ["a", "b"]
    assert len({call["id"] for call in calls}) == 2
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"x": 1}, {}]
    whole = chat(CALLS, tools=TOOLS)["choices"][0]["message"]["tool_calls"]
    assert not any("index" in call for call in whole)


@pytest.mark.parametrize(("extra", "reply"), STREAMS)
def test_usage_of_a_stream(extra, reply):
    """R-23 to R-26: counts only where they were asked for, in one chunk of their own at the end."""
    told = chunks(reply, **extra)
    assert all("choices" in chunk for chunk in told)
    with_usage = [place for place, chunk in enumerate(told) if "usage" in chunk]
    without_choices = [place for place, chunk in enumerate(told) if not chunk["choices"]]
    expected = [len(told) - 1] if "stream_options" in extra else []
    assert with_usage == without_choices == expected


def test_whole_answers():
    """R-27 to R-30, R-32, R-33: counts, object, index, whole seconds, documented fields, choices at the top."""
    answer = chat()
    assert list(answer) == ["id", "object", "created", "model", "choices", "usage", "x_engy"]
    assert answer["object"] == "chat.completion"
    assert type(answer["created"]) is int
    assert answer["choices"][0]["index"] == 0
    names = ["prompt_tokens", "completion_tokens", "total_tokens"]
    assert list(answer["usage"])[:3] == names
    for path, own in (("/v1/messages", {"messages": HELLO, "max_tokens": 9}), ("/v1/responses", {"input": "Hi"})):
        usage = json.loads(tell(path, {"model": "glm-5.2", **own})[1])["usage"]
        assert {"input_tokens", "output_tokens"} <= set(usage)
        assert not set(names[:2]) & set(usage)


def test_streams_are_refused_where_there_are_none():
    """R-34: an envelope with status 400."""
    status, data = tell("/v1/completions", {"model": "glm-5.2", "prompt": "x", "stream": True})
    assert (status, json.loads(data)["error"]["param"]) == (400, "stream")


def test_histories_with_and_without_reasoning():
    """R-36, E-138: both are taken, as are calls that do not parse and histories without tools."""
    for past in (
        {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."},
        {"role": "assistant", "content": "Yes."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{broken"}}],
        },
        {"role": "assistant", "content": "<tool_call>f</tool_call>"},
    ):
        assert chat(messages=[*HELLO, past, {"role": "user", "content": "Go on."}])["choices"]


def test_errors_name_the_field():
    """R-37: an unknown model is told in `error`, with its `param`."""
    status, data = tell("/v1/chat/completions", {"model": "nope", "messages": HELLO})
    error = json.loads(data)["error"]
    assert (status, error["param"], list(error)) == (404, "model", ["message", "type", "param", "code"])


def test_bytes_and_tokens_are_not_confused():
    """R-43: too many tokens are 400 with the code for it; 413 is for bytes alone."""
    status, data = tell("/v1/chat/completions", {"model": "qwen3.6-35b-a3b", "messages": HELLO, "max_tokens": 1})
    assert status == 200
    long = [{"role": "user", "content": "a " * 210_000}]
    status, data = tell("/v1/chat/completions", {"model": "qwen3.6-35b-a3b", "messages": long})
    assert (status, json.loads(data)["error"]["code"]) == (400, "context_length_exceeded")


def test_log_probabilities_by_route():
    """R-47, R-48: parallel lists of equal length on completions, a list of entries on chat."""
    raw = {"model": "glm-5.2", "prompt": "The old bridge", "max_tokens": 4, "logprobs": 2}
    lists = json.loads(tell("/v1/completions", raw)[1])["choices"][0]["logprobs"]
    assert len({len(column) for column in lists.values()}) == 1
    entries = chat(logprobs=True, reasoning_effort="none")["choices"][0]["logprobs"]
    assert list(entries) == ["content"]
    assert list(entries["content"][0]) == ["token", "logprob", "bytes", "top_logprobs"]


def test_text_blocks_begin_empty():
    """R-51: the start of a text block has its text."""
    _, data = tell("/v1/messages", {"model": "glm-5.2", "messages": HELLO, "max_tokens": 200, "stream": True})
    blocks = [
        json.loads(line)["content_block"] for line in re.findall(r"data: (.*content_block_start.*)", data.decode())
    ]
    assert blocks[-1] == {"type": "text", "text": ""}


def test_scripted_calls_in_spite_of_none():
    """E-91, E-137: the calls are removed, the text is kept, and everything is counted and paid."""
    with_calls = chat(CALLS, tools=TOOLS)
    without = chat(CALLS, tools=TOOLS, tool_choice="none")
    message = without["choices"][0]["message"]
    assert (message["content"], "tool_calls" in message) == ("Wait.", False)
    assert without["choices"][0]["finish_reason"] == "stop"
    assert without["usage"] == with_calls["usage"]
    assert without["x_engy"]["charged_micro"] == with_calls["x_engy"]["charged_micro"]
    bare = chat(Reply(tool_calls=CALLS.tool_calls), tools=TOOLS, tool_choice="none")
    assert bare["choices"][0]["message"]["content"] == ""


def test_reasoning_is_paid_as_output():
    """E-134: it counts towards the limit and costs what text costs."""
    thought, silent = chat(max_tokens=300), chat(max_tokens=300, reasoning_effort="none")
    counts = thought["usage"]["completion_tokens_details"]["reasoning_tokens"]
    assert counts > 10
    assert silent["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0
    cut = chat(max_tokens=counts - 2)
    assert cut["usage"]["completion_tokens"] == counts - 2
    assert cut["choices"][0]["message"]["content"] == ""


def test_contracts_come_before_rules():
    """E-92: a rule and the journal see the request as the model does; the body stays as it was sent."""
    gateway = Gateway()
    seen: list[Any] = []
    rule = Rule(description="all", conditions=conditions((seen.append,), {}), answers=(Reply(text="x"),))
    gateway.script.add(rule)
    body = {"model": "kimi-k3", "messages": HELLO, "temperature": 5}
    list(
        gateway.answer(
            Call(method="POST", path="/v1/chat/completions", headers=HEADERS, body=json.dumps(body).encode())
        )
    )
    assert seen[0].sampling.temperature == 1.0
    assert gateway.journal.last.request == seen[0]
    assert gateway.journal.last.json()["temperature"] == 5


def test_every_documented_route_is_served():
    """E-1, E-21: with the headers that official clients send along."""
    extra = {"anthropic-version": "2023-06-01", "OpenAI-Organization": "x", "x-stainless-lang": "js"}
    bodies: dict[str, Any] = {
        "/v1/chat/completions": {"messages": HELLO},
        "/v1/completions": {"prompt": "x", "max_tokens": 1},
        "/v1/messages": {"messages": HELLO, "max_tokens": 9},
        "/v1/responses": {"input": "x"},
    }
    for path, own in bodies.items():
        body = json.dumps({"model": "glm-5.2", **own}).encode()
        (step,) = Gateway().answer(Call(method="POST", path=path, headers={**HEADERS, **extra}, body=body))
        assert isinstance(step, Whole)
        assert step.head.status == 200
    (models,) = Gateway().answer(Call(method="GET", path="/v1/models", headers={"host": "localhost"}))
    assert isinstance(models, Whole)
    assert models.head.status == 200


def test_keys_of_the_mock(engy):
    """E-19: 43 characters of URL-safe Base64 behind the prefix, from the seed alone."""
    from engy_mock import EngyMock

    assert re.fullmatch(r"sk-engy-[A-Za-z0-9_-]{43}", engy.api_key)
    assert EngyMock().api_key == engy.api_key
    assert EngyMock(seed=5).api_key != engy.api_key


def test_at_most_one_call():
    """E-58: where calls must not be parallel, a scripted reply has its first one left."""
    answer = chat(CALLS, tools=TOOLS, parallel_tool_calls=False)
    assert [call["function"]["name"] for call in answer["choices"][0]["message"]["tool_calls"]] == ["a"]


def test_knobs_that_are_off_change_nothing():
    """E-13, E-51: what is sent to mean "off" is as if it had not been sent."""
    plain = chat()["choices"]
    settings: tuple[dict[str, Any], ...] = (
        {"top_k": 0},
        {"top_k": -1},
        {"min_p": 0},
        {"presence_penalty": 0},
        {"logit_bias": {}},
    )
    for off in settings:
        assert chat(**off)["choices"] == plain


def test_any_number_where_the_model_sets_its_own():
    """E-89: none of the five fields is refused for being out of range or not whole."""
    for own in ({"n": 2.5}, {"n": 0}, {"temperature": 9}, {"top_p": 7.5}, {"presence_penalty": -9}):
        status, _ = tell("/v1/chat/completions", {"model": "kimi-k3", "messages": HELLO, **own})
        assert status == 200
    status, _ = tell("/v1/chat/completions", {"model": "kimi-k3", "messages": HELLO, "n": "2"})
    assert status == 400


def test_no_error_repeats_a_key():
    """E-196: a key that went astray into a field is not told back."""
    for body in (
        {"model": "sk-engy-secret", "messages": HELLO},
        {"model": "glm-5.2", "messages": HELLO, "user": ["sk-engy-secret"]},
    ):
        status, data = tell("/v1/chat/completions", body)
        assert status >= 400
        assert b"secret" not in data


def test_a_get_has_no_body_to_refuse():
    """E-6 is about bodies: a GET may say what it likes about one."""
    headers = {"host": "localhost", "content-type": "text/plain"}
    (step,) = Gateway().answer(Call(method="GET", path="/v1/models", headers=headers, body=b"junk"))
    assert isinstance(step, Whole)
    assert step.head.status == 200
