"""The chunks of a streamed text completion, byte for byte (S-46 to S-48)."""

from collections.abc import Sequence
from typing import Any

from engy_mock.dialects import errors
from engy_mock.dialects.answer import answer_id, fingerprint, usage
from engy_mock.dialects.completion_choice import (
    choice_document,
    columns,
    completion,
    offsets,
    prompt_offsets,
    values,
)
from engy_mock.dialects.dialect import Envelope, OneByOne
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    Raw,
    Started,
    TextDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import FinishReason, TokenLogprob


class CompletionStream(OneByOne):
    """Turns the events of one answer into chunks, each a whole completion with a piece of the text."""

    __slots__ = ("_begin", "_common", "_envelope", "_fingerprint")

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope
        self._common = {
            "id": answer_id("cmpl-", envelope.receipt),
            "object": "text_completion",
            "created": envelope.created,
            "model": envelope.request.model,
        }
        self._fingerprint = fingerprint(envelope.surface)
        self._begin = 0

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        envelope = self._envelope
        match event:
            case TextDelta():
                return self._piece(event.choice, event.text, event.logprobs)
            case Started():
                self._begin = 0
                return self._echo(event)
            case Finished():
                return self._choice(event.choice, "", reason=event.reason)
            case UsageReported() if envelope.request.include_usage or event.is_shown:
                return self._chunk([], usage=usage(event.usage, envelope.surface))
            case Ended():
                return envelope.surface.end_mark
            case Failure():
                return b"data: %b\n\n" % errors.frame(event.error, envelope.surface, envelope.created)
            case Raw():
                return event.data
        return b""

    def _echo(self, started: Started) -> bytes:
        """The prompt before the text, if it is asked for; its first token has no log probability (S-43)."""
        prompt = started.prompt_text
        if not prompt:
            return b""
        shown = None
        if self._envelope.request.scoring.logprobs:
            entries = started.prompt_logprobs or ()
            places = prompt_offsets(prompt, entries)
            shown = columns(entries, values(entries), places, self._envelope.surface)
        self._begin = len(prompt)
        return self._choice(started.choice, prompt, shown)

    def _piece(self, choice: int, text: str, entries: Sequence[TokenLogprob] | None) -> bytes:
        shown = None
        if self._envelope.request.scoring.logprobs:
            entries = entries or ()
            places = offsets((text,), (entries,), self._begin)
            shown = columns(entries, [entry.logprob for entry in entries], places, self._envelope.surface)
        self._begin += len(text)
        return self._choice(choice, text, shown)

    def _choice(
        self,
        index: int,
        text: str,
        logprobs: bytes | None = None,
        reason: FinishReason | None = None,
    ) -> bytes:
        return self._chunk([choice_document(index, text, reason, logprobs, self._envelope.surface)])

    def _chunk(self, choices: list[bytes], **more: dict[str, Any]) -> bytes:
        return b"data: %b\n\n" % completion(self._common, choices, {**self._fingerprint, **more})
