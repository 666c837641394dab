"""How long a command has waited because the mock told it to: that time is not its own."""

from collections.abc import Sequence

from engy_mock.books.entry import Entry
from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.waits import Watches, wishes

MOST_GRANTED = 600.0
"""So many seconds of a run may be waits; nothing of a longer one is granted, as nobody would see its end."""


def granted(entries: Sequence[Entry], watches: Watches, now: float) -> float:
    """The seconds in which the command did what it was told: nothing, until it was time to ask again."""
    waits: list[tuple[float, float]] = []
    alike: dict[bytes, list[Attempt]] = {}
    for attempt in map(Attempt, entries):
        alike.setdefault(attempt.fingerprint, []).append(attempt)
    for row in alike.values():
        ends = [*[after.entry.course.arrived for after in row[1:]], now]
        for attempt, until in zip(row, ends, strict=True):
            began = attempt.seen_end
            seconds = told(attempt, watches)
            if began is not None and until > began and seconds <= MOST_GRANTED:
                waits.append((began, min(until, began + seconds)))
    total, end = 0.0, 0.0
    # Calls may wait at the same time.
    for began, until in sorted(waits):
        total += max(0.0, until - max(began, end))
        end = max(end, until)
    return min(total, MOST_GRANTED)


def told(attempt: Attempt, watches: Watches) -> float:
    """The longest wait that a refusal asks for, in seconds; 0 where it asks for none."""
    return max([wish.seconds for wish in wishes(attempt, watches)], default=0.0)


def still_told(entries: Sequence[Entry], watches: Watches, now: float) -> float:
    """For how long the command was told to wait, longer than a campaign does, and still is; 0 if it is not."""
    last: dict[bytes, Attempt] = {}
    for attempt in map(Attempt, entries):
        last[attempt.fingerprint] = attempt
    found = [(one.seen_end, told(one, watches)) for one in last.values()]
    waits = [seconds for end, seconds in found if end is not None and end + seconds > now]
    is_used_up = granted(entries, watches, now) >= MOST_GRANTED
    return max([seconds for seconds in waits if is_used_up or seconds > MOST_GRANTED], default=0.0)
