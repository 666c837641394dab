"""The chunks of a streamed chat answer, byte for byte ("Streaming"; E-118 to E-125)."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from engy_mock.dialects import errors
from engy_mock.dialects.answer import answer_id, fingerprint, receipt_fields, usage
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.fold import Run
from engy_mock.dialects.surfaces import Surface
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    Raw,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import TokenLogprob
from engy_mock.vocabulary.request import ToolCall

MAX_REMEMBERED = 64
"""The longest piece that is remembered in its JSON form, in characters."""


class ChatStream:
    """Turns the events of one answer into chunks.

    All chunks begin alike and most end alike, so that a piece costs little more than its own text.
    """

    __slots__ = (
        "_choice_begins",
        "_chunk_begins",
        "_chunk_ends",
        "_delta_ends",
        "_envelope",
        "_includes_usage",
        "_is_scored",
        "_reasoning_begins",
        "_text_begins",
        "_unscored",
    )

    def __init__(self, envelope: Envelope) -> None:
        common = {
            "id": answer_id("chatcmpl-", envelope.receipt),
            "object": "chat.completion.chunk",
            "created": envelope.created,
            "model": envelope.request.model,
        }
        surface = envelope.surface
        more = json.write(fingerprint(surface))[1:]
        self._envelope = envelope
        self._unscored = b',"logprobs":null' if surface.shape == "openai" else b""
        self._chunk_ends = b"}]%b%b" % (b"," if len(more) > 1 else b"", more)
        self._is_scored = envelope.request.scoring.logprobs
        self._includes_usage = envelope.request.include_usage
        self._chunk_begins = b"data: " + json.write(common)[:-1] + b',"choices":['
        self._choice_begins = self._chunk_begins + b'{"index":'
        self._reasoning_begins = self._delta_begins(0) + b'{"reasoning_content":'
        self._text_begins = self._delta_begins(0) + b'{"content":'
        self._delta_ends = b'},"finish_reason":null%b%b\n\n' % (self._unscored, self._chunk_ends)

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        match event:
            case TextDelta():
                begins = self._text_begins
                if event.choice:
                    begins = self._delta_begins(event.choice) + b'{"content":'
                if self._is_scored:
                    entries = json.write(logprobs(event.logprobs or (), self._envelope.surface))
                    return b'%b%b},"finish_reason":null,"logprobs":%b%b\n\n' % (
                        begins,
                        escaped(event.text),
                        entries,
                        self._chunk_ends,
                    )
                return begins + escaped(event.text) + self._delta_ends
            case ReasoningDelta():
                begins = self._reasoning_begins
                if event.choice:
                    begins = self._delta_begins(event.choice) + b'{"reasoning_content":'
                return begins + escaped(event.text) + self._delta_ends
            case ToolCallDelta():
                call = {"index": event.index, **tool_call(event.call)}
                return self._delta(event.choice, {"tool_calls": [call]})
            case Started():
                return self._delta(event.choice, {"role": "assistant", "content": ""})
            case Finished():
                receipt = json.write(receipt_fields(self._envelope))[1:]
                return b'%b{},"finish_reason":%b%b%b%b%b\n\n' % (
                    self._delta_begins(event.choice),
                    json.write(event.reason),
                    self._unscored,
                    self._chunk_ends[:-1],
                    b"," if len(receipt) > 1 else b"",
                    receipt,
                )
            case UsageReported() if self._includes_usage or event.is_shown:
                counts = json.write(usage(event.usage, self._envelope.surface))
                return b'%b%b,"usage":%b}\n\n' % (self._chunk_begins, self._chunk_ends[1:-1], counts)
            case Ended():
                return self._envelope.surface.end_mark
            case Failure():
                envelope = self._envelope
                return b"data: %b\n\n" % errors.frame(event.error, envelope.surface, envelope.created)
            case Raw():
                return event.data
        return b""

    def encode_run(self, run: Run) -> list[bytes]:
        """What `encode` gives for each of these pieces."""
        if self._is_scored and run.kind is TextDelta:
            return [self.encode(event) for event in run.events()]
        key, begins = (b'{"reasoning_content":', self._reasoning_begins)
        if run.kind is TextDelta:
            key, begins = (b'{"content":', self._text_begins)
        if run.choice:
            begins = self._delta_begins(run.choice) + key
        ends = self._delta_ends
        as_json = _remembered if max(map(len, run.texts), default=0) <= MAX_REMEMBERED else escaped
        return [begins + text + ends for text in map(as_json, run.texts)]

    def _delta_begins(self, choice: int) -> bytes:
        """A chunk up to the delta of this choice."""
        return b'%b%d,"delta":' % (self._choice_begins, choice)

    def _delta(self, choice: int, delta: dict[str, Any]) -> bytes:
        """A running chunk of this choice."""
        return self._delta_begins(choice) + json.write(delta)[:-1] + self._delta_ends


def tool_call(call: ToolCall) -> dict[str, Any]:
    """A tool call as answers and chunks show it (E-136)."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def logprobs(entries: Iterable[TokenLogprob], surface: Surface) -> dict[str, Any]:
    """The log probabilities of tokens in the form of chat completions (E-111, S-51)."""
    content = [_entry(entry) for entry in entries]
    return {"content": content, "refusal": []} if surface.shape == "openai" else {"content": content}


def _entry(entry: TokenLogprob) -> dict[str, Any]:
    """One token with the likeliest alternatives."""
    return {
        "token": entry.token,
        "logprob": entry.logprob,
        "bytes": list(entry.raw),
        "top_logprobs": [
            {"token": token, "logprob": logprob, "bytes": list(raw)} for token, raw, logprob in entry.top
        ],
    }


def escaped(piece: str) -> bytes:
    """A piece of text as a JSON string."""
    return _remembered(piece) if len(piece) <= MAX_REMEMBERED else json.write(piece)


_remembered = lru_cache(maxsize=8192)(json.write)
"""Pieces in their JSON form: answers repeat their pieces a lot."""
