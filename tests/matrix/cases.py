"""How each kind is shown: its parameters, and the question and the answer that have a place for it."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from engy_mock import ToolCall
from engy_mock.scripting.fault import Fault, catalogue, made, parameter
from engy_mock.vocabulary.generation import Usage
from tests.matrix.job import DOUBTFUL, LONG, SHORT, Patience

PIECES = 2
"""How much of an answer gets through before a fault that can wait: more than nothing."""

IDLE_SECONDS = 10.0

FORMS = ("raw", "helper", "stream", "whole")

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
    `IDLE_SECONDS`. With `waits` mock time is that of the wall instead. `patience` is short where nobody is going
    to answer. `forms` are fewer where the rest would be luck: whether the connection of a stream is used again
    depends on which byte a client has seen last. `tls` and `is_closed` are about the door, where no request comes
    as far as a rule.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    reply: Mapping[str, Any] | None = field(default_factory=lambda: RICH)
    asked: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 1
    forms: tuple[str, ...] = FORMS
    waits: bool = False
    patience: Patience = LONG
    tls: str | None = None
    is_closed: bool = False

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
    "bytewise": Case(reply=PLAIN),
    "dribble": Case(given={"seconds": 0.2, "size": 100}, reply=PLAIN, waits=True),
    "half-open": Case(patience=SHORT),
    "redirect-to-http": Case(tls="valid"),
    "slow-first-event": Case(patience=SHORT),
    "slow-headers": Case(patience=SHORT),
    "stall": Case(patience=SHORT),
    "stall-before-terminator": Case(patience=SHORT),
    "stall-with-comments": Case(patience=DOUBTFUL),
    "stall-with-pings": Case(patience=DOUBTFUL),
    "idle-close": Case(calls=2, forms=("whole",)),
    "keep-alive-mismatch": Case(calls=2, forms=("whole",)),
    "refused-window": Case(is_closed=True),
    "tls-expired": Case(tls="expired"),
    "tls-wrong-host": Case(tls="wrong-host"),
    "tls-self-signed": Case(tls="self-signed"),
    "tls-handshake-stall": Case(tls="handshake-stall", patience=SHORT),
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
    # Quirks
    "drifting-logprobs": Case(asked=LOGPROBS, reply=PLAIN),
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
