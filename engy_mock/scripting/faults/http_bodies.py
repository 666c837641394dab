"""Faults of good answers: status 200, but the body is something else than was asked for ("HTTP")."""

from collections.abc import Iterator
from dataclasses import replace

from engy_mock.scripting.fault import Fault, Status, fault
from engy_mock.scripting.heads import instead, reheaded, with_headers
from engy_mock.scripting.pages import page
from engy_mock.scripting.refusing import refused
from engy_mock.scripting.sse import Document, rewritten
from engy_mock.vocabulary.events import Event
from engy_mock.vocabulary.wire import Frame, Head, Step

HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

WELCOME = page("Welcome", "This site is being set up.")
"""What stands where nobody has put a service yet."""


def _good(steps: Iterator[Step], body: bytes, content_type: str | None = None) -> Iterator[Step]:
    """This body under status 200 in place of the answer, whose type it has unless it brings its own."""

    def change(head: Head) -> Head:
        head = replace(head, status=200, reason=None)
        return head if content_type is None else with_headers(head, ("Content-Type", content_type))

    return instead(steps, change, body)


@fault("200-html", is_free=True)
class Status200Html(Fault):
    """Answer 200 with a static HTML page."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The page."""
        return _good(steps, WELCOME, HTML)


@fault("200-html-as-json", is_free=True)
class Status200HtmlAsJson(Fault):
    """Answer 200 with a static HTML page that is said to be JSON."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The page."""
        return _good(steps, WELCOME, JSON)


@fault("200-plain-text", is_free=True)
class Status200PlainText(Fault):
    """Answer 200 with a line of plain text that is no answer of a model."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The line."""
        return _good(steps, b"The service is being restarted.\n", TEXT)


@fault("200-empty", is_free=True)
class Status200Empty(Fault):
    """Answer 200 with no body at all."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The head."""
        return _good(steps, b"")


@fault("200-json-for-stream", streams=True, swaps=True)
class Status200JsonForStream(Fault):
    """Answer a request for a stream with the whole answer as one JSON object."""


@fault("sse-for-json", streams=False, swaps=True)
class SseForJson(Fault):
    """Answer a request for a whole answer with a stream of events."""


@fault("200-error-body", refusals=True)
class Status200ErrorBody(Fault):
    """Answer 200 with the error that belongs to another status: the refusal's own, or 504.

    With `nulls` the fields of an answer stand beside it, null; without `typed` it has no `type`.
    """

    status: Status | None = None
    nulls: bool = False
    typed: bool = True

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The error."""
        return refused(events, self.status, usual=504, is_exact=True)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The error as if all were well."""
        good = reheaded(steps, lambda head: replace(head, status=200, reason=None))
        return rewritten(good, self._changed) if self.nulls or not self.typed else good

    def _changed(self, document: Document, frame: Frame) -> Document:
        error = document.get("error")
        if not self.typed and isinstance(error, dict):
            document = {**document, "error": {name: value for name, value in error.items() if name != "type"}}
        return {"id": None, "choices": None, "model": None, **document} if self.nulls else document


@fault("200-wrapped")
class Status200Wrapped(Fault):
    """Wrap the answer, or each chunk of it, into `{"data": ..., "success": true}`."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The wrapped documents."""
        return rewritten(steps, lambda document, _: {"data": document, "success": True})


@fault("200-all-null")
class Status200AllNull(Fault):
    """Make all fields of the answer, or of each chunk of it, null and put what they were one level deeper."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The emptied documents."""
        return rewritten(steps, lambda document, _: {**dict.fromkeys(document), "data": document})


@fault("200-choices-missing", endpoints=("chat", "completions"))
class Status200ChoicesMissing(Fault):
    """Leave `choices` out of the answer, or of each chunk of it; with `null` they are null instead."""

    null: bool = False

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The documents without choices."""
        return rewritten(steps, lambda document, _: self._without(document))

    def _without(self, document: Document) -> Document:
        if "choices" not in document:
            return document
        if self.null:
            return {**document, "choices": None}
        return {name: value for name, value in document.items() if name != "choices"}
