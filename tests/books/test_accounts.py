"""Accounts: what a test agrees with them, which keys open them, and what they pay."""

import json
from decimal import Decimal
from typing import Any

import pytest

from engy_mock import Account, EngyMock, MockError, Prices, Usage
from engy_mock.gateway import Gateway
from engy_mock.scripting.rules import Rule
from engy_mock.vocabulary.generation import Reply
from tests.books.routes import CHAT, COMPLETIONS, MESSAGES, V1, V5, bearer, body, message
from tests.dialects.called import Answer, ask


@pytest.fixture
def engy() -> EngyMock:
    """A mock that nobody connects to: the calls of this file need no socket."""
    return EngyMock()


def asked(engy: EngyMock, key: str, path: str = CHAT, **fields: Any) -> Answer:
    return ask(engy.gateway, path, body(path, **fields), headers=bearer(key))


def charge(answer: Answer) -> int:
    charged: int = answer.json()["x_engy"]["charged_micro"]
    return charged


@pytest.mark.parametrize("path", [*V1, *V5])
def test_an_account_pays_for_what_its_key_asks(engy, path):
    """E-15 to E-18: the registered account pays, the default one for every other key; /v5 costs nothing."""
    account = engy.account()
    asked(engy, account.key, path)
    paid = engy.journal.last.charged_micro
    assert (paid == 0) == path.startswith("/v5")
    assert (account.charged_micro, account.balance_micro) == (paid, 1_000_000_000 - paid)
    assert engy.accounts.default.charged_micro == 0
    asked(engy, "sk-engy-stranger", path)
    assert (account.charged_micro, engy.accounts.default.charged_micro) == (paid, paid)


def test_the_default_account(engy):
    """E-201: what it starts with."""
    default = engy.accounts.default
    assert (default.name, default.balance_micro, default.keys) == ("default", 1_000_000_000, ())
    assert engy.accounts["default"] is default
    assert engy.account().balance_micro == 1_000_000_000


def test_made_keys(engy):
    """E-19: 43 URL-safe characters behind the prefix, from the seed: other accounts and seeds have others."""
    first = engy.account("a")
    keys = [first.key, first.add_key(), engy.account("b").key, EngyMock(seed=1).account("a").key, engy.api_key]
    for key in keys:
        prefix, made = key[:8], key[8:]
        assert (prefix, len(made)) == ("sk-engy-", 43)
        assert made.replace("-", "").replace("_", "").isalnum()
    assert len({*keys}) == 5
    assert EngyMock().account("a").key == first.key


def test_several_keys(engy):
    """E-18: each opens the account; one that was revoked is 401 everywhere, the others go on."""
    account = engy.account("mine", key="sk-engy-first")
    second = account.add_key("sk-engy-second")
    third = account.add_key()
    assert account.keys == ("sk-engy-first", second, third)
    account.revoke("sk-engy-first")
    assert (account.key, account.keys) == (second, (second, third))
    for path in (*V1, *V5):
        assert [asked(engy, key, path).status for key in ("sk-engy-first", second, third)] == [401, 200, 200]
    assert message(asked(engy, "sk-engy-first")) == "invalid api key"
    assert ask(engy.gateway, "/v1/models", headers=bearer("sk-engy-first")).status == 200
    account.close()
    assert account.keys == ()
    assert asked(engy, second).status == 401
    with pytest.raises(MockError, match=r"account 'mine' has no valid key: add_key\(\) makes one"):
        _ = account.key


def test_closed_accounts(engy):
    """E-18: with this setting registered keys alone are valid, also those that open the default account."""
    engy.settings.closed_accounts = True
    account = engy.account()
    assert asked(engy, engy.api_key).status == 401
    assert asked(engy, account.key).status == 200
    engy.accounts.default.add_key(engy.api_key)
    assert asked(engy, engy.api_key).status == 200
    assert engy.accounts.default.charged_micro > 0


