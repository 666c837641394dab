"""The chance of every token at one place of a text: a few tokens that stand out, over the back-off model.

`special` holds the exact chances of the tokens that stand out; every other token has `scale` times its chance
after the last token. All chances together make 1.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from heapq import heapify, heappop
from operator import neg

from engy_mock.model.statistics import Pair, Triple

FLOOR = -100.0
"""No log probability is below it (E-112)."""


class Distribution:
    """One proper distribution over the whole vocabulary."""

    __slots__ = ("base", "scale", "special")

    def __init__(self, base: Pair, scale: float, special: dict[int, float]) -> None:
        self.base = base
        self.scale = scale
        self.special = special

    def chance(self, token: int) -> float:
        """The chance of this token, above 0."""
        found = self.special.get(token)
        return self.scale * self.base.chance(token) if found is None else found

    def ranked(self) -> Iterator[tuple[float, int]]:
        """Every token with its chance, likeliest first, equal chances by id; worked out as far as it is read."""
        special, scale = self.special, self.scale
        # A heap, since most readers stop soon.
        waiting = [(-p, token) for token, p in special.items()]
        heapify(waiting)
        for p, token in self.base.ranked():
            if token in special:
                continue
            mark = (-scale * p, token)
            while waiting and waiting[0] < mark:
                first, own = heappop(waiting)
                yield -first, own
            yield -mark[0], token
        while waiting:
            first, own = heappop(waiting)
            yield -first, own

    def top(self, count: int) -> tuple[list[int], list[float]]:
        """The likeliest tokens and their chances, likeliest first, equal chances by id."""
        special, scale, base = self.special, self.scale, self.base
        needed = count + len(special)
        if needed > len(base.head):
            found = [row for row, _ in zip(self.ranked(), range(count), strict=False)]
            return [token for _, token in found], [p for p, _ in found]
        tokens = base.head[:needed]
        chances = [scale * p for p in base.head_chances[:needed]]
        for token in special:
            if token in tokens:
                place = tokens.index(token)
                del tokens[place], chances[place]
        for token, p in special.items():
            place = bisect_left(chances, -p, key=neg)
            while place < len(chances) and chances[place] == p and tokens[place] < token:
                place += 1
            if place < count:
                tokens.insert(place, token)
                chances.insert(place, p)
        return tokens[:count], chances[:count]

    def first(self) -> int:
        """The likeliest token."""
        return self.top(1)[0][0]

    def highest(self) -> float:
        """The chance of the likeliest token, without putting the others in order."""
        special, base = self.special, self.base
        for token, p in zip(base.head, base.head_chances, strict=True):
            if token not in special:
                return max(self.scale * p, max(special.values(), default=0.0))
        return next(self.ranked())[0]

    def power_sum(self, exponent: float) -> float:
        """The sum of all chances raised to this exponent; knobs may have left them with a sum other than 1."""
        known, single, rest = self.base.known, self.base.single.chance, self.base.scale
        hidden = [known.get(token) or rest * single[token] for token in self.special]
        if exponent == 1.0:
            return sum(self.special.values()) + self.scale * max(1.0 - sum(hidden), 0.0)
        tail = self.base.power_sum(exponent) - sum([math.pow(p, exponent) for p in hidden])
        own = sum([math.pow(p, exponent) for p in self.special.values()])
        return own + math.pow(self.scale, exponent) * max(tail, 0.0)

    def with_chances(self, changed: dict[int, float]) -> "Distribution":
        """The same with other weights for some tokens; no longer proper, as knobs leave it before drawing."""
        return Distribution(self.base, self.scale, {**self.special, **changed})


def mixed(triple: Triple, special: dict[int, float]) -> Distribution:
    """Tokens that stand out with exactly these chances, the rest shared out as the back-off model does."""
    if not special:
        return Distribution(triple.pair, triple.scale, triple.known)
    rest = 1.0 - sum(special.values())
    share = rest / (1.0 - sum([triple.chance(token) for token in special]))
    chances = {token: share * p for token, p in triple.known.items() if token not in special}
    chances.update(special)
    return Distribution(triple.pair, share * triple.scale, chances)


def logprob(chance: float) -> float:
    """A natural logarithm as answers show it: six decimals, rounded down, from -100 to 0."""
    if chance <= 0.0:
        return FLOOR
    value = math.log(chance) * 1e6 // 1.0 / 1e6
    return value if value > FLOOR else FLOOR
