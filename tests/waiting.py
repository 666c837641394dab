"""Waiting for what happens in another thread, where no event tells of it."""

import time
from collections.abc import Callable

PATIENCE = 20.0
"""So many seconds: much longer than anything here takes, and shorter than anybody waits."""


def until(claim: Callable[[], object]) -> None:
    """Return when the claim holds; fail if it never does."""
    end = time.monotonic() + PATIENCE
    while not claim():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.003)
