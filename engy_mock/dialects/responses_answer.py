"""The response object and the items in it, as whole answers and streams show them (E-183 to E-186)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from engy_mock.dialects.answer import answer_id, receipt_fields
from engy_mock.dialects.dialect import Envelope
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.generation import Choice, FinishReason, TokenLogprob, Usage
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.seeds import hex_id

ItemStatus = Literal["in_progress", "completed", "incomplete"]
Status = Literal["in_progress", "completed", "incomplete", "failed"]

INCOMPLETE: dict[FinishReason, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why an answer is incomplete, by its finish reason; with any other it is complete."""

FAILURE_CODES = {402: "rate_limit_exceeded", 429: "rate_limit_exceeded"}
"""The published code of a failure by its status; others are the fault of the prompt or of the server."""

_BARE_TOOL = {"type": "function", "name": "", "description": None, "parameters": None, "strict": None}
_BARE_SCHEMA = {"type": "json_schema", "name": "", "description": None, "schema": None, "strict": False}
_ID_DIGITS = 24


def response(
    envelope: Envelope,
    status: Status,
    *,
    output: Sequence[dict[str, Any]] = (),
    counts: Usage | None = None,
    incomplete: str | None = None,
    error: ApiError | None = None,
) -> dict[str, Any]:
    """The response object with all its fields in their order, whatever has become of the answer.

    What it cost stands on answers that are over and have not failed (E-189, E-190).
    """
    request = envelope.request
    body = request.body
    is_over = status in ("completed", "incomplete")
    return {
        "id": answer_id("resp_", envelope.receipt),
        "object": "response",
        "created_at": envelope.created,
        "completed_at": envelope.created if status == "completed" else None,
        "status": status,
        "background": False,
        "error": None if error is None else {"code": failure_code(error), "message": error.message},
        "incomplete_details": None if incomplete is None else {"reason": incomplete},
        "instructions": body.get("instructions"),
        "max_output_tokens": request.max_tokens,
        "max_tool_calls": body.get("max_tool_calls"),
        "metadata": body.get("metadata") or {},
        "model": request.model,
        "output": output,
        "parallel_tool_calls": request.parallel_tool_calls,
        "previous_response_id": body.get("previous_response_id"),
        "presence_penalty": request.sampling.presence_penalty or 0.0,
        "frequency_penalty": request.sampling.frequency_penalty or 0.0,
        "prompt_cache_key": body.get("prompt_cache_key"),
        "reasoning": {
            "effort": request.thinking.effort,
            "summary": (body.get("reasoning") or {}).get("summary"),
        },
        "safety_identifier": body.get("safety_identifier"),
        "service_tier": "default",
        "store": False,
        "temperature": _in_force(request.sampling.temperature, envelope.temperature),
        "text": _text(body.get("text") or {}),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": _tools(body.get("tools") or ()),
        "top_logprobs": request.scoring.top,
        "top_p": _in_force(request.sampling.top_p, envelope.top_p),
        "truncation": "disabled",
        "usage": None if counts is None else usage(counts),
        "user": body.get("user"),
        **(receipt_fields(envelope) if is_over else {}),
    }


def failure_code(error: ApiError) -> str:
    """The code of a failure: its own if it has one, else a published one by its status (E-186)."""
    if error.code:
        return error.code
    return FAILURE_CODES.get(error.status, "invalid_prompt" if error.status < 500 else "server_error")


def usage(counts: Usage) -> dict[str, Any]:
    """The token counts in the names of this format (E-184)."""
    return {
        "input_tokens": counts.prompt_tokens,
        "input_tokens_details": {"cached_tokens": counts.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": counts.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning_tokens},
        "total_tokens": counts.total_tokens,
    }


def output(choice: Choice, envelope: Envelope) -> list[dict[str, Any]]:
    """The items of a whole answer; what was cut is the last one (E-185, E-186)."""
    items: list[dict[str, Any]] = []
    if choice.reasoning is not None:
        part = reasoning_text(choice.whole_reasoning)
        items.append(reasoning(item_id("rs_", 0, envelope), "completed", part))
    if choice.text or (not choice.tool_calls and owes_message(items, choice.finish_reason)):
        pieces = choice.logprobs if envelope.request.scoring.logprobs else None
        part = output_text(choice.whole_text, [entry for piece in pieces or () for entry in logprobs(piece)])
        items.append(message(item_id("msg_", len(items), envelope), "completed", part))
    for call in choice.tool_calls:
        items.append(function_call(item_id("fc_", len(items), envelope), "completed", call, call.arguments))
    if choice.finish_reason in INCOMPLETE:
        items[-1]["status"] = "incomplete"
    return items


def owes_message(said: Sequence[Mapping[str, Any]], finish_reason: FinishReason) -> bool:
    """Whether a message with an empty text follows these items.

    An answer has text or calls, so there is one after reasoning too, unless that was cut.
    """
    has_only_thought = all(item["type"] == "reasoning" for item in said)
    return has_only_thought and (not said or finish_reason not in INCOMPLETE)


def item_id(prefix: str, place: int, envelope: Envelope) -> str:
    """The id of the item at this place in the output."""
    return prefix + hex_id(_ID_DIGITS, "item", envelope.receipt.request_id, place)


def reasoning(id: str, status: ItemStatus, *content: dict[str, Any]) -> dict[str, Any]:
    """An item with the reasoning; there are no summaries."""
    return {"id": id, "type": "reasoning", "summary": [], "content": list(content), "status": status}


def message(id: str, status: ItemStatus, *content: dict[str, Any]) -> dict[str, Any]:
    """An item with the text."""
    return {"id": id, "type": "message", "role": "assistant", "status": status, "content": list(content)}


def function_call(id: str, status: ItemStatus, call: ToolCall, arguments: str = "") -> dict[str, Any]:
    """An item with a tool call, as far as its arguments have been told."""
    return {
        "id": id,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
        "status": status,
    }


def reasoning_text(text: str) -> dict[str, Any]:
    """What an item with reasoning contains."""
    return {"type": "reasoning_text", "text": text}


def output_text(text: str, entries: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What an item with text contains."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": entries}


def logprobs(entries: Iterable[TokenLogprob]) -> list[dict[str, Any]]:
    """The log probabilities of tokens in the form of this format."""
    return [
        {
            "token": entry.token,
            "bytes": list(entry.raw),
            "logprob": entry.logprob,
            "top_logprobs": [
                {"token": token, "bytes": list(raw), "logprob": logprob} for token, raw, logprob in entry.top
            ],
        }
        for entry in entries
    ]


def _in_force(wished: float | None, default: float) -> float:
    return default if wished is None else wished


def _text(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The field `text` as sent, with the published defaults."""
    wished = sent.get("format") or {"type": "text"}
    if wished["type"] == "json_schema":
        wished = {**_BARE_SCHEMA, **wished, "strict": wished.get("strict") or False}
    return {"format": wished, "verbosity": sent.get("verbosity") or "medium"}


def _tools(sent: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The functions as sent, with every field that a published one has; other tools are left out (E-182a)."""
    return [{**_BARE_TOOL, **tool} for tool in sent if tool["type"] == "function"]
