"""Connections that may be used again only for a while, or only so often."""

from dataclasses import dataclass

from engy_mock.vocabulary.clock import Clock
from engy_mock.vocabulary.wire import Lease


@dataclass(slots=True)
class _Leased:
    """A connection with its lease: since when it is idle, and how many answers under a lease it has seen."""

    lease: Lease
    since: float
    answers: int


class Leases:
    """The leases of all connections that have one; `scale` stretches their seconds under a wall clock."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._leased: dict[object, _Leased] = {}

    def grant(self, connection: object, lease: Lease, clock: Clock) -> None:
        """The connection is idle from now on, under this lease."""
        known = self._leased.get(connection)
        answers = 1 if known is None else known.answers + 1
        self._leased[connection] = _Leased(lease, clock.now(), answers)

    def is_over(self, connection: object, clock: Clock) -> bool:
        """Whether the connection must not be used again."""
        found = self._leased.get(connection)
        if found is None:
            return False
        lease = found.lease
        span = lease.seconds * self._scale if clock.waits_for_real() else lease.seconds
        is_used_up = lease.requests is not None and found.answers >= lease.requests
        return is_used_up or clock.now() - found.since >= span

    def pass_on(self, connection: object, other: object) -> None:
        """Somebody else speaks on the connection from now on."""
        found = self._leased.pop(connection, None)
        if found is not None:
            self._leased[other] = found

    def forget(self, connection: object) -> None:
        """The connection is gone."""
        self._leased.pop(connection, None)

    def clear(self) -> None:
        """All connections may be used as long as they last."""
        self._leased.clear()
