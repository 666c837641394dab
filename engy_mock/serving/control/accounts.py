"""The accounts of the mock: how they stand, opened and changed."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from engy_mock.books.account import Account
from engy_mock.model.cards import Prices
from engy_mock.serving.control.form import MAX_WHOLE, WHOLE, Count, Form, Name
from engy_mock.serving.control.house import House, Order, Refused
from engy_mock.vocabulary.errors import MockError

Percent = Annotated[float, Field(ge=0, le=100)]
Limit = Annotated[int, Field(ge=1, le=MAX_WHOLE), WHOLE]
Price = Annotated[Decimal, Field(ge=0, le=1_000_000, max_digits=20, decimal_places=12)]
Key = Annotated[str, Field(min_length=1, max_length=300)]


class PricesForm(Form):
    """USD per million tokens."""

    input: Price
    output: Price
    cached: Price


class Agreement(Form):
    """What can be agreed with an account."""

    balance_micro: Count | None = None
    max_concurrent: Limit | None = None
    requests_per_minute: Limit | None = None
    tokens_per_minute: Limit | None = None
    discount_percent: Percent | dict[str, Percent] | None = None
    prices: dict[str, PricesForm] | None = None


class AccountToOpen(Agreement):
    """A new account; name and key are made up where they are left out."""

    name: Name | None = None
    key: Key | None = None


class AccountChange(Agreement):
    """What is to be otherwise; null takes a limit away. `deposit_micro` is paid in on top."""

    deposit_micro: Annotated[int, Field(ge=1, le=MAX_WHOLE), WHOLE] | None = None
    add_key: bool = False
    revoke_key: Key | None = None
    is_closed: bool = False


class AccountForm(Form):
    """How an account stands; amounts are micro-USD."""

    name: str
    balance_micro: int
    held_micro: int
    available_micro: int
    charged_micro: int
    under_way: int
    max_concurrent: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    discount_percent: float | dict[str, float]
    prices: dict[str, dict[str, str]]


class AccountDetail(AccountForm):
    """The same with its valid keys."""

    keys: list[str]


class AccountList(Form):
    """All accounts."""

    accounts: list[AccountForm]


def listed(house: House, order: Order) -> AccountList:
    """All of them."""
    return AccountList(accounts=[AccountForm(**_standing(account)) for account in house.gateway.accounts])


def show(house: House, order: Order) -> AccountDetail:
    """One of them."""
    account = _named(house, order.name)
    return AccountDetail(**_standing(account), keys=list(account.keys))


def open_one(house: House, order: Order) -> AccountDetail:
    """Open one."""
    wish = order.body
    account = house.gateway.accounts.open(wish.name, key=wish.key, **terms(wish))
    return AccountDetail(**_standing(account), keys=list(account.keys))


def change(house: House, order: Order) -> AccountDetail:
    """Change one."""
    account, wish = _named(house, order.name), order.body
    if wish.balance_micro is not None and wish.deposit_micro is not None:
        raise Refused(400, "say either balance_micro or deposit_micro", param="deposit_micro")
    said = terms(wish)
    before = {name: getattr(account, name) for name in said}
    try:
        for name, value in said.items():
            setattr(account, name, value)
        if wish.revoke_key is not None:
            account.revoke(wish.revoke_key)
        if wish.is_closed:
            account.close()
    except MockError:
        for name, value in before.items():
            setattr(account, name, value)
        raise
    if wish.deposit_micro is not None:
        account.deposit(wish.deposit_micro)
    if wish.add_key:
        account.add_key()
    return AccountDetail(**_standing(account), keys=list(account.keys))


def _named(house: House, name: str) -> Account:
    for account in house.gateway.accounts:
        if account.name == name:
            return account
    raise Refused(404, f"there is no account {name!r:.80}")


def terms(wish: Agreement) -> dict[str, Any]:
    """What is said of the agreement; a limit may be said to be none."""
    said = {name: getattr(wish, name) for name in Agreement.model_fields if name in wish.model_fields_set}
    for name in ("balance_micro", "discount_percent", "prices"):
        if name in said and said[name] is None:
            del said[name]
    if "prices" in said:
        said["prices"] = {
            model: Prices(input=own.input, output=own.output, cached=own.cached)
            for model, own in said["prices"].items()
        }
    if "discount_percent" in said:
        said["discount_percent"] = _exact(said["discount_percent"])
    return said


def _exact(percent: Any) -> Any:
    """Percents as decimals, so that charges come out as written."""
    if isinstance(percent, Mapping):
        return {model: Decimal(str(one)) for model, one in percent.items()}
    return Decimal(str(percent))


def _standing(account: Account) -> dict[str, Any]:
    percent = account.discount_percent
    return {
        "name": account.name,
        "balance_micro": account.balance_micro,
        "held_micro": account.held_micro,
        "available_micro": account.available_micro,
        "charged_micro": account.charged_micro,
        "under_way": account.under_way,
        "max_concurrent": account.max_concurrent,
        "requests_per_minute": account.requests_per_minute,
        "tokens_per_minute": account.tokens_per_minute,
        "discount_percent": (
            {model: float(one) for model, one in percent.items()}
            if isinstance(percent, Mapping)
            else float(percent)
        ),
        "prices": {
            model: {"input": str(own.input), "output": str(own.output), "cached": str(own.cached)}
            for model, own in account.prices.items()
        },
    }
