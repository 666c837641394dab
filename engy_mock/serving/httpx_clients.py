"""Clients of httpx and httpx2 that speak to the service without a socket.

The two libraries have the same shape, and neither has to be there: what is theirs is asked of the module at hand.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import cache
from ssl import SSLError
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, Protocol, Self, TypeVar

from engy_mock.serving.at_hand import AtHand, Body
from engy_mock.serving.dialling import Dialling, UnsupportedProtocol, patience
from engy_mock.serving.handshake import HandshakeTimeout
from engy_mock.serving.heard import Garbled
from engy_mock.serving.inside import Hearing, HungUp, Inside
from engy_mock.serving.links import Link
from engy_mock.serving.sent import Sent, Unsendable
from engy_mock.serving.staying import OTHER_MOCK, OUT, Misfit
from engy_mock.vocabulary.errors import MockError

TROUBLES = {
    UnsupportedProtocol: "UnsupportedProtocol",
    Unsendable: "LocalProtocolError",
    Garbled: "RemoteProtocolError",
    ConnectionRefusedError: "ConnectError",
    SSLError: "ConnectError",
    HandshakeTimeout: "ConnectTimeout",
    ConnectionResetError: "ReadError",
    HungUp: "ReadError",
    TimeoutError: "ReadTimeout",
}
"""What the libraries call the troubles of a connection."""

TOLD_ON_LOOPS: dict[type[Exception], str] = {
    ConnectionRefusedError: "All connection attempts failed",
    ConnectionResetError: "",
    HandshakeTimeout: "",
    HungUp: "",
    TimeoutError: "",
}
"""What they say of some of them on a loop, in place of what the system says."""

_TROUBLES = tuple(TROUBLES)

_FOR_OTHERS = "engy.{}() is for {} clients: this one takes engy.{}()"


class Request(Protocol):
    """A request of either library, as far as a transport needs it."""

    method: str
    url: Any
    headers: Any
    stream: Any
    extensions: Mapping[str, Any]


Class = TypeVar("Class", covariant=True)


class HasClient(Protocol[Class]):
    """A library with a class for clients: httpx2 or httpx."""

    @property
    def Client(self) -> Callable[..., Class]:
        """The class."""
        ...


class HasAsyncClient(Protocol[Class]):
    """A library with a class for asynchronous clients: httpx2 or httpx."""

    @property
    def AsyncClient(self) -> Callable[..., Class]:
        """The class."""
        ...


class HasTransport(Protocol[Class]):
    """A library with a class for transports: httpx2 or httpx."""

    @property
    def BaseTransport(self) -> Callable[..., Class]:
        """The class."""
        ...


class HasAsyncTransport(Protocol[Class]):
    """A library with a class for asynchronous transports: httpx2 or httpx."""

    @property
    def AsyncBaseTransport(self) -> Callable[..., Class]:
        """The class."""
        ...


def library_at_hand() -> ModuleType:
    """Of httpx2 and httpx the first that is installed; raises MockError if neither is."""
    try:
        import httpx2
    except ImportError:
        try:
            import httpx
        except ImportError:
            raise MockError("a client inside the process needs httpx2 or httpx: install one of them") from None
        return httpx
    return httpx2


def checked(library: Any) -> Any:
    """The library, if it is one of these; raises MockError with what would do."""
    wanted = ("Client", "AsyncClient", "BaseTransport", "AsyncBaseTransport", "ByteStream", "Response")
    if not all(hasattr(library, name) for name in wanted):
        raise MockError(
            f"a client without a socket is one of the modules httpx2 or httpx, got {library!r:.80}: "
            f"engy.http_client(httpx); aiohttp has engy.aiohttp_session(), and any other client needs a port: "
            f"engy.base_url"
        )
    return library


def misfit(inside: Inside, library: ModuleType, *, is_async: bool) -> Misfit:
    """Tells what is wrong with a transport for a client of this library that is to stay inside."""
    kind = kind_of(library)
    wanted: Any = kind.async_transport if is_async else kind.transport

    def wrong(way: Any) -> str | None:
        if not isinstance(way, Transport | AsyncTransport):
            return OUT
        if not way.leads_to(inside):
            return OTHER_MOCK
        make = "async_transport" if is_async else "transport"
        return None if isinstance(way, wanted) else f"is not what engy.{make}({library.__name__}) makes"

    return wrong


class Kind(NamedTuple):
    """The classes of ours that a library takes for its own, its requests, and what it calls the troubles."""

    transport: type["Transport"]
    async_transport: type["AsyncTransport"]
    pieces: type["Pieces"]
    async_pieces: type["AsyncPieces"]
    request: type
    response: Any
    at_hand: Any
    body: Any
    errors: dict[type[BaseException], Any]

    def check(self, request: Request) -> None:
        """Raise MockError for a request of another library."""
        if not isinstance(request, self.request):
            ours, theirs = (one.__module__.partition(".")[0] for one in (self.request, type(request)))
            raise MockError(
                f"a transport for {ours} in a client of {theirs}: make another, engy.transport({theirs})"
            )

    def error(self, trouble: BaseException, *, is_async: bool = False) -> Exception:
        """The library's own exception for a trouble; asynchronous clients are told less by their systems."""
        [kind] = [kind for kind in TROUBLES if isinstance(trouble, kind)]
        words = TOLD_ON_LOOPS.get(kind) if is_async else None
        error: Exception = self.errors[kind](str(trouble) if words is None else words)
        return error


