"""Request ids: from what is asked and how often it has been asked before, never from chance or time (E-14)."""

from threading import Lock
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.dialects.admission import Body
from engy_mock.vocabulary.seeds import digest, hex_id
from engy_mock.vocabulary.wire import Call

MAX_REMEMBERED = 100_000


class Identities:
    """Gives each call of one mock its id, so that parallel callers always draw from the same set of ids."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._meanings: dict[bytes, bytes] = {}
        self._times: dict[bytes, int] = {}
        self._lock = Lock()

    def copy(self) -> "Identities":
        """Another giver of ids that has seen the same calls."""
        other = Identities(self._seed)
        with self._lock:
            other._meanings, other._times = dict(self._meanings), dict(self._times)
        return other

    def forget(self) -> None:
        """Count anew."""
        with self._lock:
            self._meanings, self._times = {}, {}

    def meaning(self, what: bytes, call: Call, body: Body, apart: bytes = b"") -> bytes:
        """What calls that ask the same have in common; `what` is a digest of method, path, query and bytes.

        Bodies that say the same are the same request, however a client orders or spaces them; those that are
        `apart` are not.
        """
        if apart:
            what = digest(what, apart)
        meaning = self._meanings.get(what)
        if meaning is None:
            more = (apart,) if apart else ()
            meaning = digest(self._seed, call.method, call.path, call.query, body.meaning, *more)
            with self._lock:
                self._meanings[what] = meaning
                _bound(self._meanings)
        return meaning

    def settle(self, entry: Entry) -> bytes:
        """Give a call its place among those that ask the same, and its id, once; returns what stands for both.

        That is done when it is counted for the first time, by a rule or here, so that all count it alike.
        """
        if not entry.request_id:
            entry.occurrence, entry.request_id = self.next(entry.meaning)
            entry.plan = f"{self._seed}/{entry.request_id[:16]}"
        return entry.request_id.encode()

    def next(self, meaning: bytes) -> tuple[int, str]:
        """How often the same was asked before, and the id of the next call: 32 hexadecimal digits."""
        times = self._times
        with self._lock:
            before = times.get(meaning, 0)
            times[meaning] = before + 1
            _bound(times)
        return before, hex_id(32, "request", meaning, before)


def _bound(remembered: dict[bytes, Any]) -> None:
    """Forget the oldest where there are too many."""
    if len(remembered) > MAX_REMEMBERED:
        del remembered[next(iter(remembered))]
