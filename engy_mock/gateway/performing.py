"""The steps of an answer as a client takes them: the books are closed before the last one, and when it leaves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from engy_mock.books.course import is_endless
from engy_mock.dialects.dialect import Encoder
from engy_mock.dialects.frames import frames
from engy_mock.gateway.heads import STREAM
from engy_mock.gateway.memory import MAX_WRITES, Memory, Told, Version
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import Begin, End, Repeat, Step, Unframed, Wait, Whole, Write

if TYPE_CHECKING:
    from engy_mock.gateway.exchange import Exchange

_SPOKEN = (Begin, Whole, Write, Unframed, Repeat)
"""The steps that bring bytes to the client."""


class Planned(Iterator[Step]):
    """Steps that are settled to the last, with the pieces that each brings to the client.

    Closed before its end it settles what the client has got until then, unless nothing is to be paid or it is the
    mock that ends; all of it, if faults named in `running_on` let the answer run on.
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
        if exchange.entry.course.is_broken_off:
            exchange.hold.settle(0)
        elif exchange.hold.is_open:
            # Whose silence without end is over all the same has left no client behind; who is deaf notices none.
            exchange.entry.client_left = exchange.entry.course.ended is None and not self._is_deaf
            usage = None if self._generation is None else self._generation.usage
            if usage is None:
                exchange.hold.settle(0)
            elif self._is_paid and self._running_on:
                exchange.entry.faults += tuple(self._running_on)
                exchange.close(usage, exchange.cost(usage))
            else:
                exchange.leave(usage, self._plan[self._place - 1][1] if self._place else 0)
        exchange.entry.course.end()

    @property
    def _is_deaf(self) -> bool:
        """Whether the last step is one in which nothing is noticed of the client."""
        step = self._plan[self._place - 1][0] if self._place else None
        return isinstance(step, Wait) and step.is_deaf

    def _settle(self) -> None:
        exchange, generation = self._exchange, self._generation
        if self._is_paid and generation is not None:
            if not self._is_streamed:
                exchange.entry.pieces_sent = sum([pieces_of(choice) for choice in generation.choices])
            exchange.close(generation.usage, exchange.cost(generation.usage))
        else:
            exchange.hold.settle(0)


class Stream(Iterator[Step]):
    """The events of an answer as steps, several events to a write.

    Closed before its end, even before its beginning, it settles what the client has got until then (E-200);
    nothing if it is the mock that ends.
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
        if exchange.entry.course.is_broken_off:
            exchange.hold.settle(0)
            exchange.entry.pieces_sent = self._sent
        elif exchange.hold.is_open:
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


def pieces_of(choice: Choice) -> int:
    """How many pieces of an answer a choice brings: of reasoning, of text, and its calls."""
    return len(choice.text) + len(choice.reasoning or ()) + len(choice.tool_calls)
