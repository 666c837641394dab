"""How tokens are drawn: each knob acts as documented, and every short cut draws what the long way would."""

from collections import Counter
from math import exp, isclose

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from engy_mock.model.distribution import Distribution, mixed
from engy_mock.model.sampling import Knobs, draw, draw_special, weighted
from tests.model.made import every_chance, language, picked, ranking, tempered, toy
from tests.model.test_distribution import distributions

UNIT = st.floats(0, 1, exclude_max=True)
TOP_PS = st.sampled_from([1.0, 0.95, 0.5, 0.01]) | st.floats(0.01, 1)
KNOBS = st.builds(
    Knobs,
    temperature=st.sampled_from([1.0, 0.7, 2.0, 0.3, 0.1]) | st.floats(0.02, 2),
    top_p=TOP_PS,
    top_k=st.none() | st.sampled_from([-1, 0, 1, 2, 5, 20, 40, 59, 1000]),
    min_p=st.sampled_from([0.0, 0.0, 0.05, 0.5, 1.0]) | st.floats(0, 1),
)


def _near(unit: float) -> tuple[float, float, float]:
    """A number and its neighbours: where sums are rounded, the border between two tokens is not sharp."""
    return unit, max(unit - 1e-9, 0.0), min(unit + 1e-9, 1 - 1e-12)


def _shift(knobs: Knobs, by: float) -> Knobs:
    return Knobs(
        temperature=knobs.temperature,
        top_p=min(max(knobs.top_p * (1 + by), 1e-9), 1.0),
        top_k=knobs.top_k,
        min_p=min(max(knobs.min_p * (1 + by), 0.0), 1.0),
    )


def _is_drawn(distribution: Distribution, knobs: Knobs, *units: float) -> bool:
    """Whether draws are what the whole vocabulary says, at a border on one of its sides.

    Tokens of equal chance may stand in another order.
    """
    chances = every_chance(distribution)
    drawn = [chances[draw(distribution, knobs, unit)] for unit in units]
    for by in (0.0, 1e-9, -1e-9):
        shares = tempered(chances, _shift(knobs, by))
        expected = [{chances[picked(shares, near)] for near in _near(unit)} for unit in units]
        if all(any(isclose(p, q, rel_tol=1e-9) for q in qs) for p, qs in zip(drawn, expected, strict=True)):
            return True
    return False


@given(distributions(), KNOBS, UNIT)
@example(mixed(toy().after(-1, -1), {}), Knobs(temperature=2.0, top_p=1.0), 0.999)
@example(mixed(toy().after(-1, -1), {}), Knobs(temperature=1.0, top_k=40, top_p=0.5, min_p=0.45), 0.9)
def test_draw(distribution, knobs, unit):
    """Temperature, `top_k`, `top_p`, `min_p`, in this order: the token is what the whole vocabulary gives."""
    assert _is_drawn(distribution, knobs, unit)


@pytest.mark.parametrize(
    "knobs",
    [
        Knobs(temperature=2.0, top_p=1.0),
        Knobs(temperature=2.0, top_p=0.95),
        Knobs(temperature=1.4, top_p=0.99, min_p=1e-5),
        Knobs(temperature=1.0, top_p=1.0),
        Knobs(temperature=0.8, top_p=0.9, top_k=500),
        Knobs(temperature=0.2, top_p=1.0),
    ],
    ids=["hot", "hot nucleus", "warm", "whole", "many", "cold"],
)
def test_draw_of_real_ones(knobs):
    """The same in the bundled vocabulary, where thousands of tokens may come next."""
    model = language()
    for text in ("", "The capital of France is", "zebra quantum the of", "<|user|>tea<|assistant|><think>"):
        distribution = model.read(model.tokenizer.encode(text, marks=True)).distribution()
        assert _is_drawn(distribution, knobs, 0.0, 0.3, 0.77, 0.95, 0.999)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("text", ["The capital of France is", "zebra quantum the of"])
def test_draw_of_many_changed_ones(text, temperature):
    """Where penalties have changed the chances of very many tokens, the same holds."""
    model = language()
    counts = {token: token % 7 + 1 for token in range(40, 700)}
    knobs = Knobs(temperature=temperature, top_p=0.99, frequency_penalty=0.4, presence_penalty=-1.0)
    distribution = weighted(model.read(model.tokenizer.encode(text)).distribution(), knobs, counts)
    chances = every_chance(distribution)
    assert isclose(distribution.highest(), max(chances))
    assert _is_drawn(distribution, knobs, 0.0, 0.2, 0.5, 0.9, 0.99)


