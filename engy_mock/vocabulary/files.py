"""Files that people name: read no further than they may be long, and only if they are files."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EISDIR
from pathlib import Path

from engy_mock.vocabulary.errors import MockError, quoted

MIB = 1024 * 1024

Mark = tuple[int, int]
"""How a file looks from outside: when it was saved, and its size."""

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    # Whoever opens a pipe waits for somebody who writes: that is not waited for here.
    | getattr(os, "O_NONBLOCK", 0)
)


def read(path: Path, most: int = MIB, name: str = "") -> bytes:
    """What is in a file; raises MockError for one that is longer, and for devices and pipes (Q-24)."""
    name = name or quoted(str(path))
    try:
        with _opened(path) as file:
            data, size = _read(file, most + 1), os.fstat(file).st_size
    except OSError as error:
        raise MockError(f"{name}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        # A path with a NUL or half a surrogate pair in it.
        raise MockError(f"{name}: cannot be read: {quoted(str(error))}") from None
    if len(data) > most:
        raise MockError(f"{name}: has {max(size, len(data))} bytes, at most {most} allowed")
    return data


def read_text(path: Path, most: int = MIB) -> str:
    """The same as a text in UTF-8."""
    try:
        return read(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise MockError(f"{quoted(str(path))}: is no text in UTF-8") from None


def mark(path: Path) -> Mark | None:
    """What changes when a file is saved; None if there is no such file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def begins(path: Path, size: int) -> bytes:
    """The first bytes of a file; nothing if there is none, or none that can be read."""
    try:
        with _opened(path) as file:
            return _read(file, size)
    except (OSError, ValueError):
        return b""


def check_regular(status: os.stat_result) -> None:
    """Raise OSError for what is no file: a folder, a device, a pipe."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no regular file")


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, _FLAGS)
    try:
        check_regular(os.fstat(file))
        yield file
    finally:
        os.close(file)


def _read(file: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.read(file, min(most, MIB))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
