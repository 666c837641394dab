"""What the official Anthropic client for Python makes of broken messages, raw events and helper."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from engy_mock import EngyMock
from engy_mock.vocabulary.signature import signature
from tests.scripting.faults.heard import Heard
from tests.scripting.faults.told import REPLY, THOUGHT, settled

ASKED: dict[str, Any] = {"model": "glm-5.2", "max_tokens": 200, "messages": [{"role": "user", "content": "And?"}]}
PATIENCE = 0.5
"""The read timeout where one is to be seen, in seconds."""

BEGUN = ["message_start"]
SAID = [*BEGUN, "content_block_start", "content_block_delta", "content_block_delta"]
"""The events up to the second piece."""

ALL = [
    *SAID,
    *("content_block_delta", "content_block_delta", "content_block_stop"),
    *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
    *("message_delta", "message_stop"),
]
"""The events of the good answer, as the client shows them: without pings."""

INPUT = {"city": "Paris"}


@pytest.fixture(scope="module")
def _kept() -> Iterator[tuple[ExitStack, dict[str, Anthropic]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def client(engy: EngyMock, _kept: tuple[ExitStack, dict[str, Anthropic]]) -> Anthropic:
    """A blocking client that does not retry."""
    stack, made = _kept
    if engy.origin not in made:
        own = Anthropic(base_url=engy.origin, api_key=engy.api_key, max_retries=0)
        made[engy.origin] = stack.enter_context(own)
    return made[engy.origin]


def raw(client: Anthropic) -> Heard:
    """The types of the raw events."""

    def listen(seen: list[Any]) -> None:
        for event in client.messages.create(stream=True, **ASKED):
            seen.append(event.type)

    return Heard(listen)


def helper(client: Anthropic) -> Heard:
    """The message that the client's helper puts together."""

    def listen(seen: list[Any]) -> None:
        with client.messages.stream(**ASKED) as stream:
            seen.append(stream.get_final_message())

    return Heard(listen)


def without(*kinds: str) -> list[str]:
    return [kind for kind in ALL if kind not in kinds]


MATRIX = [
    pytest.param("event-name-missing", [], None, AssertionError, id="data lines only"),
    pytest.param(
        {"kind": "overloaded", "place": "stream"},
        [],
        anthropic.APIStatusError,
        anthropic.APIStatusError,
        id="error event first",
    ),
    pytest.param(
        {"kind": "content-filter-error", "place": "stream"},
        [],
        anthropic.APIStatusError,
        anthropic.APIStatusError,
        id="error event first, of another type",
    ),
    pytest.param(
        {"kind": "fail", "after": 2, "status": 529},
        SAID,
        anthropic.APIStatusError,
        anthropic.APIStatusError,
        id="error event mid",
    ),
    pytest.param("no-message-stop", ALL[:-1], None, None, id="no message_stop"),
    pytest.param({"kind": "truncate", "after": 2}, SAID, None, None, id="cut after a delta"),
    pytest.param(
        {"kind": "cut", "after": 2}, SAID, httpx2.RemoteProtocolError, httpx2.RemoteProtocolError, id="FIN"
    ),
    pytest.param({"kind": "reset", "after": 2}, SAID, httpx2.ReadError, httpx2.ReadError, id="RST"),
    pytest.param("start-without-usage", ALL, None, AttributeError, id="message_start without usage"),
    pytest.param("start-without-content", ALL, None, AttributeError, id="message_start without content"),
    pytest.param("delta-before-block", None, None, IndexError, id="delta before block start"),
    pytest.param("delta-unknown-index", ALL, None, IndexError, id="delta for unknown index"),
    pytest.param("tool-json-invalid", ALL, None, ValueError, id="invalid tool JSON"),
    pytest.param("tool-json-truncated", ALL, None, None, id="cut tool JSON with max_tokens"),
    pytest.param({"kind": "openai-error-inside", "after": 2}, SAID, None, None, id="OpenAI-shaped error inside"),
    pytest.param("200-html", [], None, AssertionError, id="200 HTML"),
    pytest.param("200-json-for-stream", [], None, AssertionError, id="200 JSON"),
]
"""Fault, types of raw events, and the exceptions of raw stream and helper; None is silence."""


