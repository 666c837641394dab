"""Connections that may be used again only for a while, or only so often."""

from dataclasses import dataclass

from engy_mock.vocabulary.clock import Clock
from engy_mock.vocabulary.wire import Lease


@dataclass(frozen=True, slots=True)
class Leased:
    """A connection's lease, since when it is idle, and how many answers under a lease it has seen."""

    lease: Lease
    since: float
    answers: int

    def is_over(self, clock: Clock, scale: float) -> bool:
        """Whether the connection must not be used again; `scale` stretches seconds under a wall clock."""
        lease = self.lease
        span = lease.seconds * scale if clock.waits_for_real() else lease.seconds
        is_used_up = lease.requests is not None and self.answers >= lease.requests
        return is_used_up or clock.now() - self.since >= span


def leased(known: Leased | None, lease: Lease, clock: Clock) -> Leased:
    """A connection that is idle from now on, under this lease; `known` is the lease that it had before."""
    return Leased(lease, clock.now(), 1 if known is None else known.answers + 1)


class Leases:
    """The leases of all connections that have one; `scale` stretches their seconds under a wall clock."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._leased: dict[object, Leased] = {}

    def grant(self, connection: object, lease: Lease, clock: Clock) -> None:
        """The connection is idle from now on, under this lease."""
        self._leased[connection] = leased(self._leased.get(connection), lease, clock)

    def is_over(self, connection: object, clock: Clock) -> bool:
        """Whether the connection must not be used again."""
        found = self._leased.get(connection)
        return found is not None and found.is_over(clock, self._scale)

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
