"""The models as rows: prices, windows, thinking; what an answer costs; what single models make of a request."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.model import contracts
from engy_mock.model.cards import CARDS, ModelCard, Prices
from engy_mock.model.prices import charge_micro, highest_cost_micro
from engy_mock.vocabulary.generation import Usage
from engy_mock.vocabulary.request import EFFORTS, Message, Sampling, ThinkingWish
from tests.model.made import chat, raw

CARD = {card.id: card for card in CARDS}


def _row(card: ModelCard) -> tuple[object, ...]:
    prices = card.prices
    money = (str(prices.input), str(prices.output), str(prices.cached))
    return card.id, money, card.context, card.max_input, card.max_output, card.takes_images


@pytest.mark.parametrize(
    ("place", "row"),
    [
        (0, ("glm-5.2", ("0.68", "1.50", "0.18"), 262_144, 229_376, 32_768, False)),
        (1, ("glm-5.3", ("0.98", "3.08", "0.18"), 327_680, 294_912, 32_768, False)),
        (2, ("glm-5.3-flash", ("0.135", "0.45", "0.027"), 262_144, 229_376, 32_768, True)),
        (3, ("kimi-k3", ("1.95", "9.75", "0.195"), 1_048_576, 983_040, 65_536, True)),
        (4, ("qwen3.6-35b-a3b", ("0.045", "0.30", "0.015"), 208_192, 200_000, 8_192, False)),
        (5, ("qwen3.8-27b", ("0.045", "0.32", "0.015"), 1_001_536, 936_000, 65_536, True)),
        (6, ("deepseek-v4-flash-0731", ("0.045", "0.09", "0.009"), 1_048_576, 920_576, 128_000, False)),
        (7, ("deepseek-v4.1-flash", ("0.04", "0.08", "0.008"), 327_680, 262_144, 65_536, True)),
    ],
    ids=[f"E-{22 + place}" for place in range(8)],
)
def test_rows(place, row):
    """E-22 to E-29, E-33: the eight rows, in their order."""
    assert _row(CARDS[place]) == row


def test_all_rows():
    """There are eight models; the window of each is its largest input and its largest output together."""
    assert len(CARDS) == len(CARD) == 8
    for card in CARDS:
        assert card.context == card.max_input + card.max_output
        assert (card.temperature, card.top_p) == (1.0, 0.95)
        assert card.is_available


def test_voices():
    """No two models speak alike."""
    voices = [card.voice for card in CARDS]
    assert len({voice.name for voice in voices}) == 8
    assert len({(voice.certainty, voice.caution) for voice in voices}) == 8
    for voice in voices:
        # So that nothing unexpected is within the nucleus of the default `top_p`.
        assert voice.certainty > 0.95
        assert 1 <= voice.sentences[0] <= voice.sentences[1] <= 6


DEFAULT = ThinkingWish()
ON, OFF = ThinkingWish(enabled=True), ThinkingWish(enabled=False)
LEVELS = {
    # none, minimal, low, medium, high, xhigh, max; default, on, off
    "glm-5.2": ("off", "off", "high", "high", "high", "max", "max", "max", "max", "off"),
    "glm-5.3": ("low", "low", "low", "high", "high", "max", "max", "max", "max", "low"),
    "glm-5.3-flash": ("low", "low", "low", "high", "high", "max", "max", "max", "max", "low"),
    "kimi-k3": ("off", "off", "on", "on", "on", "on", "on", "on", "on", "off"),
    "qwen3.6-35b-a3b": ("off", "off", "on", "on", "on", "on", "on", "on", "on", "off"),
    "qwen3.8-27b": ("off", "off", "on", "on", "on", "on", "on", "on", "on", "off"),
    "deepseek-v4-flash-0731": ("off", "off", "low", "high", "high", "max", "max", "off", "high", "off"),
    "deepseek-v4.1-flash": ("off", "off", "low", "high", "high", "max", "max", "off", "high", "off"),
}


@pytest.mark.parametrize(("model", "levels"), LEVELS.items(), ids=LEVELS)
def test_levels(model, levels):
    """E-127 to E-129: what each wish comes to on each model."""
    wishes = (*(ThinkingWish(effort=effort) for effort in EFFORTS), DEFAULT, ON, OFF)
    assert tuple(CARD[model].level(wish) for wish in wishes) == levels


@pytest.mark.parametrize("enabled", [True, False, None])
def test_effort_comes_first(enabled):
    """E-127: an effort counts before a switch."""
    assert CARD["glm-5.2"].level(ThinkingWish(effort="high", enabled=enabled)) == "high"
    assert CARD["glm-5.2"].level(ThinkingWish(effort="none", enabled=enabled)) == "off"


def test_a_model_that_cannot_think():
    """A model that cannot think never does."""
    card = replace(CARD["glm-5.3"], can_think=False)
    assert {card.level(wish) for wish in (DEFAULT, ON, ThinkingWish(effort="max"))} == {"off"}


@pytest.mark.parametrize(
    ("model", "prompt", "cached", "completion", "charge"),
    [
        ("glm-5.2", 22, 0, 19, 43),
        ("glm-5.2", 5, 0, 3, 8),
        ("glm-5.2", 17, 0, 32, 60),
        ("qwen3.6-35b-a3b", 15, 0, 32, 10),
        ("deepseek-v4.1-flash", 8, 0, 4, 1),
        ("glm-5.3", 281_535, 0, 8, 275_929),
        ("glm-5.2", 200, 128, 10, 87),
        ("glm-5.2", 25, 0, 1, 19),
        ("deepseek-v4.1-flash", 1, 0, 1, 0),
        ("glm-5.2", 0, 0, 0, 0),
        ("kimi-k3", 1_048_576, 1_048_575, 65_536, 843_450),
    ],
)
def test_charge(model, prompt, cached, completion, charge):
    """E-116, E-117: exact, then rounded once, halves up; it may be 0."""
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion)
    assert charge_micro(CARD[model].prices, usage) == charge


@pytest.mark.parametrize(
    ("model", "prompt", "limit", "hold"),
    [
        ("glm-5.2", 22, 1024, 1551),
        ("glm-5.2", 25, 2, 20),
        ("glm-5.2", 50, 2, 37),
        ("deepseek-v4.1-flash", 1, 1, 1),
        ("glm-5.2", 0, 0, 0),
    ],
)
def test_hold(model, prompt, limit, hold):
    """E-197: the whole limit at the full price, rounded up; what is exact stays so."""
    assert highest_cost_micro(CARD[model].prices, prompt, limit) == hold


AMOUNTS = st.decimals(0, 10, places=6)


@given(
    st.builds(Prices, input=AMOUNTS, output=AMOUNTS, cached=st.just(Decimal(0))),
    st.integers(0, 1_000_000),
    st.integers(0, 1_000_000),
    st.integers(0, 1_000_000),
)
def test_a_hold_covers_the_charge(prices, prompt, completion, more):
    """No charge is above what was held for it."""
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion)
    assert charge_micro(prices, usage) <= highest_cost_micro(prices, prompt, completion + more)


WISHED = Sampling(
    temperature=0.0, top_p=0.5, top_k=7, min_p=0.1, presence_penalty=2.0, frequency_penalty=-2.0, seed=3
)


@pytest.mark.parametrize("model", CARD)
def test_fixed_sampling(model):
    """E-89: on `kimi-k3` five numbers are always the same; other models and other numbers are left alone."""
    asked = chat("Hi", model=model, sampling=WISHED, copies=4)
    seen = contracts.apply(asked, CARD[model])
    if model == "kimi-k3":
        assert (seen.sampling.temperature, seen.sampling.top_p, seen.copies) == (1.0, 0.95, 1)
        assert not seen.sampling.presence_penalty
        assert not seen.sampling.frequency_penalty
        assert (seen.sampling.top_k, seen.sampling.min_p, seen.sampling.seed) == (7, 0.1, 3)
        default = contracts.apply(chat("Hi", model=model), CARD[model])
        assert (default.sampling.temperature, default.sampling.top_p) == (1.0, 0.95)
    else:
        assert seen == asked


SYSTEM, USER = Message(role="system", text="S"), Message(role="user", text="U")
SAID = Message(role="assistant", text="A")


@pytest.mark.parametrize("model", CARD)
@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ((SYSTEM, USER), "system user"),
        ((USER, SYSTEM), "user user"),
        ((SYSTEM, SYSTEM, USER, SAID, SYSTEM), "system user user assistant user"),
        ((USER, SAID, USER), "user assistant user"),
    ],
)
def test_late_system_messages(model, messages, roles):
    """E-90: on the qwen models a system message after the opening place becomes the user's, elsewhere it stays."""
    asked = chat(*messages, model=model)
    seen = contracts.apply(asked, CARD[model])
    if model.startswith("qwen"):
        assert " ".join(message.role for message in seen.messages) == roles
        assert [message.text for message in seen.messages] == [message.text for message in messages]
    else:
        assert seen.messages == messages


@pytest.mark.parametrize("model", CARD)
def test_contracts_and_raw_prompts(model):
    """A raw prompt has no messages to move, yet its sampling is fixed like any other."""
    asked = raw("Hi", model=model, sampling=WISHED)
    seen = contracts.apply(asked, CARD[model])
    assert seen.prompt == asked.prompt
    assert (seen.sampling.temperature == 1.0) is (model == "kimi-k3")