@cache
def kind_of(library: ModuleType) -> Kind:
    """What makes the classes below a part of this library."""

    def own(ours: type, base: str) -> Any:
        more = {"__module__": __name__, "_library": library}
        return type(ours.__name__, (ours, getattr(library, base)), more)

    return Kind(
        transport=own(Transport, "BaseTransport"),
        async_transport=own(AsyncTransport, "AsyncBaseTransport"),
        pieces=own(Pieces, "SyncByteStream"),
        async_pieces=own(AsyncPieces, "AsyncByteStream"),
        request=library.Request,
        response=library.Response,
        at_hand=own(AtHand, "Response"),
        body=own(Body, "ByteStream"),
        errors={kind: getattr(library, name) for kind, name in TROUBLES.items()},
    )


class Transport:
    """Answers requests out of the service; any number of threads may share one."""

    def __init__(self, inside: Inside, library: ModuleType, verify: Any = None, limits: Any = None) -> None:
        self._inside = inside
        self._kind = kind_of(library)
        self._dialling = Dialling(inside, library, verify, limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self, *_: object) -> NoReturn:
        raise MockError(_FOR_OTHERS.format("transport", "blocking", "async_transport"))

    handle_async_request = __aenter__

    def leads_to(self, inside: Inside) -> bool:
        """Whether it is one of this mock."""
        return self._inside is inside

    def close(self) -> None:
        """End all connections, and with them the answers that are under way."""
        self._dialling.close()

    def handle_request(self, request: Request) -> Any:
        """The answer, up to its head; the body is drawn by whoever reads it."""
        kind, timeout = self._kind, _read_timeout(request)
        if type(request) is not kind.request:
            kind.check(request)
        try:
            link = self._connect(request)
        except _TROUBLES as trouble:
            raise kind.error(trouble) from trouble
        pieces, size, cap = [], 0, self._inside.limits.body_bytes
        for piece in request.stream:
            pieces.append(piece)
            size += len(piece)
            if size > cap and "content-length" not in request.headers:
                break  # it may have no end, and the service has heard enough
        try:
            hearing = Hearing(self._inside, _sent(request, b"".join(pieces)), link)
            while hearing.heard.top is None:
                hearing.listen(timeout)
        except _TROUBLES as trouble:
            raise kind.error(trouble) from trouble
        return _response(kind, hearing, kind.pieces, timeout)

    def _connect(self, request: Request) -> Link:
        link, age = self._dialling.dial(request), self._inside.age
        if link is None:
            self._inside.wait(patience(request), age)
            self._dialling.give_up(request, age)
        return link


