"""From an aiohttp request to a call, and from the steps of its answer back to the socket."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engy_mock.books.entry import Entry
from engy_mock.dialects.routes import ID_HEADERS
from engy_mock.serving.body import BodyUnread, read_body
from engy_mock.serving.endings import ConnectedWire, end
from engy_mock.serving.framing import Framing
from engy_mock.serving.leases import Leases
from engy_mock.serving.limits import Limits
from engy_mock.serving.pace import Pace
from engy_mock.serving.performance import Performance, Wire
from engy_mock.serving.plain import authority_in
from engy_mock.serving.unheard import Unheard
from engy_mock.serving.watch import Seen, SeenWire, Watch
from engy_mock.vocabulary.clock import Clock, http_date, monotonic
from engy_mock.vocabulary.errors import ApiError, MockFailed, bare
from engy_mock.vocabulary.wire import Call, Doorstep, Step, Whole, header_lines

if TYPE_CHECKING:
    from aiohttp import web

HTTP_11 = (1, 1)

log = logging.getLogger("engy_mock")


class Service(Protocol):
    """What stands behind the door: the gateway."""

    @property
    def clock(self) -> Clock:
        """The mock's time."""
        ...

    @property
    def looks_at_heads(self) -> bool:
        """Whether anything may happen before a body is read, so that `before_body` has to be asked."""
        ...

    def before_body(self, call: Call, note: Callable[[Entry], None] | None = None) -> Doorstep | None:
        """What happens before the body is read; None for nothing, as is usual.

        `note` is told its journal entry.
        """
        ...

    def answer(self, call: Call, note: Callable[[Entry], None] | None = None) -> Iterator[Step]:
        """The steps of the answer; closed early if the client leaves. `note` is told its journal entry."""
        ...

    def turned_away(self, path: str, error: ApiError) -> Whole:
        """What the door says to what never reaches the service, in the words of the path."""
        ...


class Aside(Protocol):
    """What answers beside the service, about the mock itself: the control API."""

    def is_for(self, path: str) -> bool:
        """Whether calls of this path are its own."""
        ...

    async def tell(self, call: Call, framing: Framing, wire: Wire, pace: Pace) -> bool:
        """Answer a call; returns whether the connection may go on."""
        ...


UNREAD = Call(method="-", path="-", headers={})
"""A call of which nothing is known: what came was not HTTP."""


class Speaker(Protocol):
    """Whoever speaks with the client on a connection."""

    @property
    def transport(self) -> asyncio.Transport | None:
        """The connection; None once it is lost."""
        ...


class Turn(NamedTuple):
    """An answer under way: since when, on which loop, whether its head was looked at before, its entries."""

    since: float
    loop: asyncio.AbstractEventLoop
    is_late: bool
    entries: list[Entry]


