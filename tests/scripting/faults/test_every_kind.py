"""Every kind of the catalogue, whatever it is: sound books, a name in the journal, no hang, the same again."""

import re
import time
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace
from itertools import islice, product
from typing import Any

import pytest

from engy_mock import EngyMock, MockError, ToolCall
from engy_mock.books.entry import Entry
from engy_mock.scripting.fault import Fault, catalogue, made, parameter
from engy_mock.scripting.faults.doors import OfTheDoor
from engy_mock.serving.limits import Limits
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Call, Step
from tests.doors.raw import PATIENCE, Raw, request
from tests.scripting.captured import PATHS, STREAMING, Capture, body_for

KINDS = [kind for kind, own in sorted(catalogue().items()) if not issubclass(own, OfTheDoor)]
"""All kinds but those of the door, which no rule can have."""

REPLIES: dict[str, dict[str, Any]] = {
    "rich": {
        "text": "One, two; \u00e9t\u00e9 \U0001f389.",
        "reasoning": "Hm, so.",
        "tool_calls": [ToolCall("get_weather", city="Paris"), ToolCall("get_weather", city="Rome")],
    },
    "plain": {"text": "one two"},
}
"""An answer with all that there can be, and one with text alone."""

CALLS = [(route, stream) for route in PATHS for stream in (True, False) if route in STREAMING or not stream]
"""All routes in all their forms."""

VALUES = (0.01, 1, "x", True)
"""What is tried for parameters that have no default."""

REQUESTS = 2
"""How often the same is asked: some kinds are for what comes later."""


