"""One call that has been admitted, and how its answer is told and paid for."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from engy_mock.books.accounts import Account, Hold
from engy_mock.books.journal import Entry
from engy_mock.dialects.dialect import Encoder, Envelope
from engy_mock.dialects.fold import tell
from engy_mock.dialects.routes import Route
from engy_mock.gateway.settings import Settings
from engy_mock.model.engine import Prepared
from engy_mock.vocabulary.events import ReasoningDelta, Receipt, TextDelta, ToolCallDelta
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.wire import Begin, End, Head, Step, Whole, Write

MAX_WRITE = 16 * 1024
"""How many bytes of events without a pause may share one write (E-118)."""

JSON = ("Content-Type", "application/json")
_STREAM = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"))


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A call with all that belongs to it: its place in the journal, who pays, what was understood."""

    entry: Entry
    route: Route
    account: Account
    prepared: Prepared
    hold: Hold

    def told(self, generation: Generation, settings: Settings, now: float) -> Iterator[Step]:
        """The answer as steps; the books are closed before the last of them."""
        entry, prepared = self.entry, self.prepared
        charge = self.cost(generation.usage)
        envelope = Envelope(
            request=prepared.request,
            surface=self.route.surface,
            receipt=Receipt(
                request_id=entry.request_id, charged_micro=charge, proof=prepared.proof(generation.choices)
            ),
            created=int(now),
            usage=generation.usage,
            shows_cache_counts=settings.messages_cache_counts,
            names_events=settings.v5_named_events,
            temperature=prepared.card.temperature,
            top_p=prepared.card.top_p,
        )
        entry.status = 200
        entry.generation = generation
        dialect = self.route.dialect
        if prepared.request.is_streamed:
            most = 1 if settings.one_event_per_write else MAX_WRITE
            return Stream(self, generation, dialect.encoder(envelope), charge, most)
        body = dialect.body(generation, envelope)
        self.close(generation.usage, charge)
        entry.pieces_sent = sum([_pieces(choice) for choice in generation.choices])
        return iter((Whole(Head(200, (JSON, *id_headers(self.route, entry.request_id))), body),))

    def cost(self, usage: Usage) -> int:
        """What so many tokens cost this account, in micro-USD."""
        return self.hold.cost(usage)

    def close(self, usage: Usage, charge: int) -> None:
        """Settle the hold and write down what was delivered."""
        self.hold.settle(charge, completion_tokens=usage.completion_tokens)
        self.entry.usage = usage
        self.entry.charged_micro = charge


class Stream(Iterator[Step]):
    """The events of an answer as steps, several events to a write.

    Closed before its end, even before its beginning, it settles what the client has got until then (E-200).
    """

    def __init__(
        self, exchange: Exchange, generation: Generation, encoder: Encoder, charge: int, most: int
    ) -> None:
        self._exchange = exchange
        self._generation = generation
        self._sent = 0
        self._steps = self._tell(encoder, charge, most)

    def __next__(self) -> Step:
        return next(self._steps)

    def close(self) -> None:
        """No further step will be asked for."""
        self._steps.close()
        exchange = self._exchange
        if exchange.hold.is_open:
            exchange.entry.client_left = True
            exchange.entry.pieces_sent = self._sent
            usage = self._generation.usage
            paid = Usage(
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=min(self._sent, usage.completion_tokens),
                cached_tokens=usage.cached_tokens,
            )
            exchange.close(paid, exchange.cost(paid))

    def _tell(self, encoder: Encoder, charge: int, most: int) -> Generator[Step]:
        exchange = self._exchange
        encode = encoder.encode
        pieces = size = 0
        waiting: list[bytes] = []
        try:
            yield Begin(Head(200, (*_STREAM, *id_headers(exchange.route, exchange.entry.request_id))))
            for event in tell(self._generation):
                data = encode(event)
                if not data:
                    continue
                if size and size + len(data) > most:
                    yield Write(b"".join(waiting))
                    self._sent = pieces
                    waiting.clear()
                    size = 0
                waiting.append(data)
                size += len(data)
                pieces += isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta)
        except Exception as error:
            exchange.hold.settle(0)
            exchange.entry.status, exchange.entry.error = 500, f"the answer could not be told: {error!r:.500}"
            raise
        exchange.entry.pieces_sent = pieces
        exchange.close(self._generation.usage, charge)
        yield Write(b"".join(waiting))
        yield End()


def id_headers(route: Route, request_id: str) -> tuple[tuple[str, str], ...]:
    """The headers that carry the request id on this route (E-11)."""
    return tuple([(name, request_id) for name in route.id_headers])


def _pieces(choice: Choice) -> int:
    return len(choice.text) + len(choice.reasoning or ()) + len(choice.tool_calls)
