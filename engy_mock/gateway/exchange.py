"""One call that has been admitted, and how its answer is told and paid for."""

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from engy_mock.books.accounts import Account, Hold
from engy_mock.books.course import is_endless
from engy_mock.books.entry import Entry
from engy_mock.dialects.dialect import TEMPERATURE, TOP_P, Encoder, Envelope
from engy_mock.dialects.errors import judged
from engy_mock.dialects.fold import tell
from engy_mock.dialects.frames import frames
from engy_mock.dialects.routes import Route
from engy_mock.gateway.memory import MAX_WRITES, Memory, Told, Version
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.telling import MAX_WRITE, hurried, one_piece, performed, streamed, whole
from engy_mock.gateway.timing import OWN_TIME, Timing
from engy_mock.gateway.trouble import Trouble
from engy_mock.model.engine import Prepared
from engy_mock.vocabulary.errors import ApiError, RateLimited
from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    Receipt,
    Refused,
    Started,
)
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.request import Conversation, GenerationRequest
from engy_mock.vocabulary.wire import Begin, End, Head, Repeat, Step, Unframed, Wait, Whole, Write

JSON = ("Content-Type", "application/json")
PLAN = "X-Engy-Mock-Plan"
"""The header with the seed of the mock and what stands for the plan of the answer."""

