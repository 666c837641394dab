"""Failures as messages have them: overload and filters, refused or in a stream; errors of others ("Messages")."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engy_mock.scripting.fault import Count, Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.places import upto
from engy_mock.scripting.sse import event
from engy_mock.vocabulary import errors, json
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.events import Event, Failure, Raw, Refused

OPENAI_ERROR = {"message": "internal server error", "type": "server_error", "param": None, "code": 500}


@fault("openai-error-inside", endpoints=("messages",), streams=True)
class OpenaiErrorInside(Fault):
    """End the stream after some pieces with an error in the form of chat, without a name."""

    after: Count = 0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The first pieces, then the error."""
        yield from upto(self.after, events)
        yield Raw(event(json.write({"error": OPENAI_ERROR})))


Place = Literal["status", "stream"]
"""Where a failure is told: as the status of the answer, or as the first event of a stream with status 200."""


@dataclass(frozen=True)
class Placed(Fault):
    """A failure that has two places; the one in a stream is not for whole answers."""

    place: Place = "status"

    def misfit(self, words: Mapping[str, Any]) -> str | None:
        """A stream is needed for what is told in one."""
        if self.place == "stream" and words.get("stream") is False:
            return "its place is in a stream"
        return super().misfit(words)

    def suits(self, occasion: Occasion) -> bool:
        """The same for one request."""
        return occasion.asked.is_streamed or self.place != "stream"

    def told(self, error: ApiError) -> Failure | Refused:
        """The failure at its place."""
        return Failure(error, is_told=True) if self.place == "stream" else Refused(error)


@fault("overloaded", endpoints=("messages",))
class Overloaded(Placed):
    """Be overloaded: status 529, or `overloaded_error` as the first event of a stream."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The failure alone, without a hint when to come back."""
        yield self.told(errors.Overloaded("overloaded"))


@fault("content-filter-error", endpoints=("messages",))
class ContentFilterError(Placed):
    """Refuse to say what was made: status 400, or the same as the first event of a stream."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The failure alone."""
        yield self.told(InvalidRequest("the output was blocked by the content filter"))