def example(kind: str) -> Fault:
    """A fault of this kind with as little said as possible."""
    own = catalogue()[kind]
    missing = [
        parameter(field.name)
        for field in fields(own)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    for values in product(VALUES, repeat=len(missing)):
        try:
            return made({"kind": kind, **dict(zip(missing, values, strict=True))})
        except MockError:
            continue
    raise AssertionError(f"{kind} takes none of {VALUES} for {missing}")


def fits(own: Fault, route: str, stream: bool) -> bool:
    """Whether the kind says that it is for such a request."""
    endpoint, surface = route.removeprefix("v5 "), "v5" if route.startswith("v5") else "v1"
    return (
        (not own.endpoints or endpoint in own.endpoints)
        and (not own.surfaces or surface in own.surfaces)
        and own.is_for_streams in (None, stream)
    )


def places(kind: str) -> list[tuple[str, bool]]:
    """The routes and forms that the kind is for."""
    own = catalogue()[kind]
    return [(route, stream) for route, stream in CALLS if fits(own, route, stream)]  # type: ignore[arg-type]


def in_each_form(found: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The first of these routes for a stream, and the first for a whole answer."""
    return list({stream: (route, stream) for route, stream in reversed(found)}.values())


def script(engy: EngyMock, kind: str, reply: str) -> None:
    """Let the mock be new, and have the one fault."""
    engy.reset()
    engy.when().reply(**REPLIES[reply], faults=[example(kind)])


def told(engy: EngyMock, kind: str, route: str, stream: bool, reply: str) -> list[list[Step]]:
    """The steps of each answer to the same request, and the first step of one more, which the client leaves."""
    script(engy, kind, reply)
    call = call_for(engy, route, stream, reply)
    plans = []
    for most in (*[None] * REQUESTS, 1):
        plans.append(answered(engy, call, most))
        is_sound(engy, kind)
    return plans


def call_for(engy: EngyMock, route: str, stream: bool, reply: str) -> Call:
    """A request that such a reply is for."""
    headers = {"authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key, "host": "127.0.0.1"}
    headers["content-type"] = "application/json"
    body = json.write(body_for(route, stream=stream, tools=reply == "rich"))
    return Call(method="POST", path=PATHS[route], headers=headers, body=body)


def answered(engy: EngyMock, call: Call, most: int | None = None) -> list[Step]:
    """The steps of the answer to a call, as whoever performs them takes them, or so many of them."""
    steps = engy.gateway.answer(call)
    taken = list(islice(steps, most))
    if hasattr(steps, "close"):
        steps.close()
    return taken


def is_sound(engy: EngyMock, kind: str) -> None:
    """Nothing failed inside, nothing is held, and the journal names the kind, unless it may stay calm."""
    assert engy.gateway.defects == []
    assert engy.gateway.accounts.default.held_micro == 0
    entry = engy.journal.last
    assert is_named(entry, kind) or (is_calm(entry) and may_be_calm(kind)), entry


def is_named(entry: Entry, kind: str) -> bool:
    """Whether the journal says what has become of the fault."""
    return kind in [name.split(" ")[0] for name in (*entry.faults, *entry.not_applied)]


def may_be_calm(kind: str) -> bool:
    """Whether the kind leaves some requests alone, or waits for the client to leave, before it does anything."""
    own = catalogue()[kind]
    return own.spares or own.runs_on


def is_calm(entry: Entry) -> bool:
    """Whether no fault was due; a route may have no place for a part of the reply."""
    return not entry.faults and all(name.startswith("reply ") for name in entry.not_applied)


@pytest.fixture(scope="module")
def mocks() -> tuple[EngyMock, EngyMock]:
    """Two mocks of one seed."""
    return EngyMock(), EngyMock()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_plans(mocks: tuple[EngyMock, EngyMock], kind: str):
    """D-1, D-8: on every route that it is for, the same steps from two mocks of one seed, and sound books."""
    here, there = mocks
    for route, stream in places(kind):
        steps = told(here, kind, route, stream, "rich")
        assert told(there, kind, route, stream, "rich") == steps, (route, stream)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kind", "reply"), [(kind, sorted(REPLIES)[place % len(REPLIES)]) for place, kind in enumerate(KINDS)]
)
def test_all_plans(mocks: tuple[EngyMock, EngyMock], kind: str, reply: str):
    """D-1, D-8: the same on every route there is, with reasoning and calls or without, by turns."""
    here, there = mocks
    for route, stream in CALLS:
        steps = told(here, kind, route, stream, reply)
        assert told(there, kind, route, stream, reply) == steps, (route, stream)


@pytest.mark.matrix
@pytest.mark.parametrize("kind", KINDS)
def test_behind_any_other(mocks: tuple[EngyMock, EngyMock], kind: str):
    """A kind takes what another has made of an answer, be it ever so broken, and the books stay right.

    Each meets one in twenty-four of the others, and all of them do in their turn what comes before others.
    """
    engy, _ = mocks
    for other in KINDS[KINDS.index(kind) % 24 :: 24]:
        for route, stream in in_each_form(places(kind)):
            engy.reset()
            engy.when().reply(**REPLIES["rich"], faults=[example(other), example(kind)])
            answered(engy, call_for(engy, route, stream, "rich"))
            assert engy.gateway.defects == [], (other, route, stream)
            assert engy.gateway.accounts.default.held_micro == 0


@pytest.mark.parametrize("kind", KINDS)
def test_plans_for_what_it_is_not_for(mocks: tuple[EngyMock, EngyMock], kind: str):
    """D-8: where a kind says that it cannot apply it does not, and the journal tells."""
    engy, _ = mocks
    own = example(kind)
    for route, stream in CALLS:
        if not fits(own, route, stream):
            told(engy, kind, route, stream, "plain")
            entry = engy.journal.last
            assert is_calm(entry) or [name.split(" ")[0] for name in entry.not_applied] == [kind]


SPARING = {
    "balance-runs-out": "count",
    "brown-out": "draw",
    "cold-start": "time",
    "flapping": "count",
    "history-strict": "request",
    "key-concurrency": "crowd",
    "key-revoked": "count",
    "load-latency": "crowd",
    "model-vanishes": "count",
    "queue-full": "crowd",
    "redirect-drops-auth": "request",
    "replay-differs": "count",
    "signature-strict": "request",
    "stream-refused": "request",
    "warm-up": "count",
    "worker-gone": "request",
}
"""The kinds that may leave a request alone, by what they look at: each new one has to be meant to."""


def test_which_kinds_spare_requests():
    """No other kind may stay out of the journal."""
    assert {kind for kind in KINDS if catalogue()[kind].spares} == set(SPARING)


def unusual(engy: EngyMock) -> Iterator[tuple[dict[str, Any], Call]]:
    """Calls that no model answers, with the words of rules that are for them."""
    chat = call_for(engy, "chat", False, "plain")
    count = call_for(engy, "messages", False, "plain")
    yield {"endpoint": "models"}, replace(chat, method="GET", path="/v1/models", body=b"")
    yield {"endpoint": "count_tokens"}, replace(count, path="/v1/messages/count_tokens")
    yield {"endpoint": "records"}, replace(chat, method="GET", path="/v5/models", body=b"")
    yield {"refused": 404}, replace(chat, body=chat.body.replace(b"glm-5.2", b"glm-0"))
    yield {"refused": 404}, replace(count, body=count.body.replace(b"glm-5.2", b"glm-0"))
    yield {}, replace(chat, path="/v5/inference", body=b'{"model":"openai/gpt-4o","args":{}}')


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_dropped(mocks: tuple[EngyMock, EngyMock], kind: str):
    """D-8: whatever the call, a kind is refused in the rule, or the journal says what has become of it."""
    engy, _ = mocks
    for words, call in unusual(engy):
        engy.reset()
        try:
            engy.when(**words).faults(example(kind))
        except MockError:
            continue
        answered(engy, call)
        is_sound(engy, kind)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[EngyMock, EngyMock]]:
    """Two mocks of one seed that serve, and in which nothing takes long."""
    limits = Limits(stall_seconds=0.05)
    with (
        EngyMock(time_scale=0.001, limits=limits) as here,
        EngyMock(time_scale=0.001, limits=limits) as there,
    ):
        yield here, there


def captured(engy: EngyMock, kind: str, route: str, stream: bool, reply: str) -> list[Capture]:
    """What a client gets to see of each answer; nothing at all where it cannot connect."""
    script(engy, kind, reply)
    data = json.write(body_for(route, stream=stream, tools=reply == "rich"))
    names = ("Content-Type: application/json", "Connection: close", f"x-api-key: {engy.api_key}")
    sent = request(PATHS[route], data, f"Authorization: Bearer {engy.api_key}", *names)
    seen = []
    for _ in range(REQUESTS):
        try:
            raw = Raw(engy.port)
        except ConnectionError:
            seen.append(Capture(b"", "refused"))
            continue
        with raw:
            raw.send(sent)
            seen.append(Capture(*raw.read_to_end()))
    return seen


PORT = re.compile(rb"127\.0\.0\.1:\d+")


def is_same(one: Capture, other: Capture) -> bool:
    """Whether two captures are equal; how often an endless sign of life came is left to time."""
    # A second door of each mock has a port of its own.
    if PORT.sub(b"", one.raw) == PORT.sub(b"", other.raw):
        return one.ending == other.ending
    return not (one.is_complete or other.is_complete) and (
        one.raw.startswith(other.raw) or other.raw.startswith(one.raw)
    )


@pytest.mark.matrix
@pytest.mark.parametrize("kind", KINDS)
def test_on_the_socket(served: tuple[EngyMock, EngyMock], kind: str):
    """D-1: the connection comes to an end in both forms, with the same bytes from two mocks; both live on."""
    here, there = served
    for route, stream in in_each_form(places(kind)):
        seen = captured(here, kind, route, stream, "rich")
        for one, other in zip(seen, captured(there, kind, route, stream, "rich"), strict=True):
            assert is_same(one, other), (route, stream)
        for engy in (here, there):
            is_paid(engy)
            assert engy.gateway.defects == []
            engy.reset()
            engy.when().reply("calm")
            assert captured_plainly(engy).status == 200


def is_paid(engy: EngyMock) -> None:
    """Nothing is held, or soon is not: an answer without an end is over when its connection is."""
    end = time.monotonic() + PATIENCE
    while engy.gateway.accounts.default.held_micro:
        assert time.monotonic() < end, "the hold is never settled"
        time.sleep(0.005)


def captured_plainly(engy: EngyMock) -> Capture:
    """An answer without any fault."""
    with Raw(engy.port) as raw:
        headers = (f"Authorization: Bearer {engy.api_key}", "Content-Type: application/json", "Connection: close")
        raw.send(request(PATHS["chat"], json.write(body_for("chat", stream=False)), *headers))
        return Capture(*raw.read_to_end())


def test_the_check_of_captures_sees_a_difference():
    """An equal beginning is enough for an answer without an end only."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    endless = Capture(head + b"1\r\nx\r\n", "fin")
    assert is_same(endless, Capture(head + b"1\r\nx\r\n1\r\nx\r\n", "fin"))
    assert not is_same(endless, Capture(head + b"1\r\ny\r\n", "fin"))
    assert not is_same(endless, Capture(head + b"1\r\nx\r\n", "reset"))
    whole = Capture(head + b"1\r\nx\r\n0\r\n\r\n", "fin")
    assert not is_same(whole, Capture(head + b"1\r\nx\r\n", "fin"))
