"""The page `GET /v5/chat/completions/models`: the chat models that can be called (S-54 to S-56)."""

from collections.abc import Mapping
from typing import Any

from engy_mock.dialects.dialect import Desk
from engy_mock.dialects.listing import Item, read_query, window
from engy_mock.model.cards import ModelCard
from engy_mock.vocabulary.wire import Call

_FIELDS = ("model_name", "model_type", "model_vendor", "model_availability")


class ChatModels:
    """Lists the chat models of all vendors, built in or made by the caller's own records."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """A part of the list, without a word of where it goes on."""
        query = read_query(call.query)
        query.pop("name", None)
        cards = {card.id: card for card in desk.catalog if _is_chat(card)}
        for card in desk.records.cards():
            if _is_chat(card):
                cards.setdefault(card.id, card)
        rows = [(card.id, _item(card)) for card in cards.values()]
        return {"object": "list", "items": window(rows, query, _FIELDS).items}


def _is_chat(card: ModelCard) -> bool:
    return card.vendor is not None and card.type == "chat_completion"


def _item(card: ModelCard) -> Item:
    """One model; its name is without the vendor (S-55)."""
    return {
        "model_name": card.id.partition("/")[2],
        "model_type": card.type,
        "model_vendor": card.vendor,
        "model_availability": "available" if card.is_available else "unavailable",
    }
