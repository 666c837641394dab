"""What the model thinks of given tokens: the log probability of each, and the likeliest in its place."""

from collections.abc import Sequence
from math import log

from engy_mock.model.distribution import Distribution, logprob, mixed
from engy_mock.model.reader import Reader
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.vocabulary.generation import Alternatives, TokenLogprob


class Place:
    """A place in a text, as the model sees it: the chance of each token there, and the likeliest."""

    __slots__ = ("_distribution", "_has_end", "_tokenizer", "_tops")

    def __init__(self, distribution: Distribution, tokenizer: Tokenizer, *, has_end: bool) -> None:
        self._distribution = distribution
        self._tokenizer = tokenizer
        self._has_end = has_end
        self._tops: dict[int, Alternatives] = {}

    def logprob(self, token: int) -> float:
        """The log probability of this token."""
        return logprob(self._distribution.chance(token))

    def top(self, count: int) -> Alternatives:
        """The likeliest tokens; the end of a text is no text, so that it is not among them."""
        found = self._tops.get(count)
        if found is None:
            end = self._tokenizer.end
            ids, chances = self._distribution.top(count + 1 if self._has_end else count)
            if self._has_end and end in ids:
                del chances[ids.index(end)]
                ids.remove(end)
            labels, raw = self._tokenizer.labels, self._tokenizer.raw
            values = [log(p) * 1e6 // 1.0 / 1e6 for p in chances[:count]]
            ids = ids[:count]
            found = self._tops[count] = Alternatives([labels[i] for i in ids], [raw[i] for i in ids], values)
        return found


class Places:
    """The places that the model has looked at, bounded: texts repeat their words a lot."""

    MAX_KEPT = 4096

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Place] = {}

    def ahead_of(self, reader: Reader) -> Place:
        """The place that a reader has come to."""
        special = reader.expected()
        triple = reader.triple
        # Two tokens that never met in the corpus say no more than the last of them.
        key = (reader.before if triple.known else -2, reader.last, *special.items())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= self.MAX_KEPT:
                self._known.clear()
            tokenizer = reader.language.tokenizer
            found = Place(mixed(triple, special), tokenizer, has_end=tokenizer.end in special)
            self._known[key] = found
        return found


def score(
    reader: Reader, tokens: Sequence[int], *, top: int = 0, first_is_known: bool = False
) -> list[TokenLogprob]:
    """The log probability of each of these tokens, which the reader reads, with the `top` likeliest in its place.

    Nothing precedes the first token of a text, so its value is None unless `first_is_known`.
    """
    labels, raw = reader.language.tokenizer.labels, reader.language.tokenizer.raw
    ahead_of = reader.language.places.ahead_of
    advance = reader.advance
    entries: list[TokenLogprob] = []
    rows: Sequence[tuple[str, bytes, float]] = ()
    for token in tokens:
        if reader.tokens or first_is_known:
            place = ahead_of(reader)
            if top:
                rows = place.top(top)
            entry = TokenLogprob(
                id=token, token=labels[token], raw=raw[token], logprob=place.logprob(token), top=rows
            )
        else:
            entry = TokenLogprob(id=token, token=labels[token], raw=raw[token], logprob=None)
        entries.append(entry)
        advance(token)
    return entries
