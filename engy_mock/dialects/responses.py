"""The responses dialect: `POST .../responses` in the form of OpenAI's responses, without state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Required, cast, final

from typing_extensions import TypedDict

from engy_mock.dialects import errors, wishes
from engy_mock.dialects.conversation import conversation
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fields import Form, refuse, violation
from engy_mock.dialects.marks import Count, Limits, Name, SurfaceLimit, Told, by_shape
from engy_mock.dialects.responses_answer import INCOMPLETE, output, response
from engy_mock.dialects.responses_input import TAGGED, Input, Sorted, chat_messages
from engy_mock.dialects.responses_stream import ResponsesStream
from engy_mock.dialects.surfaces import Surface
from engy_mock.dialects.tools import OfferedForm, impossible_choice, tool_choice, tools
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError, Violation
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import (
    Effort,
    Endpoint,
    GenerationRequest,
    ResponseFormat,
    Scoring,
    Tool,
    ToolChoice,
)


class FunctionForm(OfferedForm):
    """A function that is offered, in the flat form of this endpoint."""

    type: Literal["function"]


@final
class OtherToolForm(TypedDict):
    """A tool of another type, which the model never sees (E-182a)."""

    type: str


class NamedToolForm(TypedDict):
    """A tool choice that names a function."""

    type: Literal["function"]
    name: str


class FormatForm(TypedDict, total=False):
    """The field `text.format`; what `schema` may be is looked at where it counts."""

    type: Required[str]
    name: str | None
    schema: Any


class TextForm(TypedDict, total=False):
    """The field `text`."""

    format: FormatForm | None
    verbosity: str | None


class ReasoningForm(wishes.ReasoningForm, total=False):
    """The field `reasoning`."""

    summary: str | None


def by_tool_type(tool: object) -> int:
    """The form of a tool."""
    return 0 if isinstance(tool, dict) and tool.get("type") == "function" else 1


class SharedForm(TypedDict, total=False):
    """The fields of a body that are alike on both surfaces; some are read where the answer repeats them."""

    input: Required[Input]
    instructions: str | None
    max_output_tokens: Count | None
    stream: bool | None
    temperature: wishes.Temperature | None
    tools: list[Annotated[FunctionForm | OtherToolForm, Sorted(by_tool_type)]] | None
    tool_choice: Annotated[Literal["auto", "required", "none"] | NamedToolForm, Told(by_shape)] | None
    parallel_tool_calls: bool | None
    max_tool_calls: Count | None
    text: TextForm | None
    reasoning: ReasoningForm | None
    include: list[str] | None
    prompt_cache_key: str | None
    safety_identifier: str | None
    user: str | None
    metadata: dict[str, str] | None
    previous_response_id: str | None


class ResponseForm(SharedForm, total=False):
    """The body of a request under `/v1` (E-180 to E-182)."""

    model: Required[Name]
    top_p: wishes.TopP | None
    presence_penalty: wishes.Penalty | None
    frequency_penalty: wishes.Penalty | None
    reasoning_effort: Effort | None
    chat_template_kwargs: dict[str, Any] | None
    top_logprobs: Annotated[int, Limits(ge=0), SurfaceLimit("max_top_logprobs")] | None
    provider: wishes.ProviderForm | None
    background: bool | None
    conversation: Any
    prompt: Any


class VendorResponseForm(SharedForm, total=False):
    """The body of a request under `/v5` (S-68); an empty model has no vendor (S-22)."""

    model: Required[str]
    top_p: wishes.Share | None
    truncation: Literal["auto", "disabled"] | None
    store: bool | None


_FORMS = {
    "v1": Form(ResponseForm, tagged=(*TAGGED, "tools")),
    # It has fewer fields; those that it lacks are absent.
    "v5": Form(cast("type[ResponseForm]", VendorResponseForm), tagged=(*TAGGED, "tools")),
}
_WITH_LOGPROBS = "message.output_text.logprobs"
_ANY_FORMAT = ResponseFormat()
_NO_SCORING = Scoring()


@dataclass(slots=True, kw_only=True)
class Responses:
    """Reads requests for responses and writes them, whole or as a stream of events.

    `strict_tools` refuses tools of other types (E-181). `takes_previous` accepts a `previous_response_id`, to
    no effect; without `names_events` a stream has `data:` lines only (both as on `/v5`).
    """

    strict_tools: bool = False
    takes_previous: bool = False
    names_events: bool = True
    endpoint: Endpoint = field(default="responses", init=False)
    has_one_id: bool = field(default=False, init=False)

    def shape(self, surface: Surface) -> type:
        """The fields of its requests."""
        return _FORMS[surface.name].shape

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value."""
        form = _FORMS[surface.name].read(body, surface, any_number)
        offered = tools([{"type": "function", "function": tool} for tool in _functions(form)])
        choice = _tool_choice(form.get("tool_choice"))
        messages = chat_messages(form.get("instructions"), form["input"])
        wrong = [*self._refused(form), _impossible_choice(choice, offered), _impossible_format(form)]
        if not messages:
            wrong.append(violation(("input",), "only_reasoning"))
        found = [violation for violation in wrong if violation is not None]
        if found:
            refuse(*found)
        # The fields of both have the same names, and those that only a chat has are not there.
        wished = cast(wishes.WishesForm, form)
        return GenerationRequest(
            endpoint="responses",
            surface=surface.name,
            model=form["model"],
            prompt=conversation(messages),
            sampling=wishes.sampling(wished),
            max_tokens=form.get("max_output_tokens"),
            tools=offered,
            tool_choice=choice,
            parallel_tool_calls=form.get("parallel_tool_calls") is not False,
            response_format=_response_format(form),
            thinking=wishes.thinking(wished),
            scoring=_scoring(form),
            is_streamed=form.get("stream") or False,
            cache_key=wishes.cache_key(wished),
            provider=wishes.provider(wished),
            body=body,
        )

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object."""
        choice = generation.choices[0]
        incomplete = INCOMPLETE.get(choice.finish_reason)
        return json.write(
            response(
                envelope,
                "completed" if incomplete is None else "incomplete",
                output=output(choice, envelope),
                counts=generation.usage,
                incomplete=incomplete,
            )
        )

    def encoder(self, envelope: Envelope) -> ResponsesStream:
        """A new encoder for one streamed answer."""
        return ResponsesStream(envelope, names_events=self.names_events or envelope.names_events)

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        return errors.refusal(error, surface)

    def _refused(self, form: ResponseForm) -> list[Violation]:
        """What would need a state, or a tool that there is not (E-181)."""
        wished = {
            "previous_response_id": None if self.takes_previous else form.get("previous_response_id"),
            "conversation": form.get("conversation"),
            "prompt": form.get("prompt"),
            "background": form.get("background") or None,
        }
        wrong = [violation((name,), "stateful", value) for name, value in wished.items() if value is not None]
        if self.strict_tools:
            wrong += [
                violation(("tools", place, "type"), "literal_error", tool["type"], expected="function")
                for place, tool in enumerate(form.get("tools") or ())
                if tool["type"] != "function"
            ]
        return wrong


def _functions(form: ResponseForm) -> list[FunctionForm]:
    """The functions among the tools."""
    return [tool for tool in form.get("tools") or () if "name" in tool]


def _tool_choice(choice: Literal["auto", "required", "none"] | NamedToolForm | None) -> ToolChoice:
    """Whether the model may call them."""
    if choice is None or isinstance(choice, str):
        return tool_choice(choice)
    return tool_choice({"type": "function", "function": {"name": choice["name"]}})


def _impossible_choice(choice: ToolChoice, offered: tuple[Tool, ...]) -> Violation | None:
    """What a tool choice demands although it is not on offer (E-57)."""
    found = impossible_choice(choice, offered)
    return violation(("tool_choice", "name"), found.kind, choice.name) if found and choice.name else found


def _scoring(form: ResponseForm) -> Scoring:
    """Which log probabilities are asked for: alternatives turn them on, or `include` does without any."""
    top = form.get("top_logprobs") or 0
    is_scored = top > 0 or _WITH_LOGPROBS in (form.get("include") or ())
    return Scoring(logprobs=True, top=top) if is_scored else _NO_SCORING


def _response_format(form: ResponseForm) -> ResponseFormat:
    """The form asked of the text."""
    wished = (form.get("text") or {}).get("format")
    if wished is None:
        return _ANY_FORMAT
    if wished["type"] != "json_schema":
        return ResponseFormat(type=wished["type"])
    return ResponseFormat(type="json_schema", schema=wished.get("schema"), name=wished.get("name"))


def _impossible_format(form: ResponseForm) -> Violation | None:
    """A schema that is asked for and missing, or is none."""
    wished = (form.get("text") or {}).get("format")
    if wished is None or wished["type"] != "json_schema":
        return None
    path = ("text", "format", "schema")
    schema = wished.get("schema")
    if schema is None:
        return violation(path, "missing")
    return None if isinstance(schema, dict | bool) else violation(path, "schema_type", schema)
