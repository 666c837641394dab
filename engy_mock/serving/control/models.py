"""The models of the mock, and which of them are available."""

from engy_mock.model.cards import ModelCard
from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order, Refused


class PriceForm(Form):
    """USD per million tokens, as decimal texts."""

    input: str
    output: str
    cached: str


class ModelForm(Form):
    """One model; `vendor` says who serves it under /v5, null that it is served under /v1."""

    id: str
    vendor: str | None
    type: str
    context: int
    max_input: int
    max_output: int
    prices: PriceForm
    takes_images: bool
    can_think: bool
    levels: list[str]
    is_available: bool


class ModelListing(Form):
    """All models."""

    models: list[ModelForm]


class ModelChange(Form):
    """Whether it is available."""

    is_available: bool


def listed(house: House, order: Order) -> ModelListing:
    """All of them, in the order of the catalogue."""
    return ModelListing(models=[_form(card) for card in house.gateway.catalog])


def change(house: House, order: Order) -> ModelForm:
    """Make one available or not."""
    catalog = house.gateway.catalog
    if order.name not in [card.id for card in catalog]:
        raise Refused(404, f"there is no model {order.name!r:.80}")
    catalog.mark(order.name, is_available=order.body.is_available)
    return _form(next(card for card in catalog if card.id == order.name))


def _form(card: ModelCard) -> ModelForm:
    prices = card.prices
    return ModelForm(
        id=card.id,
        vendor=card.vendor,
        type=card.type,
        context=card.context,
        max_input=card.max_input,
        max_output=card.max_output,
        prices=PriceForm(input=str(prices.input), output=str(prices.output), cached=str(prices.cached)),
        takes_images=card.takes_images,
        can_think=card.can_think,
        levels=list(card.levels),
        is_available=card.is_available,
    )
