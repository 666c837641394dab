"""Events as steps: a streamed answer frame by frame, a whole one as one body that troubles may break anywhere."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engy_mock.books.course import is_endless
from engy_mock.dialects.dialect import Dialect, Encoder, Envelope
from engy_mock.dialects.fold import fold
from engy_mock.gateway.settings import Settings
from engy_mock.scripting.refusals import RETRYABLE
from engy_mock.vocabulary.events import (
    Cut,
    Ended,
    Event,
    Failure,
    Heartbeat,
    Pause,
    Piece,
    Raw,
)
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.wire import Begin, Close, End, Frame, Head, Repeat, Step, Wait, Whole, Write

MAX_WRITE = 16 * 1024
"""How many bytes of events without a pause may share one write (E-118)."""

COMMENT = b": keep-alive\n"
"""A sign of life: a line of its own, without the empty line that would end an event (E-118, R-1)."""


def streamed(
    events: Iterable[Event], encoder: Encoder, head: Head, settings: Settings, *, tells_failures: bool
) -> Iterator[Step]:
    """The steps of a streamed answer, a frame for each server-sent event."""
    ping = encoder.encode(Heartbeat(0, is_ping=True))
    beat, every = (ping, settings.ping_seconds) if ping else (COMMENT, settings.keep_alive_comments)
    yield Begin(head)
    for event in events:
        match event:
            case Pause():
                yield from _pause(event, beat, every)
            case Heartbeat():
                yield Repeat(encoder.encode(event) or COMMENT, event.seconds, event.count)
            case Cut():
                yield Close(event.abrupt)
                return
            case Raw():
                yield Frame(event.data, event)
            case Failure(is_told=is_told):
                if is_told or (is_told is None and tells_failures):
                    yield from _frames(encoder.encode(event), event)
                elif is_told is None:
                    yield Close()
                    return
                break
            case _:
                yield from _frames(encoder.encode(event), event)
    yield End()


def _pause(pause: Pause, beat: bytes, every: float | None) -> Iterator[Step]:
    """A pause with signs of life inside, if they are wanted; one without end is silence all the same."""
    seconds = pause.seconds
    if every is not None and 0 < every < seconds < math.inf:
        count = math.ceil(seconds / every) - 1
        yield Repeat(beat, every, count)
        seconds -= count * every
    yield Wait(seconds, pause.is_deaf)


def _frames(data: bytes, event: Event) -> Iterator[Frame]:
    """The server-sent events that tell one event; the last of them is the piece, if it is one."""
    if not data:
        return
    blocks = [block + b"\n\n" for block in data.removesuffix(b"\n\n").split(b"\n\n")]
    for block in blocks[:-1]:
        yield Frame(block, event)
    yield Frame(blocks[-1], event, isinstance(event, Piece))


def whole(
    events: Sequence[Event], generation: Generation, dialect: Dialect, envelope: Envelope, head: Head
) -> Iterator[Step]:
    """The steps of a whole answer: its body breaks where the events do, by the share of pieces before it."""
    is_complete = any(isinstance(event, Ended) for event in events)
    said = fold(events) if is_complete else generation
    body = dialect.body(said, envelope)
    total = sum(isinstance(event, Piece) for event in events) if is_complete else _pieces(generation)
    seen, begin, is_over = 0, 0, True
    steps: list[Step] = []

    def part(end: int) -> None:
        nonlocal begin
        if end > begin:
            steps.append(Frame(body[begin:end]))
            begin = end

    for event in events:
        here = len(body) * seen // max(total, 1)
        match event:
            case Pause():
                part(here)
                steps.append(Wait(event.seconds, event.is_deaf))
            case Cut():
                part(here)
                steps.append(Close(event.abrupt))
                is_over = False
                break
            case _:
                seen += isinstance(event, Piece)
    if is_over:
        # Without an end the body is cut short, in good order.
        part(len(body) if is_complete else len(body) * seen // max(total, 1))
        steps.append(End())
    if not (is_over and not any(isinstance(step, Wait) for step in steps)):
        head = replace(head, headers=(*head.headers, ("Content-Length", str(len(body)))))
    yield Begin(head)
    yield from steps


def one_piece(body: bytes, head: Head) -> Iterator[Step]:
    """The steps of a refusal or a page."""
    yield Begin(head)
    yield Frame(body)
    yield End()


AT_ONCE = ("retry-after-ms", "1")
"""The hint that lets official clients try again without waiting."""


def hurried(steps: Iterable[Step]) -> list[Step]:
    """The steps with a hint to try again at once wherever clients would wait before they do."""
    return [
        replace(step, head=replace(step.head, headers=(*step.head.headers, AT_ONCE)))
        if isinstance(step, Begin | Whole) and _is_tried_again(step.head)
        else step
        for step in steps
    ]


def _is_tried_again(head: Head) -> bool:
    """Whether clients try again after an answer that says nothing of milliseconds itself."""
    named = {name.lower(): value for name, value in head.headers}
    if AT_ONCE[0] in named:
        return False
    wish = named.get("x-should-retry")
    return head.status in RETRYABLE if wish is None else wish == "true"


def _pieces(generation: Generation) -> int:
    return sum(
        len(choice.text) + len(choice.reasoning or ()) + len(choice.tool_calls) for choice in generation.choices
    )


def performed(steps: Sequence[Step], *, is_streamed: bool, most: int) -> list[tuple[Step, int]]:
    """The steps as they are performed, each with the number of pieces that have got through behind it.

    Frames next to each other share writes of at most so many bytes. An answer that is whole and has nothing
    to wait for is one step.
    """
    if not is_streamed:
        steps = _at_once(steps)
    made: list[tuple[Step, int]] = []
    waiting: list[bytes] = []
    size = pieces = 0
    is_joined = False

    def flush() -> None:
        nonlocal size
        if waiting:
            made.append((Write(b"".join(waiting)), pieces))
            waiting.clear()
            size = 0

    for step in steps:
        if isinstance(step, Frame):
            if size and size + len(step.data) > most and not is_joined:
                flush()
            waiting.append(step.data)
            size += len(step.data)
            pieces += step.is_piece
            is_joined = step.ends_write is False
            if step.ends_write:
                flush()
        else:
            flush()
            made.append((step, pieces))
            if isinstance(step, Close | Whole) or is_endless(step):
                return made
    flush()
    return made


def heard(steps: Iterable[Step]) -> list[bytes | Step]:
    """What a client gets of these steps: bytes, whatever they mean, and what happens between them."""
    return [step.data if isinstance(step, Frame) else step for step in steps]


def _at_once(steps: Sequence[Step]) -> Sequence[Step]:
    """A whole answer as one step if nothing lies between its head and its end; what stands before is allowed."""
    start = next((place for place, step in enumerate(steps) if isinstance(step, Begin)), len(steps))
    begin, *writes, end = steps[start:] if len(steps) > start + 1 else (None, None)
    if not isinstance(begin, Begin) or not isinstance(end, End) or end.trailers:
        return steps
    head, before = begin.head, steps[:start]
    body = b"".join([step.data for step in writes if isinstance(step, Write)])
    if all(isinstance(step, Frame) and step.ends_write is None for step in writes):
        return [*before, Whole(head, body)]
    if not any(name.lower() in {"content-length", "transfer-encoding"} for name, _ in head.headers):
        head = replace(head, headers=(*head.headers, ("Content-Length", str(len(body)))))
    return steps if head.version == "1.0" else [*before, Begin(head, len(body)), *writes, end]
