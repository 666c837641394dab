"""The kinds of "Responses" at the socket: what differs from the good answer, and nothing else does."""

from copy import deepcopy
from typing import Any

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.scripting.fault import catalogue
from tests.dialects.heard_responses import heard, response, server_events
from tests.scripting.captured import PATHS, Capture, ask, send
from tests.scripting.faults.told import Event, asked, events, settled

KINDS = (
    "no-terminal-event",
    "response-failed",
    "response-incomplete",
    "response-error-flat",
    "response-error-nested",
    "output-item-added-missing",
    "content-part-added-missing",
    "sequence-number-missing",
    "sequence-number-odd",
    "response-event-name-missing",
    "response-done-appended",
    "item-status-missing",
    "output-missing",
    "error-code-null",
    "delta-only",
)
"""All kinds of this part of the catalogue."""

ROUTES = ("responses", "v5 responses")
ADDED = "response.output_item.added"
FRAMING = ("output_item.added", "output_item.done", "content_part.added", "content_part.done", "text.done")
DELTAS = ("response.reasoning_text.delta", "response.output_text.delta", "response.function_call_arguments.delta")


def numbered(told: list[Event]) -> list[Event]:
    """The events with numbers from 0."""
    return [(name, {**document, "sequence_number": place}) for place, (name, document) in enumerate(told)]


def without(told: list[Event], *kinds: str) -> list[Event]:
    return numbered([event for event in told if not event[1]["type"].endswith(kinds)])


def edited(told: list[Event], edit: Any) -> list[Event]:
    """The events, each document edited in place."""
    made = deepcopy(told)
    for _, document in made:
        edit(document)
    return made


def without_status(document: dict[str, Any]) -> None:
    for item in [document.get("item", {}), *document.get("response", document).get("output", [])]:
        item.pop("status", None)


def without_output(document: dict[str, Any]) -> None:
    if document["type"] == "response.in_progress":
        del document["response"]["output"]


STREAMS: list[Any] = [
    ("no-terminal-event", lambda told: told[:-1]),
    ("output-item-added-missing", lambda told: without(told, "output_item.added")),
    ("content-part-added-missing", lambda told: without(told, "content_part.added")),
    ("sequence-number-missing", lambda told: edited(told, lambda event: event.pop("sequence_number"))),
    (
        "sequence-number-odd",
        lambda told: edited(told, lambda event: event.update(sequence_number=event["sequence_number"] ^ 1)),
    ),
    ("response-event-name-missing", lambda told: [("", document) for _, document in told]),
    ("response-done-appended", lambda told: [*told, ("", {})]),
    ("item-status-missing", lambda told: edited(told, without_status)),
    ("output-missing", lambda told: edited(told, without_output)),
    ("delta-only", lambda told: without(told, *FRAMING, "arguments.done")),
]
"""What becomes of the events of the good stream; all of it is paid for."""


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("kind", "changed"), STREAMS, ids=lambda value: None if callable(value) else value)
def test_streams(engy: EngyMock, route: str, kind: str, changed: Any):
    """The events are those of the good stream but for what the kind says, and are paid for like it."""
    is_named = route == "responses"
    good = asked(engy, route)
    charge = engy.journal.last.charged_micro
    assert heard(good.body, is_named=is_named)["status"] == "completed"
    seen = asked(engy, route, [kind])
    assert (seen.status, seen.ending, seen.is_complete) == (200, "fin", True)
    assert events(seen) == changed(events(good))
    entry = engy.journal.last
    assert (entry.status, entry.charged_micro) == (200, charge)
    is_idle = kind == "response-event-name-missing" and not is_named
    assert (entry.faults, entry.not_applied) == (((), (kind,)) if is_idle else ((kind,), ()))
    settled(engy)


