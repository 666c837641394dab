"""Where every made-up value comes from: digests of what was asked, never a shared stream.

Equal keys give equal values in any process, on any machine and under any hash seed. Nothing else in the
package may import `random`, `uuid` or `secrets`.
"""

import secrets
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol, TypeVar

T = TypeVar("T")
Part = bytes | str | int

_MASK = (1 << 64) - 1
_UNIT = 1.0 / (1 << 53)
_LARGE = 16 * 1024
"""From here on a part costs more to copy than a call."""


def digest(*parts: Part) -> bytes:
    """32 bytes that stand for these parts in this order; no two different lists of parts share them."""
    told: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            if len(part) > _LARGE:
                return _digest_of_large(parts)
            told.append(b"b%d:%b" % (len(part), part))
        else:
            told.append(_text(part) if isinstance(part, str) else _number(part))
    return blake2b(b"".join(told), digest_size=32).digest()


def _digest_of_large(parts: Sequence[Part]) -> bytes:
    """The same without a copy of a body."""
    told = blake2b(digest_size=32)
    for part in parts:
        if isinstance(part, bytes):
            told.update(b"b%d:" % len(part))
            told.update(part)
        else:
            told.update(_text(part) if isinstance(part, str) else _number(part))
    return told.digest()


@lru_cache(maxsize=256)
def _text(part: str) -> bytes:
    """A text as it is digested; most are the same at every call."""
    data = part.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(data), data)


def _number(part: int) -> bytes:
    """A number as it is digested; most count something, and come once."""
    data = b"%d" % part
    return b"i%d:%b" % (len(data), data)


def hex_id(length: int, *parts: Part) -> str:
    """A lowercase hexadecimal id of `length` digits (at most 64) that stands for these parts."""
    return digest(*parts).hex()[:length]


def secret() -> str:
    """A text that nobody can guess; for keeping strangers out, never a part of an answer."""
    return secrets.token_urlsafe(24)


class UnitSource(Protocol):
    """Numbers in [0, 1) by position, as sampling needs them."""

    def at(self, position: int) -> float:
        """The number at this position; the same at every call."""
        ...


class Draws:
    """An endless, repeatable list of draws that belongs to one key.

    `at(i)` reads any position; `unit`, `below` and `pick` take the next one.
    """

    __slots__ = ("_next", "_start")

    def __init__(self, key: bytes) -> None:
        self._start = int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
        self._next = 0

    def at(self, position: int) -> float:
        """The number at this position, in [0, 1), with 53 random bits."""
        # SplitMix64: a counter whose bits are mixed; any position costs the same.
        bits = (self._start + position * 0x9E3779B97F4A7C15) & _MASK
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((bits ^ (bits >> 31)) >> 11) * _UNIT

    def unit(self) -> float:
        """The next number in [0, 1)."""
        value = self.at(self._next)
        self._next += 1
        return value

    def below(self, n: int) -> int:
        """The next whole number from 0 to n - 1; raises ValueError if n is below 1."""
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        return int(self.unit() * n)

    def pick(self, choices: Sequence[T]) -> T:
        """The next choice among these; raises ValueError if there are none."""
        return choices[self.below(len(choices))]
