"""One cell of the matrix to be measured, and where it is measured."""

from dataclasses import dataclass

from tests.matrix.columns import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many seconds a client that has a read timeout waits for the next bytes, and all wait for the end."""

    read: float
    whole: float


SHORT = Patience(read=1.0, whole=4.0)
"""For what never comes."""

DOUBTFUL = Patience(read=3.0, whole=4.5)
"""For signs of life without content: a client that hears none would be seen to lose its patience."""

LONG = Patience(read=30.0, whole=60.0)
"""For all else: a busy machine is no fault."""


@dataclass(frozen=True, slots=True)
class Job:
    """A kind, asked for by one client on one route in one form; an empty kind is the calm answer."""

    kind: str
    column: Column
    form: str

    @property
    def cell(self) -> tuple[str, str, str]:
        """Where its outcome stands."""
        return self.kind, self.column.name, self.form


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a mock is, and which key it takes.

    `authority` is the certificate of whoever signs its own, empty if nobody has to; `read_seconds` is for how long
    clients wait for it to speak, `retries` how often they try again: None is as often as they do by themselves.
    """

    origin: str
    api_key: str
    authority: str = ""
    read_seconds: float
    retries: int | None = 0
