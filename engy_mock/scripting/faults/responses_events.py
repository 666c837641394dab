"""Faults of the events of a response: some are missing, unnumbered, unnamed or incomplete ("Responses")."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document, document, event, kind, payload, rewritten, with_document, without
from engy_mock.vocabulary.events import Ended
from engy_mock.vocabulary.wire import End, Frame, Step

TERMINAL = ("response.completed", "response.incomplete", "response.failed")

NUMBER = "sequence_number"


@fault("no-terminal-event", endpoints=("responses",), streams=True)
class NoTerminalEvent(Fault):
    """End the stream, in good order, without the event with the whole response."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """All steps but that one."""
        return without(steps, *TERMINAL)


@fault("output-item-added-missing", endpoints=("responses",), streams=True)
class OutputItemAddedMissing(Fault):
    """Leave out all `response.output_item.added`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps but for those, numbered without a gap."""
        return numbered(without(steps, "response.output_item.added"))


@fault("content-part-added-missing", endpoints=("responses",), streams=True)
class ContentPartAddedMissing(Fault):
    """Leave out all `response.content_part.added`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps but for those, numbered without a gap."""
        return numbered(without(steps, "response.content_part.added"))


@fault("delta-only", endpoints=("responses",), streams=True)
class DeltaOnly(Fault):
    """Send nothing but deltas between the beginning and the end of a response."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Deltas and the events of the response itself, numbered without a gap."""
        return numbered(step for step in steps if not _frames_a_delta(kind(step)))


@fault("sequence-number-missing", endpoints=("responses",), streams=True)
class SequenceNumberMissing(Fault):
    """Leave `sequence_number` out of all events."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The events without numbers."""

        def change(document: Document, _: Frame) -> Document:
            document.pop(NUMBER, None)
            return document

        return rewritten(steps, change)


@fault("sequence-number-odd", endpoints=("responses",), streams=True)
class SequenceNumberOdd(Fault):
    """Swap the numbers of every two events: 1, 0, 3, 2 and so on."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The events with such numbers."""

        def change(document: Document, _: Frame) -> Document:
            match document:
                case {"sequence_number": int(number)}:
                    document[NUMBER] = number ^ 1
            return document

        return rewritten(steps, change)


@fault("response-event-name-missing", endpoints=("responses",), streams=True)
class ResponseEventNameMissing(Fault):
    """Send events as `data:` lines only."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The events without names."""
        for step in steps:
            if isinstance(step, Frame) and not step.is_whole and kind(step):
                yield replace(step, data=event(payload(step)))
            else:
                yield step


@fault("response-done-appended", endpoints=("responses",), streams=True)
class ResponseDoneAppended(Fault):
    """Send `[DONE]` at the end, as chat does."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps, and that behind the last event."""
        is_stream = False
        for step in steps:
            if isinstance(step, End) and is_stream:
                yield Frame(event(b"[DONE]"), Ended())
            is_stream |= isinstance(step, Frame) and not step.is_whole
            yield step


@fault("item-status-missing", endpoints=("responses",))
class ItemStatusMissing(Fault):
    """Leave `status` out of all items."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The items without it, by themselves and in responses."""

        def change(document: Document, _: Frame) -> Document:
            for item in _items(document):
                item.pop("status", None)
            return document

        return rewritten(steps, change)


@fault("output-missing", endpoints=("responses",))
class OutputMissing(Fault):
    """Leave `output` out of the response in `response.in_progress`, or out of a whole one."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The responses without it."""

        def change(document: Document, frame: Frame) -> Document:
            match document:
                case {"type": "response.in_progress", "response": dict(response)}:
                    response.pop("output", None)
                case {"object": "response"} if frame.is_whole:
                    document.pop("output", None)
            return document

        return rewritten(steps, change)


def numbered(steps: Iterator[Step]) -> Iterator[Step]:
    """The steps with events numbered from 0 without a gap."""
    number = 0
    for step in steps:
        found = document(step) if isinstance(step, Frame) else None
        if isinstance(step, Frame) and found is not None and NUMBER in found:
            yield with_document(step, {**found, NUMBER: number})
            number += 1
        else:
            yield step


def _frames_a_delta(word: str) -> bool:
    """Whether an event of this type stands around deltas."""
    return word.startswith(("response.output_item.", "response.content_part.")) or (
        word.startswith("response.") and word.endswith(".done")
    )


def _items(document: Document) -> list[dict[str, Any]]:
    """The items in an event, or in a whole response."""
    match document:
        case {"item": dict(item)}:
            return [item]
        case {"output": list(items)} | {"response": {"output": list(items)}}:
            return items
    return []
