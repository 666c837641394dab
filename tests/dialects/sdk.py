"""What the official client makes of the mock's bytes: its own types, held to strictly, and a plain reader."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

DOCUMENTED = frozenset(
    {
        "x_engy",
        "proof",
        "choices[].message.reasoning_content",
        "choices[].delta.reasoning_content",
        "choices[].logprobs.token_ids",
    }
)
"""The fields of the answers that OpenAI's own types do not have ("API overview", Engy response fields)."""


def checked(data: bytes | str, kind: type[BaseModel], *, also: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The document, if the client's type takes it strictly and it has no field that is nowhere documented."""
    extra = set(_extra(kind.model_validate_json(data, strict=True))) - DOCUMENTED - also
    assert not extra, f"fields that nobody documents: {sorted(extra)}"
    document = json.loads(data, parse_constant=_refuse)
    assert isinstance(document, dict)
    return document


def _extra(value: object, path: str = "") -> Iterator[str]:
    """The places of fields that the types do not know."""
    if isinstance(value, list):
        for item in value:
            yield from _extra(item, path + "[]")
    if isinstance(value, BaseModel):
        prefix = f"{path}." if path else ""
        for name in value.model_extra or ():
            yield prefix + name
        for name in type(value).model_fields:
            yield from _extra(getattr(value, name), prefix + name)


def _refuse(constant: str) -> None:
    raise AssertionError(f"JSON has no {constant}")


def payloads(stream: bytes) -> list[str]:
    """The data of each event; the framing is one line and one empty line, and nothing else."""
    *events, rest = stream.decode().split("\n\n")
    assert rest == "", "the last event is not closed"
    assert all(event.startswith("data: ") and "\n" not in event for event in events)
    return [event.removeprefix("data: ") for event in events]


@dataclass(slots=True)
class Heard:
    """One choice as a client puts it together from chunks."""

    content: str = ""
    reasoning: str | None = None
    tool_calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    finish_reason: str | None = None
    logprobs: list[Any] | None = None

    def take(self, choice: dict[str, Any]) -> None:
        """Add the delta of one chunk."""
        delta = choice["delta"]
        self.content += delta.get("content") or ""
        if "reasoning_content" in delta:
            self.reasoning = (self.reasoning or "") + delta["reasoning_content"]
        for call in delta.get("tool_calls", ()):
            known = self.tool_calls.setdefault(call["index"], {"function": {"arguments": ""}})
            known.update({key: call[key] for key in ("id", "type") if key in call})
            arguments = known["function"]["arguments"] + call["function"].get("arguments", "")
            known["function"].update({**call["function"], "arguments": arguments})
        if choice.get("logprobs") is not None:
            self.logprobs = (self.logprobs or []) + choice["logprobs"]["content"]
        if choice["finish_reason"] is not None:
            assert self.finish_reason is None, "finished twice"
            self.finish_reason = choice["finish_reason"]


@dataclass(slots=True)
class HeardStream:
    """A whole stream as a client puts it together."""

    choices: dict[int, Heard] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    receipt: dict[str, Any] | None = None
    is_done: bool = False


def heard(stream: bytes) -> HeardStream:
    """What a client hears in the chunks of a chat stream."""
    result = HeardStream()
    for payload in payloads(stream):
        assert not result.is_done, "something follows the end mark"
        if payload == "[DONE]":
            result.is_done = True
            continue
        chunk = json.loads(payload)
        for choice in chunk["choices"]:
            result.choices.setdefault(choice["index"], Heard()).take(choice)
        result.usage = chunk.get("usage", result.usage)
        result.receipt = chunk.get("x_engy", result.receipt)
    return result
