"""The connections of clients inside the process: nothing passes over them, but they begin and end like others."""

from bisect import insort
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from engy_mock.serving.leases import Leased, leased
from engy_mock.vocabulary.clock import Clock, monotonic
from engy_mock.vocabulary.wire import Lease

if TYPE_CHECKING:
    from engy_mock.serving.inside import Inside

KEPT_SECONDS = 5.0
"""How long the libraries keep a connection on which nothing is asked, unless they are told otherwise."""

KEPT_AT_ONCE = 20
"""How many of those they keep."""

Place = tuple[str, bytes, int | None]
"""Where a connection leads: scheme, host and port."""

_NUMBER = attrgetter("number")


class UnderWay(Protocol):
    """An answer that has not come to its end."""

    def hang_up(self) -> None:
        """Its client ends the connection."""
        ...


class Link:
    """A connection: the how many-th of its client, since when it is idle, and the lease that it is under.

    One that `is_misheard` leads to a door that waits for a handshake. One of another `era` than that of its client
    has been ended, whether its last answer has been read or not.
    """

    __slots__ = ("_age", "_links", "era", "is_misheard", "leased", "number", "place", "since")

    def __init__(self, links: "Links", place: Place, number: int, era: int) -> None:
        self._links = links
        self.leased: Leased | None = None
        self._age = 0
        self.place = place
        self.number = number
        self.era = era
        self.since = 0.0
        self.is_misheard = False

    def lease(self, lease: Lease, clock: Clock, age: int) -> None:
        """From now on it may be used again only under this lease; one of another age is forgotten."""
        self.leased = leased(self.leased if age == self._age else None, lease, clock)
        self._age = age

    def is_leased_out(self, clock: Clock, scale: float, age: int) -> bool:
        """Whether it must not be used again."""
        return self.leased is not None and age == self._age and self.leased.is_over(clock, scale)

    def keep(self) -> None:
        """It may be used again."""
        self._links.keep(self)

    def begin(self, answer: UnderWay) -> None:
        """An answer is under way."""
        self._links.begin(self, answer)

    def end(self, answer: UnderWay) -> None:
        """It is over, or nobody wants to hear more of it."""
        self._links.end(answer)


class Links:
    """Those of one client, kept as the libraries keep theirs; may be used from any thread.

    One that is not given back is lost, as that of an answer is that nobody hears to its end. All are lost when the
    mock is stopped.
    """

    def __init__(self, inside: "Inside", seconds: float | None, at_once: int | None) -> None:
        self._inside = inside
        idle_seconds = inside.limits.idle_seconds
        self._seconds = idle_seconds if seconds is None else min(seconds, idle_seconds)
        self._at_once = at_once
        self._count = 0
        self._closings = 0
        self._idle: list[Link] = []
        self._under_way: dict[UnderWay, None] = {}
        self._lock = Lock()

    def take(self, place: Place) -> Link | None:
        """The oldest that leads there and is idle, if there is one."""
        if not self._idle:
            return None
        with self._lock:
            now, era = monotonic(), self._inside.stops + self._closings
            self._idle = [link for link in self._idle if link.era == era and now - link.since <= self._seconds]
            for at, link in enumerate(self._idle):
                if link.place == place:
                    return self._idle.pop(at)
        return None

    def new(self, place: Place) -> Link:
        """One more."""
        with self._lock:
            self._count += 1
            return Link(self, place, self._count, self._era)

    def keep(self, link: Link) -> None:
        """Have one that may be used again; the oldest go where there are too many."""
        with self._lock:
            if link.era != self._inside.stops + self._closings:
                return
            link.since = monotonic()
            insort(self._idle, link, key=_NUMBER)
            while self._at_once is not None and len(self._idle) > self._at_once:
                del self._idle[0]

    def begin(self, link: Link, answer: UnderWay) -> None:
        """An answer is under way on one, unless that has been ended in the meantime."""
        with self._lock:
            is_there = link.era == self._era
            if is_there:
                self._under_way[answer] = None
        if not is_there:
            answer.hang_up()

    def end(self, answer: UnderWay) -> None:
        """It is over."""
        self._under_way.pop(answer, None)

    def close(self) -> None:
        """End all, and with them the answers that are under way."""
        with self._lock:
            self._closings += 1
            self._idle.clear()
            under_way, self._under_way = self._under_way, {}
        for answer in under_way:
            answer.hang_up()

    @property
    def _era(self) -> int:
        """Grows with everything that ends all connections."""
        return self._inside.stops + self._closings
