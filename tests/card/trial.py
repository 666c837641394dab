"""Calls that meet a fault, tried: a mock of its own for each, the client's own retries, none without an end."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

from engy_mock import EngyMock
from engy_mock.scripting.fault import catalogue
from engy_mock.scripting.faults.doors import OfTheDoor
from engy_mock.vocabulary.clock import StandingClock, WallClock
from tests.card import frameworks
from tests.card.columns import COLUMNS, PACKAGES
from tests.card.result import NOWHERE, Result, judged, tell
from tests.matrix.cases import IDLE_SECONDS, Case
from tests.matrix.cases import case as matrix_case
from tests.matrix.content import Content, content
from tests.matrix.job import LONG, Address, Job, Patience
from tests.matrix.measuring import BRISKLY, Measuring, watched
from tests.matrix.outcome import Heard
from tests.matrix.questions import question

WORKERS = 6

TO_RETRY = 8.0
"""Seconds more than the matrix has: the AI SDK waits for two before it tries again."""

LASTING = frozenset(
    {
        "429-forever",
        "balance-runs-out",
        "denied-as",
        "flapping",
        "key-revoked",
        "quota-exhausted",
        "redirect-loop",
        "retry-differs",
    }
)
"""Kinds that mean nothing, or something else, where the next attempt is well."""

LEFT_OUT: Mapping[str, str] = {
    "conflicting-retry-hints": "one of its hints is a minute, for which nobody wants to wait here",
}

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "429-forever": {"value": 0.01},
    "cold-start": {"seconds": 0.1},
    "quota-refill": {"requests": 0, "seconds": 0.1},
    "retry-after": {"value": 0.01},
}
"""Hints that are kept in a moment."""

MORE_THAN_A_QUESTION = frozenset({"history", "tool_choice", "provider", "n", "prompts"})
"""What a case may ask beyond the usual, which an agent has no word for."""

Cell = tuple[str, str, str]
Card = dict[Cell, Result]


def case(kind: str) -> Case:
    """How the kind is shown: as in the matrix, with hints that are short."""
    own = matrix_case(kind)
    return replace(own, given={**own.given, **GIVEN.get(kind, {})})


def jobs(kinds: Iterable[str], clients: Iterable[str]) -> Iterator[Job]:
    """The calls of these clients in which the kinds have a place."""
    wanted = set(clients)
    for kind in kinds:
        for column in COLUMNS:
            if column.client not in wanted or kind in LEFT_OUT:
                continue
            if column.client == "PA" and MORE_THAN_A_QUESTION & set(case(kind).asked):
                continue
            for form in column.forms:
                # The forms of a case are those of the matrix; streams have one name there.
                forms = case(kind).forms
                if (form in forms or (form != "whole" and "raw" in forms)) and column.has_room_for(
                    catalogue()[kind], form
                ):
                    yield Job(kind, column, form)


class Trials:
    """A run: the clients that are open, and the calm answers that are known."""

    def __init__(self) -> None:
        self._measuring = Measuring()
        self._calm: dict[str, Content] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()
        self._stack = ExitStack()

    def __enter__(self) -> "Trials":
        self._stack.enter_context(self._measuring)
        self._stack.enter_context(frameworks.trusting(EngyMock().authority))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def results(self, wanted: Iterable[Job], *, workers: int = WORKERS) -> Card:
        """What becomes of these calls."""
        ordered = list(wanted)
        self._measuring.open({job.column.client for job in ordered} - set(PACKAGES))
        with ThreadPoolExecutor(workers) as pool:
            # First, so that nobody has to wait for code to be loaded while a watchdog counts.
            list(pool.map(self._calmly, ordered))
            return dict(zip((job.cell for job in ordered), pool.map(self.result, ordered), strict=True))

    def settled(self, wanted: Iterable[Job], known: Mapping[Cell, Result]) -> Card:
        """What becomes of these calls; what is known otherwise is tried again, one call at a time.

        Where much is going on at once, a client may lose its patience for no good reason.
        """
        ordered = list(wanted)
        found = self.results(ordered)
        again = [job for job in ordered if known.get(job.cell, found[job.cell]) != found[job.cell]]
        return found | self.results(again, workers=1)

    def result(self, job: Job) -> Result:
        """What becomes of one call."""
        own = case(job.kind)
        calm = self._calmly(job)
        patience = replace(own.patience, whole=own.patience.whole + TO_RETRY)
        with _scripted(job, own) as engy:
            heard = self._ask(engy, job, own, patience)
            got = content(job.column.endpoint, heard.said)
            tell(engy, heard, got)
            names = [name.split(" ")[0] for entry in engy.journal for name in entry.faults or ("",)]
            if names and job.kind not in names:
                return NOWHERE
            # What came before the last call is another one, though it asks the same.
            verdict = engy.verdict(patience=own.patience.whole, since=own.calls - 1)
            return judged(verdict, heard, got, calm, job)

    def _calmly(self, job: Job) -> Content:
        """What the same call gets without the fault; raises AssertionError if that is not an answer."""
        own, column = case(job.kind), job.column
        key = repr((column.name, job.form, own.reply, own.asked, own.calls))
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._calm:
                calm = replace(job, kind="")
                with _scripted(calm, own) as engy:
                    heard = self._ask(engy, calm, own, LONG)
                assert heard.is_over, f"{column.name} {job.form} hangs without any fault"
                assert not heard.error, f"{column.name} {job.form} fails without {job.kind}: {heard.exception!r}"
                self._calm[key] = content(column.endpoint, heard.said)
            return self._calm[key]

    def _ask(self, engy: EngyMock, job: Job, own: Case, patience: Patience) -> Heard:
        fields = question(job.column, job.form, own.asked)
        address = Address(
            origin=engy.origin,
            api_key=engy.api_key,
            authority=engy.authority if engy.origin.startswith("https") else "",
            read_seconds=patience.read,
            retries=None,
        )
        if job.column.client not in PACKAGES:
            return self._measuring.call(engy, job, own.calls, fields, address, patience.whole)

        def between() -> None:
            if isinstance(engy.gateway.clock, StandingClock):
                engy.clock.advance(IDLE_SECONDS)

        return watched(
            lambda: frameworks.ask(job.column.client, job.form, fields, address, between, own.calls),
            patience.whole,
            engy.stop,
        )


@contextmanager
def _scripted(job: Job, own: Case) -> Iterator[EngyMock]:
    """A new mock whose first answers have the fault, and whose later ones are well, unless the fault lasts."""
    options: dict[str, Any] = {"clock": WallClock()} if own.waits else {"time_scale": BRISKLY}
    times = None if job.kind in LASTING else own.calls
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
