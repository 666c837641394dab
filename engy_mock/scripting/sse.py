"""The inside of a frame: name, data and JSON document of a server-sent event, or of a whole answer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from json import dumps
from typing import Any, TypeGuard

from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import Raw
from engy_mock.vocabulary.wire import Frame, Repeat, Step

_DATA = b"data: "
_NAME = b"event: "

Document = dict[str, Any]

END_MARK = b"[DONE]"
"""The data of what closes the streams of the OpenAI dialects."""


def is_event(step: Step) -> TypeGuard[Frame]:
    """Whether it is a server-sent event, not the body of a whole answer."""
    return isinstance(step, Frame) and not step.is_whole


def is_end_mark(step: Step) -> bool:
    """Whether it is what closes a stream in the OpenAI dialects."""
    return is_event(step) and payload(step) == END_MARK


def name(frame: Frame) -> str:
    """What stands behind `event:`; empty if nothing does."""
    line = frame.data.partition(b"\n")[0]
    return line.removeprefix(_NAME).decode() if line.startswith(_NAME) else ""


def payload(frame: Frame) -> bytes:
    """The data of the event, or the whole body."""
    if frame.is_whole:
        return frame.data
    lines = frame.data.split(b"\n")
    return b"\n".join([line.removeprefix(_DATA) for line in lines if line.startswith(_DATA)])


def event(data: bytes, named: str = "") -> bytes:
    """An event as the services write them."""
    head = b"event: %b\n" % named.encode() if named else b""
    return b"%bdata: %b\n\n" % (head, data)


def with_payload(frame: Frame, data: bytes) -> Frame:
    """The same frame with other data."""
    return replace(frame, data=data if frame.is_whole else event(data, name(frame)))


def document(frame: Frame) -> Document | None:
    """The JSON object in the frame; None if it holds none, like `[DONE]`."""
    try:
        found = json.read(payload(frame))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def with_document(frame: Frame, value: Document) -> Frame:
    """The same frame with another document."""
    return with_payload(frame, json.write(value))


def frame_of(value: Document) -> Frame:
    """A frame for an event that nobody told, with this document."""
    data = event(json.write(value))
    return Frame(data, Raw(data))


def loose(value: object) -> bytes:
    """JSON that may hold what the service never sends: NaN, infinities, halves of surrogate pairs."""
    return dumps(value, separators=(",", ":")).encode()


def documents(steps: Iterator[Step]) -> Iterator[tuple[Step, Document]]:
    """Each step with its document; those that have none have an empty one."""
    for step in steps:
        yield step, (document(step) if isinstance(step, Frame) else None) or {}


def reworded(steps: Iterable[Step], change: Callable[[bytes], bytes]) -> Iterator[Step]:
    """The steps with the bytes of all events changed, those of endless comments among them."""
    for step in steps:
        if is_event(step) or isinstance(step, Repeat):
            yield replace(step, data=change(step.data))
        else:
            yield step


def rewritten(steps: Iterator[Step], change: Callable[[Document, Frame], Document | None]) -> Iterator[Step]:
    """The steps with all documents changed; None takes the frame out.

    A frame whose document stays the same stays the same to the byte, however it was written.
    """
    for step in steps:
        if isinstance(step, Frame):
            found = document(step)
            if found is not None:
                before = json.write(found)
                changed = change(found, step)
                if changed is None:
                    continue
                data = json.write(changed)
                yield step if data == before else with_payload(step, data)
                continue
        yield step


def kind(step: Step) -> str:
    """The `type` in a frame; empty where there is none, and for other steps."""
    found = document(step) if isinstance(step, Frame) else None
    word = found.get("type") if found is not None else None
    return word if isinstance(word, str) else ""


def without(steps: Iterator[Step], *kinds: str) -> Iterator[Step]:
    """The steps but for the frames of these types."""
    return (step for step in steps if kind(step) not in kinds)
