"""From a plan that fails to the fewest troubles of it that still do: delta debugging, bounded and repeatable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from engy_mock.books.entry import Entry
from engy_mock.campaigns.firings import happened, merged
from engy_mock.campaigns.plan import Plan, Trouble

MOST_RUNS = 40

Fails = Callable[[Plan], bool]
"""Runs a plan and says whether it fails as the first run did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest plan that was found, and after how many runs.

    It is `complete` if taking away any one of its troubles was seen to make it pass. `is_repeatable` is false if
    what has happened did not fail when it happened again.
    """

    plan: Plan
    runs: int
    is_complete: bool
    is_repeatable: bool = True


@dataclass(slots=True)
class _Search:
    """Tries plans until there are no runs left; what has been tried is known."""

    fails: Fails
    plan: Plan
    most: int
    runs: int = 0
    known: dict[str, bool] = field(default_factory=dict)
    is_cut_short: bool = False

    def try_(self, troubles: Sequence[Trouble]) -> bool:
        plan = self.plan.of(merged(troubles))
        if plan.digest not in self.known:
            if self.runs >= self.most:
                self.is_cut_short = True
                return False
            self.runs += 1
            self.known[plan.digest] = self.fails(plan)
        return self.known[plan.digest]


def shrunk(plan: Plan, entries: Sequence[Entry], fails: Fails, most: int = MOST_RUNS) -> Shrunk:
    """The fewest troubles of a plan that still fail; `entries` is the journal of the run in which it failed."""
    search = _Search(fails, plan, most)
    for names_texts in (True, False):
        atoms = list(happened(plan, entries, names_texts=names_texts))
        if search.try_(atoms):
            fewest = _fewest(atoms, search)
            small = replace(plan, troubles=merged(fewest), note=", as small as it still fails")
            return Shrunk(plan=small, runs=search.runs, is_complete=not search.is_cut_short)
    return Shrunk(plan=plan, runs=search.runs, is_complete=False, is_repeatable=False)


def _fewest(atoms: list[Trouble], search: _Search) -> list[Trouble]:
    """Delta debugging: leave out ever smaller parts until none can go."""
    if not atoms or search.try_([]):
        return []
    parts = 2
    while len(atoms) >= 2:
        size = -(-len(atoms) // parts)
        starts = range(0, len(atoms), size)
        part = next((atoms[at : at + size] for at in starts if search.try_(atoms[at : at + size])), None)
        if part is not None:
            atoms, parts = part, 2
            continue
        rest = next((at for at in starts if search.try_(atoms[:at] + atoms[at + size :])), None)
        if rest is not None:
            atoms, parts = atoms[:rest] + atoms[rest + size :], max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(len(atoms), parts * 2)
    return _alone(atoms, search) if len(atoms) > 1 else atoms


def _alone(atoms: list[Trouble], search: _Search) -> list[Trouble]:
    """One of several troubles at the first request of its kind: the others may only have brought one more."""
    for own in atoms:
        if own.at and search.try_([replace(own, at=(1,))]):
            return [replace(own, at=(1,))]
    return atoms
