"""The page `GET /v1/models`: the models of the service and what the caller pays ("Models and pricing")."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engy_mock.dialects.dialect import Desk
from engy_mock.model.cards import ModelCard, Prices
from engy_mock.vocabulary.clock import START
from engy_mock.vocabulary.wire import Call

_MILLION = 6


class ModelList:
    """Lists every model in the order of the catalogue, those that are not available too (E-32, E-33)."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The whole list at once."""
        cards = [card for card in desk.catalog if card.vendor is None and card.is_listed]
        return {"object": "list", "data": [_row(card, desk.prices_of(card)) for card in cards]}


def _row(card: ModelCard, prices: Prices) -> dict[str, Any]:
    """One model (E-34)."""
    context = card.context if card.listed_context is None else card.listed_context
    return {
        "id": card.id,
        "object": "model",
        "created": START,
        "owned_by": "engy",
        "input_modalities": ["image", "text"] if card.takes_images else ["text"],
        "output_modalities": ["text"],
        "context_length": context,
        "max_model_len": context,
        "pricing": {
            "prompt": per_token(prices.input),
            "completion": per_token(prices.output),
            "request": "0",
            "image": "0",
            "input_cache_read": per_token(prices.cached),
        },
    }


def per_token(per_million: Decimal) -> str:
    """A price in USD per token, exactly, without an exponent or trailing zeros (E-36)."""
    text = format(per_million.scaleb(-_MILLION), "f")
    return text.rstrip("0").rstrip(".") or "0" if "." in text else text
