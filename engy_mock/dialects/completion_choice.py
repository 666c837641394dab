"""One choice of a text completion, as whole answers and chunks show it, with its log probabilities."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.generation import Alternatives, Choice, FinishReason, TokenLogprob
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
    index: int, text: str, reason: FinishReason | None, logprobs: bytes | None, surface: Surface
) -> bytes:
    """A choice with its fields in their order."""
    finish_reason = None if reason is None else _REASONS.get(reason, reason)
    fields = {
        "index": json.write(index),
        "text": json.write(text),
        "finish_reason": json.write(finish_reason),
        "logprobs": b"null" if logprobs is None else logprobs,
    }
    return json.joined({key: fields[key] for key in _KEYS[surface.shape]})


def completion(common: Mapping[str, Any], choices: Iterable[bytes], more: Mapping[str, Any]) -> bytes:
    """A whole completion: what all of them begin with, the choices, and what stands behind them."""
    rest = json.write(more)[1:]
    comma = b"," if more else b""
    return b'%b,"choices":[%b]%b%b' % (json.write(common)[:-1], b",".join(choices), comma, rest)


def logprobs(choice: Choice, scoring: Scoring, surface: Surface) -> bytes | None:
    """The log probabilities of one choice, in the form that the way of scoring gives them."""
    scored = choice.prompt_logprobs or ()
    # "Raw prompts", Score a span: no tokens, no offsets, and nothing of what was generated.
    if scoring.start is not None:
        return json.write({"token_logprobs": values(scored), "token_ids": [entry.id for entry in scored]})
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
) -> bytes:
    """Four lists of equal length; the chosen token is always among the alternatives (E-155, S-43)."""
    rows = [b"null" if value is None else _row(entry, value) for entry, value in zip(entries, values, strict=True)]
    lists = {
        "tokens": json.write([entry.token for entry in entries]),
        "token_logprobs": json.write(values),
        "top_logprobs": b"[%b]" % b",".join(rows),
        "text_offset": json.write(places),
    }
    return json.joined({key: lists[key] for key in _COLUMNS[surface.shape]})


def _row(entry: TokenLogprob, value: float) -> bytes:
    """The alternatives of a token, and itself with this value, as an object from token to log probability."""
    top, token = entry.top, entry.token
    if not isinstance(top, Alternatives):
        return json.write({**{other: logprob for other, _, logprob in top}, token: value})
    tokens = top.tokens
    if token in tokens and top.logprobs[tokens.index(token)] != value:
        return json.write({**dict(zip(tokens, top.logprobs, strict=True)), token: value})
    if top.written is None:
        top.written = json.write(dict(zip(tokens, top.logprobs, strict=True)))
    if token in tokens or not tokens:
        return top.written if tokens else json.write({token: value})
    return b"%b,%b" % (top.written[:-1], json.write({token: value})[1:])


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
