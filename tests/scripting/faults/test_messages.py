"""The kinds of "Messages" at the socket: what differs from the good answer, and nothing else does."""

from copy import deepcopy
from typing import Any

import pytest

from engy_mock import EngyMock, MockError, ToolCall
from engy_mock.scripting.fault import catalogue
from engy_mock.vocabulary.signature import signature
from tests.dialects.heard_messages import heard
from tests.scripting.captured import PATHS, body_for, send
from tests.scripting.faults.told import THOUGHT, Event, asked, events, settled

KINDS = (
    "start-missing",
    "start-without-usage",
    "start-without-content",
    "delta-before-block",
    "delta-unknown-index",
    "block-not-stopped",
    "block-started-twice",
    "block-index-gap",
    "text-after-tool",
    "thinking-unsigned",
    "signature-late",
    "thinking-redacted",
    "signature-strict",
    "ping-empty",
    "ping-storm",
    "message-delta-bare",
    "message-delta-twice",
    "no-message-stop",
    "tool-input-at-start",
    "tool-json-invalid",
    "tool-json-truncated",
    "openai-error-inside",
    "overloaded",
    "content-filter-error",
)
"""All kinds of this part of the catalogue."""

START, DELTA, STOP = "content_block_start", "content_block_delta", "content_block_stop"
PING: Event = ("ping", {"type": "ping"})


def without(told: list[Event], *names: str) -> list[Event]:
    return [event for event in told if event[0] not in names]


def doubled(told: list[Event], name: str) -> list[Event]:
    return [event for event in told for _ in range(1 + (event[0] == name))]


def edited(told: list[Event], name: str, edit: Any) -> list[Event]:
    """The events, those of this name edited in place."""
    made = deepcopy(told)
    for own, document in made:
        if own == name:
            edit(document)
    return made


def starts_late(told: list[Event]) -> list[Event]:
    """Each start of a block and the event behind it, exchanged."""
    made = list(told)
    for place, (name, _) in enumerate(told):
        if name == START:
            made[place], made[place + 1] = told[place + 1], told[place]
    return made


def reindexed(told: list[Event], index: Any, *names: str) -> list[Event]:
    made = deepcopy(told)
    for name, document in made:
        if name in names:
            document["index"] = index(document["index"])
    return made


def text_last(told: list[Event]) -> list[Event]:
    """Blocks 1 and 2 exchanged, with their indexes."""
    blocks = [[event for event in told if event[1].get("index") == index] for index in range(3)]
    ends = [event for event in told if "index" not in event[1]]
    swapped = [*blocks[0], *reindexed(blocks[2], lambda _: 1, START, DELTA, STOP)]
    swapped += reindexed(blocks[1], lambda _: 2, START, DELTA, STOP)
    return [*ends[:2], *swapped, *ends[2:]]


def signs(event: Event) -> bool:
    return str(event[1].get("delta", {}).get("type")) == "signature_delta"


def signed_late(told: list[Event]) -> list[Event]:
    (seal,) = filter(signs, told)
    rest = [event for event in told if event is not seal]
    return [*rest[:-2], seal, *rest[-2:]]


def redacted(told: list[Event]) -> list[Event]:
    block = {"type": "redacted_thinking", "data": signature(THOUGHT)}
    made = [event for event in told if not (event[0] == DELTA and event[1]["index"] == 0)]
    return edited(made, START, lambda start: start["index"] or start.update(content_block=block))


def arguments(told: list[Event], text: str) -> list[Event]:
    """The events with other arguments of the tool call."""

    def edit(event: dict[str, Any]) -> None:
        if "partial_json" in event["delta"]:
            event["delta"]["partial_json"] = text

    return edited(told, DELTA, edit)


def lacking(told: list[Event], key: str) -> list[Event]:
    """The events without a key of the message in the first."""
    return edited(told, "message_start", lambda event: event["message"].pop(key))


def bare(told: list[Event], *lacks: str) -> list[Event]:
    """The events, the last delta without usage or reason."""

    def edit(event: dict[str, Any]) -> None:
        if "usage" in lacks:
            del event["usage"]
        if "stop_reason" in lacks:
            event["delta"]["stop_reason"] = None

    return edited(told, "message_delta", edit)


def stormy(told: list[Event]) -> list[Event]:
    first, *rest = told
    return [first, *(one for event in rest for one in (PING, PING, event))]


