"""Faults of the content: null, missing, of another form, in another place ("Chat")."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

from engy_mock.scripting.chunks import ALL, CHAT, TALKING, with_said
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import silent, with_choices
from engy_mock.scripting.sse import Document, document, event, name
from engy_mock.vocabulary import json
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import Frame, Step


def _with_content(steps: Iterator[Step], change: Callable[[str], Any]) -> Iterator[Step]:
    """The steps with something else in the place of the text."""

    def changed(said: Document, _: Frame) -> None:
        if isinstance(said.get("content"), str):
            said["content"] = change(said["content"])

    return with_said(steps, changed)


@fault("content-null", endpoints=CHAT)
class ContentNull(Fault):
    """Give null wherever there is content."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without content."""
        return _with_content(steps, lambda _: None)


@fault("content-empty", endpoints=ALL)
class ContentEmpty(Fault):
    """Say nothing: the text is empty, also where there is none because tools are called."""

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same without text."""
        return with_choices(generation, silent)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """An empty text for null."""
        return with_said(steps, lambda said, _: said.update(content="") if "content" in said else None)


@fault("content-missing", endpoints=CHAT)
class ContentMissing(Fault):
    """Leave the content out of all deltas, or of the message."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without content."""
        return with_said(steps, lambda said, _: said.pop("content", None))


@fault("content-parts", endpoints=CHAT)
class ContentParts(Fault):
    """Give the content as a list of parts instead of a text."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same in another form."""
        return _with_content(steps, lambda text: [{"type": "text", "text": text}])


@fault("refusal", endpoints=("chat", "responses"))
class RefusalText(Fault):
    """Give the text as a refusal instead of content."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The text in another place."""

        def changed(said: Document, frame: Frame) -> None:
            text = said.get("content")
            if isinstance(text, str) and (text or frame.is_whole):
                said.update(content=None, refusal=text)
                if not frame.is_whole:
                    del said["content"]

        for step in with_said(steps, changed):
            yield _refused(step) if isinstance(step, Frame) else step


@fault("reasoning-only", endpoints=TALKING)
class ReasoningOnly(Fault):
    """Only reason, and end with this finish reason; a text without reasoning becomes reasoning."""

    finish: Literal["length", "stop"] = "length"

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The reasoning alone, as all that is counted."""

        def changed(choice: Choice) -> Choice:
            thought = choice.text if choice.reasoning is None else choice.reasoning
            return replace(silent(choice), reasoning=thought, tool_calls=(), finish_reason=self.finish)

        usage = replace(generation.usage, reasoning_tokens=generation.usage.completion_tokens)
        return replace(with_choices(generation, changed), usage=usage)


@fault("reasoning-elsewhere", endpoints=TALKING)
class ReasoningElsewhere(Fault):
    """Give the reasoning in `reasoning` instead of `reasoning_content`, or in the text between `<think>` marks."""

    place: Literal["reasoning", "think"] = "reasoning"

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The reasoning as a part of the text, if that is its place."""

        def changed(choice: Choice) -> Choice:
            if choice.reasoning is None:
                return choice
            thought = ("<think>", *choice.reasoning, "</think>")
            scored = choice.logprobs
            scored = None if scored is None else (*([()] * len(thought)), *scored)
            return replace(choice, reasoning=None, text=(*thought, *choice.text), logprobs=scored)

        return with_choices(generation, changed) if self.place == "think" else generation

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The reasoning under another name, if that is its place."""

        def changed(said: Document, _: Frame) -> None:
            if "reasoning_content" in said:
                said["reasoning"] = said.pop("reasoning_content")

        return with_said(steps, changed) if self.place == "reasoning" else steps


@fault("reasoning-empty-chunks", endpoints=CHAT, streams=True)
class ReasoningEmptyChunks(Fault):
    """Give an empty `reasoning_content` in each chunk that has no reasoning."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with more reasoning that says nothing."""
        return with_said(steps, lambda said, _: said.setdefault("reasoning_content", ""))


_REFUSALS = {
    "response.output_text.delta": "response.refusal.delta",
    "response.output_text.done": "response.refusal.done",
}
"""The events of Responses that tell a refusal, by those that tell a text."""


def _refused(frame: Frame) -> Frame:
    """An event or a body of Responses with a refusal in the place of the text."""
    found = document(frame)
    if found is None or (not frame.is_whole and not str(found.get("type")).startswith("response.")):
        return frame
    before = json.write(found)
    kind = _REFUSALS.get(str(found.get("type")))
    if kind is not None:
        found["type"] = kind
        found.pop("logprobs", None)
        if "text" in found:
            found["refusal"] = found.pop("text")
    data = json.write(_with_refusals(found))
    if data == before:
        return frame
    named = name(frame)
    return replace(frame, data=data if frame.is_whole else event(data, (kind or named) if named else ""))


def _with_refusals(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_refusals(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "output_text":
        return {"type": "refusal", "refusal": value.get("text", "")}
    return {key: _with_refusals(item) for key, item in value.items()}
