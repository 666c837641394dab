"""Every kind of the catalogue over both doors: what clients hear and what the journal knows are the same."""

import json
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import aiohttp
import pytest

from engy_mock import EngyMock, Limits
from tests.doors.both import Aiohttp, Manner, Outcome
from tests.doors.raw import PATIENCE
from tests.matrix.cases import CASES
from tests.matrix.job import LONG
from tests.scripting.captured import PATHS, body_for
from tests.scripting.faults.test_every_kind import KINDS, REPLIES, example, in_each_form, places

STALL_SECONDS, SHORT_SECONDS = 0.6, 0.3
"""Clients lose their patience before silences end: who notices it, and who does not, is to be the same, too."""

REQUESTS = 2
"""How often one client asks the same, over one connection where that lasts."""

REPRESENTATIVE = ("200-empty", "early-response", "half-open", "headers-huge", "idle-close", "reset")
TALKERS: tuple[Manner | Aiohttp, ...] = (Manner("httpx2", is_async=False), Aiohttp())

KNOWN = ("status", "faults", "not_applied", "fate", "pieces_sent", "charged_micro", "usage", "error")
"""What the journal says of an exchange that has to do with its fault."""

LUCK = {("bad-chunk-size", "aiohttp")}
"""If the chunk comes in a packet of its own, aiohttp 3.14.5 waits for ever, on any socket; else it does not."""


def cases() -> Iterator[Any]:
    """Each kind in one form over one client, by turns; those that stand for others in all."""
    for number, kind in enumerate(KINDS):
        cells = [
            (route, stream, talker)
            for route, stream in in_each_form(places(kind))
            for talker in TALKERS
            if (kind, str(talker)) not in LUCK
        ]
        place = number % max(1, len(cells))
        for route, stream, talker in cells if kind in REPRESENTATIVE else cells[place : place + 1]:
            marks = () if kind in REPRESENTATIVE and stream else (pytest.mark.slow,)
            name = f"{kind}, {'stream' if stream else 'whole'}, {talker}"
            yield pytest.param(kind, route, stream, talker, marks=marks, id=name)


@pytest.fixture(scope="module")
def engy() -> Iterator[EngyMock]:
    with EngyMock(limits=Limits(stall_seconds=STALL_SECONDS)) as engy:
        yield engy


def course(
    engy: EngyMock, kind: str, route: str, stream: bool, talker: Manner | Aiohttp, *, has_socket: bool
) -> tuple[list[Outcome], list[Any]]:
    """What a client hears, and what the journal knows of it in the end."""
    engy.reset()
    fault = example(kind)
    # Behind the first piece, where there is a choice: what has come until then is to be the same.
    if any(field.name == "after" for field in fields(fault)):
        fault = replace(fault, after=1)  # type: ignore[call-arg]
    engy.when().reply(**REPLIES["rich"], faults=[fault])
    headers = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}
    if route.startswith("v5"):
        headers["x-api-key"] = engy.api_key
    content = json.dumps(body_for(route, stream=stream, tools=True)).encode()
    is_answered = kind not in CASES or CASES[kind].patience is LONG
    timeout: Any = PATIENCE if is_answered else SHORT_SECONDS
    if isinstance(talker, Aiohttp):
        timeout = aiohttp.ClientTimeout(sock_read=timeout)
    with talker.talking(engy, has_socket=has_socket, timeout=timeout) as talk:
        heard = [talk("POST", PATHS[route], headers=headers, content=content) for _ in range(REQUESTS)]
    end = time.monotonic() + PATIENCE
    while any(entry.fate == "waiting" for entry in engy.journal):
        assert time.monotonic() < end, "an answer never ended"
        time.sleep(0.005)
    return heard, [[getattr(entry, name) for name in KNOWN] for entry in engy.journal]


@pytest.mark.parametrize(("kind", "route", "stream", "talker"), list(cases()))
def test_a_kind_does_the_same(
    engy: EngyMock, kind: str, route: str, stream: bool, talker: Manner | Aiohttp
) -> None:
    """Each byte and each error of each answer, what was applied and what was not, and what it cost."""
    over_socket = course(engy, kind, route, stream, talker, has_socket=True)
    assert course(engy, kind, route, stream, talker, has_socket=False) == over_socket
