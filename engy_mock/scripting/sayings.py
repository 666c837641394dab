"""What a reply can say at all: its parts are looked at before any client sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import get_args

from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import UNSAID, FinishReason, Reply, Usage
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.text import is_sendable

MAX_COUNT = 10**9
"""The most tokens that a dictated count may have."""


def check_reply(reply: Reply) -> Reply:
    """The reply itself; raises MockError, with the part and its value, for what no answer could say."""
    _check_text("text", reply.text)
    _check_text("reasoning", reply.reasoning)
    check_calls(reply.tool_calls)
    reasons = get_args(FinishReason)
    if reply.finish_reason is not None and reply.finish_reason not in reasons:
        raise MockError(f"finish_reason= takes one of {', '.join(reasons)}, got {reply.finish_reason!r:.80}")
    _check_usage(reply.usage)
    check_logprobs(reply.logprobs)
    if reply.response is not UNSAID:
        try:
            json.text(reply.response)
        except Exception as error:
            raise MockError(f"response= takes what JSON can hold: {error}") from error
    return reply


def check_calls(calls: object) -> None:
    """Raise MockError unless these are calls of tools that an answer could make."""
    if not isinstance(calls, Sequence) or not all(isinstance(call, ToolCall) for call in calls):
        raise MockError(f"tool_calls= takes a list of ToolCall, got {calls!r:.80}")
    for call in calls:
        _check_text("the name of a ToolCall", call.name, is_needed=True)
        _check_text("the id of a ToolCall", call.id)
        _check_text("the arguments of a ToolCall", call.arguments, is_needed=True)


def check_logprobs(logprobs: object) -> None:
    """Raise MockError unless these are log probabilities by the text of a token."""
    if not isinstance(logprobs, Mapping):
        raise MockError(f"logprobs= takes a mapping of texts to numbers, got {logprobs!r:.80}")
    for token, value in logprobs.items():
        if not isinstance(token, str):
            raise MockError(f"logprobs= takes texts as keys, got {token!r:.80}")
        _check_text("a token of logprobs", token)
        if not isinstance(value, int | float) or isinstance(value, bool) or not -100.0 <= value <= 0.0:
            raise MockError(f"logprobs= takes numbers from -100 to 0, got {value!r:.80} for {token!r:.80}")


def _check_text(word: str, said: object, *, is_needed: bool = False) -> None:
    if said is None and not is_needed:
        return
    if not isinstance(said, str):
        raise MockError(f"{word}{'' if ' ' in word else '='} takes a text, got {said!r:.80}")
    if not is_sendable(said):
        raise MockError(f"{word} has half a surrogate pair, which no answer can carry: {said!r:.80}")


def _check_usage(usage: object) -> None:
    if usage is None:
        return
    if not isinstance(usage, Usage):
        raise MockError(f"usage= takes a Usage, got {usage!r:.80}")
    for field in fields(usage):
        count = getattr(usage, field.name)
        if type(count) is not int or not 0 <= count <= MAX_COUNT:
            raise MockError(
                f"usage= counts whole tokens from 0 to {MAX_COUNT}, got {count!r:.80} for {field.name}"
            )
    for part, whole in (("cached_tokens", "prompt_tokens"), ("reasoning_tokens", "completion_tokens")):
        if getattr(usage, part) > getattr(usage, whole):
            raise MockError(
                f"usage= has {getattr(usage, part)} {part}, a part of {whole}, which are {getattr(usage, whole)}"
            )
