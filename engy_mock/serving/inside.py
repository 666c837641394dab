"""The service for clients inside the process: the same answers, drawn by whoever reads them."""

import asyncio
import errno
import logging
import math
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from operator import length_hint
from types import coroutine
from typing import NamedTuple, TypeVar

from engy_mock.books.entry import Entry
from engy_mock.serving.gate import Gate
from engy_mock.serving.glance import heard_at_once
from engy_mock.serving.heard import Garbled, Heard, Top
from engy_mock.serving.links import Link
from engy_mock.serving.pace import Pace
from engy_mock.serving.sent import Refused, Sent
from engy_mock.serving.shell import Shell, cut_off
from engy_mock.vocabulary.clock import Clock, monotonic
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.wire import Lease, Whole

log = logging.getLogger("engy_mock")

T = TypeVar("T")


class Ending(NamedTuple):
    """The connection would end here: by RST if `is_abrupt`, else by FIN."""

    is_abrupt: bool


Signal = bytes | float | Ending | None
"""What a telling says to its reader: a write, a silence in seconds, its end, or that others may have a turn."""

Telling = Coroutine[Signal, None, bool]
"""An answer that stands still at each signal; its result says whether its connection would be kept."""


class Said(NamedTuple):
    """A whole answer with nothing odd about it."""

    top: Top
    body: bytes


class HungUp(OSError):
    """The client has ended the connection itself, and still wants to hear what comes."""


class Drawn:
    """A wire on which nothing passes by itself: each write stands still until its reader wants more."""

    __slots__ = ("_age", "_link", "is_silent")

    def __init__(self, link: Link, age: int) -> None:
        self._link = link
        self._age = age
        self.is_silent = True

    async def write(self, data: bytes) -> None:
        """Hand the bytes over."""
        self.is_silent = False
        await _signal(data)

    async def end(self, *, is_abrupt: bool) -> None:
        """Hand the end over; nothing that follows is heard."""
        await _signal(Ending(is_abrupt))

    def stop_reading(self) -> None:
        """Nothing is read here once a telling has begun."""

    def lease(self, lease: Lease, clock: Clock) -> None:
        """From now on the connection may be used again only under this lease."""
        self._link.lease(lease, clock, self._age)

    def abort(self) -> None:
        """Nothing is held here that would have to be dropped: a telling that ends ends the connection."""


class DrawnPace(Pace):
    """Leaves it to the reader how to wait."""

    async def sleep(self, seconds: float) -> None:
        """Hand the silence over."""
        await _signal(float(seconds) if seconds > 0 else None)

    async def beside(self, work: Callable[[], T]) -> T:
        """Nobody else is held up."""
        return work()


