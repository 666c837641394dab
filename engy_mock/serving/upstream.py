"""The one service that a recorder speaks with: fixed when it starts, its address looked up once (Q-30)."""

import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from engy_mock.serving.limits import Limits
from engy_mock.serving.server import is_loopback
from engy_mock.vocabulary.credentials import is_parameter
from engy_mock.vocabulary.errors import MockError, quoted

FORWARDED = frozenset(
    {
        "accept",
        "accept-language",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "idempotency-key",
        "openai-beta",
        "user-agent",
        "x-selected-account-id",
    }
)
FORWARDED_BEGINNINGS = ("x-stainless-",)
"""The headers of a client that go on to the service: none of them can hold a key, or say where to go (Q-31)."""

KEPT_BACK = frozenset(
    {
        "alt-svc",
        "connection",
        "content-length",
        "date",
        "keep-alive",
        "nel",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "report-to",
        "server",
        "set-cookie",
        "strict-transport-security",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-content-type-options",
    }
)
"""The headers of the service that end here: those of one connection, and those that are about another host."""

KEY_HEADERS = ("authorization", "x-api-key", "api-key")
"""Where clients show a key; the service is shown its own in the same place."""

CONNECT_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A service: its origin, and the path that stands before those of its clients.

    `key` is shown to it in place of whatever key a client has; without one it is shown none.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    key: str | None = None

    @property
    def origin(self) -> str:
        """Its address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" if self.port == usual else f"{self.scheme}://{host}:{self.port}"

    @property
    def base(self) -> str:
        """The path that stands before those of clients here: its last part, `/v1` as a rule."""
        return f"/{self.prefix.rpartition('/')[2]}" if self.prefix else ""

    def path(self, asked: str) -> str | None:
        """The path there for one here; None for one that does not lie below the base."""
        if not self.base:
            return asked
        rest = asked.removeprefix(self.base)
        is_below = asked.startswith(self.base) and (not rest or rest.startswith("/"))
        return f"{self.prefix}{rest}" if is_below else None


def upstream(address: str, key: str | None = None) -> Upstream:
    """The service at an address; raises MockError for one that cannot be, or to which no key may go."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise MockError(f"{quoted(address)} is no address of a service") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MockError(f"{quoted(address)} is no address of a service: write https://HOST/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise MockError("the address of a service has neither a name, a password nor a query: keys have --key-env")
    if key is not None and parts.scheme == "http" and not is_loopback(parts.hostname):
        raise MockError(f"a key would go to {parts.hostname} for everybody to read: use https")
    return Upstream(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or {"http": 80, "https": 443}[parts.scheme],
        prefix=parts.path.rstrip("/"),
        key=key,
    )


class Pinned(AbstractResolver):
    """Knows one host, by the addresses that it had at the start."""

    def __init__(self, host: str, addresses: Sequence[str]) -> None:
        self._host = host
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of that host; raises OSError for any other."""
        if host != self._host:
            raise OSError(f"a recorder speaks with {self._host} alone")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def addresses(service: Upstream) -> list[str]:
    """The addresses of a service, looked up now; raises MockError if it has none."""
    try:
        return [str(ipaddress.ip_address(service.host))]
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(service.host, service.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise MockError(f"{service.host} cannot be found: {error.strerror or error}") from None
    return list(dict.fromkeys([str(row[4][0]) for row in found]))


def session(service: Upstream, known: Sequence[str], limits: Limits, trust: ssl.SSLContext | None) -> Any:
    """A client that reaches this service and nothing else; to be made on the loop that uses it."""
    connector = aiohttp.TCPConnector(
        resolver=Pinned(service.host, known),
        ssl=trust if trust is not None else True,
        limit=0,
        ttl_dns_cache=None,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=limits.answer_seconds, sock_connect=CONNECT_SECONDS),
        auto_decompress=False,
        trust_env=False,
        skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
    )


def forwarded(headers: Mapping[str, str], service: Upstream) -> list[tuple[str, str]]:
    """The headers that the service gets: those of a client that may go on, and its own key."""
    found = [
        (name, value)
        for name, value in headers.items()
        if name.lower() in FORWARDED or (name.lower().startswith(FORWARDED_BEGINNINGS) and not is_parameter(name))
    ]
    found.append(("Accept-Encoding", "identity"))
    if service.key is not None:
        shown = [name for name in KEY_HEADERS if name in headers] or ["authorization"]
        found += [(name, f"Bearer {service.key}" if name == "authorization" else service.key) for name in shown]
    return found


def returned(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers of the service that its client gets."""
    return [
        (name, value)
        for name, value in headers.items()
        if name.lower() not in KEPT_BACK
        and not name.lower().startswith("access-control-")
        and (name + value).isascii()
        and (name + value).isprintable()
    ]