@pytest.mark.parametrize("kind", [kind for kind, _ in STREAMS])
def test_a_strict_reader_sees_what_is_broken(engy: EngyMock, kind: str):
    """The client's own types and the order of the wire are broken by every kind, but only by what is missing."""
    seen = asked(engy, "responses", [kind])
    with pytest.raises((AssertionError, ValueError, KeyError, IndexError)):
        heard(seen.body)
    if kind == "response-done-appended":
        assert seen.body.endswith(b"\n\ndata: [DONE]\n\n")
        heard(seen.body.removesuffix(b"data: [DONE]\n\n"))
    elif kind == "response-event-name-missing":
        heard(seen.body, is_named=False)
    elif kind in ("no-terminal-event", "output-item-added-missing", "content-part-added-missing", "delta-only"):
        assert len(server_events(seen.body)) > 3


def test_done_is_the_last(engy: EngyMock):
    """The end mark of chat stands behind a stream, not behind a whole answer or a refusal."""
    engy.when(stream=True).refuse(429, faults=["response-done-appended"], times=1)
    refused = ask_again(engy)
    assert (refused.status, refused.document["error"]["code"]) == (429, 429)
    assert engy.journal.last.not_applied == ("response-done-appended",)


def ask_again(engy: EngyMock, route: str = "responses", *, stream: bool = True) -> Capture:
    """The same request, without a reset."""
    return ask(engy, route, stream=stream, tools=True)


WHOLE: list[Any] = [
    ("item-status-missing", without_status),
    ("output-missing", lambda good: good.pop("output")),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("kind", "edit"), WHOLE, ids=lambda value: None if callable(value) else value)
def test_whole_responses(engy: EngyMock, route: str, kind: str, edit: Any):
    """Where the kind makes sense without events, the whole response differs in the same way."""
    good = asked(engy, route, stream=False).document
    charge = engy.journal.last.charged_micro
    edit(good)
    seen = asked(engy, route, [kind], stream=False)
    assert (seen.status, seen.is_complete, seen.document) == (200, True, good)
    entry = engy.journal.last
    assert (entry.faults, entry.not_applied, entry.charged_micro) == ((kind,), (), charge)
    settled(engy)


@pytest.mark.parametrize("kind", KINDS)
def test_forms_are_told_truthfully(engy: EngyMock, kind: str):
    """A kind that a whole response leaves no room for is refused in a rule for whole answers, any other is not."""
    rule = engy.when(stream=False, endpoint="responses")
    if kind in {"response-failed", "response-incomplete", "error-code-null", *(kind for kind, _ in WHOLE)}:
        rule.faults(kind)
    else:
        with pytest.raises(MockError, match="streams only"):
            rule.faults(kind)
    with pytest.raises(MockError, match="it is for responses, not for messages"):
        engy.when(endpoint="messages").faults(kind)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "error-code-null"])
def test_refusals_are_left_alone(engy: EngyMock, kind: str, stream: bool):
    """What changes an answer finds nothing to change in a refusal, and that is told."""
    engy.when().refuse(429, "later", faults=[kind])
    seen = ask_again(engy, stream=stream)
    assert (seen.status, seen.document["error"]["message"]) == (429, "later")
    entry = engy.journal.last
    assert (entry.status, entry.faults, entry.not_applied) == (429, (), (kind,))
    settled(engy)


FAILED: list[Any] = [
    ({"kind": "response-failed"}, "server_error"),
    ({"kind": "response-failed", "after": 2}, "server_error"),
    ({"kind": "response-failed", "after": 3}, "server_error"),
    ({"kind": "response-failed", "after": 1, "code": "rate_limit_exceeded"}, "rate_limit_exceeded"),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("fault", "code"), FAILED, ids=str)
