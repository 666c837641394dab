"""One client over a socket and one inside the process, and what each makes of the same answer."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import aiohttp
import h11
import httpx
import httpx2

from engy_mock import EngyMock

LIBRARIES: dict[str, ModuleType] = {"httpx2": httpx2, "httpx": httpx}


@dataclass(slots=True)
class Outcome:
    """What a client has seen: as far as it got, and how it ended."""

    status: int = 0
    reason: bytes = b""
    version: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    error: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """A library, and whether its asynchronous client is meant."""

    library: str
    is_async: bool

    def __str__(self) -> str:
        return f"async {self.library}" if self.is_async else self.library

    def over_socket(self, mock: EngyMock, *asked: Any, timeout: Any = 5.0, **request: Any) -> Outcome:
        library = LIBRARIES[self.library]
        make = library.AsyncClient if self.is_async else library.Client
        return self._run(make(base_url=mock.origin, verify=False, timeout=timeout), asked, request)

    def inside(self, mock: EngyMock, *asked: Any, timeout: Any = 5.0, **request: Any) -> Outcome:
        library: Any = LIBRARIES[self.library]
        make = mock.async_http_client if self.is_async else mock.http_client
        return self._run(make(library, timeout=timeout, follow_redirects=False), asked, request)

    @contextmanager
    def talking(self, mock: EngyMock, *, has_socket: bool, **options: Any) -> Iterator[Callable[..., Outcome]]:
        """One client for any number of requests."""
        library: Any = LIBRARIES[self.library]
        options = {"timeout": 5.0, "follow_redirects": False, **options}
        if self.is_async:
            with asyncio.Runner() as runner:
                make = library.AsyncClient if has_socket else partial(mock.async_http_client, library)
                client = make(**{"base_url": mock.origin, **options})
                yield lambda *asked, **request: runner.run(_asked_later(client, asked, request, library))
                runner.run(client.aclose())
        else:
            make = library.Client if has_socket else partial(mock.http_client, library)
            with make(**{"base_url": mock.origin, **options}) as client:
                yield lambda *asked, **request: _asked(client, asked, request, library)

    def _run(self, client: Any, asked: Any, request: dict[str, Any]) -> Outcome:
        if self.is_async:
            return asyncio.run(_seen_later(client, asked, request, LIBRARIES[self.library]))
        return _seen(client, asked, request, LIBRARIES[self.library])


MANNERS = [Manner(library, is_async) for library in LIBRARIES for is_async in (False, True)]


class Aiohttp:
    """The client of aiohttp."""

    def __str__(self) -> str:
        return "aiohttp"

    @contextmanager
    def talking(self, mock: EngyMock, *, has_socket: bool, **options: Any) -> Iterator[Callable[..., Outcome]]:
        """One session for any number of requests."""

        async def session() -> aiohttp.ClientSession:
            make = aiohttp.ClientSession if has_socket else mock.aiohttp_session
            return make(**{"base_url": mock.origin, "timeout": aiohttp.ClientTimeout(total=5), **options})

        with asyncio.Runner() as runner:
            client = runner.run(session())
            yield lambda *asked, **request: runner.run(_asked_of_aiohttp(client, asked, request))
            runner.run(client.close())


TALKERS: list[Manner | Aiohttp] = [*MANNERS, Aiohttp()]


def _begun(response: Any) -> Outcome:
    extensions = response.extensions
    return Outcome(
        status=response.status_code,
        reason=extensions["reason_phrase"],
        version=extensions["http_version"],
        headers=response.headers.raw,
    )


def _named(error: BaseException) -> tuple[str, str]:
    return f"{type(error).__module__}.{type(error).__name__}", str(error)


def _seen(client: Any, asked: Any, request: dict[str, Any], library: Any) -> Outcome:
    with client:
        return _asked(client, asked, request, library)


def _asked(client: Any, asked: Any, request: dict[str, Any], library: Any) -> Outcome:
    seen = Outcome()
    try:
        with client.stream(*asked, **request) as response:
            seen = _begun(response)
            for piece in response.iter_bytes():
                seen.body += piece
    except (library.RequestError, h11.LocalProtocolError) as error:
        seen.error = _named(error)
    return seen


async def _seen_later(client: Any, asked: Any, request: dict[str, Any], library: Any) -> Outcome:
    async with client:
        return await _asked_later(client, asked, request, library)


async def _asked_later(client: Any, asked: Any, request: dict[str, Any], library: Any) -> Outcome:
    seen = Outcome()
    try:
        async with client.stream(*asked, **request) as response:
            seen = _begun(response)
            async for piece in response.aiter_bytes():
                seen.body += piece
    except (library.RequestError, h11.LocalProtocolError) as error:
        seen.error = _named(error)
    return seen


async def _asked_of_aiohttp(session: aiohttp.ClientSession, asked: Any, request: dict[str, Any]) -> Outcome:
    seen = Outcome()
    if "content" in request:
        request["data"] = request.pop("content")
    try:
        async with session.request(*asked, allow_redirects=False, **request) as response:
            seen = Outcome(status=response.status, headers=list(response.raw_headers))
            async for piece in response.content.iter_any():
                seen.body += piece
    except (aiohttp.ClientError, TimeoutError) as error:
        seen.error = _named(error)
    return seen
