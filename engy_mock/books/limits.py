"""What an account may use at once and within a minute, by the mock's clock (E-83, E-88, E-194)."""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import Literal, overload

from engy_mock.vocabulary.errors import MockError, RateLimited

NO_RETRY = ("x-should-retry", "false")

SECONDS = 60
"""What has been used so long ago does not count any more."""


class Limit:
    """A limit of its owner, checked whenever it is set: none, or a whole number from 1 on.

    Its value stands in the slot of the same name behind an underscore.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._slot = f"_{name}"

    @overload
    def __get__(self, holder: None, owner: type) -> Limit: ...
    @overload
    def __get__(self, holder: object, owner: type) -> int | None: ...
    def __get__(self, holder: object | None, owner: type) -> Limit | int | None:
        if holder is None:
            return self
        value: int | None = getattr(holder, self._slot)
        return value

    def __set__(self, holder: object, value: int | None) -> None:
        if value is not None and (type(value) is not int or value < 1):
            raise MockError(f"{self._name} is a whole number from 1 on, or None for no limit; got {value!r:.80}")
        setattr(holder, self._slot, value)


class Minute:
    """What has been used in the last sixty seconds, oldest first; `used` is the sum as of the last look."""

    __slots__ = ("_entries", "used")

    def __init__(self) -> None:
        self._entries: deque[tuple[float, int]] = deque()
        self.used = 0

    def copy(self) -> Minute:
        """Another minute in which the same was used."""
        other = Minute()
        other._entries, other.used = self._entries.copy(), self.used
        return other

    def add(self, amount: int, now: float) -> None:
        """Use so much."""
        self.look(now)
        if not amount:
            return
        self.used += amount
        if self._entries and self._entries[-1][0] == now:
            amount += self._entries.pop()[1]
        self._entries.append((now, amount))

    def look(self, now: float) -> None:
        """Forget what was used too long ago, and what a clock that went back has not come to yet."""
        entries = self._entries
        while entries and entries[0][0] + SECONDS <= now:
            self.used -= entries.popleft()[1]
        while entries and entries[-1][0] > now:
            self.used -= entries.pop()[1]

    def wait(self, amount: int, limit: int, now: float) -> int:
        """After how many whole seconds there is room for so much: 0 if there is now.

        What is more than the limit never fits: it waits for a whole minute.
        """
        self.look(now)
        over = self.used + amount - limit
        if over <= 0:
            return 0
        for since, used in self._entries:
            over -= used
            if over <= 0:
                return ceil(since + SECONDS - now)
        return SECONDS


def too_large(prompt_tokens: int, limit: int) -> RateLimited:
    """The refusal of a prompt that no wait makes room for: it says so, and asks for no other attempt."""
    return RateLimited(
        f"the prompt has {prompt_tokens} tokens, more than the limit of {limit} tokens per minute: "
        f"it has to be shorter, waiting does not help",
        limit=limit,
        unit="tokens",
        seconds=0,
        headers=(NO_RETRY,),
    )


def crowded(
    message: str, limit: int, *, unit: Literal["requests", "tokens"] = "requests", seconds: int = 1
) -> RateLimited:
    """The refusal for a limit in force; another request is welcome after so many seconds."""
    return RateLimited(message, limit=limit, unit=unit, seconds=seconds, headers=(("Retry-After", str(seconds)),))
