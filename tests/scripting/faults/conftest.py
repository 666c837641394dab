"""Official clients, made once: each costs a fifth of a second."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.scripting.faults.official import Clients


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    with closing(Clients()) as clients:
        yield clients
