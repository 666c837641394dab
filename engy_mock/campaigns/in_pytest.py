"""Campaigns in pytest: a test becomes one item for each seed; one that fails is run again with less."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from engy_mock.books.entry import Entry
from engy_mock.campaigns import firings, profile
from engy_mock.campaigns.drawing import drawn
from engy_mock.campaigns.firings import happened
from engy_mock.campaigns.saving import save
from engy_mock.campaigns.shrinking import MOST_RUNS, Shrunk, shrunk
from engy_mock.vocabulary.errors import MockError, did_you_mean

if TYPE_CHECKING:
    from engy_mock.campaigns.plan import Plan, Trouble
    from engy_mock.campaigns.profile import Profile
    from engy_mock.mock import EngyMock

FIXTURE = "_engy_run"
"""The fixture by which an item knows its run."""

SEEDS = 100
MOST_SEEDS = 100_000

OF_THE_MARKER = ("profile", "seeds", "shrink")
"""What the marker takes."""

SILENCE = 2.0
"""After so many seconds on the wall a silence without end is broken off, so that no run waits for long."""

PLAN = pytest.StashKey["Plan"]()
"""The plan of the run under way."""

MOCK = pytest.StashKey["EngyMock"]()
"""The mock of the run under way."""

FAILURE = pytest.StashKey[str]()
"""How the run under way has failed: what was raised, and where in the test."""

JOURNAL = pytest.StashKey[tuple[Entry, ...]]()
"""What had reached the mock when the run under way was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a campaign, before it has begun."""

    profile: Profile
    seed: int
    shrink: int

    def __str__(self) -> str:
        return f"{self.profile.name}-{self.seed}"


def parametrize(metafunc: pytest.Metafunc, marker: pytest.Mark) -> None:
    """Make of a test one item for each seed, or for that of `--engy-seed` alone."""
    try:
        runs = _runs(metafunc, marker)
    except MockError as error:
        name = metafunc.function.__name__
        raise pytest.Collector.CollectError(f"{name}, the marker engy_campaign: {error}") from None
    metafunc.fixturenames.append(FIXTURE)
    metafunc.parametrize(FIXTURE, runs, indirect=True, ids=str)


def _runs(metafunc: pytest.Metafunc, marker: pytest.Mark) -> list[Run]:
    if "engy" not in metafunc.fixturenames:
        raise MockError("the test has to use the fixture engy, or another one that does")
    if marker.args:
        raise MockError(f"it takes words like seeds=, got {marker.args[0]!r:.80}")
    for word in marker.kwargs:
        if word not in OF_THE_MARKER:
            hint = did_you_mean(word, OF_THE_MARKER) or f" Known are {', '.join(OF_THE_MARKER)}."
            raise MockError(f"there is no {word!r}.{hint}")
    wanted = marker.kwargs.get("profile", "stormy")
    if not isinstance(wanted, str | Path):
        raise MockError(f"profile= takes a name or a path, got {wanted!r:.80}")
    found = profile.named(wanted, [metafunc.config.rootpath / profile.OWN_FOLDER])
    shrink = marker.kwargs.get("shrink", MOST_RUNS)
    if type(shrink) is not int or shrink < 0:
        raise MockError(f"shrink= takes a number of runs from 0, got {shrink!r:.80}")
    seed = metafunc.config.getoption("engy_seed")
    seeds = _seeds(marker.kwargs.get("seeds", SEEDS)) if seed is None else [seed]
    return [Run(profile=found, seed=one, shrink=shrink) for one in seeds]


def _seeds(wanted: Any) -> list[int]:
    seeds = range(wanted) if type(wanted) is int and 0 < wanted <= MOST_SEEDS else wanted
    is_list = isinstance(seeds, list | tuple | range) and 0 < len(seeds) <= MOST_SEEDS
    if not is_list or not all(type(seed) is int for seed in seeds):
        raise MockError(
            f"seeds= takes a number of seeds up to {MOST_SEEDS}, or a list of them, got {wanted!r:.80}"
        )
    return list(dict.fromkeys(seeds))


def run_of(item: pytest.Item) -> Run | None:
    """The run that an item is; None if it is an ordinary test."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(FIXTURE)


def begin(item: pytest.Item, run: Run, engy: EngyMock) -> None:
    """Let the plan of a run take part."""
    if PLAN not in item.stash:
        item.stash[PLAN] = drawn(run.profile, run.seed)
    item.stash[MOCK] = engy
    engy.scenario(item.stash[PLAN].scenario())


