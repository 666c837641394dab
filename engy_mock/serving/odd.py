"""Connections on which something odd was asked: aiohttp reads what comes on them."""

import asyncio
import logging

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import LineTooLong

from engy_mock.serving.connections import Doorkeeper, handler_options
from engy_mock.serving.shell import Shell, Turn
from engy_mock.serving.told import Told
from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, MockFailed
from engy_mock.vocabulary.wire import Line

log = logging.getLogger("engy_mock")


class Connection(web.RequestHandler):
    """One connection; `head_since` tells since when the head of a request is incomplete.

    `line` is what the journal keeps of it.
    """

    __slots__ = ("_shell", "head_since", "heard_at", "line")

    def __init__(self, server: "OddServer", shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server, loop=loop, **handler_options(shell.limits))
        self._shell = shell
        self.head_since: float | None = None
        self.heard_at = monotonic()
        self.line = Line(self.heard_at)

    def data_received(self, data: bytes) -> None:
        """Note when a head began, then let aiohttp read it."""
        if data and self not in self._shell.turns:
            self.heard_at = monotonic()
            if self.head_since is None:
                self.head_since = self.heard_at
        super().data_received(data)

    def log_access(self, request: web.BaseRequest, response: web.StreamResponse, time: float | None) -> None:
        """Note when an answer ended; the journal takes the place of a log."""
        self.heard_at = monotonic()

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
            return Refused(self._shell, InvalidRequest(f"the request {what}"))
        log.error("the mock failed", exc_info=exc)
        return Refused(self._shell, MockFailed())


class Refused(Told):
    """A refusal by the door itself, told when aiohttp asks for it."""

    def __init__(self, shell: Shell, error: ApiError) -> None:
        super().__init__(is_kept=False)
        self._shell = shell
        self._error = error

    async def prepare(self, request: web.BaseRequest) -> None:
        """Say it, unless something else has been said already."""
        if request.writer.output_size == 0:
            await self._shell.refuse(request, self._error)


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
        self._keeper.enter(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        assert isinstance(handler, Connection)
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
        protocol.head_since = None
        self._shell.turns[protocol] = Turn(monotonic(), self._here)
        return web.BaseRequest(message, payload, protocol, writer, task, self._here)
