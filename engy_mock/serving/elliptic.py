"""Signatures on the curve P-256 (FIPS 186-5) for certificates of a pretend service: repeatable, and no secret."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

_PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
SIZE = 32
"""The bytes of a coordinate, and of a secret."""

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Key:
    """A secret number; whoever knows the seed of the mock knows it."""

    secret: int

    @property
    def public(self) -> Point:
        """The point that belongs to the secret."""
        return _times(self.secret, _BASE)

    def sign(self, data: bytes) -> tuple[int, int]:
        """A signature, always the same for the same data; never for anything that has to be safe."""
        summary = int.from_bytes(sha256(data).digest(), "big")
        once = key_of(self.secret.to_bytes(SIZE, "big") + data).secret
        r = _times(once, _BASE)[0] % _ORDER
        s = pow(once, -1, _ORDER) * (summary + r * self.secret) % _ORDER
        return r, s


def key_of(what: bytes) -> Key:
    """The key that belongs to these bytes."""
    return Key(int.from_bytes(sha256(what).digest(), "big") % (_ORDER - 1) + 1)


@lru_cache(maxsize=64)
def _times(count: int, point: Point) -> Point:
    """The point added to itself so many times; `count` is above 0 and below the order."""
    total: Point | None = None
    while count:
        if count & 1:
            total = point if total is None else _sum(total, point)
        point = _sum(point, point)
        count >>= 1
    assert total is not None
    return total


def _sum(one: Point, other: Point) -> Point:
    """The sum of two points that do not cancel out."""
    (x, y), (u, v) = one, other
    slope = (3 * x * x - 3) * pow(2 * y, -1, _PRIME) if one == other else (v - y) * pow(u - x, -1, _PRIME)
    new = (slope * slope - x - u) % _PRIME
    return new, (slope * (x - new) - y) % _PRIME
