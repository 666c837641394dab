"""A generation told as events, and events folded back into a generation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engy_mock.vocabulary.events import (
    Ended,
    Event,
    Failure,
    Finished,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob, Usage
from engy_mock.vocabulary.request import ToolCall


@dataclass(frozen=True, slots=True)
class Run:
    """Pieces of one kind that follow each other, without anything but their text."""

    kind: type[TextDelta] | type[ReasoningDelta]
    texts: Sequence[str]
    choice: int

    def events(self) -> list[Event]:
        """The same as events."""
        if self.kind is TextDelta:
            return [TextDelta(text, None, self.choice) for text in self.texts]
        return [ReasoningDelta(text, self.choice) for text in self.texts]


def tell(generation: Generation) -> Iterator[Event]:
    """Everything that will be said, step by step, one choice after the other."""
    for part in tell_in_runs(generation):
        if isinstance(part, Run):
            yield from part.events()
        else:
            yield part


def tell_in_runs(generation: Generation) -> Iterator[Event | Run]:
    """The same with plain pieces taken together, for those who have nothing to do between them."""
    for choice in generation.choices:
        index = choice.index
        yield Started(index, choice.prompt_text, choice.prompt_logprobs, choice.response)
        if choice.reasoning is not None:
            # A model that reasoned without a word still has reasoning.
            yield Run(ReasoningDelta, choice.reasoning or ("",), index)
        if choice.logprobs is None:
            yield Run(TextDelta, choice.text, index)
        else:
            for text, logprobs in zip(choice.text, choice.logprobs, strict=True):
                yield TextDelta(text, logprobs, index)
        for place, call in enumerate(choice.tool_calls):
            yield ToolCallDelta(call, place, index)
        yield Finished(choice.finish_reason, choice.stop_sequence, index)
    yield UsageReported(generation.usage)
    yield Ended()


def fold(events: Iterable[Event]) -> Generation:
    """What the events say, as a whole: the inverse of `tell`, token ids apart.

    Raises the error of a `Failure`. Pauses, raw bytes and cuts say nothing. What is missing at the end has
    its default: a choice without `Finished` has stopped, an answer without `UsageReported` counts nothing.
    """
    drafts: dict[int, _Draft] = {}
    usage = Usage(prompt_tokens=0, completion_tokens=0)
    for event in events:
        match event:
            case Failure():
                raise event.error
            case UsageReported():
                usage = event.usage
            case Started() | TextDelta() | ReasoningDelta() | ToolCallDelta() | Finished():
                draft = drafts.get(event.choice)
                if draft is None:
                    draft = drafts[event.choice] = _Draft()
                draft.add(event)
    return Generation(choices=tuple(draft.choice(index) for index, draft in drafts.items()), usage=usage)


@dataclass(slots=True)
class _Draft:
    """A choice that is being gathered."""

    started: Started = Started()  # noqa: RUF009 - it is frozen
    finished: Finished = Finished()  # noqa: RUF009 - it is frozen
    reasoning: list[str] | None = None
    text: list[str] = field(default_factory=list)
    logprobs: list[tuple[TokenLogprob, ...]] | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)

    def add(self, event: Started | TextDelta | ReasoningDelta | ToolCallDelta | Finished) -> None:
        """Take in one event of the choice."""
        match event:
            case TextDelta():
                if event.logprobs is not None:
                    if self.logprobs is None:
                        self.logprobs = [()] * len(self.text)
                    self.logprobs.append(event.logprobs)
                elif self.logprobs is not None:
                    self.logprobs.append(())
                self.text.append(event.text)
            case ReasoningDelta():
                if self.reasoning is None:
                    self.reasoning = []
                self.reasoning.append(event.text)
            case ToolCallDelta():
                self.tool_calls.append(event.call)
            case Started():
                self.started = event
            case Finished():
                self.finished = event

    def choice(self, index: int) -> Choice:
        """What has been gathered."""
        return Choice(
            index=index,
            reasoning=None if self.reasoning is None else tuple(self.reasoning),
            text=tuple(self.text),
            tool_calls=tuple(self.tool_calls),
            finish_reason=self.finished.reason,
            stop_sequence=self.finished.stop_sequence,
            logprobs=None if self.logprobs is None else tuple(self.logprobs),
            prompt_logprobs=self.started.prompt_logprobs,
            prompt_text=self.started.prompt_text,
            response=self.started.response,
        )
