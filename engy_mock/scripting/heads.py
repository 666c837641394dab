"""Head lines changed: headers set or taken away, wherever an answer begins."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from engy_mock.vocabulary.wire import Begin, Head, Step, Whole


def reheaded(steps: Iterable[Step], change: Callable[[Head], Head]) -> Iterator[Step]:
    """The steps with another head."""
    for step in steps:
        yield replace(step, head=change(step.head)) if isinstance(step, Begin | Whole) else step


def with_header(head: Head, name: str, value: str) -> Head:
    """The same with a header of this value, in place of all others of its name."""
    return replace(head, headers=(*without(head, name).headers, (name, value)))


def without(head: Head, *names: str) -> Head:
    """The same without headers of these names."""
    unwanted = {name.lower() for name in names}
    return replace(head, headers=tuple([row for row in head.headers if row[0].lower() not in unwanted]))
