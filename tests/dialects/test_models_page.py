"""`GET /v1/models`: the catalogue with prices, as clients read it."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Model

from engy_mock.books.accounts import Account
from engy_mock.dialects.model_list import per_token
from engy_mock.gateway import Gateway
from engy_mock.model.cards import CARDS, Prices
from tests.dialects.called import Answer, ask

KEY = {"authorization": "Bearer sk-engy-own"}

# Marked [seen] in "Models and pricing": USD per token for input, output and cached input.
PRICES = {
    "glm-5.2": ("0.00000068", "0.0000015", "0.00000018"),
    "glm-5.3": ("0.00000098", "0.00000308", "0.00000018"),
    "glm-5.3-flash": ("0.000000135", "0.00000045", "0.000000027"),
    "kimi-k3": ("0.00000195", "0.00000975", "0.000000195"),
    "qwen3.6-35b-a3b": ("0.000000045", "0.0000003", "0.000000015"),
    "qwen3.8-27b": ("0.000000045", "0.00000032", "0.000000015"),
    "deepseek-v4-flash-0731": ("0.000000045", "0.00000009", "0.000000009"),
    "deepseek-v4.1-flash": ("0.00000004", "0.00000008", "0.000000008"),
}
CONTEXTS = [262_144, 327_680, 262_144, 1_048_576, 208_192, 1_001_536, 1_048_576, 327_680]
SEEING = {"glm-5.3-flash", "kimi-k3", "qwen3.8-27b", "deepseek-v4.1-flash"}


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


def listed(gateway: Gateway, headers: dict[str, str] | None = None) -> Answer:
    return ask(gateway, "/v1/models", headers=headers or {})


def pricing(gateway: Gateway, headers: dict[str, str] | None = None) -> dict[str, Any]:
    return {row["id"]: row["pricing"] for row in listed(gateway, headers).json()["data"]}


def test_the_list(gateway: Gateway):
    """E-33, R-49: an object of type list with the eight models in the order of the table, as JSON."""
    document = listed(gateway).json()
    assert list(document) == ["object", "data"]
    assert document["object"] == "list"
    assert [row["id"] for row in document["data"]] == list(PRICES)
    assert all({"id", "object", "created", "owned_by"} <= row.keys() for row in document["data"])


def test_a_row(gateway: Gateway):
    """E-34, E-35: every row has these fields and no others."""
    for row, context in zip(listed(gateway).json()["data"], CONTEXTS, strict=True):
        id = row["id"]
        prompt, completion, cached = PRICES[id]
        assert row == {
            "id": id,
            "object": "model",
            "created": 1792281600,
            "owned_by": "engy",
            "input_modalities": ["image", "text"] if id in SEEING else ["text"],
            "output_modalities": ["text"],
            "context_length": context,
            "max_model_len": context,
            "pricing": {
                "prompt": prompt,
                "completion": completion,
                "request": "0",
                "image": "0",
                "input_cache_read": cached,
            },
        }
        assert Model.model_validate(row, strict=True).owned_by == "engy"


@given(st.decimals(min_value=0, max_value=10_000, places=6))
def test_prices_are_exact(price: Decimal):
    """E-36: a price per token is a plain decimal of the same value, without an exponent or trailing zeros."""
    text = per_token(price)
    assert Decimal(text) * 1_000_000 == price
    assert set(text) <= set("0123456789.")
    assert text == "0" or "." not in text or text[-1] not in "0."


@pytest.mark.parametrize(
    ("price", "text"),
    [("0", "0"), ("0.00", "0"), ("1E+6", "1"), ("1E+7", "10"), ("1.50", "0.0000015"), ("2500000", "2.5")],
)
def test_odd_prices(price: str, text: str):
    """E-36: whole numbers keep their zeros, zero has one digit."""
    assert per_token(Decimal(price)) == text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": "Basic x"},
        {"authorization": ""},
        {"x-api-key": "x"},
    ],
    ids=str,
)
def test_no_key_is_needed(gateway: Gateway, headers: dict[str, str]):
    """E-20: without a key, or with one that is none, the list prices are shown."""
    answer = listed(gateway, headers)
    assert answer.status == 200
    assert answer.data == listed(gateway, KEY).data


def test_prices_of_an_account(gateway: Gateway):
    """E-20, E-37: the key of an account with prices of its own shows them, and nothing else changes."""
    own = Prices(input=Decimal("0.5"), output=Decimal("1"), cached=Decimal("0.05"))
    gateway.accounts.by_key["sk-engy-own"] = Account(name="a1", prices={"glm-5.2": own})
    public, private = pricing(gateway), pricing(gateway, KEY)
    assert private.pop("glm-5.2") == {
        "prompt": "0.0000005",
        "completion": "0.000001",
        "request": "0",
        "image": "0",
        "input_cache_read": "0.00000005",
    }
    assert public.pop("glm-5.2")["prompt"] == "0.00000068"
    assert public == private


def test_closed_accounts(gateway: Gateway):
    """E-18, E-20: where only registered keys are valid, the others still see the list."""
    gateway.settings.closed_accounts = True
    assert listed(gateway, {"authorization": "Bearer sk-engy-unknown"}).status == 200


def test_an_unavailable_model_is_listed(gateway: Gateway):
    """E-32: what cannot be used just now is in the list all the same."""
    gateway.catalog.mark("kimi-k3", is_available=False)
    assert [row["id"] for row in listed(gateway).json()["data"]] == [card.id for card in CARDS]


def test_the_clock_does_not_show(gateway: Gateway):
    """E-34: rows were created at the documented time, whatever the time is."""
    before = listed(gateway).data
    gateway.clock.advance(86_400)  # type: ignore[attr-defined]  # it is a standing clock
    assert listed(gateway).data == before


def test_headers(gateway: Gateway):
    """E-11: the list carries its request id twice, and every request has another one."""
    first, second = listed(gateway).headers, listed(gateway).headers
    assert first["x-engy-request-id"] == first["x-request-id"] != second["x-request-id"]


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/v1/models", "POST", 405),
        ("/v1/models", "HEAD", 405),
        ("/v1/models/glm-5.2", "GET", 404),
        ("/v1/models/", "GET", 404),
    ],
)
def test_nothing_else_is_there(gateway: Gateway, path: str, method: str, status: int):
    """E-4: the list has one method, and no model has a page of its own."""
    answer = ask(gateway, path, method=method)
    assert answer.status == status
    assert answer.headers.get("allow") == ("GET" if status == 405 else None)
    assert answer.json()["error"]["code"] == status


def test_vendors_are_not_listed(gateway: Gateway):
    """E-33, S-23: the models of `/v5` are no models of `/v1`, neither listed nor callable."""
    assert not [row for row in listed(gateway).json()["data"] if "/" in row["id"]]
    for name in ("openai/gpt-4o", "gpt-4o", "x/openai/gpt-4o"):
        body = {"model": name, "messages": [{"role": "user", "content": "Hi"}]}
        assert ask(gateway, "/v1/chat/completions", body, headers=KEY).status == 404
