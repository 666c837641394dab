"""Passes requests on to one service and its answers back as they come, and lets somebody listen."""

import ssl
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol
from urllib.parse import unquote

import aiohttp
from yarl import URL

from engy_mock.books.entry import Entry
from engy_mock.dialects import routes
from engy_mock.dialects.admission import check_host
from engy_mock.gateway.doorstep import turned_away
from engy_mock.serving.framing import Framing
from engy_mock.serving.limits import Limits
from engy_mock.serving.pace import Pace
from engy_mock.serving.performance import Wire
from engy_mock.serving.shell import Shell, log
from engy_mock.serving.unpacking import Unpacking
from engy_mock.serving.upstream import Upstream, addresses, forwarded, returned, session
from engy_mock.vocabulary import credentials
from engy_mock.vocabulary.clock import Clock, WallClock, monotonic
from engy_mock.vocabulary.errors import ApiError, NotFound, PermissionDenied, UpstreamFailed
from engy_mock.vocabulary.wire import Call, Doorstep, Head, Step, Whole

END_MARKS = (b"[DONE]", b"message_stop", b"response.completed", b"response.incomplete", b"response.failed")
"""What stands in the last event of a stream."""

Ending = Literal["end", "close", "reset", "left"]


class Take(Protocol):
    """Whoever listens to one exchange; each method is called once but `heard`."""

    def head(self, at: int, status: int, headers: Sequence[tuple[str, str]], *, is_stream: bool) -> None:
        """The head of the answer is there, `at` milliseconds after the request."""
        ...

    def heard(self, at: int, data: bytes) -> None:
        """Some of its body is there."""
        ...

    def end(self, ending: Ending) -> None:
        """It is over."""
        ...


class Tape(Protocol):
    """Whoever listens to all of them."""

    def begin(self, call: Call, keys: Sequence[str]) -> Take:
        """An exchange begins; `keys` are those that its client showed."""
        ...


class Nobody:
    """Stands where a service would, and is never asked for anything."""

    looks_at_heads = True
    """The short way is for answers that are there at once."""

    def __init__(self) -> None:
        self.clock: Clock = WallClock()

    def before_body(self, call: Call, note: Callable[[Entry], None] | None = None) -> Doorstep | None:
        """Nothing happens before a body is read."""
        return None

    def answer(self, call: Call, note: Callable[[Entry], None] | None = None) -> Iterator[Step]:
        """Nobody says anything."""
        return iter(())

    def turned_away(self, path: str, error: ApiError) -> Whole:
        """The words of the path, without an id: who is there to give one?"""
        return turned_away(path, error, "")