def test_an_answer_under_way_survives_its_key(engy):
    """E-200: what was admitted is told and paid, whatever becomes of the key."""
    account = engy.account()
    steps = _stream(engy, account)
    next(steps)
    account.close()
    assert len(list(steps)) > 1
    assert account.charged_micro > 0
    assert account.held_micro == 0


def _stream(engy: EngyMock, account: Account) -> Any:
    from engy_mock.vocabulary.wire import Call

    data = json.dumps(body(CHAT, stream=True, max_tokens=50)).encode()
    return engy.gateway.answer(Call(method="POST", path=CHAT, headers=bearer(account.key), body=data))


def test_prices_of_an_account(engy):
    """E-37, E-116, E-197: own prices act on hold and charge; other models and accounts pay the list price."""
    own = Prices(input=Decimal(10), output=Decimal(100), cached=Decimal(1))
    account = engy.account(prices={"glm-5.2": own}, balance_micro=489)
    refused = asked(engy, account.key)
    assert (refused.status, message(refused)) == (402, "request needs 490 micro-USD, 489 available")
    account.deposit(1)
    usage = asked(engy, account.key)
    assert usage.json()["usage"]["prompt_tokens"] * 10 + 4 * 100 == charge(usage) == 490
    account.deposit(10)
    other = asked(engy, account.key, model="deepseek-v4.1-flash")
    assert charge(other) == charge(asked(engy, engy.api_key, model="deepseek-v4.1-flash")) < 10


@pytest.mark.parametrize(
    ("discount", "prompt", "kimi"),
    [
        (26, "0.0000005032", "0.000001443"),
        (Decimal("33.3"), "0.00000045356", "0.00000130065"),
        (12.5, "0.000000595", "0.00000170625"),
        ({"glm-5.2": 50}, "0.00000034", "0.00000195"),
        ({}, "0.00000068", "0.00000195"),
        (100, "0", "0"),
    ],
)
def test_discounts(engy, discount, prompt, kimi):
    """E-20, E-37: a share of the list price, exact, in the list and in the charge."""
    account = engy.account(discount_percent=discount)
    rows = ask(engy.gateway, "/v1/models", headers=bearer(account.key)).json()["data"]
    shown = {row["id"]: row["pricing"]["prompt"] for row in rows}
    assert (shown["glm-5.2"], shown["kimi-k3"]) == (prompt, kimi)
    answer = asked(engy, account.key)
    usage = answer.json()["usage"]
    share = Decimal(prompt) / Decimal("0.00000068")
    exact = share * (usage["prompt_tokens"] * Decimal("0.68") + usage["completion_tokens"] * Decimal("1.5"))
    assert charge(answer) == int(exact + Decimal("0.5"))


def test_own_prices_win_over_a_discount(engy):
    """E-37: a model with a price of its own gets no discount on it; both can be changed."""
    free = Prices(input=Decimal(0), output=Decimal(0), cached=Decimal(0))
    account = engy.account(prices={"glm-5.2": free}, discount_percent=10)
    assert charge(asked(engy, account.key)) == 0
    account.prices = {}
    discounted = charge(asked(engy, account.key))
    account.discount_percent = 0
    assert 0 < discounted < charge(asked(engy, account.key))


def test_prices_are_those_of_the_beginning(engy):
    """E-197, E-199: a price that changes while an answer is under way does not change what it costs."""
    account = engy.account()
    steps = _stream(engy, account)
    next(steps)
    account.discount_percent = 100
    list(steps)
    assert account.charged_micro == engy.journal.last.charged_micro > 0