class Inside:
    """What the clients inside one process share; may be used from any thread and any loop."""

    def __init__(self, shell: Shell, gate: Gate | None = None, *, time_scale: float = 1.0) -> None:
        self.limits = shell.limits
        self.gate = gate or Gate()
        self.pace = DrawnPace(shell.limits, time_scale)
        self.age = 0
        self.stops = 0
        self.shell = shell
        self._scale = time_scale
        self._bells: dict[object, Callable[[], object]] = {}

    def stop(self) -> None:
        """End all connections; may be called from any thread."""
        self.stops += 1
        self.abandon()

    def abandon(self) -> None:
        """Break off all answers that are under way; may be called from any thread."""
        self.age += 1
        for ring in list(self._bells.values()):
            with suppress(RuntimeError):  # a loop that is closed has no answers left to break off
                ring()

    def wait(self, seconds: float, age: int) -> None:
        """Let so many seconds pass for an answer of this age, unless it is broken off."""
        bell = threading.Event()
        with self._listed(bell.set):
            if age == self.age:
                bell.wait(min(seconds, threading.TIMEOUT_MAX))

    async def give_way(self) -> None:
        """Let the others on an asyncio loop have their turn; raises MockError on a loop of another kind."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise MockError(
                "asynchronous clients inside the process need a loop of asyncio: under another kind, like trio's, "
                "use http_client() in a thread, or a client of your own with engy.base_url"
            ) from None
        await asyncio.sleep(0)

    def wake(self, sleeper: object) -> None:
        """Let one that waits on a loop wait no longer; may be called from any thread."""
        ring = self._bells.get(sleeper)
        if ring is not None:
            with suppress(RuntimeError):
                ring()

    async def wait_on_loop(self, seconds: float, age: int, sleeper: object = None) -> None:
        """The same as `wait` on an asyncio loop, where others have their turn meanwhile, and one may be woken."""
        if seconds <= 0:
            await self.give_way()
            return
        bell, loop = asyncio.Event(), asyncio.get_running_loop()
        end = None if seconds == math.inf else seconds
        with self._listed(lambda: loop.call_soon_threadsafe(bell.set), sleeper):
            if age == self.age:
                with suppress(TimeoutError):
                    async with asyncio.timeout(end):
                        await bell.wait()

    def telling(self, sent: Sent, link: Link, entries: list[Entry]) -> Telling | Said:
        """The answer to a request, for a Hearing to drive, or to hear at once; its entry is added to the others.

        Raises Unsendable or Refused, and ConnectionResetError on a connection that is used too late.
        """
        call, wants_close = sent.arrive(self.limits)
        shell = self.shell
        if link.leased is not None and link.is_leased_out(shell.clock, self._scale, self.age):
            raise _reset()
        if link.is_misheard:
            return _misheard(is_mute=self.gate.handshake is not None and self.gate.handshake.is_mute)
        wire = Drawn(link, self.age)
        early = shell.early(call, wire, self.pace)
        if early is not None:
            return early
        is_mute = call.method == "HEAD"
        steps = None if is_mute or wants_close else shell.begin(call, entries)
        # One step that waits for nothing needs nobody who drives it.
        if steps is not None and length_hint(steps, 2) == 1:
            (step,) = only = tuple(steps)
            if isinstance(step, Whole) and (top := heard_at_once(step, shell.house_headers())) is not None:
                return Said(top, step.body)
            steps = iter(only)
        framing = shell.framing(is_mute=is_mute, wants_close=wants_close)
        if steps is None:
            return shell.tell(call, framing, wire, self.pace, entries)
        return shell.go_on(call, steps, framing, wire, self.pace, entries)

    def refusal(self, refused: Refused) -> bytes:
        """What the door says to a request that it refuses: as to one that it could not read."""
        framing = self.shell.framing(is_http_11=False, wants_close=True)
        return self.shell.turned_away(refused.path, refused.error, framing)

    @contextmanager
    def _listed(self, ring: Callable[[], object], sleeper: object = None) -> Generator[None]:
        """Be woken when everything is broken off."""
        name = sleeper or ring
        self._bells[name] = ring
        try:
            yield
        finally:
            self._bells.pop(name, None)


class Hearing:
    """One answer, told as far as it is heard.

    Between two pieces it stands still, like an answer on a connection whose client does not read; closed
    before its end, it settles its books like one whose client has left. Raises Unsendable.
    """

    _is_listening = False
    _is_hung_up = False

    def __init__(self, inside: Inside, sent: Sent, link: Link) -> None:
        self.heard = Heard(sent)
        self._inside = inside
        self._link = link
        self._is_kept = False
        self._age = inside.age
        self._since = monotonic()
        self._has_waited = False
        self._telling: Telling | None = None
        self._entries: list[Entry] = []
        try:
            told = inside.telling(sent, link, self._entries)
        except Refused as refused:
            self.heard.hear(inside.refusal(refused))
        else:
            if isinstance(told, Said):
                self.heard.hear_all(*told)
                self._is_kept = True
            else:
                self._telling = told
                link.begin(self)

    def listen(self, timeout: float | None) -> None:
        """Hear what the next write brings, or the end of the connection; after any trouble the answer is closed.

        Raises Garbled, or what a socket would raise: ConnectionResetError, HungUp, or TimeoutError if
        nothing comes within `timeout` seconds. As there, nobody is woken whose connection another thread ends.
        """
        began = monotonic()
        self._is_listening = True
        try:
            while (seconds := self._advance()) is not None:
                if seconds > 0:
                    left = _left(began, timeout)
                    self._inside.wait(min(seconds, left), self._age)
                    if left < seconds and not (self._is_broken_off or self._is_hung_up):
                        raise TimeoutError("timed out")
        except BaseException:
            self.close()
            raise
        finally:
            self._is_listening = False

    async def listen_on_loop(self, timeout: float | None) -> None:
        """The same on an asyncio loop, where whoever waits is told at once that the connection is ended."""
        began = monotonic()
        self._is_listening = True
        try:
            while (seconds := self._advance()) is not None:
                left = _left(began, timeout)
                await self._inside.wait_on_loop(min(seconds, left), self._age, self)
                if left < seconds and not (self._is_broken_off or self._is_hung_up):
                    raise TimeoutError
        except BaseException:
            self.close()
            raise
        finally:
            self._is_listening = False

    def keep(self) -> None:
        """It has been read to its end: another one may follow on its connection, unless that has ended with it."""
        if self._is_kept:
            self._is_kept = False
            self._link.keep()

    def hang_up(self) -> None:
        """The connection is ended at this end, by any thread; where somebody listens, he closes the answer."""
        self._is_hung_up = True
        self._inside.wake(self)
        if not self._is_listening:
            self.close()

    def close(self) -> None:
        """Nothing more is wanted."""
        self._link.end(self)
        telling, self._telling = self._telling, None
        if telling is not None:
            with suppress(ValueError):  # another thread is at it
                telling.close()

    @property
    def _is_broken_off(self) -> bool:
        return self._age != self._inside.age

    def _advance(self) -> float | None:
        """Go on with the telling; returns None once something was heard, else how long to wait before the next."""
        if self._is_broken_off or (self._has_waited and self._is_too_old()):
            self.close()
        self.heard.check()
        if self._is_hung_up:
            raise HungUp(errno.EBADF, os.strerror(errno.EBADF))
        heard, signal = self.heard, self._next_signal()
        if isinstance(signal, float):
            self._has_waited = True
            return signal
        if signal is None:
            return 0.0
        if isinstance(signal, Ending):
            # It is the service that ends here: its client has not left.
            self._tell_to_its_end()
            if signal.is_abrupt:
                raise _reset()
            signal = b""
        try:
            heard.hear(signal)
        except Garbled:
            # Before a client on a connection can leave, the service has gone on.
            self._tell_to_its_end()
            raise
        if heard.is_over:
            # The books are closed by now; what would follow the end does not concern this client.
            self._tell_to_its_end()
        return None

    def _tell_to_its_end(self) -> None:
        """Let the telling go on to its end, as long as it says and waits for nothing."""
        while self._telling is not None:
            signal = self._next_signal()
            if signal is not None and not isinstance(signal, Ending):
                break
        self.close()

    def _next_signal(self) -> Signal:
        """What the telling says next, or b"" if the connection has ended."""
        if self._telling is None:
            self._is_kept = False
            return b""
        try:
            return self._telling.send(None)
        except StopIteration as end:
            self._telling = None
            self._is_kept = bool(end.value)
            # A connection that is kept says nothing until it has been idle for too long.
            return self._inside.limits.idle_seconds if end.value and not self.heard.is_over else b""
        except ConnectionError:
            self._telling = None
            return b""

    def _is_too_old(self) -> bool:
        is_too_old = monotonic() - self._since > self._inside.limits.answer_seconds
        if is_too_old and self._telling is not None:
            cut_off(self._entries, self._inside.limits)
        return is_too_old


async def _misheard(*, is_mute: bool) -> bool:
    """What is said to plain HTTP where a handshake should begin."""
    if is_mute:
        await _signal(math.inf)
    return False


def _reset() -> ConnectionResetError:
    """What the system says of a connection that ends by RST."""
    return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))


def _left(began: float, timeout: float | None) -> float:
    """How many seconds of a timeout are left."""
    return math.inf if timeout is None else max(0.0, began + timeout - monotonic())


@coroutine
def _signal(signal: Signal) -> Generator[Signal]:
    """Say something to whoever drives the telling."""
    yield signal
