"""The control API as long as nobody has called it: it is loaded with the first call, and not with the mock."""

from __future__ import annotations

from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from engy_mock.serving.metrics import Metrics
from engy_mock.serving.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from engy_mock.serving.control import Control
    from engy_mock.serving.control.guard import Guard
    from engy_mock.serving.control.house import House
    from engy_mock.serving.framing import Framing
    from engy_mock.serving.pace import Pace
    from engy_mock.serving.performance import Wire
    from engy_mock.serving.shell import Shell
    from engy_mock.vocabulary.wire import Call

PREFIX = "/_mock/"


def watched(shell: Shell) -> Watch:
    """What sees the exchanges of a shell and counts them, from the first one on."""
    if shell.watch is None:
        shell.watch = Watch()
    # Who has not installed what metrics need, can do without.
    counts = any(isinstance(one, Metrics) for one in shell.watch.listeners)
    if not counts and find_spec("prometheus_client") is not None:
        Metrics(shell.watch)
    return shell.watch


class LateControl:
    """Stands in the place of the control API, which `make` makes when it is wanted."""

    def __init__(self, make: Callable[[], Control]) -> None:
        self._make = make
        self._made: Control | None = None
        self._lock = Lock()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody has called it."""
        return self._made is not None

    @property
    def control(self) -> Control:
        """The control API itself."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def house(self) -> House:
        """What it acts on."""
        return self.control.house

    @property
    def guard(self) -> Guard:
        """Who may use it."""
        return self.control.guard

    def is_for(self, path: str) -> bool:
        """Whether calls of this path are its own."""
        return path.startswith(PREFIX)

    async def tell(self, call: Call, framing: Framing, wire: Wire, pace: Pace) -> bool:
        """Answer a call; returns whether the connection may go on."""
        return await self.control.tell(call, framing, wire, pace)
