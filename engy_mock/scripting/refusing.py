"""How a fault refuses: in place of an answer, or in another form than its rule."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

from engy_mock.scripting.fault import Fault
from engy_mock.scripting.refusals import Refusal
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Event, Refused


def refused(
    events: Iterator[Event], status: int | None, *, usual: int, message: str | None = None, is_exact: bool = False
) -> Iterator[Refused]:
    """The refusal of the rule, unless another status is wanted; in place of an answer a refusal.

    It has the wanted status, or else the usual one. With `is_exact` no hint for another attempt may be added.
    """
    first = next(events, None)
    if isinstance(first, Refused) and status in (None, first.error.status):
        yield first if first.is_exact or not is_exact else Refused(first.error, is_exact=True)
    else:
        refusal = Refusal(status=usual if status is None else status, message=message)
        yield Refused(refusal.error(hurries=False), is_exact)


def reworded(
    error: ApiError,
    *,
    message: str | None = None,
    type: str | None = None,
    code: str | None = None,
    headers: Sequence[tuple[str, str]] | None = None,
) -> ApiError:
    """The same error told otherwise."""
    other = copy(error)
    if message is not None:
        other.args = (message,)
        other.message = message
    if type is not None:
        other.openai_type = other.anthropic_type = type  # type: ignore[misc]  # this error alone is told so
    if code is not None:
        other.code = code
    if headers is not None:
        other.headers = tuple(headers)
    return other


@dataclass(frozen=True)
class Refusing(Fault):
    """Refuse instead of answering; `limit` is the one in force, for a refusal that tells of it."""

    kind: ClassVar[str] = "refusing"

    refusal: Refusal
    limit: int | None = None

    def __post_init__(self) -> None:
        """Nothing to check: a refusal checks itself."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        error = self.refusal.error(hurries=False)
        if self.limit is not None:
            error.limit = self.limit  # type: ignore[attr-defined]  # what is refused for a limit has one
        yield Refused(error)
