"""What the service will say, decided at once and before the first byte: a `Generation`.

Also `Reply`, what a test may dictate in its place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, overload

from engy_mock.vocabulary.request import ToolCall

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "function_call"]


class Unsaid(Enum):
    """What stands where nothing was said, since None is something that can be said: JSON's null."""

    UNSAID = "unsaid"

    def __repr__(self) -> str:
        return self.name


UNSAID = Unsaid.UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts of one answer; `reasoning_tokens` are part of `completion_tokens`."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.prompt_tokens + self.completion_tokens


class Alternatives(Sequence[tuple[str, bytes, float]]):
    """The likeliest tokens of one place, likeliest first: rows of text, bytes and log probability.

    Kept as three columns, since long texts have very many of them. `written` is for whoever writes them down: the
    same rows come again and again.
    """

    __slots__ = ("logprobs", "raws", "tokens", "written")

    def __init__(self, tokens: Sequence[str], raws: Sequence[bytes], logprobs: Sequence[float]) -> None:
        self.tokens = tokens
        self.raws = raws
        self.logprobs = logprobs
        self.written: bytes | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alternatives) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # its columns may be lists

    def __repr__(self) -> str:
        return f"Alternatives({list(self)!r})"

    def __iter__(self) -> Iterator[tuple[str, bytes, float]]:
        return zip(self.tokens, self.raws, self.logprobs, strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[str, bytes, float]: ...
    @overload
    def __getitem__(self, index: slice) -> "Alternatives": ...
    def __getitem__(self, index: int | slice) -> "tuple[str, bytes, float] | Alternatives":
        if isinstance(index, slice):
            return Alternatives(self.tokens[index], self.raws[index], self.logprobs[index])
        return self.tokens[index], self.raws[index], self.logprobs[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    r"""A token with its log probability (None where nothing precedes it) and the likeliest alternatives.

    `token` is the text of the token, or `bytes:\xNN...` where it is not whole characters; `raw` its bytes.
    `top` holds (token, raw, log probability), likeliest first.
    """

    id: int
    token: str
    raw: bytes
    logprob: float | None
    top: Sequence[tuple[str, bytes, float]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer: pieces of reasoning (None if the model did not reason), pieces of text, tool calls.

    A piece is one token, or the fewest tokens that make whole characters. `logprobs` has one tuple
    of entries for each piece of text. `prompt_logprobs` are the scored tokens of a raw prompt, `prompt_text`
    the echoed prompt. `stop_sequence` is the text that matched, if one did. `response` is what an inference
    call is answered in place of text, null too. `token_ids` are those of the text, `output_ids` all there were:
    marks and end included, where a proof was demanded.
    """

    index: int = 0
    reasoning: tuple[str, ...] | None = None
    text: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = "stop"
    stop_sequence: str | None = None
    logprobs: tuple[tuple[TokenLogprob, ...], ...] | None = None
    prompt_logprobs: tuple[TokenLogprob, ...] | None = None
    prompt_text: str | None = None
    response: Any = UNSAID
    token_ids: tuple[int, ...] = ()
    output_ids: tuple[int, ...] = ()

    @property
    def whole_text(self) -> str:
        """The text without its borders."""
        return "".join(self.text)

    @property
    def whole_reasoning(self) -> str:
        """The reasoning without its borders."""
        return "".join(self.reasoning or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Everything that one request is going to be told; `usage` is counted, or dictated by a test."""

    choices: tuple[Choice, ...]
    usage: Usage
    is_usage_dictated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a test dictates instead of the pretend model's own words.

    Its tokens get the log probabilities that the model gives them, unless `logprobs` dictates values by the
    text of a token. `finish_reason` and `usage` stand for themselves if given.
    """

    text: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    logprobs: Mapping[str, float] = field(default_factory=dict)
    response: Any = UNSAID
