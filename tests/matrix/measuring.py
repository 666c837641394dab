"""Cells of the matrix, measured: a mock of its own for each, several at a time, none without an end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Lock, Thread
from typing import Any

from engy_mock import EngyMock
from engy_mock.books.entry import Entry
from engy_mock.scripting.fault import catalogue
from engy_mock.scripting.faults.doors import OfTheDoor
from engy_mock.vocabulary.clock import StandingClock, WallClock
from tests.matrix.cases import IDLE_SECONDS, Case, case
from tests.matrix.columns import COLUMNS, IN_PYTHON
from tests.matrix.content import content
from tests.matrix.in_node import Node
from tests.matrix.in_node import job as node_job
from tests.matrix.in_python import ask
from tests.matrix.job import LONG, Address, Job, Patience
from tests.matrix.outcome import Heard, Outcome, classified
from tests.matrix.questions import question

WORKERS = 6
"""How many cells are measured at once: most of the time of a stall is waiting."""

BRISKLY = 0.1
"""How long a second is between two signs of life: shorter than any client's patience."""

TO_END = 10.0
"""Seconds for a call to notice that its mock is gone."""

Cell = tuple[str, str, str]
Matrix = dict[Cell, Outcome]

NOWHERE = Outcome("n/a")


def jobs(kinds: Iterable[str], clients: Iterable[str]) -> Iterator[Job]:
    """The cells of these rows and columns that the kind has a place in."""
    wanted = set(clients)
    for kind in kinds:
        for column in COLUMNS:
            if column.client in wanted:
                for form in column.forms:
                    if form in case(kind).forms and column.has_room_for(catalogue()[kind], form):
                        yield Job(kind, column, form)


class Measuring:
    """A run: the processes of clients that are open, and the calm answers that are known."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._calm: dict[str, Any] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()
        self._stack = ExitStack()

    def __enter__(self) -> "Measuring":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def measure(self, wanted: Iterable[Job], *, workers: int = WORKERS) -> Matrix:
        """The outcomes of these cells."""
        ordered = list(wanted)
        self.open({job.column.client for job in ordered})
        with ThreadPoolExecutor(workers) as pool:
            # First, so that nobody has to wait for code to be loaded while a watchdog counts.
            list(pool.map(self._calmly, ordered))
            return dict(zip((job.cell for job in ordered), pool.map(self.outcome, ordered), strict=True))

    def open(self, clients: Iterable[str]) -> None:
        """Start what has to run for these clients, so that no call waits for it."""
        for client in sorted(set(clients) - IN_PYTHON):
            self._node(client)

    def settled(self, wanted: Iterable[Job], known: Mapping[Cell, Outcome]) -> Matrix:
        """The outcomes of these cells; those that are known otherwise are measured again, one at a time.

        Where much is going on at once, a client may lose its patience for no good reason.
        """
        ordered = list(wanted)
        found = self.measure(ordered)
        again = [job for job in ordered if known.get(job.cell, found[job.cell]) != found[job.cell]]
        return found | self.measure(again, workers=1)

    def outcome(self, job: Job) -> Outcome:
        """The outcome of one cell."""
        calm = self._calmly(job)
        own = case(job.kind)
        heard, names = self._ask(job, own, own.patience)
        if names and job.kind not in names:
            return NOWHERE
        return classified(calm, content(job.column.endpoint, heard.said), heard)

    def _calmly(self, job: Job) -> Any:
        """What the same call gets without the fault; raises AssertionError if that is not an answer."""
        own, column = case(job.kind), job.column
        key = repr((column.name, job.form, own.reply, own.asked, own.calls))
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._calm:
                heard, _ = self._ask(replace(job, kind=""), own, LONG)
                assert heard.is_over, f"{column.name} {job.form} hangs without any fault"
                assert not heard.error, f"{column.name} {job.form} fails without {job.kind}: {heard.error}"
                self._calm[key] = content(column.endpoint, heard.said)
            return self._calm[key]

    def _ask(self, job: Job, own: Case, patience: Patience) -> tuple[Heard, list[str]]:
        """What a call gets from a new mock, and the kinds that took part; none if no request came as far."""
        fields = question(job.column, job.form, own.asked)
        with _scripted(job, own) as engy:
            address = Address(
                origin=engy.origin,
                api_key=engy.api_key,
                authority=engy.authority if engy.origin.startswith("https") else "",
                read_seconds=patience.read,
            )
            heard = self.call(engy, job, own.calls, fields, address, patience.whole)
        return heard, [kind for entry in engy.journal for kind in _kinds(entry)]

    def call(
        self, engy: EngyMock, job: Job, calls: int, fields: Mapping[str, Any], address: Address, seconds: float
    ) -> Heard:
        """What a client gets from the last of so many calls to this mock."""

        def between() -> None:
            if isinstance(engy.gateway.clock, StandingClock):
                engy.clock.advance(IDLE_SECONDS)

        column = job.column
        if column.client in IN_PYTHON:
            return watched(
                lambda: ask(column.client, column.endpoint, job.form, fields, address, between, calls),
                seconds,
                engy.stop,
            )
        node = self._node(column.client)
        heard = Heard()
        for number in range(calls):
            if number:
                between()
            heard = node.hear(node.ask(node_job(job.form, fields, address)), seconds)
        return heard

    def _node(self, client: str) -> Node:
        if client not in self._nodes:
            self._nodes[client] = Node(client, EngyMock().authority)
            self._stack.callback(self._nodes[client].close)
        return self._nodes[client]


def watched(call: Callable[[], Heard], seconds: float, stop: Callable[[], object]) -> Heard:
    """What a call gets, or that it hangs; then its mock is stopped, which ends it."""
    told: list[Heard] = []
    thread = Thread(target=lambda: told.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        stop()
        thread.join(TO_END)
        assert not thread.is_alive(), "a call goes on although nobody is there any more"
        return Heard(is_over=False)
    assert told, "a call ended without saying how"
    return told[0]


def _kinds(entry: Entry) -> list[str]:
    """The kinds that took part in an exchange; one without a name if none did."""
    return [name.split(" ")[0] for name in entry.faults] or [""]


@contextmanager
def _scripted(job: Job, own: Case) -> Iterator[EngyMock]:
    """A new mock that does what the case says, once it is called; without any fault for the calm answer."""
    options: dict[str, Any] = {"clock": WallClock()} if own.waits else {"time_scale": BRISKLY}
    with ExitStack() as stack:
        engy = stack.enter_context(EngyMock(tls=own.tls if job.kind else None, **options))
        # What is cached of the prompt would tell that a client has asked twice.
        engy.settings.prompt_cache = False
        faults = [own.fault(job.kind)] if job.kind and not isinstance(own.fault(job.kind), OfTheDoor) else []
        if own.reply is not None:
            engy.when().reply(**own.reply, faults=faults)
        elif faults:
            engy.when().faults(*faults)
        if job.kind and own.is_closed:
            stack.enter_context(engy.refuse_connections())
        yield engy
