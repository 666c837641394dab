"""What was recorded, said again: the same bytes on the same schedule, or with the faults that rules want."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engy_mock.books.accounts import Account, Hold
from engy_mock.books.entry import Entry
from engy_mock.dialects import routes
from engy_mock.dialects.admission import Body
from engy_mock.dialects.dialect import Dialect, Encoder, Envelope
from engy_mock.dialects.errors import judged
from engy_mock.dialects.fold import Run, fold, tell
from engy_mock.dialects.routes import Route
from engy_mock.gateway.arriving import holds
from engy_mock.gateway.direction import Direction, Mocked, asked_of, identity
from engy_mock.gateway.exchange import Exchange
from engy_mock.gateway.heads import PLAN, id_headers, refusal_headers
from engy_mock.gateway.performing import Planned
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.telling import MAX_WRITE, one_piece, performed, streamed, whole
from engy_mock.gateway.trouble import Trouble
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Cut, Event, Failure, Piece, Raw, Refused, Started
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.wire import Begin, Call, Close, End, Frame, Head, Step, Wait, Whole, Write


@dataclass(frozen=True, slots=True)
class RecordedFrame:
    """A frame of a recorded stream: its bytes, after how many seconds it came, and what it tells."""

    at: float
    data: bytes
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One recorded answer: a whole body, or the frames of a stream.

    `at` are the seconds after which the head was there; `generation` is what the answer comes to, if it is one.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    at: float = 0.0
    body: bytes = b""
    frames: tuple[RecordedFrame, ...] | None = None
    ending: Literal["end", "close", "reset"] = "end"
    generation: Generation | None = None
    description: str = ""


class Replay(Protocol):
    """Knows what was recorded."""

    def answer(self, call: Call) -> Recorded | None:
        """What was answered to such a call; None leaves it to the mock. Raises UnmetExpectation."""
        ...

    def give_back(self, recorded: Recorded) -> None:
        """An answer has not reached its client, and is there for the next one who asks for it."""
        ...

    def rewind(self) -> None:
        """Nothing has been asked for yet."""
        ...

    def copy(self) -> "Replay":
        """Another one that goes on from here by itself."""
        ...


def understood(call: Call, body: Body, entry: Entry) -> tuple[Route, GenerationRequest | None]:
    """Where a call goes and what it says, as far as that can be told without refusing it."""
    route = routes.speaker(call.path)
    try:
        route, _ = routes.find(call.method, call.path)
    except ApiError:
        return route, None
    entry.endpoint, entry.surface = route.endpoint, route.surface.name
    if route.page is None:
        with suppress(ApiError):
            entry.request = route.dialect.parse(body.document(), route.surface)
    return route, entry.request


def exchange_of(recorded: Recorded, route: Route, entry: Entry) -> Exchange:
    """The exchange of a recorded answer; it costs nobody anything."""
    nobody = Account(name="nobody")
    entry.generation = recorded.generation
    entry.rule = recorded.description
    return Exchange(
        entry=entry,
        route=route,
        account=nobody,
        hold=Hold(nobody, 0),
        is_streamed=recorded.frames is not None,
    )


def said_again(
    call: Call, body: Body, entry: Entry, replay: Replay, mocked: Mocked, direction: Direction
) -> Iterator[Step] | None:
    """The steps of the recorded answer to a call; None where a rule or the model has to answer.

    Raises UnmetExpectation where nothing was recorded for it and something should have been.
    """
    route, request = understood(call, body, entry)
    asked = asked_of(call, route, request=request, body=body.known())
    if mocked.script.has_answer(asked, identity(entry)):
        return None
    recorded = replay.answer(call)
    if recorded is None:
        return None
    exchange = exchange_of(recorded, route, entry)
    found = direction.marring(asked, entry)
    if found is None or not found.faults:
        return replayed(exchange, recorded, mocked.settings)
    entry.rule = " + ".join([text for text in (recorded.description, found.description) if text])
    trouble = direction.trouble(exchange, found, asked)
    steps, is_there = marred(exchange, recorded, trouble, mocked.settings, mocked.now())
    if not is_there:
        replay.give_back(recorded)
    return steps


def replayed(exchange: Exchange, recorded: Recorded, settings: Settings) -> Iterator[Step]:
    """The answer as it was recorded, to the byte."""
    exchange.entry.status = recorded.status
    is_streamed = recorded.frames is not None
    most = 1 if settings.one_event_per_write else MAX_WRITE
    plan = performed(list(_steps(exchange, recorded)), is_streamed=is_streamed, most=most)
    if recorded.status >= 400 or recorded.ending != "end":
        exchange.entry.course.plan([step for step, _ in plan])
    return _planned(exchange, recorded, plan)


def marred(
    exchange: Exchange, recorded: Recorded, trouble: Trouble, settings: Settings, now: float
) -> tuple[Iterator[Step], bool]:
    """The same with faults, and whether the recorded answer can be read in what they leave of it."""
    entry, route, generation = exchange.entry, exchange.route, recorded.generation
    head = Head(recorded.status, recorded.headers)
    is_page = generation is None or recorded.status >= 400
    sounds = _Sounds(recorded)
    events: list[Event] = [Started()]
    if generation is not None and not is_page:
        retold = trouble.retold(generation)
        is_same = recorded.frames is not None and retold == generation
        events = sounds.events if is_same else list(tell(retold))
    found = trouble.events(events, is_page=is_page)
    error = next((event.error for event in found if isinstance(event, Failure | Refused)), None)
    is_streamed = recorded.frames is not None
    if found and isinstance(found[0], Refused):
        is_streamed = False
        steps: Sequence[Step] = trouble.steps(_refusal(found[0], exchange, now))
    elif is_page:
        steps = trouble.steps(_steps(exchange, recorded) if is_streamed else one_piece(recorded.body, head))
    else:
        assert generation is not None
        envelope = exchange.envelope(generation, settings, now)
        if is_streamed:
            encoder = _Encoder(sounds.data, route.dialect.encoder(envelope))
            told = streamed(found, encoder, head, settings, tells_failures=route.surface.tells_failures)
        else:
            told = whole(found, generation, _Dialect(recorded, route.dialect), envelope, head)
        steps = list(sounds.timed(trouble.steps(told)))
    if recorded.at:
        steps = [Wait(recorded.at), *steps]
    entry.faults, entry.not_applied = tuple(trouble.applied), tuple(trouble.not_applied)
    entry.course.silences, entry.course.stalls = tuple(trouble.silences), tuple(trouble.stalls)
    entry.error = None if error is None else error.message
    most = 1 if settings.one_event_per_write else MAX_WRITE
    plan = performed(steps, is_streamed=is_streamed, most=most)
    entry.course.plan([step for step, _ in plan])
    entry.status = next((step.head.status for step, _ in plan if isinstance(step, Begin | Whole)), 0)
    is_there = holds([step for step, _ in plan], list(_steps(exchange, recorded)), route.endpoint)
    return _planned(exchange, recorded, plan), is_there


class _Encoder:
    """Tells recorded events by their bytes, and others as the dialect does."""

    def __init__(self, data: dict[int, bytes], other: Encoder) -> None:
        self._data = data
        self._other = other

    def encode(self, event: Event) -> bytes:
        """The bytes of an event."""
        known = self._data.get(id(event))
        return self._other.encode(event) if known is None else known

    def encode_run(self, run: Run) -> list[bytes]:
        """Runs are never recorded."""
        return self._other.encode_run(run)


class _Dialect:
    """Writes a recorded answer by its bytes, and what faults have made another one as the dialect does."""

    def __init__(self, recorded: Recorded, other: Dialect) -> None:
        self._recorded = recorded
        self._other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The body of the answer."""
        known = self._recorded.generation
        is_same = known is not None and fold(tell(known)) == fold(tell(generation))
        return self._recorded.body if is_same else self._other.body(generation, envelope)


