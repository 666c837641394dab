"""Who is connected, since when, and who has to go: what aiohttp's server does not watch by itself."""

import asyncio
import logging
from typing import Any

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import LineTooLong

from engy_mock.serving.limits import Limits
from engy_mock.serving.shell import Shell, Told, Turn
from engy_mock.serving.swift import Swift
from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import ApiError, InvalidRequest, MockFailed

log = logging.getLogger("engy_mock")

MAX_SWEEP_SECONDS = 1.0
"""The longest time between two looks for connections that have passed a deadline."""


def handler_options(limits: Limits) -> dict[str, Any]:
    """How aiohttp has to treat connections, whoever runs its server."""
    return {
        "access_log": None,
        "auto_decompress": False,
        "keepalive_timeout": limits.idle_seconds,
        "lingering_time": limits.lingering_seconds,
        "logger": log,
    }


class Connection(web.RequestHandler):
    """One connection; `head_since` tells since when the head of a request is incomplete."""

    __slots__ = ("_shell", "head_since", "heard_at")

    def __init__(self, keeper: "Doorkeeper", shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(keeper, loop=loop, **handler_options(shell.limits))
        self._shell = shell
        self.head_since: float | None = None
        self.heard_at = monotonic()

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


class Doorkeeper(web.Server):
    """Accepts connections, at most so many, and closes those that have passed a deadline."""

    def __init__(self, shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(shell, request_factory=self._request, handler_cancellation=True, loop=loop)
        self._shell = shell
        self._limits = shell.limits
        self._room = room_for_connections(shell.limits.max_connections)
        self._here = loop
        self._open: dict[Connection | Swift, None] = {}
        self._next_sweep: asyncio.TimerHandle | None = None

    def __call__(self) -> Swift:  # type: ignore[override]
        """What will speak with the next client."""
        return Swift(self, self._shell, self._here)

    def other(self) -> Connection:
        """Who speaks on a connection once something odd is asked."""
        return Connection(self, self._shell, self._here)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Take in a connection on which something odd was asked."""
        super().connection_made(handler, transport)
        assert isinstance(handler, Connection)
        self.enter(handler)

    def enter(self, connection: Connection | Swift) -> None:
        """Take a connection in; over the cap the one idle longest has to go."""
        self._open[connection] = None
        if len(self._open) > self._room:
            idle = (connection for connection in self._open if connection not in self._shell.turns)
            min(idle, key=lambda connection: connection.heard_at).force_close()
        if self._next_sweep is None:
            self._plan_sweep()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        assert isinstance(handler, Connection)
        self.leave(handler)
        self._shell.leases.forget(handler)

    def leave(self, connection: Connection | Swift) -> None:
        """Forget a connection, or who has spoken on it until now."""
        self._open.pop(connection, None)
        self._shell.turns.pop(connection, None)

    @property
    def is_empty(self) -> bool:
        """Whether no connection is open."""
        return not self._open

    def close_all(self) -> None:
        """End all connections at once, and with them the answers that are under way."""
        if self._next_sweep is not None:
            self._next_sweep.cancel()
        for connection in list(self._open):
            if connection.transport is not None:
                connection.transport.abort()

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

    def _plan_sweep(self) -> None:
        limits = self._limits
        shortest = min(limits.header_seconds, limits.body_seconds, limits.idle_seconds)
        seconds = min(MAX_SWEEP_SECONDS, shortest / 4)
        self._next_sweep = self._here.call_later(seconds, self._sweep)

    def _sweep(self) -> None:
        """Close what has passed a deadline."""
        now, turns = monotonic(), self._shell.turns
        for connection in list(self._open):
            turn = turns.get(connection)
            if isinstance(connection, Swift) and connection.waits_since is not None:
                # aiohttp sees to bodies that come slowly.
                if now - connection.waits_since > self._limits.body_seconds / 4:
                    connection.hand_over()
            elif turn is not None:
                if now - turn.since > self._limits.answer_seconds:
                    log.warning("an answer was cut after %g seconds", self._limits.answer_seconds)
                    self._shell.break_off(connection, turn)
            elif isinstance(connection, Swift):
                if now - connection.heard_at > self._limits.idle_seconds:
                    connection.force_close()
            elif connection.head_since is not None and now - connection.head_since > self._limits.header_seconds:
                connection.force_close()
        self._next_sweep = None
        if self._open:
            self._plan_sweep()


def room_for_connections(wanted: int) -> int:
    """How many connections fit into three quarters of the files that this process may have open."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft * 3 // 4))
