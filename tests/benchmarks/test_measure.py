"""The benchmarks' own arithmetic: pairs, targets, and the line of the table."""

import re

import pytest

from tests.benchmarks.measure import Case, Plan, Row, Samples, Target, table
from tests.benchmarks.paced import PER_SECOND, Arrivals, percentile


def test_rounds_are_interleaved() -> None:
    """Bare and ours are measured in turn, and the warm-up is left out."""
    seen: list[str] = []

    def figure(name: str) -> float:
        seen.append(name)
        return len(seen)

    bare, ours = Plan(rounds=2, warm_up=1).interleave(lambda: figure("bare"), lambda: figure("ours"))
    assert seen == ["bare", "ours"] * 3
    assert (bare, ours) == ([3, 5], [4, 6])


@pytest.mark.parametrize(
    ("target", "is_met"),
    [
        (Target(of="ratio", at_least=0.4), True),
        (Target(of="ratio", at_least=0.6), False),
        (Target(of="ours", at_most=5), True),
        (Target(of="ours", at_most=4.9), False),
        (Target(of="added", at_most=-5), True),
        (Target(of="added", at_most=-6), False),
    ],
)
def test_targets(target: Target, is_met: bool) -> None:
    """A target speaks about the median of the rounds, pair by pair."""
    assert target.is_met(Samples(bare=[10, 10, 20], ours=[5, 5, 1])) == is_met


def test_table() -> None:
    """A row shows the medians, the spread of what is compared, and whether the target was met."""
    target = Target(of="ratio", at_least=0.4)
    case = Case(name="chat", unit="answers/s", target=target, measure=lambda _: Samples(ours=[]))
    row = Row(case=case, samples=Samples(bare=[1000, 2000, 4000], ours=[500, 500, 500], note="here"))
    cells = ["chat", "2,000 answers/s", "500 answers/s", "0.25 (0.125 to 0.5)", "ratio >= 0.4", "NO", "here"]
    assert re.split(r" {2,}", table([row]).splitlines()[2]) == cells
    assert row.record()["met"] is False


def test_lateness_is_told_against_the_schedule_of_the_stream() -> None:
    """The earliest event by its number is in time; two in one write and one after a break are late."""
    step = 1 / PER_SECOND
    stream = Arrivals(b"", times=[(10.0, 2), (10.0 + step, 1), (10.0 + 3 * step, 2), (10.0 + 4.5 * step, 1)])
    late = stream.lateness(0, 100)
    assert late == pytest.approx([0, 0, step, 0, step / 2])
    assert stream.lateness(10.0 + 2 * step, 100) == pytest.approx([step, 0, step / 2])
    assert stream.lateness(0, 1) == []


@pytest.mark.parametrize(("percent", "figure"), [(1, 1), (50, 50), (99, 99), (100, 100)])
def test_percentile(percent: int, figure: float) -> None:
    """So many percent of the figures are not above it."""
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == figure
