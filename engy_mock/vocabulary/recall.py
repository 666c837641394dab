"""What a function has said of objects that do not change, without asking it again."""

from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Found = TypeVar("Found")

MOST = 64


class Recall(Generic[Thing, Found]):
    """A function whose last answers are remembered, by the identity of what it was asked about.

    For what cannot be hashed, or would be hashed for longer than it takes to ask. What it is asked about is kept
    alive until others take its place; any number of threads may ask.
    """

    __slots__ = ("_function", "_known")

    def __init__(self, function: Callable[[Thing], Found]) -> None:
        self._function = function
        self._known: dict[int, tuple[Thing, Found]] = {}

    def __call__(self, thing: Thing) -> Found:
        """What the function says of this one."""
        known = self._known.get(id(thing))
        if known is not None and known[0] is thing:
            return known[1]
        found = self._function(thing)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[id(thing)] = (thing, found)
        return found
