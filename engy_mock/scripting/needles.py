"""Which of many texts stand in a long one: found by short pieces of theirs, all at once."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

WIDTH = 4
"""How many characters a piece has; texts that are shorter are a piece of their own."""

PIECES = 4
"""So many pieces of a text have to be there before it is worth looking for."""

FEW = 16
"""So few texts are looked for one by one."""

Piece = tuple[str, ...]


class Sought(NamedTuple):
    """A text that may be there if these pieces are, beside the one that it is filed under."""

    text: str
    more: frozenset[Piece]


class Needles:
    """Texts to look for.

    Each is filed under the rarest of its pieces, so that a glance at the pieces of the long text rules most out.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(dict.fromkeys(texts))
        self._filed: dict[int, dict[Piece, list[Sought]]] = {}
        self._known: dict[int, frozenset[Piece]] = {}
        if len(self._texts) <= FEW:
            return
        widths: dict[int, list[str]] = {}
        for text in self._texts:
            widths.setdefault(min(len(text), WIDTH), []).append(text)
        for width, those in widths.items():
            self._file(width, those)

    def __bool__(self) -> bool:
        return bool(self._texts)

    def found_in(self, text: str) -> frozenset[str]:
        """Those that the text contains."""
        if not self._filed:
            return frozenset([one for one in self._texts if one in text])
        found: list[str] = []
        for width, filed in self._filed.items():
            there = self._known[width].intersection(_pieces(text, width))
            for piece in there:
                found += [one.text for one in filed.get(piece, ()) if one.more <= there and one.text in text]
        return frozenset(found)

    def _file(self, width: int, texts: list[str]) -> None:
        common = Counter(piece for text in texts for piece in dict.fromkeys(_pieces(text, width)))
        filed = self._filed[width] = {}
        known: list[Piece] = []
        for text in texts:
            first, *more = _rarest(text, width, common)
            filed.setdefault(first, []).append(Sought(text, frozenset(more)))
            known += [first, *more]
        self._known[width] = frozenset(known)


def _pieces(text: str, width: int) -> Iterator[Piece]:
    """All pieces of a text; of no width there is one, which is everywhere."""
    return zip(*[text[begin:] for begin in range(width)], strict=False) if width else iter([()])


def _rarest(text: str, width: int, common: Counter[Piece]) -> list[Piece]:
    """A few pieces that hardly overlap, the one that the fewest texts have first."""
    picked: list[tuple[int, Piece]] = []
    for place, piece in sorted(enumerate(_pieces(text, width)), key=lambda one: (common[one[1]], one[0])):
        if all(abs(place - other) >= width - 1 for other, _ in picked):
            picked.append((place, piece))
        if len(picked) == PIECES:
            break
    return [piece for _, piece in picked]
