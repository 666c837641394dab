"""What is seen of each exchange while it goes over the wire: for the log, for metrics, for the control API."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Protocol

from engy_mock.books.entry import Entry
from engy_mock.serving.performance import Wire
from engy_mock.vocabulary.clock import Clock, monotonic
from engy_mock.vocabulary.credentials import without_keys
from engy_mock.vocabulary.wire import Call, Lease

MAX_KEPT = 256
"""So many exchanges are kept; then the oldest go."""


MAX_BYTES = 256 * 1024
"""So much of what one exchange sends is kept."""


@dataclass(slots=True, eq=False)
class Seen:
    """One exchange: what was asked, its place in the journal, and each write with the second in which it went out.

    Seconds are of the wall, counted from the moment at which the whole request was there. `size` counts all bytes,
    also those that were not kept. `seconds` is None while it lasts; then it `is_whole`, or its connection ended
    before that, by a reset or not.
    """

    call: Call
    began: float
    entry: Entry | None = None
    writes: list[tuple[float, bytes]] = field(default_factory=list)
    size: int = 0
    kept: int = 0
    first_seconds: float | None = None
    seconds: float | None = None
    is_whole: bool = False
    is_reset: bool = False

    def note(self, entry: Entry) -> None:
        """Note its place in the journal."""
        self.entry = entry

    def sent(self, data: bytes) -> None:
        """Note a write."""
        now = monotonic() - self.began
        if self.first_seconds is None:
            self.first_seconds = now
        self.size += len(data)
        if self.kept < MAX_BYTES:
            data = data[: MAX_BYTES - self.kept]
            self.kept += len(data)
            self.writes.append((now, data))

    @property
    def is_streamed(self) -> bool:
        """It is a stream that was asked for."""
        request = None if self.entry is None else self.entry.request
        return request is not None and request.is_streamed

    @property
    def is_cut(self) -> bool:
        """More was sent than was kept."""
        return self.size > self.kept


class SeenWire:
    """A wire whose writes are noted."""

    __slots__ = ("_seen", "_wire")

    def __init__(self, wire: Wire, seen: Seen) -> None:
        self._wire = wire
        self._seen = seen

    @property
    def is_silent(self) -> bool:
        """Whether nothing of the answer has been written yet."""
        return self._wire.is_silent

    async def write(self, data: bytes) -> None:
        """Note, then write."""
        self._seen.sent(data)
        await self._wire.write(data)

    async def end(self, *, is_abrupt: bool) -> None:
        """End the connection behind the last byte."""
        self._seen.is_reset = is_abrupt
        await self._wire.end(is_abrupt=is_abrupt)

    def abort(self) -> None:
        """End the connection wherever it stands."""
        self._seen.is_reset = True
        self._wire.abort()

    def stop_reading(self) -> None:
        """Let all that the client still sends wait."""
        self._wire.stop_reading()

    def lease(self, lease: Lease, clock: Clock) -> None:
        """From now on the connection may be used again only under this lease."""
        self._wire.lease(lease, clock)


class Listener(Protocol):
    """Whoever wants to know of exchanges."""

    def began(self, seen: Seen) -> None:
        """An exchange begins."""
        ...

    def ended(self, seen: Seen) -> None:
        """An exchange is over, its books are closed."""
        ...


class Watch:
    """Sees every exchange of one mock; any thread may ask and tell.

    What stands here is only who saw what and when: it is laid out by whoever wants to read it. Each change is one
    step of the interpreter, so that no lock is needed.
    """

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self._kept: deque[Seen] = deque(maxlen=MAX_KEPT)
        self._open: dict[int, Seen] = {}

    @property
    def open(self) -> list[Seen]:
        """The exchanges under way."""
        return list(self._open.copy().values())

    def begin(self, call: Call) -> Seen:
        """An exchange begins."""
        if call.trouble is not None or len(call.body) > MAX_BYTES:
            call = replace(call, body=b"", trouble=None)  # what was asked is for the journal to keep
        seen = Seen(call, monotonic())
        self._kept.append(seen)
        self._open[id(seen)] = seen
        for listener in self.listeners:
            listener.began(seen)
        return seen

    def end(self, seen: Seen) -> None:
        """It is over."""
        seen.seconds = monotonic() - seen.began
        self._open.pop(id(seen), None)
        for listener in self.listeners:
            listener.ended(seen)

    def turned_away(self, call: Call, status: int, reason: str, said: bytes, request_id: str = "") -> None:
        """An exchange is over that never came as far as the journal; its answer has this id, if it has one."""
        seen = self.begin(call)
        seen.note(
            Entry(
                method=call.method,
                path=without_keys(call.path),
                body=b"",
                request_id=request_id,
                status=status,
                error=reason,
            )
        )
        seen.sent(said)
        self.end(seen)

    def of(self, entry: Entry) -> Seen | None:
        """What was seen of the exchange with this entry, if it is still kept; one under way always is."""
        under_way = self.open if entry.fate == "waiting" else []
        return next((seen for seen in (*under_way, *reversed(self._kept.copy())) if seen.entry is entry), None)
