"""One client over a socket and one inside the process, and what each makes of the same answer."""

import asyncio
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

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

    def _run(self, client: Any, asked: Any, request: dict[str, Any]) -> Outcome:
        if self.is_async:
            return asyncio.run(_seen_later(client, asked, request, LIBRARIES[self.library]))
        return _seen(client, asked, request, LIBRARIES[self.library])


MANNERS = [Manner(library, is_async) for library in LIBRARIES for is_async in (False, True)]


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
    seen = Outcome()
    try:
        with client, client.stream(*asked, **request) as response:
            seen = _begun(response)
            for piece in response.iter_bytes():
                seen.body += piece
    except (library.RequestError, h11.LocalProtocolError) as error:
        seen.error = _named(error)
    return seen


async def _seen_later(client: Any, asked: Any, request: dict[str, Any], library: Any) -> Outcome:
    seen = Outcome()
    try:
        async with client, client.stream(*asked, **request) as response:
            seen = _begun(response)
            async for piece in response.aiter_bytes():
                seen.body += piece
    except (library.RequestError, h11.LocalProtocolError) as error:
        seen.error = _named(error)
    return seen
