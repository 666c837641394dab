"""Who pays: accounts, the keys that open them, and the credit that is set aside while an answer runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from engy_mock.model.cards import ModelCard, Prices
from engy_mock.vocabulary.errors import InsufficientBalance, InvalidKey

DEFAULT_BALANCE_MICRO = 1_000_000_000
"""What the default account starts with, in micro-USD (E-201)."""


@dataclass(slots=True)
class Hold:
    """Credit set aside for one answer, in micro-USD; settled once."""

    account: "Account"
    amount_micro: int
    is_open: bool = True

    def settle(self, charge_micro: int) -> None:
        """Replace it by the charge; one that is settled already stays so."""
        account = self.account
        with account.lock:
            if not self.is_open:
                return
            self.is_open = False
            account.held_micro -= self.amount_micro
            account.balance_micro -= charge_micro
            account.charged_micro += charge_micro


@dataclass(slots=True)
class Account:
    """A balance in micro-USD with the holds that are open on it.

    `prices` maps a model id to prices of its own.
    """

    name: str = "default"
    balance_micro: int = DEFAULT_BALANCE_MICRO
    prices: Mapping[str, Prices] = field(default_factory=dict)
    held_micro: int = 0
    charged_micro: int = 0
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def available_micro(self) -> int:
        """The balance less the open holds."""
        return self.balance_micro - self.held_micro

    def prices_of(self, card: ModelCard) -> Prices:
        """What this account pays for a model (E-37)."""
        return self.prices.get(card.id, card.prices)

    def hold(self, amount_micro: int) -> Hold:
        """Set credit aside; raises InsufficientBalance if less is available (equal is enough)."""
        with self.lock:
            available = self.available_micro
            if available < amount_micro:
                raise InsufficientBalance(f"request needs {amount_micro} micro-USD, {available} available")
            self.held_micro += amount_micro
        return Hold(self, amount_micro)


@dataclass(slots=True)
class Accounts:
    """All accounts of one mock by key; keys that nobody registered open the default account (E-18)."""

    default: Account = field(default_factory=Account)
    by_key: dict[str, Account] = field(default_factory=dict)

    def opened_by(self, key: str, *, key_prefix: str, is_closed: bool) -> Account:
        """The account of a key; raises InvalidKey."""
        account = self.by_key.get(key)
        if account is not None:
            return account
        if is_closed or not key.startswith(key_prefix) or len(key) <= len(key_prefix):
            raise InvalidKey("invalid api key")
        return self.default
