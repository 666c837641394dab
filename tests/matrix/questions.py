"""The one question of the matrix in the words of each client."""

from collections.abc import Mapping
from typing import Any

from tests.matrix.columns import STREAMED, Column

QUESTION = "Say something."
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = "get_weather"
ARGUMENTS = '{"city":"Oslo"}'
CALL_ID = "call_0123456789abcdef"
MOST_TOKENS = 200
FOREIGN = "Rm9yZWlnbg=="
"""A seal that the mock has never put on anything."""

MODELS = {
    ("chat", "v5"): "openai/gpt-4o",
    ("completions", "v5"): "openai/gpt-3.5-turbo-instruct",
}
MODEL = "glm-5.2"

Fields = dict[str, Any]


def question(column: Column, form: str, asked: Mapping[str, Any]) -> Fields:
    """The fields of the request, as the client's own method takes them, with what a case asks beyond the usual.

    That is: `n`, `logprobs`, `echo`, `logprob_start_len`, `prompts`, `provider`, `tool_choice`, `history` (a turn
    with a call before), and `usage`, which is asked for unless it is false. What a dialect has no word for is left
    out.
    """
    fields: Fields = {"model": MODELS.get((column.endpoint, column.surface), MODEL)}
    fields |= WRITTEN["AI" if column.client == "AI" else column.endpoint](asked)
    if form in STREAMED and asked.get("usage", True) and column.endpoint in ("chat", "completions"):
        fields["stream_options"] = {"include_usage": True}
    if "n" in asked and column.surface == "v5":
        fields["n"] = asked["n"]
    if "provider" in asked and column.surface == "v1":
        fields["provider"] = asked["provider"]
    return fields


def _chat(asked: Mapping[str, Any]) -> Fields:
    function = {"name": TOOL, "parameters": PARAMETERS}
    call = {"id": CALL_ID, "type": "function", "function": {"name": TOOL, "arguments": ARGUMENTS}}
    history = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL_ID, "content": "Rain."},
    ]
    fields: Fields = {
        "messages": [{"role": "user", "content": QUESTION}, *(history if asked.get("history") else ())],
        "tools": [{"type": "function", "function": function}],
        "max_tokens": MOST_TOKENS,
    }
    if "logprobs" in asked:
        fields |= {"logprobs": True, "top_logprobs": 3}
    if "tool_choice" in asked:
        fields["tool_choice"] = asked["tool_choice"]
    return fields


def _completions(asked: Mapping[str, Any]) -> Fields:
    fields: Fields = {"prompt": asked.get("prompts", QUESTION), "max_tokens": 40}
    if "logprobs" in asked:
        fields["logprobs"] = 2
    if "echo" in asked:
        fields["echo"] = True
    return fields


def _messages(asked: Mapping[str, Any]) -> Fields:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": FOREIGN}
    history = [
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Well."}]},
        {"role": "user", "content": QUESTION},
    ]
    fields: Fields = {
        "messages": [{"role": "user", "content": QUESTION}, *(history if asked.get("history") else ())],
        "tools": [{"name": TOOL, "input_schema": PARAMETERS}],
        "max_tokens": MOST_TOKENS,
    }
    if "tool_choice" in asked:
        fields["tool_choice"] = {"type": asked["tool_choice"]}
    return fields


def _responses(asked: Mapping[str, Any]) -> Fields:
    fields: Fields = {
        "input": QUESTION,
        "tools": [{"type": "function", "name": TOOL, "parameters": PARAMETERS}],
        "max_output_tokens": MOST_TOKENS,
    }
    if "logprobs" in asked:
        fields |= {"include": ["message.output_text.logprobs"], "top_logprobs": 3}
    if "tool_choice" in asked:
        fields["tool_choice"] = asked["tool_choice"]
    return fields


def _ai(asked: Mapping[str, Any]) -> Fields:
    call = {"toolCallId": CALL_ID, "toolName": TOOL}
    output = {"type": "text", "value": "Rain."}
    history = [
        {"role": "assistant", "content": [{"type": "tool-call", **call, "input": {"city": "Oslo"}}]},
        {"role": "tool", "content": [{"type": "tool-result", **call, "output": output}]},
    ]
    fields: Fields = {
        "messages": [{"role": "user", "content": QUESTION}, *(history if asked.get("history") else ())],
        "tools": {TOOL: PARAMETERS},
        "maxOutputTokens": MOST_TOKENS,
    }
    if "tool_choice" in asked:
        fields["toolChoice"] = asked["tool_choice"]
    return fields


WRITTEN = {
    "chat": _chat,
    "completions": _completions,
    "messages": _messages,
    "responses": _responses,
    "AI": _ai,
}
