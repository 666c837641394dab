"""A pipe whose reader has seen enough, as `head` has: no mistake of anybody."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

CLOSED = 141
"""The exit code of whoever is ended by a closed pipe: 128 and the number of the signal."""


def piped(command: Callable[[], int]) -> int:
    """Run a command to the last byte of its output; returns its exit code, or that of a closed pipe."""
    try:
        try:
            return command()
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
    except BrokenPipeError:
        _hush()
        return CLOSED


def _hush() -> None:
    """Let what is still to be written, at the end of the process at the latest, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            with suppress(OSError, ValueError):  # not every stream is a file
                os.dup2(nowhere, stream.fileno())
        except (AttributeError, OSError, ValueError):
            continue
    os.close(nowhere)
