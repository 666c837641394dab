"""What goes wrong with a schema, and how much effort is spent before saying so."""

from __future__ import annotations

# One step is one look at a value or a schema, some microseconds; all of them take well under a second.
MOST_EFFORT = 25_000


class UnusableSchema(ValueError):
    """No value can be made for this schema; the message begins with the JSON pointer to blame."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}")
        self.pointer = pointer
        self.reason = reason


class UnmetSchema(UnusableSchema):
    """The schema says what it should, but no value fits it."""


class Contradiction(Exception):
    """No value here; perhaps another branch has one."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}")
        self.pointer = pointer
        self.reason = reason


class Exhausted(Exception):
    """The effort allowed for one document is spent."""


class Effort:
    """Counts down the steps allowed for one document, so that every schema ends in bounded time."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MOST_EFFORT) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Take steps from what is left."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted
