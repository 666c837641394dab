"""What an account pays for each model: the list prices, less a discount, or prices of its own (E-37)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal

from engy_mock.model.cards import ModelCard, Prices
from engy_mock.vocabulary.errors import MockError, did_you_mean

Percent = int | float | Decimal
_WHOLE = Decimal(100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """Prices by model id, and what others are less than listed, in percent: one for all, or by model id."""

    prices: Mapping[str, Prices] = field(default_factory=dict)
    discount_percent: Percent | Mapping[str, Percent] = 0

    def of(self, card: ModelCard) -> Prices:
        """What a model costs."""
        own = self.prices.get(card.id)
        if own is not None:
            return own
        discount = self.discount_percent
        if isinstance(discount, Mapping):
            discount = discount.get(card.id, 0)
        if not discount:
            return card.prices
        share = (_WHOLE - _decimal(discount)) / _WHOLE
        listed = card.prices
        return Prices(input=listed.input * share, output=listed.output * share, cached=listed.cached * share)


def checked(tariff: Tariff, models: Sequence[str] | None) -> Tariff:
    """The same; raises MockError for a model that has no price, and for prices that cannot be.

    `models` are the ids that there are; without them any will do.
    """
    discount = tariff.discount_percent
    prices = _as_map(tariff.prices)
    for model, own in prices.items():
        _check_model(model, models, "prices")
        _check_prices(model, own)
    for discounted in discount if isinstance(discount, Mapping) else ():
        _check_model(discounted, models, "discount_percent")
    for percent in discount.values() if isinstance(discount, Mapping) else (discount,):
        _check_percent(percent)
    return Tariff(prices=prices, discount_percent=dict(discount) if isinstance(discount, Mapping) else discount)


def _as_map(prices: object) -> dict[str, Prices]:
    if not isinstance(prices, Mapping):
        raise MockError(
            f"prices= maps model ids to Prices, got {prices!r:.80}: a number for all models is discount_percent="
        )
    return dict(prices)


def _check_model(model: object, models: Sequence[str] | None, word: str) -> None:
    if models is not None and model not in models:
        near = did_you_mean(str(model), models) or f" Models with prices are {', '.join(models)}."
        raise MockError(f"unknown model {model!r:.80} in {word}=.{near}")


def _check_percent(percent: object) -> None:
    if isinstance(percent, bool) or not isinstance(percent, Percent) or not 0 <= percent <= 100:
        raise MockError(
            f"discount_percent= takes 0 to 100, or a map from model ids to such numbers; got {percent!r:.80}"
        )


def _check_prices(model: str, prices: object) -> None:
    if not isinstance(prices, Prices):
        raise MockError(
            f"the prices of {model} are {prices!r:.80}: write Prices(input=..., output=..., cached=...), "
            f"in USD per million tokens"
        )
    for one in fields(prices):
        value = getattr(prices, one.name)
        if not isinstance(value, Decimal) or not value.is_finite() or value < 0:
            raise MockError(
                f"the {one.name} price of {model} is {value!r:.80}: write a Decimal from 0 on, "
                f"such as Decimal('0.68')"
            )
    if prices.cached > prices.input:
        raise MockError(
            f"the cached price of {model} is {prices.cached}, above its input price of {prices.input}: "
            f"an answer could cost more than is held for it"
        )


def _decimal(number: Percent) -> Decimal:
    """The number as it is written, not as a fraction of two."""
    return Decimal(str(number))