def note(item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    """Remember of a phase of a run what may be asked for when it is over."""
    if MOCK in item.stash and call.when in ("setup", "call"):
        item.stash[JOURNAL] = tuple(item.stash[MOCK].journal)
    if report.failed and call.excinfo is not None and FAILURE not in item.stash:
        inside = [entry for entry in call.excinfo.traceback if Path(entry.path) == item.path]
        place = f":{inside[-1].lineno + 1}" if inside else ""
        item.stash[FAILURE] = f"{call.excinfo.typename} at {item.location[0]}{place}"


def perform(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run an item of a campaign; if it fails, run it again to find the fewest troubles that make it."""
    run = run_of(item)
    assert run is not None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _reports(item, nextitem)
    failed = next((report for report in reports if report.failed), None)
    told: dict[str, Any] = {
        "campaign": f"{_without_run(item, run)} ({run.profile.name})",
        "seed": run.seed,
        "failed": failed is not None,
        "met": 0,
    }
    if PLAN in item.stash:
        plan = item.stash[PLAN]
        entries: tuple[Entry, ...] = item.stash.get(JOURNAL, ())
        met = firings.count(plan, entries)
        told |= {"met": met, "plan": str(plan), "digest": plan.digest}
        if failed is not None:
            told |= _explained(item, nextitem, run, failed)
    chosen = failed or reports[-1]
    chosen.engy_campaign = told  # type: ignore[attr-defined]  # a report takes along what it is given
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _reports(item: pytest.Item, nextitem: pytest.Item | None, plan: Plan | None = None) -> list[pytest.TestReport]:
    """One run from the set-up of its fixtures to their end."""
    of_a_run: tuple[pytest.StashKey[Any], ...] = (PLAN, FAILURE, JOURNAL, MOCK)
    for key in of_a_run:
        if key in item.stash:
            del item.stash[key]
    if plan is not None:
        item.stash[PLAN] = plan
    return runtestprotocol(item, log=False, nextitem=nextitem)


def _explained(
    item: pytest.Item, nextitem: pytest.Item | None, run: Run, failed: pytest.TestReport
) -> dict[str, Any]:
    """What is told of a run that has failed, on its report too."""
    plan, failure = item.stash[PLAN], item.stash.get(FAILURE, "")
    replay = f"pytest {shlex.quote(_replayed(item, run))} --engy-seed={run.seed}"
    lines = [f"seed {run.seed} of profile {run.profile.name}, plan {plan.digest}:"]
    lines += [f"  {words}" for words in plan.words()] or ["  nothing goes wrong"]
    told: dict[str, Any] = {"failure": failure, "replay": replay}
    seen = item.config.stash.setdefault(_SHRUNK, {}).setdefault((_without_run(item, run), failure), [])
    entries: tuple[Entry, ...] = item.stash.get(JOURNAL, ())
    met = _kinds(happened(plan, entries, names_texts=False))
    cause = next((known for known in seen if known <= met), None)
    found: Shrunk | None = None
    if run.shrink and cause is None and len(seen) < MOST_CAUSES and _may_run_again(item):
        found = _shrunk(item, nextitem, run, plan, failure)
        cause = _kinds(found.plan.troubles) if found.is_repeatable else met
        seen.append(cause)
        lines += _lines(found)
        if found.is_repeatable:
            told |= {"smallest": str(found.plan), "troubles": _count(found.plan)}
    if cause:
        told["failure"] = f"{failure}, by {' and '.join(sorted(cause))}"
    folder = item.config.getoption("engy_save_plan")
    if folder and (found is not None or not run.shrink or not _may_run_again(item)):
        path = save(found.plan if found is not None else plan, Path(folder), _slug(item, run, found))
        told["saved"] = str(path)
        lines.append(f"saved: {path}")
    lines.append(f"replay: {replay}")
    failed.sections.insert(0, ("engy_mock: campaign", "\n".join(lines)))
    return told


_SHRUNK = pytest.StashKey[dict[tuple[str, str], list[frozenset[str]]]]()
"""The failures of campaigns that have been looked into, each with the troubles that bring it about.

One run of each is enough: another one with all of these troubles fails for the same reason.
"""

MOST_CAUSES = 3
"""So many reasons are looked for, for failures at one place."""


def _kinds(troubles: Iterable[Trouble]) -> frozenset[str]:
    return frozenset([own.kind for own in troubles])


def _may_run_again(item: pytest.Item) -> bool:
    """Whether nobody would be disturbed: neither a debugger nor reports of a test's own in the middle of it."""
    is_watched = item.config.getoption("usepdb", False) or item.config.getoption("trace", False)
    return not is_watched and "subtests" not in getattr(item, "fixturenames", ())


def _shrunk(item: pytest.Item, nextitem: pytest.Item | None, run: Run, plan: Plan, failure: str) -> Shrunk:
    def fails(other: Plan) -> bool:
        _reports(item, nextitem, other)
        return item.stash.get(FAILURE, None) == failure

    entries: tuple[Entry, ...] = item.stash.get(JOURNAL, ())
    return shrunk(plan, entries, fails, run.shrink)


def _lines(found: Shrunk) -> list[str]:
    if not found.is_repeatable:
        return [
            f"did not fail again when the same happened again ({found.runs} runs):",
            "  what the test asks, or in which order, is another in each run",
        ]
    fewest = "the fewest that still fail" if found.is_complete else "fewer that still fail, as far as runs went"
    words = found.plan.words() or ["  nothing: it fails without any trouble"]
    return [f"{fewest} ({found.runs} runs):", *[f"  {one}" for one in words]]


def _count(plan: Plan) -> int:
    """How many things go wrong in a plan that says so outright."""
    return sum(max(len(own.at), 1) for own in plan.troubles)


def _without_run(item: pytest.Item, run: Run) -> str:
    """The id of the test without the run: `test_it`, or `test_it[other]` where it has other parameters too."""
    name, _, parameters = str(item.nodeid).partition("[")
    rest = re.sub(rf"(^|-){re.escape(str(run))}(?=-|$)", "", parameters.removesuffix("]"), count=1)
    return f"{name}[{rest.removeprefix('-')}]" if rest else name


def _replayed(item: pytest.Item, run: Run) -> str:
    """What names this item on the command line, from where pytest was started."""
    own = _without_run(item, run)
    # With other parameters the id in full; else the test, which has one run if it is told the seed.
    _, colons, rest = (own if "[" not in own else str(item.nodeid)).partition("::")
    return Path(relpath(item.path, item.config.invocation_params.dir)).as_posix() + colons + rest


def _slug(item: pytest.Item, run: Run, found: Shrunk | None) -> str:
    """A name for the file of a plan; one that is not outright has to keep its own, which its draws depend on."""
    if found is None or not found.is_repeatable:
        return str(run)
    name = getattr(item, "originalname", None) or item.name
    return re.sub(r"[^a-z0-9]+", "-", f"{name}-{run}".lower()).strip("-")
