"""Who pays: an account with its keys, its limits, and the credit that is set aside while an answer runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, TypedDict

from engy_mock.books.limits import Limit, Minute, crowded, too_large
from engy_mock.books.tariff import Percent, Tariff, checked
from engy_mock.model.cards import ModelCard, Prices
from engy_mock.model.prices import charge_micro
from engy_mock.vocabulary.clock import Clock, StandingClock
from engy_mock.vocabulary.errors import InsufficientBalance, MockError, quoted
from engy_mock.vocabulary.generation import Usage

if TYPE_CHECKING:
    from engy_mock.books.accounts import Accounts

DEFAULT_BALANCE_MICRO = 1_000_000_000
"""What an account starts with, in micro-USD (E-201)."""


class Terms(TypedDict, total=False):
    """What can be agreed with an account; see `Account`."""

    balance_micro: int
    prices: Mapping[str, Prices]
    discount_percent: Percent | Mapping[str, Percent]
    max_concurrent: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None


@dataclass(slots=True)
class Hold:
    """Credit set aside for one answer, in micro-USD, and its place among those under way; settled once.

    `prices` are those that were in force when it was taken. `on_settled` is called when it is over.
    Without `has_place` it has taken none: what costs nothing needs none.
    """

    account: Account
    amount_micro: int
    prices: Prices | None = None
    on_settled: Callable[[], None] | None = None
    has_place: bool = False
    is_open: bool = True

    def cost(self, usage: Usage) -> int:
        """What so many tokens cost, in micro-USD."""
        return 0 if self.prices is None else charge_micro(self.prices, usage)

    def settle(self, charge_micro: int, *, completion_tokens: int = 0) -> None:
        """Replace it by the charge; one that is settled already stays so."""
        if self.account._settle(self, charge_micro, completion_tokens) and self.on_settled is not None:
            self.on_settled()


class Account:
    """A balance in micro-USD with the holds that are open on it, and what it may use; a test may change all.

    `max_concurrent`: so many requests at once. `requests_per_minute`, `tokens_per_minute`: so many in any
    sixty seconds of the mock's clock, tokens as `usage` counts them; those of an answer count from its end on.
    `prices` maps model ids to prices of its own, `discount_percent` says what others are less than listed.
    """

    __slots__ = (
        "_balance",
        "_book",
        "_charged",
        "_clock",
        "_held",
        "_keys",
        "_lock",
        "_max_concurrent",
        "_requests",
        "_requests_per_minute",
        "_tariff",
        "_tokens",
        "_tokens_per_minute",
        "_under_way",
        "name",
    )

    _max_concurrent: int | None
    _requests_per_minute: int | None
    _tokens_per_minute: int | None
    max_concurrent = Limit()
    requests_per_minute = Limit()
    tokens_per_minute = Limit()

    def __init__(
        self,
        name: str = "default",
        *,
        balance_micro: int = DEFAULT_BALANCE_MICRO,
        prices: Mapping[str, Prices] | None = None,
        discount_percent: Percent | Mapping[str, Percent] = 0,
        max_concurrent: int | None = None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        book: Accounts | None = None,
    ) -> None:
        self.name = name
        self._book = book
        self._clock: Clock = StandingClock() if book is None else book.clock
        self._lock = Lock()
        self._keys: dict[str, bool] = {}
        self._held = self._charged = self._under_way = 0
        self._balance = _amount(balance_micro, "balance_micro", least=0)
        self._tariff = Tariff()
        if prices or discount_percent:
            self._tariff = self._checked(Tariff(prices=prices or {}, discount_percent=discount_percent))
        self._requests, self._tokens = Minute(), Minute()
        self.max_concurrent = max_concurrent
        self.requests_per_minute = requests_per_minute
        self.tokens_per_minute = tokens_per_minute

    @property
    def balance_micro(self) -> int:
        """What has been paid in and not been charged."""
        return self._balance

    @balance_micro.setter
    def balance_micro(self, amount: int) -> None:
        with self._lock:
            self.check_balance(amount)
            self._balance = amount

    @property
    def held_micro(self) -> int:
        """What is set aside for answers under way."""
        return self._held

    @property
    def charged_micro(self) -> int:
        """What all answers so far have cost."""
        return self._charged

    @property
    def available_micro(self) -> int:
        """The balance less the open holds."""
        with self._lock:
            return self._balance - self._held

    @property
    def under_way(self) -> int:
        """How many of its requests are being answered."""
        return self._under_way

    @property
    def prices(self) -> Mapping[str, Prices]:
        """Its own prices by model id."""
        return self._tariff.prices

    @prices.setter
    def prices(self, prices: Mapping[str, Prices]) -> None:
        self._tariff = self._checked(Tariff(prices=prices, discount_percent=self.discount_percent))

    @property
    def discount_percent(self) -> Percent | Mapping[str, Percent]:
        """What models without such prices are less than listed."""
        return self._tariff.discount_percent

    @discount_percent.setter
    def discount_percent(self, percent: Percent | Mapping[str, Percent]) -> None:
        self._tariff = self._checked(Tariff(prices=self.prices, discount_percent=percent))

    @property
    def key(self) -> str:
        """The first of its keys that is valid; raises MockError if there is none."""
        keys = self.keys
        if not keys:
            raise MockError(f"account {self.name!r} has no valid key: add_key() makes one")
        return keys[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """Its valid keys, oldest first."""
        return tuple([key for key, is_valid in self._keys.items() if is_valid])

    def add_key(self, key: str | None = None) -> str:
        """Register another key, this one or a new one; returns it. Raises MockError if it cannot be used."""
        if self._book is None:
            raise MockError(f"account {self.name!r} belongs to no mock: engy.account() opens one that does")
        key = self._book.registered(self, key, number=len(self._keys))
        self._keys[key] = True
        return key

    def revoke(self, key: str) -> None:
        """Make one of its keys invalid from now on; answers under way go on. Raises MockError for no such key."""
        if key not in self._keys:
            raise MockError(f"account {self.name!r} has no key {quoted(key)!r}: its keys are in account.keys")
        self._keys[key] = False

    def close(self) -> None:
        """Make all of its keys invalid. Raises MockError for the account that needs none."""
        if self._book is not None and self is self._book.default:
            raise MockError(
                "the default account cannot be closed, unregistered keys open it: "
                "settings.closed_accounts = True keeps them out"
            )
        for key in self._keys:
            self._keys[key] = False

    def is_opened_by(self, key: str) -> bool:
        """Whether this registered key has not been revoked."""
        return self._keys.get(key, True)

    def deposit(self, amount_micro: int) -> None:
        """Pay in so many micro-USD."""
        _amount(amount_micro, "a deposit", least=1)
        with self._lock:
            self._balance += amount_micro

    def prices_of(self, card: ModelCard) -> Prices:
        """What this account pays for a model."""
        return self._tariff.of(card)

    def hold(
        self,
        amount_micro: int,
        *,
        prices: Prices | None = None,
        prompt_tokens: int = 0,
        on_settled: Callable[[], None] | None = None,
    ) -> Hold:
        """Take a place and set credit aside; raises RateLimited, or InsufficientBalance (equal is enough)."""
        with self._lock:
            now = self._checked_limits(prompt_tokens)
            available = self._balance - self._held
            if amount_micro > max(available, 0):
                raise InsufficientBalance(f"request needs {amount_micro} micro-USD, {available} available")
            self._held += amount_micro
            self._under_way += 1
            if self._requests_per_minute is not None:
                self._requests.add(1, now)
            if self._tokens_per_minute is not None:
                self._tokens.add(prompt_tokens, now)
        return Hold(self, amount_micro, prices, on_settled, has_place=True)

    def become(self, other: Account, *, keeps_balance: bool) -> None:
        """Have the terms and keys of an account in other books; what was charged and is held stays."""
        with self._lock:
            self._tariff, self._keys = other._tariff, dict(other._keys)
            self._max_concurrent = other._max_concurrent
            self._requests_per_minute = other._requests_per_minute
            self._tokens_per_minute = other._tokens_per_minute
            if not keeps_balance:
                self._balance = other._balance

    def move(self, book: Accounts) -> None:
        """Stand in these books from now on."""
        self._book = book

    def check_balance(self, amount: int) -> None:
        """Raise MockError for a balance that is no amount, or is less than what is held."""
        if _amount(amount, "balance_micro", least=0) < self._held:
            raise MockError(
                f"balance_micro cannot be {amount} while {self._held} are held for answers under way: "
                f"wait for their end, or leave at least as much"
            )

    def copy(self, book: Accounts) -> Account:
        """The same account in other books, with the same holds open."""
        other = copy(self)
        with self._lock:
            other._book, other._lock, other._keys = book, Lock(), dict(self._keys)
            other._requests, other._tokens = self._requests.copy(), self._tokens.copy()
        return other

    def __repr__(self) -> str:
        return f"<Account {self.name!r}: {self._balance} micro-USD, {self._held} held, {self._charged} charged>"

    def _settle(self, hold: Hold, charge_micro: int, completion_tokens: int) -> bool:
        """Put a charge in the place of a hold; false if that is done already."""
        with self._lock:
            if not hold.is_open:
                return False
            hold.is_open = False
            self._held -= hold.amount_micro
            self._balance -= charge_micro
            self._charged += charge_micro
            if hold.has_place:
                self._under_way -= 1
            if self._tokens_per_minute is not None:
                self._tokens.add(completion_tokens, self._clock.now())
        return True

    def _checked_limits(self, prompt_tokens: int) -> float:
        """The time; raises RateLimited for the first limit that leaves no room."""
        limit = self._max_concurrent
        if limit is not None and self._under_way >= limit:
            raise crowded(f"concurrency limit of {limit} reached", limit)
        now = self._clock.now()
        limit = self._requests_per_minute
        if limit is not None and (seconds := self._requests.wait(1, limit, now)):
            raise crowded(f"limit of {limit} requests per minute reached", limit, seconds=seconds)
        limit = self._tokens_per_minute
        if limit is not None and prompt_tokens > limit:
            raise too_large(prompt_tokens, limit)
        if limit is not None and (seconds := self._tokens.wait(prompt_tokens, limit, now)):
            raise crowded(
                f"limit of {limit} tokens per minute reached: {self._tokens.used} used, "
                f"the prompt has {prompt_tokens}",
                limit,
                unit="tokens",
                seconds=seconds,
            )
        return now

    def _checked(self, tariff: Tariff) -> Tariff:
        return checked(tariff, None if self._book is None else self._book.models())


def _amount(value: int, what: str, *, least: int) -> int:
    """The amount; raises MockError if it is none."""
    if type(value) is not int or value < least:
        raise MockError(f"{what} is a whole number of micro-USD from {least} on, got {value!r:.80}")
    return value
