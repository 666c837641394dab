"""A connection as long as nothing odd is asked on it: answers are told where requests come in, without tasks.

Only what an answer has to wait for makes a task of the rest of it. The first odd request hands the connection to
aiohttp, for good.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Generator
from contextvars import copy_context
from io import BytesIO
from types import coroutine
from typing import TYPE_CHECKING, Any, Protocol, cast

from engy_mock.serving.body import opened
from engy_mock.serving.endings import end
from engy_mock.serving.leaving import GRACE_SECONDS, may_listen_on
from engy_mock.serving.plain import MAX_HEAD, Top, top
from engy_mock.serving.shell import Shell, Turn
from engy_mock.vocabulary.clock import Clock, monotonic
from engy_mock.vocabulary.wire import Call, Lease, Line

if TYPE_CHECKING:
    from engy_mock.serving.odd import Connection

log = logging.getLogger("engy_mock")

_MAX_LATE = 64 * 1024
"""How much of what comes during an answer is taken; the rest waits in the client's system."""


class House(Protocol):
    """Whoever knows all connections."""

    def enter(self, connection: Swift) -> None:
        """A connection begins."""
        ...

    def leave(self, connection: Swift) -> None:
        """It is lost, or somebody else speaks on it."""
        ...

    def other(self) -> Connection:
        """Who speaks on a connection once something odd is asked."""
        ...