def given_at_start(told: list[Event]) -> list[Event]:
    def edit(event: dict[str, Any]) -> None:
        if event["index"] == 2:
            event["content_block"]["input"] = {"city": "Paris"}

    return edited(told, START, edit)


def cut_arguments(told: list[Event]) -> list[Event]:
    cut = arguments(told, '{"city":')
    return edited(cut, "message_delta", lambda event: event["delta"].update(stop_reason="max_tokens"))


STREAMS: list[Any] = [
    ("start-missing", lambda told: without(told, "message_start")),
    ("start-without-usage", lambda told: lacking(told, "usage")),
    ("start-without-content", lambda told: lacking(told, "content")),
    ("delta-before-block", starts_late),
    ("delta-unknown-index", lambda told: reindexed(told, lambda index: index + 100, DELTA)),
    ("block-not-stopped", lambda told: without(told, STOP)),
    ("block-started-twice", lambda told: doubled(told, START)),
    ("block-index-gap", lambda told: reindexed(told, lambda index: 2 * index + 1, START, DELTA, STOP)),
    ("text-after-tool", text_last),
    ("thinking-unsigned", lambda told: [event for event in told if not signs(event)]),
    ("signature-late", signed_late),
    ("thinking-redacted", redacted),
    ("ping-empty", lambda told: edited(told, "ping", dict.clear)),
    ({"kind": "ping-storm", "count": 2}, stormy),
    ("message-delta-bare", lambda told: bare(told, "usage", "stop_reason")),
    ({"kind": "message-delta-bare", "lacks": "usage"}, lambda told: bare(told, "usage")),
    ({"kind": "message-delta-bare", "lacks": "stop_reason"}, lambda told: bare(told, "stop_reason")),
    ("message-delta-twice", lambda told: doubled(told, "message_delta")),
    ("no-message-stop", lambda told: told[:-1]),
    ("tool-input-at-start", given_at_start),
    ("tool-json-invalid", lambda told: arguments(told, """{'"city":"Paris"}""")),
    ("tool-json-truncated", cut_arguments),
]
"""What becomes of the events of the good stream; all of it is paid for."""

WELL_FORMED = ("text-after-tool", "thinking-redacted", "tool-json-invalid", "tool-json-truncated")
"""The kinds after which a strict reader of events still finds all in order; so it does after a null reason."""


def kind_of(fault: Any) -> str:
    return fault if isinstance(fault, str) else str(fault["kind"])


@pytest.mark.parametrize(("fault", "changed"), STREAMS, ids=lambda value: None if callable(value) else str(value))
def test_streams(engy: EngyMock, fault: Any, changed: Any):
    """The events are those of the good stream but for what the kind says, and are paid for like it."""
    good = asked(engy, "messages")
    charge = engy.journal.last.charged_micro
    assert charge > 0
    assert heard(good.body)["stop_reason"] == "tool_use"
    seen = asked(engy, "messages", [fault])
    assert (seen.status, seen.ending, seen.is_complete) == (200, "fin", True)
    assert events(seen) == changed(events(good))
    entry = engy.journal.last
    assert (entry.status, len(entry.faults), entry.not_applied, entry.charged_micro) == (200, 1, (), charge)
    assert entry.faults[0].split()[0] == kind_of(fault)
    settled(engy)


@pytest.mark.parametrize("fault", [fault for fault, _ in STREAMS], ids=str)
def test_a_strict_reader_sees_what_is_broken(engy: EngyMock, fault: Any):
    """The client's own types and the order of the wire are broken, unless the fault is one of content."""
    seen = asked(engy, "messages", [fault])
    if kind_of(fault) in WELL_FORMED or "stop_reason" in str(fault):
        assert len(heard(seen.body)["content"]) == 3
    else:
        with pytest.raises((AssertionError, ValueError, KeyError)):
            heard(seen.body)


