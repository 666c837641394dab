"""A connector for aiohttp's clients that leads to the service without a socket."""

import asyncio
from typing import Any

from aiohttp import BaseConnector, ClientConnectorError, ClientRequest, ClientTimeout
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace

from engy_mock.serving.connections import Doorkeeper
from engy_mock.serving.gate import Gate
from engy_mock.serving.memory import connect
from engy_mock.serving.server import TURNS_TO_CLOSE
from engy_mock.serving.shell import Shell

TURNS_TO_END = 5
"""How many turns of the loop the answer on a connection gets to end behind it."""


class InsideConnector(BaseConnector):
    """Connects to a shell on the same loop, whatever host and port are asked for.

    The other end of each connection is what a socket would have as well, with all its caps and deadlines.
    """

    def __init__(self, shell: Shell, gate: Gate, **options: Any) -> None:
        super().__init__(**options)
        self._gate = gate
        self._keeper = Doorkeeper(shell, asyncio.get_running_loop())

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
        try:
            self._gate.knock()
        except ConnectionRefusedError as error:
            error.strerror = f"Connect call failed {(req.host, req.port)}"
            raise ClientConnectorError(req.connection_key, error) from error
        client = ResponseHandler(loop=self._loop)
        connect(self._loop, client, self._keeper())
        return client
