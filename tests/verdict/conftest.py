"""A mock for made-up journals: it has no port, and gives no hints of its own for another attempt."""

import pytest

from engy_mock import EngyMock, Settings


@pytest.fixture
def quiet() -> EngyMock:
    """A mock without a socket whose refusals have the hints of the service, and no more."""
    return EngyMock(settings=Settings(hurries_retries=False))
