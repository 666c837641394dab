"""One answer on its way to its client, step by step."""

import asyncio
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from engy_mock.books.course import is_endless, is_long
from engy_mock.books.entry import Entry
from engy_mock.serving.framing import Framing
from engy_mock.serving.pace import Pace
from engy_mock.vocabulary.clock import Clock, monotonic
from engy_mock.vocabulary.wire import Begin, Close, End, Lease, Repeat, Step, Unframed, Wait, Whole, Write

WRITES_IN_A_ROW = 16
"""After so many writes an answer lets the others have the loop, even if nothing makes it wait."""


class Wire(Protocol):
    """Where the bytes of an answer go: to a socket, or to a reader in the same process."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing of the answer has been written yet."""
        ...

    async def write(self, data: bytes) -> None:
        """Write at once; raises ConnectionError if the client has left."""
        ...

    async def end(self, *, is_abrupt: bool) -> None:
        """Let all that was written arrive, then end the connection by RST, or else by FIN."""
        ...

    def abort(self) -> None:
        """End the connection wherever it stands."""
        ...

    def stop_reading(self) -> None:
        """Let all that the client still sends wait, even that it has left."""
        ...

    def lease(self, lease: Lease, clock: Clock) -> None:
        """From now on the connection may be used again only under this lease."""
        ...


class Performance:
    """Performs the steps of one answer; `is_over` says whether it came to a regular end.

    From its last words before a silence without end on in which nothing is noticed of the client, it is
    `deaf_until` that is over.

    A write is held back until the next step is known: head and first write share one on the wire, and so do
    last write and end. `note` is told the place of the answer in the journal, which is the last of the entries.
    """

    __slots__ = (
        "_clock",
        "_due",
        "_entries",
        "_framing",
        "_held",
        "_holds_piece",
        "_is_hurried",
        "_pace",
        "_tell",
        "_wire",
        "_writes",
        "deaf_until",
        "is_over",
    )

    def __init__(
        self,
        wire: Wire,
        framing: Framing,
        pace: Pace,
        clock: Clock,
        entries: list[Entry],
        note: Callable[[Entry], None] | None = None,
    ) -> None:
        self._wire = wire
        self._tell = note
        self._framing = framing
        self._pace = pace
        self._clock = clock
        self._due = monotonic()
        self._entries = entries
        self._held = b""
        self._holds_piece = False
        self._is_hurried = False
        self._writes = 0
        self.deaf_until: float | None = None
        self.is_over = False

    def note(self, entry: Entry) -> None:
        """Note the answer's place in the journal."""
        self._entries.append(entry)
        if self._tell is not None:
            self._tell(entry)

    async def perform(self, steps: Iterator[Step]) -> None:
        """Perform all steps and what is behind the last one; raises ConnectionError if the client left."""
        framing = self._framing
        is_rest = False  # signs of life that found no place may leave a silence behind
        for step in steps:
            match step:
                case Whole():
                    body = framing.whole(step.head, step.body)
                    await self._wire.write(body)
                    self.is_over = True
                case Write():
                    if self._holds_piece:
                        await self._flush()
                    self._held += framing.piece(step.data)
                    self._holds_piece = True
                case Wait():
                    if step.is_deaf:
                        self._wire.stop_reading()
                        self.deaf_until = self._pace.end_of(step.seconds)
                    await self._flush()
                    if is_rest or (self._is_hurried and is_long(step)):
                        is_rest, self.deaf_until = False, None
                        continue
                    self._due = await self._pace.wait(
                        self._clock,
                        self._due,
                        step.seconds,
                        partial(self._unheard, step),
                        is_stall=self._may_stall,
                    )
                    self.deaf_until = None
                    if self._due == math.inf:
                        await self._close(is_abrupt=False)
                case Begin():
                    self._held = framing.begin(step.head, step.length)
                case End():
                    self._held += framing.end(step.trailers)
                    await self._flush()
                    self.is_over = True
                case Unframed():
                    await self._flush()
                    self._held = step.data
                    await self._flush()
                case Repeat():
                    await self._flush()
                    is_rest = self._is_hurried and is_long(step)
                    if is_rest:
                        continue
                    beats = self._pace.beats(
                        self._clock,
                        self._due,
                        step.seconds,
                        step.count,
                        partial(self._unheard, step),
                        is_stall=self._may_stall,
                    )
                    async for due in beats:
                        if due == math.inf:
                            await self._close(is_abrupt=False)
                            break
                        self._due = due
                        self._held = framing.piece(step.data)
                        await self._flush()
                    is_rest = self._is_hurried and is_long(step)
                case Close():
                    await self._close(is_abrupt=step.abrupt)
                case Lease():
                    self._wire.lease(step, self._clock)
        if not self.is_over:
            await self._flush()

    async def _flush(self) -> None:
        """One write on the wire; it waits while the client reads more slowly than it is told things."""
        if self._held:
            data, self._held, self._holds_piece = self._held, b"", False
            await self._wire.write(data)
            self._writes += 1
            if self._writes % WRITES_IN_A_ROW == 0:
                await asyncio.sleep(0)

    @property
    def _entry(self) -> Entry | None:
        """The answer's place in the journal."""
        return self._entries[-1] if self._entries else None

    @property
    def _may_stall(self) -> bool:
        """Whether a fault makes this answer fall silent for long."""
        return self._entry is not None and bool(self._entry.course.stalls)

    def _unheard(self, step: Step) -> None:
        """A silence found no place; if it would have had an end, none of the others that are long takes place."""
        self._is_hurried = is_long(step)
        if self._entry is not None:
            self._entry.lost_its_silence(is_endless=is_endless(step))

    async def _close(self, *, is_abrupt: bool) -> None:
        await self._flush()
        await self._wire.end(is_abrupt=is_abrupt)