def test_response_failed(engy: EngyMock, route: str, fault: dict[str, Any], code: str):
    """R-69, R-92, R-9: the failure is the last event, behind so many pieces, and all of it keeps to the types."""
    good = events(asked(engy, route))
    pieces = min(fault.get("after", 0), engy.journal.last.pieces_sent)
    seen = asked(engy, route, [fault])
    assert (seen.status, seen.is_complete) == (200, True)
    over = heard(seen.body, is_named=route == "responses")
    told = events(seen)
    assert told[:-1] == good[: len(told) - 1]
    assert told[-1][1]["type"] == "response.failed"
    assert sum(document["type"] in DELTAS for _, document in told) == pieces
    assert over["error"] == {"code": code, "message": "internal server error"}
    assert (over["usage"], over["completed_at"], "x_engy" in over) == (None, None, False)
    entry = engy.journal.last
    assert (entry.status, entry.charged_micro, entry.pieces_sent) == (200, 0, pieces)
    assert (entry.error, entry.not_applied) == ("internal server error", ())
    settled(engy)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("fault", "code"), [*FAILED, ("error-code-null", None)], ids=str)
def test_a_whole_response_fails_too(engy: EngyMock, route: str, fault: Any, code: str | None):
    """The whole response with status `failed` is the one that the stream ends with, and costs nothing."""
    over = events(asked(engy, route, [fault]))[-1][1]["response"]
    streamed_faults = engy.journal.last.faults
    seen = asked(engy, route, [fault], stream=False)
    assert (seen.status, seen.is_complete) == (200, True)
    if code is not None:
        response(seen.body)
    assert anonymous(seen.document) == anonymous(over)
    assert (over["status"], over["error"]["code"]) == ("failed", code)
    entry = engy.journal.last
    assert (entry.status, entry.faults, entry.not_applied, entry.charged_micro) == (200, streamed_faults, (), 0)
    settled(engy)


def anonymous(document: dict[str, Any]) -> dict[str, Any]:
    """A response without what differs between two requests."""
    made = deepcopy(document)
    for own in (made, *made["output"]):
        own.pop("id")
        own.pop("call_id", None)
    return made


def test_codes_are_nulled_in_other_failures_too(engy: EngyMock):
    """`error-code-null` keeps the failure of a fault before it, and takes its code."""
    seen = asked(engy, "responses", [{"kind": "response-failed", "after": 4}, "error-code-null"])
    *before, (_, last) = events(seen)
    assert sum(document["type"] in DELTAS for _, document in before) == 4
    assert (last["type"], last["response"]["error"]["code"]) == ("response.failed", None)
    assert engy.journal.last.faults == ("response-failed after=4", "error-code-null")
    with pytest.raises(ValueError, match=r"response\.error\.code"):
        server_events(seen.body)


@pytest.mark.parametrize("kind", ["response-error-flat", "response-error-nested"])
def test_codes_are_nulled_in_error_events(engy: EngyMock, kind: str):
    """Events of type `error` have a code as well, at one place or the other."""
    _, last = events(asked(engy, "responses", [{"kind": kind, "after": 2}, "error-code-null"]))[-1]
    assert last["type"] == "error"
    assert last.get("error", last)["code"] is None
    assert engy.journal.last.not_applied == ()


@pytest.mark.parametrize("stream", [True, False])
def test_codes_are_nulled_in_refusals(engy: EngyMock, stream: bool):
    """A refusal stays one, without its code."""
    engy.when().refuse(429, "later", faults=["error-code-null"])
    seen = ask_again(engy, stream=stream)
    assert (seen.status, seen.document["error"]["code"]) == (429, None)
    assert (engy.journal.last.status, engy.journal.last.faults) == (429, ("error-code-null",))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("after", [0, 1, 2, 3])
