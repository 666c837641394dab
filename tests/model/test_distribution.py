"""The chance of every token at one place: always proper, and its short cuts agree with the long way round."""

from itertools import accumulate, islice
from math import fsum, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.model.distribution import FLOOR, Distribution, logprob, mixed
from engy_mock.model.ladder import Ladder
from engy_mock.model.statistics import Statistics
from tests.model.made import every_chance, language, ranking, toy

TOKEN = st.integers(0, 59)
SPECIALS = st.dictionaries(TOKEN, st.floats(0.001, 1), max_size=5)
EXPONENTS = st.sampled_from([0.5, 0.6, 1.0, 1.25, 2.0, 3.7])


@st.composite
def distributions(draw: st.DrawFn) -> Distribution:
    """Some distribution over 60 tokens: after any two tokens, with any tokens that stand out."""
    triple = toy().after(draw(st.integers(-1, 59)), draw(st.integers(-1, 59)))
    special = draw(SPECIALS)
    share = draw(st.floats(0.01, 0.995)) / max(sum(special.values()), 1e-9)
    return mixed(triple, {token: p * share for token, p in special.items()})


def _real() -> list[Distribution]:
    """Places in real contexts: on plan, at borders, off plan, after a mark, after nothing."""
    model = language()
    texts = (
        "",
        "The capital of France is",
        "Coffee. ",
        "What is the",
        "zebra quantum the of",
        "<|user|>tea<|assistant|><think>",
        "<|user|>tea<|assistant|></think>",
        "<|user|>tea<|assistant|></think>Loose",
    )
    return [model.read(model.tokenizer.encode(text, marks=True)).distribution() for text in texts]


REAL = _real()


@given(distributions())
def test_proper(distribution):
    """All chances are above 0 and together 1."""
    chances = every_chance(distribution)
    assert all(0 < p < 1 for p in chances)
    assert abs(fsum(chances) - 1) < 1e-9


@given(distributions())
def test_what_stands_out_has_its_exact_chance(distribution):
    """The tokens that stand out have the chances that were asked for."""
    assert all(distribution.chance(token) == p for token, p in distribution.special.items())


@given(distributions())
def test_ranked(distribution):
    """The ranking tells every token once, with its chance, likeliest first and equal ones by id."""
    chances = every_chance(distribution)
    ranked = list(distribution.ranked())
    assert [token for _, token in ranked] == ranking(chances)
    assert [p for p, _ in ranked] == [chances[token] for _, token in ranked]


@given(distributions(), st.integers(1, 60))
def test_top(distribution, count):
    """The top are the first of the ranking."""
    tokens, chances = distribution.top(count)
    assert tokens == ranking(every_chance(distribution))[:count]
    assert chances == [distribution.chance(token) for token in tokens]
    assert distribution.first() == tokens[0]
    assert distribution.highest() == chances[0]


@pytest.mark.parametrize("count", [1, 5, 30, 47, 48, 60, 500])
def test_top_of_real_ones(count):
    """The same in the bundled vocabulary, within and beyond the part that is kept ready."""
    for distribution in REAL:
        order = ranking(every_chance(distribution))
        assert distribution.top(count)[0] == order[:count]
        assert [token for _, token in islice(distribution.ranked(), count)] == order[:count]


@given(distributions(), EXPONENTS)
def test_power_sum(distribution, exponent):
    """The sum of powers is that of the whole vocabulary."""
    expected = fsum(p**exponent for p in every_chance(distribution))
    assert isclose(distribution.power_sum(exponent), expected, rel_tol=1e-9)


@given(distributions(), EXPONENTS, st.dictionaries(TOKEN, st.floats(0, 5), max_size=4))
def test_power_sum_of_changed_ones(distribution, exponent, changed):
    """It is also right where knobs have changed single chances, so that they are no longer 1 together."""
    distribution = distribution.with_chances(changed)
    assert distribution.highest() == max(every_chance(distribution))
    expected = fsum(p**exponent for p in every_chance(distribution))
    assert isclose(distribution.power_sum(exponent), expected, rel_tol=1e-9, abs_tol=1e-12)


