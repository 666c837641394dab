"""Exchanges as they happen, as server-sent events."""

from pydantic import ValidationError

from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal
from engy_mock.serving.control.exchanges import FeedQuery, glance
from engy_mock.serving.control.house import House, Refused
from engy_mock.serving.watch import Seen
from engy_mock.vocabulary.clock import monotonic
from engy_mock.vocabulary.errors import quoted
from engy_mock.vocabulary.wire import Call

LOOKS_EVERY = 0.1
"""Seconds between two looks at the journal."""

SIGN_OF_LIFE_EVERY = 15.0
"""After so many seconds without news there is a comment, so that no proxy gives up."""

MAX_WATCHED = 512
"""So many exchanges that are not over are looked at again."""

RESET = b"event: reset\nid: -1\ndata: {}\n\n"
"""Who comes back behind it begins with the first."""

LAST_SEEN = "Last-Event-ID"
"""The header by which a reader that comes back tells the last event that it has seen."""


def begins_behind(query: FeedQuery, call: Call) -> int | None:
    """The number behind which a feed begins; None for only what is new. Raises Refused."""
    seen = call.headers.get(LAST_SEEN)
    if seen is None:
        return query.after
    try:
        return FeedQuery.model_validate({"after": seen}).after
    except ValidationError:
        raise Refused(400, f"{LAST_SEEN} is the number of an exchange, not {quoted(seen):.80}") from None


class Feed:
    """What one reader has not been told yet.

    An exchange is told when it begins and again when it has become another one. `reset` says that the journal
    begins anew, or that the number to begin behind is of another journal. Looking costs little, and needs neither
    the journal nor the gateway to know of readers.
    """

    def __init__(self, house: House, after: int | None) -> None:
        self._house = house
        self._journal: Journal = house.gateway.journal
        newest = self._newest()
        self._told = newest if after is None else after
        # Numbers begin at 0 again in each journal: behind one that this has not come to there would be silence.
        self._is_of_another = self._told > newest
        self._open: dict[int, tuple[Entry, Seen | None, object]] = {}
        self._spoke = monotonic()

    def news(self) -> bytes:
        """What there is to tell, or nothing."""
        journal = self._house.gateway.journal
        told: list[bytes] = []
        if self._is_of_another or journal is not self._journal:
            self._journal, self._told, self._open, self._is_of_another = journal, -1, {}, False
            told.append(RESET)
        for entry, seen, before in list(self._open.values()):
            if _look(entry, seen) != before:
                told.append(self._written(entry, seen))
        for entry in self._new():
            told.append(self._written(entry, self._house.watch.of(entry)))
            self._told = entry.number
        if told:
            self._spoke = monotonic()
        elif monotonic() - self._spoke > SIGN_OF_LIFE_EVERY:
            self._spoke = monotonic()
            told.append(b": still here\n\n")
        return b"".join(told)

    def _new(self) -> list[Entry]:
        """The entries that have not been told, oldest first."""
        if self._newest() <= self._told:
            return []
        return [entry for entry in self._journal if entry.number > self._told]

    def _newest(self) -> int:
        try:
            return self._journal.last.number
        except LookupError:
            return -1

    def _written(self, entry: Entry, seen: Seen | None) -> bytes:
        """An exchange as an event; it is looked at again until it is over."""
        look = _look(entry, seen)
        shown = glance(self._house, entry)
        if shown.is_over:
            self._open.pop(entry.number, None)
        else:
            self._open[entry.number] = (entry, seen, look)
            if len(self._open) > MAX_WATCHED:
                del self._open[next(iter(self._open))]
        return b"event: exchange\nid: %d\ndata: %b\n\n" % (entry.number, shown.model_dump_json().encode())


def _look(entry: Entry, seen: Seen | None) -> object:
    """What is another thing once an exchange has become another one; it costs next to nothing."""
    times = None if seen is None else (seen.first_seconds, seen.seconds)
    return (entry.status, entry.pieces_sent, entry.charged_micro, entry.client_left, entry.error, times)
