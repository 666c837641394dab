"""Reading a packed body while it passes by, without changing a byte of it."""

import zlib

WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}

MOST = 4 * 1024 * 1024
"""So many bytes at most come out of one piece: what packs better than that is no answer."""


class Unpacking:
    """Unpacks one body, piece by piece; `is_sound` until something in it cannot be read."""

    def __init__(self, coding: str) -> None:
        coding = coding.strip().lower()
        self._is_plain = coding in ("", "identity")
        self.is_sound = self._is_plain or coding in WINDOWS
        self._inflater = zlib.decompressobj(WINDOWS[coding]) if coding in WINDOWS else None

    def add(self, data: bytes) -> bytes:
        """What a piece comes to; nothing once the body is not sound."""
        if self._is_plain or not self.is_sound:
            return data if self._is_plain else b""
        assert self._inflater is not None
        try:
            text = self._inflater.decompress(data, MOST)
        except zlib.error:
            self.is_sound = False
            return b""
        self.is_sound = not self._inflater.unconsumed_tail
        return text

    @property
    def is_over(self) -> bool:
        """Whether the body may end here."""
        return self._is_plain or (self.is_sound and self._inflater is not None and self._inflater.eof)
