"""Failures as responses have them: failed and incomplete responses, and errors in two forms ("Responses")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.places import upto
from engy_mock.scripting.sse import Document, document, event, name, rewritten
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ServerFailed
from engy_mock.vocabulary.events import Ended, Event, Failure
from engy_mock.vocabulary.generation import Choice, Generation
from engy_mock.vocabulary.wire import End, Frame, Step

MESSAGE = "internal server error"
CODE = "server_error"
ERROR: dict[str, Any] = {"code": CODE, "message": MESSAGE, "param": None}


@fault("response-failed", endpoints=("responses",))
class ResponseFailed(Fault):
    """Fail after some pieces: `response.failed` is the last event, and a whole response has this status."""

    after: Count = 0
    code: str = CODE

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """This for a stream, and for a whole answer what makes it a failed one."""
        if occasion.asked.is_streamed:
            return (self,)
        return (_Failed(rate=self.rate, after=self.after, code=self.code),)

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the failure."""
        yield from upto(self.after, events)
        yield Failure(ServerFailed(MESSAGE, code=self.code), is_told=True, ends_response=True)


@fault("error-code-null", endpoints=("responses",))
class ErrorCodeNull(Fault):
    """Fail with null in place of a code; in a failure that is there already, only that."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """This for a stream, and for a whole answer what makes it a failed one."""
        return (self if occasion.asked.is_streamed else _FailedWithoutCode(rate=self.rate),)

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """A failure at once, unless the answer comes to no good end anyway."""
        told = list(events)
        if any(isinstance(event, Ended) for event in told):
            yield from upto(0, iter(told))
            yield Failure(ServerFailed(MESSAGE), is_told=True, ends_response=True)
        else:
            yield from told

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The failure without a code."""
        return rewritten(steps, _without_code)


@fault("response-incomplete", endpoints=("responses",))
class ResponseIncomplete(Fault):
    """End incomplete, the budget used up by so many pieces of reasoning."""

    after: Count = 0

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The answer as reasoning alone, cut by the limit."""
        request = occasion.asked.request
        usage = generation.usage
        budget = (request.max_tokens if request is not None else None) or usage.completion_tokens
        return Generation(
            choices=tuple([_spent(choice, self.after) for choice in generation.choices]),
            usage=replace(usage, completion_tokens=budget, reasoning_tokens=budget),
        )


@fault("response-error-flat", endpoints=("responses",), streams=True, is_free=True)
class ResponseErrorFlat(Fault):
    """End the stream after some pieces with an `error` event whose fields stand in the event itself."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces."""
        return upto(self.after, events)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The error behind them."""
        return _ending(steps, ERROR)


@fault("response-error-nested", endpoints=("responses",), streams=True, is_free=True)
class ResponseErrorNested(Fault):
    """End the stream after some pieces with an `error` event that has its fields in `error`."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces."""
        return upto(self.after, events)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The error behind them."""
        return _ending(steps, {"error": {"type": CODE, **ERROR}})


@dataclass(frozen=True)
class _Failed(Fault):
    """A whole response that has failed after some pieces."""

    kind: ClassVar[str] = ResponseFailed.kind
    endpoints: ClassVar[frozenset[str]] = ResponseFailed.endpoints
    is_free: ClassVar[bool] = True

    after: Count = 0
    code: str | None = CODE

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """What has been said until then."""
        return replace(generation, choices=tuple([_first(choice, self.after) for choice in generation.choices]))

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The response as a failed one: unfinished, and nobody knows what it came to."""

        def change(document: Document, frame: Frame) -> Document:
            match document:
                case {"object": "response", "output": list(said)} if frame.is_whole:
                    output = said if self.after else []
                case _:
                    return document
            for item in output[-1:]:
                item["status"] = "incomplete"
            document |= {"status": "failed", "completed_at": None, "output": output, "usage": None}
            document["error"] = {"code": self.code, "message": MESSAGE}
            document["incomplete_details"] = None
            document.pop("x_engy", None)
            return document

        return rewritten(steps, change)


@dataclass(frozen=True)
class _FailedWithoutCode(_Failed):
    """The same, with null in place of a code."""

    kind: ClassVar[str] = ErrorCodeNull.kind

    code: str | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The failed response, or the refusal that was told instead of it."""
        return rewritten(super().wire(steps), _without_code)


def _without_code(document: Document, _: Frame) -> Document:
    """The document with null for the code of its error, wherever it stands."""
    match document:
        case {"response": {"error": {"code": _}}}:
            document["response"]["error"]["code"] = None
        case {"error": {"code": _}}:
            document["error"]["code"] = None
        case {"type": "error", "code": _}:
            document["code"] = None
    return document


def _first(choice: Choice, count: int) -> Choice:
    """The choice up to the end of so many pieces, cut there: nothing stands in for what it has not come to."""
    reasoning = choice.reasoning and choice.reasoning[:count]
    count -= len(reasoning or ())
    text = choice.text[:count]
    calls = choice.tool_calls[: count - len(text)]
    logprobs = choice.logprobs and choice.logprobs[: len(text)]
    said = replace(choice, reasoning=reasoning, text=text, tool_calls=calls, logprobs=logprobs)
    return replace(said, finish_reason="length")


def _spent(choice: Choice, count: int) -> Choice:
    """The choice as so many pieces of reasoning that came to no end."""
    pieces = (*(choice.reasoning or ()), *choice.text)[:count]
    return Choice(index=choice.index, reasoning=pieces, finish_reason="length")


def _ending(steps: Iterator[Step], fields: Document) -> Iterator[Step]:
    """The steps with an `error` event before their end, numbered and named as the events before it."""
    number, is_named = None, False
    for step in steps:
        if isinstance(step, End) and number is not None:
            said = json.write({"type": "error", "sequence_number": number + 1, **fields})
            yield Frame(event(said, "error" if is_named else ""), Ended())
        if isinstance(step, Frame) and not step.is_whole:
            found = document(step) or {}
            number = found.get("sequence_number", number)
            is_named = bool(name(step))
        yield step
