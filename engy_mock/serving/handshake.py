"""A handshake in memory: what clients without a socket make of the certificates of the mock."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress

ROUNDS = 8
"""More than any handshake has."""


class HandshakeTimeout(Exception):
    """A handshake has not come to its end in time."""


class Handshake:
    """How a door begins that speaks TLS; one that `is_mute` never does.

    `context` gives what its server needs, and nothing for one that is mute; `authority` signs its certificates.
    """

    def __init__(self, context: Callable[[], ssl.SSLContext | None], authority: Callable[[], str]) -> None:
        self._context = context
        self._authority = authority
        self._trusting: ssl.SSLContext | None = None

    @property
    def is_mute(self) -> bool:
        """Whether nothing comes of it."""
        return self._context() is None

    @property
    def trusting(self) -> ssl.SSLContext:
        """What a client needs that trusts the authority of the mock, and nobody else."""
        if self._trusting is None:
            self._trusting = ssl.create_default_context(cadata=self._authority())
        return self._trusting

    def shake(self, client: ssl.SSLContext, host: str) -> None:
        """Raise ssl.SSLError if such a client breaks it off. One that is mute ends here."""
        to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        near = client.wrap_bio(to_client, to_server, server_hostname=host)
        context = self._context()
        far = None if context is None else context.wrap_bio(to_server, to_client, server_side=True)
        for _ in range(ROUNDS if far is not None else 0):
            try:
                near.do_handshake()
            except ssl.SSLWantReadError:
                with suppress(ssl.SSLError):  # what the server does not like, it tells the client
                    assert far is not None
                    far.do_handshake()
            else:
                return
        to_client.write_eof()
        near.do_handshake()


class Misheard(asyncio.Protocol):
    """Hears plain HTTP where a handshake should begin: it hangs up, or says nothing."""

    def __init__(self, handshake: Handshake) -> None:
        self._is_mute = handshake.is_mute
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for it."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Hear it."""
        if self._transport is not None and not self._is_mute:
            self._transport.close()
