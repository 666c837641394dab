"""What of an exchange a copy of it does not bring back, in a few words for whoever pastes it."""

from collections.abc import Iterator, Mapping
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.dialects import routes
from engy_mock.gateway.heads import PLAN
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import Choice, Generation

TRANSFER = frozenset({"connection", "content-length", "content-type", "transfer-encoding"})
"""The headers that say how a body comes, which is another matter than what it says."""

PARTS = {
    "whole_text": "text",
    "whole_reasoning": "reasoning",
    "finish_reason": "end",
    "logprobs": "log probabilities",
    "prompt_logprobs": "log probabilities of the prompt",
    "response": "response",
}
"""The parts of a choice that can be others, and what they are called."""


def losses(entry: Entry, mine: Entry) -> list[str]:
    """What of an exchange is another thing in the one that its copy makes."""
    return list(dict.fromkeys(_losses(entry, mine)))


def _losses(entry: Entry, mine: Entry) -> Iterator[str]:
    if entry.status != mine.status:
        yield f"status {entry.status or 'none'}"
    if entry.error != mine.error:
        yield "what was said of the error"
    missing = [written for written in entry.faults if written not in mine.faults]
    yield from (f"fault {written}" for written in missing)
    if entry.status == mine.status and not missing:
        theirs, own = headers_of(entry), headers_of(mine)
        yield from (f"header {name}" for name in theirs | own if theirs.get(name) != own.get(name))
        worded, other = error_of(entry), error_of(mine)
        yield from (f"{name} of the error" for name in worded if worded[name] != other.get(name))
    if entry.generation is not None and mine.generation is not None:
        yield from _unsaid(entry.generation, mine.generation)


def _unsaid(theirs: Generation, own: Generation) -> Iterator[str]:
    """What is another thing in what is said."""
    if theirs.usage != own.usage:
        yield "the counts of tokens"
    if len(theirs.choices) != len(own.choices):
        yield f"{len(theirs.choices)} choices"
        return
    for one, other in zip(theirs.choices, own.choices, strict=True):
        of = f" of choice {one.index}" if len(theirs.choices) > 1 else ""
        for part, called in PARTS.items():
            if getattr(one, part) != getattr(other, part):
                yield f"the {called}{of}"
        if _calls(one) != _calls(other):
            yield f"the calls of tools{of}"


def _calls(choice: Choice) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in choice.tool_calls]


def headers_of(entry: Entry) -> dict[str, str]:
    """The headers of the answer that are not of this one exchange alone; none where they are not kept."""
    head = entry.course.head
    if head is None:
        return {}
    ids = {name.lower() for name in (*routes.speaker(entry.path).id_headers, PLAN)}
    return {name: value for name, value in head.headers if name.lower() not in ids | TRANSFER}


def error_of(entry: Entry) -> Mapping[str, Any]:
    """What the body of a refusal says beside its message; nothing where it is no such body."""
    try:
        document = json.read(entry.body_sent) if entry.status >= 400 and entry.course.steps else None
    except (ValueError, MockError):
        return {}
    error = document.get("error") if isinstance(document, dict) else None
    said = error if isinstance(error, dict) else {}
    return {name: said[name] for name in ("type", "code", "param") if name in said}
