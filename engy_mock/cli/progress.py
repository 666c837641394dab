"""A bar that shows how far a long command is, where somebody looks."""

from typing import TextIO

WIDTH = 30
ERASED = "\r\x1b[K"


class Progress:
    """Draws itself on the last line of a terminal; elsewhere it does nothing."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._is_shown = stream.isatty()

    def show(self, done: int, name: str) -> None:
        """So many are done; the last of them had this name."""
        if self._is_shown:
            full = WIDTH * done // max(self._total, 1)
            bar = "#" * full + "." * (WIDTH - full)
            self._stream.write(f"{ERASED}[{bar}] {done}/{self._total} {name}")
            self._stream.flush()

    def clear(self) -> None:
        """Make room for another line."""
        if self._is_shown:
            self._stream.write(ERASED)
            self._stream.flush()
