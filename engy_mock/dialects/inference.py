"""The inference dialect: `POST /v5/inference`, a payload of any form that is handed to the vendor."""

from collections.abc import Mapping
from typing import Any, Required

from typing_extensions import TypedDict

from engy_mock.dialects import errors
from engy_mock.dialects.dialect import Envelope, OneByOne
from engy_mock.dialects.fields import Form
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Ended, Event, Failure, Raw, Started, TextDelta
from engy_mock.vocabulary.generation import UNSAID, Generation
from engy_mock.vocabulary.request import Conversation, Endpoint, GenerationRequest, Message


class ConfigurationForm(TypedDict, total=False):
    """The field `inference_configuration`, which has no effect."""

    num_retries: int | None
    timeout_seconds: int | None


class InferenceForm(TypedDict, total=False):
    """The body of an inference request (S-73, S-75)."""

    model: Required[str]
    args: dict[str, Any] | None
    inference_configuration: ConfigurationForm | None
    stream: bool | None


_FORM = Form(InferenceForm)


class Inference:
    """Reads requests for inference and writes generic answers, whole or as a stream of pieces."""

    endpoint: Endpoint = "inference"
    has_one_id: bool = False

    def shape(self, surface: Surface) -> type:
        """The fields of its requests."""
        return _FORM.shape

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value."""
        form = _FORM.read(body, surface, any_number)
        args = form.get("args") or {}
        return GenerationRequest(
            endpoint="inference",
            surface=surface.name,
            model=form["model"],
            prompt=Conversation(messages=(Message(role="user", text=_asked(args)),)),
            is_streamed=args.get("stream") is True or form.get("stream") is True,
            body=body,
        )

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object (S-74)."""
        choice = generation.choices[0]
        response = choice.response
        if response is UNSAID:
            response = {"args": envelope.request.body.get("args") or {}, "output": choice.whole_text}
        return json.write({"object": "generic_inference", "response": response})

    def encoder(self, envelope: Envelope) -> "InferenceStream":
        """A new encoder for one streamed answer."""
        return InferenceStream(envelope)

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        return errors.refusal(error, surface)


class InferenceStream(OneByOne):
    """Turns the events of one answer into chunks: one for each piece of text, or one for a dictated response."""

    __slots__ = ("_envelope", "_is_dictated")

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope
        self._is_dictated = False

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        envelope = self._envelope
        match event:
            case TextDelta() if not self._is_dictated:
                return _chunk(event.text)
            case Started() if event.response is not UNSAID:
                self._is_dictated = True
                return _chunk(event.response)
            case Ended():
                return envelope.surface.end_mark
            case Failure():
                return b"data: %b\n\n" % errors.frame(event.error, envelope.surface, envelope.created)
            case Raw():
                return event.data
        return b""


def _chunk(response: Any) -> bytes:
    return b"data: %b\n\n" % json.write({"object": "generic_inference.chunk", "response": response})


def _asked(args: Mapping[str, Any]) -> str:
    """What the pretend model is asked: the prompt if there is one, else the arguments as they are.

    Whether the answer is streamed is no part of it (E-13).
    """
    prompt = args.get("prompt")
    if isinstance(prompt, str):
        return prompt
    return json.text({name: value for name, value in args.items() if name != "stream"})
