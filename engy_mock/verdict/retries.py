"""What is wrong with how a client tries again: too soon, too often, in vain, or in step with others."""

from collections.abc import Iterable, Iterator, Sequence

from engy_mock.verdict.attempt import Attempt
from engy_mock.verdict.call import MAX_ATTEMPTS, Call
from engy_mock.verdict.finding import Finding
from engy_mock.verdict.mending import is_mendable, is_permanent, is_spent_quota
from engy_mock.verdict.waits import AT_ONCE_SECONDS, Watches, gap, wish

SAME_SHARE, SAME_SECONDS = 0.1, 0.02
"""Waits as alike as this are the same wait; shorter ones than that above are none."""

MIN_WAITS = 2
MIN_BRIEF = 4
"""So many waits show how a client waits, or that it does not, though a hint lets it."""

BRIEF_SECONDS = 0.25
GROWTH = 2.0
"""No client begins with a wait as short as that, unless later ones are so many times as long."""

MIN_CALLERS = 4
TOGETHER_SECONDS = 0.05
IN_STEP_SHARE, IN_STEP_SECONDS = 0.01, 0.015
"""So many callers that fail within so short a time, and whose waits are as alike as this, go in step."""

OWN_SLEEP = "; a sleep that the test has replaced must call engy.clock.advance(seconds)"
"""What a standing clock cannot know, and a test can tell it."""

LONG_SECONDS = 60.0
"""Who is asked to wait longer than this may give up without being blamed."""


def found_in(call: Call, watches: Watches) -> Iterator[Finding]:
    """What the attempts at one call show."""
    tries = call.tries
    for before, after in call.steps:
        yield from _in_vain(before, after, watches)
        asked = wish(before, watches)
        waited = gap(before, after, watches)
        if asked is not None and waited < asked.least:
            told = f"the {before.status} comes with a hint, {asked.said}, and the next attempt came sooner"
            yield Finding.of(
                "retry-after-ignored",
                (before.number, after.number),
                told + OWN_SLEEP if watches.is_standing else told,
                severity=None if asked.is_in_head else "warning",
                asked_for=asked.seconds,
                waited=waited,
            )
    if len(tries) > MAX_ATTEMPTS:
        evidence = f"{len(tries)} attempts at one call, {MAX_ATTEMPTS} are enough for any"
        yield Finding.of("retry-storm", call.numbers, evidence, lasted=_span(call))
    yield from _without_backoff(call, watches)
    charged = [attempt for attempt in call.attempts if attempt.entry.charged_micro]
    if len(charged) > 1:
        total = sum([attempt.entry.charged_micro for attempt in charged])
        evidence = f"{len(charged)} attempts at one call were paid for, {total} micro-USD in all"
        yield Finding.of("charged-twice", tuple([attempt.number for attempt in charged]), evidence)


def in_step(calls: Sequence[Call], watches: Watches) -> Iterator[Finding]:
    """Callers that failed together and came back together, more than once or in great number (no jitter)."""
    steps = [
        (before.seen_end or 0.0, gap(before, after, watches), before, after)
        for call in calls
        for before, after in call.steps
        if before.seen_end is not None and wish(before, watches) is None
    ]
    steps.sort(key=lambda one: one[0])
    place = 0
    while place < len(steps):
        together = [one for one in steps[place:] if one[0] <= steps[place][0] + TOGETHER_SECONDS]
        place += len(together)
        waits = [one[1] for one in together]
        spread, longest = max(waits) - min(waits), max(waits)
        is_in_step = spread <= longest * IN_STEP_SHARE + IN_STEP_SECONDS and min(waits) > AT_ONCE_SECONDS
        if len(together) >= MIN_CALLERS and is_in_step:
            numbers = tuple(sorted([one[3].number for one in together]))
            evidence = f"{len(together)} callers failed together, waited equally long and came back together"
            yield Finding.of("no-jitter", numbers, evidence, waited=longest, spread=spread)


def may_pass(attempt: Attempt, watches: Watches) -> bool:
    """Whether a good client would have tried again."""
    asked = wish(attempt, watches)
    if asked is not None and asked.seconds > LONG_SECONDS:
        return False
    return is_mendable(attempt)


def _in_vain(before: Attempt, after: Attempt, watches: Watches) -> Iterator[Finding]:
    """An attempt that could not succeed."""
    numbers = (before.number, after.number)
    if before.state != "refused" or before.should_retry is True:
        return
    if before.should_retry is False:
        evidence = f"the {before.status} says x-should-retry: false, and was tried again"
        yield Finding.of("retried-non-retryable", numbers, evidence)
    elif is_spent_quota(before):
        evidence = f"the {before.status} says that the quota is used up, and was tried again"
        yield Finding.of("retried-spent-quota", numbers, evidence, waited=gap(before, after, watches))
    elif not before.is_retryable and before.status != 425:
        yield Finding.of("retried-non-retryable", numbers, f"a {before.status} was tried again")
    elif is_permanent(before):
        evidence = f"the {before.status} has an error of the request inside, and was tried again"
        yield Finding.of("retried-permanent-error", numbers, evidence)


def _without_backoff(call: Call, watches: Watches) -> Iterator[Finding]:
    """Waits that nobody asked for, and that are none or always the same; or no wait at all, many times."""
    waits = [gap(before, after, watches) for before, after in call.steps if wish(before, watches) is None]
    brief = _brief(call, watches)
    if len(waits) >= MIN_WAITS and max(waits) <= AT_ONCE_SECONDS:
        evidence = f"{len(waits)} attempts came at once after a failure"
    elif len(waits) >= MIN_WAITS and max(waits) - min(waits) <= max(waits) * SAME_SHARE + SAME_SECONDS:
        evidence = f"{len(waits)} attempts came after the same wait each"
    elif len(brief) >= MIN_BRIEF:
        waits = brief
        evidence = f"{len(waits)} attempts came at once after a failure, or as soon as a hint let them"
    else:
        return
    yield Finding.of("no-backoff", call.numbers, evidence, longest_wait=max(waits))


def _brief(call: Call, watches: Watches) -> list[float]:
    """The waits that are shorter than any that a client would choose, if they do not grow.

    Some hints ask for next to nothing. Clients that count their attempts are official ones: they do as it says.
    """
    waits: list[float] = []
    for before, after in call.steps:
        asked = wish(before, watches)
        if asked is None or (asked.seconds <= AT_ONCE_SECONDS and after.count is None):
            waits.append(gap(before, after, watches))
    middle = len(waits) // 2
    is_growing = bool(middle) and max(waits[middle:]) > GROWTH * max(waits[:middle]) + SAME_SECONDS
    return [] if is_growing or max(waits, default=0.0) > BRIEF_SECONDS else waits


def _span(call: Call) -> float:
    return call.last.entry.course.arrived - call.attempts[0].entry.course.arrived


def deduplicated(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for each word and evidence of a call, with all exchanges that show it."""
    merged: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        key = (finding.word, finding.severity, finding.evidence)
        known = merged.get(key)
        if known is not None:
            numbers = tuple(sorted({*known.exchanges, *finding.exchanges}))
            finding = Finding.of(
                finding.word, numbers, finding.evidence, severity=finding.severity, **known.measured
            )
        merged[key] = finding
    yield from merged.values()
