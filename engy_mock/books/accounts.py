"""All accounts of one mock, by name and by key."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from threading import Lock
from typing import Unpack

from engy_mock.books.account import DEFAULT_BALANCE_MICRO, Account, Hold, Terms
from engy_mock.books.keys import checked_key, made_key
from engy_mock.vocabulary.clock import Clock, StandingClock
from engy_mock.vocabulary.errors import InvalidKey, MockError, did_you_mean

MAX_NAME = 100

TERMS = tuple(Terms.__annotations__)
"""The words for what can be agreed with an account."""


class Accounts:
    """All accounts of one mock; keys that nobody registered open the default one.

    `models` tells the ids of the models that have a price.
    """

    def __init__(
        self,
        seed: int = 0,
        clock: Clock | None = None,
        models: Callable[[], Sequence[str] | None] = lambda: None,
    ) -> None:
        self.clock: Clock = clock or StandingClock()
        self.models = models
        self.by_key: dict[str, Account] = {}
        self.default = Account(book=self)
        self._seed = seed
        self._by_name = {self.default.name: self.default}
        self._lock = Lock()

    def open(self, name: str | None = None, *, key: str | None = None, **terms: Unpack[Terms]) -> Account:
        """A new account with a key; raises MockError for a name or a key that is taken or cannot be."""
        for word in terms:
            if word not in TERMS:
                hint = did_you_mean(word, ("name", "key", *TERMS)) or f" There are {', '.join(TERMS)}."
                raise MockError(f"an account has no {word!r:.80}.{hint}")
        with self._lock:
            if name is None:
                name = next(_not_in(self._by_name))
            _check_name(name)
            if name in self._by_name:
                raise MockError(f"there is an account {name!r} already: engy.accounts[{name!r}] is it")
            account = Account(name, book=self, **terms)
            account.add_key(key)
            self._by_name[name] = account
            return account

    def blank(self) -> "Accounts":
        """Other books like these before anybody had an account of his own."""
        return Accounts(self._seed, self.clock, self.models)

    def exchange(
        self, fresh: "Accounts", *, changed: Collection[str], paid: Collection[str], gone: Collection[str]
    ) -> None:
        """Let the changed accounts be as in fresh books, and those that are gone be no more.

        Who is here already keeps balance and charges; whose balance is `paid` gets the new one. Raises MockError
        for a key that another one has, and for a balance that cannot be; then all is as before.
        """
        with self._lock:
            mine, blank = self._by_name, self.blank()
            by_key = {key: one for key, one in self.by_key.items() if one.name not in {*changed, *gone}}
            for name in changed:
                for key in fresh[name].keys:
                    if key in by_key:
                        raise MockError(
                            f"account {name!r} cannot have the key of account {by_key[key].name!r:.80}"
                        )
                    by_key[key] = mine.get(name, fresh[name])
            for name in paid:
                if name in mine:
                    mine[name].check_balance(fresh[name].balance_micro)
            for name in changed:
                if name in mine:
                    mine[name].become(fresh[name], keeps_balance=name not in paid)
                else:
                    fresh[name].move(self)
                    mine[name] = fresh[name]
            for name in gone:
                if name == self.default.name:
                    self.default.become(blank.default, keeps_balance=True)
                else:
                    mine.pop(name, None)
            self.by_key = by_key

    def copy(self) -> "Accounts":
        """Other books with the same accounts: what happens there leaves these alone."""
        other = self.blank()
        with self._lock:
            copies = {account.name: account.copy(other) for account in self._by_name.values()}
            other.by_key = {key: copies[account.name] for key, account in self.by_key.items()}
        other._by_name, other.default = copies, copies[self.default.name]
        return other

    def __iter__(self) -> Iterator[Account]:
        return iter(tuple(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)

    def __getitem__(self, name: str) -> Account:
        """The account of this name; raises MockError."""
        account = self._by_name.get(name)
        if account is None:
            raise MockError(f"there is no account {name!r:.80}.{did_you_mean(str(name), tuple(self._by_name))}")
        return account

    def registered(self, account: Account, key: str | None, *, number: int) -> str:
        """The key, or the account's next one from the seed, once it opens the account."""
        key = made_key("account key", self._seed, account.name, number) if key is None else checked_key(key)
        if self.by_key.setdefault(key, account) is not account or not account.is_opened_by(key):
            owner = self.by_key[key].name
            raise MockError(f"this key belongs to account {owner!r:.80}, or did once: each key is given once only")
        return key

    def opened_by(self, key: str, *, key_prefix: str, is_closed: bool) -> Account:
        """The account of a key; raises InvalidKey."""
        account = self.by_key.get(key)
        if account is not None:
            if not account.is_opened_by(key):
                raise InvalidKey("invalid api key")
            return account
        if is_closed or not key.startswith(key_prefix) or len(key) <= len(key_prefix):
            raise InvalidKey("invalid api key")
        return self.default


def _not_in(taken: Mapping[str, Account]) -> Iterator[str]:
    """Names that no account has."""
    return (name for number in range(1, len(taken) + 2) if (name := f"account-{number}") not in taken)


def _check_name(name: object) -> None:
    """Raise MockError for a name that could not stand in a header."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not (name.isascii() and name.isprintable()):
        raise MockError(
            f"an account's name is a text of 1 to {MAX_NAME} printable ASCII characters, got {name!r:.80}"
        )
    if name != name.strip():
        raise MockError(f"an account's name has no blanks around it, got {name!r}: write {name.strip()!r}")


__all__ = ["DEFAULT_BALANCE_MICRO", "Account", "Accounts", "Hold", "Terms"]
