"""Faults of the service: failures in the middle of a stream, in the form of the dialect or in others ("SSE")."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.places import upto
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.refusing import refused
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Event, Failure, Raw
from engy_mock.vocabulary.wire import Step

MESSAGE = "upstream failed"

Status = Annotated[int, Field(ge=400, le=599)]


def _begun(after: int, events: Iterator[Event]) -> Iterator[Event]:
    """The events up to the end of so many pieces; before the first of them nothing, not even the beginning."""
    return upto(after, events) if after else iter(())


@fault("fail")
class Fail(Fault):
    """Fail after some pieces, as the dialect tells failures; a whole answer is refused with this status.

    `type`, `message` and `code` take the place of what the status stands for; with `code` false no status is
    told. `frame` says whether the stream tells of the failure: true, false (it just ends), or as the surface has
    it, and under `/v5` the transfer is broken off then.
    """

    after: Count = 0
    status: Status = 500
    type: str | None = None
    message: str | None = None
    code: str | Literal[False] | None = None
    frame: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._error()

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the failure."""
        yield from _begun(self.after, events)
        yield Failure(self._error(), self.frame)

    def _error(self) -> ApiError:
        refusal = Refusal(status=self.status, type=self.type, message=self.message, code=self.code or None)
        error = refusal.error(hurries=False)
        if self.code is False:
            error.code = False
        return error


@fault("refusal-in-stream", streams=True, refusals=True)
class RefusalInStream(Fault):
    """Answer with status 200 and a stream whose first event is the refusal: the one that there is, or 429."""

    status: Status | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal alone."""
        for event in refused(events, self.status, usual=429):
            yield Failure(event.error, is_told=True)


@fault("error-event", endpoints=("chat", "completions"), streams=True)
class ErrorEvent(Fault):
    """Fail after some pieces with an event that is named `error`."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the failure."""
        yield from _begun(self.after, events)
        yield Failure(Refusal(status=500).error(hurries=False), is_told=True)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The failure with its name."""
        for step in steps:
            if sse.is_event(step) and isinstance(step.event, Failure):
                yield replace(step, data=b"event: error\n" + step.data)
            else:
                yield step


@fault("error-as-string", endpoints=("chat", "completions", "responses"), streams=True)
class ErrorAsString(Fault):
    """Fail after some pieces with an error that is a text, not an object."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the text."""
        yield from upto(self.after, events)
        yield Raw(sse.event(json.write({"error": MESSAGE})))


@fault("raw-text-error", streams=True)
class RawTextError(Fault):
    """Fail before the first piece with a line that is no JSON."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The beginning, then the text."""
        yield from upto(0, events)
        yield Raw(sse.event(f"error: {MESSAGE}".encode()))
