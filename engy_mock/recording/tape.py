"""Where exchanges are written down as they come: without secrets, each in one go, and safe before the next."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from engy_mock.books.entry import harmless
from engy_mock.recording import layout, secrets
from engy_mock.recording.cassette import (
    BEGIN,
    COMMENT,
    END,
    VERSION,
    Ending,
    body_of,
    check_goes_on,
    is_plain,
    text_of,
)
from engy_mock.recording.documents import Documents, clean_value
from engy_mock.recording.said import of_body, of_stream
from engy_mock.recording.secrets import Known
from engy_mock.recording.stream import Moment, moments, payload, with_payload
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError, quoted
from engy_mock.vocabulary.files import check_regular
from engy_mock.vocabulary.wire import Call

MAX_KEPT = 32 * 1024 * 1024
"""So many bytes of one answer are kept (Q-37)."""

KEPT_HEADERS = frozenset(
    {
        "allow",
        "cache-control",
        "content-type",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-engy-request-id",
        "x-request-id",
        "x-should-retry",
    }
)
KEPT_BEGINNINGS = ("anthropic-ratelimit-", "x-ratelimit-")
"""The headers of answers that are kept: none of them can hold a key (Q-33)."""


class Tape:
    """Writes a cassette; any thread may.

    Raises MockError for a file that cannot be written, or that holds something else.
    `known` are keys that must never be written down, each with what it is.
    """

    def __init__(self, path: Path, upstream: str, known: Known | None = None) -> None:
        self.path = path
        self.known = dict(known or {})
        self.count = 0
        self._begun = 0
        self._lock = Lock()
        self._file = -1
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe is refused, not waited for
        try:
            self._file = os.open(path, flags, 0o600)
            check_regular(os.fstat(self._file))
            if os.fstat(self._file).st_size:
                check_goes_on(path)
            _claim(self._file)
        except MockError:
            self.close()
            raise
        except (OSError, ValueError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or quoted(str(error))
            raise MockError(f"{quoted(str(path))}: cannot be written: {reason}") from None
        with suppress(AttributeError, OSError):  # not every system has modes
            os.fchmod(self._file, 0o600)
        before = _end_of(path)
        head = {"engy_mock_cassette": VERSION, "upstream": secrets.clean(upstream, self.known)}
        # Behind an exchange that was torn, the next one begins on a line of its own.
        start = COMMENT if not before else "" if before == b"\n" else "\n"
        self._write(start + _document(head))

    def begin(self, call: Call, keys: Sequence[str]) -> "Take":
        """An exchange begins; `keys` are those that its client showed."""
        with self._lock:
            self._begun += 1
            number = self._begun
        known = {**dict.fromkeys([key for key in keys if key], "key of the client"), **self.known}
        return Take(self, call, number, known)

    def add(self, exchange: Mapping[str, Any]) -> None:
        """Write an exchange down; returns when it is safe on the disk."""
        text = _document(exchange)
        with self._lock:
            self._write(text)
            self.count += 1

    def close(self) -> None:
        """Nothing more is written."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1

    def _write(self, text: str) -> None:
        if self._file < 0:
            return
        data = memoryview(text.encode("utf-8"))
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


@dataclass(slots=True)
class Take:
    """One exchange while it lasts."""

    tape: Tape
    call: Call
    number: int
    known: Known
    _answer: dict[str, Any] = field(default_factory=dict)
    _chunks: list[tuple[int, bytes]] = field(default_factory=list)
    _size: int = 0
    _is_stream: bool = False
    _is_over: bool = False

    def head(self, at: int, status: int, headers: Sequence[tuple[str, str]], *, is_stream: bool) -> None:
        """The head of the answer is there, `at` milliseconds after the request."""
        self._is_stream = is_stream
        self._answer = {"status": status, "at": at, "headers": _kept(headers, self.known)}

    def heard(self, at: int, data: bytes) -> None:
        """Some of its body is there."""
        room = MAX_KEPT - self._size
        self._size += len(data)
        if room > 0:
            self._chunks.append((at, data[:room]))

    def end(self, ending: Ending) -> None:
        """It is over; returns when it is safe on the disk. A second time does nothing."""
        if self._is_over or not self._answer:
            return
        self._is_over = True
        answer = self._answer
        told = stream(self._chunks, self.known) if self._is_stream else _whole(self._chunks, self.known)
        answer |= {**told, "ending": ending}
        if self._size > MAX_KEPT:
            answer["cut"] = True
        self.tape.add({"exchange": self.number, "request": _request(self.call, self.known), "answer": answer})


