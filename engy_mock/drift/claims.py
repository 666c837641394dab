"""What has to hold within one answer, whoever gives it: each claim is one function.

It returns what is wrong, or None.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

from engy_mock.drift.answer import Answer
from engy_mock.vocabulary import json

Claim = Callable[[Answer], str | None]

_ID = re.compile(r"[0-9a-f]{32}")
_PRICE = re.compile(r"(0|[1-9]\d*)(\.\d*[1-9])?")


def usage_adds_up(answer: Answer) -> str | None:
    """Totals are sums, and details are parts (E-110, E-184)."""
    for usage in _found(answer, "usage"):
        given = [usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
        if "input_tokens" in usage:
            given = [usage.get(name, 0) for name in ("input_tokens", "output_tokens", "total_tokens")]
        prompt, completion, total = [number if isinstance(number, int) else -1 for number in given]
        if min(prompt, completion) < 0:
            return "counts of tokens are no whole numbers from 0"
        if "total_tokens" in usage and total != prompt + completion:
            return f"total_tokens is {total}, not {prompt} + {completion}"
        for details, whole in (
            (usage.get("prompt_tokens_details") or usage.get("input_tokens_details"), prompt),
            (usage.get("completion_tokens_details") or usage.get("output_tokens_details"), completion),
        ):
            for name, part in (details or {}).items():
                if isinstance(part, int) and part > whole:
                    return f"{name} is {part}, more than the {whole} tokens that it is a part of"
    return None


def stays_within(most: int) -> Claim:
    """No more tokens come out than were asked for (E-102)."""

    def stays(answer: Answer) -> str | None:
        for usage in _found(answer, "usage"):
            made = usage.get("completion_tokens", usage.get("output_tokens", 0))
            if isinstance(made, int) and made > most:
                return f"{made} tokens came out, and {most} were allowed"
        return None

    return stays


def receipt_is_right(answer: Answer) -> str | None:
    """The receipt has a request id, the one of the headers, and a whole charge (E-11, E-113, E-114)."""
    for receipt in _found(answer, "x_engy"):
        request_id = receipt.get("request_id")
        if not isinstance(request_id, str) or not _ID.fullmatch(request_id):
            return "x_engy.request_id is not of 32 hexadecimal digits"
        if answer.headers.get("x-engy-request-id") != request_id:
            return "x_engy.request_id is not that of the headers"
        charge = receipt.get("charged_micro")
        if not isinstance(charge, int) or charge < 0:
            return "x_engy.charged_micro is no whole number from 0"
        ids = [one["id"] for one in answer.documents if isinstance(one.get("id"), str)]
        if any(not one.endswith(request_id[:24]) for one in ids):
            return "the id of the answer is not made of the request id"
    return None


def model_is(model: str) -> Claim:
    """Answers repeat the model as it was sent (E-30)."""

    def repeats(answer: Answer) -> str | None:
        named = [one["model"] for one in answer.documents if isinstance(one.get("model"), str)]
        other = next((one for one in named if one != model), None)
        return None if other is None else f"model is {other!r:.80}, and {model!r:.80} was sent"

    return repeats


REASONS = {
    "finish_reason": frozenset({"stop", "length", "tool_calls"}),
    "stop_reason": frozenset({"end_turn", "stop_sequence", "max_tokens", "tool_use"}),
}
"""Why answers of the dialects end (E-109, E-172)."""

STATUSES = frozenset({"completed", "incomplete", "in_progress", "queued"})
"""How a response is doing that has not failed (E-186)."""


def ends_as_documented(answer: Answer) -> str | None:
    """The reason for the end of an answer is one of those that are documented (E-109, E-172, E-186)."""
    for document in answer.documents:
        choices = document.get("choices")
        holders = [*(choices if isinstance(choices, list) else ())]
        holders += [document, document.get("message"), document.get("delta")]
        for holder in [one for one in holders if isinstance(one, dict)]:
            for name, reasons in REASONS.items():
                said = holder.get(name)
                if said is not None and said not in reasons:
                    return f"{name} is {said!r:.40}, which is none"
        for response in (document, document.get("response")):
            if isinstance(response, dict) and response.get("object") == "response":
                status = response.get("status")
                if status not in STATUSES:
                    return f"the status of the response is {status!r:.40}, which is none"
    return None


def tool_calls_can_be_run(*names: str) -> Claim:
    """Calls are of these tools, with arguments in JSON unless the limit has cut them (E-109, E-136)."""

    def can_be_run(answer: Answer) -> str | None:
        for document in answer.documents:
            choices = document.get("choices")
            for choice in [one for one in (choices if isinstance(choices, list) else ()) if isinstance(one, dict)]:
                if choice.get("finish_reason") != "length":
                    for name, arguments in _called(choice.get("message")):
                        if name not in names:
                            return f"the tool {name!r:.40} is called, which was not offered"
                        if not _is_object(arguments):
                            return f"the arguments of {name} are no JSON object: {arguments!r:.60}"
        return None

    return can_be_run


def _called(message: object) -> Iterator[tuple[object, object]]:
    """The names and arguments of the tools that a message calls."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield function.get("name"), function.get("arguments")


