"""The pretend workers behind the service: what they can promise, and how many answers they give at once."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any, ClassVar

from engy_mock.books.limits import crowded
from engy_mock.vocabulary.errors import NoWorker
from engy_mock.vocabulary.request import ProviderWish


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What one kind of worker can promise, in the words of the field `provider`."""

    # Older releases of pydantic do not hand their configuration down to what stands inside.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    zdr: bool = False
    require_proof: bool = False


WORKERS = (Worker(zdr=True), Worker(require_proof=True))
"""By default each wish is met, but both together are not (E-148)."""

_NO_WISH = ProviderWish()
_WISHES = tuple([one.name for one in fields(ProviderWish)])


def check_wish(wish: ProviderWish, workers: Sequence[Worker]) -> None:
    """Raise NoWorker unless one kind of worker keeps all that is demanded (E-82)."""
    if wish == _NO_WISH:
        return
    demanded = [name for name in _WISHES if getattr(wish, name)]
    if not any(all(getattr(worker, name) for name in demanded) for worker in workers):
        names = " and ".join([f"provider.{name}" for name in demanded])
        raise NoWorker(f"no worker meets {names}", headers=(("Retry-After", "1"),))


class Fleet:
    """How many requests of all accounts are being answered."""

    __slots__ = ("_lock", "under_way")

    def __init__(self) -> None:
        self.under_way = 0
        self._lock = Lock()

    def copy(self) -> "Fleet":
        """Another fleet with as much to do."""
        other = Fleet()
        other.under_way = self.under_way
        return other

    def enter(self, capacity: int | None) -> None:
        """Take a place; raises RateLimited if all are taken."""
        with self._lock:
            if capacity is not None and self.under_way >= capacity:
                raise crowded("capacity is exhausted", max(capacity, 1))
            self.under_way += 1

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self.under_way -= 1