STREAM = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"))


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A call with all that belongs to it: its place in the journal, who pays, what was understood.

    `prepared` is None where nothing is asked of a model, or where the call was refused before that was known;
    `is_streamed` then says what the client waits for. `timing` is how long the answer takes, None for no time.
    `crowd` counts the calls that are being answered, and those of the same key.
    """

    entry: Entry
    route: Route
    account: Account
    hold: Hold
    prepared: Prepared | None = None
    is_streamed: bool = False
    timing: Timing | None = None
    crowd: tuple[int, int] = (1, 1)
    memory: Memory | None = None

    def told(self, generation: Generation, settings: Settings, now: float) -> Iterator[Step]:
        """The answer as steps; the books are closed before the last of them."""
        if self.timing is not None:
            return self.marred(generation, Trouble((), (), ()), settings, now)
        entry, dialect = self.entry, self.route.dialect
        entry.status = 200
        entry.generation = generation
        charge = self.cost(generation.usage)
        memory = self.memory if dialect.has_one_id else None
        if self.is_streamed:
            most = 1 if settings.one_event_per_write else MAX_WRITE
            version = Version(generation, int(now), charge, most)
            told = None if memory is None else memory.stream_again(version, entry.request_id)
            if told is not None:
                return Stream(self, version, told)
            encoder = dialect.encoder(self.envelope(generation, settings, now))
            return Stream(self, version, encoder, memory if memory is not None and memory.note(version) else None)
        version = Version(generation, int(now), charge)
        body = None if memory is None else memory.again(version, entry.request_id)
        if body is None:
            body = dialect.body(generation, self.envelope(generation, settings, now))
            if memory is not None:
                memory.keep(version, entry.request_id, body)
        self.close(generation.usage, charge)
        entry.pieces_sent = sum([_pieces(choice) for choice in generation.choices])
        entry.course.at_once()
        return iter((Whole(self.head(JSON), body),))

    def marred(
        self, said: Generation | ApiError | bytes, trouble: Trouble, settings: Settings, now: float
    ) -> Iterator[Step]:
        """The same with faults; all of it is settled before the first step. A page is its bytes."""
        entry, route, dialect = self.entry, self.route, self.route.dialect
        is_streamed = self.is_streamed != trouble.swaps_form
        generation = said if isinstance(said, Generation) else None
        events = trouble.events(list(_events(said)), is_page=isinstance(said, bytes))
        if not is_streamed:
            failure = next((event for event in events if isinstance(event, Failure)), None)
            events = events if failure is None else [Refused(failure.error)]
        refusal = events[0] if events and isinstance(events[0], Refused) else None
        error = next((event.error for event in events if isinstance(event, Failure | Refused)), None)
        timing = None if any(own.kind in OWN_TIME for own in trouble.faults) else self.timing
        if refusal is not None:
            generation, is_streamed = None, False
            error = judged(refusal.error, route.surface, dialect.endpoint)
            body = dialect.error(error, route.surface, entry.request_id)
            head = Head(error.status, (JSON, *id_headers(route, entry), *refusal_headers(error, route, now)))
            steps = trouble.steps(one_piece(body, head))
            if settings.hurries_retries and not refusal.is_exact:
                steps = hurried(steps)
        elif isinstance(said, bytes):
            steps = trouble.steps(one_piece(said, self.head(JSON)))
        else:
            entry.generation = generation
            envelope = self.envelope(generation, settings, now)
            if is_streamed:
                tells = route.surface.tells_failures
                head = self.head(*STREAM)
                told = streamed(
                    events if timing is None else timing.paced(events),
                    dialect.encoder(envelope),
                    head,
                    settings,
                    tells_failures=tells,
                )
            else:
                told = whole(events, generation or _NOTHING, dialect, envelope, self.head(JSON))
                if timing is not None:
                    told = chain((Wait(timing.seconds(events)),), told)
            steps = trouble.steps(told, is_swapped=trouble.swaps_form)
        most = 1 if settings.one_event_per_write else MAX_WRITE
        plan = performed(steps, is_streamed=is_streamed, most=most)
        entry.faults, entry.not_applied = tuple(trouble.applied), tuple(trouble.not_applied)
        entry.course.silences = tuple(trouble.silences)
        entry.status = next((step.head.status for step, _ in plan if isinstance(step, Begin | Whole)), 0)
        entry.error = None if error is None else error.message
        is_over = bool(plan) and isinstance(plan[-1][0], End | Whole)
        is_paid = is_over and not trouble.is_free and any(isinstance(event, Ended) for event in events)
        return Planned(
            self,
            plan,
            None if trouble.is_free else generation,
            is_paid=is_paid,
            is_streamed=is_streamed,
            running_on=trouble.running_on,
        )

    def envelope(self, generation: Generation | None, settings: Settings, now: float) -> Envelope:
        """What stands around this answer; around a failure alone where there is none."""
        usage = _NOTHING.usage if generation is None else generation.usage
        prepared, route = self.prepared, self.route
        card = None if prepared is None else prepared.card
        return Envelope(
            request=self._stub() if prepared is None else prepared.request,
            surface=route.surface,
            receipt=Receipt(
                request_id=self.entry.request_id,
                charged_micro=self.cost(usage),
                proof=None if prepared is None or generation is None else prepared.proof(generation.choices),
            ),
            created=int(now),
            usage=usage,
            shows_cache_counts=settings.messages_cache_counts,
            names_events=settings.v5_named_events,
            temperature=TEMPERATURE if card is None else card.temperature,
            top_p=TOP_P if card is None else card.top_p,
        )

    def _stub(self) -> GenerationRequest:
        """What is known of a request that was refused before it was understood."""
        surface = self.route.surface.name
        return GenerationRequest(
            endpoint=self.route.dialect.endpoint,
            surface=surface,
            model="",
            prompt=Conversation(messages=()),
            is_streamed=self.is_streamed,
        )

    def head(self, *headers: tuple[str, str]) -> Head:
        """The head of a good answer."""
        return Head(200, (*headers, *id_headers(self.route, self.entry)))

    def cost(self, usage: Usage) -> int:
        """What so many tokens cost this account, in micro-USD."""
        if self.prepared is None:
            return 0
        return self.hold.cost(usage)

    def close(self, usage: Usage, charge: int) -> None:
        """Settle the hold and write down what was delivered."""
        self.hold.settle(charge, completion_tokens=usage.completion_tokens)
        self.entry.usage = usage
        self.entry.charged_micro = charge

    def leave(self, usage: Usage, pieces: int) -> None:
        """Settle what has been delivered to a client that went away: the prompt and so many pieces (E-200)."""
        paid = Usage(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=min(pieces, usage.completion_tokens),
            cached_tokens=usage.cached_tokens,
        )
        self.close(paid, self.cost(paid))


class Planned(Iterator[Step]):
    """Steps that are settled to the last, with the pieces that each brings to the client.

    Closed before its end it settles what the client has got until then, unless nothing is to be paid; all of it,
    if faults named in `running_on` let the answer run on.
    """

    def __init__(
        self,
        exchange: Exchange,
        plan: list[tuple[Step, int]],
        generation: Generation | None,
        *,
        is_paid: bool,
        is_streamed: bool,
        running_on: Sequence[str] = (),
    ) -> None:
        self._exchange = exchange
        self._plan = plan
        self._generation = generation
        self._is_paid = is_paid
        self._is_streamed = is_streamed
        self._running_on = running_on
        self._place = 0
        exchange.entry.course.plan([step for step, _ in plan])
        telling = [place for place, (step, _) in enumerate(plan) if not isinstance(step, Wait)]
        spoken = [place for place, (step, _) in enumerate(plan) if isinstance(step, _SPOKEN)]
        # The books are closed before the last byte, but while a client may still wait for more, not at all.
        goes_on = bool(plan) and is_endless(plan[-1][0])
        self._settles_at = len(plan) if goes_on else (spoken or telling or [0])[-1]
        if not plan:
            self._settle()

    def __next__(self) -> Step:
        entry = self._exchange.entry
        if self._place >= len(self._plan):
            entry.course.end()
            raise StopIteration
        if self._place == self._settles_at:
            self._settle()
        step, pieces = self._plan[self._place]
        self._place += 1
        if pieces:
            entry.pieces_sent = pieces
        if isinstance(step, _SPOKEN):
            entry.course.bytes_out()
        entry.course.done = self._place
        if self._place == len(self._plan) and not is_endless(step):
            entry.course.end()  # a client that has seen the end finds it in the journal
        return step

    def close(self) -> None:
        """No further step will be asked for."""
        exchange = self._exchange
        if exchange.hold.is_open:
            # Whose silence without end is over all the same has left no client behind.
            exchange.entry.client_left = exchange.entry.course.ended is None
            usage = None if self._generation is None else self._generation.usage
            if usage is None:
                exchange.hold.settle(0)
            elif self._is_paid and self._running_on:
                exchange.entry.faults += tuple(self._running_on)
                exchange.close(usage, exchange.cost(usage))
            else:
                exchange.leave(usage, self._plan[self._place - 1][1] if self._place else 0)
        exchange.entry.course.end()

    def _settle(self) -> None:
        exchange, generation = self._exchange, self._generation
        if self._is_paid and generation is not None:
            if not self._is_streamed:
                exchange.entry.pieces_sent = sum([_pieces(choice) for choice in generation.choices])
            exchange.close(generation.usage, exchange.cost(generation.usage))
        else:
            exchange.hold.settle(0)


_NOTHING = Generation(choices=(), usage=Usage(prompt_tokens=0, completion_tokens=0))


def _events(said: Generation | ApiError | bytes) -> Iterable[Event]:
    """What is said, as events; a page has only a beginning and an end."""
    if isinstance(said, Generation):
        return tell(said)
    # What a rule or the service refuses with has the hints that it wants.
    return (Refused(said, is_exact=True),) if isinstance(said, ApiError) else (Started(), Finished(), Ended())


_SPOKEN = (Begin, Whole, Write, Unframed, Repeat)
"""The steps that bring bytes to the client."""


class Stream(Iterator[Step]):
    """The events of an answer as steps, several events to a write.

    Closed before its end, even before its beginning, it settles what the client has got until then (E-200).
    """

    def __init__(
        self, exchange: Exchange, version: Version, said: Encoder | list[Told], memory: Memory | None = None
    ) -> None:
        self._exchange = exchange
        self._version = version
        self._sent = 0
        self._steps = self._retell(said) if isinstance(said, list) else self._tell(said, memory)

    def __next__(self) -> Step:
        return next(self._steps)

    def close(self) -> None:
        """No further step will be asked for."""
        self._steps.close()
        exchange = self._exchange
        if exchange.hold.is_open:
            exchange.entry.client_left = True
            exchange.entry.pieces_sent = self._sent
            exchange.leave(self._version.generation.usage, self._sent)
        exchange.entry.course.end()

    def _tell(self, encoder: Encoder, memory: Memory | None) -> Generator[Step]:
        exchange, most = self._exchange, self._version.most
        pieces = size = 0
        waiting: list[bytes] = []
        told: list[Told] = []
        try:
            exchange.entry.course.bytes_out()
            yield Begin(exchange.head(*STREAM))
            for written, is_piece in frames(self._version.generation, encoder):
                while written:
                    sizes = list(accumulate(map(len, written)))
                    fits = bisect_right(sizes, most - size) or int(size == 0)
                    waiting += written[:fits]
                    size += sizes[fits - 1] if fits else 0
                    pieces += fits * is_piece
                    written = written[fits:]
                    if written:
                        data = b"".join(waiting)
                        if memory is not None and len(told) < MAX_WRITES:
                            told.append(Told(data, pieces))
                        yield Write(data)
                        self._sent = pieces
                        waiting.clear()
                        size = 0
        except Exception as error:
            exchange.hold.settle(0)
            exchange.entry.status, exchange.entry.error = 500, f"the answer could not be told: {error!r:.500}"
            raise
        last = Told(b"".join(waiting), pieces)
        if memory is not None and len(told) < MAX_WRITES:
            memory.keep_stream(self._version, exchange.entry.request_id, [*told, last])
        yield from self._end(last)

    def _retell(self, told: list[Told]) -> Generator[Step]:
        """The same in the words of the last time."""
        self._exchange.entry.course.bytes_out()
        yield Begin(self._exchange.head(*STREAM))
        for data, pieces in told[:-1]:
            yield Write(data)
            self._sent = pieces
        yield from self._end(told[-1])

    def _end(self, last: Told) -> Generator[Step]:
        """Close the books before the last byte."""
        self._exchange.entry.pieces_sent = last.pieces
        self._exchange.close(self._version.generation.usage, self._version.charged_micro)
        self._exchange.entry.course.bytes_out()
        self._exchange.entry.course.end()
        yield Write(last.data)
        yield End()


def id_headers(route: Route, entry: Entry) -> tuple[tuple[str, str], ...]:
    """The headers by which an answer can be found again: its request id (E-11), its seed and plan."""
    return (*[(name, entry.request_id) for name in route.id_headers], (PLAN, entry.plan))


def refusal_headers(error: ApiError, route: Route, now: float) -> tuple[tuple[str, str], ...]:
    """The headers that belong to a refusal (E-194); where there never will be room, none says when there is."""
    if isinstance(error, RateLimited) and error.seconds:
        return (*error.headers, *route.limit_headers(error, now))
    return error.headers


def _pieces(choice: Choice) -> int:
    return len(choice.text) + len(choice.reasoning or ()) + len(choice.tool_calls)
