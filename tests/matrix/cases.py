"""How each kind is shown: its parameters, and the question and the answer that have a place for it."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from engy_mock import ToolCall
from engy_mock.scripting.fault import Fault, catalogue, made, parameter
from engy_mock.vocabulary.generation import Usage

PIECES = 2
"""How much of an answer gets through before a fault that can wait: more than nothing."""

IDLE_SECONDS = 10.0

RICH: Mapping[str, Any] = {
    "text": "One, two; \u00e9t\u00e9 \U0001f389.",
    "reasoning": "Hm, so.",
    "tool_calls": [ToolCall("get_weather", city="Paris"), ToolCall("get_weather", city="Rome")],
}
"""An answer with all that there can be."""

PLAIN: Mapping[str, Any] = {"text": "one two three four"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault, the `reply` that it mars (None is the model's own), and what is `asked` beyond the usual.

    The outcome is that of the last of so many `calls` through one client, between which mock time moves on by
    `IDLE_SECONDS`. With `waits` mock time is that of the wall instead. `door` is what has to be done to the mock
    itself where no request comes as far as a rule.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    reply: Mapping[str, Any] | None = field(default_factory=lambda: RICH)
    asked: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 1
    waits: bool = False
    door: str = ""

    def fault(self, kind: str) -> Fault:
        """The fault itself."""
        early = {
            parameter(one.name): PIECES
            for one in fields(catalogue()[kind])
            if one.name == "after" and one.default in (0, MISSING)
        }
        return made({"kind": kind, **early, **self.given})


LOGPROBS = {"logprobs": True}
SCORED = {"echo": True, "logprobs": True, "logprob_start_len": 0}
NO_CALLS = {"tool_choice": "none"}

_NEW = Case()

CASES: Mapping[str, Case] = {
    # Transport
    "slow-headers": Case(given={"seconds": 30.0}, waits=True),
    "dribble": Case(given={"seconds": 0.4, "size": 300}, waits=True),
    "idle-close": Case(calls=2),
    "keep-alive-mismatch": Case(calls=2),
    "refused-window": Case(door="closed"),
    "tls-expired": Case(door="expired"),
    "tls-wrong-host": Case(door="wrong-host"),
    "tls-self-signed": Case(door="self-signed"),
    "tls-handshake-stall": Case(door="handshake-stall"),
    # HTTP
    "key-revoked": Case(given={"requests": 0}),
    "balance-runs-out": Case(given={"requests": 0}),
    "replay-differs": Case(calls=2),
    # Chat
    "choices-empty-last": Case(asked={"usage": False}),
    "choices-interleaved": Case(asked={"n": 2}, reply=None),
    "choice-index-missing": Case(asked={"n": 2}, reply=None),
    "logprobs-null": Case(asked=LOGPROBS, reply=PLAIN),
    "logprob-bytes-missing": Case(asked=LOGPROBS, reply=PLAIN),
    "logprob-bytes-split": Case(asked=LOGPROBS, reply={"text": "caf\u00e9 \U0001f389"}),
    "logprob-sentinel": Case(asked=LOGPROBS, reply=PLAIN),
    "logprob-not-finite": Case(asked=LOGPROBS, reply=PLAIN),
    "logprob-top-count": Case(asked=LOGPROBS, reply=PLAIN),
    "logprob-top-duplicates": Case(asked=LOGPROBS, reply=PLAIN),
    "length-mid-json": Case(reply={"json": {"city": "Paris", "days": 3}}),
    "reasoning-only": Case(reply={"text": "one two", "reasoning": "Hm, so."}),
    "tool-despite-none": Case(asked=NO_CALLS),
    # Completions
    "logprob-first-not-null": Case(asked=SCORED, reply=PLAIN),
    "logprob-wrong-count": Case(asked=SCORED, reply=PLAIN),
    "text-offsets-real": Case(asked=SCORED, reply=PLAIN),
    "token-ids-only": Case(asked=LOGPROBS, reply=PLAIN),
    "echo-missing": Case(asked=SCORED, reply=PLAIN),
    "batch-shuffled": Case(asked={"prompts": ["The old bridge", "A river"]}, reply=None),
    # Messages
    "signature-strict": Case(asked={"history": True}),
    # Behaviour
    "brown-out": Case(given={"from": 1.0, "to": 1.0}),
    "cache-cold": Case(
        reply={**PLAIN, "usage": Usage(prompt_tokens=200, completion_tokens=4, cached_tokens=128)}, calls=2
    ),
    "history-strict": Case(asked={"history": True}),
    "key-concurrency": Case(given={"limit": 0}),
    "queue-full": Case(given={"limit": 0}),
    "quota-refill": Case(given={"requests": 0}),
    "worker-gone": Case(asked={"provider": {"zdr": True}}),
}
"""The kinds that take more than to be named."""


def case(kind: str) -> Case:
    """How the kind is shown."""
    return CASES.get(kind, _NEW)
