"""What the service says, step by step: the events of one answer.

Regular events come in the order `Started`, deltas, `Finished` for each choice, then `UsageReported` and
`Ended`. Faults add the troubles: `Pause`, `Heartbeat`, `Failure`, `Refused`, `Raw` and `Cut`.
"""

from dataclasses import dataclass
from typing import Any

from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.generation import UNSAID, FinishReason, TokenLogprob, Usage
from engy_mock.vocabulary.request import ToolCall


@dataclass(frozen=True, slots=True)
class Started:
    """The answer begins; `choice` is its index.

    Where a raw prompt is echoed or scored, `prompt_text` and `prompt_logprobs` are those of the choice;
    `response` is what stands in place of its text.
    """

    choice: int = 0
    prompt_text: str | None = None
    prompt_logprobs: tuple[TokenLogprob, ...] | None = None
    response: Any = UNSAID


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """One piece of reasoning."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class TextDelta:
    """One piece of text, with the log probabilities of its tokens where they were asked for."""

    text: str
    logprobs: tuple[TokenLogprob, ...] | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """One whole tool call; `index` counts the calls of the answer from 0."""

    call: ToolCall
    index: int = 0
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A choice is complete."""

    reason: FinishReason = "stop"
    stop_sequence: str | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The token counts of the whole answer; dialects decide where and whether to show them.

    With `is_shown` a stream has them also where nobody asked for them.
    """

    usage: Usage
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing follows: the dialect writes its end mark, if it has one."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence of so many seconds of mock time; `math.inf` never ends.

    From one that `is_deaf` on, nothing is read from the client either.
    """

    seconds: float
    is_deaf: bool = False


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life without content, every so many seconds and so often (None: for ever).

    It is a comment line, or with `is_ping` the ping of the dialect, where it has one.
    """

    seconds: float
    count: int | None = None
    is_ping: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The service fails in mid-answer; nothing regular follows.

    It is told in the dialect if `is_told`, passed over in silence if not; None leaves that to the surface, and
    where failures are not told the transfer is broken off (S-82). `ends_response` is for the dialect whose
    answers have a state of their own: the response itself is told to have failed, on every surface.
    """

    error: ApiError
    is_told: bool | None = None
    ends_response: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """In place of an answer, and before any byte of it, a refusal.

    With `is_exact` its hints for another attempt are all that it has; else a hint may be added for tests.
    """

    error: ApiError
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that reach the body as they are, whatever the dialect."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends here: with a reset if `abrupt`, else as if the server had closed it."""

    abrupt: bool = False


Event = (
    Started
    | ReasoningDelta
    | TextDelta
    | ToolCallDelta
    | Finished
    | UsageReported
    | Ended
    | Pause
    | Heartbeat
    | Failure
    | Refused
    | Raw
    | Cut
)

Piece = ReasoningDelta | TextDelta | ToolCallDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an answer cost and under which id it can be found."""

    request_id: str
    charged_micro: int
    proof: dict[str, Any] | None = None
