"""Faults of refusals: a status with a body that is not the envelope of the dialect ("HTTP").

A refusal of the rule keeps its status, unless the kind has one of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from engy_mock.scripting.fault import Fault, Status, fault
from engy_mock.scripting.heads import instead, reheaded, with_headers
from engy_mock.scripting.pages import page
from engy_mock.scripting.refusing import refused
from engy_mock.vocabulary import json
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.wire import Frame, Head, Step

ProxyStatus = Literal[500, 502, 503, 504, 520, 521, 522, 523, 524, 529]
"""What proxies and their edges answer with when the service behind them does not."""

PHRASES = {
    520: "Unknown Error",
    521: "Web Server Is Down",
    522: "Connection Timed Out",
    523: "Origin Is Unreachable",
    524: "A Timeout Occurred",
    529: "Overloaded",
}
"""The phrases of statuses that no standard names."""

HTML = ("Content-Type", "text/html")
TEXT = ("Content-Type", "text/plain; charset=utf-8")


@fault("html-error", refusals=True)
class HtmlError(Fault):
    """Refuse as a proxy does, with an HTML page: with the refusal's own status, or 502."""

    status: ProxyStatus | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, self.status, usual=502)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The page."""
        return instead(steps, _html, lambda head: page(f"{head.status} {head.phrase}".rstrip(), "proxy"))


def _html(head: Head) -> Head:
    return with_headers(replace(head, reason=head.reason or PHRASES.get(head.status)), HTML)


@fault("empty-error", refusals=True)
class EmptyError(Fault):
    """Refuse with no body: with the refusal's own status, or 502."""

    status: ProxyStatus | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, self.status, usual=502)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The head."""
        return instead(steps, lambda head: head, b"")


@fault("truncated-error", refusals=True)
class TruncatedError(Fault):
    """Refuse with one half of the JSON that says why: with the refusal's own status, or 502."""

    status: ProxyStatus | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, self.status, usual=502)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The first half of the body."""
        for step in steps:
            yield replace(step, data=step.data[: len(step.data) // 2]) if isinstance(step, Frame) else step


@fault("status-wrapped", refusals=True)
class StatusWrapped(Fault):
    """Refuse with the body of one status under another: that of `inner`, 400 unless the rule has its own."""

    outer: Status = 500
    inner: Status | None = None

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal as it would be told."""
        return refused(events, self.inner, usual=400)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The status that it is told under."""
        return reheaded(steps, lambda head: replace(head, status=self.outer))


TOO_LARGE = {
    "body": b"Request body exceeds the limit\n",
    "media": b"Media in the request exceed the limit\n",
}


@fault("413-plain", refusals=True)
class Status413Plain(Fault):
    """Refuse with 413 and a line of plain text: the body was too large, or the media in it."""

    cause: Literal["body", "media"] = "body"

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, 413, usual=413)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The line."""
        return instead(steps, lambda head: with_headers(head, TEXT), TOO_LARGE[self.cause])


@fault("422-detail", refusals=True)
class Status422Detail(Fault):
    """Refuse with 422 and a list under `detail`, where the dialect would have an envelope."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The refusal."""
        return refused(events, 422, usual=422)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The list."""
        wrong = {"loc": ["body", "messages"], "msg": "Field required", "type": "missing"}
        return instead(steps, lambda head: head, json.write({"detail": [wrong]}))