def request_body(data: bytes, known: Known) -> dict[str, Any]:
    """The body of a request without secrets, as a cassette keeps it."""
    try:
        value = json.read(data)
    except ValueError:
        return _cleaned_text(data, known)
    cleaned = clean_value(value, known)
    return {"json": cleaned} if is_plain(cleaned) else {"text": json.text(cleaned)}


def _request(call: Call, known: Known) -> dict[str, Any]:
    found: dict[str, Any] = {"method": call.method, "path": secrets.clean(call.path, known)}
    if call.query:
        found["query"] = secrets.clean_query(call.query, known)
    found["headers"] = {name: secrets.clean(value, known) for name, value in harmless(call.headers).items()}
    if call.body:
        found["body"] = request_body(call.body, known)
    return found


def _whole(chunks: Sequence[tuple[int, bytes]], known: Known) -> dict[str, Any]:
    """A whole body without secrets."""
    data = b"".join([chunk for _, chunk in chunks])
    try:
        value = json.read(data)
    except ValueError:
        return {"body": _cleaned_text(data, known)} if data else {}
    documents = Documents(known)
    cleaned = documents.add(value)
    documents.scrub()
    if documents.has_found:
        value = cleaned[0]
        data = json.write(value)
    said = of_body(value).plain()
    return {**({"said": said} if said else {}), "body": body_of(data)}


def stream(chunks: Sequence[tuple[int, bytes]], known: Known) -> dict[str, Any]:
    """The events of a stream without secrets, also those that were split over several of them (Q-34)."""
    documents, came = Documents(known), list(moments(chunks))
    texts: list[str | None] = []
    values: list[tuple[int, str, Any]] = []
    for moment in came:
        texts.append(_text(moment))
        told = payload(texts[-1] or "")
        if told:
            try:
                values.append((len(texts) - 1, told, documents.add(json.read(told))))
            except ValueError:
                values.append((len(texts) - 1, told, documents.add(told)))
    documents.scrub()
    for place, before, top in values if documents.has_found else ():
        after = top[0] if isinstance(top[0], str) else json.text(top[0])
        text = texts[place]
        if text is not None and after != before and not _is_same(before, top[0]):
            texts[place] = with_payload(text, before, after)
    # What stands beside the payloads, and what is split in a payload that is no JSON. Names in JSON were looked at
    # where they stand: as a text, tokens that are the names of log probabilities would be names of secrets.
    cleaned = iter(secrets.clean_parts([text for text in texts if text is not None], known, by_name=False))
    texts = [None if text is None else next(cleaned) for text in texts]
    are_json = {place for place, told, _ in values if told.startswith(("{", "["))}
    for place, text in enumerate(texts):
        if text is not None and place not in are_json:
            texts[place] = secrets.clean(text, known)
    said, _ = of_stream([payload(text) for text in texts if text is not None])
    plain = said.plain()
    events = [
        {"at": moment.at, **(_cleaned_text(moment.data, known) if text is None else {"text": text})}
        for moment, text in zip(came, texts, strict=True)
    ]
    return {**({"said": plain} if plain else {}), "events": events}


def _is_same(before: str, value: Any) -> bool:
    try:
        return json.meaning(json.read(before)) == json.meaning(value)
    except ValueError:
        return bool(before == value)


def _text(moment: Moment) -> str | None:
    try:
        return moment.data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _cleaned_text(data: bytes, known: Known) -> dict[str, Any]:
    """Bytes that are no JSON without secrets; what is no text either is looked at byte by byte."""
    try:
        return {"text": secrets.clean(data.decode("utf-8"), known)}
    except UnicodeDecodeError:
        return text_of(secrets.clean(data.decode("latin-1"), known).encode("latin-1"))


def _kept(headers: Sequence[tuple[str, str]], known: Known) -> dict[str, Any]:
    """The headers that may be kept, by their names in lower case."""
    found: dict[str, Any] = {}
    for name, value in headers:
        name = name.lower()
        if name in KEPT_HEADERS or name.startswith(KEPT_BEGINNINGS):
            value = secrets.clean(value, known)
            before = found.get(name)
            found[name] = value if before is None else [*([before] if isinstance(before, str) else before), value]
    return found


def _document(value: Mapping[str, Any]) -> str:
    return f"{BEGIN}\n{layout.written(value)}{END}\n"


def _end_of(path: Path) -> bytes:
    """The last byte of a file; nothing for an empty one."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read(1)


def _claim(file: int) -> None:
    """Raise OSError if somebody else records there."""
    try:
        import fcntl
    except ImportError:  # there are no such locks on Windows
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
