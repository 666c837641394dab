"""The door of a mock: whether it takes connections, and how it shows who it is."""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from engy_mock.mock.arguments import check_span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from ssl import SSLContext

    from engy_mock.serving.gate import Gate
    from engy_mock.serving.holds import Holds
    from engy_mock.serving.thread import ServerThread


class Door:
    """What may be wrong with the door, for clients on its port and for those inside the process."""

    _thread: ServerThread | None
    _time_scale: float
    _seed: int
    _host: str
    _tls: str | None

    def refuse_connections(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """Take no new connections for so many seconds, or until the end of a `with` block; the port is the same.

        `with engy.refuse_connections(): ...` Connections that are there go on. Inside the process it is the same,
        for a mock that does not run as well. The seconds are those of the wall, stretched by `time_scale`: nobody
        can reach a mock to see its own time. Where several overlap, the last to end opens the port. Raises
        MockError for seconds that are none.
        """
        if seconds is not None:
            check_span("seconds", seconds)
        span = math.inf if seconds is None else seconds * self._time_scale
        thread, holds = self._thread, self._holds
        return _opening(thread, holds, holds.add(span) if thread is None else thread.refuse(span))

    @property
    def authority(self) -> str:
        """The certificate of whoever signs those of `tls`, as PEM: `ssl.create_default_context(cadata=...)`."""
        from engy_mock.serving.certificates import authority

        return authority(self._seed).text

    @cached_property
    def _holds(self) -> Holds:
        from engy_mock.serving.holds import Holds

        return Holds()

    @cached_property
    def _security(self) -> SSLContext | None:
        """What its server needs for TLS; None for a door that does not speak it, or never begins to."""
        if self._tls is None or self._tls == "handshake-stall":
            return None
        from engy_mock.serving.security import context

        return context(self._tls, self._seed, self._host)

    @cached_property
    def _gate(self) -> Gate:
        from engy_mock.serving.gate import Gate

        if self._tls is None:
            return Gate(self._holds)
        from engy_mock.serving.handshake import Handshake

        return Gate(self._holds, Handshake(lambda: self._security, lambda: self.authority))


@contextmanager
def _opening(thread: ServerThread | None, holds: Holds, hold: object) -> Iterator[None]:
    """Open the port again behind a block, unless another one keeps it closed."""
    try:
        yield
    finally:
        if thread is not None and thread.is_alive:
            thread.release(hold)
        else:
            holds.release(hold)
