"""Who is connected, since when, and who has to go: what aiohttp's server does not watch by itself."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from engy_mock.serving.leaving import has_hung_up
from engy_mock.serving.swift import Swift
from engy_mock.vocabulary.clock import monotonic

if TYPE_CHECKING:
    from engy_mock.serving.limits import Limits
    from engy_mock.serving.odd import Connection, OddServer
    from engy_mock.serving.shell import Shell

log = logging.getLogger("engy_mock")

MAX_SWEEP_SECONDS = 0.5
"""The longest time between two looks for connections that have passed a deadline, or whose client has left."""


def handler_options(limits: Limits) -> dict[str, Any]:
    """How aiohttp has to treat connections, whoever runs its server."""
    return {
        "access_log": None,
        "auto_decompress": False,
        "keepalive_timeout": limits.idle_seconds,
        "lingering_time": limits.lingering_seconds,
        "logger": log,
    }


class Doorkeeper:
    """Accepts connections, at most so many, and closes those that have passed a deadline."""

    def __init__(self, shell: Shell, loop: asyncio.AbstractEventLoop) -> None:
        self._shell = shell
        self._limits = shell.limits
        self._room = room_for_connections(shell.limits.max_connections)
        self._here = loop
        self._open: dict[Connection | Swift, None] = {}
        self._going: set[Connection | Swift] = set()
        self._stuck: dict[Connection | Swift, float] = {}
        self._odd: OddServer | None = None
        self._next_sweep: asyncio.TimerHandle | None = None

    def __call__(self) -> Swift:
        """What will speak with the next client."""
        return Swift(self, self._shell, self._here)

    def other(self) -> Connection:
        """Who speaks on a connection once something odd is asked."""
        if self._odd is None:
            # Imported here, not above: aiohttp's server takes longer to load than all else that answers need.
            from engy_mock.serving.odd import OddServer

            self._odd = OddServer(self, self._shell, self._here)
        return self._odd()

    def enter(self, connection: Connection | Swift) -> None:
        """Take a connection in; over the cap the one idle longest has to go.

        It is aborted: who does not read, or does not say goodbye under encryption, would keep its file. Many may
        come in one turn of the loop, and one that goes is gone only in the next.
        """
        self._open[connection] = None
        if len(self._open) - len(self._going) > self._room:
            idle = [one for one in self._open if one not in self._going and not self._shell.is_telling(one)]
            longest = min(idle, key=lambda one: one.heard_at, default=connection)
            self._going.add(longest)
            longest.abort()
        if self._next_sweep is None:
            self._plan_sweep()

    def leave(self, connection: Connection | Swift) -> None:
        """Forget a connection, or who has spoken on it until now."""
        self._open.pop(connection, None)
        self._going.discard(connection)
        self._stuck.pop(connection, None)
        self._shell.forget(connection)

    @property
    def is_empty(self) -> bool:
        """Whether no connection is open."""
        return not self._open

    def close_all(self) -> None:
        """End all connections at once, and with them the answers that are under way."""
        if self._next_sweep is not None:
            self._next_sweep.cancel()
        for connection in list(self._open):
            connection.abort()

    def _plan_sweep(self) -> None:
        limits = self._limits
        shortest = min(limits.header_seconds, limits.body_seconds, limits.idle_seconds)
        seconds = min(MAX_SWEEP_SECONDS, shortest / 4)
        self._next_sweep = self._here.call_later(seconds, self._sweep)

    def _sweep(self) -> None:
        """Close what has passed a deadline."""
        now, turns, beside = monotonic(), self._shell.turns, self._shell.beside
        for connection in list(self._open):
            turn = turns.get(connection)
            if connection.is_closing or (connection in beside and connection.is_stuffed):
                # What its client has not read by then, it never will.
                if now - self._stuck.setdefault(connection, now) > self._limits.idle_seconds:
                    connection.abort()
                continue
            self._stuck.pop(connection, None)
            if connection.is_blind and connection.is_silent and self._shell.is_telling(connection):
                transport = connection.transport
                if transport is not None and has_hung_up(transport):
                    connection.abort()
                    continue
            if connection in beside:
                continue
            if isinstance(connection, Swift) and connection.waits_since is not None:
                # aiohttp sees to bodies that come slowly.
                if now - connection.waits_since > self._limits.body_seconds / 4:
                    connection.hand_over()
            elif turn is not None:
                if now - turn.since > self._limits.answer_seconds:
                    self._shell.cut(connection, turn)
            elif isinstance(connection, Swift):
                if now - connection.heard_at > self._limits.idle_seconds:
                    connection.force_close()
            elif connection.head_since is not None and now - connection.head_since > self._limits.header_seconds:
                connection.force_close()
        self._next_sweep = None
        if self._open:
            self._plan_sweep()


def room_for_connections(wanted: int) -> int:
    """How many connections fit into three quarters of the files that this process may have open."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft * 3 // 4))