@given(distributions(), UNIT, KNOBS)
def test_greedy(distribution, unit, knobs):
    """Temperature 0 takes the likeliest token whatever other knobs say; so does `top_k` 1 at any temperature."""
    first = ranking(every_chance(distribution))[0]
    assert draw(distribution, Knobs(temperature=0, top_p=knobs.top_p, top_k=knobs.top_k), unit) == first
    assert draw(distribution, Knobs(temperature=knobs.temperature, top_k=1), unit) == first


@given(distributions(), UNIT)
def test_cold_is_nearly_greedy(distribution, unit):
    """A temperature near 0 takes the likeliest token unless another is as likely."""
    order = ranking(every_chance(distribution))
    assume(distribution.chance(order[1]) < 0.8 * distribution.chance(order[0]))
    assert draw(distribution, Knobs(temperature=0.01, top_p=1.0), unit) == order[0]


@given(distributions(), st.floats(0.05, 1), UNIT)
def test_nucleus(distribution, top_p, unit):
    """No token is drawn that the likelier ones make superfluous, and the last of them that is needed can be."""
    knobs = Knobs(top_p=top_p)
    chances = every_chance(distribution)
    order = ranking(chances)
    token = draw(distribution, knobs, unit)
    before = sum(chances[other] for other in order[: order.index(token)] if chances[other] > chances[token])
    assert before < top_p + 1e-9
    last = draw(distribution, knobs, 1 - 1e-12)
    assert sum(p for p in chances if p >= chances[last]) >= top_p - 1e-9


@pytest.mark.parametrize("count", [2, 3, 30])
def test_top_k(count):
    """Only so many tokens can be drawn."""
    distribution = mixed(toy().after(-1, -1), {})
    knobs = Knobs(temperature=2.0, top_p=1.0, top_k=count)
    drawn = {draw(distribution, knobs, (place + 0.5) / 2000) for place in range(2000)}
    assert drawn == set(distribution.top(count)[0])