@pytest.mark.parametrize(("fault", "types", "raised", "helped"), MATRIX)
def test_matrix(
    engy: EngyMock,
    client: Anthropic,
    fault: Any,
    types: list[str] | None,
    raised: type[Exception] | None,
    helped: type[Exception] | None,
):
    """Each row as measured: what raw events show before which exception, and which exception the helper raises."""
    engy.when().reply(**REPLY, faults=[fault])
    heard = raw(client)
    heard.ends_with(raised)
    assert sorted(heard.seen) == sorted(ALL if types is None else types)
    assert types is None or heard.seen == types
    told = helper(client)
    told.ends_with(helped)
    for error in (heard.error, told.error):
        if isinstance(error, anthropic.APIStatusError):
            assert error.status_code == 200
    assert [len(entry.faults) for entry in engy.journal] == [1, 1]
    settled(engy)


def test_a_good_answer(engy: EngyMock, client: Anthropic):
    """Without a fault raw events and helper show all of it: what the matrix differs from."""
    engy.when().reply(**REPLY)
    assert raw(client).seen == ALL
    (message,) = helper(client).seen
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert (message.content[2].input, message.stop_reason) == (INPUT, "tool_use")


@pytest.mark.slow
@pytest.mark.parametrize("listen", [raw, helper])
def test_silence_in_the_middle(engy: EngyMock, client: Anthropic, listen: Callable[[Anthropic], Heard]):
    """A stall ends with the foreign exception of a read timeout."""
    assert listen(client).error is None
    engy.when().reply(**REPLY, faults=[{"kind": "stall", "after": 2}])
    heard = listen(client.with_options(timeout=PATIENCE))
    heard.ends_with(httpx2.ReadTimeout)


SILENT = [
    pytest.param("no-message-stop", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="no message_stop"),
    pytest.param({"kind": "truncate", "after": 5}, ["thinking", "text"], None, None, id="cut after a delta"),
    pytest.param(
        {"kind": "openai-error-inside", "after": 5}, ["thinking", "text"], None, None, id="OpenAI-shaped error"
    ),
    pytest.param("tool-json-truncated", ["thinking", "text", "tool_use"], "max_tokens", {}, id="cut tool JSON"),
    pytest.param("block-not-stopped", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="no block stops"),
    pytest.param("text-after-tool", ["thinking", "tool_use", "text"], "tool_use", INPUT, id="text after tool"),
    pytest.param("thinking-redacted", ["redacted_thinking", "text", "tool_use"], "tool_use", INPUT, id="redacted"),
    pytest.param("tool-input-at-start", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="input at start"),
    pytest.param("message-delta-twice", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="delta twice"),
    pytest.param("ping-empty", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="empty ping"),
    pytest.param("ping-storm", ["thinking", "text", "tool_use"], "tool_use", INPUT, id="pings"),
    pytest.param(
        {"kind": "message-delta-bare", "lacks": "stop_reason"},
        ["thinking", "text", "tool_use"],
        None,
        INPUT,
        id="null stop_reason",
    ),
    pytest.param(
        "unknown-event-name",
        ["thinking", "text", "tool_use"],
        "tool_use",
        INPUT,
        id="unknown event name",
    ),
    pytest.param(
        "block-started-twice",
        ["thinking", "thinking", "text", "text", "tool_use", "tool_use"],
        "tool_use",
        {},
        id="blocks twice",
    ),
]


@pytest.mark.parametrize(("fault", "blocks", "reason", "given"), SILENT)
def test_what_the_helper_puts_together_in_silence(
    engy: EngyMock, client: Anthropic, fault: Any, blocks: list[str], reason: str | None, given: Any
):
    """No exception: what the final message holds of the answer."""
    engy.when().reply(**REPLY, faults=[fault])
    heard = helper(client)
    heard.ends_with(None)
    (message,) = heard.seen
    assert [block.type for block in message.content] == blocks
    assert message.stop_reason == reason
    assert [block.input for block in message.content if block.type == "tool_use"][-1:] == (
        [] if given is None else [given]
    )
    assert len(engy.journal.last.faults) == 1


@pytest.mark.parametrize(
    ("fault", "helped"),
    [
        ("start-missing", AssertionError),
        ("block-index-gap", IndexError),
        ("message-delta-bare", AttributeError),
    ],
)
def test_what_else_the_helper_breaks_at(engy: EngyMock, client: Anthropic, fault: str, helped: type[Exception]):
    """Raw events are shown whatever their order; the helper ends with foreign exceptions."""
    engy.when().reply(**REPLY, faults=[fault])
    heard = raw(client)
    heard.ends_with(None)
    assert heard.seen == (without("message_start") if fault == "start-missing" else ALL)
    helper(client).ends_with(helped)


