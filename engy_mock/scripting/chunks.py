"""The inside of chat and text completions, whole or in chunks: choices, what they say, the tool calls in it.

What is not formed as it should be, as other faults leave it, is passed over.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from engy_mock.scripting.places import parted_steps
from engy_mock.scripting.sse import Document, documents, frame_of, rewritten, with_payload
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Frame, Step

CHAT = ("chat",)
COMPLETIONS = ("completions",)
CHUNKED = ("chat", "completions")
"""The endpoints whose answers have choices."""

ALL = ("chat", "completions", "messages", "responses")
CALLING = ("chat", "responses")
"""The endpoints that tell the arguments of a tool call as a text."""

TALKING = ("chat", "messages", "responses")
"""The endpoints that answer a conversation."""


def choices(document: Document) -> list[Document]:
    """The choices in a document; none if it is of another kind."""
    return _objects(document.get("choices"))


def said(choice: Document) -> Document | None:
    """What a choice says: its delta in a chunk, its message in a whole answer."""
    found = choice.get("delta", choice.get("message"))
    return found if isinstance(found, dict) else None


def calls(document: Document) -> list[Document]:
    """The tool calls in a chat document."""
    spoken = [said(choice) or {} for choice in choices(document)]
    return [call for one in spoken for call in _objects(one.get("tool_calls"))]


def function(call: Document) -> Document:
    """Name and arguments of a tool call."""
    found = call.get("function")
    return found if isinstance(found, dict) else {}


def tops(document: Document) -> Iterator[Document]:
    """The objects that say what the answer is: the document, or the message or response in an event."""
    for found in (document, document.get("message"), document.get("response")):
        if isinstance(found, dict):
            yield found


def with_choices(steps: Iterator[Step], change: Callable[[Document, Frame], object]) -> Iterator[Step]:
    """The steps with each choice changed in its place."""
    return _with(choices, steps, change)


def with_said(steps: Iterator[Step], change: Callable[[Document, Frame], object]) -> Iterator[Step]:
    """The steps with each delta and message changed in its place."""
    return _with(lambda document: [one for one in map(said, choices(document)) if one is not None], steps, change)


def with_calls(steps: Iterator[Step], change: Callable[[Document], object]) -> Iterator[Step]:
    """The steps with each tool call changed in its place."""
    return _with(calls, steps, lambda call, _: change(call))


def with_tops(steps: Iterator[Step], change: Callable[[Document], object]) -> Iterator[Step]:
    """The steps with the objects that say what the answer is changed in their place."""
    return _with(lambda document: list(tops(document)), steps, lambda top, _: change(top))


def _with(
    places: Callable[[Document], Iterable[Document]],
    steps: Iterator[Step],
    change: Callable[[Document, Frame], object],
) -> Iterator[Step]:
    def changed(document: Document, frame: Frame) -> Document:
        for place in places(document):
            change(place, frame)
        return document

    return rewritten(steps, changed)


def with_chunk(steps: Iterator[Step], after: int | None, change: Callable[[Document], object]) -> Iterator[Step]:
    """The steps with one chunk more, made from another: behind so many pieces, or with None before all others."""
    done = list(steps)
    pattern = next((document for _, document in documents(iter(done)) if choices(document)), None)
    if after is None:
        place = next((place for place, step in enumerate(done) if isinstance(step, Frame)), len(done))
        before, rest = done[:place], iter(done[place:])
    else:
        before, rest = parted_steps(iter(done), after)
    yield from before
    if pattern is not None:
        change(pattern)
        yield frame_of(pattern)
    yield from rest


def regrouped(steps: Iterator[Step], order: Callable[[list[list[Step]]], Iterable[Step]]) -> Iterator[Step]:
    """The steps with the frames of choices in another order; `order` is given those of each choice."""
    done = list(steps)
    lanes: dict[int, list[Step]] = {}
    places: list[int] = []
    for place, step in enumerate(done):
        choice = getattr(step.event, "choice", None) if isinstance(step, Frame) else None
        if choice is not None:
            lanes.setdefault(choice, []).append(step)
            places.append(place)
    for place, step in zip(places, order(list(lanes.values())), strict=True):
        done[place] = step
    yield from done


def fragmented(
    frame: Frame,
    document: Document,
    parts: Callable[[str], Sequence[str]],
    change: Callable[[Document, Document, int], object] = lambda *_: None,
    write: Callable[[object], bytes] = json.write,
) -> Iterator[Frame]:
    """A chunk with one tool call as one chunk for each part of its arguments.

    `change` is given each fragment of the call, the whole call, and the place of the fragment.
    """
    (call,) = calls(document)
    pieces = parts(str(function(call).get("arguments", "")))
    for place, piece in enumerate(pieces):
        if place == 0:
            fragment = {**call, "function": {**function(call), "arguments": piece}}
        else:
            fragment = {**({"index": call["index"]} if "index" in call else {}), "function": {"arguments": piece}}
        change(fragment, call, place)
        data = write(_with_call(document, fragment))
        yield part_of(frame, data, is_last=place == len(pieces) - 1)


def part_of(frame: Frame, data: bytes, *, is_last: bool) -> Frame:
    """One of several frames in the place of one; the last of them is the piece, if it was one."""
    return replace(with_payload(frame, data), is_piece=frame.is_piece and is_last)


def _with_call(document: Document, call: Document) -> Document:
    (choice,) = choices(document)
    return {**document, "choices": [{**choice, "delta": {**(said(choice) or {}), "tool_calls": [call]}}]}


def _objects(value: object) -> list[Document]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