WHOLE: list[Any] = [
    ("start-without-usage", lambda good: good.pop("usage")),
    ("start-without-content", lambda good: good.pop("content")),
    ("text-after-tool", lambda good: good["content"].append(good["content"].pop(1))),
    ("thinking-unsigned", lambda good: good["content"][0].update(signature="")),
    (
        "thinking-redacted",
        lambda good: good["content"].__setitem__(0, {"type": "redacted_thinking", "data": signature(THOUGHT)}),
    ),
    ("message-delta-bare", lambda good: good.pop("usage") and good.update(stop_reason=None)),
    ("tool-json-invalid", lambda good: good["content"][2].update(input="""{'"city":"Paris"}""")),
    (
        "tool-json-truncated",
        lambda good: good["content"][2].update(input={}) or good.update(stop_reason="max_tokens"),
    ),
]


@pytest.mark.parametrize(("fault", "edit"), WHOLE, ids=lambda value: None if callable(value) else str(value))
def test_whole_messages(engy: EngyMock, fault: str, edit: Any):
    """Where the kind makes sense without events, the whole message differs in the same way."""
    good = asked(engy, "messages", stream=False).document
    charge = engy.journal.last.charged_micro
    edit(good)
    seen = asked(engy, "messages", [fault], stream=False)
    assert (seen.status, seen.is_complete, seen.document) == (200, True, good)
    entry = engy.journal.last
    assert (entry.faults, entry.not_applied, entry.charged_micro) == ((fault,), (), charge)
    settled(engy)


@pytest.mark.parametrize("kind", KINDS)
def test_forms_are_told_truthfully(engy: EngyMock, kind: str):
    """A kind that a whole message leaves no room for is refused in a rule for whole answers, any other is not."""
    whole = {fault for fault, _ in WHOLE} | {"signature-strict", "overloaded", "content-filter-error"}
    rule = engy.when(stream=False, endpoint="messages")
    if kind in whole:
        rule.faults(kind)
    else:
        with pytest.raises(MockError, match="streams only"):
            rule.faults(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_other_dialects_are_left_alone(engy: EngyMock, kind: str):
    """The kinds are for messages, and say so when a rule is for another endpoint."""
    with pytest.raises(MockError, match="it is for messages, not for chat"):
        engy.when(endpoint="chat").faults(kind)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in KINDS
        if kind not in ("openai-error-inside", "overloaded", "content-filter-error", "signature-strict")
    ],
)
def test_refusals_are_left_alone(engy: EngyMock, kind: str, stream: bool):
    """What changes an answer finds nothing to change in a refusal, and that is told."""
    engy.when().refuse(429, "later", faults=[kind])
    seen = send(engy, PATHS["messages"], body_for("messages", stream=stream))
    assert (seen.status, seen.document["error"]["message"]) == (429, "later")
    assert engy.journal.last.not_applied == (kind,)


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("text-after-tool", {"tool_calls": []}),
        ("text-after-tool", {"text": None}),
        ("thinking-unsigned", {"reasoning": None}),
        ("signature-late", {"reasoning": None}),
        ("thinking-redacted", {"reasoning": None}),
        ("tool-input-at-start", {"tool_calls": []}),
        ("tool-input-at-start", {"tool_calls": [ToolCall("get_weather")]}),
        ("tool-json-invalid", {"tool_calls": []}),
        ("tool-json-truncated", {"tool_calls": []}),
    ],
)
def test_nothing_to_break(engy: EngyMock, kind: str, reply: dict[str, Any]):
    """D-8: an answer without what the kind is about is left as it is, and the journal says so."""
    good = asked(engy, "messages", **reply).body
    assert asked(engy, "messages", [kind], **reply).body == good
    assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((), (kind,))


@pytest.mark.parametrize(("after", "pieces"), [(0, 0), (3, 3), (5, 5), (6, 6)])
def test_openai_error_inside(engy: EngyMock, after: int, pieces: int):
    """An error as chat has it, without a name, ends the stream after so many pieces; nobody pays."""
    seen = asked(engy, "messages", [{"kind": "openai-error-inside", "after": after}])
    *before, (name, last) = events(seen)
    assert (name, list(last), list(last["error"])) == ("", ["error"], ["message", "type", "param", "code"])
    assert seen.is_complete
    assert sum(event[0] == DELTA and not signs(event) for event in before) == pieces
    assert "message_stop" not in [event[0] for event in before]
    entry = engy.journal.last
    assert (entry.status, entry.charged_micro, entry.pieces_sent) == (200, 0, pieces)
    settled(engy)


