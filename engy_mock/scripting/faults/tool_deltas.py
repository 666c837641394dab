"""Faults of indexes, ids and names of tool calls, and of how these are spread over chunks ("Chat")."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from engy_mock.scripting.chunks import CALLING, CHAT, TALKING, calls, fragmented, function, with_calls
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.items import function_calls
from engy_mock.scripting.sse import Document, documents, rewritten
from engy_mock.vocabulary.events import Event, ToolCallDelta
from engy_mock.vocabulary.wire import Frame, Step


def halves(arguments: str) -> tuple[str, str]:
    """Arguments in two parts."""
    half = (len(arguments) + 1) // 2
    return arguments[:half], arguments[half:]


def _with_index(steps: Iterator[Step], change: Callable[[int], int | None]) -> Iterator[Step]:
    def changed(call: Document) -> None:
        if isinstance(call.get("index"), int):
            call["index"] = change(call["index"])

    return with_calls(steps, changed)


def _spread(
    steps: Iterator[Step],
    change: Callable[[Document, Document, int], object],
    parts: Callable[[str], tuple[str, ...]] = halves,
) -> Iterator[Step]:
    """The steps with each call in several chunks, which `change` alters."""
    for step, found in documents(steps):
        if isinstance(step, Frame) and len(calls(found)) == 1:
            yield from fragmented(step, found, parts, change)
        else:
            yield step


@fault("tool-index-missing", endpoints=CHAT, streams=True)
class ToolIndexMissing(Fault):
    """Leave out the indexes of tool calls."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without indexes."""
        return with_calls(steps, lambda call: call.pop("index", None))


@fault("tool-index-null", endpoints=CHAT, streams=True)
class ToolIndexNull(Fault):
    """Give null as the index of each tool call."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other indexes."""
        return _with_index(steps, lambda _: None)


@fault("tool-index-gap", endpoints=CHAT, streams=True)
class ToolIndexGap(Fault):
    """Leave a gap between the indexes of tool calls: 0, 2, 4."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other indexes."""
        return _with_index(steps, lambda index: 2 * index)


@fault("tool-index-from-one", endpoints=CHAT, streams=True)
class ToolIndexFromOne(Fault):
    """Count tool calls from 1."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other indexes."""
        return _with_index(steps, lambda index: index + 1)


@fault("tool-index-reused", endpoints=CHAT, streams=True)
class ToolIndexReused(Fault):
    """Give all tool calls the index 0, each with its whole arguments."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other indexes."""
        return _with_index(steps, lambda _: 0)


@fault("tool-id-missing", endpoints=CALLING)
class ToolIdMissing(Fault):
    """Leave out the ids of tool calls: `id`, or in responses `call_id`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without ids."""

        def changed(found: Document, _: Frame) -> Document:
            for call in calls(found):
                call.pop("id", None)
            for item in function_calls(found):
                item.pop("call_id", None)
            return found

        return rewritten(steps, changed)


@fault("tool-id-empty", endpoints=TALKING)
class ToolIdEmpty(Fault):
    """Give tool calls an empty id."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with other ids."""
        for event in events:
            yield _with_id(event, "") if isinstance(event, ToolCallDelta) else event


@fault("tool-id-duplicated", endpoints=TALKING)
class ToolIdDuplicated(Fault):
    """Give all tool calls the id of the first."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same with other ids."""
        first: str | None = None
        for event in events:
            if isinstance(event, ToolCallDelta):
                if first is None:
                    first = event.call.id
                yield _with_id(event, first)
            else:
                yield event


@fault("tool-id-every-chunk", endpoints=CHAT, streams=True)
class ToolIdEveryChunk(Fault):
    """Give the id of a tool call in each of its chunks again."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Calls in chunks that all have the id."""
        return _spread(steps, lambda part, call, _: part.update(id=call.get("id")))


@fault("tool-name-repeated", endpoints=CHAT, streams=True)
class ToolNameRepeated(Fault):
    """Give the name of a tool in each of its chunks again."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Calls in chunks that all have the name."""
        return _spread(steps, lambda part, call, _: function(part).update(name=function(call).get("name")))


@fault("tool-name-split", endpoints=CHAT, streams=True)
class ToolNameSplit(Fault):
    """Give the name of a tool in two parts, before its arguments."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Calls in chunks, the first two with halves of the name."""

        def changed(part: Document, call: Document, place: int) -> None:
            name = halves(str(function(call).get("name", "")))
            if place < len(name):
                function(part)["name"] = name[place]

        return _spread(steps, changed, lambda arguments: ("", "", arguments))


@fault("tool-name-empty-later", endpoints=CHAT, streams=True)
class ToolNameEmptyLater(Fault):
    """Give an empty name in each chunk of a tool call but the first."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Calls in chunks, the later ones with an empty name."""
        return _spread(steps, lambda part, _, place: function(part).update(name="") if place else None)


@fault("tool-name-late", endpoints=CHAT, streams=True)
class ToolNameLate(Fault):
    """Give the name of a tool behind its arguments."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Calls in chunks, the last one with the name."""

        def changed(part: Document, call: Document, place: int) -> None:
            if place == 0:
                function(part).pop("name", None)
            else:
                function(part)["name"] = function(call).get("name")

        return _spread(steps, changed, lambda arguments: (arguments, ""))


@fault("tool-calls-interleaved", endpoints=CHAT, streams=True)
class ToolCallsInterleaved(Fault):
    """Tell several tool calls by turns, a part of each at a time."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The chunks of neighbouring calls by turns."""
        held: list[tuple[Frame, Document]] = []
        for step, found in documents(steps):
            if isinstance(step, Frame) and len(calls(found)) == 1:
                held.append((step, found))
                continue
            if isinstance(step, Frame):
                yield from _by_turns(held)
                held = []
            yield step
        yield from _by_turns(held)


def _by_turns(held: list[tuple[Frame, Document]]) -> Iterator[Frame]:
    if len(held) == 1:
        yield held[0][0]
        return
    lanes = [list(fragmented(frame, found, halves)) for frame, found in held]
    for turn in zip(*lanes, strict=True):
        yield from turn


def _with_id(event: ToolCallDelta, id: str | None) -> ToolCallDelta:
    return replace(event, call=event.call.changed(id=id))
