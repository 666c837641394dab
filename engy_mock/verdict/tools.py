"""What a client does with tool calls: run from broken arguments, run twice, sent back broken."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.call import Call
from engy_mock.verdict.finding import Finding
from engy_mock.vocabulary import json
from engy_mock.vocabulary.request import Message, ToolCall

_SAYS_ERROR = re.compile(
    r"error|invalid|malformed|not (?:valid |well-formed )?json|could not|cannot|can't|fail|exception|refus|retry"
    r"|truncat|incomplete|unparse?able",
    re.I,
)
"""What a result says that tells the model of its mistake, instead of being one."""


def is_broken(arguments: str) -> bool:
    """Whether arguments are no JSON object; none at all stand for an empty one."""
    if not arguments.strip():
        return False
    try:
        return not isinstance(json.read(arguments), dict)
    except ValueError:
        return True


def found_in(calls: Sequence[Call]) -> Iterator[Finding]:
    """What requests show of the tool calls in the answers before them; each call is blamed once."""
    sent: dict[str, tuple[Call, Attempt, ToolCall]] = {}
    doubled: set[str] = set()
    for call in calls:
        for attempt in call.attempts:
            for made in attempt.tool_calls:
                if made.id is not None and made.id in sent and sent[made.id][1] is attempt:
                    doubled.add(made.id)
                if made.id:
                    sent[made.id] = (call, attempt, made)
    blamed: set[tuple[str, str]] = set()
    for entry in _in_order(calls):
        for word, key, finding in _in_request(entry, sent, doubled):
            if (word, key) not in blamed:
                blamed.add((word, key))
                yield finding


def _in_order(calls: Sequence[Call]) -> Iterable[Entry]:
    entries = [attempt.entry for call in calls for attempt in call.attempts]
    return sorted(entries, key=lambda entry: entry.number)


def _in_request(
    entry: Entry, sent: dict[str, tuple[Call, Attempt, ToolCall]], doubled: set[str]
) -> Iterator[tuple[str, str, Finding]]:
    """What one request shows; each finding with its word and what it is about."""
    messages = () if entry.request is None else entry.request.messages
    ran: dict[str, Message] = {}
    attempts: dict[int, tuple[Attempt, str]] = {}
    for place, key, name in _broken_in(entry):
        numbers = (*_origin(key, sent, entry), entry.number)
        evidence = f"message {place} sends back a call of {name} whose arguments are no JSON"
        yield "poisoned-history", key, Finding.of("poisoned-history", numbers, evidence)
    for message in messages:
        key = (message.tool_call_id or "") if message.role == "tool" else ""
        if key not in sent or sent[key][1].number >= entry.number:
            continue
        call, attempt, made = sent[key]
        numbers = (attempt.number, entry.number)
        if key in ran and key not in doubled:
            evidence = f"there are two results for one call of {made.name}"
            yield "tool-executed-twice", key, Finding.of("tool-executed-twice", numbers, evidence)
        ran[key] = message
        if is_broken(made.arguments) and not _tells_error(message, entry):
            evidence = f"there is a result for a call of {made.name} whose arguments were no JSON"
            yield "broken-tool-call-executed", key, Finding.of("broken-tool-call-executed", numbers, evidence)
        other = attempts.setdefault(id(call), (attempt, made.name))
        if other[0] is not attempt and other[1] == made.name:
            numbers = (other[0].number, attempt.number, entry.number)
            evidence = f"there are results for calls of {made.name} from two attempts at one call"
            yield "tool-executed-twice", key, Finding.of("tool-executed-twice", numbers, evidence)


def _broken_in(entry: Entry) -> Iterator[tuple[int, str, str]]:
    """The tool calls of a history whose arguments do not parse: where they stand, their ids and names.

    They are read from the body as it was sent, since the service makes the best of what it understands.
    """
    if entry.request is None or entry.is_body_cut:
        return
    body = entry.request.body
    turns = body.get("messages") or body.get("input")
    for place, turn in enumerate(turns if isinstance(turns, list) else ()):
        if not isinstance(turn, dict):
            continue
        calls = turn.get("tool_calls")
        made = [call for call in (calls if isinstance(calls, list) else ()) if isinstance(call, dict)]
        said = [(call.get("id"), call.get("function")) for call in made]
        if turn.get("type") == "function_call":
            said.append((turn.get("call_id"), turn))
        for key, function in said:
            if isinstance(function, dict) and is_broken(str(function.get("arguments") or "")):
                yield place, str(key or ""), str(function.get("name") or "")


def _origin(key: str, sent: dict[str, tuple[Call, Attempt, ToolCall]], entry: Entry) -> tuple[int, ...]:
    found = sent.get(key)
    return () if found is None or found[1].number >= entry.number else (found[1].number,)


def _tells_error(message: Message, entry: Entry) -> bool:
    """Whether a result says that the call could not be run, in words or by the flag of its dialect."""
    if _SAYS_ERROR.search(message.text):
        return True
    body: Any = {} if entry.request is None or entry.is_body_cut else entry.request.body
    turns = body.get("messages") if isinstance(body, dict) else None
    for turn in turns if isinstance(turns, list) else ():
        content = turn.get("content") if isinstance(turn, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("tool_use_id") == message.tool_call_id:
                return block.get("is_error") is True
    return False
