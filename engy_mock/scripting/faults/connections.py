"""Faults of connections: ones that end between two answers, just as they are used again ("Transport")."""

from collections.abc import Iterator

from engy_mock.scripting.fault import Fault, Seconds, Some, fault
from engy_mock.scripting.heads import reheaded, with_header
from engy_mock.vocabulary.wire import End, Lease, Step

PROMISED_SECONDS = 5


def _leased(steps: Iterator[Step], lease: Lease) -> Iterator[Step]:
    """The steps with a lease just before the end, which is when the connection becomes idle."""
    for step in steps:
        if isinstance(step, End):
            yield lease
        yield step


@fault("idle-close")
class IdleClose(Fault):
    """Answer, and break the connection by RST when it is used again too late.

    Too late is after so many idle seconds, or behind so many answers of this kind.
    """

    seconds: Seconds = 5.0
    requests: Some | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The answer, on a connection that has not long to live."""
        return _leased(steps, Lease(self.seconds, self.requests))


@fault("keep-alive-mismatch")
class KeepAliveMismatch(Fault):
    """Promise to keep the connection for five seconds, and break it by RST when it is used after fewer."""

    seconds: Seconds = 1.0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """A promise that is not kept."""
        yield Lease(self.seconds)
        yield from reheaded(steps, lambda head: with_header(head, "Keep-Alive", f"timeout={PROMISED_SECONDS}"))
