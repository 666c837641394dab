"""A server in a thread of its own, so that no client can starve it."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from engy_mock.serving.server import Server, origin
from engy_mock.serving.shell import Shell

STOP_SECONDS = 5.0
"""How long a stop waits for the thread before it says that something is wrong."""

log = logging.getLogger("engy_mock")


class ServerThread:
    """Serves a shell on a listening socket, on a loop of its own, until `stop`."""

    def __init__(
        self,
        shell: Shell,
        listener: socket.socket,
        host: str,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self.port: int = listener.getsockname()[1]
        self.origin = origin(host, self.port)
        self._loop_factory = loop_factory
        self._listener = listener
        self._server = Server(shell, listener)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._has_started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="engy-mock", daemon=True)

    @property
    def is_alive(self) -> bool:
        """It has been started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Return when the server accepts connections; raises what kept it from that."""
        self._thread.start()
        self._has_started.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End stalls, connections and the thread."""
        if self._loop is None:
            return
        with suppress(RuntimeError):  # the loop is closed already if the thread has failed
            self._loop.call_soon_threadsafe(self._stopping.set)
        if threading.current_thread() is self._thread:
            return
        self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            log.error("the server's thread did not end within %g seconds", STOP_SECONDS)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._loop_factory) as runner:
                runner.run(self._serve())
        except BaseException as failure:
            self._listener.close()
            self._failure = failure
            if self._has_started.is_set():
                log.exception("the server's thread failed")
        finally:
            self._has_started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.start()
        self._has_started.set()
        await self._stopping.wait()
        await self._server.stop()