def test_events_of_unknown_names_are_shown(engy: EngyMock, client: Anthropic):
    """A new type of event is one more raw event."""
    engy.when().reply(**REPLY, faults=["unknown-event-name"])
    heard = raw(client)
    heard.ends_with(None)
    assert len(heard.seen) == len(ALL) + 1
    assert [kind for kind in heard.seen if kind in ALL] == ALL


def test_thinking_without_its_signature(engy: EngyMock, client: Anthropic):
    """The helper takes reasoning without a signature, and one that comes late."""
    for fault, seal in (("thinking-unsigned", ""), ("signature-late", signature(THOUGHT))):
        engy.reset()
        engy.when().reply(**REPLY, faults=[fault])
        (message,) = helper(client).seen
        assert (message.content[0].thinking, message.content[0].signature) == (THOUGHT, seal)


def test_broken_whole_messages(engy: EngyMock, client: Anthropic):
    """The client's types take whatever a whole message lacks, in silence."""
    lacks: list[tuple[str, Callable[[Any], object], object]] = [
        ("start-without-usage", lambda message: message.usage, None),
        ("start-without-content", lambda message: message.content, None),
        ("message-delta-bare", lambda message: message.stop_reason, None),
        ("tool-json-truncated", lambda message: message.content[2].input, {}),
        ("tool-json-invalid", lambda message: message.content[2].input, """{'"city":"Paris"}"""),
        ("thinking-unsigned", lambda message: message.content[0].signature, ""),
        ("text-after-tool", lambda message: message.content[2].type, "text"),
        ("thinking-redacted", lambda message: message.content[0].type, "redacted_thinking"),
    ]
    for fault, look, found in lacks:
        engy.reset()
        engy.when().reply(**REPLY, faults=[fault])
        assert look(client.messages.create(**ASKED)) == found, fault


@pytest.mark.parametrize(
    ("fault", "raised", "attempts"),
    [("overloaded", anthropic.OverloadedError, 3), ("content-filter-error", anthropic.BadRequestError, 1)],
)
def test_refusals_and_retries(
    engy: EngyMock, client: Anthropic, monkeypatch: pytest.MonkeyPatch, fault: str, raised: Any, attempts: int
):
    """R-91: 529 is tried again, a 400 is not, and neither is anything inside a stream."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    patient = client.with_options(max_retries=2)
    engy.when().faults(fault)
    with pytest.raises(raised) as caught:
        patient.messages.create(**ASKED)
    assert caught.value.status_code == engy.journal.last.status
    assert len(engy.journal) == attempts
    engy.reset()
    engy.when().faults({"kind": fault, "place": "stream"})
    raw(patient).ends_with(anthropic.APIStatusError)
    assert len(engy.journal) == 1


def test_overload_that_passes(engy: EngyMock, client: Anthropic, monkeypatch: pytest.MonkeyPatch):
    """A 529 that comes once is not seen by an application."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    engy.when().faults("overloaded", times=1)
    message = client.with_options(max_retries=2).messages.create(**ASKED)
    assert message.content
    assert [entry.status for entry in engy.journal] == [529, 200]


def test_signatures_go_back_as_they_came(engy: EngyMock, client: Anthropic):
    """R-55: a turn that the client repeats as it got it passes the strict check; a changed one is a 400."""
    engy.when().reply(**REPLY, times=1)
    (message,) = helper(client).seen
    turn = json.loads(message.model_dump_json(exclude_none=True))["content"]
    result = {"type": "tool_result", "tool_use_id": turn[2]["id"], "content": "Sunny."}
    turns: list[Any] = [
        *ASKED["messages"],
        {"role": "assistant", "content": turn},
        {"role": "user", "content": [result]},
    ]
    engy.when(tool_result="Sunny").reply("It is sunny.", faults=["signature-strict"])
    assert client.messages.create(**{**ASKED, "messages": turns}).stop_reason == "end_turn"
    turn[0]["thinking"] += "!"
    with pytest.raises(anthropic.BadRequestError, match=r"messages\[1\]\.content\[0\]"):
        client.messages.create(**{**ASKED, "messages": turns})
