"""The parts of an answer that whole messages and streams of events have in common."""

from typing import Any

from engy_mock.dialects.dialect import Envelope
from engy_mock.vocabulary.generation import FinishReason, Usage
from engy_mock.vocabulary.request import ToolCall

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""Why an answer ended, in the words of this format (E-172)."""


def stopped(reason: FinishReason | None, stop_sequence: str | None) -> dict[str, Any]:
    """Why the answer ended, and the text that ended it; null as long as it goes on."""
    if reason == "stop" and stop_sequence is not None:
        return {"stop_reason": "stop_sequence", "stop_sequence": stop_sequence}
    return {"stop_reason": None if reason is None else STOP_REASONS[reason], "stop_sequence": None}


def usage(counts: Usage, envelope: Envelope) -> dict[str, int]:
    """The token counts; those of the cache only by a setting (E-170)."""
    shown = {"input_tokens": counts.prompt_tokens, "output_tokens": counts.completion_tokens}
    if envelope.shows_cache_counts:
        shown["cache_read_input_tokens"] = counts.cached_tokens
    return shown


def proof(envelope: Envelope) -> dict[str, Any]:
    """The proof, if one was demanded (E-146)."""
    return {} if envelope.receipt.proof is None else {"proof": envelope.receipt.proof}


def tool_use(call: ToolCall, arguments: dict[str, Any]) -> dict[str, Any]:
    """A block with a tool call; the digits of its id are those that chat shows (E-115)."""
    shown_id = call.id or ""
    if shown_id.startswith("call_"):
        shown_id = "toolu_" + shown_id.removeprefix("call_")
    return {"type": "tool_use", "id": shown_id, "name": call.name, "input": arguments}
