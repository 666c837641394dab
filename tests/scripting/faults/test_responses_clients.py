"""What the official OpenAI client for Python makes of broken responses, raw events and helper."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI

from engy_mock import EngyMock
from tests.scripting.faults.heard import Heard
from tests.scripting.faults.told import REPLY, TEXT, settled

ASKED: dict[str, Any] = {"model": "glm-5.2", "max_output_tokens": 200, "input": "And?"}
PATIENCE = 0.5
"""The read timeout where one is to be seen, in seconds."""

MISSING_END = "Didn't receive a `response.completed` event."

BEGUN = ["response.created", "response.in_progress"]
ITEM, PART = "response.output_item.added", "response.content_part.added"
THOUGHT = "response.reasoning_text.delta"
SAID = [*BEGUN, ITEM, PART, THOUGHT, THOUGHT]
"""The events up to the second piece."""

ALL = [
    *(*SAID, THOUGHT, "response.reasoning_text.done", "response.content_part.done", "response.output_item.done"),
    *(ITEM, PART, "response.output_text.delta", "response.output_text.delta"),
    *("response.output_text.done", "response.content_part.done", "response.output_item.done"),
    *(ITEM, "response.function_call_arguments.delta", "response.function_call_arguments.done"),
    *("response.output_item.done", "response.completed"),
]
"""The events of the good answer."""


@pytest.fixture(scope="module")
def _kept() -> Iterator[tuple[ExitStack, dict[str, OpenAI]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def client(engy: EngyMock, _kept: tuple[ExitStack, dict[str, OpenAI]]) -> OpenAI:
    """A blocking client that does not retry."""
    stack, made = _kept
    if engy.base_url not in made:
        own = OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0)
        made[engy.base_url] = stack.enter_context(own)
    return made[engy.base_url]


def raw(client: OpenAI) -> Heard:
    """The types of the raw events."""

    def listen(seen: list[Any]) -> None:
        for event in client.responses.create(stream=True, **ASKED):
            seen.append(event.type)

    return Heard(listen)


def helper(client: OpenAI) -> Heard:
    """The response that the client's helper puts together."""

    def listen(seen: list[Any]) -> None:
        with client.responses.stream(**ASKED) as stream:
            seen.append(stream.get_final_response())

    return Heard(listen)


def without(*kinds: str) -> list[str]:
    return [kind for kind in ALL if kind not in kinds]


MATRIX = [
    pytest.param("no-terminal-event", ALL[:-1], None, RuntimeError, id="no response.completed"),
    pytest.param({"kind": "truncate", "after": 2}, SAID, None, RuntimeError, id="cut after a delta"),
    pytest.param("response-failed", [*BEGUN, "response.failed"], None, RuntimeError, id="failed"),
    pytest.param(
        {"kind": "response-failed", "after": 2}, [*SAID, "response.failed"], None, RuntimeError, id="failed later"
    ),
    pytest.param("error-code-null", [*BEGUN, "response.failed"], None, RuntimeError, id="failed without a code"),
    pytest.param(
        {"kind": "response-incomplete", "after": 2},
        [*SAID, *ALL[7:10], "response.incomplete"],
        None,
        RuntimeError,
        id="incomplete",
    ),
    pytest.param("response-error-flat", [*BEGUN, "error"], None, RuntimeError, id="flat error"),
    pytest.param(
        {"kind": "response-error-flat", "after": 2}, [*SAID, "error"], None, RuntimeError, id="flat error later"
    ),
    pytest.param("response-error-nested", BEGUN, openai.APIError, openai.APIError, id="nested error"),
    pytest.param(
        {"kind": "response-error-nested", "after": 2}, SAID, openai.APIError, openai.APIError, id="nested later"
    ),
    pytest.param("output-item-added-missing", without(ITEM), None, RuntimeError, id="no output_item.added"),
    pytest.param("content-part-added-missing", without(PART), None, IndexError, id="no content_part.added"),
    pytest.param("sequence-number-missing", ALL, None, None, id="no sequence_number"),
    pytest.param("sequence-number-odd", ALL, None, None, id="odd sequence_number"),
    pytest.param("response-event-name-missing", ALL, None, None, id="no event name"),
    pytest.param("response-done-appended", ALL, None, None, id="extra [DONE]"),
    pytest.param("item-status-missing", ALL, None, None, id="no item status"),
    pytest.param("output-missing", ALL, None, None, id="no output in response.in_progress"),
    pytest.param(
        "delta-only",
        [*BEGUN, *(kind for kind in ALL if kind.endswith(".delta")), "response.completed"],
        None,
        RuntimeError,
        id="deltas only",
    ),
    pytest.param(
        {"kind": "cut", "after": 2}, SAID, openai.APIConnectionError, openai.APIConnectionError, id="FIN"
    ),
    pytest.param(
        {"kind": "reset", "after": 2}, SAID, openai.APIConnectionError, openai.APIConnectionError, id="RST"
    ),
]
"""Fault, types of raw events, and the exceptions of raw stream and helper; None is silence."""


