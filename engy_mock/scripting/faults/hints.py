"""Faults of the hints that say when to try again, or whether at all ("HTTP").

These hints are sent as they are: nothing hurries a test along that asks for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from engy_mock.scripting.fault import Fault, Seconds, Status, fault
from engy_mock.scripting.heads import Header, Headers, limit_headers, reheaded, with_headers, without_hints
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusals import in_seconds
from engy_mock.scripting.refusing import refused, reworded
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary.clock import http_date
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.events import Event, Refused
from engy_mock.vocabulary.wire import Step

Form = Literal["seconds", "fraction", "ms", "date", "past-date", "zero", "negative", "text", "huge"]

USUAL: dict[Form, float] = {
    "seconds": 1,
    "fraction": 0.5,
    "ms": 0.5,
    "date": 30,
    "past-date": 30,
    "zero": 0,
    "negative": 1,
    "text": 0,
    "huge": 86_400,
}
"""How many seconds a form stands for unless a rule says otherwise."""

WORDLESS: frozenset[Form] = frozenset({"zero", "text"})
"""The forms that stand for no number of seconds."""


def hint(form: Form, seconds: float, now: float) -> Header:
    """So many seconds as a header; dates count from `now`, negative ones and those of the past go back."""
    match form:
        case "ms":
            return "retry-after-ms", in_seconds(seconds * 1000)
        case "date":
            return "Retry-After", http_date(now + seconds)
        case "past-date":
            return "Retry-After", http_date(now - seconds)
        case "zero":
            return "Retry-After", "0"
        case "negative":
            return "Retry-After", in_seconds(-seconds)
        case "text":
            return "Retry-After", "soon"
        case "fraction":
            return "Retry-After", f"{seconds:.1f}" if seconds == int(seconds) else in_seconds(seconds)
    return "Retry-After", in_seconds(seconds)


@fault("429-without-header", refusals=True)
class Status429WithoutHeader(Fault):
    """Refuse with 429 and no hint of any kind."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, 429, usual=429, is_exact=True)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The refusal without its hints."""
        return reheaded(steps, without_hints)


@fault("retry-after", refusals=True)
class RetryAfter(Fault):
    """Refuse with this hint to try again, and no other.

    `value` is in seconds, whatever the form; `place` is the header, a field of the body, or the words of the
    message. The status is the refusal's own, or 429. Dates are of the mock's clock: clients that look at the
    machine's time wait for them under `clock="today"` or `clock="wall"`, and find them past under a clock that
    stands where it always begins.
    """

    value: Annotated[float, Field(ge=0, le=1e9)] | None = None
    form: Form = "seconds"
    place: Literal["header", "json", "message"] = "header"
    status: Status | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value is not None and self.form in WORDLESS:
            raise MockError(f"retry-after: form {self.form!r} stands for no number of seconds: leave out value")

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The hint, as it is now."""
        seconds = USUAL[self.form] if self.value is None else self.value
        return (Hinted(hint(self.form, seconds, occasion.now), self.place, self.status),)


@dataclass(frozen=True)
class Hinted(Fault):
    """Refuse with this hint in this place, and no other."""

    kind: ClassVar[str] = "hinted"
    takes_refusals: ClassVar[bool] = True

    hint: Header
    place: Literal["header", "json", "message"]
    status: Status | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal, with the hint in its message if it belongs there."""
        for event in refused(events, self.status, usual=429, is_exact=True):
            if self.place == "message":
                unit = " ms" if self.hint[0] == "retry-after-ms" else " s" if self._is_number else ""
                words = f"{event.error.message}, try again in {self.hint[1]}{unit}"
                yield Refused(reworded(event.error, message=words), is_exact=True)
            else:
                yield event

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The refusal without other hints."""
        bare = reheaded(steps, without_hints)
        if self.place == "header":
            return reheaded(bare, lambda head: with_headers(head, self.hint))
        return rewritten(bare, lambda document, _: self._with_field(document)) if self.place == "json" else bare

    @property
    def _is_number(self) -> bool:
        return self.hint[1].lstrip("-").replace(".", "", 1).isdigit()

    def _with_field(self, document: Document) -> Document:
        """The error with a field for the hint: inside the envelope if there is one."""
        name, text = self.hint
        value = (float(text) if "." in text else int(text)) if self._is_number else text
        field = {name.lower().replace("-", "_"): value}
        error = document.get("error")
        return {**document, "error": {**error, **field}} if isinstance(error, dict) else {**document, **field}


@fault("conflicting-retry-hints", refusals=True)
class ConflictingRetryHints(Fault):
    """Refuse with three hints that contradict each other: 1 s, 60,000 ms, and 20 s until the limit is reset."""

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The refusal, and the limit as the clients of the route know it."""
        limits = limit_headers(occasion.asked, "requests", limit=60, remaining=0, seconds=20, now=occasion.now)
        return (self, Headers(limits))

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, 429, usual=429, is_exact=True)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The refusal with both headers."""
        hints = (("Retry-After", "1"), ("retry-after-ms", "60000"))
        return reheaded(steps, lambda head: with_headers(head, *hints))


@fault("should-retry", refusals=True)
class ShouldRetry(Fault):
    """Refuse with `x-should-retry`, whatever the status: the refusal's own, or 400 for true and 429 for false."""

    value: bool = False
    status: Status | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        for event in refused(events, self.status, usual=400 if self.value else 429):
            said = {name.lower() for name, _ in event.error.headers}
            headers = (*event.error.headers, ("x-should-retry", "true" if self.value else "false"))
            # A rule that says when keeps its word; one that says nothing is hurried along.
            is_exact = event.is_exact and not said.isdisjoint({"retry-after", "retry-after-ms"})
            yield Refused(reworded(event.error, headers=headers), is_exact)


@fault("429-forever", refusals=True)
class Status429Forever(Fault):
    """Refuse with 429 and the same hint in seconds, again and again."""

    value: Seconds = 1.0

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, 429, usual=429, is_exact=True)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The refusal with the hint, and no other."""
        return reheaded(
            steps, lambda head: with_headers(without_hints(head), ("Retry-After", in_seconds(self.value)))
        )
