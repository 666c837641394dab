"""Faults of the list of choices: empty, missing, out of order ("Chat")."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from engy_mock.scripting.chunks import CHUNKED, choices, regrouped, with_choices, with_chunk
from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary.events import Event, UsageReported
from engy_mock.vocabulary.wire import Frame, Step

_HARMLESS = {"filtered": False, "severity": "safe"}
FILTER_RESULTS = [
    {
        "prompt_index": 0,
        "content_filter_results": dict.fromkeys(("hate", "self_harm", "sexual", "violence"), _HARMLESS),
    }
]
"""What a filter has found in the prompt, as some services say before they answer."""


@fault("choices-empty-first", endpoints=CHUNKED, streams=True)
class ChoicesEmptyFirst(Fault):
    """Begin with a chunk that has filter results and no choice."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One chunk more, before all others."""
        return with_chunk(
            steps, None, lambda chunk: chunk.update(choices=[], prompt_filter_results=FILTER_RESULTS)
        )


@fault("choices-empty-mid", endpoints=CHUNKED, streams=True)
class ChoicesEmptyMid(Fault):
    """Send a chunk without any choice after some pieces."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One chunk more."""
        return with_chunk(steps, self.after, lambda chunk: chunk.update(choices=[]))


@fault("choices-empty-last", endpoints=CHUNKED, streams=True)
class ChoicesEmptyLast(Fault):
    """Send the chunk with the usage and no choice, although nobody asked for it."""

    def suits(self, occasion: Occasion) -> bool:
        """Where it was not asked for."""
        request = occasion.asked.request
        return request is not None and not request.include_usage

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with the usage shown."""
        for event in events:
            yield replace(event, is_shown=True) if isinstance(event, UsageReported) else event


@fault("choices-missing", endpoints=CHUNKED, streams=True)
class ChoicesMissing(Fault):
    """Send a chunk without the key `choices` after some pieces."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One chunk more."""
        return with_chunk(steps, self.after, lambda chunk: chunk.pop("choices"))


@fault("choices-null", endpoints=CHUNKED, streams=True)
class ChoicesNull(Fault):
    """Send a chunk whose choices are null after some pieces."""

    after: Count = 0

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One chunk more."""
        return with_chunk(steps, self.after, lambda chunk: chunk.update(choices=None))


@fault("choices-interleaved", endpoints=CHUNKED)
class ChoicesInterleaved(Fault):
    """Tell several choices by turns, the last one first; a whole answer has them in that order."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The chunks of all choices by turns."""

        def by_turns(lanes: list[list[Step]]) -> Iterable[Step]:
            return [step for turn in zip_longest(*reversed(lanes)) for step in turn if step is not None]

        return reversed_choices(regrouped(steps, by_turns))


@fault("choice-index-missing", endpoints=CHUNKED)
class ChoiceIndexMissing(Fault):
    """Leave out the indexes of the choices."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without indexes."""
        return with_choices(steps, lambda choice, _: choice.pop("index", None))


def reversed_choices(steps: Iterator[Step]) -> Iterator[Step]:
    """A whole answer with its choices from the last to the first; chunks as they are."""

    def changed(document: Document, frame: Frame) -> Document:
        found: list[Any] = choices(document)
        return {**document, "choices": found[::-1]} if frame.is_whole and found else document

    return rewritten(steps, changed)
