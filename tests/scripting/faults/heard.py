"""How a client's attempt ended: what it got to see, and with which exception."""

from collections.abc import Callable
from typing import Any


class Heard:
    """What came of one request: what a client got to see, and the exception that ended it, if one did."""

    def __init__(self, listen: Callable[[list[Any]], object]) -> None:
        self.seen: list[Any] = []
        self.error: Exception | None = None
        try:
            listen(self.seen)
        except Exception as error:
            self.error = error

    def ends_with(self, wanted: type[Exception] | None) -> None:
        """It ended with an exception of exactly this class, or with none."""
        assert type(self.error) is (type(None) if wanted is None else wanted), repr(self.error)
