"""Faults of the token counts: absent, wrong in form, too often, in the wrong place ("Chat")."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from engy_mock.scripting.chunks import ALL, CHUNKED, choices, tops
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document, document, rewritten, with_document
from engy_mock.vocabulary.events import Event, Finished, ReasoningDelta, UsageReported
from engy_mock.vocabulary.wire import Frame, Step


def _with_usage(steps: Iterator[Step], change: Callable[[Document], Any]) -> Iterator[Step]:
    """The steps with other counts wherever there are any."""

    def changed(found: Document, _: Frame) -> Document:
        for top in tops(found):
            if isinstance(top.get("usage"), dict):
                top["usage"] = change(top["usage"])
        return found

    return rewritten(steps, changed)


def _each_number(value: Any, change: Callable[[int], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _each_number(item, change) for name, item in value.items()}
    return change(value) if isinstance(value, int) else value


@fault("usage-missing", endpoints=ALL)
class UsageMissing(Fault):
    """Leave out the token counts that were asked for, and the chunk that is there for them alone."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without counts."""

        def changed(found: Document, _: Frame) -> Document | None:
            if found.get("choices") == [] and isinstance(found.get("usage"), dict):
                return None
            for top in tops(found):
                if isinstance(top.get("usage"), dict):
                    del top["usage"]
            return found

        return rewritten(steps, changed)


@fault("usage-null", endpoints=ALL)
class UsageNull(Fault):
    """Give null as the token counts."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without counts."""
        return _with_usage(steps, lambda _: None)


@fault("usage-zero", endpoints=ALL)
class UsageZero(Fault):
    """Count nothing; the answer is paid for as it is."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other counts."""
        return _with_usage(steps, lambda counts: _each_number(counts, lambda _: 0))


@fault("usage-strings", endpoints=ALL)
class UsageStrings(Fault):
    """Give the token counts as texts."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other counts."""
        return _with_usage(steps, lambda counts: _each_number(counts, str))


@fault("usage-every-chunk", endpoints=CHUNKED, streams=True)
class UsageEveryChunk(Fault):
    """Give the token counts so far in each chunk."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with the counts told once more, for `wire` to take."""
        for event in events:
            if isinstance(event, UsageReported):
                yield replace(event, is_shown=True)
            yield event

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The counts as far as they have come."""
        done, counts = _taken(steps)
        total = sum(isinstance(step, Frame) and step.is_piece for step in done)
        told = thought = 0
        for step in done:
            if isinstance(step, Frame) and counts is not None:
                told += step.is_piece
                thought += step.is_piece and isinstance(step.event, ReasoningDelta)
                found = document(step)
                if found is not None and choices(found):
                    is_over = told == total and isinstance(step.event, Finished)
                    found["usage"] = counts if is_over else _so_far(counts, told, thought)
                    yield with_document(step, found)
                    continue
            yield step


@fault("usage-on-finish", endpoints=CHUNKED, streams=True)
class UsageOnFinish(Fault):
    """Give the token counts on the finish chunk, and on no other."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with the counts shown, for `wire` to take."""
        return _shown(events)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The counts on another chunk."""
        return _on_finish(*_taken(steps))


@fault("usage-twice", endpoints=CHUNKED, streams=True)
class UsageTwice(Fault):
    """Give the token counts on the finish chunk and on one of their own."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with the counts shown."""
        return _shown(events)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The counts on one chunk more."""
        done = list(steps)
        return _on_finish(done, _taken(iter(done))[1])


def _shown(events: Iterator[Event]) -> Iterator[Event]:
    """The events with the counts shown, whether or not they were asked for."""
    for event in events:
        yield replace(event, is_shown=True) if isinstance(event, UsageReported) else event


def _taken(steps: Iterator[Step]) -> tuple[list[Step], Document | None]:
    """The steps without the counts that were made to be shown, and these counts."""
    left: list[Step] = []
    counts: Document | None = None
    for step in steps:
        if isinstance(step, Frame) and isinstance(step.event, UsageReported) and step.event.is_shown:
            found = (document(step) or {}).get("usage")
            counts = found if isinstance(found, dict) else None
        else:
            left.append(step)
    return left, counts


def _on_finish(steps: list[Step], counts: Document | None) -> Iterator[Step]:
    """The steps with these counts on the last finish chunk."""
    last = next((step for step in reversed(steps) if isinstance(step, Frame) and _finishes(step)), None)
    for step in steps:
        found = document(step) if isinstance(step, Frame) and step is last else None
        if isinstance(step, Frame) and found is not None and counts is not None:
            yield with_document(step, {**found, "usage": counts})
        else:
            yield step


def _finishes(frame: Frame) -> bool:
    return isinstance(frame.event, Finished)


def _so_far(counts: Document, told: int, thought: int) -> Document:
    """The counts when so many pieces have been told; what another fault has made no numbers stays as it is."""
    details = counts.get("completion_tokens_details") or {}
    limits = (counts.get("completion_tokens"), counts.get("prompt_tokens"), details.get("reasoning_tokens", 0))
    if not all(isinstance(limit, int) for limit in limits):
        return counts
    completion = min(told, counts["completion_tokens"])
    reasoning = min(thought, details.get("reasoning_tokens", 0))
    return {
        **counts,
        "completion_tokens": completion,
        "total_tokens": counts["prompt_tokens"] + completion,
        "completion_tokens_details": {**details, "reasoning_tokens": reasoning},
    }
