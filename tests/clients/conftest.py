"""Official clients, made once: each costs a fifth of a second, most of it for certificates that nobody reads."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from openai import OpenAI

from engy_mock import EngyMock


@pytest.fixture(scope="session")
def _kept() -> Iterator[tuple[ExitStack, dict[str, OpenAI]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def client(engy: EngyMock, _kept: tuple[ExitStack, dict[str, OpenAI]]) -> OpenAI:
    """A blocking `openai` client that does not retry."""
    stack, made = _kept
    if engy.base_url not in made:
        own = OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0)
        made[engy.base_url] = stack.enter_context(own)
    return made[engy.base_url]
