"""A cassette: exchanges with a real service as a file has them, one document for each."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from engy_mock.scripting import notation
from engy_mock.scripting.forms import Form
from engy_mock.scripting.notation import Bounds, Sheet
from engy_mock.vocabulary import files, json
from engy_mock.vocabulary.errors import MockError

VERSION = 1
BOUNDS = Bounds(bytes=128 * 1024 * 1024, nodes=5_000_000, depth=40)
"""How much one exchange may have."""

MAX_BYTES = 1024 * 1024 * 1024
"""How long a file with many of them may be."""

MAX_DEPTH = 24
MAX_NUMBER = 10**300

BEGIN, END = "---", "..."
"""The lines around a document; one without the second was never finished."""

COMMENT = f"# A cassette of engy_mock: play it with `engy-mock serve --cassette`. Format {VERSION}.\n"
"""How a file begins, before the first document."""

_HEAD_BYTES = 64 * 1024
_HEAD = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*---[ \t]*\r?\n(.*?)(?:^(?:---|\.\.\.)[ \t]*\r?$|\Z)", re.M | re.S
)

Ending = Literal["end", "close", "reset", "left"]
"""How an answer ended: in good order, by FIN or RST in its middle, or because its client had left."""

WRITERS: Mapping[str, Callable[[Any], bytes]] = {
    "compact": json.write,
    "spaced": lambda value: dumps(value, ensure_ascii=False, allow_nan=False).encode(),
    "indented": lambda value: dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode(),
    "escaped": lambda value: dumps(value, allow_nan=False, separators=(",", ":")).encode(),
}
"""The ways in which services write JSON; a body that is written in none of them is kept as a text."""


class BodyForm(Form):
    """A body: a JSON value and how it was written, else its text, else its bytes."""

    json_: Any = Field(default=None, alias="json")
    written: Literal["compact", "spaced", "indented", "escaped"] = "compact"
    text: str | None = None
    base64: str | None = None

    @property
    def data(self) -> bytes:
        """Its bytes."""
        if self.base64 is not None:
            return b64decode(self.base64)
        return WRITERS[self.written](self.json_) if self.text is None else self.text.encode()


class EventForm(Form):
    """An event of a stream with the time at which it was there, in milliseconds from the request on."""

    at: Annotated[int, Field(ge=0)]
    text: str | None = None
    base64: str | None = None

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return b64decode(self.base64) if self.base64 is not None else (self.text or "").encode()


class RequestForm(Form):
    """What was asked."""

    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    body: BodyForm | None = None


class AnswerForm(Form):
    """What was answered: a body, or events.

    `at` is when the head was there, `cut` says that there was more than is kept, `said` is what it comes to, for
    people.
    """

    status: Annotated[int, Field(ge=100, le=599)]
    at: Annotated[int, Field(ge=0)] = 0
    headers: dict[str, str | list[str]] = Field(default_factory=dict)
    said: dict[str, Any] = Field(default_factory=dict)
    body: BodyForm | None = None
    events: list[EventForm] | None = None
    ending: Ending = "end"
    cut: bool = False


class ExchangeForm(Form):
    """One exchange; `exchange` is its number, counted from 1 in the order of the requests."""

    exchange: Annotated[int, Field(ge=1)]
    request: RequestForm
    answer: AnswerForm


class HeadForm(Form):
    """What stands before the exchanges of one run of a recorder."""

    engy_mock_cassette: Literal[1]
    upstream: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """What a file holds. `notes` say what in it could not be used, each with its line."""

    source: str
    exchanges: tuple[ExchangeForm, ...]
    upstream: str = ""
    notes: tuple[str, ...] = ()


def read(path: Path) -> Cassette:
    """The cassette in a file; raises MockError with file and line. What was never finished is left out."""
    text = _text(path)
    exchanges: list[ExchangeForm] = []
    notes: list[str] = []
    upstream: str | None = None
    runs = 0
    for line, document, is_whole in _documents(text):
        if not is_whole:
            notes.append(f"{path}, line {line}: an exchange that was never finished is left out")
            continue
        sheet = _sheet(path, line, document)
        if isinstance(sheet.value, dict) and "engy_mock_cassette" in sheet.value:
            upstream = _checked(HeadForm, sheet).upstream
            runs += 1
        elif upstream is None:
            raise MockError(f"{path}, line {line}: no cassette: it begins with `engy_mock_cassette: {VERSION}`")
        else:
            exchanges.append(_checked(ExchangeForm, sheet))
    if upstream is None:
        raise MockError(f"{path}: no cassette: it has no `engy_mock_cassette: {VERSION}`")
    # Each run of a recorder counts for itself; what it finished late, it began early all the same.
    if runs == 1:
        exchanges.sort(key=lambda one: one.exchange)
    return Cassette(source=str(path), exchanges=tuple(exchanges), upstream=upstream, notes=tuple(notes))


def sheets(path: Path) -> tuple[str, Iterator[Sheet]]:
    """The text of a cassette, and each of its whole documents with the lines of all that is in it."""
    text = _text(path)
    return text, (_sheet(path, line, document) for line, document, is_whole in _documents(text) if is_whole)


def is_one(path: Path) -> bool:
    """Whether a file looks like a cassette."""
    return b"engy_mock_cassette:" in files.begins(path, 512)


def check_goes_on(path: Path) -> None:
    """Raise MockError for a file that is no good cassette: what is written behind that could not be played."""
    start = files.begins(path, _HEAD_BYTES).decode("utf-8", "replace")
    head = _HEAD.match(start)
    if start and COMMENT.startswith(start[: len(COMMENT)]):
        return  # of one that was torn before its first line was whole
    if head is None or not any(line.startswith("engy_mock_cassette:") for line in head[1].splitlines()):
        raise MockError(f"{path}: no cassette: it does not begin with `engy_mock_cassette: {VERSION}`")
    read(path)


def schema() -> dict[str, Any]:
    """The JSON Schema of one exchange."""
    return ExchangeForm.model_json_schema()


def body_of(data: bytes) -> dict[str, Any]:
    """A body as a cassette keeps it, so that the same bytes come out of it."""
    try:
        value = json.read(data)
        if not is_plain(value):
            return text_of(data)
        for name, write in WRITERS.items():
            if write(value) == data:
                return {"json": value} if name == "compact" else {"json": value, "written": name}
    except ValueError:
        pass
    return text_of(data)


def is_plain(value: object, depth: int = 0) -> bool:
    """Whether a JSON value can stand in a cassette as it is: neither too deep nor with a number without end."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return depth < MAX_DEPTH and all(is_plain(item, depth + 1) for item in items)
    return not isinstance(value, int) or -MAX_NUMBER < value < MAX_NUMBER


