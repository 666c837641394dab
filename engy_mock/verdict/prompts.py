"""What a test expects of prompts: text that is in them or not, and a budget."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal
from engy_mock.dialects.gist import PROMPT_FIELDS
from engy_mock.model.catalog import Catalog
from engy_mock.verdict.rendering import decoded, prompt_tokens
from engy_mock.verdict.requests import document_of, doubt, is_for_model, request_of
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import UnmetExpectation
from engy_mock.vocabulary.escapes import readings
from engy_mock.vocabulary.request import GenerationRequest, RawPrompt, Tool

SHOWN = 60
"""How many characters of a text around a finding are shown."""

Said = list[tuple[str, str]]
"""Texts, each with where it stands; several may stand in one place."""


def texts(request: GenerationRequest, catalog: Catalog) -> Said:
    """All that a request tells the model: what the templates make a prompt of, and nothing else."""
    if isinstance(request.prompt, RawPrompt):
        return [
            (f"prompt {place}", one if isinstance(one, str) else decoded(one, request, catalog))
            for place, one in enumerate(request.prompt.prompts)
        ]
    found: Said = []
    for place, message in enumerate(request.messages):
        found.append((f"message {place} ({message.role})", message.text))
        for call in message.tool_calls:
            where = f"message {place}, call of {call.name}"
            found += [(where, call.name), (where, call.arguments)]
    return found + [one for tool in request.tools for one in _of_tool(tool)]


def check(
    journal: Journal,
    catalog: Catalog,
    *,
    has: Sequence[str] = (),
    lacks: Sequence[str] = (),
    max_prompt_tokens: int | None = None,
) -> None:
    """Raise UnmetExpectation if a prompt lacks a text, has one that it must not have, or is too long.

    Refused requests count like others: what the client has sent has left its house. Where nobody knows what one
    said, that fails.
    """
    complaints: list[str] = []
    looked_at = 0
    for entry in journal:
        request = request_of(entry)
        if request is None:
            complaints += _of_unread(entry, has, lacks, max_prompt_tokens)
            continue
        looked_at += 1
        said = _read(texts(request, catalog))
        complaints += [
            f"{entry}\n     nothing in its prompt has {wanted!r}"
            for wanted in has
            if not any(wanted in text for _, text in said)
        ]
        complaints += _unwanted(entry, said, lacks)
        if max_prompt_tokens is not None:
            usage = entry.usage
            count = prompt_tokens(request, catalog) if usage is None else usage.prompt_tokens
            if count > max_prompt_tokens:
                complaints.append(f"{entry}\n     its prompt has {count} tokens, {max_prompt_tokens} are allowed")
    if not looked_at and not complaints:
        raise UnmetExpectation("no request has reached the model, so there is no prompt to look at")
    if journal.lost:
        complaints.append(f"nobody knows what else was told the model: {journal.losses}")
    if complaints:
        raise UnmetExpectation("\n".join(complaints))


def _of_unread(
    entry: Entry, has: Sequence[str], lacks: Sequence[str], max_prompt_tokens: int | None
) -> Iterator[str]:
    """The same of an exchange that asked no model, or whose body no model could read."""
    reason = doubt(entry)
    if reason is not None:
        if lacks or (is_for_model(entry) and (has or max_prompt_tokens is not None)):
            yield f"{entry}\n     nobody knows what it said: {reason}"
        return
    document = document_of(entry)
    if document is None:
        said = [("its body", entry.body.decode("utf-8", "replace"))]
    else:
        fields = [name for name in PROMPT_FIELDS if name in document]
        said = [(name, text) for name in fields for text in _strings(document[name])]
    yield from _unwanted(entry, _read(said), lacks)
    if is_for_model(entry):
        for wanted in has:
            yield f"{entry}\n     its body is no JSON object, so that it has no prompt with {wanted!r}"


def _read(said: Said) -> Said:
    """The same texts, each as sent and as read: a tool's arguments and results are JSON, often with escapes."""
    return [(where, reading) for where, text in said for reading in readings(text)]


def _unwanted(entry: Entry, said: Said, lacks: Sequence[str]) -> Iterator[str]:
    """The texts that should not be there, once for each place where they stand."""
    for unwanted in lacks:
        found = {where: text for where, text in reversed(said) if unwanted in text}
        for where in sorted(found, key=[where for where, _ in said].index):
            yield f"{entry}\n     {where} has {unwanted!r}: {_around(found[where], unwanted)!r}"


def _of_tool(tool: Tool) -> Said:
    """A tool with its parameters: as the prompt has them, and their texts as they are meant."""
    where = f"tool {tool.name}"
    found = [(where, tool.name), (where, tool.description or "")]
    if tool.parameters is not None:
        where = f"parameters of tool {tool.name}"
        found += [(where, text) for text in [*_strings(tool.parameters), json.text(tool.parameters)]]
    return found


def _strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys too, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [part for name in reversed(one) for part in (one[name], name)]
        elif isinstance(one, list):
            waiting += reversed(one)


def _around(text: str, found: str) -> str:
    begin = text.index(found)
    return text[max(0, begin - SHOWN // 2) : begin + len(found) + SHOWN // 2]
