"""The chat dialect: `POST .../chat/completions` in the form of OpenAI's chat completions."""

from collections.abc import Mapping
from typing import Annotated, Any, Required, cast

from engy_mock.dialects import errors, wishes
from engy_mock.dialects.answer import answer_id, fingerprint, receipt_fields, usage
from engy_mock.dialects.chat_stream import ChatStream, logprobs, tool_call
from engy_mock.dialects.conversation import TAGGED, Messages, conversation
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fields import Form, refuse
from engy_mock.dialects.marks import Count, Limits, SurfaceLimit
from engy_mock.dialects.response_format import ResponseFormatForm, impossible_format, response_format
from engy_mock.dialects.surfaces import Surface
from engy_mock.dialects.tools import ToolChoiceForm, ToolForm, impossible_choice, tool_choice, tools
from engy_mock.dialects.vendor_forms import VendorChatForm
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.request import Endpoint, GenerationRequest, Scoring


class ChatForm(wishes.WishesForm, total=False):
    """The body of a chat request ("Create a chat completion", Body parameters)."""

    messages: Required[Messages]
    max_completion_tokens: Count | None
    stream_options: wishes.StreamOptionsForm | None
    tools: list[ToolForm] | None
    tool_choice: ToolChoiceForm | None
    parallel_tool_calls: bool | None
    response_format: ResponseFormatForm | None
    logprobs: bool | None
    top_logprobs: Annotated[int, Limits(ge=0), SurfaceLimit("max_top_logprobs")] | None


_FORMS = {
    "v1": Form(ChatForm, tagged=TAGGED),
    # It has fewer fields; those that it lacks are absent.
    "v5": Form(cast("type[ChatForm]", VendorChatForm), tagged=TAGGED),
}
_NO_SCORING = Scoring()


class Chat:
    """Reads chat requests and writes chat completions, whole or as a stream of chunks."""

    endpoint: Endpoint = "chat"
    has_one_id: bool = True

    def shape(self, surface: Surface) -> type:
        """The fields of its requests."""
        return _FORMS[surface.name].shape

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value."""
        form = _FORMS[surface.name].read(body, surface, any_number)
        offered = tools(form.get("tools"))
        choice = tool_choice(form.get("tool_choice"))
        wrong = (impossible_choice(choice, offered), impossible_format(form.get("response_format")))
        if wrong != (None, None):
            refuse(*(found for found in wrong if found is not None))
        is_streamed = form.get("stream") or False
        return GenerationRequest(
            endpoint="chat",
            surface=surface.name,
            model=form["model"],
            prompt=conversation(form["messages"]),
            sampling=wishes.sampling(form),
            max_tokens=form.get("max_completion_tokens") or form.get("max_tokens"),
            stop=wishes.stops(form),
            copies=(form.get("n") or 1) if surface.makes_copies else 1,
            tools=offered,
            tool_choice=choice,
            parallel_tool_calls=form.get("parallel_tool_calls") is not False,
            response_format=response_format(form.get("response_format")),
            thinking=wishes.thinking(form),
            scoring=_scoring(form),
            is_streamed=is_streamed,
            include_usage=is_streamed and wishes.includes_usage(form.get("stream_options")),
            cache_key=wishes.cache_key(form),
            provider=wishes.provider(form),
            body=body,
        )

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object ("Create a chat completion", Response fields)."""
        is_scored, surface = envelope.request.scoring.logprobs, envelope.surface
        return json.write(
            {
                "id": answer_id("chatcmpl-", envelope.receipt),
                "object": "chat.completion",
                "created": envelope.created,
                "model": envelope.request.model,
                "choices": [_choice(choice, is_scored, surface) for choice in generation.choices],
                **fingerprint(surface),
                "usage": usage(generation.usage, surface),
                **receipt_fields(envelope),
            }
        )

    def encoder(self, envelope: Envelope) -> ChatStream:
        """A new encoder for one streamed answer."""
        return ChatStream(envelope)

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        return errors.refusal(error, surface)


def _choice(choice: Choice, is_scored: bool, surface: Surface) -> dict[str, Any]:
    """One choice of a whole answer (E-106 to E-108, S-51)."""
    is_full = surface.shape == "openai"
    text = "".join(choice.text)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if choice.tool_calls and not text else text,
    }
    if is_full:
        message["refusal"] = None
    if choice.reasoning is not None:
        message["reasoning_content"] = "".join(choice.reasoning)
    if choice.tool_calls:
        message["tool_calls"] = [tool_call(call) for call in choice.tool_calls]
    document: dict[str, Any] = {"index": choice.index, "message": message, "finish_reason": choice.finish_reason}
    if is_scored:
        entries = [entry for piece in choice.logprobs or () for entry in piece]
        document["logprobs"] = logprobs(entries, surface)
    elif is_full:
        document["logprobs"] = None
    return document


def _scoring(form: ChatForm) -> Scoring:
    """Which log probabilities are asked for; alternatives alone turn them on (E-64)."""
    top = form.get("top_logprobs") or 0
    is_scored = top > 0 or form.get("logprobs") is True
    return Scoring(logprobs=True, top=top) if is_scored else _NO_SCORING
