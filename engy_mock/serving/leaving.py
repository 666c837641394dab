"""Clients that say no more: whether one listens on or has left altogether, which looks the same at first.

Both end their half of the connection. Whoever has left answers the next bytes with a reset, which the system
reports by itself; it stays in the dark only as long as nothing is said. So an answer goes on for a client that
says no more until there was silence for `GRACE_SECONDS`: what is told without long pauses is told to its end, and
whoever waits in a stall is gone within a second.
"""

import asyncio
import select
import sys

GRACE_SECONDS = 0.5


def may_listen_on(transport: asyncio.Transport) -> bool:
    """Whether the connection has two halves that end by themselves; under encryption asyncio ends both at once."""
    return transport.get_extra_info("sslcontext") is None


def has_hung_up(transport: asyncio.Transport) -> bool:
    """Whether the client has ended its half, seen without reading what it has sent before; only Linux tells."""
    connection = transport.get_extra_info("socket")
    if sys.platform != "linux" or connection is None or connection.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLRDHUP)
    return bool(poll.poll(0))
