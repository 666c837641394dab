"""What holds for the books after any history, and with 32 callers at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from threading import Event, Thread
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock import EngyMock, Prices, Usage
from engy_mock.books.account import Account, Hold
from engy_mock.books.accounts import Accounts
from engy_mock.gateway import Gateway
from engy_mock.model.prices import charge_micro, highest_cost_micro
from engy_mock.vocabulary.errors import ApiError, InsufficientBalance
from engy_mock.vocabulary.seeds import Draws, digest
from engy_mock.vocabulary.wire import Call, Step, Whole
from tests.books.routes import CHAT, STREAMING, V1, bearer, body

amounts = st.integers(min_value=0, max_value=40)
deeds = st.lists(
    st.tuples(st.sampled_from(("hold", "settle", "give back", "again", "deposit")), amounts, st.integers(0, 9)),
    max_size=60,
)


@settings(max_examples=150)
@given(amounts, deeds)
def test_any_history(balance: int, history: list[tuple[str, int, int]]):
    """E-197 to E-200: balance and charges together are what was paid in; what is available is never negative."""
    account = Account(balance_micro=balance)
    paid_in = balance
    holds: list[Hold] = []
    over: list[Hold] = []
    for deed, amount, place in history:
        available = account.available_micro
        if deed == "hold":
            try:
                holds.append(account.hold(amount))
                assert amount <= available
            except InsufficientBalance:
                assert amount > available
        elif deed == "deposit" and amount:
            account.deposit(amount)
            paid_in += amount
        elif deed == "again" and over:
            over[place % len(over)].settle(amount)
        elif deed in ("settle", "give back") and holds:
            hold = holds.pop(place % len(holds))
            hold.settle(min(amount, hold.amount_micro) if deed == "settle" else 0)
            over.append(hold)
        assert account.balance_micro + account.charged_micro == paid_in
        assert account.held_micro == sum(hold.amount_micro for hold in holds)
        assert account.available_micro == account.balance_micro - account.held_micro >= 0
        assert account.under_way == len(holds)


prices = st.decimals(min_value=0, max_value=20, places=3)


@settings(max_examples=200)
@given(st.tuples(prices, prices, prices), st.tuples(*[st.integers(0, 5000)] * 4), st.integers(0, 100))
def test_no_answer_costs_more_than_was_held(
    listed: tuple[Decimal, Decimal, Decimal], counts: tuple[int, int, int, int], discount: int
):
    """E-116, E-197: whatever the prices, the cache and the rounding; so what is available is never negative."""
    cached_price, input_price = sorted(listed[:2])
    prompt, most, cached, completion = counts
    share = (100 - Decimal(discount)) / 100
    own = Prices(input=input_price * share, output=listed[2] * share, cached=cached_price * share)
    usage = Usage(prompt_tokens=prompt, cached_tokens=min(cached, prompt), completion_tokens=min(completion, most))
    assert 0 <= charge_micro(own, usage) <= highest_cost_micro(own, prompt, most)


CALLERS = 32
CALLS_OF_EACH = 12
LIMIT = 12


def _call(draws: Draws, key: str) -> Call:
    """A request of any route, streamed or whole, dear or cheap, long enough for the cache or not, or wrong."""
    path = draws.pick((CHAT, *V1))
    fields: dict[str, Any] = {"max_tokens": draws.pick((1, 5, 30, 400))}
    if path == STREAMING[-1]:
        fields = {"max_output_tokens": fields["max_tokens"]}
    if path in STREAMING and draws.below(2):
        fields["stream"] = True
    if not draws.below(10):
        fields["model"] = "nope"
    text = "Tell me about rivers. " * draws.pick((1, 20))
    if not draws.below(8):
        text = "Fail, please."
    data = json.dumps(body(path, text, **fields)).encode()
    return Call(method="POST", path=path, headers=bearer(key), body=data)


def _perform(steps: Any, draws: Draws) -> None:
    """Take some of the steps, or all of them, and leave."""
    most = draws.pick((0, 1, 2, 1000, 1000))
    taken: list[Step] = []
    for step in steps:
        taken.append(step)
        if len(taken) >= most and not isinstance(step, Whole):
            break
    if hasattr(steps, "close"):
        steps.close()


def test_32_callers_at_once():
    """E-88, E-197 to E-200: whatever they do, the books agree at the end, and at no time was too much promised."""
    engy = EngyMock()
    gateway = engy.gateway
    gateway.settings.one_event_per_write = True
    gateway.settings.capacity = LIMIT + 8
    poor = gateway.accounts.open("poor", balance_micro=3_000, max_concurrent=LIMIT)
    rich = gateway.accounts.open("rich", discount_percent=30, max_concurrent=LIMIT)

    def fail(request: object) -> str:
        raise ApiError("it failed")

    engy.when(says="Fail").reply(fail)
    watched: list[str] = []
    is_over = Event()

    def watch() -> None:
        while not is_over.is_set():
            for account in (poor, rich):
                if account.available_micro < 0:
                    watched.append(f"{account!r} has promised too much")
                if account.under_way > LIMIT:
                    watched.append(f"{account!r} has {account.under_way} requests under way")
            if gateway.fleet.under_way > LIMIT + 8:
                watched.append("the fleet is too busy")

    def caller(number: int) -> None:
        draws = Draws(digest("caller", number))
        for _ in range(CALLS_OF_EACH):
            key = draws.pick((poor.key, rich.key, rich.key))
            with suppress(ApiError):
                _perform(gateway.answer(_call(draws, key)), draws)

    watcher = Thread(target=watch)
    watcher.start()
    try:
        with ThreadPoolExecutor(CALLERS) as pool:
            list(pool.map(caller, range(CALLERS)))
    finally:
        is_over.set()
        watcher.join()
    assert watched == []
    entries = list(gateway.journal)
    assert len(entries) == CALLERS * CALLS_OF_EACH
    assert {entry.status for entry in entries} >= {200, 402, 404}
    for account, paid_in in ((poor, 3_000), (rich, 1_000_000_000)):
        assert (account.held_micro, account.under_way) == (0, 0)
        assert account.balance_micro + account.charged_micro == paid_in
    charged = sum(entry.charged_micro for entry in entries)
    assert charged == poor.charged_micro + rich.charged_micro > 0
    assert all(entry.charged_micro == 0 for entry in entries if entry.status != 200)
    assert any(entry.client_left for entry in entries)
    assert gateway.fleet.under_way == 0


def test_32_callers_and_money_for_seven():
    """E-198: of equal requests at once exactly as many are admitted as the balance covers, whoever comes first."""
    accounts = Accounts()
    account = accounts.open(balance_micro=700)

    def take(number: int) -> Hold | None:
        try:
            return account.hold(100)
        except InsufficientBalance:
            return None

    with ThreadPoolExecutor(CALLERS) as pool:
        holds = [hold for hold in pool.map(take, range(CALLERS)) if hold is not None]
        assert (len(holds), account.available_micro) == (7, 0)
        # Each is settled by several at once, and counts once.
        list(pool.map(lambda hold: hold.settle(60), holds * 5))
    assert (account.balance_micro, account.charged_micro, account.held_micro) == (280, 420, 0)


def test_the_same_calls_one_after_the_other_cost_the_same():
    """The order of callers decides who is refused, never what an answer costs that has no prompt in common."""

    def run(workers: int) -> int:
        gateway = Gateway()
        account = gateway.accounts.open()

        def call(number: int) -> None:
            data = json.dumps(body(CHAT, f"Tell me about the number {number}.", max_tokens=20)).encode()
            list(gateway.answer(Call(method="POST", path=CHAT, headers=bearer(account.key), body=data)))

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(call, range(64)))
        return account.charged_micro

    assert run(1) == run(CALLERS) > 0