@pytest.mark.parametrize("stream", [True, False])
def test_response_incomplete(engy: EngyMock, route: str, after: int, stream: bool):
    """R-62: the last event is incomplete, all of the budget went into reasoning, and the client pays for it."""
    seen = asked(engy, route, [{"kind": "response-incomplete", "after": after}], stream=stream)
    assert (seen.status, seen.is_complete) == (200, True)
    over = heard(seen.body, is_named=route == "responses") if stream else response(seen.body)
    assert (over["status"], over["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    (item,) = over["output"]
    assert (item["type"], item["status"]) == ("reasoning", "incomplete")
    said = "Hm soone two" if route == "responses" else "one two"
    assert said.startswith(item["content"][0]["text"])
    assert bool(item["content"][0]["text"]) is (after > 0)
    usage = over["usage"]
    assert usage["output_tokens"] == usage["output_tokens_details"]["reasoning_tokens"] == 200
    entry = engy.journal.last
    assert (entry.status, entry.not_applied, entry.usage.completion_tokens) == (200, (), 200)
    if route == "responses":
        assert entry.charged_micro == over["x_engy"]["charged_micro"] > 0
    settled(engy)


def test_without_a_budget_the_answer_is_it(engy: EngyMock):
    """Where the request names no limit, reasoning has used up as much as the answer would have."""
    engy.when().reply("one two", reasoning="Hm so", faults=["response-incomplete"])
    usage = send(engy, PATHS["responses"], {"model": "glm-5.2", "input": "x"}).document["usage"]
    assert usage["output_tokens"] == usage["output_tokens_details"]["reasoning_tokens"]
    assert 0 < usage["output_tokens"] < 20


FLAT = {"code": "server_error", "message": "internal server error", "param": None}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("after", [0, 2, 3])
@pytest.mark.parametrize(
    ("kind", "fields"),
    [("response-error-flat", FLAT), ("response-error-nested", {"error": {"type": "server_error", **FLAT}})],
)
def test_error_events(engy: EngyMock, route: str, after: int, kind: str, fields: dict[str, Any]):
    """R-68: an error in either form is the last event, numbered and named as the others, and nobody pays."""
    is_named = route == "responses"
    good = events(asked(engy, route))
    pieces = min(after, engy.journal.last.pieces_sent)
    seen = asked(engy, route, [{"kind": kind, "after": after}])
    assert (seen.status, seen.is_complete) == (200, True)
    *before, last = events(seen)
    assert before == good[: len(before)]
    assert sum(document["type"] in DELTAS for _, document in before) == pieces
    assert last == ("error" if is_named else "", {"type": "error", "sequence_number": len(before), **fields})
    if kind == "response-error-flat":
        server_events(seen.body, is_named=is_named)
    else:
        with pytest.raises(ValueError, match="message"):
            server_events(seen.body, is_named=is_named)
    entry = engy.journal.last
    assert (entry.status, entry.charged_micro, entry.pieces_sent) == (200, 0, pieces)
    assert entry.not_applied == ()
    settled(engy)


def test_names_follow_the_setting(engy: EngyMock):
    """S-71: where `/v5` names its events, errors have a name as well, and can lose it."""
    engy.settings.v5_named_events = True
    engy.when().reply("one", faults=["response-error-flat"], times=1)
    engy.when().reply("one", faults=["response-event-name-missing"], times=1)
    assert [name for name, _ in events(ask_again(engy, "v5 responses"))][-1] == "error"
    assert {name for name, _ in events(ask_again(engy, "v5 responses"))} == {""}
    assert engy.journal.last.faults == ("response-event-name-missing",)


def test_several_kinds_at_once(engy: EngyMock):
    """Kinds that take away what others look for are harmless together."""
    for faults in (KINDS, KINDS[::-1]):
        for stream in (True, False):
            seen = asked(engy, "responses", faults, stream=stream)
            assert (seen.status, seen.is_complete) == (200, True)
            settled(engy)


def test_every_kind_has_a_row():
    """The tables above are complete, and name nothing that is not in the catalogue."""
    alone = {"response-failed", "response-incomplete", "response-error-flat", "response-error-nested"}
    assert {kind for kind, _ in STREAMS} | alone | {"error-code-null"} == set(KINDS)
    assert set(KINDS) <= set(catalogue())
