"""The verdict on the official clients under every scenario of the package: no error that is not true."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from engy_mock import EngyMock, Limits

pytestmark = pytest.mark.slow

SCENARIOS = sorted(path.stem for path in (Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
QUESTION: list[Any] = [{"role": "user", "content": "Say something about rivers."}]
CALLS = 4
MORE_CALLS = {"flaky-streams": 10}
"""Where a share of the calls comes to grief, of the sort that is looked for as well."""


def openai_stream(engy: EngyMock, stack: ExitStack) -> Callable[[], object]:
    client = stack.enter_context(openai.OpenAI(base_url=engy.base_url, api_key=engy.api_key, timeout=1.0))
    return lambda: list(
        client.chat.completions.create(
            model="glm-5.2", messages=QUESTION, reasoning_effort="none", stream=True, max_tokens=40
        )
    )


def openai_whole(engy: EngyMock, stack: ExitStack) -> Callable[[], object]:
    async def ask() -> object:
        async with openai.AsyncOpenAI(base_url=engy.base_url, api_key=engy.api_key, timeout=1.0) as client:
            return await client.chat.completions.create(
                model="glm-5.2", messages=QUESTION, reasoning_effort="none", max_tokens=40
            )

    return lambda: asyncio.run(ask())


def anthropic_stream(engy: EngyMock, stack: ExitStack) -> Callable[[], object]:
    async def ask() -> object:
        async with anthropic.AsyncAnthropic(base_url=engy.origin, api_key=engy.api_key, timeout=1.0) as client:
            stream = await client.messages.create(model="glm-5.2", messages=QUESTION, max_tokens=200, stream=True)
            return [event async for event in stream]

    return lambda: asyncio.run(ask())


def anthropic_whole(engy: EngyMock, stack: ExitStack) -> Callable[[], object]:
    client = stack.enter_context(anthropic.Anthropic(base_url=engy.origin, api_key=engy.api_key, timeout=1.0))
    return lambda: client.messages.create(model="glm-5.2", messages=QUESTION, max_tokens=200)


CLIENTS = (openai_stream, openai_whole, anthropic_stream, anthropic_whole)
STREAMS = (openai_stream, anthropic_stream)

KNOWN: dict[str, tuple[str, tuple[Callable[[EngyMock, ExitStack], Callable[[], object]], ...]]] = {
    # An object without choices is passed on as it is.
    "200-without-choices": ("silent-acceptance", (openai_stream, openai_whole)),
    # Events without a name are dropped, all of them.
    "broken-events": ("silent-acceptance", (anthropic_stream,)),
    # Half of a packed body ends a stream as its end would.
    "compressions": ("truncated-accepted", STREAMS),
    # A stream that ends in order, but without a finish reason, is one that is over.
    "cut-connections": ("truncated-accepted", STREAMS),
    "flaky-streams": ("truncated-accepted", STREAMS),
    "silent-ends": ("truncated-accepted", STREAMS),
    # An empty body is a stream without events.
    "empty-answers": ("silent-acceptance", (anthropic_stream,)),
    # An error in the words of another dialect is no event that is known.
    "errors-in-streams": ("silent-acceptance", (anthropic_stream,)),
    # A page of HTML is a stream without events, or a text.
    "not-an-answer": ("silent-acceptance", CLIENTS),
    # An error in a body under a 200 is an answer.
    "timeout-in-200": ("silent-acceptance", CLIENTS),
    # The status alone decides whether another attempt is made.
    "proxy-errors": ("retried-permanent-error", CLIENTS),
    "spent-quota": ("retried-spent-quota", CLIENTS),
}
"""What is true of a client under a scenario: it does this, and a good one does not."""


@pytest.fixture(scope="module")
def service():
    """A mock whose endless silences end soon."""
    with EngyMock(limits=Limits(stall_seconds=1.5)) as engy:
        yield engy


PAIRS = [
    pytest.param(scenario, client, id=f"{scenario}-{client.__name__}")
    for place, scenario in enumerate(SCENARIOS)
    for client in (CLIENTS if scenario in KNOWN else (CLIENTS[place % len(CLIENTS)],))
]
"""Every scenario with all clients where there is something to say of one, and else with one of them in turn."""


@pytest.mark.parametrize(("scenario", "client"), PAIRS)
def test_errors_are_true(service, scenario, client):
    """Whatever is said of a client stands in the table, with the reason why it is true; nothing else is said."""
    service.reset()
    service.scenario(scenario)
    calls = MORE_CALLS.get(scenario, CALLS)
    with ExitStack() as stack:
        ask = client(service, stack)
        for _ in range(calls):
            try:
                service.heard(ask())
            except Exception as error:
                service.heard(error=error)
        verdict = service.verdict()
    word, clients = KNOWN.get(scenario, ("", ()))
    assert {error.word for error in verdict.errors} == ({word} if client in clients else set()), str(verdict)
    assert sum(verdict.outcomes.values()) == calls, str(verdict)
