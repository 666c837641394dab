"""What a test expects of prompts: text that is in them or not, and a budget."""

from collections.abc import Sequence

from engy_mock.books.journal import Journal
from engy_mock.vocabulary.errors import UnmetExpectation
from engy_mock.vocabulary.request import GenerationRequest, RawPrompt

SHOWN = 60
"""How many characters of a text around a finding are shown."""


def texts(request: GenerationRequest) -> list[tuple[str, str]]:
    """All that a request tells the model, each text with where it stands."""
    if isinstance(request.prompt, RawPrompt):
        prompts = request.prompt.prompts
        return [(f"prompt {place}", text) for place, text in enumerate(prompts) if isinstance(text, str)]
    found = []
    for place, message in enumerate(request.messages):
        found.append((f"message {place} ({message.role})", message.text))
        found += [(f"message {place}, call of {call.name}", call.arguments) for call in message.tool_calls]
    return found + [(f"tool {tool.name}", tool.description or "") for tool in request.tools]


def check(
    journal: Journal,
    *,
    has: Sequence[str] = (),
    lacks: Sequence[str] = (),
    max_prompt_tokens: int | None = None,
) -> None:
    """Raise UnmetExpectation if a prompt lacks a text, has one that it must not have, or is too long."""
    complaints: list[str] = []
    looked_at = 0
    for entry in journal:
        if entry.request is None:
            continue
        looked_at += 1
        said = texts(entry.request)
        for wanted in has:
            if not any(wanted in text for _, text in said):
                complaints.append(f"{entry}\n     nothing in its prompt has {wanted!r}")
        for unwanted in lacks:
            for where, text in said:
                if unwanted in text:
                    complaints.append(f"{entry}\n     {where} has {unwanted!r}: {_around(text, unwanted)!r}")
        count = entry.usage.prompt_tokens if entry.usage is not None else None
        if max_prompt_tokens is not None and count is not None and count > max_prompt_tokens:
            complaints.append(f"{entry}\n     its prompt has {count} tokens, {max_prompt_tokens} are allowed")
    if not looked_at:
        raise UnmetExpectation("no request has reached the model, so there is no prompt to look at")
    if journal.lost:
        complaints.append(f"nobody knows what else was told the model: {journal.losses}")
    if complaints:
        raise UnmetExpectation("\n".join(complaints))


def _around(text: str, found: str) -> str:
    begin = text.index(found)
    return text[max(0, begin - SHOWN // 2) : begin + len(found) + SHOWN // 2]
