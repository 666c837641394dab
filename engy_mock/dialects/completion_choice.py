"""One choice of a text completion, as whole answers and chunks show it, with its log probabilities."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary.generation import Choice, FinishReason, TokenLogprob, by_token
from engy_mock.vocabulary.request import Scoring

_KEYS = {
    "engy": ("index", "text", "finish_reason", "logprobs"),
    "openai": ("finish_reason", "index", "text", "logprobs"),
}
_COLUMNS = {
    "engy": ("tokens", "token_logprobs", "top_logprobs", "text_offset"),
    "openai": ("text_offset", "token_logprobs", "tokens", "top_logprobs"),
}
"""The order of the fields, by the shape of the surface."""

_REASONS = {"tool_calls": "stop", "function_call": "stop"}
"""What a reason that belongs to chats comes to here."""

_decoder = getincrementaldecoder("utf-8")


def choice_document(
    index: int, text: str, reason: FinishReason | None, logprobs: dict[str, Any] | None, surface: Surface
) -> dict[str, Any]:
    """A choice with its fields in their order."""
    finish_reason = None if reason is None else _REASONS.get(reason, reason)
    fields = {"index": index, "text": text, "finish_reason": finish_reason, "logprobs": logprobs}
    return {key: fields[key] for key in _KEYS[surface.shape]}


def logprobs(choice: Choice, scoring: Scoring, surface: Surface) -> dict[str, Any] | None:
    """The log probabilities of one choice, in the form that the way of scoring gives them."""
    scored = choice.prompt_logprobs or ()
    # "Raw prompts", Score a span: no tokens, no offsets, and nothing of what was generated.
    if scoring.start is not None:
        return {"token_logprobs": values(scored), "token_ids": [entry.id for entry in scored]}
    if not scoring.logprobs:
        return None
    said = [entry for piece in choice.logprobs or () for entry in piece]
    if not scoring.echo:
        return columns(said, [entry.logprob for entry in said], offsets(choice.text, choice.logprobs), surface)
    entries = [*scored, *said]
    # "Raw prompts", Score the whole prompt: text_offset is -1 for every token.
    places = [-1] * len(entries)
    if surface.has_echo_offsets:
        prompt = choice.prompt_text or ""
        places = prompt_offsets(prompt, scored) + offsets(choice.text, choice.logprobs, len(prompt))
    return columns(entries, values(entries), places, surface)


def columns(
    entries: Sequence[TokenLogprob], values: list[float | None], places: list[int], surface: Surface
) -> dict[str, Any]:
    """Four lists of equal length; the chosen token is always among the alternatives (E-155, S-43)."""
    lists = {
        "tokens": [entry.token for entry in entries],
        "token_logprobs": values,
        "top_logprobs": [
            None if value is None else by_token(entry.top) | {entry.token: value}
            for entry, value in zip(entries, values, strict=True)
        ],
        "text_offset": places,
    }
    return {key: lists[key] for key in _COLUMNS[surface.shape]}


def values(entries: Iterable[TokenLogprob]) -> list[float | None]:
    """The log probabilities of a scored prompt: the first has none, wherever the span begins (E-158)."""
    return [None if place == 0 else entry.logprob for place, entry in enumerate(entries)]


def offsets(text: Iterable[str], logprobs: Iterable[Sequence[TokenLogprob]] | None, begin: int = 0) -> list[int]:
    """Where each token begins, in characters of the text; the first piece begins at `begin`."""
    places: list[int] = []
    for piece, entries in zip(text, logprobs or (), strict=False):
        places += [begin + min(place, len(piece)) for place in _places(entries)]
        begin += len(piece)
    return places


def prompt_offsets(prompt: str, entries: Iterable[TokenLogprob]) -> list[int]:
    """Where each token of an echoed prompt begins."""
    return [min(place, len(prompt)) for place in _places(entries)]


def _places(entries: Iterable[TokenLogprob]) -> Iterator[int]:
    """How many whole characters stand before each token."""
    decoder = _decoder("replace")
    begin = 0
    for entry in entries:
        yield begin
        begin += len(decoder.decode(entry.raw))
