"""Outcomes are told apart: a full answer, another one in silence, own and foreign exceptions, no end at all."""

import json
from threading import Event

import openai
import pytest

from engy_mock import EngyMock
from tests.matrix.columns import COLUMNS
from tests.matrix.content import content
from tests.matrix.in_python import ask
from tests.matrix.job import LONG, Address, Job
from tests.matrix.measuring import Measuring, watched
from tests.matrix.outcome import Heard, Outcome, classified, read
from tests.matrix.questions import question

CALM = {"text": "one"}


@pytest.mark.parametrize(
    ("heard", "content", "outcome"),
    [
        (Heard(said="one"), {"text": "one"}, "ok"),
        (Heard(said="on"), {"text": "on"}, "S"),
        (Heard(), {}, "S"),
        (Heard(error="APIError", is_own=True), {}, "SDK APIError"),
        (Heard(error="KeyError"), {}, "RAW KeyError"),
        (Heard(error="KeyError"), {"text": "one"}, "RAW KeyError"),
        (Heard(is_over=False), {"text": "one"}, "hang"),
    ],
)
def test_classified(heard, content, outcome):
    """An exception counts whatever came before it, and who has not come to an end hangs whatever came."""
    assert str(classified(CALM, content, heard)) == outcome


@pytest.mark.parametrize("text", ["ok", "S", "hang", "n/a", "SDK APIError", "RAW KeyError", "RAW", "error"])
def test_read(text):
    """What is written can be read."""
    assert str(read(text)) == text


@pytest.mark.parametrize("text", ["", "OK", "S S", "RAW  KeyError", "ok APIError", "SDK an error"])
def test_no_outcome(text):
    """Nothing else is an outcome."""
    with pytest.raises(ValueError, match="no outcome"):
        read(text)


@pytest.mark.parametrize(
    ("now", "recorded", "fits"),
    [
        ("SDK APIError", "SDK APIError", True),
        ("SDK APIError", "SDK", True),
        ("SDK APIError", "error", True),
        ("RAW KeyError", "error", True),
        ("SDK APIError", "SDK APIStatusError", False),
        ("RAW APIError", "SDK", False),
        ("S", "error", False),
        ("hang", "S", False),
        ("ok", "ok", True),
    ],
)
def test_fits(now, recorded, fits):
    """What was recorded without a class, or without a side, fits more than one outcome."""
    assert read(now).fits(read(recorded)) is fits


def test_a_call_without_an_end_hangs():
    """The watchdog ends what does not end by itself, and says so; what does end is told as it is."""
    over = Event()

    def endless() -> Heard:
        over.wait()
        return Heard(error="ConnectionError")

    assert watched(endless, 0.01, over.set) == Heard(is_over=False)
    assert watched(lambda: Heard(said="one"), 60, over.clear) == Heard(said="one")


def test_families():
    """An exception belongs to the client's own family if its class does, wherever it was raised."""
    (column,) = [column for column in COLUMNS if column.name == "OP chat"]
    with EngyMock() as engy:
        engy.when().reply("one", faults=["200-empty"], times=1)
        engy.when().refuse(404)
        address = Address(origin=engy.origin, api_key=engy.api_key, read_seconds=LONG.read)
        fields = question(column, "whole", {})
        first, second = (ask("OP", "chat", "whole", fields, address, lambda: None, 1) for _ in range(2))
    assert first == Heard(error=json.JSONDecodeError.__name__)
    assert second == Heard(error=openai.NotFoundError.__name__, is_own=True)


@pytest.mark.parametrize(
    ("kind", "column", "form", "outcome"),
    [
        ("headers-many", "OP chat", "raw", "ok"),
        ("usage-zero", "OP chat", "whole", "S"),
        ("cut", "OP responses", "raw", "SDK APIConnectionError"),
        ("cut", "AP messages", "helper", "RAW RemoteProtocolError"),
        ("cancel-unnoticed", "SG chat", "raw", "n/a"),
    ],
)
def test_measured(kind, column, form, outcome):
    """A sign of each sort that needs no waiting, from a client that was asked."""
    (own,) = [one for one in COLUMNS if one.name == column]
    with Measuring() as measuring:
        assert str(measuring.outcome(Job(kind, own, form))) == outcome


def test_a_client_that_gets_nothing_without_a_fault_is_no_measure(monkeypatch):
    """What cannot be told from a fault is an error of the matrix, not an outcome."""
    (own,) = [one for one in COLUMNS if one.name == "OP chat"]
    monkeypatch.setattr("tests.matrix.measuring.question", lambda *_: {"model": "no-model", "messages": []})
    with Measuring() as measuring, pytest.raises(AssertionError, match="fails without usage-zero"):
        measuring.outcome(Job("usage-zero", own, "whole"))


CHUNK = {"choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("endpoint", ["chat", "completions", "messages", "responses"])
@pytest.mark.parametrize(
    "said",
    [
        None,
        "<html>",
        {"whole": None},
        {"whole": "<html>"},
        {"whole": {"choices": None, "content": 1, "output": [None], "usage": "12"}},
        {"events": [None, "x", {}, {"choices": None}, {"choices": [None, {"delta": None}], "type": None}]},
        {"events": [{"type": "content_block_delta"}, {"type": "content_block_start"}, {"type": "x.delta"}]},
    ],
)
def test_no_form_is_too_odd(endpoint, said):
    """What is put together from odd pieces is another content, never an exception of ours."""
    assert content(endpoint, said) != content(endpoint, {"events": [CHUNK], "whole": CHUNK}) or endpoint != "chat"


def test_parts_are_put_together():
    """Pieces of text and of calls join by their index, whatever comes between them."""
    first = {"index": 0, "function": {"name": "a", "arguments": "{"}}
    other = {"index": 1, "function": {"name": "b", "arguments": "{}"}}
    last = {"index": 0, "function": {"arguments": "}"}}
    deltas = [{"content": "o"}, {"tool_calls": [first]}, {"tool_calls": [other, last]}, {"content": "ne"}]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    (choice,) = content("chat", {"events": chunks})["choices"].values()
    assert (choice["text"], choice["calls"]) == ("one", {0: ["a", "{}"], 1: ["b", "{}"]})


def test_signs_have_no_classes():
    """Only exceptions have one."""
    assert [str(Outcome(sign)) for sign in ("ok", "S", "hang")] == ["ok", "S", "hang"]
