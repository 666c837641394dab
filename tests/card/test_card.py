"""A sample of the card, tried again: the clients do as they are said to do."""

import gc
from collections.abc import Iterator

import pytest

from tests.card.columns import LIBRARIES, installed
from tests.card.keeping import differences, kept
from tests.card.trial import Trials, jobs

pytestmark = [
    pytest.mark.slow,
    # What strangers warn their own maintainers of is no concern of these tests.
    pytest.mark.filterwarnings("ignore"),
]

SAMPLE = ("200-html", "cut", "quota-exhausted", "truncate")
"""Kinds that tell clients apart and take no time; `python -m tests.card --check` has them all."""


@pytest.fixture(autouse=True)
def _swept() -> Iterator[None]:
    """Connections that a framework forgets to close are found here, where nobody minds, not in a later test."""
    yield
    gc.collect()


@pytest.mark.parametrize("client", LIBRARIES)
def test_clients_are_as_on_the_card(client):
    """A sample of kinds, whole and streamed. A client of another release than the card's may do otherwise."""
    known = kept()
    if installed(client) != known.versions[client]:
        pytest.skip(f"{client} is {installed(client) or 'missing'} here, the card has {known.versions[client]}")
    with Trials() as trials:
        now = trials.settled(jobs(SAMPLE, [client]), known.card)
    found = differences(known.card, now)
    assert not found, "\n".join(["run `python -m tests.card` and look at what has changed:", *found])
