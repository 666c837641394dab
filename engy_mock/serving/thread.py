"""A server in a thread of its own, so that no client can starve it."""

import asyncio
import logging
import math
import socket
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from ssl import SSLContext
from typing import Any

from engy_mock.serving.holds import Holds
from engy_mock.serving.server import Server, listen, origin
from engy_mock.serving.shell import Shell
from engy_mock.vocabulary.errors import MockError

STOP_SECONDS = 5.0
"""How long a stop waits for the thread before it says that something is wrong."""

log = logging.getLogger("engy_mock")


class ServerThread:
    """Serves a shell on a listening socket, on a loop of its own, until `stop`; `is_open` unless it refuses.

    The port stays closed until nobody of `holds` keeps it so any more.
    """

    def __init__(
        self,
        shell: Shell,
        listener: socket.socket,
        host: str,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
        security: SSLContext | None = None,
        *,
        scheme: str = "http",
        holds: Holds | None = None,
    ) -> None:
        self.port: int = listener.getsockname()[1]
        self.origin = origin(host, self.port, scheme=scheme)
        self._host = host
        self._scheme = scheme
        self._loop_factory = loop_factory
        self._shell = shell
        self._listener = listener
        self._server = Server(shell, listener, security, is_mute=security is None and scheme == "https")
        self._annex: str | None = None
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_open = True
        self._holds = holds or Holds()
        self._turning = asyncio.Lock()
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

    def annex(self) -> str:
        """The address of a second port behind which the same is served; it is opened when somebody asks for it."""
        with self._lock:
            if self._annex is None:
                listener = listen(self._host, 0)
                self._annex = origin(self._host, listener.getsockname()[1], scheme=self._scheme)
                self._soon(self._server.accept(listener))
            return self._annex

    def refuse(self, seconds: float = math.inf) -> object:
        """Close the ports, for so many seconds of the wall; returns when nobody can connect any more.

        Gives what `release` takes.
        """
        hold = self._soon(self._refuse(seconds)).result(STOP_SECONDS)
        if seconds < math.inf:
            self._soon(self._release_after(hold, seconds))
        return hold

    def release(self, hold: object) -> None:
        """Open the port again if nobody else holds it; raises MockError if somebody else has taken it."""
        self._soon(self._release(hold)).result(STOP_SECONDS)

    def accept(self) -> None:
        """Open the port again, whoever holds it, unless it is open; raises MockError if somebody has taken it."""
        if not self.is_open:
            self._soon(self._accept()).result(STOP_SECONDS)

    def _soon(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _refuse(self, seconds: float) -> object:
        async with self._turning:
            hold = self._holds.add(seconds)
            self.is_open = False
            await self._server.refuse()
            return hold

    async def _release(self, hold: object) -> None:
        async with self._turning:
            self._holds.release(hold)
            if not self._holds.is_closed:
                await self._open()

    async def _accept(self) -> None:
        async with self._turning:
            self._holds.clear()
            await self._open()

    async def _open(self) -> None:
        if not self.is_open:
            await self._server.accept(listen(self._host, self.port))
            self.is_open = True

    async def _release_after(self, hold: object, seconds: float) -> None:
        await asyncio.sleep(seconds)
        try:
            await self._release(hold)
        except MockError:
            log.exception("the port cannot be opened again")

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
        await self._shell.close()