class Relay(Shell):
    """A door behind which one service stands.

    `allowed_hosts` are names by which clients may call it, beside those of this machine; `trust` checks the
    certificate of the service, by default as the machine does. Raises MockError if the service cannot be found.
    """

    def __init__(
        self,
        service: Upstream,
        tape: Tape,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        limits: Limits | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(Nobody(), limits)
        self._upstream = service
        self._tape = tape
        self._allowed_hosts = allowed_hosts
        self._trust = trust
        self._addresses = addresses(service)
        self._session: Any = None

    async def close(self) -> None:
        """Close the connections to the service."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def tell(self, call: Call, framing: Framing, wire: Wire, pace: Pace, entries: list[Entry]) -> bool:
        """Pass a call on, and its answer back; returns whether the connection may go on."""
        try:
            url = self._target(call)
        except ApiError as error:
            return await self._refuse(call, error, framing, wire)
        take = self._tape.begin(call, credentials.shown(call))
        passing = _Passing(take, framing, wire)
        try:
            if self._session is None:
                self._session = session(self._upstream, self._addresses, self.limits, self._trust)
            async with self._session.request(
                call.method,
                url,
                data=call.body or None,
                headers=forwarded(call.headers, self._upstream),
                allow_redirects=False,
            ) as response:
                if 300 <= response.status < 400 and response.status != 304:
                    raise UpstreamFailed("the upstream points to another address, and a recorder follows nowhere")
                await passing.on(response)
        except UpstreamFailed as error:
            return await self._refuse(call, error, framing, wire)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if passing.has_left(error):
                raise ConnectionResetError from None
            if not passing.has_begun:
                return await self._refuse(call, UpstreamFailed(_reason(error)), framing, wire)
            await passing.broken(is_abrupt=_is_reset(error))
            return False
        finally:
            passing.leave()
        return framing.is_kept

    def _target(self, call: Call) -> URL:
        """Where a call goes; raises ApiError. Nothing in it chooses a host."""
        check_host(call, self._allowed_hosts)
        if "origin" in call.headers or call.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            # Whatever page makes a browser send it, a real key would pay for it.
            raise PermissionDenied("a recorder answers no pages in a browser")
        if call.trouble is not None:
            raise call.trouble
        path = self._upstream.path(call.path)
        if path is None or not path.startswith("/") or ".." in unquote(path).split("/"):
            raise NotFound(f"paths begin with {self._upstream.base}/ here")
        # Keys that came in never go out, whatever a client calls them.
        query = credentials.without_credentials(call.query, frozenset(credentials.shown(call)))
        return URL(f"{self._upstream.origin}{path}{'?' if query else ''}{query}", encoded=True)

    async def _refuse(self, call: Call, error: ApiError, framing: Framing, wire: Wire) -> bool:
        """Say in the dialect of the path what went wrong here; nothing of it is recorded."""
        route = routes.speaker(call.path)
        body = route.dialect.error(error, route.surface, "")
        head = Head(error.status, (("Content-Type", "application/json"), *error.headers))
        await wire.write(framing.whole(head, body))
        return framing.is_kept


class _Passing:
    """One answer on its way back."""

    def __init__(self, take: Take, framing: Framing, wire: Wire) -> None:
        self.has_begun = False
        self._take = take
        self._framing = framing
        self._wire = wire
        self._since = monotonic()
        self._is_over = False
        self._has_seen_end = False
        self._left: BaseException | None = None

    async def on(self, response: Any) -> None:
        """Write what comes, when it comes; the record is complete before the last byte goes out."""
        headers = returned(response.headers)
        is_stream = response.content_type == "text/event-stream"
        self._take.head(self._now(), response.status, headers, is_stream=is_stream)
        self.has_begun = True
        unpacking = Unpacking(response.headers.get("content-encoding", ""))
        held = self._framing.begin(Head(response.status, tuple(headers), response.reason or None))
        if is_stream:
            await self._write(held)
            held = b""
        async for data in response.content.iter_any():
            if held:
                await self._write(held)
            text = unpacking.add(data)
            self._take.heard(self._now(), text)
            held = self._framing.piece(data)
            if is_stream and not self._is_last(text):
                await self._write(held)
                held = b""
        self._end("end" if unpacking.is_over else "close")
        await self._write(held + self._framing.end())

    async def broken(self, *, is_abrupt: bool) -> None:
        """The service has broken off: so is the answer here."""
        self._end("reset" if is_abrupt else "close")
        await self._wire.end(is_abrupt=is_abrupt)

    def leave(self) -> None:
        """Nothing follows; whoever had heard the last event has heard all."""
        if self.has_begun:
            self._end("end" if self._has_seen_end else "left")

    def has_left(self, error: BaseException) -> bool:
        """Whether it was the client whose connection broke."""
        return error is self._left

    async def _write(self, data: bytes) -> None:
        try:
            await self._wire.write(data)
        except OSError as error:
            self._left = error
            raise

    def _is_last(self, data: bytes) -> bool:
        self._has_seen_end |= any(mark in data for mark in END_MARKS)
        return self._has_seen_end

    def _end(self, ending: Ending) -> None:
        if not self._is_over:
            self._is_over = True
            try:
                self._take.end(ending)
            except OSError as error:  # the client gets its answer all the same
                log.error("an exchange could not be recorded: %s", error.strerror or error)

    def _now(self) -> int:
        return max(0, round((monotonic() - self._since) * 1000))


def _reason(error: BaseException) -> str:
    """What went wrong on the way, without any address or text of others."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "the certificate of the upstream is not trusted"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "the upstream cannot be reached"
    if isinstance(error, TimeoutError):
        return "the upstream did not answer in time"
    return "the upstream broke off before it had answered"


def _is_reset(error: BaseException) -> bool:
    """Whether a connection was reset, and not only closed."""
    # aiohttp tells what ended a body in the text of its error alone.
    is_own = isinstance(error, ConnectionResetError) and not isinstance(error, aiohttp.ServerDisconnectedError)
    return is_own or ConnectionResetError.__name__ in str(error)
