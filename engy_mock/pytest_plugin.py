"""The pytest plugin: fixture `engy` and option `--engy-seed`; it costs nothing until the fixture is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engy_mock.mock import EngyMock

KEYS = ("ENGY_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SGP_API_KEY")
BASE_URLS = ("OPENAI_BASE_URL",)
ORIGINS = ("ANTHROPIC_BASE_URL", "SGP_CLIENT_BASE_URL")
PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost,::1"
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
def engy(_engy_for_all_tests: EngyMock, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngyMock]:
    """A pretend inference service, as new: an EngyMock that runs in a thread of its own.

    Clients made without an address or a key find it by themselves. A test in which the mock itself fails, or
    a function of a rule, fails with it.
    """
    engy = _engy_for_all_tests
    if not engy.is_running:
        # The test before took it down, as an outage is told.
        engy.stop()
        engy.start()
    engy.reset()
    for name in PROXY_EXCEPTIONS:
        others = os.environ.get(name)
        monkeypatch.setenv(name, f"{others},{LOOPBACK}" if others else LOOPBACK)
    for names, value in ((KEYS, engy.api_key), (BASE_URLS, engy.base_url), (ORIGINS, engy.origin)):
        for name in names:
            monkeypatch.setenv(name, value)
    for name in FOREIGN_KEYS:
        monkeypatch.delenv(name, raising=False)
    yield engy
    if engy.gateway.defects:
        raise engy.gateway.defects[0]
