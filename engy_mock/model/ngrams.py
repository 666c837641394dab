"""Which tokens follow which in the corpus: counts of one, two and three tokens, in flat arrays.

The arrays are made once for a vocabulary and kept in a file; a row is read only when it is asked for.
"""

import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

from engy_mock.vocabulary.errors import MockError

_MAGIC = b"engy-ngrams-2\n"
_FIELDS = ("I", "I", "I", "I", "I", "I", "Q", "I", "I", "I", "I")


class Ngrams:
    """Counts over a text of whole sentences.

    `text` is that text: sentence after sentence, each closed by the token `stop`. `closing_from` is the place
    in it where the facts begin. `single` counts each token by its id.
    """

    __slots__ = (
        "_pair_counts",
        "_pair_next",
        "_pair_starts",
        "_triple_counts",
        "_triple_keys",
        "_triple_next",
        "_triple_places",
        "_triple_starts",
        "closing_from",
        "single",
        "size",
        "text",
    )

    def __init__(self, arrays: Sequence["array[int]"]) -> None:
        head, self.text, self.single, self._pair_starts, self._pair_next, self._pair_counts = arrays[:6]
        self._triple_keys, self._triple_starts, self._triple_next, self._triple_counts = arrays[6:10]
        self._triple_places = arrays[10]
        self.size, self.closing_from = head

    @classmethod
    def count(cls, sentences: Iterable[Sequence[int]], closing: Iterable[Sequence[int]], size: int) -> "Ngrams":
        """Count sentences of tokens below `size`; the closing ones are the facts."""
        text = array("I")
        for sentence in sentences:
            text.extend(sentence)
            text.append(size)
        closing_from = len(text)
        for sentence in closing:
            text.extend(sentence)
            text.append(size)
        single = array("I", bytes(4 * size))
        pairs: dict[int, Counter[int]] = {}
        triples: dict[int, Counter[int]] = {}
        places: dict[tuple[int, int], int] = {}
        before, last = size, size
        for place, token in enumerate(text):
            if token != size:
                single[token] += 1
                if last != size:
                    pairs.setdefault(last, Counter())[token] += 1
                    if before != size:
                        key = before * (size + 1) + last
                        triples.setdefault(key, Counter())[token] += 1
                        places.setdefault((key, token), place)
            before, last = (size, size) if token == size else (last, token)
        pair_starts, pair_next, pair_counts = array("I", [0]), array("I"), array("I")
        for token in range(size):
            for after, times in _ranked(pairs.get(token)):
                pair_next.append(after)
                pair_counts.append(times)
            pair_starts.append(len(pair_next))
        keys = array("Q", sorted(triples))
        starts, follow, times_, where = array("I", [0]), array("I"), array("I"), array("I")
        for key in keys:
            for after, times in _ranked(triples[key]):
                follow.append(after)
                times_.append(times)
                where.append(places[key, after])
            starts.append(len(follow))
        head = array("I", [size, closing_from])
        return cls([head, text, single, pair_starts, pair_next, pair_counts, keys, starts, follow, times_, where])

    def after(self, last: int) -> list[tuple[int, int]]:
        """(token, count) of what follows this token, most frequent first."""
        if last >= self.size:
            return []
        start, stop = self._pair_starts[last], self._pair_starts[last + 1]
        return list(zip(self._pair_next[start:stop], self._pair_counts[start:stop], strict=True))

    def after_both(self, before: int, last: int) -> tuple[list[tuple[int, int]], int]:
        """(token, count) of what follows these two, most frequent first, and where the first of them stands."""
        key = before * (self.size + 1) + last
        keys = self._triple_keys
        row = bisect_left(keys, key)
        if row == len(keys) or keys[row] != key:
            return [], -1
        start, stop = self._triple_starts[row], self._triple_starts[row + 1]
        found = list(zip(self._triple_next[start:stop], self._triple_counts[start:stop], strict=True))
        return found, self._triple_places[start]

    def dump(self) -> bytes:
        """The arrays as bytes, the same on every machine."""
        arrays = (
            array("I", [self.size, self.closing_from]),
            self.text,
            self.single,
            self._pair_starts,
            self._pair_next,
            self._pair_counts,
            self._triple_keys,
            self._triple_starts,
            self._triple_next,
            self._triple_counts,
            self._triple_places,
        )
        parts = [_MAGIC]
        for values in arrays:
            narrow = array("H", values) if max(values, default=0) < 1 << 16 else values[:]
            if sys.byteorder == "big":
                narrow.byteswap()
            data = narrow.tobytes()
            parts.append(f"{narrow.typecode}{len(values)}\n".encode())
            parts.append(data)
        return b"".join(parts)

    @classmethod
    def load(cls, data: bytes) -> "Ngrams":
        """Read what `dump` wrote; raises MockError for anything else."""
        if not data.startswith(_MAGIC):
            raise MockError("the counts of the language model are of another version")
        place = len(_MAGIC)
        arrays: list[array[int]] = []
        for _ in _FIELDS:
            line = data.index(b"\n", place)
            values: array[int] = array(data[place : place + 1].decode())
            stop = line + 1 + int(data[place + 1 : line]) * values.itemsize
            values.frombytes(data[line + 1 : stop])
            if sys.byteorder == "big":
                values.byteswap()
            arrays.append(values)
            place = stop
        return cls(arrays)


def _ranked(counts: Counter[int] | None) -> list[tuple[int, int]]:
    """Most frequent first, equal counts by id."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0])) if counts else []