class Pieces:
    """The body of an answer as it comes."""

    def __init__(self, hearing: Hearing, kind: Kind, timeout: float | None) -> None:
        self._hearing = hearing
        self._kind = kind
        self._timeout = timeout

    def __iter__(self) -> Iterator[bytes]:
        hearing = self._hearing
        heard = hearing.heard
        try:
            while True:
                yield from heard.take()
                if heard.is_over:
                    hearing.keep()
                    return
                hearing.listen(self._timeout)
        except _TROUBLES as trouble:
            raise self._kind.error(trouble) from trouble
        finally:
            hearing.close()

    def close(self) -> None:
        """Nothing more is wanted."""
        self._hearing.close()


class AsyncTransport:
    """The same for asynchronous clients, on loops of asyncio."""

    def __init__(self, inside: Inside, library: ModuleType, verify: Any = None, limits: Any = None) -> None:
        self._inside = inside
        self._kind = kind_of(library)
        self._dialling = Dialling(inside, library, verify, limits)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self, *_: object) -> NoReturn:
        raise MockError(_FOR_OTHERS.format("async_transport", "asynchronous", "transport"))

    handle_request = __enter__

    def leads_to(self, inside: Inside) -> bool:
        """Whether it is one of this mock."""
        return self._inside is inside

    async def aclose(self) -> None:
        """End all connections, and with them the answers that are under way."""
        self._dialling.close()

    async def handle_async_request(self, request: Request) -> Any:
        """The answer, up to its head; the body is drawn by whoever reads it."""
        kind, timeout = self._kind, _read_timeout(request)
        if type(request) is not kind.request:
            kind.check(request)
        try:
            link = await self._connect(request)
        except _TROUBLES as trouble:
            raise kind.error(trouble, is_async=True) from trouble
        pieces, size, cap = [], 0, self._inside.limits.body_bytes
        async for piece in request.stream:
            pieces.append(piece)
            size += len(piece)
            if size > cap and "content-length" not in request.headers:
                break  # it may have no end, and the service has heard enough
        await self._inside.give_way()
        try:
            hearing = Hearing(self._inside, _sent(request, b"".join(pieces)), link)
            while hearing.heard.top is None:
                await hearing.listen_on_loop(timeout)
        except _TROUBLES as trouble:
            raise kind.error(trouble, is_async=True) from trouble
        return _response(kind, hearing, kind.async_pieces, timeout)

    async def _connect(self, request: Request) -> Link:
        link, age = self._dialling.dial(request), self._inside.age
        if link is None:
            await self._inside.give_way()
            await self._inside.wait_on_loop(patience(request), age)
            self._dialling.give_up(request, age)
        return link


class AsyncPieces:
    """The body of an answer as it comes."""

    def __init__(self, hearing: Hearing, kind: Kind, timeout: float | None) -> None:
        self._hearing = hearing
        self._kind = kind
        self._timeout = timeout

    async def __aiter__(self) -> AsyncIterator[bytes]:
        hearing = self._hearing
        heard = hearing.heard
        try:
            while True:
                for piece in heard.take():
                    yield piece
                if heard.is_over:
                    hearing.keep()
                    return
                await hearing.listen_on_loop(self._timeout)
        except _TROUBLES as trouble:
            raise self._kind.error(trouble, is_async=True) from trouble
        finally:
            hearing.close()

    async def aclose(self) -> None:
        """Nothing more is wanted."""
        self._hearing.close()


def _sent(request: Request, body: bytes) -> Sent:
    target = request.extensions.get("target")
    if target is None:
        return Sent(request.method, request.url.raw_path, request.headers.raw, body)
    if isinstance(target, str):
        target = target.encode("ascii")
    return Sent(request.method, target, request.headers.raw, body, is_made_up=True)


def _read_timeout(request: Request) -> float | None:
    timeout: float | None = request.extensions.get("timeout", {}).get("read")
    return timeout


def _response(kind: Kind, hearing: Hearing, pieces: type, timeout: float | None) -> Any:
    top, heard = hearing.heard.top, hearing.heard
    assert top is not None
    # What is there already, as whole answers are, needs no hearing any more.
    extensions = {"http_version": top.version, "reason_phrase": top.reason}
    if heard.is_over:
        return kind.at_hand(top.status, headers=top.headers, stream=kind.body(hearing), extensions=extensions)
    body = pieces(hearing, kind, timeout)
    return kind.response(top.status, headers=top.headers, stream=body, extensions=extensions)
