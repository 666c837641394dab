"""A listening socket, and the server behind it on whatever loop is running."""

import asyncio
import errno
import ipaddress
import logging
import socket
from contextlib import suppress
from ssl import SSLContext

from engy_mock.serving.connections import Doorkeeper
from engy_mock.serving.security import Mute
from engy_mock.serving.shell import Shell
from engy_mock.vocabulary.errors import MockError

BACKLOG = 1024

ACCEPTED_AT_ONCE = 16
"""So many connections asyncio takes in one turn of the loop: over the cap others have to go before more come."""

MAX_PORT = 65535

TURNS_TO_ACCEPT = 3
"""After how many turns of the loop the keeper knows a connection that has just been accepted."""

TURNS_TO_CLOSE = 100
"""How many turns of the loop a stop gives its connections to be gone; they need two or three."""

log = logging.getLogger("engy_mock")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there already; raises MockError if that cannot be."""
    if not 0 <= port <= MAX_PORT:
        raise MockError(f"port must be 0 to {MAX_PORT}, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise MockError(
                f"port {port} on {host} is in use already: take another one, or 0 for any that is free"
            ) from None
        raise MockError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    if not is_loopback(host):
        log.warning("listening on %s: everybody who reaches this machine reaches the mock", host)
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin(host: str, port: int, *, scheme: str = "http") -> str:
    """The address under which a client on this machine finds what listens there."""
    nearest = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{scheme}://[{nearest}]:{port}" if ":" in nearest else f"{scheme}://{nearest}:{port}"


def load_for_heads() -> None:
    """Load aiohttp, which reads heads apart from bodies: the first client should not have to wait for it."""
    import engy_mock.serving.odd  # noqa: F401


class Server:
    """Serves a shell on listening sockets, on the loop that runs when it starts.

    With `security` its connections are encrypted; one that `is_mute` takes them and never says a word.
    """

    def __init__(
        self, shell: Shell, listener: socket.socket, security: SSLContext | None = None, *, is_mute: bool = False
    ) -> None:
        self._shell = shell
        self._listener = listener
        self._security = security
        self._is_mute = is_mute
        self._mute: dict[Mute, asyncio.BaseTransport] = {}
        self._keeper: Doorkeeper | None = None
        self._accepting: list[asyncio.AbstractServer] = []
        self._listeners: list[socket.socket] = []

    async def start(self) -> None:
        """Accept connections from now on."""
        self._keeper = Doorkeeper(self._shell, asyncio.get_running_loop())
        await self.accept(self._listener)

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections on one more socket."""
        assert self._keeper is not None
        made = (lambda: Mute(self._mute)) if self._is_mute else self._keeper
        loop = asyncio.get_running_loop()
        self._listeners.append(listener)
        self._accepting.append(
            await loop.create_server(made, sock=listener, backlog=ACCEPTED_AT_ONCE, ssl=self._security)
        )
        listener.listen(BACKLOG)  # the loop has said the other figure to the system, too

    async def refuse(self) -> None:
        """Close all sockets that listen; connections that are there go on."""
        # asyncio loses a connection, with a warning, that it has just accepted for a server that is closed then.
        with suppress(NotImplementedError):  # loops on Windows accept in another way
            for listener in self._listeners:
                asyncio.get_running_loop().remove_reader(listener)
        for _ in range(TURNS_TO_ACCEPT):
            await asyncio.sleep(0)
        for accepting in self._accepting:
            accepting.close()
        self._accepting.clear()
        self._listeners.clear()

    async def stop(self) -> None:
        """Close the socket and all connections; answers under way are broken off and settle their books."""
        if self._keeper is None:
            self._listener.close()
            return
        await self.refuse()
        for _ in range(TURNS_TO_CLOSE):
            if self._keeper.is_empty and not self._mute:
                break
            self._keeper.close_all()
            for transport in list(self._mute.values()):
                transport.close()
            await asyncio.sleep(0)
