"""Faults of tool calls in messages: arguments at the wrong place, broken or cut ("Messages")."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import ToolCallDelta
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import Frame, Step


@fault("tool-input-at-start", endpoints=("messages",), streams=True)
class ToolInputAtStart(Fault):
    """Put the arguments of a tool call into the start of its block already, and send the deltas all the same."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The starts of calls with their arguments."""

        def change(document: Document, frame: Frame) -> Document:
            match document:
                case {"type": "content_block_start", "content_block": dict(block)}:
                    if isinstance(frame.event, ToolCallDelta):
                        block["input"] = _arguments(frame.event.call.arguments)
            return document

        return rewritten(steps, change)


@fault("tool-json-invalid", endpoints=("messages",))
class ToolJsonInvalid(Fault):
    """Send arguments that are not JSON; in a whole message they stand as a text in `input`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps with broken arguments."""

        def change(document: Document, frame: Frame) -> Document:
            match document:
                case {"delta": {"partial_json": str(arguments)}}:
                    document["delta"]["partial_json"] = _broken(arguments)
                case {"type": "message", "content": list(blocks)} if frame.is_whole:
                    for block in blocks:
                        if block["type"] == "tool_use":
                            block["input"] = _broken(json.text(block["input"]))
            return document

        return rewritten(steps, change)


@fault("tool-json-truncated", endpoints=("messages",))
class ToolJsonTruncated(Fault):
    """Cut the arguments of the last tool call as the limit of tokens would; a whole message has none then."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The answer with half of those arguments, ended by `max_tokens`."""
        return replace(generation, choices=tuple([_cut(choice) for choice in generation.choices]))


def _arguments(text: str) -> dict[str, Any]:
    """The arguments as values; none if they are no object."""
    try:
        found = json.read(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _broken(arguments: str) -> str:
    """No JSON, nor the beginning of any: a single quote stands where a name has to begin."""
    return "{'" + arguments.removeprefix("{")


def _cut(choice: Choice) -> Choice:
    if not choice.tool_calls:
        return choice
    *calls, last = choice.tool_calls
    short = last.arguments[: max(1, len(last.arguments) // 2)]
    return replace(choice, tool_calls=(*calls, last.changed(arguments=short)), finish_reason="length")