class _Sounds:
    """The events of a recorded answer, with bytes and times; what tells nothing belongs to the next one."""

    def __init__(self, recorded: Recorded) -> None:
        self.events: list[Event] = []
        self.data: dict[int, bytes] = {}
        self._times: dict[int, float] = {}
        self._begin = recorded.at
        held = b""
        for frame in recorded.frames or ():
            held += frame.data
            if not isinstance(frame.event, Raw):
                self._add(frame.event, held, frame.at)
                held = b""
        if held and recorded.frames:
            self._add(Raw(held), held, recorded.frames[-1].at)
        if recorded.ending != "end":
            self.events.append(Cut(abrupt=recorded.ending == "reset"))

    def timed(self, steps: Sequence[Step]) -> Iterator[Step]:
        """The steps with the pauses that lay between these events."""
        at = self._begin
        for step in steps:
            then = self._times.get(id(step.event), at) if isinstance(step, Frame) else at
            if then > at:
                yield Wait(then - at)
                at = then
            yield step

    def _add(self, event: Event, data: bytes, at: float) -> None:
        self.events.append(event)
        self.data[id(event)] = data
        self._times[id(event)] = at


def _refusal(refused: Refused, exchange: Exchange, now: float) -> Iterator[Step]:
    """A refusal that a fault has put in place of the answer."""
    route, entry = exchange.route, exchange.entry
    error = judged(refused.error, route.surface, route.dialect.endpoint)
    body = route.dialect.error(error, route.surface, entry.request_id)
    headers = (
        ("Content-Type", "application/json"),
        *id_headers(route, entry),
        *refusal_headers(error, route, now),
    )
    return one_piece(body, Head(error.status, headers))


def _head(exchange: Exchange, recorded: Recorded) -> Head:
    return Head(recorded.status, (*recorded.headers, (PLAN, exchange.entry.plan)))


def _steps(exchange: Exchange, recorded: Recorded) -> Iterator[Step]:
    head = _head(exchange, recorded)
    if recorded.at:
        yield Wait(recorded.at)
    if recorded.frames is None and recorded.ending == "end":
        yield Whole(head, recorded.body)
        return
    yield Begin(head)
    if recorded.frames is None:
        yield Write(recorded.body)
    at = recorded.at
    for frame in recorded.frames or ():
        if frame.at > at:
            yield Wait(frame.at - at)
            at = frame.at
        yield Frame(frame.data, frame.event, isinstance(frame.event, Piece))
    yield End() if recorded.ending == "end" else Close(abrupt=recorded.ending == "reset")


def _planned(exchange: Exchange, recorded: Recorded, plan: list[tuple[Step, int]]) -> Planned:
    is_over = bool(plan) and isinstance(plan[-1][0], End | Whole)
    return Planned(
        exchange,
        plan,
        recorded.generation,
        is_paid=is_over,
        is_streamed=recorded.frames is not None,
    )
