"""What becomes of the words of an answer: limits, stops, pieces, counts and the reason why it ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engy_mock.model.language import Language
from engy_mock.model.templates import call_tokens
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.vocabulary.generation import FinishReason
from engy_mock.vocabulary.request import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The tokens of an answer before limits and stops: reasoning (None: none), text, tool calls.

    `is_ended` is true if the end of turn follows, false if the writing was cut by its limit.
    """

    reasoning: list[int] | None = None
    is_reasoning_closed: bool = False
    text: list[int] = field(default_factory=list)
    has_text: bool = True
    calls: tuple[ToolCall, ...] = ()
    is_ended: bool = False

    @property
    def first(self) -> int | None:
        """The token that the answer begins with, if it has any words."""
        return next(iter(self.reasoning or self.text), None)

    @classmethod
    def split(cls, written: list[int], language: Language, *, thinks: bool) -> "Parts":
        """The parts of what a model wrote behind its prompt."""
        is_ended = bool(written) and written[-1] == language.end
        tokens = written[:-1] if is_ended else written
        if not thinks:
            return cls(text=tokens, is_ended=is_ended)
        if language.think_end not in tokens:
            return cls(reasoning=tokens, is_ended=is_ended, is_reasoning_closed=is_ended)
        border = tokens.index(language.think_end)
        return cls(
            reasoning=tokens[:border],
            is_reasoning_closed=True,
            text=tokens[border + 1 :],
            is_ended=is_ended,
        )

    def followed_by(self, *, text: list[int] | None = None, calls: tuple[ToolCall, ...] = ()) -> "Parts":
        """The same reasoning, then a dictated text or tool calls, if the reasoning came to its end."""
        if self.reasoning is not None and not self.is_reasoning_closed:
            return self
        return replace(self, text=text or [], has_text=text is not None, calls=calls, is_ended=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """An answer as it will be told.

    `before_text` are the tokens between prompt and text, `sizes` the number of tokens in each piece of text.
    """

    reasoning: tuple[str, ...] | None
    text: tuple[str, ...]
    tool_calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    stop_sequence: str | None
    text_tokens: list[int]
    before_text: list[int]
    sizes: Sequence[int]
    completion_tokens: int
    reasoning_tokens: int


def compose(parts: Parts, tokenizer: Tokenizer, *, limit: int, stop: tuple[str, ...]) -> Composed:
    """Cut an answer at its limit or at a stop, and count it (E-100 to E-102, E-109).

    Both marks and the end of turn count one token each; an answer that does not fit with its end is cut to
    exactly `limit` tokens. A stop ends the text before its first match, the limit wins over the tool calls.
    What is cut is always the beginning of what would have been said: half a character is left out.
    """
    left = limit
    reasoning: tuple[str, ...] | None = None
    reasoning_tokens = 0
    before_text: list[int] = []
    is_cut = False
    if parts.reasoning is not None:
        kept = parts.reasoning[:left]
        is_cut = len(kept) < len(parts.reasoning) or not parts.is_reasoning_closed
        reasoning = tuple(_split(kept, tokenizer, is_cut=is_cut)[0])
        reasoning_tokens = len(kept)
        left -= len(kept)
        before_text = list(kept)
        if parts.is_reasoning_closed and left > 0:
            reasoning_tokens += 1
            left -= 1
            before_text.append(tokenizer.marks["</think>"])
        else:
            is_cut = True
    text_tokens = parts.text[:left]
    is_open = len(parts.text) > left or not parts.is_ended
    pieces, sizes = _split(text_tokens, tokenizer, is_cut=is_open)
    found = _first_stop("".join(pieces), stop) if stop and text_tokens else None
    if found is not None:
        place, matched = found
        pieces, sizes, whole = _upto(pieces, sizes, place)
        used = min(whole + 1, left)
        return Composed(
            reasoning=reasoning,
            text=tuple(pieces),
            tool_calls=(),
            finish_reason="stop",
            stop_sequence=matched,
            text_tokens=text_tokens[: sum(sizes)],
            before_text=before_text,
            sizes=sizes,
            completion_tokens=limit - left + used,
            reasoning_tokens=reasoning_tokens,
        )
    is_cut = is_cut or len(parts.text) > left
    left -= len(text_tokens)
    calls: list[ToolCall] = []
    for call in parts.calls:
        if is_cut:
            break
        kept_call, used = _fitted(call, tokenizer, left)
        left -= used
        if kept_call is not call:
            is_cut = True
        if kept_call is not None:
            calls.append(kept_call)
    if not is_cut and parts.is_ended and left > 0:
        left -= 1
        finish: FinishReason = "tool_calls" if calls else "stop"
    else:
        finish = "length"
    return Composed(
        reasoning=reasoning,
        text=tuple(pieces),
        tool_calls=tuple(calls),
        finish_reason=finish,
        stop_sequence=None,
        text_tokens=text_tokens,
        before_text=before_text,
        sizes=sizes,
        completion_tokens=limit - left,
        reasoning_tokens=reasoning_tokens,
    )


def spoken(parts: Parts, tokenizer: Tokenizer, end: int) -> list[int]:
    """All tokens of an answer before limits and stops, with its marks and its end: what is counted begins so."""
    marks = tokenizer.marks
    tokens = list(parts.reasoning or ())
    if parts.reasoning is not None and parts.is_reasoning_closed:
        tokens.append(marks["</think>"])
    tokens += parts.text
    for call in parts.calls:
        tokens.append(marks["<tool_call>"])
        tokens += call_tokens(call.name, call.arguments, tokenizer)
        tokens.append(marks["</tool_call>"])
    if parts.is_ended:
        tokens.append(end)
    return tokens


def _first_stop(text: str, stop: tuple[str, ...]) -> tuple[int, str] | None:
    """Where the first match begins, and which it is; of those at one place the longest."""
    matches = [(text.find(word), -len(word), word) for word in stop if word and word in text]
    if not matches:
        return None
    place, _, word = min(matches)
    return place, word


def _split(tokens: list[int], tokenizer: Tokenizer, *, is_cut: bool) -> tuple[list[str], list[int]]:
    """Pieces and their sizes; half a character at the end of a cut text falls away, its tokens join the last."""
    pieces, sizes = tokenizer.split(tokens)
    if is_cut and pieces and pieces[-1].endswith("\ufffd"):
        pieces[-1] = tokenizer.begun(tokens[-sizes[-1] :])
        if not pieces[-1] and len(pieces) > 1:
            del pieces[-1]
            last = sizes.pop()
            sizes[-1] += last
    return pieces, sizes


def _upto(pieces: list[str], sizes: Sequence[int], place: int) -> tuple[list[str], list[int], int]:
    """The pieces before this character, their sizes, and how many tokens are wholly before it."""
    kept: list[str] = []
    kept_sizes: list[int] = []
    whole = reached = 0
    for piece, size in zip(pieces, sizes, strict=True):
        if reached >= place:
            break
        part = piece[: place - reached]
        kept.append(part)
        kept_sizes.append(size)
        reached += len(piece)
        if len(part) == len(piece):
            whole += size
    return kept, kept_sizes, whole


def _fitted(call: ToolCall, tokenizer: Tokenizer, left: int) -> tuple[ToolCall | None, int]:
    """A call as far as it fits into so many tokens, both marks counted, and how many it takes."""
    name = len(tokenizer.encode(call.name)) + 1
    arguments = tokenizer.encode(call.arguments)
    whole = len(call_tokens(call.name, call.arguments, tokenizer)) + 2
    if whole <= left:
        return call, whole
    if left <= name:
        return None, left
    return call.changed(arguments=tokenizer.begun(arguments[: left - name])), left
