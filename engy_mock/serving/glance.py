"""A whole answer as a client hears it, without the way over the bytes that would stand on a wire."""

import re
from functools import lru_cache

from engy_mock.serving.framing import BODILESS, is_framed
from engy_mock.serving.heard import Top
from engy_mock.vocabulary.wire import Head, Whole

MAX_VALUES = 4096
"""Longer headers take the long way, where clients have their bounds."""

_PRINTABLE = bytes(range(ord(" "), ord("~") + 1))
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def heard_at_once(answer: Whole, house: bytes) -> Top | None:
    """The top of an answer with nothing odd about it, else None; `house` are the lines on all answers."""
    head = answer.head
    if not 200 <= head.status < 600 or head.status in BODILESS or head.reason is not None or head.version != "1.1":
        return None
    names, values = zip(*head.headers, strict=True) if head.headers else ((), ())
    text = "\n".join(values)
    known = _names(names)
    if known is None or len(text) > MAX_VALUES or not text.isascii():
        return None
    encoded = text.encode()
    # A value that is empty, or has a blank at its ends, brings two of them side by side, as does what takes the
    # long way for nothing.
    row = b" %b " % encoded.replace(b"\n", b" ")
    if row.translate(None, _PRINTABLE) or b"  " in row or encoded.count(b"\n") != len(values) - 1:
        return None
    length = (b"Content-Length", b"%d" % len(answer.body))
    headers = [*_lines(house), *zip(known, encoded.split(b"\n"), strict=True), length]
    return Top(head.status, _phrase(head.status), headers)


@lru_cache(maxsize=8)
def _lines(house: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Headers out of their lines."""
    pairs = [line.split(b": ", 1) for line in house.split(b"\r\n")[:-1]]
    return tuple([(name, value) for name, value in pairs])


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> tuple[bytes, ...] | None:
    """The names of headers on the wire; None if one of them is odd, or there are none."""
    if not names or is_framed(names) or not all(_NAME.fullmatch(name) for name in names):
        return None
    return tuple([name.encode() for name in names])


@lru_cache(maxsize=64)
def _phrase(status: int) -> bytes:
    return Head(status, ()).phrase.encode("latin-1")