@pytest.mark.parametrize(
    ("kind", "status", "type"),
    [("overloaded", 529, "overloaded_error"), ("content-filter-error", 400, "invalid_request_error")],
)
def test_failures_with_two_places(engy: EngyMock, kind: str, status: int, type: str):
    """R-91, R-64: as a status of both forms, or as the first and only event of a stream with status 200."""
    for stream in (True, False):
        seen = asked(engy, "messages", [kind], stream=stream)
        assert (seen.status, seen.headers["content-type"]) == (status, "application/json")
        refusal = seen.document
        assert (refusal["type"], refusal["error"]["type"]) == ("error", type)
        entry = engy.journal.last
        assert (entry.status, entry.faults, entry.charged_micro) == (status, (kind,), 0)
        settled(engy)
    seen = asked(engy, "messages", [{"kind": kind, "place": "stream"}])
    assert (seen.status, seen.is_complete, events(seen)) == (200, True, [("error", refusal)])
    assert (engy.journal.last.status, engy.journal.last.charged_micro) == (200, 0)
    settled(engy)


@pytest.mark.parametrize("kind", ["overloaded", "content-filter-error"])
def test_in_the_stream_needs_a_stream(engy: EngyMock, kind: str):
    """D-8: a whole answer has no such place, which a rule or the journal tells."""
    fault = {"kind": kind, "place": "stream"}
    with pytest.raises(MockError, match=rf"{kind} place='stream'.*its place is in a stream"):
        engy.when(stream=False).faults(fault)
    seen = asked(engy, "messages", [fault], stream=False)
    assert (seen.status, seen.document["type"]) == (200, "message")
    assert engy.journal.last.not_applied == (f"{kind} place='stream'",)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda blocks: None, 200),
        (lambda blocks: blocks[0].update(thinking="Hm."), 400),
        (lambda blocks: blocks[0].update(signature="c2ln"), 400),
        (lambda blocks: blocks[0].pop("signature"), 400),
        (lambda blocks: blocks.pop(0), 200),
        (lambda blocks: blocks.insert(0, {"type": "redacted_thinking", "data": "c2ln"}), 200),
    ],
    ids=["as it was", "other words", "other signature", "no signature", "left out", "redacted"],
)
@pytest.mark.parametrize("stream", [True, False])
def test_signature_strict(engy: EngyMock, change: Any, status: int, stream: bool):
    """R-55: own signatures are accepted back, a changed block is 400 under this kind and 200 without it."""
    turn = asked(engy, "messages", stream=False).document["content"]
    change(turn)
    result = {"type": "tool_result", "tool_use_id": turn[-1]["id"], "content": "Sunny."}
    turns = [
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Plain text has no signature."},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": turn},
        {"role": "user", "content": [result]},
    ]
    body = body_for("messages", stream=stream, tools=True, messages=turns)
    engy.reset()
    assert send(engy, PATHS["messages"], body).status == 200
    engy.reset()
    engy.when().faults("signature-strict")
    seen = send(engy, PATHS["messages"], body)
    assert seen.status == status
    entry = engy.journal.last
    if status == 400:
        assert seen.document["error"] == {
            "type": "invalid_request_error",
            "message": "messages[3].content[0]: the signature does not fit the thinking",
        }
        assert [name.split()[0] for name in entry.faults] == ["signature-strict"]
    else:
        assert entry.faults == ()
    assert entry.not_applied == ()
    settled(engy)


def test_signatures_of_streams_are_accepted_back(engy: EngyMock):
    """R-55: reasoning put together from a stream is as good as from a whole message."""
    block = heard(asked(engy, "messages").body)["content"][0]
    assert block == {"type": "thinking", "thinking": THOUGHT, "signature": signature(THOUGHT)}


def test_several_kinds_at_once(engy: EngyMock):
    """Kinds that take away what others look for are harmless together."""
    every = [kind for kind in KINDS if kind not in ("overloaded", "content-filter-error")]
    for faults in (every, every[::-1]):
        for stream in (True, False):
            seen = asked(engy, "messages", faults, stream=stream)
            assert (seen.status, seen.is_complete) == (200, True)
            settled(engy)


def test_every_kind_has_a_row():
    """The tables above are complete, and name nothing that is not in the catalogue."""
    alone = {"signature-strict", "openai-error-inside", "overloaded", "content-filter-error"}
    assert {kind_of(fault) for fault, _ in STREAMS} | alone == set(KINDS)
    assert set(KINDS) <= set(catalogue())
