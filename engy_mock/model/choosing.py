"""How a token is drawn among those that are expected, without a look at any other: the knobs at their easiest."""

from functools import lru_cache
from itertools import accumulate
from math import pow

from engy_mock.model.sampling import COLDEST, Knobs

Shares = tuple[float, ...]
"""How tokens that are expected share out a certainty, in falling order, together 1."""

MAX_KNOWN = 256


class Chooser:
    """Draws what `draw` would draw, wherever it can be told from the expected tokens alone.

    A token that is the only one expected is drawn by every number below `sure`.
    """

    __slots__ = ("_certainty", "_exponent", "_known", "_top_p", "sure")

    def __init__(self, certainty: float, top_p: float, exponent: float | None, sure: float) -> None:
        self.sure = sure
        self._certainty = certainty
        self._top_p = top_p
        self._exponent = exponent
        self._known: dict[Shares, tuple[float, ...]] = {}

    def borders(self, shares: Shares) -> tuple[float, ...]:
        """The numbers below which each token is drawn, unless one before it is.

        From the last one on another token may be drawn; all are 0 where more has to be known than the shares.
        """
        found = self._known.get(shares)
        if found is None:
            found = self._divided(shares)
            if len(self._known) < MAX_KNOWN:
                self._known[shares] = found
        return found

    def _divided(self, shares: Shares) -> tuple[float, ...]:
        if len(shares) == 1:
            return (self.sure,)
        certainty, top_p, exponent = self._certainty, self._top_p, self._exponent
        rest = 1.0 - certainty
        if exponent is None or certainty * shares[-1] <= rest:
            return (0.0,) * len(shares)
        if top_p == 0.0:
            return (1.0,)
        if top_p >= 1.0:
            return tuple(accumulate([certainty * share for share in shares]))
        # All others together have at most this part: the steeper the exponent, the less.
        weights = [pow(share / shares[0], exponent) for share in shares]
        least = top_p * sum(weights)
        most = least / certainty
        if exponent == 1.0:
            least = most
        kept = list(accumulate(weights))
        for place, reached in enumerate(kept):
            if reached >= most or place + 1 == len(kept):
                return (*[below / reached for below in kept[:place]], 1.0)
            if reached >= least:
                break
        return (0.0,) * len(shares)


@lru_cache(maxsize=64)
def _chooser(certainty: float, temperature: float, top_p: float, is_cut: bool) -> Chooser | None:
    if top_p == 0.0:
        return Chooser(certainty, 0.0, 1.0, 1.0)
    if temperature <= 1.0 and top_p <= certainty:
        return Chooser(certainty, top_p, None if is_cut else 1.0 / max(temperature, COLDEST), 1.0)
    if temperature == 1.0:
        return Chooser(certainty, top_p, 1.0 if top_p >= 1.0 and not is_cut else None, certainty)
    return None


def chooser(knobs: Knobs, certainty: float) -> Chooser | None:
    """What draws among expected tokens under these knobs, or None if every token has to be looked at.

    `certainty` is the chance that the expected tokens have together.
    """
    if knobs.changes_weights:
        return None
    # Greedy is a nucleus of nothing but the likeliest token.
    top_p = 0.0 if knobs.temperature == 0 or knobs.top_k == 1 else knobs.top_p
    return _chooser(certainty, knobs.temperature, top_p, knobs.top_k is not None or knobs.min_p > 0.0)
