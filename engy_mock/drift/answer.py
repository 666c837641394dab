"""An answer as anybody hears it, from a server or from the mock in this process."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Begin, Close, Step, Whole, Write

_BORDER = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a stream: its name, if it has one, and its document, or the text that is none."""

    name: str
    document: Any

    @property
    def is_end_mark(self) -> bool:
        """It closes a stream of the OpenAI dialects."""
        return bool(self.document == "[DONE]")

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        document = self.document
        if not isinstance(document, dict):
            return str(document)[:40]
        word = document.get("type")
        if isinstance(word, str):
            return word if self.name in ("", word) else f"{self.name} with {word}"
        if "error" in document:
            return "error"
        choices = document.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            delta = choices[0].get("delta")
            if choices[0].get("finish_reason") is not None:
                return "finish"
            return "+".join(delta) if isinstance(delta, dict) and delta else "empty delta"
        return "usage" if document.get("usage") else "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status, headers by their names in lower case, body; `trouble` says why it has no regular end."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    trouble: str | None = None

    @property
    def kind(self) -> str:
        """The kind of its content."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_stream(self) -> bool:
        """It is a stream of events."""
        return self.kind == "text/event-stream"

    @property
    def document(self) -> Any:
        """The JSON value of the body; None if it is none."""
        try:
            return json.read(self.body)
        except ValueError:
            return None

    @property
    def events(self) -> list[Told]:
        """The events of a stream, comments apart."""
        return list(_events(self.body.decode("utf-8", "replace")))

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The documents in it: that of the body, or those of the events."""
        found = [event.document for event in self.events] if self.is_stream else [self.document]
        return [one for one in found if isinstance(one, dict)]


def of_steps(steps: Iterator[Step]) -> Answer:
    """What a client would hear of these steps."""
    status, headers, body, trouble = 0, dict[str, str](), b"", None
    for step in steps:
        match step:
            case Whole():
                status, headers, body = step.head.status, _lower(step.head.headers), step.body
            case Begin():
                status, headers = step.head.status, _lower(step.head.headers)
            case Write():
                body += step.data
            case Close():
                trouble = "the answer breaks off"
    return Answer(status=status, headers=headers, body=body, trouble=trouble)


def _lower(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


def _events(text: str) -> Iterator[Told]:
    for block in _BORDER.split(text):
        name, data = "", list[str]()
        for line in _LINE.split(block):
            word, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if word == "event":
                name = value
            elif word == "data":
                data.append(value)
        if data:
            whole = "\n".join(data)
            try:
                yield Told(name, json.read(whole))
            except ValueError:
                yield Told(name, whole)
