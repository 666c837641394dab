"""The weights of a whole vocabulary summed up by rank, without walking over it.

At a high temperature thousands of tokens may come next. They are told in two rows that are both in falling
order: the few that this place of the text knows, and all others as they stand in the vocabulary. Wherever a
sum is cut, the place is found by halving.
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import pow
from operator import neg

from engy_mock.model.distribution import Distribution


class Ladder:
    """Every token by falling weight, its chance relative to `best` raised to an exponent."""

    __slots__ = (
        "_chances",
        "_exponent",
        "_factor",
        "_hidden",
        "_hidden_sums",
        "_others",
        "_scale",
        "_single",
        "_sums",
        "_tokens",
        "_weights",
    )

    def __init__(self, distribution: Distribution, exponent: float, best: float) -> None:
        base = distribution.base
        self._single = single = base.single
        scale = distribution.scale / best
        known = {token: scale * p for token, p in base.known.items()}
        known.update([(token, p / best) for token, p in distribution.special.items()])
        # Equal chances by id: the second sorting keeps the order of the first.
        self._tokens = tokens = sorted(known)
        tokens.sort(key=lambda token: -known[token])
        self._exponent = exponent
        self._chances = [-known[token] for token in tokens]
        self._weights = (
            [-p for p in self._chances] if exponent == 1.0 else [pow(-p, exponent) for p in self._chances]
        )
        self._sums = list(accumulate(self._weights, initial=0.0))
        self._scale = scale * base.scale
        self._factor = pow(self._scale, exponent)
        self._others = others = single.power_sums(exponent)
        self._hidden = sorted([single.rank[token] for token in known])
        self._hidden_sums = list(accumulate([others[r + 1] - others[r] for r in self._hidden], initial=0.0))

    @property
    def total(self) -> float:
        """The weights of all tokens together."""
        return self._sums[-1] + self._sum(len(self._single.rising))

    def first(self, count: int) -> float:
        """The weights of the `count` likeliest tokens together."""
        rows = range(len(self._tokens))
        row = bisect_right(rows, count, key=lambda row: row + 1 + self._count(self._ahead(row)))
        last = len(self._single.rising)
        return self._sums[row] + self._sum(bisect_left(range(last), count - row, key=self._count))

    def at_least(self, weight: float) -> float:
        """The weights of all tokens that have at least this weight, together; the heaviest always has."""
        row = bisect_right(self._weights, -weight, key=neg)
        if self._factor <= 0.0:
            return max(self._sums[row], 1.0)
        least = pow(weight / self._factor, 1.0 / self._exponent)
        return max(self._sums[row] + self._sum(bisect_right(self._single.rising, -least)), 1.0)

    def reach(self, aim: float) -> tuple[int, float]:
        """The first token with which the sum by rank exceeds `aim`, and that sum; else the last token."""
        sums = self._sums
        rows = range(len(self._tokens))
        row = bisect_right(rows, aim, key=lambda row: sums[row + 1] + self._sum(self._ahead(row)))
        begin, end = self._ahead(row - 1), self._ahead(row)
        if row in rows and sums[row] + self._sum(end) <= aim:
            return self._tokens[row], sums[row + 1] + self._sum(end)
        if begin == end:
            return self._tokens[row - 1], self.total
        place = bisect_right(range(begin + 1, end), aim, key=lambda place: sums[row] + self._sum(place)) + begin
        return self._visible(place), sums[row] + self._sum(place + 1)

    def _ahead(self, row: int) -> int:
        """How many of the others are likelier than this row; none before the first, and all behind the last."""
        if row < 0 or (self._scale <= 0.0 and row < len(self._tokens)):
            return 0
        if row == len(self._tokens):
            return len(self._single.rising)
        return bisect_left(self._single.rising, self._chances[row] / self._scale)

    def _sum(self, place: int) -> float:
        """The weights of the first so many tokens in the order of the vocabulary, without those told in rows."""
        hidden = self._hidden_sums[bisect_left(self._hidden, place)]
        return self._factor * (self._others[place] - hidden)

    def _count(self, place: int) -> int:
        """How many those are."""
        return place - bisect_left(self._hidden, place)

    def _visible(self, place: int) -> int:
        """The token of this rank in the vocabulary, or the next before it that is not told in rows."""
        hidden = set(self._hidden)
        while place > 0 and place in hidden:
            place -= 1
        return self._single.order[place]
