"""The connections of clients inside the process: nothing passes over them, but they begin and end like others."""

from bisect import insort
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING

from engy_mock.serving.leases import Leased
from engy_mock.vocabulary.clock import monotonic

if TYPE_CHECKING:
    from engy_mock.serving.inside import Inside

KEPT_SECONDS = 5.0
"""How long the libraries keep a connection on which nothing is asked, unless they are told otherwise."""

KEPT_AT_ONCE = 20
"""How many of those they keep."""

Place = tuple[str, bytes, int | None]
"""Where a connection leads: scheme, host and port."""

_NUMBER = attrgetter("number")


class Link:
    """A connection: the how many-th of its client, since when it is idle, and the lease that it is under.

    One that `is_misheard` leads to a door that waits for a handshake.
    """

    __slots__ = ("_links", "is_misheard", "leased", "number", "place", "since")

    def __init__(self, links: "Links", place: Place, number: int) -> None:
        self._links = links
        self.place = place
        self.number = number
        self.since = 0.0
        self.leased: Leased | None = None
        self.is_misheard = False

    def keep(self) -> None:
        """It may be used again."""
        self._links.keep(self)


class Links:
    """Those of one client, kept as the libraries keep theirs; may be used from any thread.

    One that is not given back is lost, as an answer is that nobody hears to its end. When answers are broken off,
    all are lost.
    """

    def __init__(self, inside: "Inside", seconds: float | None, at_once: int | None) -> None:
        self._inside = inside
        idle_seconds = inside.limits.idle_seconds
        self._seconds = idle_seconds if seconds is None else min(seconds, idle_seconds)
        self._at_once = at_once
        self._age = inside.age
        self._count = 0
        self._idle: list[Link] = []
        self._lock = Lock()

    def take(self, place: Place) -> Link | None:
        """The oldest that leads there and is idle, if there is one."""
        if not self._idle:
            return None
        with self._lock:
            now, age = monotonic(), self._inside.age
            if age != self._age:
                self._idle.clear()
                self._age = age
            self._idle = [link for link in self._idle if now - link.since <= self._seconds]
            for at, link in enumerate(self._idle):
                if link.place == place:
                    return self._idle.pop(at)
        return None

    def new(self, place: Place) -> Link:
        """One more."""
        with self._lock:
            self._count += 1
            return Link(self, place, self._count)

    def keep(self, link: Link) -> None:
        """Have one that may be used again; the oldest go where there are too many."""
        with self._lock:
            link.since = monotonic()
            insort(self._idle, link, key=_NUMBER)
            while self._at_once is not None and len(self._idle) > self._at_once:
                del self._idle[0]

    def close(self) -> None:
        """End all."""
        with self._lock:
            self._idle.clear()
