"""The catalogue: every way in which the mock can misbehave, one small class each, in files by what they touch."""

from engy_mock.scripting.faults import (
    choices,
    completions,
    content,
    envelope,
    finish,
    logprobs,
    roles,
    tool_arguments,
    tool_deltas,
    transport,
    usage,
    words,
)

__all__ = [
    "choices",
    "completions",
    "content",
    "envelope",
    "finish",
    "logprobs",
    "roles",
    "tool_arguments",
    "tool_deltas",
    "transport",
    "usage",
    "words",
]