@pytest.mark.parametrize("least", [0.9, 0.1, 0.01])
def test_min_p(least):
    """Only tokens can be drawn whose chance is at least this part of the likeliest one's."""
    distribution = mixed(toy().after(3, 12), {})
    chances = every_chance(distribution)
    knobs = Knobs(top_p=1.0, min_p=least)
    drawn = {draw(distribution, knobs, (place + 0.5) / 5000) for place in range(5000)}
    assert drawn == {token for token, p in enumerate(chances) if p >= least * max(chances)}


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.5, 2.0])
@pytest.mark.parametrize("top_k", [None, 5, 20, 50])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("min_p", [0.0, 0.3, 0.7])
def test_cuts_together(temperature, top_k, top_p, min_p):
    """All cuts, one after the other: what is left is drawn as often as its share says, and nothing else."""
    distribution = mixed(toy().after(-1, -1), {})
    knobs = Knobs(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    drawn = Counter(draw(distribution, knobs, (place + 0.5) / 250) for place in range(250))
    by_chance: dict[float, float] = {}
    for share, token in tempered(every_chance(distribution), knobs):
        by_chance[distribution.chance(token)] = by_chance.get(distribution.chance(token), 0.0) + share
    for chance, share in by_chance.items():
        count = sum(times for token, times in drawn.items() if distribution.chance(token) == chance)
        assert abs(count - 250 * share) < 1.01
    assert {distribution.chance(token) for token in drawn} <= set(by_chance)


@pytest.mark.slow
@given(distributions(), st.dictionaries(st.integers(0, 59), st.integers(1, 9), max_size=4), st.data())
def test_weighted(distribution, counts, data):
    """Penalties and bias change chances by the documented formula, and those of no other tokens."""
    presence, frequency = data.draw(st.floats(-2, 2)), data.draw(st.floats(-2, 2))
    bias = data.draw(st.dictionaries(st.integers(0, 59), st.floats(-100, 100), max_size=4))
    knobs = Knobs(presence_penalty=presence, frequency_penalty=frequency, logit_bias=bias)
    changed = weighted(distribution, knobs, counts)
    for token in range(60):
        times = counts.get(token, 0)
        shift = bias.get(token, 0.0) - frequency * times - (presence if times else 0.0)
        assert isclose(changed.chance(token), distribution.chance(token) * exp(shift), rel_tol=1e-9)


def test_weighted_by_nothing():
    """Without penalties and bias the distribution is the very same."""
    distribution = mixed(toy().after(1, 2), {})
    assert weighted(distribution, Knobs(), {1: 5}) is distribution


@pytest.mark.parametrize("temperature", [0, 0.01, 0.1, 0.25, 1.0, 2.0])
@pytest.mark.parametrize(
    ("knobs", "counts"),
    [
        ({"logit_bias": {7: 100.0}}, {}),
        ({"frequency_penalty": -2.0}, {7: 400, 8: 3}),
        ({"frequency_penalty": -2.0}, {7: 100_000, 8: 99_000}),
        ({"frequency_penalty": -2.0, "presence_penalty": -2.0, "logit_bias": {7: 100.0}}, {7: 2000}),
    ],
    ids=["bias", "frequent", "very frequent", "all"],
)
def test_raised_beyond_measure(temperature, knobs, counts):
    """A token that is raised so far that numbers could overflow is drawn, at every temperature."""
    distribution = mixed(toy().after(1, 2), {3: 0.9})
    changed = weighted(distribution, Knobs(temperature=temperature, **knobs), counts)
    for unit in (0.0, 0.5, 1 - 1e-12):
        for top_p in (1.0, 0.9):
            assert draw(changed, Knobs(temperature=temperature, top_p=top_p), unit) == 7


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("top_p", [1.0, 0.95])
def test_banned(temperature, top_p):
    """A token with a bias of -100 is never drawn, however likely it was, and the others are drawn as usual."""
    distribution = mixed(toy().after(1, 2), {3: 0.99})
    knobs = Knobs(temperature=temperature, top_p=top_p, logit_bias={3: -100.0})
    changed = weighted(distribution, knobs, {})
    chances = every_chance(distribution)
    chances[3] = 0.0
    shares = tempered(chances, knobs)
    drawn = Counter(draw(changed, knobs, (place + 0.5) / 2000) for place in range(2000))
    assert 3 not in drawn
    for share, token in shares:
        assert abs(drawn[token] / 2000 - share) < 2e-3


@given(
    st.dictionaries(st.integers(0, 59), st.floats(0.001, 1), min_size=1, max_size=5),
    st.floats(0.3, 0.999),
    st.sampled_from([0, 1.0, 0.5, 2.0]) | st.floats(0.02, 2),
    TOP_PS,
    UNIT,
)
def test_draw_special(special, share, temperature, top_p, unit):
    """The short cut over the tokens that stand out draws what the whole distribution would, or does not know."""
    special = {token: p * share / sum(special.values()) for token, p in special.items()}
    knobs = Knobs(temperature=temperature, top_p=top_p)
    fast = draw_special(special, knobs, unit)
    if fast >= 0:
        distribution = mixed(toy().after(1, 2), special)
        slow = {draw(distribution, _shift(knobs, by), near) for by in (0, 1e-9, -1e-9) for near in _near(unit)}
        assert fast in slow


@pytest.mark.parametrize(
    ("special", "knobs", "unit", "token"),
    [
        ({5: 0.99}, Knobs(), 0.999, 5),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(), 0.1, 5),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(), 0.6, 6),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(), 0.9, 7),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(temperature=0), 0.9, 5),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(top_p=1.0), 0.985, 7),
        ({5: 0.5, 6: 0.3, 7: 0.19}, Knobs(top_p=1.0), 0.995, -1),
        ({5: 0.5, 6: 0.3}, Knobs(), 0.1, -1),
        ({5: 0.4}, Knobs(), 0.1, -1),
        ({5: 0.9, 6: 0.09}, Knobs(temperature=0.5), 0.1, -1),
        ({5: 0.99}, Knobs(top_k=3), 0.1, -1),
        ({5: 0.99}, Knobs(min_p=0.1), 0.1, -1),
        ({}, Knobs(), 0.1, -1),
    ],
)
def test_draw_special_knows(special, knobs, unit, token):
    """The short cut knows the answer where the tokens that stand out suffice."""
    assert draw_special(special, knobs, unit) == token
