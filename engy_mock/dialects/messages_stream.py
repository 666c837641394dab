"""The events of a streamed message, byte for byte (E-173 to E-178)."""

from dataclasses import replace
from typing import Any

from engy_mock.dialects import errors
from engy_mock.dialects.answer import answer_id
from engy_mock.dialects.chat_stream import escaped
from engy_mock.dialects.dialect import Envelope, OneByOne
from engy_mock.dialects.messages_answer import proof, stopped, tool_use, usage
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    Heartbeat,
    Raw,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import Usage
from engy_mock.vocabulary.signature import signature

_DELTAS = {
    "text": b'{"type":"text_delta","text":',
    "thinking": b'{"type":"thinking_delta","thinking":',
    "tool_use": b'{"type":"input_json_delta","partial_json":',
}
"""How the deltas of each type of block begin (E-175)."""


def server_event(kind: str, fields: dict[str, Any]) -> bytes:
    """One event as it stands in the body; its data has the same type (E-173)."""
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.write({"type": kind, **fields}))


PING = server_event("ping", {})
"""What says no more than that the service is alive (E-176)."""


class MessagesStream(OneByOne):
    """Turns the events of one answer into the events of the Messages API.

    One block is open at a time, and ends when something else begins. All deltas of a block begin alike, so
    that a piece costs little more than its own text.
    """

    __slots__ = ("_delta_begins", "_envelope", "_finished", "_index", "_open", "_thought")

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope
        self._open = ""
        self._index = -1
        self._delta_begins = b""
        self._thought: list[str] = []
        self._finished: Finished | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        match event:
            case TextDelta():
                if self._open == "text":
                    return self._delta_begins + escaped(event.text) + b"}}\n\n"
                # Nothing said is no block, neither here nor in the whole answer.
                if not event.text:
                    return b""
                begins = self._begun({"type": "text", "text": ""})
                return begins + self._delta_begins + escaped(event.text) + b"}}\n\n"
            case ReasoningDelta():
                begins = b""
                if self._open != "thinking":
                    begins = self._begun({"type": "thinking", "thinking": "", "signature": ""})
                self._thought.append(event.text)
                return begins + self._delta_begins + escaped(event.text) + b"}}\n\n"
            case ToolCallDelta():
                begins = self._begun(tool_use(event.call, {}))
                # The text of the arguments, also where the limit cut it and the whole answer has `{}`.
                return begins + self._delta_begins + json.write(event.call.arguments) + b"}}\n\n"
            case Started():
                return server_event("message_start", {"message": self._skeleton()}) + PING
            case Finished():
                self._finished = event
                return self._closed()
            case UsageReported():
                return self._closed() + self._message_delta(event.usage)
            case Ended():
                return server_event("message_stop", {})
            case Failure():
                return b"event: error\ndata: %b\n\n" % json.write(errors.anthropic_error(event.error))
            case Heartbeat():
                return PING if event.is_ping else b""
            case Raw():
                return event.data
        return b""

    def _begun(self, block: dict[str, Any]) -> bytes:
        """The end of the block that is open, and the start of this one."""
        closed = self._closed()
        self._index += 1
        self._open = block["type"]
        self._delta_begins = self._delta(_DELTAS[self._open])
        return closed + server_event("content_block_start", {"index": self._index, "content_block": block})

    def _closed(self) -> bytes:
        """The end of the block that is open, if one is; reasoning is signed before it (E-175)."""
        if not self._open:
            return b""
        signed = b""
        if self._open == "thinking":
            seal = json.write({"type": "signature_delta", "signature": signature("".join(self._thought))})
            signed = self._delta(seal) + b"}\n\n"
            self._thought.clear()
        self._open = ""
        return signed + server_event("content_block_stop", {"index": self._index})

    def _delta(self, delta: bytes) -> bytes:
        """A delta of the block that is open, as far as it is given."""
        return b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":%b' % (
            self._index,
            delta,
        )

    def _message_delta(self, counts: Usage) -> bytes:
        """Why the answer ended, and what it came to."""
        finished = self._finished
        delta = stopped(finished.reason, finished.stop_sequence) if finished else stopped(None, None)
        fields = {"delta": delta, "usage": usage(counts, self._envelope), **proof(self._envelope)}
        return server_event("message_delta", fields)

    def _skeleton(self) -> dict[str, Any]:
        """The message before anything is said (E-174)."""
        envelope = self._envelope
        return {
            "id": answer_id("msg_", envelope.receipt),
            "type": "message",
            "role": "assistant",
            "model": envelope.request.model,
            "content": [],
            **stopped(None, None),
            "usage": usage(replace(envelope.usage, completion_tokens=0), envelope),
        }
