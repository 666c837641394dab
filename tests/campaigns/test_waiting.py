"""How long a command has waited because it was told to."""

import pytest

from engy_mock import EngyMock, Settings
from engy_mock.campaigns.waiting import MOST_GRANTED, granted, still_told
from engy_mock.verdict.waits import Watches
from tests.verdict.journals import sent

WATCHES = Watches(0.0, is_standing=False)


@pytest.fixture
def quiet():
    return EngyMock(settings=Settings(hurries_retries=False))


@pytest.mark.parametrize(
    ("seconds", "attempts", "now", "wanted"),
    [
        (5, [], 3, 3),
        (5, [], 50, 5),
        (5, [2], 50, 7),
        (5, [0.1, 0.2, 0.3], 0.4, 0.4),
        (5, [8, 16], 18, 12),
        (600, [], 50_000, MOST_GRANTED),
        (400, [400], 900, MOST_GRANTED),
        (601, [], 50_000, 0),
        (86_400, [], 50_000, 0),
    ],
)
def test_waits_as_told(quiet, seconds, attempts, now, wanted):
    """From the end of a refusal to the next attempt, as far as the hint goes; who rushes wins nothing."""
    quiet.when().refuse(429, retry_after=seconds)
    for at in [0, *attempts]:
        sent(quiet, at=at, lasts=0)
    assert granted(quiet.journal, WATCHES, now) == pytest.approx(wanted, abs=0.05)


def test_the_longest_of_several_hints_counts(quiet):
    """A client may heed any of them; two calls that wait at once wait once."""
    quiet.when().faults("conflicting-retry-hints")
    for says in ("Hello", "Good morning"):
        sent(quiet, says, at=0, lasts=0)
    assert granted(quiet.journal, WATCHES, 70) == pytest.approx(60, abs=0.05)


@pytest.mark.parametrize(
    ("seconds", "attempts", "now", "wanted"),
    [
        (86_400, [], 5, 86_400),
        (86_400, [], 700, 86_400),
        (5, [], 700, 0),
        (900, [], 1000, 0),
        (400, [], 300, 0),
        (400, [400], 700, 400),
    ],
)
def test_waits_that_no_campaign_sits_through(quiet, seconds, attempts, now, wanted):
    """A single one that is too long, or the last one of too many."""
    quiet.when().refuse(429, retry_after=seconds)
    for at in [0, *attempts]:
        sent(quiet, at=at, lasts=0)
    assert still_told(quiet.journal, WATCHES, now) == wanted
