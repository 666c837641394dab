"""A stream as its events with their times, whatever the borders of the network were."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

_BORDER = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Moment:
    """An event as it stood on the wire, and when its last byte came, in milliseconds from the request on."""

    at: int
    data: bytes


def moments(chunks: Iterable[tuple[int, bytes]]) -> Iterator[Moment]:
    """The events in what came, each with the time of the chunk that completed it; together the same bytes."""
    came = list(chunks)
    data = b"".join([chunk for _, chunk in came])
    ends = list(accumulate([len(chunk) for _, chunk in came]))
    start = 0
    for border in (*[found.end() for found in _BORDER.finditer(data)], len(data)):
        if border > start:
            yield Moment(came[bisect_left(ends, border)][0], data[start:border])
            start = border


def payload(event: str) -> str:
    """What stands behind `data:` in an event, its lines joined; empty for a comment."""
    lines = [line.removeprefix("data:") for line in _LINE.split(event) if line.startswith("data:")]
    return "\n".join([line.removeprefix(" ") for line in lines])


def with_payload(event: str, before: str, after: str) -> str:
    """The event with another payload in place of the one before."""
    if before in event:
        return event.replace(before, after, 1)
    others = [line for line in _LINE.split(event) if line and not line.startswith("data:")]
    return "\n".join([*others, *[f"data: {line}" for line in after.split("\n")], "", ""])
