"""The contract as a table: what is asked, the rule that it comes from, and what has to hold of the answer.

To add a check, add a row. Each request goes to the server and to the mock; whatever differs in status, headers,
order of events or shape is told without another word here. Claims are for what must hold within one answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engy_mock.drift import claims
from engy_mock.drift.claims import Claim

MODEL = "{model}"
"""Stands for the model that is asked."""

NOBODY = "no-such-model-0"
TOKENS = 16
"""How many tokens answers may have."""

Key = Literal["good", "bad", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One request and what it shows.

    `path` lies below the base URL. `body` is written as JSON, `raw` as it stands. `shows` is the header in which
    the key goes. `is_paid`: a server that does as it should charges for it, whatever the model.
    """

    name: str
    rule: str
    method: Literal["GET", "POST", "PUT"] = "POST"
    path: str = "/chat/completions"
    body: Any = None
    raw: bytes | None = None
    key: Key = "good"
    shows: Literal["authorization", "x-api-key"] = "authorization"
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    is_paid: bool = False


HELLO = [{"role": "user", "content": "Say one short sentence about the sea."}]
TOOL: dict[str, Any] = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}

CHAT = {"model": MODEL, "messages": HELLO, "max_tokens": TOKENS}
LISTENS = {**CHAT, "stream": True}
PROMPT = {"model": MODEL, "prompt": "The capital of France is", "max_tokens": 1}
SPOKEN = {"model": MODEL, "input": "Say one short sentence about the sea.", "max_output_tokens": TOKENS}

_SOUND = (claims.usage_adds_up, claims.stays_within(TOKENS))
_ANSWER = (*_SOUND, claims.receipt_is_right, claims.ends_as_documented)
_REFUSAL = (claims.is_plain_json,)


def _refused(name: str, rule: str, **words: Any) -> Check:
    return Check(name=name, rule=rule, claims=_REFUSAL, **words)


def _paid(name: str, rule: str, *more: Claim, **words: Any) -> Check:
    return Check(name=name, rule=rule, is_paid=True, claims=(*_ANSWER, *more), **words)


MESSAGES, RESPONSES, COMPLETIONS, MODELS = "/messages", "/responses", "/completions", "/models"

