"""The verdict on the official clients under every scenario of the package: no error that is not true."""

import asyncio
from collections.abc import Callable
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

KNOWN: dict[tuple[str, str], set[str]] = {}
"""What is true of a client under a scenario: it does this, and a good one does not."""


def openai_stream(engy: EngyMock) -> Callable[[], object]:
    client = openai.OpenAI(base_url=engy.base_url, api_key=engy.api_key, timeout=0.5)
    return lambda: list(
        client.chat.completions.create(
            model="glm-5.2", messages=QUESTION, reasoning_effort="none", stream=True, max_tokens=40
        )
    )


def openai_whole(engy: EngyMock) -> Callable[[], object]:
    async def ask() -> object:
        async with openai.AsyncOpenAI(base_url=engy.base_url, api_key=engy.api_key, timeout=0.5) as client:
            return await client.chat.completions.create(
                model="glm-5.2", messages=QUESTION, reasoning_effort="none", max_tokens=40
            )

    return lambda: asyncio.run(ask())


def anthropic_stream(engy: EngyMock) -> Callable[[], object]:
    async def ask() -> object:
        async with anthropic.AsyncAnthropic(base_url=engy.origin, api_key=engy.api_key, timeout=0.5) as client:
            stream = await client.messages.create(model="glm-5.2", messages=QUESTION, max_tokens=200, stream=True)
            return [event async for event in stream]

    return lambda: asyncio.run(ask())


def anthropic_whole(engy: EngyMock) -> Callable[[], object]:
    client = anthropic.Anthropic(base_url=engy.origin, api_key=engy.api_key, timeout=0.5)
    return lambda: client.messages.create(model="glm-5.2", messages=QUESTION, max_tokens=200)


CLIENTS = (openai_stream, openai_whole, anthropic_stream, anthropic_whole)


@pytest.fixture(scope="module")
def service():
    """A mock whose endless silences end soon."""
    with EngyMock(limits=Limits(stall_seconds=1.5)) as engy:
        yield engy


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_errors_are_true(service, scenario, client):
    """Whatever is said of a client stands in the table, with the reason why it is true."""
    service.reset()
    service.scenario(scenario)
    ask = client(service)
    for _ in range(CALLS):
        try:
            service.heard(ask())
        except Exception as error:
            service.heard(error=error)
    verdict = service.verdict()
    assert {error.word for error in verdict.errors} == KNOWN.get((client.__name__, scenario), set()), str(verdict)
    assert sum(verdict.outcomes.values()) == CALLS, str(verdict)
