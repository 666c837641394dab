"""The completions dialect: `POST .../completions`, raw prompts and the scoring of text."""

from collections.abc import Mapping
from typing import Annotated, Any, Required, cast

from engy_mock.dialects import errors, wishes
from engy_mock.dialects.answer import answer_id, fingerprint, receipt_fields, usage
from engy_mock.dialects.completion_choice import choice_document, completion, logprobs
from engy_mock.dialects.completion_stream import CompletionStream
from engy_mock.dialects.dialect import Encoder, Envelope
from engy_mock.dialects.fields import Form, refuse, violation
from engy_mock.dialects.marks import Limits, Name, SurfaceLimit, Told
from engy_mock.dialects.surfaces import Surface
from engy_mock.dialects.vendor_forms import VendorCompletionForm, impossible_best_of, impossible_copies
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.request import Endpoint, GenerationRequest, RawPrompt, Scoring

_STRING, _IDS, _STRINGS, _LISTS_OF_IDS = range(4)


def by_first(value: object) -> int:
    """Which form a prompt has; in an array the first item tells."""
    if not isinstance(value, list):
        return _STRING
    first = value[0] if value else None
    return _STRINGS if isinstance(first, str) else _LISTS_OF_IDS if isinstance(first, list) else _IDS


TokenId = Annotated[int, Limits(ge=0)]
# Prompts can have a million items: the first wrong one is enough.
TokenIds = Annotated[list[TokenId], Limits(min_length=1, fail_fast=True)]
Names = Annotated[list[Name], Limits(fail_fast=True)]
Batch = Annotated[list[TokenIds], Limits(fail_fast=True)]
Prompt = Annotated[Name | TokenIds | Names | Batch, Told(by_first)]


class CompletionForm(wishes.WishesForm, total=False):
    """The body of a completion request ("Create a completion", Body parameters)."""

    prompt: Required[Prompt]
    logprobs: Annotated[int, Limits(ge=1), SurfaceLimit("max_logprobs")] | None
    echo: bool | None
    logprob_start_len: Annotated[int, Limits(ge=0)] | None


_FORMS = {
    "v1": Form(CompletionForm),
    # It has other fields; those that it lacks are absent.
    "v5": Form(cast("type[CompletionForm]", VendorCompletionForm)),
}


class Completions:
    """Reads raw prompts and writes text completions, whole or, where the surface does, as a stream."""

    endpoint: Endpoint = "completions"
    has_one_id: bool = True

    def shape(self, surface: Surface) -> type:
        """The fields of its requests."""
        return _FORMS[surface.name].shape

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value."""
        form = _FORMS[surface.name].read(body, surface, any_number)
        is_streamed = form.get("stream") or False
        if is_streamed and not surface.streams_completions:
            refuse(violation(("stream",), "stream_unsupported", path=_path(surface)))
        copies = (form.get("n") or 1) if surface.makes_copies else 1
        if surface.makes_copies:
            wrong = impossible_best_of(
                cast(VendorCompletionForm, form).get("best_of"), copies, is_streamed=is_streamed
            )
            if wrong is not None:
                refuse(wrong)
        prompt = _raw_prompt(form["prompt"])
        too_many = impossible_copies(copies, len(prompt.prompts), surface.max_choices)
        if too_many is not None:
            refuse(too_many)
        limit = form.get("max_tokens")
        return GenerationRequest(
            endpoint="completions",
            surface=surface.name,
            model=form["model"],
            prompt=prompt,
            sampling=wishes.sampling(form),
            max_tokens=surface.completion_tokens if limit is None else limit,
            stop=wishes.stops(form),
            copies=copies,
            thinking=wishes.thinking(form),
            scoring=Scoring(
                logprobs=form.get("logprobs") is not None,
                top=form.get("logprobs") or 0,
                echo=form.get("echo") or False,
                start=form.get("logprob_start_len"),
            ),
            is_streamed=is_streamed,
            include_usage=is_streamed
            and wishes.includes_usage(cast(VendorCompletionForm, form).get("stream_options")),
            cache_key=wishes.cache_key(form),
            provider=wishes.provider(form),
            body=body,
        )

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object ("Create a completion", Response fields)."""
        scoring, surface = envelope.request.scoring, envelope.surface
        common = {
            "id": answer_id("cmpl-", envelope.receipt),
            "object": "text_completion",
            "created": envelope.created,
            "model": envelope.request.model,
        }
        return completion(
            common,
            [_choice(choice, scoring, surface) for choice in generation.choices],
            {**fingerprint(surface), "usage": usage(generation.usage, surface), **receipt_fields(envelope)},
        )

    def encoder(self, envelope: Envelope) -> Encoder:
        """A new encoder for one streamed answer, also where only a fault can want one."""
        return CompletionStream(envelope)

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        return errors.refusal(error, surface)


def _choice(choice: Choice, scoring: Scoring, surface: Surface) -> bytes:
    """One choice of a whole answer."""
    text = (choice.prompt_text or "") + choice.whole_text
    return choice_document(choice.index, text, choice.finish_reason, logprobs(choice, scoring, surface), surface)


def _path(surface: Surface) -> str:
    """Where this endpoint stands."""
    return f"/{surface.name}/completions"


def _raw_prompt(prompt: str | list[int] | list[str] | list[list[int]]) -> RawPrompt:
    """The prompts, one or a batch."""
    if isinstance(prompt, str):
        return RawPrompt(prompts=(prompt,))
    if isinstance(prompt[0], int):
        return RawPrompt(prompts=(tuple(prompt),))
    return RawPrompt(prompts=tuple(item if isinstance(item, str) else tuple(item) for item in prompt))
