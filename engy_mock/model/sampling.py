"""How a token is drawn from a distribution: the documented knobs, acting as documented.

Order: penalties and bias, temperature, `top_k`, `top_p`, `min_p`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp, inf, pow

from engy_mock.model.distribution import Distribution
from engy_mock.model.ladder import Ladder

_STEPS = 16
"""How many tokens are looked at one by one before their weights are summed up otherwise."""

_MANY = 64
"""Where so many tokens stand out, as penalties make them, it is quicker to begin with sums ..."""

_LIKELY = 0.3
"""... unless one of them is this likely."""

_STEEP = 4.0
"""Above this exponent, which a temperature of 1/4 means, the weights of rare tokens are lost in such sums."""

_NOTHING = 1e-20
"""A relative weight that no number of tokens could make felt."""

COLDEST = 1e-2
"""A temperature below it acts like this one."""

_MOST = 150.0
"""As far as penalties and bias raise a token, in nats, without a number that overflows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The numbers in force for one answer."""

    temperature: float = 1.0
    top_p: float = 0.95
    top_k: int | None = None
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)

    @property
    def changes_weights(self) -> bool:
        """Penalties or a bias move single tokens, so every step must look at them."""
        return bool(self.presence_penalty or self.frequency_penalty or self.logit_bias)


@lru_cache(maxsize=256, typed=True)
def knobs_without_bias(
    temperature: float, top_p: float, top_k: int | None, min_p: float, presence: float, frequency: float
) -> Knobs:
    """These numbers, which are the same for most requests."""
    return Knobs(
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        presence_penalty=presence,
        frequency_penalty=frequency,
    )


def weighted(distribution: Distribution, knobs: Knobs, counts: Mapping[int, int]) -> Distribution:
    """The distribution after penalties and bias; `counts` says how often each token was written before."""
    if not knobs.changes_weights:
        return distribution
    shifts = _shifts(knobs, counts)
    excess = max(shifts.values(), default=0.0) - _MOST
    if excess <= 0.0:
        return distribution.with_chances(_shifted(distribution, shifts, 0.0))
    # What is raised beyond any number is left where it is, and all the rest lowered instead.
    rest = exp(-excess)
    weights = {token: p * rest for token, p in distribution.special.items()}
    weights |= _shifted(distribution, shifts, excess)
    return Distribution(distribution.base, distribution.scale * rest, weights)


def _shifted(distribution: Distribution, shifts: Mapping[int, float], excess: float) -> dict[int, float]:
    """The weights of these tokens, which are very many in long texts: few of them are special at any place."""
    special, known, single = distribution.special, distribution.base.known, distribution.base.single.chance
    scale = distribution.scale
    rest = scale * distribution.base.scale
    factors = {shift: exp(shift - excess) for shift in dict.fromkeys(shifts.values())}
    weights = {token: rest * single[token] * factors[shift] for token, shift in shifts.items()}
    for token in filter(shifts.__contains__, (*known, *special)):
        p = special.get(token)
        weights[token] = (scale * known[token] if p is None else p) * factors[shifts[token]]
    return weights


def draw(distribution: Distribution, knobs: Knobs, unit: float) -> int:
    """The token that the number `unit` in [0, 1) picks."""
    if knobs.temperature == 0:
        return distribution.first()
    exponent = 1.0 / max(knobs.temperature, COLDEST)
    top_k = knobs.top_k if knobs.top_k is not None and knobs.top_k > 0 else None
    if len(distribution.special) > _MANY and exponent <= _STEEP:
        highest = distribution.highest()
        if highest < _LIKELY:
            return _drawn_by_sums(Ladder(distribution, exponent, highest), knobs, top_k, unit)
    ranked = distribution.ranked()
    best, token = next(ranked)
    if top_k is None:
        total = _total(distribution, exponent, best)
        is_whole = knobs.top_p >= 1.0 and knobs.min_p <= 0.0
        enough = (unit if is_whole else knobs.top_p) * total
    else:
        is_whole = False
        enough = inf
    # Weights are relative to the likeliest token, so that a low temperature cannot underflow.
    kept = [(1.0, token)]
    reached = 1.0
    most = _STEPS if exponent <= _STEEP else inf
    for p, other in ranked:
        if reached > enough or (reached == enough and not is_whole) or len(kept) == top_k:
            break
        weight = pow(p / best, exponent)
        if top_k is None and weight < knobs.min_p:
            break
        if len(kept) >= most:
            return _drawn_by_sums(Ladder(distribution, exponent, best), knobs, top_k, unit)
        kept.append((weight, other))
        reached += weight
    if is_whole:
        return kept[-1][1]
    if top_k is not None:
        kept, reached = _nucleus(kept, knobs.top_p * reached, knobs.min_p)
    aim = unit * reached
    for weight, token in kept:
        aim -= weight
        if aim < 0.0:
            return token
    return kept[-1][1]


def _drawn_by_sums(ladder: Ladder, knobs: Knobs, top_k: int | None, unit: float) -> int:
    """The same where too many tokens may come next to look at each."""
    whole = reached = ladder.total if top_k is None else ladder.first(top_k)
    if knobs.top_p < 1.0:
        reached = min(reached, ladder.reach(knobs.top_p * whole)[1])
    if knobs.min_p > 0.0:
        reached = min(reached, ladder.at_least(knobs.min_p))
    return ladder.reach(unit * reached)[0]


def draw_special(special: Mapping[int, float], knobs: Knobs, unit: float) -> int:
    """The token that `draw` would pick, worked out from those that stand out alone; -1 if they do not suffice.

    They do not where one of them may be less likely than another token, or a token beyond them may be drawn.
    """
    if knobs.top_k is not None or knobs.min_p > 0.0 or not special:
        return -1
    rows = sorted([(-p, token) for token, p in special.items()])
    best, token = rows[0]
    reached = sum(special.values())
    rest = 1.0 - reached
    if -best <= rest:
        return -1
    if knobs.temperature == 0 or (knobs.temperature <= 1.0 and -best >= knobs.top_p):
        return token
    if knobs.temperature != 1.0 or -rows[-1][0] <= rest:
        return -1
    kept = 1.0
    if knobs.top_p <= reached:
        kept = 0.0
        for p, _ in rows:
            kept -= p
            if kept >= knobs.top_p:
                break
    elif knobs.top_p < 1.0:
        return -1
    aim = unit * kept
    for p, token in rows:
        aim += p
        if aim < 0.0:
            return token
    return -1


def _shifts(knobs: Knobs, counts: Mapping[int, int]) -> dict[int, float]:
    """By how much each token is raised or lowered, in nats."""
    presence, frequency = knobs.presence_penalty, knobs.frequency_penalty
    shifts: dict[int, float] = {}
    if presence or frequency:
        shifts = {token: -presence - frequency * n for token, n in counts.items()}
    for token, bias in knobs.logit_bias.items():
        shifts[token] = shifts.get(token, 0.0) + bias
    return shifts


def _nucleus(kept: list[tuple[float, int]], enough: float, least: float) -> tuple[list[tuple[float, int]], float]:
    """The first tokens that reach this weight together, or have at least that weight each."""
    reached = 0.0
    for place, (weight, _) in enumerate(kept):
        if reached >= enough or weight < least:
            return kept[:place], reached
        reached += weight
    return kept, reached


def _total(distribution: Distribution, exponent: float, best: float) -> float:
    """The sum of all weights relative to the likeliest."""
    if exponent <= _STEEP:
        return max(1.0, distribution.power_sum(exponent) / pow(best, exponent))
    total = 0.0
    for p, _ in distribution.ranked():
        weight = pow(p / best, exponent)
        total += weight
        if weight < _NOTHING:
            break
    return total
