"""The doors stand before a gateway that says what the test dictates."""

import sys
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from engy_mock import EngyMock
from tests import waiting
from tests.doors import pretend
from tests.doors.raw import Raw

Until = Callable[[Callable[[], object]], None]


@pytest.fixture(autouse=True)
def _pretend_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engy_mock.gateway", pretend)


@pytest.fixture
def mock() -> Iterator[EngyMock]:
    with EngyMock() as mock:
        yield mock


@pytest.fixture
def service(mock: EngyMock) -> pretend.Gateway:
    """What stands behind the mock."""
    return cast(pretend.Gateway, mock.gateway)


@pytest.fixture
def raw(mock: EngyMock) -> Iterator[Raw]:
    """A connection to the mock."""
    with Raw(mock.port) as raw:
        yield raw


@pytest.fixture
def until() -> Until:
    """Wait until a claim holds."""
    return waiting.until
