"""What in a cassette a recorder would not have written down: secrets that somebody has put in, or that are new."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engy_mock.recording.cassette import ExchangeForm, sheets
from engy_mock.recording.documents import Documents, Place
from engy_mock.recording.secrets import MARK, clean_query, kind_of
from engy_mock.recording.secrets import leaks as shapes
from engy_mock.recording.tape import stream


def leaks(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold something like a secret, each with what it is; raises MockError for no cassette."""
    found: dict[tuple[int, str], None] = {}
    text, told = sheets(path)
    for sheet in told:
        for place, kind in _in_document(sheet.value):
            found[sheet.line_of(place), kind] = None
    by_line = {line for line, _ in found}
    for line, kind in shapes(text.split("\n")):
        if line not in by_line:
            found[line, kind] = None
    yield from sorted(found)


def _in_document(value: Any) -> Iterator[tuple[Place, str]]:
    if not isinstance(value, dict):
        return
    documents = Documents()
    rest = value
    if isinstance(value.get("answer"), dict) and value["answer"].get("events"):
        rest = {**value, "answer": {**value["answer"], "events": []}}
        yield from _in_events(ExchangeForm.model_validate(value))
    query = value["request"].get("query", "") if isinstance(value.get("request"), dict) else ""
    if query and clean_query(query) != query:
        yield ("request", "query"), "secret parameter"
    documents.add(rest)
    documents.scrub()
    yield from documents.found


def _in_events(exchange: ExchangeForm) -> Iterator[tuple[Place, str]]:
    """The same for a stream, where a secret may be split over events (Q-34)."""
    events = exchange.answer.events or []
    cleaned = stream([(one.at, one.data) for one in events], {})["events"]
    if len(cleaned) != len(events):
        yield ("answer", "events"), "events that are none"
        return
    for number, (before, after) in enumerate(zip(events, cleaned, strict=True)):
        was, is_now = before.text or "", after.get("text", "")
        if is_now != was and is_now.count(MARK) > was.count(MARK):
            yield ("answer", "events", number), kind_of(is_now)
