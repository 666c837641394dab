"""Request ids: from what is asked and how often it has been asked before, never from chance or time (E-14)."""

from threading import Lock
from typing import Any

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

    def next(self, what: bytes, call: Call, body: Body) -> str:
        """The id of a call, 32 hexadecimal digits; `what` is a digest of its method, path, query and bytes.

        Bodies that say the same are the same request, however a client orders or spaces them.
        """
        meanings, times = self._meanings, self._times
        with self._lock:
            meaning = meanings.get(what)
            if meaning is None:
                meaning = digest(self._seed, call.method, call.path, call.query, body.meaning)
                meanings[what] = meaning
                _bound(meanings)
            before = times.get(meaning, 0)
            times[meaning] = before + 1
            _bound(times)
        return hex_id(32, "request", meaning, before)


def _bound(remembered: dict[bytes, Any]) -> None:
    """Forget the oldest where there are too many."""
    if len(remembered) > MAX_REMEMBERED:
        del remembered[next(iter(remembered))]