@pytest.mark.parametrize(("fault", "types", "raised", "helped"), MATRIX)
def test_matrix(
    engy: EngyMock,
    client: OpenAI,
    fault: Any,
    types: list[str],
    raised: type[Exception] | None,
    helped: type[Exception] | None,
):
    """Each row as measured: what raw events show before which exception, and which exception the helper raises."""
    engy.when().reply(**REPLY, faults=[fault])
    heard = raw(client)
    heard.ends_with(raised)
    assert heard.seen == types
    told = helper(client)
    told.ends_with(helped)
    if helped is None:
        (response,) = told.seen
        assert (response.output_text, response.status) == (TEXT, "completed")
        assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    assert [len(entry.faults) for entry in engy.journal] == [1, 1]
    settled(engy)


@pytest.mark.parametrize(
    "fault",
    ["no-terminal-event", "response-failed", "response-incomplete", "response-error-flat", "error-code-null"],
)
def test_failures_look_like_a_missing_end(engy: EngyMock, client: OpenAI, fault: str):
    """R-68, R-69: the helper says the same of all of them, and nothing of why."""
    engy.when().reply(**REPLY, faults=[fault])
    assert str(helper(client).error) == MISSING_END


def test_a_good_answer(engy: EngyMock, client: OpenAI):
    """Without a fault raw events and helper show all of it: what the matrix differs from."""
    engy.when().reply(**REPLY)
    assert raw(client).seen == ALL
    (response,) = helper(client).seen
    assert response.output_text == TEXT


@pytest.mark.slow
@pytest.mark.parametrize("listen", [raw, helper])
def test_silence_in_the_middle(engy: EngyMock, client: OpenAI, listen: Callable[[OpenAI], Heard]):
    """A stall ends with the client's own exception of a timeout."""
    assert listen(client).error is None
    engy.when().reply(**REPLY, faults=[{"kind": "stall", "after": 2}])
    heard = listen(client.with_options(timeout=PATIENCE))
    heard.ends_with(openai.APITimeoutError)
    assert isinstance(heard.error.__cause__, httpx2.ReadTimeout)


def test_what_a_nested_error_says(engy: EngyMock, client: OpenAI):
    """R-68: the exception has the message and the code, but no status."""
    engy.when().reply(**REPLY, faults=["response-error-nested"])
    error = raw(client).error
    assert isinstance(error, openai.APIError)
    assert (error.message, error.code, error.type) == ("internal server error", "server_error", "server_error")
    assert not isinstance(error, openai.APIStatusError)


def test_what_the_last_events_say(engy: EngyMock, client: OpenAI):
    """R-62, R-92: who looks at raw events can tell a failure, its code, and what was cut for want of budget."""
    engy.when().reply(
        **REPLY, faults=[{"kind": "response-failed", "after": 3, "code": "rate_limit_exceeded"}], times=1
    )
    engy.when().reply(**REPLY, faults=[{"kind": "response-incomplete", "after": 2}])
    *_, failed = client.responses.create(stream=True, **ASKED)
    assert failed.type == "response.failed"
    assert failed.response.error.code == "rate_limit_exceeded"
    assert [item.status for item in failed.response.output] == ["incomplete"]
    *_, cut = client.responses.create(stream=True, **ASKED)
    assert cut.type == "response.incomplete"
    assert cut.response.incomplete_details.reason == "max_output_tokens"
    usage = cut.response.usage
    assert usage.output_tokens == usage.output_tokens_details.reasoning_tokens == ASKED["max_output_tokens"]


def test_whole_responses(engy: EngyMock, client: OpenAI):
    """A whole response that failed, or was cut, is no exception: only its status tells."""
    said: list[tuple[str, str, Any]] = [
        ("response-failed", "failed", "server_error"),
        ("error-code-null", "failed", None),
        ("response-incomplete", "incomplete", None),
        ("item-status-missing", "completed", None),
    ]
    for fault, status, code in said:
        engy.reset()
        engy.when().reply(**REPLY, faults=[fault])
        response = client.responses.create(**ASKED)
        assert (response.status, getattr(response.error, "code", None)) == (status, code)
        assert response.output_text == (TEXT if status == "completed" else "")
    engy.reset()
    engy.when().reply(**REPLY, faults=["output-missing"])
    response = client.responses.create(**ASKED)
    with pytest.raises(TypeError):
        _ = response.output_text
