"""Values that a profile leaves open: a list is a choice, `{from, to}` a range, anything else is itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.seeds import Draws

ENDS = frozenset({"from", "to"})


def settled(value: Any, draws: Draws) -> Any:
    """One of the values that this may come to."""
    if isinstance(value, list):
        return draws.pick(value)
    if is_range(value):
        low, high = value["from"], value["to"]
        if isinstance(low, int) and isinstance(high, int):
            return low + draws.below(high - low + 1)
        # Two digits are enough to differ, and can be read.
        return round(low + (high - low) * draws.unit(), 2)
    return value


def possible(value: Any) -> Iterator[Any]:
    """The values that have to be looked at to know that all are good; raises MockError for a range without any."""
    if isinstance(value, list):
        if not value:
            raise MockError("an empty list leaves no choice")
        yield from value
    elif is_range(value):
        low, high = value["from"], value["to"]
        if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
            raise MockError(f"a range goes from a number to a number, got {value!r:.80}")
        if low > high:
            raise MockError(f"a range goes from the smaller number to the larger one, got {value!r:.80}")
        yield from (low, high)
    else:
        yield value


def is_range(value: object) -> bool:
    """Whether this is `{from, to}`."""
    return isinstance(value, Mapping) and value.keys() == ENDS
