"""Faults of heads: odd phrases, types, ids and times, and headers that are too many or too long ("HTTP")."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.heads import reheaded, with_headers, without
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary.clock import http_date
from engy_mock.vocabulary.limits import Limits
from engy_mock.vocabulary.wire import Head, Step


@fault("reason-phrase")
class ReasonPhrase(Fault):
    """Put another phrase, or none, behind the status."""

    text: Annotated[str, Field(pattern=r"^[\t\x20-\x7e\x80-\xff]*$")] = ""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The other status line."""
        return reheaded(steps, lambda head: replace(head, reason=self.text))


@fault("content-type-odd")
class ContentTypeOdd(Fault):
    """Send no `Content-Type`, one with a charset that nobody knows, or plain text for what is none."""

    value: Literal["missing", "charset", "plain"] = "missing"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The other type."""
        return reheaded(steps, self._changed)

    def _changed(self, head: Head) -> Head:
        if self.value == "missing":
            return without(head, "content-type")
        own = next((value for name, value in head.headers if name.lower() == "content-type"), "application/json")
        odd = "text/plain" if self.value == "plain" else f"{own.partition(';')[0]}; charset=x-unheard-of"
        return with_headers(head, ("Content-Type", odd))


@fault("headers-duplicate")
class HeadersDuplicate(Fault):
    """Send the headers of the answer twice, all but those that frame it."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The longer head."""
        return reheaded(steps, _doubled)


def _doubled(head: Head) -> Head:
    again = without(head, "connection", "content-length", "transfer-encoding").headers
    return replace(head, headers=(*head.headers, *again))


@fault("headers-huge")
class HeadersHuge(Fault):
    """Send a header of so many bytes, more than some clients take."""

    size: Annotated[int, Limits(ge=0, le=1024 * 1024)] = 9 * 1024

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The longer head."""
        filler = ("X-Engy-Mock-Filler", "x" * self.size)
        return reheaded(steps, lambda head: with_headers(head, filler))


@fault("headers-many")
class HeadersMany(Fault):
    """Send so many headers more, too many for some clients."""

    count: Annotated[int, Limits(ge=0, le=10_000)] = 128

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The longer head."""
        fillers = [(f"X-Engy-Mock-Filler-{number}", "x") for number in range(1, self.count + 1)]
        return reheaded(steps, lambda head: with_headers(head, *fillers))


@fault("request-id-odd", surfaces=("v1",))
class RequestIdOdd(Fault):
    """Send no request id, two of them in headers of the same name, or another in `request-id` than elsewhere."""

    form: Literal["missing", "doubled", "different"] = "missing"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The other ids."""
        return reheaded(steps, self._changed)

    def _changed(self, head: Head) -> Head:
        if self.form == "missing":
            return without(head, "x-engy-request-id", "x-request-id", "request-id")
        own = next((value for name, value in head.headers if name.lower() == "x-request-id"), "")
        another = own[len(own) // 2 :] + own[: len(own) // 2]
        if self.form == "doubled":
            return replace(head, headers=(*head.headers, ("x-request-id", another)))
        return with_headers(head, ("request-id", another))


@fault("clock-skew")
class ClockSkew(Fault):
    """Let the clock of the service be wrong by so many seconds: in `Date`, in `created`, and in dated hints."""

    seconds: Annotated[float, Field(ge=-1e9, le=1e9)] = 3600.0

    def chosen(self, occasion: Occasion) -> Sequence[Fault]:
        """The same with the time that it is."""
        return (Skewed(self.seconds, occasion.now),)


@dataclass(frozen=True)
class Skewed(Fault):
    """Be wrong by so many seconds at this time."""

    kind: ClassVar[str] = "skewed"

    seconds: float
    now: float

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Other times."""
        return rewritten(reheaded(steps, self._with_date), lambda document, _: self._with_created(document))

    def _with_date(self, head: Head) -> Head:
        dated = [(name, _shifted(value, self.seconds)) for name, value in head.headers]
        return replace(head, headers=(*dated, ("Date", http_date(self.now + self.seconds))))

    def _with_created(self, document: Document) -> Document:
        changed = dict(document)
        for name in ("created", "created_at"):
            if isinstance(changed.get(name), int):
                changed[name] += int(self.seconds)
        response: Any = changed.get("response")
        return {**changed, "response": self._with_created(response)} if isinstance(response, dict) else changed


_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
_ZULU = "%Y-%m-%dT%H:%M:%SZ"


def _shifted(value: str, seconds: float) -> str:
    """A date in a header so many seconds later; anything else as it is."""
    if _HTTP_DATE.fullmatch(value):
        return http_date(parsedate_to_datetime(value).timestamp() + seconds)
    try:
        then = datetime.strptime(value, _ZULU).replace(tzinfo=UTC)
    except ValueError:
        return value
    return (then + timedelta(seconds=seconds)).strftime(_ZULU)
