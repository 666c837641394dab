"""The pytest plugin: fixture `engy` and option `--engy-seed`; it costs nothing until the fixture is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engy_mock.mock import EngyMock

KEYS = ("ENGY_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SGP_API_KEY")
BASE_URLS = ("OPENAI_BASE_URL",)
ORIGINS = ("ANTHROPIC_BASE_URL", "SGP_CLIENT_BASE_URL")
FOREIGN_KEYS = ("ANTHROPIC_AUTH_TOKEN",)
"""The variables by which official clients find service and key; in a test they lead to the mock (Q-42)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--engy-seed`."""
    group = parser.getgroup("engy_mock", "a pretend LLM inference service")
    group.addoption(
        "--engy-seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of everything that the `engy` fixture makes up (default: 0)",
    )


@pytest.fixture(scope="session")
def _engy_for_all_tests(pytestconfig: pytest.Config) -> Iterator[EngyMock]:
    from engy_mock.mock import EngyMock

    with EngyMock(seed=pytestconfig.getoption("engy_seed")) as engy:
        yield engy


@pytest.fixture
def engy(_engy_for_all_tests: EngyMock, monkeypatch: pytest.MonkeyPatch) -> EngyMock:
    """A pretend inference service, as new: an EngyMock that runs in a thread of its own.

    Clients made without an address or a key find it by themselves.
    """
    engy = _engy_for_all_tests
    engy.reset()
    for names, value in ((KEYS, engy.api_key), (BASE_URLS, engy.base_url), (ORIGINS, engy.origin)):
        for name in names:
            monkeypatch.setenv(name, value)
    for name in FOREIGN_KEYS:
        monkeypatch.delenv(name, raising=False)
    return engy