CHECKS = (
    # What costs nothing: the list of models, and refusals in their order.
    Check(name="models", rule="E-33", method="GET", path=MODELS, key="none", claims=(claims.rows_are_sound,)),
    Check(name="models with a bad key", rule="E-20", method="GET", path=MODELS, key="bad"),
    Check(name="models with a key", rule="E-34", method="GET", path=MODELS, claims=(claims.rows_are_sound,)),
    _refused("one model", "E-4", method="GET", path="/models/glm-5.2"),
    _refused("unknown path", "E-69", path="/no/such/path", body={}),
    _refused("unknown path before the key", "E-69", path="/no/such/path", body={}, key="none"),
    _refused("unknown path of messages", "E-5", path="/messages/nothing", body={}),
    _refused("wrong method", "E-70", method="PUT", body={}),
    _refused("wrong method before the key", "E-70", method="PUT", body={}, key="none"),
    _refused("chat without a key", "E-17", body=CHAT, key="none"),
    _refused("chat with a bad key", "E-17", body=CHAT, key="bad"),
    _refused("chat with the key in x-api-key", "E-16", body=CHAT, shows="x-api-key"),
    _refused("messages without a key", "E-192", path=MESSAGES, body=CHAT, key="none"),
    _refused("messages with a bad x-api-key", "E-16", path=MESSAGES, body=CHAT, key="bad", shows="x-api-key"),
    _refused("responses without a key", "E-17", path=RESPONSES, body=SPOKEN, key="none"),
    _refused("key before the body", "E-71", raw=b"{", key="bad"),
    _refused("content type", "E-72", raw=b"x=1", headers={"content-type": "text/plain"}),
    _refused("key before the content type", "E-71", raw=b"x", key="bad", headers={"content-type": "text/plain"}),
    _refused("broken JSON", "E-6", raw=b'{"model": '),
    _refused("broken JSON in messages", "E-6", path=MESSAGES, raw=b'{"model": '),
    _refused("a body that is a list", "E-6", raw=b"[]"),
    _refused("chat without messages", "E-39", body={"model": MODEL, "max_tokens": 1}),
    _refused("chat with no message", "E-39", body={**CHAT, "messages": []}),
    _refused("an unknown role", "E-40", body={**CHAT, "messages": [{"role": "nobody", "content": "x"}]}),
    # The other bound is for servers that answer all the same, and take 0 for as much as they like.
    _refused("max_tokens of 0", "E-45", body={**CHAT, "max_tokens": 0, "max_completion_tokens": TOKENS}),
    _refused("temperature of 3", "E-49", body={**CHAT, "temperature": 3}),
    _refused("top_p of 2", "E-50", body={**CHAT, "top_p": 2}),
    _refused("top_logprobs of 31", "E-64", body={**CHAT, "top_logprobs": 31}),
    _refused("a tool choice without tools", "E-57", body={**CHAT, "tool_choice": "required"}),
    _refused("an unknown effort", "E-60", body={**CHAT, "reasoning_effort": "enormous"}),
    _refused("messages without max_tokens", "E-164", path=MESSAGES, body={"model": MODEL, "messages": HELLO}),
    _refused("unknown model", "E-75", body={**CHAT, "model": NOBODY}),
    _refused("unknown model, streamed", "E-75", body={**LISTENS, "model": NOBODY}),
    _refused("unknown model in completions", "E-75", path=COMPLETIONS, body={**PROMPT, "model": NOBODY}),
    _refused("unknown model in messages", "E-75", path=MESSAGES, body={**CHAT, "model": NOBODY}),
    _refused("unknown model in responses", "E-75", path=RESPONSES, body={**SPOKEN, "model": NOBODY}),
    _refused("fields before the model", "E-74", body={**CHAT, "model": NOBODY, "top_p": 2}),
    _refused("a stream of completions", "E-151", path=COMPLETIONS, body={**PROMPT, "stream": True}),
    _refused("logprobs of 0 in completions", "E-153", path=COMPLETIONS, body={**PROMPT, "logprobs": 0}),
    _refused(
        "a scored span that is too long",
        "E-160",
        path=COMPLETIONS,
        body={**PROMPT, "prompt": "word " * 900, "echo": True, "logprobs": 1},
    ),
    _refused("a stored conversation", "E-181", path=RESPONSES, body={**SPOKEN, "previous_response_id": "resp_0"}),
    _refused("an unknown item", "E-179", path=RESPONSES, body={**SPOKEN, "input": [{"type": "nothing"}]}),
    Check(
        name="count_tokens", rule="E-177", path="/messages/count_tokens", body={"model": MODEL, "messages": HELLO}
    ),
    # What costs a little.
    _paid("chat", "E-105", body=CHAT),
    _paid("chat with a vendor", "E-30", body={**CHAT, "model": f"any/{MODEL}"}),
    _paid("chat, streamed", "E-120", claims.chunks_are_alike, claims.ends_with_its_mark, body=LISTENS),
    _paid(
        "chat, streamed with usage",
        "E-124",
        claims.chunks_are_alike,
        claims.ends_with_its_mark,
        body={**LISTENS, "stream_options": {"include_usage": True}},
    ),
    _paid(
        "log probabilities", "E-111", claims.logprobs_are_sound, body={**CHAT, "top_logprobs": 2, "max_tokens": 3}
    ),
    _paid("thinking", "E-126", body={**CHAT, "reasoning_effort": "high"}),
    _paid("completions", "E-154", path=COMPLETIONS, body=PROMPT),
    _paid(
        "log probabilities of completions",
        "E-155",
        claims.logprobs_are_sound,
        path=COMPLETIONS,
        body={**PROMPT, "logprobs": 2},
    ),
    _paid(
        "an echoed prompt",
        "E-156",
        claims.logprobs_are_sound,
        path=COMPLETIONS,
        body={**PROMPT, "logprobs": 1, "echo": True},
    ),
    _paid(
        "a scored prompt",
        "E-158",
        claims.logprobs_are_sound,
        path=COMPLETIONS,
        body={**PROMPT, "logprob_start_len": 2},
    ),
    _paid("a batch of prompts", "E-150", path=COMPLETIONS, body={**PROMPT, "prompt": ["One, two,", "A, B,"]}),
    _paid("messages", "E-170", path=MESSAGES, body=CHAT),
    _paid("messages with the key in x-api-key", "E-16", path=MESSAGES, body=CHAT, shows="x-api-key"),
    _paid(
        "messages, streamed",
        "E-173",
        claims.names_are_types,
        claims.blocks_follow_each_other,
        path=MESSAGES,
        body=LISTENS,
    ),
    _paid("responses", "E-183", path=RESPONSES, body=SPOKEN),
    _paid(
        "responses, streamed",
        "E-187",
        claims.names_are_types,
        claims.numbers_rise,
        path=RESPONSES,
        body={**SPOKEN, "stream": True},
    ),
    Check(
        name="a tool that must be called",
        rule="E-136",
        is_paid=True,
        claims=(
            claims.usage_adds_up,
            claims.receipt_is_right,
            claims.ends_as_documented,
            claims.tool_calls_can_be_run(TOOL["name"]),
        ),
        body={
            **CHAT,
            "max_tokens": 200,
            "tools": [{"type": "function", "function": TOOL}],
            "tool_choice": "required",
        },
    ),
)
"""All checks, in the order in which they are made."""
