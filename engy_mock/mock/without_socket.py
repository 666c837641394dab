"""Clients that speak to the service inside the process, without a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    import httpx2
    from aiohttp import BaseConnector, ClientSession

    from engy_mock.serving.gate import Gate
    from engy_mock.serving.httpx_clients import HasAsyncClient, HasAsyncTransport, HasClient, HasTransport
    from engy_mock.serving.inside import Inside
    from engy_mock.serving.shell import Shell
    from engy_mock.serving.thread import ServerThread

NOWHERE, SECURE_NOWHERE = "http://127.0.0.1:0", "https://127.0.0.1:0"
"""What clients inside the process call a mock that has no port: nothing else can ever listen there."""

Own = TypeVar("Own")


class WithoutSocket:
    """Makes clients for a mock that need none of its ports."""

    _thread: ServerThread | None
    _time_scale: float
    _tls: str | None
    _inside: Inside | None = None

    def _serving_shell(self) -> Shell:
        raise NotImplementedError

    @property
    def _gate(self) -> Gate:
        raise NotImplementedError

    @overload
    def http_client(self, library: None = None, **options: Any) -> httpx2.Client: ...
    @overload
    def http_client(self, library: HasClient[Own], **options: Any) -> Own: ...
    def http_client(self, library: Any = None, **options: Any) -> Any:
        """A client of httpx2 that speaks to the service without a socket; needs no start.

        `OpenAI(http_client=engy.http_client())`. Another library can be given (`engy.http_client(httpx)`); httpx
        is taken by itself where httpx2 is not installed. Options are those of the library's `Client`; like the
        official clients, and unlike the library, it follows redirects. Raises MockError for options that would
        lead it out of the process: `proxy`, `mounts`, another `transport`.
        """
        library = self._library(library)
        options = self._client_options(library, "transport", options)
        return library.Client(**{"transport": self.transport(library, **_of_transports(options)), **options})

    @overload
    def async_http_client(self, library: None = None, **options: Any) -> httpx2.AsyncClient: ...
    @overload
    def async_http_client(self, library: HasAsyncClient[Own], **options: Any) -> Own: ...
    def async_http_client(self, library: Any = None, **options: Any) -> Any:
        """The same for asynchronous clients, on a loop of asyncio."""
        library = self._library(library)
        options = self._client_options(library, "async_transport", options)
        transport = self.async_transport(library, **_of_transports(options))
        return library.AsyncClient(**{"transport": transport, **options})

    @overload
    def transport(
        self, library: None = None, *, verify: Any = None, limits: Any = None
    ) -> httpx2.BaseTransport: ...
    @overload
    def transport(self, library: HasTransport[Own], *, verify: Any = None, limits: Any = None) -> Own: ...
    def transport(self, library: Any = None, *, verify: Any = None, limits: Any = None) -> Any:
        """What makes a client of one's own speak to the service without a socket: `Client(transport=...)`.

        The options are those of the library's `HTTPTransport`: whom it trusts where the mock speaks TLS, by
        default the mock's own authority, and for how long connections are kept.
        """
        from engy_mock.serving.httpx_clients import kind_of

        library = self._library(library)
        return kind_of(library).transport(self._from_inside(), library, verify, limits)

    @overload
    def async_transport(
        self, library: None = None, *, verify: Any = None, limits: Any = None
    ) -> httpx2.AsyncBaseTransport: ...
    @overload
    def async_transport(
        self, library: HasAsyncTransport[Own], *, verify: Any = None, limits: Any = None
    ) -> Own: ...
    def async_transport(self, library: Any = None, *, verify: Any = None, limits: Any = None) -> Any:
        """The same for asynchronous clients: `AsyncClient(transport=...)`."""
        from engy_mock.serving.httpx_clients import kind_of

        library = self._library(library)
        return kind_of(library).async_transport(self._from_inside(), library, verify, limits)

    def aiohttp_session(self, **options: Any) -> ClientSession:
        """A session of aiohttp's client that speaks to the service without a socket, on the loop that runs now.

        Needs no start. Options are those of `ClientSession`; addresses are relative to the origin: `/v1/models`.
        """
        from aiohttp import ClientSession

        from engy_mock.serving.aiohttp_clients import misfit
        from engy_mock.serving.staying import check_stays

        instead = "aiohttp.ClientSession(...), with engy.aiohttp_connector() where it is to be inside"
        check_stays(options, misfit(self._from_inside()), instead)
        if options.get("connector") is None:
            options["connector"] = self.aiohttp_connector()
        return ClientSession(**{"base_url": self._origin_or_nowhere, **options})

    def aiohttp_connector(self, **options: Any) -> BaseConnector:
        """What makes a session of one's own speak to the service without a socket.

        Options are those of aiohttp's `BaseConnector`.
        """
        from engy_mock.serving.aiohttp_clients import InsideConnector

        return InsideConnector(self._from_inside(), **options)

    def _library(self, library: Any) -> Any:
        """The library that is given, or the one at hand; raises MockError."""
        from engy_mock.serving.httpx_clients import checked, library_at_hand

        return library_at_hand() if library is None else checked(library)

    def _client_options(self, library: Any, way: str, options: dict[str, Any]) -> dict[str, Any]:
        """Those that are given and the usual ones; raises MockError for one that leads out of the process."""
        from engy_mock.serving.httpx_clients import misfit
        from engy_mock.serving.staying import check_stays

        is_async = way == "async_transport"
        make = "AsyncClient" if is_async else "Client"
        instead = f"{library.__name__}.{make}(...), with engy.{way}() where it is to be inside"
        check_stays(options, misfit(self._from_inside(), library, is_async=is_async), instead)
        if options.get("transport") is None:
            options.pop("transport", None)
        return {"base_url": self._origin_or_nowhere, "follow_redirects": True, **options}

    @property
    def _origin_or_nowhere(self) -> str:
        if self._thread is not None:
            return self._thread.origin
        return NOWHERE if self._tls is None else SECURE_NOWHERE

    def _from_inside(self) -> Inside:
        if self._inside is None:
            from engy_mock.serving.inside import Inside

            self._inside = Inside(self._serving_shell(), self._gate, time_scale=self._time_scale)
        return self._inside

    def _leave_inside(self, *, stops: bool) -> None:
        """Break off the answers that are under way without a socket; a stop ends idle connections as well."""
        if self._inside is not None:
            if stops:
                self._inside.stop()
            else:
                self._inside.abandon()


def _of_transports(options: dict[str, Any]) -> dict[str, Any]:
    """Those of a client's options that are for its transport."""
    return {name: options[name] for name in ("verify", "limits") if name in options}
