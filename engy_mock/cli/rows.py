"""Accounts and models that a file names, in the words of the control API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from engy_mock.cli import config
from engy_mock.model.cards import ModelCard, Prices
from engy_mock.model.vendors import like
from engy_mock.serving.control.accounts import AccountToOpen, PricesForm, terms
from engy_mock.serving.control.form import Form
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

if TYPE_CHECKING:
    from engy_mock.books.accounts import Accounts
    from engy_mock.model.catalog import Catalog

Window = Annotated[int, Field(ge=1, le=100_000_000)]
Rows = Mapping[str, AccountToOpen]
F = TypeVar("F", bound=Form)


class AccountsFile(Form):
    """Accounts by name; `default` is the one that keys open which nobody registered."""

    accounts: dict[Annotated[str, Field(min_length=1, max_length=100)], AccountToOpen]


class ModelToAdd(Form):
    """A model that is there, or a new one that is `like` one; what is not said is as it was.

    One whose id is `vendor/name` is served under `/v5`.
    """

    like: str | None = None
    context: Window | None = None
    max_input: Window | None = None
    max_output: Window | None = None
    prices: PricesForm | None = None
    takes_images: bool | None = None
    is_available: bool | None = None
    vendor: str | None = None


class ModelsFile(Form):
    """Models by id."""

    models: dict[Annotated[str, Field(min_length=1, max_length=200)], ModelToAdd]


def read_accounts(path: Path) -> Rows:
    """What a file says of accounts; raises MockError."""
    return _read(path, AccountsFile).accounts


def open_accounts(path: Path, accounts: Accounts, rows: Rows, before: Rows | None = None) -> None:
    """Open the accounts of a file in books in which there are those that it had `before`; raises MockError.

    Then all is as if it had always been so, but for balances and charges of accounts that stay: a balance is
    another one where the file has another one than before. Who has the same row as before is left alone.
    """
    before = before or {}
    fresh = accounts.blank()
    for name, form in rows.items():
        try:
            _open(name, form, fresh)
        except MockError as error:
            raise MockError(f"{path}, accounts.{name}: {error}") from None
    changed = [name for name, form in rows.items() if form != before.get(name)]
    paid = [
        name
        for name in changed
        if (amount := rows[name].balance_micro) is not None
        and (name not in before or amount != before[name].balance_micro)
    ]
    gone = [name for name in before if name not in rows]
    try:
        accounts.exchange(fresh, changed=changed, paid=paid, gone=gone)
    except MockError as error:
        raise MockError(f"{path}: {error}") from None


def _open(name: str, form: AccountToOpen, accounts: Accounts) -> None:
    if form.name not in (None, name):
        raise MockError(f"the name is {name!r} already")
    if name != accounts.default.name:
        accounts.open(name, key=form.key, **terms(form))
        return
    for term, value in terms(form).items():
        setattr(accounts.default, term, value)
    if form.key is not None:
        accounts.default.add_key(form.key)


def add_models(path: Path, catalog: Catalog) -> None:
    """Add the models of a file, or change those that are there; raises MockError."""
    for id, form in _read(path, ModelsFile).models.items():
        cards = {card.id: card for card in catalog}
        source = form.like or id
        if source not in cards:
            hint = did_you_mean(source, tuple(cards))
            say = "" if form.like else " A new model needs `like`, the id of one that is there."
            raise MockError(f"{path}, models.{id}: unknown model {quoted(source)!r}.{hint}{say}")
        catalog.add(_changed(cards[source], id, form))


def _changed(card: ModelCard, id: str, form: ModelToAdd) -> ModelCard:
    said: dict[str, Any] = form.model_dump(exclude_none=True, exclude={"like", "prices"})
    if form.prices is not None:
        own = form.prices
        said["prices"] = Prices(input=Decimal(own.input), output=Decimal(own.output), cached=Decimal(own.cached))
    assert said.keys() <= {one.name for one in fields(ModelCard)}
    return replace(card if card.id == id else like(card, id), **said)


def _read(path: Path, form: type[F]) -> F:
    sheet = config.read(path)
    try:
        return form.model_validate(sheet.value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)[0]
        place = tuple(found["loc"])
        message = found["msg"][:1].lower() + found["msg"][1:]
        hint = ""
        if found["type"] == "extra_forbidden":
            known = tuple(
                dict.fromkeys([*form.model_fields, *AccountToOpen.model_fields, *ModelToAdd.model_fields])
            )
            hint = did_you_mean(str(place[-1]), known)
        raise MockError(f"{sheet.at(place)}: {message}.{hint}") from None
