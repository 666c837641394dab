"""The inside of a frame: name, data and JSON document of a server-sent event, or of a whole answer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

from engy_mock.vocabulary import json
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


def reworded(steps: Iterable[Step], change: Callable[[bytes], bytes]) -> Iterator[Step]:
    """The steps with the bytes of all events changed, those of endless comments among them."""
    for step in steps:
        if is_event(step) or isinstance(step, Repeat):
            yield replace(step, data=change(step.data))
        else:
            yield step


def rewritten(steps: Iterator[Step], change: Callable[[Document, Frame], Document | None]) -> Iterator[Step]:
    """The steps with all documents changed; None takes the frame out."""
    for step in steps:
        if isinstance(step, Frame):
            found = document(step)
            if found is not None:
                changed = change(found, step)
                if changed is not None:
                    yield with_document(step, changed)
                continue
        yield step
