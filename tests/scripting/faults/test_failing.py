"""Failures in the middle of a stream on the wire: in the form of the dialect, in others, and without any."""

import json

import pytest

from engy_mock import MockError
from tests.scripting.captured import PATHS, STREAMING, ask
from tests.scripting.faults.rows import Row, begun, blocks, cases, name, perform, split, told

CHAT = ("chat",)
V5 = ("v5 chat", "v5 completions", "v5 responses")
FORM = (True,)
TIME = "2026-10-18T00:00:00Z"


def error_of(route, status, message, kind=None, code=None):
    """What is told of a failure, as the documents of its events."""
    if route == "messages":
        return {"type": "error", "error": {"type": kind or "api_error", "message": message}}
    if route.startswith("v5"):
        content = {"error": message, "timestamp": TIME}
        return {"error": {"status_code": status, "content": content}}
    return {"error": {"message": message, "type": kind or "server_error", "param": None, "code": code or status}}


def fails(after, status=500, message="internal server error", kind=None):
    """E-125, E-178, E-190, R-3, R-65: the first pieces, then the error object of the dialect, then the end."""

    def check(seen):
        assert (seen.got.status, seen.got.is_complete, seen.got.ending) == (200, True, "fin")
        *before, last = split(seen.got.body)
        assert b"[DONE]" not in seen.got.body
        assert b"message_stop" not in seen.got.body
        assert b"x_engy" not in seen.got.body
        document = json.loads(last.partition(b"data: ")[2])
        if seen.route == "responses":
            assert document["type"] == "response.failed"
            response = document["response"]
            assert (response["status"], response["error"]["message"]) == ("failed", message)
            text = "".join([part["text"] for item in response["output"] for part in item["content"]])
            assert text == "".join(["one", " two", " three"][:after])
            # Where nothing was said, nothing is told of it but that it began.
            begun = 2 if after == 0 else len(split(told(seen.plain, after)))
            assert before == blocks(seen.plain)[:begun]
        else:
            assert document == error_of(seen.route, status, message, kind)
            assert last.startswith(b"event: error\n") is (seen.route == "messages")
            assert b"".join(before) == (told(seen.plain, after) if after else b"")

    return check


def is_broken_off(after):
    """S-82: the transfer is broken off, which is all that the client notices."""

    def check(seen):
        assert (seen.got.is_complete, seen.got.ending) == (False, "fin")
        assert seen.got.body == (told(seen.plain, after) if after else b"")

    return check


def ends(after):
    """R-60, R-61: the first pieces, then a correct end, and no word of what happened."""

    def check(seen):
        assert (seen.got.is_complete, seen.got.ending) == (True, "fin")
        assert seen.got.body == (told(seen.plain, after) if after else b"")

    return check


def ends_with(after, block):
    def check(seen):
        assert (seen.got.is_complete, seen.got.ending) == (True, "fin")
        before = told(seen.plain, after) if after else begun(seen.plain, seen.route)
        assert seen.got.body == before + block

    return check


def has_error_event(after):
    def check(seen):
        *before, last = split(seen.got.body)
        assert b"".join(before) == (told(seen.plain, after) if after else b"")
        named, _, data = last.partition(b"\n")
        assert named == b"event: error"
        assert json.loads(data.removeprefix(b"data: ")) == error_of(seen.route, 500, "internal server error")

    return check


V1 = ("chat", "messages", "responses")
OVERLOADED = {"status": 529, "type": "overloaded_error", "message": "too much"}

