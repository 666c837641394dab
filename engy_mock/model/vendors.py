"""The models under `/v5`: who serves them, and the rows that are built in."""

import re
from collections.abc import Container
from dataclasses import replace
from decimal import Decimal
from typing import Literal, get_args

from engy_mock.model.cards import ModelCard, ModelType, Prices
from engy_mock.model.language import Voice
from engy_mock.vocabulary.errors import InvalidRequest, MockError, quoted

Vendor = Literal[
    "openai",
    "cohere",
    "vertex_ai",
    "anthropic",
    "azure",
    "gemini",
    "launch",
    "llmengine",
    "model_zoo",
    "bedrock",
    "xai",
    "fireworks_ai",
]

VENDORS: tuple[Vendor, ...] = get_args(Vendor)
"""Everybody who serves models there (S-21)."""

_ID = re.compile(r"[!-.0-~]+(?:/[!-.0-~]+)*")
_FREE = Prices(input=Decimal(0), output=Decimal(0), cached=Decimal(0))


def vendor_card(
    id: str,
    type: ModelType = "chat_completion",
    *,
    context: int = 131_072,
    max_output: int = 16_384,
    takes_images: bool = False,
) -> ModelCard:
    """A model of a vendor: free, without thinking, and with the whole context open to its prompt (S-24, S-34).

    Nothing is cut off its distribution by default, so it is surer of its words than the models of `/v1`.
    """
    return ModelCard(
        id=id,
        vendor=id.partition("/")[0],
        type=type,
        prices=_FREE,
        context=context,
        max_input=context,
        max_output=max_output,
        takes_images=takes_images,
        can_think=False,
        temperature=1.0,
        top_p=1.0,
        voice=Voice(name=id, certainty=0.9995, sentences=(2, 4), straying=0.1),
    )


VENDOR_CARDS = (
    vendor_card("openai/gpt-4o", context=128_000, max_output=16_384, takes_images=True),
    vendor_card("openai/gpt-4o-mini", context=128_000, max_output=16_384, takes_images=True),
    vendor_card("openai/gpt-3.5-turbo-instruct", "completion", context=4_096, max_output=4_096),
    vendor_card("anthropic/claude-sonnet-4", context=200_000, max_output=64_000, takes_images=True),
    vendor_card("gemini/gemini-2.5-flash", context=1_048_576, max_output=65_536, takes_images=True),
    vendor_card("llmengine/llama-3-1-8b-instruct", context=131_072, max_output=8_192),
)
"""The built-in models (S-23)."""


def like(card: ModelCard, id: str) -> ModelCard:
    """A model of this id that is otherwise like another; as `vendor/name` it is one under `/v5`.

    A model of `/v1` says there what it says at home to the same conversation with the same settings, which are by
    default its own. Like all there it is free, does not think, and opens its whole context to a prompt (S-24).
    Raises MockError for what no request could name.
    """
    told: object = id
    if not isinstance(told, str) or not _ID.fullmatch(told):
        raise MockError(f"a model is called name or vendor/name, in visible ASCII, got {id!r:.80}")
    vendor = id.partition("/")[0]
    if vendor not in VENDORS:
        return replace(card, id=id, vendor=None)
    if card.vendor is not None:
        return replace(card, id=id, vendor=vendor)
    return replace(
        card,
        id=id,
        vendor=vendor,
        prices=_FREE,
        max_input=card.context,
        can_think=False,
        speaks_as=card.speaker,
    )


def check_vendor(model: str, supported: Container[str] = VENDORS) -> None:
    """Raise InvalidRequest unless the model is `vendor/name` of a vendor that is supported here (S-22, S-67)."""
    vendor, slash, _ = model.partition("/")
    if not slash:
        raise InvalidRequest(f"model must be vendor/name, got '{quoted(model)}'", param="model")
    if vendor not in VENDORS:
        raise InvalidRequest(f"unknown vendor '{quoted(vendor)}'", param="model")
    if vendor not in supported:
        raise InvalidRequest(f"unsupported vendor '{quoted(vendor)}'", param="model")
