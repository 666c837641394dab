"""How a prompt that does not fit is refused: each vendor has its phrase, and clients look for it (R-42)."""

from collections.abc import Mapping
from typing import Literal

from engy_mock.vocabulary.errors import InvalidRequest

Wording = Literal["engy", "openai", "vllm", "llama.cpp", "anthropic"]

WORDINGS: Mapping[str, str] = {
    "openai": (
        "the maximum context length is {window} tokens, but {total} were asked for: "
        "{prompt} of the prompt, {limit} of the answer"
    ),
    "vllm": "the maximum context length is {window} tokens; the prompt has {prompt}, max_tokens is {limit}",
    "llama.cpp": "the request of {total} tokens exceeds the available context size of {window} tokens",
    "anthropic": "prompt is too long: {total} tokens > {window} maximum",
}
"""Phrases with their numbers; that of Engy is told where it is found out (E-79, E-80)."""


def overflow(
    message: str, wording: Wording, *, prompt: int, limit: int, window: int, param: str | None
) -> InvalidRequest:
    """The refusal, in Engy's own words or in those of another vendor."""
    worded = WORDINGS.get(wording)
    if worded is not None:
        message = worded.format(prompt=prompt, limit=limit, total=prompt + limit, window=window)
    return InvalidRequest(message, param=param, code="context_length_exceeded")