class Shell:
    """Answers aiohttp's requests out of a service; any number of loops may use one.

    `turns` holds the connections that are being answered, but those of `aside`, which no reset breaks off and no
    deadline cuts: they are `beside`. `leases` holds those that may not be used for long. `watch` is told of every
    exchange. An answer begins where its request comes in, without a task, where it `tells_at_once`.
    """

    tells_at_once = True

    def __init__(self, service: Service, limits: Limits | None = None, *, time_scale: float = 1.0) -> None:
        self.limits = limits or Limits()
        self.pace = Pace(self.limits, time_scale)
        self.turns: dict[Speaker, Turn] = {}
        self.beside: set[Speaker] = set()
        self.aside: Aside | None = None
        self.watch: Watch | None = None
        self.leases = Leases(time_scale)
        self.unheard = Unheard()
        self._service = service
        self._house_second = -1
        self._house = b""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, to the last byte."""
        from engy_mock.serving.told import CLOSED, KEPT

        connection = request.protocol
        if connection not in self.turns:  # else the server has noted it already, with the end of the head
            self.turns[connection] = Turn(monotonic(), asyncio.get_running_loop(), False, [])
        try:
            if self.is_leased_out(connection):
                await self._reset(request)
                return CLOSED
            return KEPT if await self._answer(request) else CLOSED
        except ConnectionError:
            log.debug("the client left before the end of its answer")
            return CLOSED
        finally:
            self.forget(connection)

    @property
    def looks_at_heads(self) -> bool:
        """Whether anything may happen before a body is read."""
        return self._service.looks_at_heads

    @property
    def clock(self) -> Clock:
        """The mock's time."""
        return self._service.clock

    def is_leased_out(self, connection: Speaker) -> bool:
        """Whether a connection must not be used again."""
        return self.leases.is_over(connection, self._service.clock)

    def abandon(self) -> None:
        """Break off all answers that are under way, and forget all leases; may be called from any thread."""
        self.leases.clear()
        self.unheard.end_all()
        for connection, turn in self.turns.copy().items():
            with suppress(RuntimeError):  # a loop that is closed has no answers left to break off
                turn.loop.call_soon_threadsafe(self.break_off, connection, turn)

    async def close(self) -> None:
        """Let go of what belongs to the loop; there is nothing here."""

    def set_aside(self, connection: Speaker) -> None:
        """What is being told there is told by `aside`."""
        self.turns.pop(connection, None)
        self.beside.add(connection)

    def is_telling(self, connection: Speaker) -> bool:
        """Whether something is being told there."""
        return connection in self.turns or connection in self.beside

    def forget(self, connection: Speaker) -> None:
        """Nothing is being told there any more."""
        self.turns.pop(connection, None)
        self.beside.discard(connection)

    def break_off(self, connection: Speaker, turn: Turn) -> None:
        """End a connection, unless the answer is over already."""
        if self.turns.get(connection) is turn and connection.transport is not None:
            connection.transport.abort()

    def cut(self, connection: Speaker, turn: Turn) -> None:
        """End a connection whose answer has lasted too long; that is no fault of its client (Q-18)."""
        cut_off(turn.entries, self.limits)
        self.break_off(connection, turn)

    async def refuse(self, request: web.BaseRequest, path: str, error: ApiError) -> None:
        """Say at the door what the service cannot, and close behind it."""
        await request.writer.write(self.turned_away(path, error, self._framing(request, wants_close=True)))

    def turned_away(self, path: str, error: ApiError, framing: Framing) -> bytes:
        """What the door says to what it could not read; whoever watches is told of it.

        `path` is where it was sent, if that much could be read, else `/`.
        """
        whole = self._service.turned_away(path, error)
        said = framing.whole(whole.head, whole.body)
        if self.watch is not None:
            request_id = dict(whole.head.headers).get(ID_HEADERS[0], "")
            self.watch.turned_away(UNREAD, error.status, error.message, said, request_id)
        return said

    def refusal(self, path: str, error: ApiError, framing: Framing) -> bytes:
        """What the door says to what never reaches the service."""
        whole = self._service.turned_away(path, error)
        return framing.whole(whole.head, whole.body)

    def begin(self, call: Call, entries: list[Entry]) -> Iterator[Step] | None:
        """The steps of an answer before it is told; None where it can be asked for only while that is done.

        Its place in the journal is added to the entries.
        """
        if self.watch is not None or (self.aside is not None and self.aside.is_for(call.path)):
            return None
        try:
            return self._service.answer(call, entries.append)
        except Exception as error:
            return map(_raise, (error,))

    def tell(
        self, call: Call, framing: Framing, wire: Wire, pace: Pace, entries: list[Entry]
    ) -> Coroutine[Any, Any, bool]:
        """Answer a call; returns whether the answer came to its regular end, and the connection may go on.

        Its place in the journal is added to the entries.
        """
        if self.aside is not None and self.aside.is_for(call.path):
            return self.aside.tell(call, framing, wire, pace)
        return self.go_on(call, None, framing, wire, pace, entries)

    async def go_on(
        self,
        call: Call,
        steps: Iterator[Step] | None,
        framing: Framing,
        wire: Wire,
        pace: Pace,
        entries: list[Entry],
    ) -> bool:
        """Tell an answer that has begun with these steps, or begin it; returns the same."""
        seen = None
        if self.watch is not None:
            seen = self.watch.begin(call)
            wire = SeenWire(wire, seen)
        performance = Performance(
            wire, framing, pace, self._service.clock, entries, None if seen is None else seen.note
        )
        try:
            if steps is None:
                steps = self._service.answer(call, performance.note)
            await performance.perform(steps)
        except Exception as error:
            performance.deaf_until = None
            if isinstance(error, ConnectionError):
                raise
            log.exception("the mock failed")
            if wire.is_silent:
                await wire.write(self.refusal(call.path, MockFailed(), framing.anew()))
            else:
                wire.abort()
        finally:
            until = performance.deaf_until
            if until is None or any(entry.course.is_broken_off for entry in entries):
                self._end(steps, seen, performance)
            else:
                self.unheard.keep(until, partial(self._end, steps, seen, performance))
        return performance.is_over and framing.is_kept

    def _end(self, steps: Iterator[Step] | None, seen: Seen | None, performance: Performance) -> None:
        """Let an answer settle its books, wherever it stands."""
        close = getattr(steps, "close", None)
        if close is not None:
            try:
                close()
            except Exception:
                log.exception("the mock failed while it closed an answer")
        if seen is not None and self.watch is not None:
            seen.is_whole = performance.is_over
            self.watch.end(seen)

    def early(self, call: Call, wire: Wire, pace: Pace) -> Coroutine[Any, Any, bool] | None:
        """The telling of an answer that does not wait for the body of a call which is there as a whole."""
        if not call.body or not self._service.looks_at_heads:
            return None
        entries: list[Entry] = []
        head = replace(call, body=b"")
        doorstep = self._service.before_body(head, entries.append)
        if doorstep is None or doorstep.steps is None:
            return None
        return self._tell_early(head, doorstep.steps, entries, self.framing(wants_close=True), wire, pace)

    def framing(self, *, is_http_11: bool = True, is_mute: bool = False, wants_close: bool = False) -> Framing:
        """What frames the next answer."""
        return Framing(self.house_headers(), is_http_11=is_http_11, is_mute=is_mute, wants_close=wants_close)

    async def _answer(self, request: web.BaseRequest) -> bool:
        """Answer a request; returns whether the connection takes another one."""
        doorstep = None
        entries: list[Entry] = []
        turn = self.turns[request.protocol]
        if request.body_exists and self._service.looks_at_heads and not turn.is_late:
            call = _call(request, b"", None)
            doorstep = self._service.before_body(call, entries.append)
        if doorstep is not None and doorstep.steps is not None:
            framing = self._framing(request, wants_close=True)
            wire = ConnectedWire(request, self.leases)
            return await self._tell_early(call, doorstep.steps, entries, framing, wire, self.pace)
        body, unread = b"", None
        try:
            invites = doorstep is None or doorstep.invites
            body = await read_body(request, self.limits, invites=invites, since=turn.since)
        except BodyUnread as trouble:
            unread = bare(trouble)
        has_rest = not request.content.is_eof() or request.method == "CONNECT"
        framing = self._framing(request, wants_close=has_rest)
        call = _call(request, body, unread.error if unread else None)
        if self.aside is not None and self.aside.is_for(call.path):
            self.set_aside(request.protocol)
        is_kept = await self.tell(call, framing, ConnectedWire(request, self.leases), self.pace, turn.entries)
        if unread and unread.is_broken:
            request.protocol.force_close()
        return is_kept

    async def _tell_early(
        self,
        call: Call,
        steps: Iterator[Step],
        entries: list[Entry],
        framing: Framing,
        wire: Wire,
        pace: Pace,
    ) -> bool:
        """Tell an answer that does not wait for the body; the connection never goes on."""
        watch, seen = self.watch, None
        if watch is not None:
            seen = watch.begin(call)
            for entry in entries:
                seen.note(entry)
            wire = SeenWire(wire, seen)
        try:
            await Performance(wire, framing, pace, self._service.clock, []).perform(steps)
        finally:
            if seen is not None and watch is not None:
                watch.end(seen)
        return False

    async def _reset(self, request: web.BaseRequest) -> None:
        """Break a connection that is used too late, as if it had been closed already."""
        self.leases.forget(request.protocol)
        with suppress(BodyUnread):
            await read_body(request, self.limits)
        if request.transport is not None:
            await end(request.transport, request.writer.drain, is_abrupt=True)

    def _framing(self, request: web.BaseRequest, *, wants_close: bool) -> Framing:
        return self.framing(
            is_http_11=request.version >= HTTP_11,
            is_mute=request.method == "HEAD",
            wants_close=wants_close or not request.keep_alive,
        )

    def house_headers(self) -> bytes:
        """The headers that stand on all answers; made once for each second of the mock's time."""
        second = int(self._service.clock.now())
        if second != self._house_second:
            date = http_date(second)
            self._house = header_lines(
                (("Server", "engy-mock"), ("Date", date), ("X-Content-Type-Options", "nosniff"))
            )
            self._house_second = second
        return self._house


def _call(request: web.BaseRequest, body: bytes, trouble: ApiError | None) -> Call:
    url = request.rel_url
    return Call(
        method=request.method,
        path=url.raw_path,
        query=url.raw_query_string,
        headers=request.headers,
        body=body,
        trouble=trouble,
        authority=authority_in(request.raw_path),
        line=getattr(request.protocol, "line", None),  # a test server's own connections have none
    )


def _raise(error: Exception) -> Step:
    raise error


def cut_off(entries: Iterable[Entry], limits: Limits) -> None:
    """Take note that the service itself ends an answer that has lasted too long."""
    log.warning("an answer was cut after %g seconds", limits.answer_seconds)
    for entry in entries:
        entry.course.break_off()
