"""Connections on which something odd was asked: aiohttp reads what comes on them."""

import asyncio
import logging

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import LineTooLong

from engy_mock.serving.connections import Doorkeeper, handler_options
from engy_mock.serving.leaving import GRACE_SECONDS, may_listen_on
from engy_mock.serving.plain import MAX_OPENING, target_of
from engy_mock.serving.shell import Shell, Turn
from engy_mock.serving.told import Told
from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, MockFailed
from engy_mock.vocabulary.wire import Line

log = logging.getLogger("engy_mock")


class Connection(web.RequestHandler):
    """One connection; `head_since` tells since when the head of a request is incomplete.

    `body_since` tells since when the body is missing whose head came before it was handed over.
    `wire` is its transport to the very end: aiohttp forgets one that it has closed, though it may still be there.
    `line` is what the journal keeps of it.
    """

    __slots__ = (
        *("_has_finished", "_is_deaf", "_opening", "_shell"),
        *("body_since", "head_since", "heard_at", "line", "wire"),
    )

    def __init__(self, server: "OddServer", shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server, loop=loop, **handler_options(shell.limits))
        self._shell = shell
        self.head_since: float | None = None
        self.body_since: float | None = None
        self.heard_at = monotonic()
        self.wire: asyncio.Transport | None = None
        self._has_finished = False
        self._is_deaf = False
        self._opening = b""
        self.line = Line(self.heard_at)

    @property
    def is_closing(self) -> bool:
        """Whether the connection is to end, and has not ended yet."""
        return self.wire is not None and self.wire.is_closing()

    @property
    def is_stuffed(self) -> bool:
        """Whether the client has more to read than its system takes."""
        return self.wire is not None and self.wire.get_write_buffer_size() > 0

    @property
    def is_silent(self) -> bool:
        """Whether nothing has been said for so long that a client that says no more has left."""
        return not self.is_stuffed and monotonic() - self.heard_at >= GRACE_SECONDS

    @property
    def is_blind(self) -> bool:
        """Whether nobody sees here that the client has left, though somebody should."""
        return self.wire is not None and not self._is_deaf and not self.wire.is_reading()

    def abort(self) -> None:
        """End the connection wherever it stands."""
        if self.wire is not None:
            self.wire.abort()

    def data_received(self, data: bytes) -> None:
        """Note when a head began, then let aiohttp read it."""
        if data and self not in self._shell.turns:
            self.heard_at = monotonic()
            if self.head_since is None:
                self.head_since = self.heard_at
                self._opening = b""
            if len(self._opening) < MAX_OPENING:
                self._opening += data[:MAX_OPENING]
        super().data_received(data)

    def eof_received(self) -> bool:  # type: ignore[override]  # aiohttp always closes
        """Go on with what the client has asked for; without that it has left."""
        if self.wire is None or self._is_done or not may_listen_on(self.wire) or self.is_silent:
            return False
        self.finish()
        return True

    def finish(self) -> None:
        """The client says no more."""
        self._has_finished = True
        self._see_off()

    def stop_reading(self) -> None:
        """Let all that the client still sends wait, even that it has left."""
        self._is_deaf = True
        if self.wire is not None:
            self.wire.pause_reading()

    def log_access(self, request: web.BaseRequest, response: web.StreamResponse, time: float | None) -> None:
        """Note when an answer ended; the journal takes the place of a log."""
        self.heard_at = monotonic()
        if self._has_finished and not self._messages:
            self.close()

    @property
    def _is_done(self) -> bool:
        """Whether the client waits for nothing."""
        return not self._messages and not self._shell.is_telling(self)

    def _see_off(self) -> None:
        """Go on until there is silence."""
        if self.wire is not None and not self.wire.is_closing():
            if self.is_silent:
                self.wire.abort()
            else:
                self._loop.call_later(GRACE_SECONDS / 2, self._see_off)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is not HTTP, in JSON and without repeating any of it: it may hold a key (E-196)."""
        if status == InvalidRequest.status:
            log.debug("refused a request that is not HTTP: %s", type(exc).__name__)
            what = "line or a header is too long" if isinstance(exc, LineTooLong) else "is not valid HTTP"
            return Refused(self._shell, target_of(self._opening), InvalidRequest(f"the request {what}"))
        log.error("the mock failed", exc_info=exc)
        return Refused(self._shell, target_of(self._opening), MockFailed())


class Refused(Told):
    """A refusal by the door itself, told when aiohttp asks for it."""

    def __init__(self, shell: Shell, path: str, error: ApiError) -> None:
        super().__init__(is_kept=False)
        self._shell = shell
        self._path = path
        self._error = error

    async def prepare(self, request: web.BaseRequest) -> None:
        """Say it, unless something else has been said already."""
        if request.writer.output_size == 0:
            await self._shell.refuse(request, self._path, self._error)


class OddServer(web.Server):
    """What aiohttp wants behind its connections; a doorkeeper has one, once it is needed."""

    def __init__(self, keeper: Doorkeeper, shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(shell, request_factory=self._request, handler_cancellation=True, loop=loop)
        self._keeper = keeper
        self._shell = shell
        self._here = loop

    def __call__(self) -> Connection:
        """Who speaks on one more connection."""
        return Connection(self, self._shell, self._here)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Take in a connection on which something odd was asked."""
        super().connection_made(handler, transport)
        assert isinstance(handler, Connection)
        handler.wire = transport
        self._keeper.enter(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        assert isinstance(handler, Connection)
        handler.wire = None
        handler.line.closed = monotonic()
        self._keeper.leave(handler)
        self._shell.leases.forget(handler)

    def _request(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        """Note that a head is complete, and that its answer begins."""
        assert isinstance(protocol, Connection)
        is_late = protocol.body_since is not None
        since = protocol.body_since or monotonic()
        protocol.head_since = protocol.body_since = None
        self._shell.turns[protocol] = Turn(since, self._here, is_late, [])
        return web.BaseRequest(message, payload, protocol, writer, task, self._here)