ROWS = (
    Row(kind="fail", check=fails(0), routes=V1, forms=FORM, paid=False),
    Row(kind="fail", given={"after": 2}, check=fails(2), routes=V1, forms=FORM, paid=False),
    Row(kind="fail", given={"frame": True, "after": 2}, check=fails(2), routes=V5, forms=FORM, paid=False),
    Row(kind="fail", given={"frame": True}, check=fails(0), routes=V5, forms=FORM, paid=False),
    Row(
        kind="fail",
        given={"after": 3, **OVERLOADED},
        check=fails(3, 529, "too much", "overloaded_error"),
        routes=V1,
        forms=FORM,
        paid=False,
    ),
    Row(kind="fail", check=is_broken_off(0), routes=V5, forms=FORM, paid=False),
    Row(kind="fail", given={"after": 2}, check=is_broken_off(2), routes=V5, forms=FORM, paid=False),
    Row(kind="fail", given={"frame": False, "after": 2}, check=ends(2), forms=FORM, paid=False),
    Row(
        kind="fail",
        given={"frame": False, "status": 429},
        check=ends(0),
        forms=FORM,
        paid=False,
    ),
    Row(
        kind="refusal-in-stream",
        check=fails(0, 429, "capacity is exhausted", "rate_limit_error"),
        forms=FORM,
        paid=False,
    ),
    Row(
        kind="refusal-in-stream",
        given={"status": 500},
        check=fails(0),
        forms=FORM,
        paid=False,
    ),
    Row(
        kind="error-event",
        check=has_error_event(0),
        routes=("chat", "v5 chat", "v5 completions"),
        forms=FORM,
        paid=False,
    ),
    Row(
        kind="error-event",
        given={"after": 2},
        check=has_error_event(2),
        routes=("chat", "v5 chat", "v5 completions"),
        forms=FORM,
        paid=False,
    ),
    *[
        Row(
            kind="error-as-string",
            given={"after": after} if after else {},
            check=ends_with(after, b'data: {"error":"upstream failed"}\n\n'),
            routes=tuple(route for route in STREAMING if route != "messages"),
            forms=FORM,
            paid=False,
        )
        for after in (0, 2)
    ],
    Row(
        kind="raw-text-error",
        check=ends_with(0, b"data: error: upstream failed\n\n"),
        forms=FORM,
        paid=False,
    ),
)


@pytest.mark.parametrize(("row", "route", "stream"), list(cases(ROWS)), ids=name)
def test_failures_in_streams(engy, row, route, stream):
    """No charge, whatever has got through; the journal has the status that was sent, which is 200."""
    seen = perform(engy, row, route, stream)
    row.check(seen)
    assert seen.entry.status == 200


@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize("frame", [None, True, False])
def test_a_whole_answer_is_refused(engy, route, frame):
    """Before the end of a whole answer nothing is told, so that a failure is a refusal."""
    engy.when().reply("one two", faults=[{"kind": "fail", "status": 504, "message": "late", "frame": frame}])
    seen = ask(engy, route, stream=False)
    assert seen.status == engy.journal.last.status == 504
    assert "late" in seen.body.decode()
    assert len(engy.journal.last.faults) == 1
    assert engy.journal.last.charged_micro == 0


def test_first_of_all(engy):
    """R-64, R-66: with `after` 0 the error is the very first event."""
    engy.when(endpoint="messages").reply("x", faults=[{"kind": "fail", "status": 529}])
    engy.when(endpoint="chat").reply("x", faults=[{"kind": "fail", "type": "insufficient_quota", "status": 429}])
    first, *others = ask(engy, "messages").events
    assert (first[0], others) == ("error", [])
    assert json.loads(first[1])["error"]["type"] == "overloaded_error"
    (document,) = ask(engy).documents
    assert (document["error"]["type"], document["error"]["code"]) == ("insufficient_quota", 429)


def test_codes_and_their_absence(engy):
    """R-67: `code` takes the place of the status, and false leaves none."""
    for code, told_code in ((None, 500), ("busy", "busy"), (False, None)):
        engy.reset()
        engy.when().reply("x", faults=[{"kind": "fail", "code": code, "frame": True}])
        assert ask(engy).documents[0]["error"]["code"] == told_code
        error = ask(engy, "v5 chat").documents[0]["error"]
        assert ("status_code" in error) is (code is not False)


def test_a_failure_is_not_the_end_of_the_answers_before(engy):
    """A rule fails once, and another speaks afterwards."""
    engy.when().reply("x", faults=[{"kind": "fail", "after": 1}], times=1)
    engy.when().reply("fine")
    assert b"[DONE]" not in ask(engy).body
    assert b"[DONE]" in ask(engy).body
    assert [entry.charged_micro > 0 for entry in engy.journal] == [False, True]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"status": 200}, "fail: status is 200"),
        ({"status": 600}, "fail: status is 600"),
        ({"code": True}, "fail: code is True"),
        ({"message": "\ud800"}, "fail: message has half a surrogate pair"),
        ({"frame": 1}, "fail: frame is 1"),
    ],
)
def test_mistakes_are_told_when_they_are_written(engy, given, words):
    with pytest.raises(MockError, match=words):
        engy.when().faults({"kind": "fail", **given})


def test_error_events_are_for_the_openai_side(engy):
    """Messages and responses have errors of their own."""
    with pytest.raises(MockError, match="it is for chat and completions, not for messages"):
        engy.when(endpoint="messages").faults("error-event")
    with pytest.raises(MockError, match="not for messages"):
        engy.when(endpoint="messages").faults("error-as-string")
