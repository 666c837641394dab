"""One call that has been admitted, and how its answer is told and paid for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from engy_mock.books.accounts import Account, Hold
from engy_mock.books.course import Retell
from engy_mock.books.entry import Entry
from engy_mock.dialects.dialect import TEMPERATURE, TOP_P, Envelope
from engy_mock.dialects.errors import judged
from engy_mock.dialects.fold import tell
from engy_mock.dialects.routes import Route
from engy_mock.gateway.heads import JSON, STREAM, id_headers, refusal_headers
from engy_mock.gateway.memory import Memory, Version
from engy_mock.gateway.performing import Planned, Stream, pieces_of
from engy_mock.gateway.retelling import Retelling
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.telling import MAX_WRITE, heard, hurried, one_piece, performed, streamed, whole
from engy_mock.gateway.timing import OWN_TIME, Timing
from engy_mock.gateway.trouble import Trouble
from engy_mock.model.prepared import Prepared
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Ended, Event, Failure, Finished, Receipt, Refused, Started
from engy_mock.vocabulary.generation import Generation, Usage
from engy_mock.vocabulary.request import Conversation, GenerationRequest
from engy_mock.vocabulary.wire import Begin, End, Head, Step, Wait, Whole


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
        entry.course.retell = self._retelling(generation, charge, settings, now)
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
        entry.pieces_sent = sum([pieces_of(choice) for choice in generation.choices])
        entry.course.at_once()
        return iter((Whole(self.head(JSON), body),))

    def marred(
        self,
        said: Generation | ApiError | bytes,
        trouble: Trouble,
        settings: Settings,
        now: float,
        plain: Generation | None = None,
    ) -> Iterator[Step]:
        """The same with faults; all of it is settled before the first step. A page is its bytes.

        `plain` is what would be said if no fault put other words in its place.
        """
        entry = self.entry
        is_streamed = self.is_streamed != trouble.swaps_form
        generation = said if isinstance(said, Generation) else None
        events = trouble.events(list(_events(said)), is_page=isinstance(said, bytes))
        if not is_streamed:
            failure = next((event for event in events if isinstance(event, Failure)), None)
            events = events if failure is None else [Refused(failure.error)]
        error = next((event.error for event in events if isinstance(event, Failure | Refused)), None)
        if events and isinstance(events[0], Refused):
            generation, is_streamed = None, False
            error, steps = self._refused(events[0], trouble, settings, now)
        elif isinstance(said, bytes):
            steps = trouble.steps(one_piece(said, self.head(JSON)))
        else:
            entry.generation = generation
            steps = list(self._told(events, generation, trouble, settings, now, is_streamed=is_streamed))
            if plain is not None and generation is not None and trouble.is_retold_alone:
                others = self._told(_events(plain), plain, trouble, settings, now, is_streamed=is_streamed)
                # What costs another price has changed something, seen or not.
                if plain.usage == generation.usage and heard(others) == heard(steps):
                    trouble.take_back()
            steps = trouble.steps(steps, is_swapped=trouble.swaps_form)
        plan = performed(steps, is_streamed=is_streamed, most=1 if settings.one_event_per_write else MAX_WRITE)
        entry.faults, entry.not_applied = tuple(trouble.applied), tuple(trouble.not_applied)
        entry.course.silences, entry.course.stalls = tuple(trouble.silences), tuple(trouble.stalls)
        entry.status = next((step.head.status for step, _ in plan if isinstance(step, Begin | Whole)), 0)
        entry.error = None if error is None else error.message
        is_over = bool(plan) and isinstance(plan[-1][0], End | Whole)
        return Planned(
            self,
            plan,
            None if trouble.is_free else generation,
            is_paid=is_over and not trouble.is_free and any(isinstance(event, Ended) for event in events),
            is_streamed=is_streamed,
            running_on=trouble.running_on,
        )

    def _refused(
        self, refusal: Refused, trouble: Trouble, settings: Settings, now: float
    ) -> tuple[ApiError, Sequence[Step]]:
        """The refusal in the words of the route, and its steps."""
        route, entry = self.route, self.entry
        error = judged(refusal.error, route.surface, route.dialect.endpoint)
        body = route.dialect.error(error, route.surface, entry.request_id)
        head = Head(error.status, (JSON, *id_headers(route, entry), *refusal_headers(error, route, now)))
        steps = trouble.steps(one_piece(body, head))
        return error, hurried(steps) if settings.hurries_retries and not refusal.is_exact else steps

    def _told(
        self,
        events: Iterable[Event],
        generation: Generation | None,
        trouble: Trouble,
        settings: Settings,
        now: float,
        *,
        is_streamed: bool,
    ) -> Iterator[Step]:
        """Events as the route tells them, before anything happens to them on the way."""
        envelope, events = self.envelope(generation, settings, now), list(events)
        if is_streamed:
            return self._streamed(events, trouble, envelope, settings)
        return self._whole(events, generation or _NOTHING, trouble, envelope)

    def _streamed(
        self, events: Sequence[Event], trouble: Trouble, envelope: Envelope, settings: Settings
    ) -> Iterator[Step]:
        timing = self._timing(trouble)
        return streamed(
            events if timing is None else timing.paced(events),
            self.route.dialect.encoder(envelope),
            self.head(*STREAM),
            settings,
            tells_failures=self.route.surface.tells_failures,
        )

    def _whole(
        self, events: Sequence[Event], generation: Generation, trouble: Trouble, envelope: Envelope
    ) -> Iterator[Step]:
        timing = self._timing(trouble)
        told = whole(events, generation, self.route.dialect, envelope, self.head(JSON))
        return told if timing is None else chain((Wait(timing.seconds(events)),), told)

    def _timing(self, trouble: Trouble) -> Timing | None:
        """How long the answer takes, unless a fault has a time of its own."""
        return None if any(own.kind in OWN_TIME for own in trouble.faults) else self.timing

    def _retelling(self, generation: Generation, charge: int, settings: Settings, now: float) -> Retell | None:
        """How the journal can tell this answer once more."""
        prepared = self.prepared
        if prepared is None:
            return None
        return Retelling(
            self.route,
            prepared.card,
            int(now),
            charge,
            prepared.proof(generation.choices),
            self.is_streamed,
            settings.messages_cache_counts,
            settings.v5_named_events,
        ).parts

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


_NOTHING = Generation(choices=(), usage=Usage(prompt_tokens=0, completion_tokens=0))


def _events(said: Generation | ApiError | bytes) -> Iterable[Event]:
    """What is said, as events; a page has only a beginning and an end."""
    if isinstance(said, Generation):
        return tell(said)
    # What a rule or the service refuses with has the hints that it wants.
    return (Refused(said, is_exact=True),) if isinstance(said, ApiError) else (Started(), Finished(), Ended())
