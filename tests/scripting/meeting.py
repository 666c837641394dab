"""Requests that meet the rules of a scenario: on every route in both forms, and made to measure for each rule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engy_mock import EngyMock
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.scenario import Scenario
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Call
from tests.doors.raw import Raw, request
from tests.scripting.captured import PATHS, QUESTION, STREAMING, Capture, body_for

CALLS = [(route, stream) for route in PATHS for stream in (True, False) if route in STREAMING or not stream]
"""All routes in all their forms."""

LONG = "Tell me what the keeper of a lighthouse sees when the tide comes in and the wind turns. " * 6
"""A question that is long enough for the prompt cache."""

WRONG_KEY = "not-a-key"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request, told by what matters about it. Without a body it is a GET."""

    path: str
    body: Mapping[str, Any] | None = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def headed(self, engy: EngyMock) -> dict[str, str]:
        """Its headers."""
        key = engy.api_key if self.key is None else self.key
        own = {"authorization": f"Bearer {key}", "x-api-key": key, "content-type": "application/json"}
        return own | dict(self.headers)

    def sent(self, engy: EngyMock) -> Capture:
        """What a client gets to see, to the end of the connection."""
        lines = [f"{name}: {value}" for name, value in self.headed(engy).items()]
        method, data = ("GET", b"") if self.body is None else ("POST", json.write(dict(self.body)))
        try:
            raw = Raw(engy.port)
        except ConnectionError:
            return Capture(b"", "refused")
        with raw:
            raw.send(request(self.path, data, *lines, "Connection: close", method=method))
            return Capture(*raw.read_to_end())

    def call(self, engy: EngyMock) -> Call:
        """The same for the gateway, without a socket."""
        headers = self.headed(engy) | {"host": "127.0.0.1"}
        return Call(method="POST", path=self.path, headers=headers, body=json.write(dict(self.body or {})))


def everywhere() -> list[Asking]:
    """A request of every route in every form, and the list of models."""
    asked = [Asking(path=PATHS[route], body=body_for(route, stream=stream, text=LONG)) for route, stream in CALLS]
    return [*asked, Asking(path="/v1/models")]


def made_to_measure(scenario: Scenario) -> list[Asking]:
    """A request for each rule of the scenario in each form that it is for, and those that it needs besides."""
    own = [Asking(path=PATHS["chat"], body=body) for body in NEEDED.get(scenario.name, ())]
    return [*own, *[asked for rule in rules_of(scenario) for asked in _for_rule(rule)]]


def _chat(model: str, text: str = QUESTION, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": 20, **more}


NEEDED: dict[str, list[dict[str, Any]]] = {
    "deaf-to-enabled": [_chat("deepseek-v4.1-flash", reasoning={"enabled": True})],
    "ignores-schema": [_chat("qwen3.6-35b-a3b", reasoning_effort="none", response_format={"type": "json_object"})],
    "tighter-caps": [_chat("glm-5.2", "tide " * 2100)],
    "wider-window": [_chat("glm-5.3-flash", "tide " * 240_000)],
}
"""Chats that show what a scenario without rules is about."""


def rules_of(scenario: Scenario) -> list[Rule]:
    """All rules of a scenario, those of its phases too."""
    return [*scenario.rules, *[rule for phase in scenario.phases for rule in phase.rules]]


DEMANDS: dict[str, dict[str, Any]] = {
    "drifting-logprobs": {"endpoint": "chat", "field": {"logprobs": True, "top_logprobs": 2}},
    "history-strict": {"endpoint": "chat", "surface": "v1", "offers": "get_weather", "tool_result": True},
    "signature-strict": {"endpoint": "messages", "thought": True},
    "choices-interleaved": {"endpoint": "chat", "surface": "v5", "field": {"n": 2}},
}
"""What some kinds need of a request though the rule does not say so, in the words of `when`."""


def _for_rule(rule: Rule) -> Iterator[Asking]:
    words = dict(rule.words)
    for own in rule.faults:
        words = {**words, **DEMANDS.get(own.kind, {})}
    if words.get("endpoint") == "models":
        yield Asking(path="/v1/models")
        return
    seen = set()
    for route, stream in CALLS:
        surface, kind = ("v5" if route.startswith("v5") else "v1"), route.removeprefix("v5 ")
        if words.get("endpoint", kind) != kind or words.get("surface", surface) != surface:
            continue
        if words.get("stream", stream) is not stream or stream in seen:
            continue
        if kind == "completions" and words.keys() & {"offers", "tool_result"}:
            continue
        seen.add(stream)
        yield _asking(words, route, stream)


def _asking(words: Mapping[str, Any], route: str, stream: bool) -> Asking:
    kind = route.removeprefix("v5 ")
    body = body_for(route, stream=stream, text=words.get("says", LONG))
    if "model" in words:
        body["model"] = words["model"]
    if "offers" in words or "tool_result" in words:
        body["tools"] = [_tool(kind, name) for name in ("get_weather", words.get("offers", "get_weather"))]
    result = words.get("tool_result")
    if result:
        _add_result(body, kind, result if isinstance(result, str) else "12 degrees")
    if words.get("thought"):
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "bm90IG1pbmU="}
        turn = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]}
        body["messages"] += [turn, {"role": "user", "content": "Sure?"}]
    for path, value in words.get("field", {}).items():
        _add_field(body, path, value)
    key = WRONG_KEY if words.get("refused") == 401 else words.get("key")
    return Asking(path=PATHS[route], body=body, key=key, headers=words.get("header", {}))


def _tool(kind: str, name: str) -> dict[str, Any]:
    match kind:
        case "chat":
            return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}
        case "responses":
            return {"type": "function", "name": name, "parameters": SCHEMA}
        case _:
            return {"name": name, "input_schema": SCHEMA}


def _add_result(body: dict[str, Any], kind: str, text: str) -> None:
    """Let the last turn be the result of a tool."""
    match kind:
        case "chat":
            call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
            body["messages"].append({"role": "assistant", "content": None, "tool_calls": [call]})
            body["messages"].append({"role": "tool", "tool_call_id": "call_1", "content": text})
        case "responses":
            call = {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"}
            result = {"type": "function_call_output", "call_id": "call_1", "output": text}
            body["input"] = [{"role": "user", "content": body["input"]}, call, result]
        case _:
            call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
            result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}
            body["messages"].append({"role": "assistant", "content": [call]})
            body["messages"].append({"role": "user", "content": [result]})


FORMATS: dict[str, dict[str, Any]] = {
    "response_format.type": {"json_schema": {"name": "place", "schema": SCHEMA}},
    "text.format.type": {"name": "place", "schema": SCHEMA},
    "output_config.format.type": {"schema": SCHEMA},
}
"""What a format has beside its type."""


def _add_field(body: dict[str, Any], path: str, value: Any) -> None:
    *steps, last = path.split(".")
    place = body
    for step in steps:
        place = place.setdefault(step, {})
    place[last] = value
    if path in FORMATS and value == "json_schema":
        place |= FORMATS[path]
    if path == "echo":
        body |= {"logprobs": 2, "max_tokens": 1}
