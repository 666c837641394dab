"""The bodies of requests under `/v5`, field by field, as far as they differ from those under `/v1`.

Fields that are not named here are accepted and have no effect (S-19).
"""

from typing import Annotated, Any, Literal, Required

from typing_extensions import TypedDict

from engy_mock.dialects.conversation import Messages
from engy_mock.dialects.fields import violation
from engy_mock.dialects.marks import Count, Limits, Name, SurfaceLimit, Told, Whole, WithoutEffect, by_shape
from engy_mock.dialects.response_format import ResponseFormatForm
from engy_mock.dialects.tools import ToolChoiceForm, ToolForm
from engy_mock.dialects.wishes import Bias, Penalty, Share, StreamOptionsForm, Temperature
from engy_mock.vocabulary.errors import Violation

# Arrays that should be ids can be long: their first wrong item is enough.
Prompts = Annotated[list[Name], Limits(min_length=1, fail_fast=True)]
Stops = Annotated[list[str], Limits(max_length=4)]
# Scale's page calls all of these numbers, and knows no whole ones.
Number = Annotated[int, Whole()]
Copies = Annotated[int, Limits(ge=1, le=128), Whole()]
Natural = Annotated[int, Limits(ge=0), Whole()]


class VendorForm(TypedDict, total=False):
    """The fields that completions and chat have in common; an empty model has no vendor (S-22)."""

    model: Required[str]
    stream: bool | None
    stream_options: StreamOptionsForm | None
    temperature: Temperature | None
    top_p: Share | None
    frequency_penalty: Penalty | None
    presence_penalty: Penalty | None
    logit_bias: Annotated[dict[str, Bias] | None, WithoutEffect()]
    n: Copies | None
    seed: Number | None
    stop: Annotated[str | Stops, Told(by_shape)] | None


class VendorCompletionForm(VendorForm, total=False):
    """The body of `POST /v5/completions` (S-25 to S-39)."""

    prompt: Required[Annotated[Name | Prompts, Told(by_shape)]]
    max_tokens: Natural | None
    best_of: Number | None
    echo: bool | None
    logprobs: Annotated[int, Limits(ge=0), SurfaceLimit("max_logprobs"), Whole()] | None
    suffix: Annotated[str | None, WithoutEffect()]
    user: Annotated[str | None, WithoutEffect()]


class VendorChatForm(VendorForm, total=False):
    """The body of `POST /v5/chat/completions` (S-49)."""

    messages: Required[Messages]
    max_tokens: Count | None
    max_completion_tokens: Count | None
    top_k: int | None
    logprobs: bool | None
    top_logprobs: Annotated[int, Limits(ge=0), SurfaceLimit("max_top_logprobs")] | None
    tools: Annotated[list[ToolForm], Limits(max_length=128)] | None
    tool_choice: ToolChoiceForm | None
    parallel_tool_calls: bool | None
    functions: list[dict[str, Any]] | None
    function_call: Annotated[str | dict[str, Any], Told(by_shape)] | None
    response_format: ResponseFormatForm | None
    reasoning_effort: Literal["low", "medium", "high"] | None
    modalities: list[str] | None
    prediction: dict[str, Any] | None
    audio: dict[str, Any] | None
    store: bool | None
    metadata: dict[str, str] | None


def impossible_best_of(best_of: int | None, copies: int, *, is_streamed: bool) -> Violation | None:
    """A number of tries that is below the number of answers, or that a stream cannot choose from (S-29)."""
    if best_of is None:
        return None
    if best_of < copies:
        return violation(("best_of",), "best_of_below", best_of, n=copies)
    if is_streamed and best_of > 1:
        return violation(("best_of",), "best_of_streamed", best_of)
    return None


def impossible_copies(copies: int, prompts: int, most: int | None) -> Violation | None:
    """More answers than a request may have, with its copies or without."""
    count = copies * prompts
    if most is None or count <= most:
        return None
    if copies == 1:
        return violation(("prompt",), "too_many_choices", count=count, most=most)
    return violation(("n",), "too_many_choices", copies, count=count, most=most)
