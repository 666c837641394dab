"""An answer told otherwise: its choices changed, cut short, or with other words."""

from collections.abc import Callable
from dataclasses import replace

from engy_mock.vocabulary.generation import Choice, FinishReason, Generation, TokenLogprob

UNSCORED = -1.0
"""The log probability of words that nothing was said about."""


def with_choices(generation: Generation, change: Callable[[Choice], Choice]) -> Generation:
    """The same with each choice changed."""
    return replace(generation, choices=tuple([change(choice) for choice in generation.choices]))


def cut(generation: Generation, after: Callable[[Choice], int], reason: FinishReason) -> Generation:
    """Each choice up to the end of so many pieces, ended for this reason; what falls away is not counted."""
    choices = []
    fallen = 0
    for choice in generation.choices:
        kept = _kept(choice, after(choice))
        fallen += _pieces(choice) - _pieces(kept)
        choices.append(replace(kept, finish_reason=reason, stop_sequence=None))
    usage = generation.usage
    if fallen:
        tokens = max(0, usage.completion_tokens - fallen)
        usage = replace(usage, completion_tokens=tokens, reasoning_tokens=min(tokens, usage.reasoning_tokens))
    return Generation(choices=tuple(choices), usage=usage)


def middle(choice: Choice) -> int:
    """How many pieces come before the middle of the text."""
    return len(choice.reasoning or ()) + len(choice.text) // 2


def silent(choice: Choice) -> Choice:
    """The same without text."""
    return replace(choice, text=(), logprobs=None if choice.logprobs is None else ())


def followed(choice: Choice, *pieces: str) -> Choice:
    """The same with more pieces behind its text."""
    return inserted(choice, len(choice.text), *pieces)


def inserted(choice: Choice, place: int, *pieces: str) -> Choice:
    """The same with more pieces at a place in its text."""
    text = (*choice.text[:place], *pieces, *choice.text[place:])
    scored = choice.logprobs
    if scored is not None:
        scored = (*scored[:place], *[(entry(choice, piece),) for piece in pieces], *scored[place:])
    return replace(choice, text=text, logprobs=scored)


def entry(choice: Choice, piece: str, raw: bytes | None = None) -> TokenLogprob:
    """A token of these letters or bytes, as likely as the last one of the choice."""
    data = piece.encode() if raw is None else raw
    last = next((one for pieces in reversed(choice.logprobs or ()) for one in reversed(pieces)), None)
    if last is None:
        return TokenLogprob(id=0, token=piece, raw=data, logprob=UNSCORED)
    value = UNSCORED if last.logprob is None else last.logprob
    top = (*list(last.top)[:-1], (piece, data, value)) if last.top else ()
    return replace(last, token=piece, raw=data, logprob=value, top=top)


def _kept(choice: Choice, after: int) -> Choice:
    reasoning = choice.reasoning
    if reasoning is not None:
        reasoning, after = reasoning[:after], max(0, after - len(reasoning))
    text, after = choice.text[:after], max(0, after - len(choice.text))
    logprobs = None if choice.logprobs is None else choice.logprobs[: len(text)]
    tool_calls = choice.tool_calls[:after]
    return replace(choice, reasoning=reasoning, text=text, logprobs=logprobs, tool_calls=tool_calls)


def _pieces(choice: Choice) -> int:
    return len(choice.reasoning or ()) + len(choice.text) + len(choice.tool_calls)
