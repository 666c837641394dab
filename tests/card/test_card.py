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

EVERY = 24
"""All kinds would take minutes: `python -m tests.card --check` has them."""


@pytest.fixture(autouse=True)
def _swept() -> Iterator[None]:
    """Connections that a framework forgets to close are found here, where nobody minds, not in a later test."""
    yield
    gc.collect()


def sample() -> list[str]:
    """Every so many kinds of those that some client bears without hanging until the watchdog comes."""
    known = kept().card
    hung = {kind for (kind, _, _), result in known.items() if result.sign == "hung"}
    return sorted({kind for kind, _, _ in known} - hung)[::EVERY]


@pytest.mark.parametrize("client", LIBRARIES)
def test_clients_are_as_on_the_card(client):
    """A sample of kinds, whole and streamed. A client of another release than the card's may do otherwise."""
    known = kept()
    if installed(client) != known.versions[client]:
        pytest.skip(f"{client} is {installed(client) or 'missing'} here, the card has {known.versions[client]}")
    with Trials() as trials:
        now = trials.settled(jobs(sample(), [client]), known.card)
    found = differences(known.card, now)
    assert not found, "\n".join(["run `python -m tests.card` and look at what has changed:", *found])
