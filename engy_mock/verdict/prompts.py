"""What a test expects of prompts: text that is in them or not, and a budget."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal
from engy_mock.books.shortened import Shortened
from engy_mock.dialects.gist import PROMPT_FIELDS, fields_read
from engy_mock.model.catalog import Catalog
from engy_mock.verdict.rendering import decoded, prompt_tokens
from engy_mock.verdict.requests import document_of, doubt, is_for_model, is_sound, request_of, strings
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError, UnmetExpectation
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
    has: object = (),
    lacks: object = (),
    max_prompt_tokens: object = None,
) -> None:
    """Raise UnmetExpectation if a prompt lacks a text, has one that it must not have, or is too long.

    Refused requests count like others: what the client has sent has left its house. Where nobody knows what one
    said, that fails.
    """
    has, lacks, most = _texts("has", has), _texts("lacks", lacks), _count(max_prompt_tokens)
    complaints: list[str] = []
    looked_at = 0
    for entry in journal:
        request = request_of(entry)
        if request is None:
            complaints += _of_unread(entry, has, lacks, most)
            continue
        looked_at += 1
        said = _read(texts(request, catalog))
        complaints += [
            f"{entry}\n     nothing in its prompt has {wanted!r}"
            for wanted in has
            if not any(wanted in text for _, text in said)
        ]
        complaints += _unwanted(entry, said, lacks)
        if lacks and not is_sound(entry):
            complaints += _elsewhere(entry, request, said, lacks)
        if most is not None:
            usage = entry.usage
            count = prompt_tokens(request, catalog) if usage is None else usage.prompt_tokens
            if count > most:
                complaints.append(f"{entry}\n     its prompt has {count} tokens, {most} are allowed")
    if not looked_at and not complaints and not journal.lost:
        raise UnmetExpectation("no request has reached the model, so there is no prompt to look at")
    if journal.lost:
        complaints.append(f"nobody knows what else was told the model: {journal.losses}")
    if complaints:
        raise UnmetExpectation("\n".join(complaints))


def _texts(word: str, wanted: object) -> tuple[str, ...]:
    """The texts to look for, one or several; raises MockError for what is none."""
    several = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        raise MockError(f"check_prompts: {word}= takes a text or a list of texts, got {wanted!r:.80}")
    return tuple(several)


def _count(most: object) -> int | None:
    if most is None or (type(most) is int and most >= 0):
        return most
    raise MockError(f"check_prompts: max_prompt_tokens= takes a whole number from 0, got {most!r:.80}")


def _of_unread(
    entry: Entry, has: Sequence[str], lacks: Sequence[str], max_prompt_tokens: int | None
) -> Iterator[str]:
    """The same of an exchange that asked no model, or whose body no model could read."""
    document, reason = document_of(entry), doubt(entry)
    if document is not None:
        is_refused = entry.status >= 400
        fields = [name for name in document if is_refused or name in PROMPT_FIELDS]
        yield from _unwanted(entry, _read(_of_fields(document, fields)), lacks)
    elif reason is None:
        for wanted in has if is_for_model(entry) else ():
            yield f"{entry}\n     its body is empty, so that it has no prompt with {wanted!r}"
    else:
        there = list(_unwanted(entry, _read([("its body", entry.body.decode("utf-8", "replace"))]), lacks))
        yield from there
        if not there and (lacks or (is_for_model(entry) and (has or max_prompt_tokens is not None))):
            yield f"{entry}\n     nobody knows what it said: {reason}"


def _elsewhere(entry: Entry, request: GenerationRequest, said: Said, lacks: Sequence[str]) -> Iterator[str]:
    """Texts that stand in a body that breaks a rule, but in no turn of it: nobody knows what was meant by them."""
    left = [unwanted for unwanted in lacks if not any(unwanted in text for _, text in said)]
    yield from _unwanted(entry, _read(_of_fields(request.body, list(request.body))), left)
    if isinstance(request.body, Shortened) and (gone := request.body.left_out - fields_read(request.endpoint)):
        names = ", ".join(sorted(gone))
        yield f"{entry}\n     nobody knows what else it said: {names:.80} had no room in the journal"


def _of_fields(document: Mapping[str, Any], names: Sequence[str]) -> Said:
    """The texts in these fields, with their names."""
    return [(name, text) for name in names for text in (name, *strings(document[name]))]


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
        found += [(where, text) for text in [*strings(tool.parameters), json.text(tool.parameters)]]
    return found


def _around(text: str, found: str) -> str:
    begin = text.index(found)
    return text[max(0, begin - SHOWN // 2) : begin + len(found) + SHOWN // 2]