class Swift(asyncio.Protocol):
    """One connection; `heard_at` is when it was last busy, `waits_since` since when it waits for a body.

    `line` is what the journal keeps of it.
    """

    __slots__ = (
        "_awaited",
        "_body",
        "_drained",
        "_has_finished",
        "_head",
        "_house",
        "_is_deaf",
        "_is_full",
        "_late",
        "_loop",
        "_missing",
        "_shell",
        "_telling",
        "heard_at",
        "is_paused",
        "line",
        "transport",
        "waits_since",
    )

    def __init__(self, house: House, shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        self.transport: asyncio.Transport | None = None
        self.heard_at = monotonic()
        self.line = Line(self.heard_at)
        self.waits_since: float | None = None
        self.is_paused = False
        self._house = house
        self._shell = shell
        self._loop = loop
        self._awaited: Top | None = None
        self._head = b""
        self._body = BytesIO()
        self._missing = 0
        self._late: list[bytes] = []
        self._telling: asyncio.Task[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._has_finished = False
        self._is_deaf = False
        self._is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast(asyncio.Transport, transport)
        self._house.enter(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Break off what is being told."""
        if self.transport is not None:
            self.transport = None
            self.line.closed = monotonic()
            self._house.leave(self)
            self._shell.leases.forget(self)
            if self._telling is not None:
                self._telling.cancel()

    def data_received(self, data: bytes) -> None:
        """Take what has come: in its turn, and a body only when it is whole."""
        if self._telling is not None:
            self._late.append(data)
            if self.transport is not None and not self._is_full and sum(map(len, self._late)) > _MAX_LATE:
                self._is_full = True
                self.transport.pause_reading()
            return
        self.heard_at = monotonic()
        if self._awaited is not None:
            missing = self._missing
            self._body.write(data[:missing])
            self._missing -= len(data)
            if self._missing > 0:
                return
            data = data[missing:]
            self._answer(self._awaited, self._taken())
        self._hear(data)

    def eof_received(self) -> bool:
        """Go on with what the client has asked for; without that it has left."""
        transport = self.transport
        if self._telling is None or transport is None or not may_listen_on(transport) or self.is_silent:
            return False
        self._has_finished = True
        self._see_off()
        return True

    def pause_writing(self) -> None:
        """The client reads more slowly than it is told things."""
        self.is_paused = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self.is_paused = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    async def drain(self) -> None:
        """Wait until the client has caught up."""
        while self.is_paused:
            self._drained = self._loop.create_future()
            await self._drained

    def stop_reading(self) -> None:
        """Let all that the client still sends wait, even that it has left."""
        self._is_deaf = True
        if self.transport is not None:
            self.transport.pause_reading()

    def grant(self, lease: Lease, clock: Clock) -> None:
        """The connection may be used again only under this lease."""
        self._shell.leases.grant(self, lease, clock)

    @property
    def is_closing(self) -> bool:
        """Whether the connection is to end, and has not ended yet."""
        return self.transport is not None and self.transport.is_closing()

    @property
    def is_stuffed(self) -> bool:
        """Whether the client has more to read than its system takes."""
        return self.transport is not None and self.transport.get_write_buffer_size() > 0

    @property
    def is_silent(self) -> bool:
        """Whether nothing has been said for so long that a client that says no more has left."""
        return not self.is_stuffed and monotonic() - self.heard_at >= GRACE_SECONDS

    @property
    def is_blind(self) -> bool:
        """Whether nobody sees here that the client has left, though somebody should."""
        return self._is_full and not self._is_deaf

    def force_close(self) -> None:
        """End the connection behind what was written."""
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """End the connection wherever it stands."""
        if self.transport is not None:
            self.transport.abort()

    def hand_over(self, data: bytes = b"") -> None:
        """Let aiohttp speak from here on, with all that has come and was not understood."""
        transport, shell = self.transport, self._shell
        assert transport is not None
        self.transport = None
        self._house.leave(self)
        other = self._house.other()
        other.body_since = self.waits_since
        other.line = self.line
        shell.leases.pass_on(self, other)
        transport.set_protocol(other)
        other.connection_made(transport)
        if self.is_paused:
            other.pause_writing()
        other.data_received(b"".join([self._head, self._taken(), data]))
        if self._has_finished:
            other.finish()

    def _hear(self, data: bytes) -> None:
        """Answer whole requests, one after the other."""
        shell = self._shell
        while data and self.transport is not None and not self.transport.is_closing():
            if self._telling is not None:
                self._late.insert(0, data)
                return
            start = data.find(b"\r\n\r\n", 0, MAX_HEAD) + 4
            found = top(data[:start]) if start > 4 else None
            if found is None or found.length > shell.limits.body_bytes or shell.looks_at_heads:
                self.hand_over(data)
                return
            size = start + found.length
            shell.turns[self] = Turn(monotonic(), self._loop, False, [])
            if len(data) < size:
                self._awaited, self._head = found, data[:start]
                self._body.write(data[start:])
                self._missing = size - len(data)
                self.waits_since = self.heard_at
                return
            self._answer(found, data[start:size])
            data = data[size:]

    def _taken(self) -> bytes:
        """What has come of the body that is waited for; that is over."""
        body, self._body = self._body.getvalue(), BytesIO()  # without a copy: bodies may be large
        self._awaited, self._head, self._missing, self.waits_since = None, b"", 0, None
        return body

    def _answer(self, top: Top, data: bytes) -> None:
        """Tell an answer as far as it needs to wait for nothing."""
        shell = self._shell
        asked, entries = top.call, shell.turns[self].entries
        if shell.is_leased_out(self):
            telling = self._break()
        else:
            body, trouble = opened(data, asked.headers, shell.limits)
            call = Call(
                method=asked.method,
                path=asked.path,
                headers=asked.headers,
                body=body,
                query=asked.query,
                trouble=trouble,
                line=self.line,
                kept=asked.kept,
            )
            if shell.aside is not None and shell.aside.is_for(call.path):
                shell.set_aside(self)
            framing = shell.framing(wants_close=top.wants_close)
            telling = shell.tell(call, framing, SwiftWire(self), shell.pace, entries)
        context = copy_context()
        if not shell.tells_at_once:
            self._telling = self._loop.create_task(self._go_on(telling), context=context)
            return
        try:
            signal = context.run(telling.send, None)
        except StopIteration as over:
            self._ended(is_kept=over.value)
        except ConnectionError:
            self._ended(is_kept=False)
        else:
            self._telling = self._loop.create_task(self._go_on(_resumed(telling, signal)), context=context)

    async def _go_on(self, telling: Awaitable[bool]) -> None:
        """Tell an answer that has to wait, or the rest of it."""
        is_kept = False
        try:
            is_kept = await telling
        except ConnectionError:
            log.debug("the client left before the end of its answer")
        except Exception:
            log.exception("the mock failed")
        finally:
            self._telling = None
        self._ended(is_kept=is_kept)
        late = b"".join(self._late)
        self._late.clear()
        if self.transport is not None and self._is_full and not self._is_deaf:
            self.transport.resume_reading()
        self._is_full = False
        self._hear(late)
        if self._has_finished and self._telling is None:
            self.force_close()

    def _see_off(self) -> None:
        """Go on until there is silence."""
        if self.transport is not None and not self.transport.is_closing():
            if self.is_silent:
                self.transport.abort()
            else:
                self._loop.call_later(GRACE_SECONDS / 2, self._see_off)

    def _ended(self, *, is_kept: bool) -> None:
        self._shell.forget(self)
        self.heard_at = monotonic()
        if not is_kept:
            self.force_close()

    async def _break(self) -> bool:
        """Break a connection that is used too late, as if it had been closed already."""
        self._shell.leases.forget(self)
        if self.transport is not None:
            await end(self.transport, self.drain, is_abrupt=True)
        return False


class SwiftWire:
    """The connection as that of one answer."""

    __slots__ = ("_connection", "is_silent")

    def __init__(self, connection: Swift) -> None:
        self._connection = connection
        self.is_silent = True

    async def write(self, data: bytes) -> None:
        """Write at once; raises ConnectionError if the client has left."""
        connection = self._connection
        transport = connection.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client has left")
        self.is_silent = False
        connection.heard_at = monotonic()
        transport.write(data)
        if connection.is_paused:
            await connection.drain()

    async def end(self, *, is_abrupt: bool) -> None:
        """End the connection behind the last byte."""
        if self._connection.transport is not None:
            await end(self._connection.transport, self._connection.drain, is_abrupt=is_abrupt)

    def abort(self) -> None:
        """End the connection wherever it stands."""
        if self._connection.transport is not None:
            self._connection.transport.abort()

    def stop_reading(self) -> None:
        """Let all that the client still sends wait in its system, even that it has left."""
        self._connection.stop_reading()

    def lease(self, lease: Lease, clock: Clock) -> None:
        """From now on the connection may be used again only under this lease."""
        self._connection.grant(lease, clock)


@coroutine
def _resumed(telling: Coroutine[Any, Any, bool], signal: Any) -> Generator[Any, Any, bool]:
    """What has stood still at a signal, for a task to go on with from there."""
    thrown: BaseException | None
    while True:
        try:
            sent = yield signal
        except GeneratorExit:
            telling.close()
            raise
        except BaseException as error:
            sent, thrown = None, error
        else:
            thrown = None
        try:
            signal = telling.send(sent) if thrown is None else telling.throw(thrown)
        except StopIteration as over:
            return bool(over.value)
        finally:
            thrown = None  # what is kept here has passed here, and would keep the whole answer
