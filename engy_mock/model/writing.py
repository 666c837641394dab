"""How the model writes: token after token from its own distribution."""

from engy_mock.model.choosing import chooser
from engy_mock.model.sampling import Knobs, draw, draw_special, weighted
from engy_mock.model.walking import Walker
from engy_mock.vocabulary.seeds import UnitSource


def write(
    reader: Walker,
    knobs: Knobs,
    draws: UnitSource,
    *,
    limit: int,
    until: frozenset[int],
    never_first: int,
    never: frozenset[int] = frozenset(),
    first: int | None = None,
) -> list[int]:
    """At most `limit` tokens, the last of them the first that is in `until`, if one came.

    The token `never_first` cannot be the first: an answer is never empty. The token `first` is, if one is given.
    Tokens in `never` are not drawn, however hot it is; none of them is ever expected.
    """
    written: list[int] = []
    counts: dict[int, int] = {}
    expecting = chooser(knobs, reader.certainty)
    plain = not knobs.changes_weights
    if first is not None and limit > 0:
        written.append(first)
        reader.advance(first)
        counts[first] = 1
    while len(written) < limit:
        token = -1
        if expecting is not None:
            written += reader.walk(expecting, draws, len(written), limit - len(written))
            if len(written) == limit:
                break
            if written and (expecting.sure == 1.0 or draws.at(len(written)) < expecting.sure):
                token = reader.closer
        if token < 0 and plain and written:
            token = draw_special(reader.expected(), knobs, draws.at(len(written)))
        if token < 0:
            distribution = weighted(reader.distribution(), knobs, counts)
            silent = never if written else never | {never_first}
            if silent:
                distribution = distribution.with_chances(dict.fromkeys(sorted(silent), 0.0))
            token = draw(distribution, knobs, draws.at(len(written)))
        written.append(token)
        if token in until:
            break
        reader.advance(token)
        if not plain:
            counts[token] = counts.get(token, 0) + 1
    return written
