"""A kind of fault as a row of a table: what it is given, where it applies, and what has to be seen on the wire."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from engy_mock import EngyMock
from engy_mock.books.entry import Entry
from engy_mock.vocabulary.wire import Call, Step
from tests.scripting.captured import PATHS, STREAMING, Capture, ask, body_for

TEXT = "one two three four"
PLAN = re.compile(rb"X-Engy-Mock-Plan: .*\r\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The same answer without the fault (`plain`) and with it (`got`), and what the journal says of the latter."""

    route: str
    stream: bool
    plain: Capture
    got: Capture
    entry: Entry


Check = Callable[[Seen], None]


def _nothing(_: Seen) -> None:
    """For rows whose test has eyes of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kind with parameters; `forms` are those that it applies to, `paid` whether its answers are charged.

    `routes` are those that it applies to as streams.
    """

    kind: str
    check: Check = _nothing
    given: dict[str, Any] = field(default_factory=dict)
    text: str = TEXT
    routes: tuple[str, ...] = STREAMING
    forms: tuple[bool, ...] = (True, False)
    paid: bool = True
    asked: dict[str, Any] = field(default_factory=dict)
    headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        said = [f"{name}={value}" for name, value in self.given.items()]
        return "-".join([self.kind, *said])


def cases(rows: tuple[Row, ...]) -> Iterator[tuple[Row, str, bool]]:
    """Each row with each of its routes and forms."""
    for row in rows:
        for stream in row.forms:
            for route in row.routes if stream else PATHS:
                if stream or row.routes == STREAMING or route in row.routes:
                    yield row, route, stream


def name(value: object) -> str:
    """What a case is called."""
    if isinstance(value, Row):
        return value.name
    return ("stream" if value else "whole") if isinstance(value, bool) else str(value)


def perform(engy: EngyMock, row: Row, route: str, stream: bool) -> Seen:
    """The answer without the fault, then with it; and what is so of every kind of fault."""
    engy.when().reply(row.text)
    plain = ask(engy, route, stream=stream, headers=row.headers, **row.asked)
    assert plain.status == 200
    engy.reset()
    engy.when().reply(row.text, faults=[{"kind": row.kind, **row.given}])
    got = ask(engy, route, stream=stream, headers=row.headers, **row.asked)
    (entry,) = engy.journal
    assert len(entry.faults) == 1
    assert entry.not_applied == ()
    assert got.status in (entry.status, 103)
    assert (entry.usage is not None) is row.paid
    # Nothing has a price under /v5.
    assert (entry.charged_micro > 0) is (row.paid and not route.startswith("v5"))
    assert engy.gateway.accounts.default.held_micro == 0
    return Seen(route=route, stream=stream, plain=plain, got=got, entry=entry)


def steps(engy: EngyMock, row: Row, route: str, stream: bool) -> list[Step]:
    """The steps of the answer with the fault, as they are performed."""
    engy.reset()
    engy.when().reply(row.text, faults=[{"kind": row.kind, **row.given}])
    body = json.dumps(body_for(route, stream=stream, **row.asked)).encode()
    headers = {"authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key}
    headers |= {"content-type": "application/json", "host": "127.0.0.1"}
    return list(engy.gateway.answer(Call(method="POST", path=PATHS[route], headers=headers, body=body)))


def blocks(capture: Capture) -> list[bytes]:
    """The events of a stream as they stand in the body, with their empty lines."""
    return split(capture.body)


def split(body: bytes) -> list[bytes]:
    """The same for the bytes of a body."""
    return [block + b"\n\n" for block in body.split(b"\n\n")[:-1]]


def pieces(capture: Capture, text: str = TEXT) -> list[int]:
    """The places of the events that tell the words of the text."""
    first, *others = text.split()
    words = [json.dumps(word).encode() for word in (first, *[f" {word}" for word in others])]
    return [place for place, block in enumerate(blocks(capture)) if any(word in block for word in words)]


def told(capture: Capture, after: int) -> bytes:
    """The events up to the end of so many pieces; with 0 those before the first piece."""
    places = pieces(capture)
    return b"".join(blocks(capture)[: places[after - 1] + 1 if after else places[0]])


BEGUN = {"chat": 1, "completions": 0, "messages": 2, "responses": 2}
"""How many events say no more than that an answer begins."""


def begun(capture: Capture, route: str) -> bytes:
    """The events that say no more than that the answer begins."""
    return b"".join(blocks(capture)[: BEGUN[route.removeprefix("v5 ")]])


def unplanned(raw: bytes) -> bytes:
    """An answer without the header that differs by the rule."""
    return PLAN.sub(b"", raw)
