"""How long answers take: profiles, jitter that belongs to the request, and what a crowd does."""

import statistics

import pytest

from engy_mock.model.cards import CARDS
from engy_mock.model.tempo import LONGEST, REALISTIC, Tempo, tempo_of
from engy_mock.vocabulary.seeds import Draws

DRAWS = Draws(b"a request")


def test_every_model_has_a_row():
    """And no other: a model that is renamed takes its row along."""
    assert list(REALISTIC) == [card.id for card in CARDS]


def test_profiles():
    """Instant is no tempo at all; slow is the same model with everything taking longer."""
    assert tempo_of("instant", "kimi-k3") is None
    realistic, slow = (tempo_of(profile, "kimi-k3") for profile in ("realistic", "slow"))
    assert slow.first_seconds > 4 * realistic.first_seconds
    assert slow.per_second < realistic.per_second / 4
    assert tempo_of("realistic", "somebody-elses") != realistic
    assert tempo_of(40, "kimi-k3") == Tempo(per_second=40)
    own = Tempo(first_seconds=1, per_second=2)
    assert tempo_of(own, "kimi-k3") is own


def test_waits_without_jitter_are_the_numbers_themselves():
    """The first token comes after the first seconds, a call of a tool takes as long as its tokens."""
    tempo = Tempo(first_seconds=0.5, per_second=10)
    assert list(tempo.waits([1, 1, 5, 1], DRAWS)) == pytest.approx([0.5, 0.1, 0.5, 0.1])
    assert list(tempo.waits([3], DRAWS)) == pytest.approx([0.7])
    assert list(tempo.waits([], DRAWS)) == []


def test_jitter_is_drawn_from_the_request_and_keeps_the_mean():
    """No two waits are alike, none is further off than said, and the same request waits alike every time."""
    tempo = Tempo(first_seconds=0.1, per_second=10, jitter=0.4)
    waits = list(tempo.waits([1] * 2000, DRAWS))
    assert waits == list(tempo.waits([1] * 2000, Draws(b"a request")))
    assert waits != list(tempo.waits([1] * 2000, Draws(b"another")))
    assert 0.06 <= min(waits) < 0.065 < 0.135 < max(waits) <= 0.14
    assert statistics.mean(waits) == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(("others", "share"), [(0, 1), (5, 2 / 3), (10, 1 / 2), (20, 1 / 3)])
def test_a_crowd_slows_everybody_down(others, share):
    """With so many others as `half_at` says there is half the speed for each."""
    tempo = Tempo(first_seconds=1, per_second=30, half_at=10).beside(others)
    assert [tempo.per_second, tempo.first_seconds] == pytest.approx([30 * share, 1 / share])
    assert Tempo(per_second=30).beside(others) == Tempo(per_second=30)


def test_no_wait_is_longer_than_ten_minutes():
    """Q-19: whatever the numbers come to."""
    assert max(Tempo(first_seconds=600, per_second=1, half_at=1).beside(500).waits([1, 1], DRAWS)) == LONGEST