def test_money(engy):
    """E-197 to E-199: the documented hold; equal is enough, one less is not; the charge replaces the hold."""
    fields: dict[str, Any] = {
        "max_tokens": 1024,
        "messages": [
            {"role": "system", "content": "You are a concise assistant."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
    }
    account = engy.account(balance_micro=1550)
    refused = asked(engy, account.key, **fields)
    assert (refused.status, message(refused)) == (402, "request needs 1551 micro-USD, 1550 available")
    assert (account.balance_micro, account.held_micro, account.charged_micro) == (1550, 0, 0)
    account.deposit(1)
    assert charge(asked(engy, account.key, **fields)) == 43
    assert (account.balance_micro, account.held_micro, account.charged_micro) == (1508, 0, 43)
    assert account.available_micro == 1508
    account.balance_micro = 0
    assert asked(engy, account.key, **fields).status == 402


def test_a_batch_holds_the_sum(engy):
    """E-197: 2 prompts of 5 tokens and 2 answers of 3 hold 15.8, so 16."""
    account = engy.account(balance_micro=15)
    fields = {"prompt": ["The capital of France is"] * 2, "max_tokens": 3}
    assert message(asked(engy, account.key, COMPLETIONS, **fields)) == "request needs 16 micro-USD, 15 available"


def test_holds_while_an_answer_is_under_way(engy):
    """E-198: what is held is not available to others, and cannot be taken away."""
    account = engy.account(balance_micro=200)
    steps = _stream(engy, account)
    next(steps)
    held = account.held_micro
    assert 0 < held < 200
    assert account.available_micro == 200 - held
    assert asked(engy, account.key, max_tokens=200).status == 402
    with pytest.raises(MockError, match=f"cannot be {held - 1} while {held} are held for answers under way"):
        account.balance_micro = held - 1
    list(steps)
    assert account.held_micro == 0
    assert account.available_micro == account.balance_micro == 200 - account.charged_micro


def test_a_client_that_leaves_pays_for_what_it_got(engy):
    """E-200: before the first piece the prompt alone, and never more than the whole answer."""
    account = engy.account()
    steps = _stream(engy, account)
    next(steps)
    steps.close()
    entry = engy.journal.last
    assert entry.client_left
    assert entry.usage == Usage(prompt_tokens=entry.usage.prompt_tokens, completion_tokens=0)
    assert account.charged_micro == entry.charged_micro == round(entry.usage.prompt_tokens * Decimal("0.68"))
    assert (account.held_micro, account.under_way) == (0, 0)


def test_a_defect_costs_nothing(engy):
    """E-200: if the mock fails after the hold, nothing is charged and nothing stays held."""

    def broken(request: object) -> str:
        raise RuntimeError("no answer")

    account = engy.account()
    engy.when().reply(broken)
    assert asked(engy, account.key).status == 500
    assert (account.charged_micro, account.held_micro, account.under_way) == (0, 0, 0)
    engy.gateway.defects.clear()


def test_a_scripted_refusal_costs_nothing(engy):
    """E-85, E-200: it comes after the hold, and gives it back."""
    account = engy.account()
    engy.when().refuse(500)
    assert asked(engy, account.key).status == 500
    assert (account.charged_micro, account.held_micro, account.under_way) == (0, 0, 0)


def test_dictated_usage_is_charged_as_dictated():
    """E-116: what a test says was used is paid, even where it is more than was held; the debt is its own wish."""
    gateway = Gateway()
    account = gateway.accounts.open(balance_micro=1000)
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=0)
    gateway.script.add(Rule(description="all", conditions=(), answers=(Reply(text="Dear.", usage=usage),)))
    assert ask(gateway, CHAT, body(CHAT), headers=bearer(account.key)).status == 200
    assert (account.charged_micro, account.balance_micro, account.held_micro) == (680_000, -679_000, 0)
    refused = ask(gateway, CHAT, body(CHAT), headers=bearer(account.key))
    assert (refused.status, "-679000 available" in message(refused)) == (402, True)
    assert ask(gateway, "/v5/completions", body("/v5/completions"), headers=bearer(account.key)).status == 200


def test_names(engy):
    """Names are made if none is given; they are the account ids of /v5 (S-13)."""
    assert [engy.account().name, engy.account("account-2").name, engy.account().name] == [
        "account-1",
        "account-2",
        "account-3",
    ]
    assert [account.name for account in engy.accounts] == ["default", "account-1", "account-2", "account-3"]
    assert len(engy.accounts) == 4
    headers = {**bearer(engy.accounts["account-2"].key), "x-selected-account-id": "account-1"}
    assert ask(engy.gateway, "/v5/models", headers=headers).status == 403
    assert ask(engy.gateway, "/v5/models", headers={**headers, "x-selected-account-id": "account-2"}).status == 200


def test_a_reset_forgets_accounts(engy):
    """Keys that were registered, or revoked, are like any other key afterwards."""
    account = engy.account("mine", balance_micro=0)
    gone = account.add_key()
    account.revoke(gone)
    assert [asked(engy, key).status for key in (*account.keys, gone)] == [402, 401]
    engy.reset()
    assert [own.name for own in engy.accounts] == ["default"]
    assert [asked(engy, key).status for key in (*account.keys, gone)] == [200, 200]
    assert engy.account("mine").name == "mine"


def test_it_shows_no_key(engy):
    """Q-32: neither an account nor an error about it repeats a key."""
    account = engy.account("mine", key="sk-engy-secret", balance_micro=7)
    assert repr(account) == "<Account 'mine': 7 micro-USD, 0 held, 0 charged>"
    for wrong in (lambda: engy.account(key="sk-engy-secret"), lambda: account.revoke("sk-engy-secret2")):
        with pytest.raises(MockError) as caught:
            wrong()
        assert "secret" not in str(caught.value)


FREE = Prices(input=Decimal(0), output=Decimal(0), cached=Decimal(0))


def _priced(**prices: Any) -> Any:
    return lambda engy: engy.account(prices={"glm-5.2": Prices(**{**_LIST, **prices})})


_LIST = {"input": Decimal(3), "output": Decimal(2), "cached": Decimal(1)}

MISTAKES: list[tuple[Any, str]] = [
    (
        lambda engy: engy.account(balance_micro=-1),
        "balance_micro is a whole number of micro-USD from 0 on, got -1",
    ),
    (
        lambda engy: engy.account(balance_micro=1.5),
        "balance_micro is a whole number of micro-USD from 0 on, got 1.5",
    ),
    (lambda engy: engy.account(balance_micro=True), "got True"),
    (lambda engy: setattr(engy.accounts.default, "balance_micro", "5"), "got '5'"),
    (lambda engy: engy.account().deposit(0), "a deposit is a whole number of micro-USD from 1 on, got 0"),
    (
        lambda engy: engy.account(max_concurrent=0),
        "max_concurrent is a whole number from 1 on, or None for no limit",
    ),
    (lambda engy: engy.account(requests_per_minute=2.0), "requests_per_minute is a whole number .* got 2.0"),
    (lambda engy: setattr(engy.accounts.default, "tokens_per_minute", -3), "tokens_per_minute is .* got -3"),
    (
        lambda engy: engy.account(prices={"glm-52": FREE}),
        "unknown model 'glm-52' in prices=. Did you mean 'glm-5.2'?",
    ),
    (lambda engy: engy.account(prices={"openai/gpt-4o": FREE}), "Models with prices are glm-5.2, glm-5.3, "),
    (lambda engy: engy.account(prices={"glm-5.2": 0.5}), "the prices of glm-5.2 are 0.5: write Prices"),
    (lambda engy: engy.account(prices=30), "prices= maps model ids to Prices, got 30: .* is discount_percent="),
    (_priced(input=0.5), "the input price of glm-5.2 is 0.5: write a Decimal from 0 on"),
    (_priced(output=Decimal(-1)), r"the output price of glm-5.2 is Decimal\('-1'\)"),
    (_priced(output=Decimal("NaN")), r"the output price of glm-5.2 is Decimal\('NaN'\)"),
    (_priced(cached=Decimal(4)), "the cached price of glm-5.2 is 4, above its input price of 3"),
    (lambda engy: engy.account(discount_percent=101), "discount_percent= takes 0 to 100, .* got 101"),
    (lambda engy: engy.account(discount_percent="30"), "discount_percent= takes 0 to 100, .* got '30'"),
    (lambda engy: engy.account(discount_percent=float("nan")), "discount_percent= takes 0 to 100, .* got nan"),
    (lambda engy: engy.account(discount_percent={"nope": 5}), "unknown model 'nope' in discount_percent="),
    (lambda engy: engy.account(discount_percent={"glm-5.2": -5}), "got -5"),
    (lambda engy: engy.account(key="sk-other"), "a key is 'sk-engy-' with 1 to 4000 .* got 'sk-other'"),
    (lambda engy: engy.account(key="sk-engy-"), "a key is 'sk-engy-' with 1 to 4000"),
    (lambda engy: engy.account(key="sk-engy-a\n"), "that a header can have"),
    (lambda engy: engy.account(key="sk-engy-a "), "without blanks around it"),
    (lambda engy: Prices(1, 2, 3), "Prices takes input=, output= and cached=, each a Decimal in USD per million"),
    (lambda engy: Prices(input=Decimal(1)), "Prices takes input=, output= and cached="),
    (lambda engy: engy.account(key=5), "got '5'"),
    (lambda engy: engy.account("default"), "there is an account 'default' already: engy.accounts\\['default'\\]"),
    (lambda engy: engy.account(""), "an account's name is a text of 1 to 100 printable ASCII characters, got ''"),
    (lambda engy: engy.account("a\r\nb"), "printable ASCII"),
    (lambda engy: engy.account(7), "printable ASCII characters, got 7"),
    (lambda engy: engy.account(" mine"), "no blanks around it, got ' mine': write 'mine'"),
    (lambda engy: engy.accounts["defalt"], "there is no account 'defalt'. Did you mean 'default'?"),
    (lambda engy: engy.account().revoke("sk-engy-other"), "account 'account-1' has no key .*: its keys are in"),
    (lambda engy: engy.accounts.default.close(), "cannot be closed, .* settings.closed_accounts = True"),
    (lambda engy: Account().add_key(), r"belongs to no mock: engy.account\(\) opens one that does"),
]


@pytest.mark.parametrize(("mistake", "words"), MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_mistakes(engy, mistake, words):
    """The author of a test is told the value and what would do; nothing has changed then."""
    with pytest.raises(MockError, match=words):
        mistake(engy)
    assert [account.balance_micro for account in engy.accounts] == [1_000_000_000] * len(engy.accounts)


@pytest.mark.parametrize("key", ["sk-engy-xyz abc", "sk-engy-é", "sk-engy-a,b;c", "sk-engy-" + "x" * 300])
def test_a_key_of_an_account_is_whatever_opens_one(engy, key):
    """E-15, E-17, E-18: what begins like a key is one, for the default account as for one of its own."""
    with engy.http_client() as client:

        def account_of() -> str:
            headers = {"Authorization": f"Bearer {key}".encode()}
            body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
            assert client.post(CHAT, json=body, headers=headers).status_code == 200
            return str(engy.journal.last.account)

        assert account_of() == "default"
        engy.account("mine", key=key)
        assert account_of() == "mine"


def test_a_key_is_given_once(engy):
    """Two accounts cannot share a key, and one that was revoked does not come back."""
    first, second = engy.account("a"), engy.account("b")
    assert first.add_key(first.key) == first.key
    with pytest.raises(MockError, match="this key belongs to account 'a', or did once"):
        second.add_key(first.key)
    key = first.key
    first.revoke(key)
    with pytest.raises(MockError, match="this key belongs to account 'a', or did once"):
        first.add_key(key)
    with pytest.raises(MockError, match="this key belongs to account 'a'"):
        engy.account("c", key=key)
    assert "c" not in [account.name for account in engy.accounts]


def test_models_that_a_test_adds_can_have_prices(engy):
    """The ids are those of the catalogue at that time."""
    from dataclasses import replace

    card = replace(engy.catalog.find("glm-5.2"), id="mine")
    engy.catalog.add(card)
    account = engy.account(prices={"mine": FREE})
    assert charge(asked(engy, account.key, model="mine")) == 0


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_no_balance_is_needed_for_what_is_free(engy, path):
    """E-198: a hold of nothing needs nothing."""
    account = engy.account(balance_micro=0, discount_percent=100)
    assert asked(engy, account.key, path).status == 200