def text_of(data: bytes) -> dict[str, Any]:
    """Bytes as a text, or if they are none as base64."""
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _text(path: Path) -> str:
    return files.read_text(path, MAX_BYTES)


def _sheet(path: Path, line: int, document: str) -> Sheet:
    """A document that begins at this line of a file."""
    return notation.read(("\n" * (line - 1) + document).encode(), str(path), bounds=BOUNDS)


_MARK = re.compile(r"^(---|\.\.\.)[ \t]*$", re.MULTILINE)


def _documents(text: str) -> Iterator[tuple[int, str, bool]]:
    """The documents of a file with the line at which each begins, and whether it is whole."""
    start: int | None = None
    for found in _MARK.finditer(text):
        if found[1] == BEGIN:
            if start is not None:
                yield text.count("\n", 0, start) + 1, text[start : found.start()], False
            start = found.end()
        elif start is not None:
            yield text.count("\n", 0, start) + 1, text[start : found.start()], True
            start = None
    if start is not None:
        yield text.count("\n", 0, start) + 1, text[start:], False


def _checked(form: Any, sheet: notation.Sheet) -> Any:
    try:
        return form.model_validate(sheet.value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        message = found["msg"][:1].lower() + found["msg"][1:]
        raise MockError(f"{sheet.at(tuple(found['loc']))}: {message}") from None
