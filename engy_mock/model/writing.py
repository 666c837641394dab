"""How the model writes: token after token from its own distribution, and what it thought of given tokens."""

from collections.abc import Sequence
from math import log

from engy_mock.model.choosing import chooser
from engy_mock.model.distribution import logprob, mixed
from engy_mock.model.language import Language
from engy_mock.model.sampling import Knobs, draw, draw_special, weighted
from engy_mock.model.walking import Walker
from engy_mock.vocabulary.generation import Alternatives, TokenLogprob
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
    silent = dict.fromkeys(sorted(never), 0.0)
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
            if written and reader.closer >= 0 and draws.at(len(written)) < expecting.sure:
                token = reader.closer
        if token < 0 and plain and written:
            token = draw_special(reader.expected(), knobs, draws.at(len(written)))
        if token < 0:
            distribution = weighted(reader.distribution(), knobs, counts)
            if silent or not written:
                silenced = silent if written else {**silent, never_first: 0.0}
                distribution = distribution.with_chances(silenced)
            token = draw(distribution, knobs, draws.at(len(written)))
        written.append(token)
        if token in until:
            break
        reader.advance(token)
        if not plain:
            counts[token] = counts.get(token, 0) + 1
    return written


def score(
    language: Language, tokens: Sequence[int], start: int, *, top: int = 0, first_is_known: bool = False
) -> list[TokenLogprob]:
    """The log probability of each token from `start` on, with the `top` likeliest in its place.

    Nothing precedes the first token of a text, so its value is None unless `first_is_known`.
    """
    tokenizer = language.tokenizer
    labels, raw = tokenizer.labels, tokenizer.raw
    end = tokenizer.end
    after = language.statistics.after
    reader = language.read(tokens[:start])
    entries: list[TokenLogprob] = []
    for token in tokens[start:]:
        if not reader.tokens and not first_is_known:
            entries.append(TokenLogprob(id=token, token=labels[token], raw=raw[token], logprob=None))
            reader.advance(token)
            continue
        special = reader.expected()
        distribution = mixed(after(reader.before, reader.last), special)
        rows: Sequence[tuple[str, bytes, float]] = ()
        if top:
            ids, chances = distribution.top(top + 1 if end in special else top)
            if end in special and end in ids:
                # The end of a text is no text: it is not among the alternatives.
                del chances[ids.index(end)]
                ids.remove(end)
            values = [log(p) * 1e6 // 1.0 / 1e6 for p in chances[:top]]
            ids = ids[:top]
            rows = Alternatives([labels[i] for i in ids], [raw[i] for i in ids], values)
        value = logprob(distribution.chance(token))
        entries.append(TokenLogprob(id=token, token=labels[token], raw=raw[token], logprob=value, top=rows))
        reader.advance(token)
    return entries
