"""Drawing among expected tokens alone comes to what drawing from the whole distribution comes to."""

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock.model.choosing import chooser
from engy_mock.model.distribution import mixed
from engy_mock.model.sampling import Knobs, draw
from tests.model.made import toy

UNIT = st.floats(0, 1, exclude_max=True)
SHARES = st.sampled_from([(1.0,), (0.6, 0.4), (0.5, 0.3, 0.2), (0.4, 0.3, 0.2, 0.1), (0.97, 0.02, 0.01)])


@given(
    SHARES,
    st.sampled_from([0.99, 0.996, 0.9]),
    st.sampled_from([0, 0.05, 0.5, 0.7, 1.0, 1.0, 1.3]),
    st.sampled_from([1.0, 0.993, 0.95, 0.79, 0.5, 1e-3]),
    st.sampled_from([None, None, 1, 3]),
    st.sampled_from([0.0, 0.0, 0.1]),
    UNIT,
)
def test_chooser(shares, certainty, temperature, top_p, top_k, min_p, unit):
    """Property 4: whatever a chooser picks, `draw` picks from the whole vocabulary."""
    knobs = Knobs(temperature=temperature, top_p=top_p, top_k=top_k, min_p=min_p)
    found = chooser(knobs, certainty)
    if found is None:
        return
    tokens = range(3, 3 + len(shares))
    special = {token: certainty * share for token, share in zip(tokens, shares, strict=True)}
    place = bisect_right(found.borders(shares), unit)
    if place < len(shares):
        near = {draw(mixed(toy().after(-1, -1), special), knobs, u) for u in (unit, max(unit - 1e-9, 0.0))}
        assert tokens[place] in near


@pytest.mark.parametrize(
    ("knobs", "kept"),
    [
        (Knobs(), 3),
        (Knobs(top_p=0.7), 2),
        (Knobs(temperature=0), 1),
        (Knobs(top_k=1, temperature=2.0), 1),
        (Knobs(temperature=0.5, top_p=0.6), 1),
        (Knobs(temperature=0.5, top_p=0.8), 2),
        (Knobs(top_p=1.0), 3),
    ],
    ids=str,
)
def test_what_can_be_chosen(knobs, kept):
    """The knobs in use every day need no other token than the expected ones."""
    found = chooser(knobs, 0.99)
    assert found is not None
    borders = found.borders((0.5, 0.3, 0.2))
    assert len(borders) == kept
    assert borders[-1] == pytest.approx(0.99 if knobs.top_p == 1.0 else 1.0)


@pytest.mark.parametrize(
    "knobs", [Knobs(temperature=1.2), Knobs(frequency_penalty=0.1), Knobs(temperature=0.9, top_p=1.0)], ids=str
)
def test_what_cannot_be_chosen(knobs):
    """Heat and penalties raise other tokens, so that every one has to be looked at."""
    assert chooser(knobs, 0.99) is None