@given(distributions(), EXPONENTS)
def test_ladder(distribution, exponent):
    """Sums by rank are those of the ranking: of the first tokens, of the heavy ones, and up to any aim."""
    ranked = list(distribution.ranked())
    best = ranked[0][0]
    weights = [(p / best) ** exponent for p, _ in ranked]
    sums = list(accumulate(weights))
    ladder = Ladder(distribution, exponent, best)
    assert isclose(ladder.total, sums[-1], rel_tol=1e-9)
    for count in (1, 2, 10, 59, 60, 1000):
        assert isclose(ladder.first(count), sums[min(count, 60) - 1], rel_tol=1e-9)
    assert ladder.at_least(1.0) >= 1.0
    for least in (0.5 * weights[-1], 0.9 * weights[30], 0.5):
        assert isclose(ladder.at_least(least), fsum(w for w in weights if w >= least), rel_tol=1e-9)
    # Beyond that a weight is lost in the sums, and tokens of equal weight may stand in another order.
    for place in [place for place in range(60) if weights[place] > 1e-6 * sums[-1]]:
        token, reached = ladder.reach(sums[place] - 0.5 * weights[place])
        assert isclose(weights[[t for _, t in ranked].index(token)], weights[place], rel_tol=1e-9)
        assert isclose(reached, sums[place], rel_tol=1e-9)
    assert isclose(ladder.reach(2 * sums[-1])[1], sums[-1], rel_tol=1e-9)


@pytest.mark.parametrize("exponent", [0.5, 0.9, 2.0])
def test_ladder_of_real_ones(exponent):
    """The same in the bundled vocabulary."""
    for distribution in REAL:
        ranked = list(distribution.ranked())
        best = ranked[0][0]
        sums = list(accumulate((p / best) ** exponent for p, _ in ranked))
        ladder = Ladder(distribution, exponent, best)
        for place in (0, 1, 2, 10, 100, 1000, 4000, len(sums) - 1):
            weight = (ranked[place][0] / best) ** exponent
            token, reached = ladder.reach(sums[place] - 0.5 * weight)
            assert isclose(distribution.chance(token), ranked[place][0], rel_tol=1e-9)
            assert isclose(reached, sums[place], rel_tol=1e-9)
            assert isclose(ladder.first(place + 1), sums[place], rel_tol=1e-9)


def test_memory_is_bounded(monkeypatch):
    """What was worked out is forgotten when it becomes too much, and comes out the same the next time."""
    monkeypatch.setattr("engy_mock.model.statistics._MAX_KEPT", 3)
    monkeypatch.setattr("engy_mock.model.statistics._MAX_EXPONENTS", 2)
    ngrams = toy().ngrams
    small = Statistics(ngrams, 60)
    for before, last in [(place % 7, place % 11) for place in range(80)]:
        mine, whole = small.after(before, last), toy().after(before, last)
        assert (mine.known, mine.scale, mine.place) == (whole.known, whole.scale, whole.place)
        for exponent in (0.5, 0.6, 0.7, 2.0):
            assert mine.pair.power_sum(exponent) == whole.pair.power_sum(exponent)
        assert len(mine.pair._powers) <= 2
    assert len(small._triples) <= 3
    assert len(small._pairs) <= 3
    assert len(small._single._sums) <= 2


@pytest.mark.parametrize(
    ("chance", "expected"),
    [(1.0, 0.0), (0.5, -0.693148), (1e-30, -69.077553), (1e-44, FLOOR), (1e-300, FLOOR), (0.0, FLOOR)],
)
def test_logprob(chance, expected):
    """E-112, R-45: six decimals, rounded down, never above 0 or below -100."""
    assert logprob(chance) == expected


@given(st.floats(1e-40, 1))
def test_logprob_is_close(chance):
    """A log probability is at most a millionth below the logarithm, and never above it."""
    assert -1.001e-6 < logprob(chance) - log(chance) <= 1e-12
