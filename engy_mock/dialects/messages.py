"""The messages dialect: `POST /v1/messages` in the form of Anthropic's Messages API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Required, cast

from typing_extensions import TypedDict

from engy_mock.dialects import errors, wishes
from engy_mock.dialects.answer import answer_id
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fields import Form, refuse
from engy_mock.dialects.marks import Count, Name
from engy_mock.dialects.messages_answer import proof, stopped, tool_use, usage
from engy_mock.dialects.messages_conversation import (
    TAGGED,
    MessageForms,
    System,
    Unsupported,
    conversation,
)
from engy_mock.dialects.messages_stream import MessagesStream
from engy_mock.dialects.messages_tools import ToolChoiceForm, ToolForm, impossible_choice, tool_choice, tools
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.request import Effort, Endpoint, GenerationRequest, ResponseFormat, ThinkingWish
from engy_mock.vocabulary.signature import signature


class ThinkingForm(TypedDict):
    """The field `thinking`; a budget has no effect (E-168)."""

    type: Literal["enabled", "adaptive", "between_tools", "disabled"]


class FormatForm(TypedDict):
    """The field `output_config.format`."""

    type: Literal["json_schema"]
    schema: dict[str, Any]


class OutputForm(TypedDict, total=False):
    """The field `output_config`."""

    effort: Effort | None
    format: FormatForm | None


class MetadataForm(TypedDict, total=False):
    """The field `metadata`."""

    user_id: str | None


class CountForm(TypedDict, total=False):
    """The body of a request whose prompt is to be counted: all but the limit of its answer."""

    model: Required[Name]
    messages: Required[MessageForms]
    system: System | None
    stream: bool | None
    temperature: wishes.Temperature | None
    top_p: wishes.TopP | None
    top_k: int | None
    stop_sequences: list[str] | None
    tools: list[ToolForm] | None
    tool_choice: ToolChoiceForm | None
    thinking: ThinkingForm | None
    output_config: OutputForm | None
    metadata: MetadataForm | None
    reasoning_effort: Effort | None
    reasoning: wishes.ReasoningForm | None
    chat_template_kwargs: dict[str, Any] | None
    prompt_cache_key: str | None
    provider: wishes.ProviderForm | None
    container: Unsupported
    mcp_servers: Unsupported


class MessagesForm(CountForm):
    """The body of a messages request."""

    max_tokens: Required[Count]


_FORM = Form(MessagesForm, tagged=TAGGED)
_COUNT_FORM = Form(CountForm, tagged=TAGGED)
_ANY_FORMAT = ResponseFormat()
_NAMES_IN_CHAT = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_sequences": "stop",
    "reasoning_effort": "reasoning_effort",
    "reasoning": "reasoning",
    "chat_template_kwargs": "chat_template_kwargs",
    "prompt_cache_key": "prompt_cache_key",
    "provider": "provider",
}
"""The fields that mean what a field of chat means (E-9, E-165)."""


@dataclass(slots=True, kw_only=True)
class Messages:
    """Reads messages requests and writes messages, whole or as a stream of events.

    Without `has_limit` its requests name no limit of their answer, as they are to be counted alone (E-177).
    """

    has_limit: bool = True
    endpoint: Endpoint = field(default="messages", init=False)
    has_one_id: bool = field(default=False, init=False)

    def shape(self, surface: Surface) -> type:
        """The fields of its requests."""
        return _FORM.shape if self.has_limit else _COUNT_FORM.shape

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value."""
        if not self.has_limit:
            return _request(_COUNT_FORM.read(body, surface, any_number), body, surface, None)
        form = _FORM.read(body, surface, any_number)
        return _request(form, body, surface, form["max_tokens"])

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object (E-170)."""
        choice = generation.choices[0]
        return json.write(
            {
                "id": answer_id("msg_", envelope.receipt),
                "type": "message",
                "role": "assistant",
                "model": envelope.request.model,
                "content": _content(choice),
                **stopped(choice.finish_reason, choice.stop_sequence),
                "usage": usage(generation.usage, envelope),
                **proof(envelope),
            }
        )

    def encoder(self, envelope: Envelope) -> MessagesStream:
        """A new encoder for one streamed answer."""
        return MessagesStream(envelope)

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        return json.write(errors.anthropic_error(error))


def _request(
    form: CountForm, body: Mapping[str, Any], surface: Surface, max_tokens: int | None
) -> GenerationRequest:
    """The request in a checked body."""
    offered = tools(form.get("tools"))
    choice, is_parallel = tool_choice(form.get("tool_choice"))
    wrong = impossible_choice(choice, offered)
    if wrong is not None:
        refuse(wrong)
    wished = _in_names_of_chat(form)
    return GenerationRequest(
        endpoint="messages",
        surface=surface.name,
        model=form["model"],
        prompt=conversation(form.get("system"), form["messages"]),
        sampling=wishes.sampling(wished),
        max_tokens=max_tokens,
        stop=wishes.stops(wished),
        tools=offered,
        tool_choice=choice,
        parallel_tool_calls=is_parallel,
        response_format=_response_format(form),
        thinking=_thinking(form, wished),
        is_streamed=form.get("stream") or False,
        cache_key=wishes.cache_key(wished),
        provider=wishes.provider(wished),
        body=body,
    )


def _in_names_of_chat(form: CountForm) -> wishes.WishesForm:
    """What the request wishes, under the names that chat has for it."""
    wished: dict[str, Any] = {
        _NAMES_IN_CHAT[name]: value for name, value in form.items() if name in _NAMES_IN_CHAT
    }
    metadata = form.get("metadata")
    if metadata is not None:
        wished["user"] = metadata.get("user_id")
    return cast(wishes.WishesForm, wished)


def _thinking(form: CountForm, wished: wishes.WishesForm) -> ThinkingWish:
    """What is wished about reasoning: this format's own fields count before those of chat.

    `disabled` is the last word; otherwise an effort says more than that there is to be thinking at all.
    """
    thinking = form.get("thinking")
    if thinking is not None and thinking["type"] == "disabled":
        return ThinkingWish(enabled=False)
    effort = (form.get("output_config") or {}).get("effort")
    if effort is not None:
        return ThinkingWish(effort=effort)
    return wishes.thinking(wished) if thinking is None else ThinkingWish(enabled=True)


def _response_format(form: CountForm) -> ResponseFormat:
    """The form asked of the text."""
    wished = (form.get("output_config") or {}).get("format")
    return _ANY_FORMAT if wished is None else ResponseFormat(type="json_schema", schema=wished["schema"])


def _content(choice: Choice) -> list[dict[str, Any]]:
    """The blocks of a whole answer: reasoning, text, tool calls (E-171)."""
    blocks: list[dict[str, Any]] = []
    if choice.reasoning is not None:
        thinking = choice.whole_reasoning
        blocks.append({"type": "thinking", "thinking": thinking, "signature": signature(thinking)})
    text = choice.whole_text
    if text:
        blocks.append({"type": "text", "text": text})
    blocks += [tool_use(call, _arguments(call.arguments)) for call in choice.tool_calls]
    return blocks


def _arguments(text: str) -> dict[str, Any]:
    """The arguments of a tool call; those that the limit cut count as none."""
    try:
        arguments = json.read(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
