"""Heads of answers: other headers, another status, another body behind them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import ClassVar

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.fault import Fault
from engy_mock.vocabulary.wire import Begin, Head, Step, Whole

Header = tuple[str, str]

_FRAMING = frozenset({"content-length", "transfer-encoding"})
_HINTS = frozenset({"retry-after", "retry-after-ms", "x-should-retry"})


def reheaded(steps: Iterable[Step], change: Callable[[Head], Head]) -> Iterator[Step]:
    """The steps with the head changed."""
    for step in steps:
        yield replace(step, head=change(step.head)) if isinstance(step, Begin | Whole) else step


def instead(
    steps: Iterator[Step], change: Callable[[Head], Head], body: bytes | Callable[[Head], bytes]
) -> Iterator[Step]:
    """What comes before the head, then this body behind the head as changed, in place of all the rest."""
    for step in steps:
        if isinstance(step, Begin | Whole):
            head = change(without(step.head, *_FRAMING))
            yield Whole(head, body if isinstance(body, bytes) else body(head))
            return
        yield step


def with_headers(head: Head, *headers: Header) -> Head:
    """The same with these headers in place of those of the same names."""
    cleared = without(head, *(name for name, _ in headers))
    return replace(cleared, headers=(*cleared.headers, *headers))


def with_header(head: Head, name: str, value: str) -> Head:
    """The same with a header of this value, in place of all others of its name."""
    return with_headers(head, (name, value))


def without(head: Head, *names: str) -> Head:
    """The same without the headers of these names."""
    unwanted = {name.lower() for name in names}
    return replace(head, headers=tuple([one for one in head.headers if one[0].lower() not in unwanted]))


def without_hints(head: Head) -> Head:
    """The same without anything that says when, or whether, to try again."""
    kept = [one for one in head.headers if one[0].lower() not in _HINTS and "ratelimit" not in one[0].lower()]
    return replace(head, headers=tuple(kept))


def limit_headers(
    asked: Asked, unit: str, *, limit: int, remaining: int, seconds: int, now: float
) -> tuple[Header, ...]:
    """A limit of requests or tokens as the clients of the route know it, full again after so many seconds."""
    if asked.endpoint == "messages":
        begin = f"anthropic-ratelimit-{unit}-"
        names = (f"{begin}limit", f"{begin}remaining", f"{begin}reset")
        reset = f"{datetime.fromtimestamp(int(now) + seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    else:
        names = (f"x-ratelimit-limit-{unit}", f"x-ratelimit-remaining-{unit}", f"x-ratelimit-reset-{unit}")
        reset = f"{seconds}s"
    return tuple(zip(names, (str(limit), str(remaining), reset), strict=True))


@dataclass(frozen=True)
class Headers(Fault):
    """Put these headers into the head, in place of those of the same names."""

    kind: ClassVar[str] = "headers"

    headers: tuple[Header, ...]

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Another head."""
        return reheaded(steps, lambda head: with_headers(head, *self.headers))
