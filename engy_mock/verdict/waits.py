"""How long an answer asks its client to wait, and how long the client did."""

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from engy_mock.verdict.attempt import Attempt

GRANTED_SECONDS = 0.05
GRANTED_SHARE = 0.05
"""So much less than asked for is no ignoring: clocks are coarse, and machines are busy."""

GRANTED_OF_A_DATE = 0.1
"""The same for dates, which have whole seconds only."""

AT_ONCE_SECONDS = 0.1
"""Shorter waits than this are none."""

_IN_WORDS = re.compile(r"(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|mill|s)", re.I)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Watches:
    """What time the verdict goes by.

    `wall_offset` turns readings of the monotonic clock into Unix time. A clock that stands still `is_standing`: a
    client may move it instead of waiting.
    """

    wall_offset: float
    is_standing: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """A wait that was asked for: in words for people, and how many seconds are the least that honours it."""

    said: str
    least: float
    seconds: float
    is_in_head: bool = True


def wish(attempt: Attempt, watches: Watches) -> Wish | None:
    """The shortest wait that any hint in a refusal asks for; None where none does."""
    if watches not in attempt.wishes:
        attempt.wishes[watches] = min(wishes(attempt, watches), key=lambda one: one.least, default=None)
    found = attempt.wishes[watches]
    assert found is None or isinstance(found, Wish)
    return found


def wishes(attempt: Attempt, watches: Watches) -> list[Wish]:
    """The waits that the hints in a refusal ask for, which may argue with each other."""
    came = attempt.transfer
    if came is None or attempt.state != "refused":
        return []
    found = []
    milliseconds = _number(came.header("retry-after-ms"))
    if milliseconds is not None:
        found.append(_of_seconds(milliseconds / 1000, "retry-after-ms"))
    said = came.header("retry-after")
    seconds = _number(said)
    if seconds is not None:
        found.append(_of_seconds(seconds, "Retry-After"))
    elif said is not None and (dated := _dated(said, attempt, watches)) is not None:
        found.append(dated)
    if not found and came.header("retry-after-ms") is None and said is None:
        found += _in_body(attempt)
    return found


def gap(before: Attempt, after: Attempt, watches: Watches) -> float:
    """How many seconds a client lets pass between two attempts, on the wall or on a clock that it moves."""
    end = before.seen_end
    real = max(0.0, after.entry.course.arrived - end) if end is not None else 0.0
    return max(real, after.entry.asked_at - before.entry.asked_at) if watches.is_standing else real


def is_waited_for(before: Attempt, after: Attempt, watches: Watches) -> bool:
    """Whether a client that is patient may have made both: it honours a hint, and waits a little without one."""
    if before.state == "redirected":
        return True
    asked = wish(before, watches)
    return gap(before, after, watches) >= (AT_ONCE_SECONDS if asked is None else asked.least)


def _of_seconds(seconds: float, place: str, *, is_in_head: bool = True) -> Wish:
    least = seconds * (1 - GRANTED_SHARE) - GRANTED_SECONDS
    return Wish(f"{place} asks for {seconds:g} s", least, seconds, is_in_head)


def _number(said: object) -> float | None:
    """A number of seconds as hints have it; None for dates, words and what lies in the past."""
    text = said.strip() if isinstance(said, str) else str(said) if isinstance(said, int | float) else ""
    return float(text) if _NUMBER.fullmatch(text) else None


def _dated(said: str, attempt: Attempt, watches: Watches) -> Wish | None:
    """A date by the mock's clock or by the client's own, whichever is sooner: clients go by either."""
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    until = moment.timestamp()
    end = attempt.seen_end or attempt.entry.course.arrived
    seconds = max(0.0, min(until - attempt.entry.asked_at, until - (end + watches.wall_offset)))
    return Wish(f"Retry-After asks for a wait until {said}", seconds * (1 - GRANTED_OF_A_DATE), seconds)


def _in_body(attempt: Attempt) -> list[Wish]:
    """Hints in a field of the error or in the words of its message (R-81)."""
    fields = attempt.error_fields
    seconds, milliseconds = _number(fields.get("retry_after")), _number(fields.get("retry_after_ms"))
    if milliseconds is not None:
        seconds = milliseconds / 1000
    if seconds is not None:
        return [_of_seconds(seconds, "a field of the body", is_in_head=False)]
    match = _IN_WORDS.search(str(fields.get("message") or ""))
    if match is None:
        return []
    told = float(match[1]) / (1000 if match[2].lower().startswith("m") else 1)
    return [_of_seconds(told, "the message", is_in_head=False)]
