"""A connector for aiohttp's clients that leads to the service without a socket."""

import asyncio
import math
import ssl
from typing import Any
from urllib.request import getproxies

from aiohttp import (
    BaseConnector,
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientConnectorSSLError,
    ClientRequest,
    ClientTimeout,
    Fingerprint,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from engy_mock.serving.connections import Doorkeeper
from engy_mock.serving.handshake import Handshake, Misheard
from engy_mock.serving.inside import Inside
from engy_mock.serving.memory import connect
from engy_mock.serving.server import TURNS_TO_CLOSE
from engy_mock.serving.staying import OTHER_MOCK, OUT, Misfit
from engy_mock.vocabulary.errors import MockError

TURNS_TO_END = 5
"""How many turns of the loop the answer on a connection gets to end behind it."""


class InsideConnector(BaseConnector):
    """Connects to a shell on the same loop, whatever host and port are asked for.

    The other end of each connection is what a socket would have as well, with all its caps and deadlines.
    """

    def __init__(self, inside: Inside, **options: Any) -> None:
        super().__init__(**options)
        self._inside = inside
        self._keeper = Doorkeeper(inside.shell, asyncio.get_running_loop())

    def leads_to(self, inside: Inside) -> bool:
        """Whether it is one of this mock."""
        return self._inside is inside

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        """A connection for a request; raises MockError for one that is sent to a proxy."""
        if req.proxy is not None:
            if req.proxy not in _proxies_of_the_machine():
                raise MockError("proxy= would lead this request out of the process: leave it out")
            req.update_proxy(None, None, None)
        return await super().connect(req, traces, timeout)

    async def close(self, *, abort_ssl: bool = False) -> None:
        """End all connections, at both ends."""
        await super().close(abort_ssl=abort_ssl)
        self._keeper.close_all()
        for turn in range(TURNS_TO_CLOSE):
            if turn >= TURNS_TO_END and self._keeper.is_empty:
                break
            await asyncio.sleep(0)

    async def _create_connection(
        self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout
    ) -> ResponseHandler:
        handshake = self._inside.gate.handshake
        try:
            self._inside.gate.knock()
            if handshake is not None and req.is_ssl():
                await self._shake(handshake, req, timeout)
        except TimeoutError:
            raise  # aiohttp knows what it means
        except ConnectionRefusedError as error:
            error.strerror = f"Connect call failed {(req.host, req.port)}"
            raise ClientConnectorError(req.connection_key, error) from error
        except ssl.SSLCertVerificationError as error:
            raise ClientConnectorCertificateError(req.connection_key, error) from error
        except ssl.SSLError as error:
            raise ClientConnectorSSLError(req.connection_key, error) from error
        client = ResponseHandler(loop=self._loop)
        server: asyncio.Protocol = self._keeper()
        if handshake is not None and not req.is_ssl():
            server = Misheard(handshake)
        connect(self._loop, client, server)
        return client

    async def _shake(self, handshake: Handshake, req: ClientRequest, timeout: ClientTimeout) -> None:
        """Raise what a handshake comes to that fails: ssl.SSLError, or TimeoutError."""
        inside = self._inside
        if handshake.is_mute:
            age, seconds = inside.age, timeout.sock_connect
            await inside.wait_on_loop(math.inf if seconds is None else seconds, age)
            if age == inside.age:
                raise TimeoutError
        handshake.shake(_context(handshake, req.ssl), req.server_hostname or req.host)


def misfit(inside: Inside) -> Misfit:
    """Tells what is wrong with a connector for a session that is to stay inside."""

    def wrong(way: Any) -> str | None:
        if not isinstance(way, InsideConnector):
            return OUT
        return None if way.leads_to(inside) else OTHER_MOCK

    return wrong


def _proxies_of_the_machine() -> list[URL]:
    """Those that a session takes by itself that trusts its environment; they are not for the inside."""
    return [URL(proxy).with_user(None) for proxy in getproxies().values() if "://" in proxy]


def _context(handshake: Handshake, wanted: Any) -> ssl.SSLContext:
    """What a client needs for a handshake that is told this; one that is told nothing trusts the mock.

    Raises MockError for what cannot be looked at.
    """
    if isinstance(wanted, ssl.SSLContext):
        return wanted
    if wanted is True:
        return handshake.trusting
    if isinstance(wanted, Fingerprint):
        raise MockError(
            "inside the process no connection has a fingerprint: use ssl=False, or the port of the mock"
        )
    careless = ssl.create_default_context()
    careless.check_hostname = False
    careless.verify_mode = ssl.CERT_NONE
    return careless