def _is_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.read(text), dict)
    except ValueError:
        return False


def chunks_are_alike(answer: Answer) -> str | None:
    """All chunks of a stream share id, object, created and model (E-119)."""
    for name in ("id", "object", "created", "model"):
        values = {repr(chunk.get(name)) for chunk in answer.documents}
        if len(values) > 1:
            return f"{name} changes within the stream"
    return None


def numbers_rise(answer: Answer) -> str | None:
    """Events of responses are numbered from 0 (E-187)."""
    numbers = [one.get("sequence_number") for one in answer.documents]
    return None if numbers == list(range(len(numbers))) else "sequence_number does not count the events"


def blocks_follow_each_other(answer: Answer) -> str | None:
    """Blocks of messages are numbered from 0, and one ends before the next begins (E-175)."""
    count, is_open = 0, False
    for told in answer.documents:
        kind, index = told.get("type"), told.get("index")
        if kind == "content_block_start":
            if is_open or index != count:
                return "a block begins before the one before it has ended"
            is_open = True
        elif kind in ("content_block_delta", "content_block_stop"):
            if not is_open or index != count:
                return f"{kind} is not of the block that is open"
            if kind == "content_block_stop":
                is_open, count = False, count + 1
    return "a block never ends" if is_open else None


def names_are_types(answer: Answer) -> str | None:
    """An event is named as its document (E-173, E-187)."""
    for event in answer.events:
        word = event.document.get("type") if isinstance(event.document, dict) else None
        if event.name != word:
            return f"the event {event.name!r:.40} has the type {word!r:.40}"
    return None


def ends_with_its_mark(answer: Answer) -> str | None:
    """The last thing in a stream of chat is `[DONE]` (E-120)."""
    events = answer.events
    return None if events and events[-1].is_end_mark else "the stream does not end with [DONE]"


def logprobs_are_sound(answer: Answer) -> str | None:
    """Log probabilities are finite and at most 0 (E-112)."""
    for value in _numbers(answer.documents):
        if not isfinite(value) or value > 0:
            return f"a log probability is {value!r:.40}"
    return None


def rows_are_sound(answer: Answer) -> str | None:
    """Rows of the list of models have one window, and prices in plain decimals (E-34, E-36)."""
    document = answer.document
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        return "data is no list of models"
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("pricing"), dict):
            return "a model has no pricing"
        if row.get("context_length") != row.get("max_model_len"):
            return f"{row.get('id')!r:.80} has two windows"
        for name, price in row["pricing"].items():
            if not isinstance(price, str) or not _PRICE.fullmatch(price) or _decimal(price) is None:
                return f"the price {name!r:.40} of {row.get('id')!r:.80} is no plain decimal"
    return None


def is_plain_json(answer: Answer) -> str | None:
    """A refusal is one JSON object, also where a stream was asked for (section 5)."""
    return None if isinstance(answer.document, dict) else "the refusal is no JSON object"


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _found(answer: Answer, name: str) -> Iterator[dict[str, Any]]:
    """The objects of this name in an answer: at the top, in a response or in a message."""
    for document in answer.documents:
        for holder in (document, document.get("response"), document.get("message")):
            if isinstance(holder, dict) and isinstance(holder.get(name), dict):
                yield holder[name]


def _numbers(value: Any, name: str = "") -> Iterator[float]:
    """The log probabilities in a value; in completions the alternatives are maps from texts to them."""
    if isinstance(value, dict):
        is_map = name == "top_logprobs" and "logprob" not in value
        for key, item in value.items():
            yield from _numbers(item, "logprob" if is_map else key)
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item, name)
    elif name in ("logprob", "token_logprobs") and isinstance(value, int | float):
        yield value
