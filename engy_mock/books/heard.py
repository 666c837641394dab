"""What the client under test says it got, so that it can be compared with what was sent."""

from collections.abc import Sequence
from dataclasses import dataclass

Kinds = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """An error as the client has reported it: the names of its class and of those that this one is a kind of.

    `says` joins its text with those of its causes, `statuses` are the numbers that any of them gives as a status.
    """

    kinds: Kinds
    says: str
    statuses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The end of one call as its caller saw it: a text, or an error.

    `texts` are the texts of its choices, `tool_calls` the names of the tools called; a `finish` of None was not
    told. `ids` are those by which the answer can be found, `behind` is how many exchanges there had been by then.
    """

    texts: Sequence[str] = ()
    tool_calls: Sequence[str] = ()
    finish: str | None = None
    error: Complaint | None = None
    ids: tuple[str, ...] = ()
    behind: int = 0
