"""What all that measures clients shares: mocks that do what a case says, calm answers, and a second look."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from engy_mock import EngyMock
from engy_mock.scripting.faults.doors import OfTheDoor
from engy_mock.vocabulary.clock import StandingClock, WallClock
from tests.matrix.cases import IDLE_SECONDS, Case
from tests.matrix.content import Content, content
from tests.matrix.job import Address, Job, Patience
from tests.matrix.outcome import Heard

WORKERS = 6
"""How many cells are measured at once: most of the time of a stall is waiting."""

BRISKLY = 0.1
"""How long a second is between two signs of life: shorter than any client's patience."""

Cell = tuple[str, str, str]
Found = TypeVar("Found")


class CalmAnswers:
    """What calls get without a fault, each asked for once."""

    def __init__(self, ask: Callable[[Job, Case], Heard]) -> None:
        self._ask = ask
        self._known: dict[str, Content] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def to(self, job: Job, own: Case) -> Content:
        """What the same call gets without the fault; raises AssertionError if that is not an answer."""
        column = job.column
        key = repr((column.name, job.form, own.reply, own.asked, own.calls))
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._known:
                heard = self._ask(replace(job, kind=""), own)
                assert heard.is_over, f"{column.name} {job.form} hangs without any fault"
                assert not heard.error, f"{column.name} {job.form} fails without {job.kind}: {heard.exception!r}"
                self._known[key] = content(column.endpoint, heard.said)
            return self._known[key]


def in_parallel(
    jobs: Iterable[Job], first: Callable[[Job], object], then: Callable[[Job], Found], workers: int
) -> dict[Cell, Found]:
    """What becomes of these jobs; the first of each is done for all before any goes on."""
    ordered = list(jobs)
    with ThreadPoolExecutor(workers) as pool:
        # So that nobody has to wait for code to be loaded while a watchdog counts.
        list(pool.map(first, ordered))
        return dict(zip((job.cell for job in ordered), pool.map(then, ordered), strict=True))


def settled(
    measure: Callable[[list[Job], int], dict[Cell, Found]], jobs: Iterable[Job], known: Mapping[Cell, Found]
) -> dict[Cell, Found]:
    """What becomes of these jobs; what is known otherwise is tried again, one at a time.

    Where much is going on at once, a client may lose its patience for no good reason.
    """
    ordered = list(jobs)
    found = measure(ordered, WORKERS)
    again = [job for job in ordered if known.get(job.cell, found[job.cell]) != found[job.cell]]
    return found | measure(again, 1)


def address(engy: EngyMock, patience: Patience, *, retries: int | None = 0) -> Address:
    """Where a client finds the mock, and how long it waits; `retries` as many as it has by itself for None."""
    authority = engy.authority if engy.origin.startswith("https") else ""
    return Address(
        origin=engy.origin,
        api_key=engy.api_key,
        authority=authority,
        read_seconds=patience.read,
        retries=retries,
    )


def wait_idly(engy: EngyMock) -> None:
    """Let the time pass that lies between two calls of a case."""
    if isinstance(engy.gateway.clock, StandingClock):
        engy.clock.advance(IDLE_SECONDS)


@contextmanager
def scripted(job: Job, own: Case, *, times: int | None = None) -> Iterator[EngyMock]:
    """A new mock that does what the case says, once it is called; without any fault for the calm answer.

    With `times` only its first answers have the fault.
    """
    options: dict[str, Any] = {"clock": WallClock()} if own.waits else {"time_scale": BRISKLY}
    with ExitStack() as stack:
        engy = stack.enter_context(EngyMock(tls=own.tls if job.kind else None, **options))
        # What is cached of the prompt would tell that a client has asked twice.
        engy.settings.prompt_cache = False
        faults = [own.fault(job.kind)] if job.kind and not isinstance(own.fault(job.kind), OfTheDoor) else []
        if own.reply is not None:
            if faults:
                engy.when().reply(**own.reply, faults=faults, times=times)
            engy.when().reply(**own.reply)
        elif faults:
            engy.when().faults(*faults, times=times)
        if job.kind and own.is_closed:
            stack.enter_context(engy.refuse_connections())
        yield engy
