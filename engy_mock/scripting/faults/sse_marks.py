"""Faults of the end mark: `[DONE]` missing, doubled, spelt otherwise, or where it should not be ("SSE")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Fault, fault
from engy_mock.vocabulary.events import Ended
from engy_mock.vocabulary.wire import End, Frame, Step

MARK = sse.event(sse.END_MARK)

Line = Annotated[str, Field(pattern=r"^[^\r\n]*$")]


def _remarked(steps: Iterator[Step], change: Callable[[Frame], Sequence[Frame]]) -> Iterator[Step]:
    """The steps with other frames in place of the end mark."""
    for step in steps:
        if sse.is_event(step) and sse.is_end_mark(step):
            yield from change(step)
        else:
            yield step


@fault("no-done", endpoints=("chat",), surfaces=("v1",), streams=True)
class NoDone(Fault):
    """End a stream without `[DONE]`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Everything but the end mark."""
        return _remarked(steps, lambda mark: ())


@fault("done-under-v5", endpoints=("chat", "completions", "responses"), surfaces=("v5",), streams=True)
class DoneUnderV5(Fault):
    """End a stream under `/v5` with `[DONE]`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The end mark of other services behind everything."""
        is_stream = False
        for step in steps:
            is_stream |= sse.is_event(step)
            if is_stream and isinstance(step, End):
                yield Frame(MARK, Ended())
            yield step


@fault("double-done", endpoints=("chat",), surfaces=("v1",), streams=True)
class DoubleDone(Fault):
    """End a stream with `[DONE]` twice."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The end mark and the end mark."""
        return _remarked(steps, lambda mark: (mark, mark))


@fault("done-variant", endpoints=("chat",), surfaces=("v1",), streams=True)
class DoneVariant(Fault):
    """Spell `[DONE]` otherwise: `text` is the data, or the whole line if it begins with `data:`."""

    text: Line = "[done]"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Another end mark."""
        line = self.text if self.text.startswith("data:") else f"data: {self.text}"
        return _remarked(steps, lambda mark: (replace(mark, data=f"{line}\n\n".encode()),))


@fault("after-done", endpoints=("chat",), surfaces=("v1",), streams=True)
class AfterDone(Fault):
    """Say the last piece once more behind `[DONE]`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Content that is too late."""
        done = list(steps)
        pieces = [step for step in done if sse.is_event(step) and step.is_piece]
        late = [replace(step, is_piece=False) for step in pieces[-1:]]
        return _remarked(iter(done), lambda mark: (mark, *late))
