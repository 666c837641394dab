"""What a benchmark is: a case with a target, samples of bare and ours in turn, and a row of the table."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how often to measure. The first `warm_up` rounds are not counted."""

    rounds: int = 7
    seconds: float = 1.0
    warm_up: int = 1

    def interleave(self, bare: Callable[[], float], ours: Callable[[], float]) -> tuple[list[float], list[float]]:
        """Samples of both in turn, A B A B, so that a change of the machine's speed meets both."""
        pairs = [(bare(), ours()) for _ in range(self.warm_up + self.rounds)][self.warm_up :]
        return [a for a, _ in pairs], [b for _, b in pairs]


SMOKE = Plan(rounds=1, seconds=0.2, warm_up=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What was measured; `bare` and `ours` belong together pair by pair, or `bare` is empty."""

    ours: Sequence[float]
    bare: Sequence[float] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a case has to reach: a figure of ours, its ratio to the bare one, or what it adds to it."""

    of: Literal["ours", "ratio", "added"]
    at_least: float | None = None
    at_most: float | None = None

    def figures(self, samples: Samples) -> list[float]:
        """The figures, round by round, that the target speaks about."""
        if self.of == "ours":
            return list(samples.ours)
        pairs = zip(samples.ours, samples.bare, strict=True)
        return [ours / bare if self.of == "ratio" else ours - bare for ours, bare in pairs]

    def is_met(self, samples: Samples) -> bool:
        """Whether the median reaches the target."""
        median = statistics.median(self.figures(samples))
        return (self.at_least is None or median >= self.at_least) and (
            self.at_most is None or median <= self.at_most
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row: a name, the unit of its figures, a target (or none), and how to measure it."""

    name: str
    unit: str
    target: Target | None
    measure: Callable[[Plan], Samples]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table, with the figures as they were measured."""

    case: Case
    samples: Samples

    @property
    def is_met(self) -> bool | None:
        """Whether the target was reached; None if there is none."""
        return None if self.case.target is None else self.case.target.is_met(self.samples)

    def cells(self) -> tuple[str, ...]:
        """The cells under `HEADINGS`."""
        case, samples, target = self.case, self.samples, self.case.target
        if target is not None and target.of == "added":
            comparison = _spread(target.figures(samples), "+")
        elif samples.bare:
            comparison = _spread(Target(of="ratio").figures(samples))
        else:
            comparison = ""
        return (
            case.name,
            f"{_short(statistics.median(samples.bare))} {case.unit}" if samples.bare else "",
            f"{_short(statistics.median(samples.ours))} {case.unit}",
            comparison,
            _goal(target, case.unit),
            {True: "yes", False: "NO", None: ""}[self.is_met],
            samples.note,
        )

    def record(self) -> dict[str, object]:
        """The row as data."""
        target = self.case.target
        return {
            "case": self.case.name,
            "unit": self.case.unit,
            "bare": list(self.samples.bare),
            "ours": list(self.samples.ours),
            "target": None if target is None else _goal(target, self.case.unit),
            "met": self.is_met,
            "note": self.samples.note,
        }


HEADINGS = ("case", "bare", "ours", "ratio: median (min to max)", "target", "met", "note")


def table(rows: Sequence[Row]) -> str:
    """All rows under their headings."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (lines[0], rule, *lines[1:])
    )


def _goal(target: Target | None, unit: str) -> str:
    if target is None:
        return ""
    limit = target.at_least if target.at_least is not None else target.at_most
    relation = ">=" if target.at_least is not None else "<="
    return {
        "ours": f"{relation} {limit} {unit}",
        "ratio": f"ratio {relation} {limit}",
        "added": f"bare + {limit} {unit}",
    }[target.of]


def _short(figure: float, sign: str = "") -> str:
    return f"{figure:{sign},.0f}" if abs(figure) >= 100 else f"{figure:{sign}.3g}"


def _spread(figures: Sequence[float], sign: str = "") -> str:
    low, middle, high = (_short(x, sign) for x in (min(figures), statistics.median(figures), max(figures)))
    return f"{middle} ({low} to {high})"
