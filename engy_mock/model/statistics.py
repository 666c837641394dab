"""How likely a token is after the two before it, from the corpus alone: a back-off model that is always proper.

Triples back off to pairs, pairs to single tokens, single tokens to an even share of the whole vocabulary. What
belongs to one last token is worked out once and kept, bounded.
"""

from collections.abc import Iterator
from itertools import accumulate
from math import pow

from engy_mock.model.ngrams import Ngrams

HEAD = 48
"""How many of the likeliest successors of a token are kept ready; enough for 30 alternatives."""

_MAX_KEPT = 8192
_MAX_EXPONENTS = 8


class Single:
    """The chance of each token without any context, with the tokens in falling order of it.

    `rank` is the place of each token in that order, `rising` are the chances in it with a minus before them.
    """

    __slots__ = ("_sums", "chance", "order", "rank", "rising")

    def __init__(self, ngrams: Ngrams, size: int, even_share: float) -> None:
        total = sum(ngrams.single)
        even = even_share / size
        scale = (1.0 - even_share) / total
        self.chance = [even + scale * count for count in ngrams.single]
        self.chance += [even] * (size - len(self.chance))
        self.order = sorted(range(size), key=lambda token: (-self.chance[token], token))
        self.rising = [-self.chance[token] for token in self.order]
        self.rank = [0] * size
        for place, token in enumerate(self.order):
            self.rank[token] = place
        self._sums: dict[float, list[float]] = {}

    def power_sums(self, exponent: float) -> list[float]:
        """The sums of the first 0, 1, 2, ... chances in falling order, each raised to this exponent."""
        known = self._sums.get(exponent)
        if known is None:
            if len(self._sums) >= _MAX_EXPONENTS:
                self._sums.clear()
            powers = [pow(-chance, exponent) for chance in self.rising]
            known = self._sums[exponent] = list(accumulate(powers, initial=0.0))
        return known


class Pair:
    """The chance of each token after one known token.

    Tokens that followed it in the corpus are in `known`; any other has `scale` times its single chance. `head`
    are the likeliest tokens in falling order, with their chances beside them.
    """

    __slots__ = ("_powers", "head", "head_chances", "known", "scale", "single")

    def __init__(self, single: Single, successors: list[tuple[int, int]], caution: float) -> None:
        self.single = single
        total = sum([count for _, count in successors])
        weight = total / (total + caution * len(successors)) if successors else 0.0
        self.scale = scale = 1.0 - weight
        chance = single.chance
        self.known = known = {token: weight * count / total + scale * chance[token] for token, count in successors}
        self._powers: dict[float, float] = {}
        others = 0
        head = [(-p, token) for token, p in known.items()]
        for token in single.order:
            if others == HEAD:
                break
            if token not in known:
                head.append((-scale * chance[token], token))
                others += 1
        head.sort()
        self.head = [token for _, token in head[:HEAD]]
        self.head_chances = [-p for p, _ in head[:HEAD]]

    def chance(self, token: int) -> float:
        """The chance of this token."""
        known = self.known.get(token)
        return self.scale * self.single.chance[token] if known is None else known

    def ranked(self) -> Iterator[tuple[float, int]]:
        """Every token with its chance, likeliest first, equal chances by id."""
        yield from zip(self.head_chances, self.head, strict=True)
        told = set(self.head)
        waiting = sorted([(-p, token) for token, p in self.known.items() if token not in told], reverse=True)
        told.update(self.known)
        chance, scale = self.single.chance, self.scale
        for token in self.single.order:
            if token in told:
                continue
            mark = (-scale * chance[token], token)
            while waiting and waiting[-1] < mark:
                first, own = waiting.pop()
                yield -first, own
            yield -mark[0], token
        while waiting:
            first, own = waiting.pop()
            yield -first, own

    def power_sum(self, exponent: float) -> float:
        """The sum of all chances raised to this exponent."""
        if exponent == 1.0:
            return 1.0
        found = self._powers.get(exponent)
        if found is None:
            if len(self._powers) >= _MAX_EXPONENTS:
                self._powers.clear()
            chance = self.single.chance
            others = sum([pow(chance[token], exponent) for token in self.known])
            tail = max(self.single.power_sums(exponent)[-1] - others, 0.0)
            own = sum([pow(p, exponent) for p in self.known.values()])
            found = self._powers[exponent] = own + pow(self.scale, exponent) * tail
        return found


class Triple:
    """The chance of each token after two known tokens: `known` where they were seen, else `scale` of the pair's.

    `place` is where the likeliest continuation stands in the corpus, or -1.
    """

    __slots__ = ("known", "pair", "place", "scale")

    def __init__(self, pair: Pair, successors: list[tuple[int, int]], place: int, caution: float) -> None:
        self.pair = pair
        self.place = place
        total = sum([count for _, count in successors])
        weight = total / (total + caution * len(successors)) if successors else 0.0
        self.scale = scale = 1.0 - weight
        self.known = {token: weight * count / total + scale * pair.chance(token) for token, count in successors}

    def chance(self, token: int) -> float:
        """The chance of this token."""
        known = self.known.get(token)
        return self.scale * self.pair.chance(token) if known is None else known


class Statistics:
    """The back-off model over one vocabulary; `caution` says how much it trusts what it never saw."""

    def __init__(self, ngrams: Ngrams, size: int, *, caution: float = 1.0, even_share: float = 0.02) -> None:
        self.ngrams = ngrams
        self.size = size
        self._caution = caution
        self._single = Single(ngrams, size, even_share)
        self._nothing = Pair(self._single, [], caution)
        self._pairs: dict[int, Pair] = {}
        self._triples: dict[tuple[int, int], Triple] = {}

    def after(self, before: int, last: int) -> Triple:
        """The distribution after these two tokens; an id outside the vocabulary stands for nothing."""
        key = (before, last)
        found = self._triples.get(key)
        if found is None:
            if len(self._triples) >= _MAX_KEPT:
                self._triples.clear()
            successors, place = self.ngrams.after_both(before, last) if before >= 0 <= last else ([], -1)
            found = self._triples[key] = Triple(self._pair(last), successors, place, self._caution)
        return found

    def _pair(self, last: int) -> Pair:
        if last < 0:
            return self._nothing
        found = self._pairs.get(last)
        if found is None:
            successors = self.ngrams.after(last)
            if not successors:
                return self._nothing
            if len(self._pairs) >= _MAX_KEPT:
                self._pairs.clear()
            found = self._pairs[last] = Pair(self._single, successors, self._caution)
        return found
