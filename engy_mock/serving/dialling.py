"""How a client of httpx or httpx2 gets its connections inside the process."""

import math
from collections.abc import Mapping
from functools import cached_property
from ssl import SSLContext
from typing import Any, NoReturn, Protocol

from engy_mock.serving.gate import SECURE
from engy_mock.serving.handshake import HandshakeTimeout
from engy_mock.serving.inside import Inside
from engy_mock.serving.links import KEPT_AT_ONCE, KEPT_SECONDS, Link, Links
from engy_mock.vocabulary.errors import MockError

SCHEMES = frozenset({"http", "https", "ws", "wss"})
"""Those that the libraries can speak."""


class UnsupportedProtocol(Exception):
    """A request that is not for HTTP."""


class Asked(Protocol):
    """A request of either library, as far as its connection needs it."""

    url: Any
    extensions: Mapping[str, Any]


class Dialling:
    """Connects one client, which may be used from any thread.

    `verify` and `limits` are those of the library's transports, None for what is usual here: it trusts the
    authority of the mock, and keeps connections as clients do that are told nothing. Raises MockError for
    limits that are none.
    """

    def __init__(self, inside: Inside, library: Any, verify: Any = None, limits: Any = None) -> None:
        self._inside = inside
        self._library = library
        self._verify = verify
        if limits is None:
            self._links = Links(inside, KEPT_SECONDS, KEPT_AT_ONCE)
        elif isinstance(limits, library.Limits):
            self._links = Links(inside, limits.keepalive_expiry, limits.max_keepalive_connections)
        else:
            raise MockError(f"limits= is a {library.__name__}.Limits(...), got {limits!r:.80}")

    def dial(self, request: Asked) -> Link | None:
        """A connection for a request, a new one or one that is there; None if its handshake does not begin.

        Raises UnsupportedProtocol, ConnectionRefusedError, or ssl.SSLError for a handshake that fails.
        """
        url = request.url
        if not url.scheme:
            raise UnsupportedProtocol("Request URL is missing an 'http://' or 'https://' protocol.")
        if url.scheme not in SCHEMES:
            raise UnsupportedProtocol(f"Request URL has an unsupported protocol '{url.scheme}://'.")
        place = (url.scheme, url.raw_host, url.port)
        link = self._links.take(place)
        if link is not None:
            return link
        gate = self._inside.gate
        gate.knock()
        link = self._links.new(place)
        if gate.handshake is None:
            return link
        link.is_misheard = url.scheme not in SECURE
        if not link.is_misheard:
            if gate.handshake.is_mute:
                return None
            gate.handshake.shake(self._context, _name(request))
        return link

    def give_up(self, request: Asked, age: int) -> NoReturn:
        """Raise HandshakeTimeout, or ssl.SSLError if the connection has been broken off since this age."""
        handshake = self._inside.gate.handshake
        if age != self._inside.age and handshake is not None:
            handshake.shake(self._context, _name(request))
        raise HandshakeTimeout("The handshake operation timed out")

    def close(self) -> None:
        """End all connections."""
        self._links.close()

    @cached_property
    def _context(self) -> SSLContext:
        """What this client needs for handshakes."""
        handshake = self._inside.gate.handshake
        if self._verify is None and handshake is not None:
            return handshake.trusting
        context: SSLContext = self._library.create_ssl_context(verify=self._verify)
        return context


def patience(request: Asked) -> float:
    """How many seconds a client waits for its connection."""
    seconds: float | None = request.extensions.get("timeout", {}).get("connect")
    return math.inf if seconds is None else seconds


def _name(request: Asked) -> str:
    """The name that the certificate has to be for."""
    name: str = request.extensions.get("sni_hostname") or request.url.raw_host.decode("ascii")
    return name
