"""Faults of the reason why an answer ended: missing, odd, twice, or another than the true one ("Chat")."""

from collections.abc import Iterator
from dataclasses import replace

from engy_mock.scripting.chunks import ALL, CHUNKED, choices, said
from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.items import ended
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import cut, middle, with_choices
from engy_mock.scripting.sse import Document, document, rewritten, with_document
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import Ended, Finished, UsageReported
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import Frame, Step


def reasons(found: Document) -> Iterator[tuple[Document, str]]:
    """Where a document says why the answer ended: the object, and the key in it."""
    for choice in choices(found):
        if choice.get("finish_reason") is not None:
            yield choice, "finish_reason"
    for place in (found, found.get("delta")):
        if isinstance(place, dict) and place.get("stop_reason") is not None:
            yield place, "stop_reason"


@fault("no-finish-reason", endpoints=CHUNKED)
class NoFinishReason(Fault):
    """End without a finish reason and without usage; without `done` there is no `[DONE]` either.

    A whole answer has null as its reason.
    """

    done: bool = True

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The content, and the end mark if it is wanted."""
        behind = (UsageReported,) if self.done else (UsageReported, Ended)

        def changed(found: Document, frame: Frame) -> Document | None:
            for place, key in reasons(found):
                if not frame.is_whole:
                    return None
                place[key] = None
            return found

        left = (step for step in steps if not (isinstance(step, Frame) and isinstance(step.event, behind)))
        return rewritten(left, changed)


@fault("finish-odd", endpoints=ALL)
class FinishOdd(Fault):
    """Give a word as the finish reason that is none: `""`, `None`, `null`, `error`, or any other.

    In responses it is the status of one that has ended.
    """

    value: str = ""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with another reason."""

        def changed(found: Document, _: Frame) -> Document:
            for place, key in reasons(found):
                place[key] = self.value
            response = ended(found)
            if response is not None:
                response["status"] = self.value
            return found

        return rewritten(steps, changed)


@fault("finish-twice", endpoints=CHUNKED, streams=True)
class FinishTwice(Fault):
    """Send the finish chunk twice, and the reason once more on the chunk with the usage."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The reason again and again."""
        last: list[Document] = []
        for step in steps:
            if not isinstance(step, Frame):
                yield step
                continue
            found = document(step)
            if isinstance(step.event, UsageReported) and found is not None and last:
                yield with_document(step, {**found, "choices": last})
                continue
            yield step
            if found is not None and isinstance(step.event, Finished) and choices(found):
                last = choices(found)
                yield step


@fault("finish-with-content", endpoints=CHUNKED, streams=True)
class FinishWithContent(Fault):
    """Put the last piece of content into the finish chunk."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The last piece and the finish as one chunk."""
        held: Frame | None = None
        for step in steps:
            if isinstance(step, Frame):
                if held is not None and isinstance(step.event, Finished):
                    step = _merged(held, step)
                    held = None
                elif held is not None:
                    yield held
                    held = None
                if step.is_piece and not isinstance(step.event, Finished):
                    held = step
                    continue
            yield step
        if held is not None:
            yield held


def _merged(piece: Frame, finish: Frame) -> Frame:
    """The finish with the content of the piece before it."""
    before, found = document(piece), document(finish)
    if before is None or found is None:
        return finish
    for choice, content in zip(choices(found), choices(before), strict=False):
        if "text" in content:
            choice["text"] = content["text"]
        if said(content) is not None:
            choice["delta"] = said(content)
        if content.get("logprobs") is not None:
            choice["logprobs"] = content["logprobs"]
    return replace(with_document(finish, found), is_piece=True)


@fault("length-mid-json", endpoints=ALL)
class LengthMidJson(Fault):
    """Cut a JSON answer by the limit: after so many pieces, else in the middle of the text."""

    after: Count | None = None

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The beginning of each answer, if it is JSON."""
        after = self.after

        def place(choice: Choice) -> int:
            return middle(choice) if after is None else after

        def is_inside(choice: Choice) -> bool:
            return _is_document(choice.whole_text) and place(choice) < len(choice.reasoning or ()) + len(
                choice.text
            )

        if not all(is_inside(choice) for choice in generation.choices):
            return generation
        return cut(generation, place, "length")


@fault("stop-with-tool-calls", endpoints=("chat", "messages"))
class StopWithToolCalls(Fault):
    """Call tools, but end as if the answer were complete."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with another reason."""
        return with_choices(
            generation, lambda choice: replace(choice, finish_reason="stop") if choice.tool_calls else choice
        )


@fault("content-filter", endpoints=ALL)
class ContentFilter(Fault):
    """Let a filter end the answer: after so many pieces, else in the middle of the text."""

    after: Count | None = None

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The beginning of each answer."""
        after = self.after
        return cut(generation, middle if after is None else lambda _: after, "content_filter")


def _is_document(text: str) -> bool:
    """Whether a text is a JSON object or array."""
    try:
        return isinstance(json.read(text), dict | list)
    except ValueError:
        return False
