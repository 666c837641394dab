"""Cells of the matrix, measured: a mock of its own for each, several at a time, none without an end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from threading import Thread
from typing import Any

from engy_mock import EngyMock
from engy_mock.books.entry import Entry
from engy_mock.scripting.fault import catalogue
from tests.matrix.cases import Case, case
from tests.matrix.columns import COLUMNS, IN_PYTHON
from tests.matrix.content import Content, content
from tests.matrix.in_node import Node
from tests.matrix.in_node import job as node_job
from tests.matrix.in_python import ask
from tests.matrix.job import LONG, Address, Job, Patience
from tests.matrix.outcome import Heard, Outcome, classified
from tests.matrix.questions import question
from tests.matrix.running import WORKERS, CalmAnswers, Cell, address, in_parallel, scripted, settled, wait_idly

TO_END = 10.0
"""Seconds for a call to notice that its mock is gone."""

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
        self._calm = CalmAnswers(lambda job, own: self._ask(job, own, LONG)[0])
        self._stack = ExitStack()

    def __enter__(self) -> "Measuring":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def measure(self, wanted: Iterable[Job], workers: int = WORKERS) -> Matrix:
        """The outcomes of these cells."""
        ordered = list(wanted)
        self.open({job.column.client for job in ordered})
        return in_parallel(ordered, self._calmly, self.outcome, workers)

    def open(self, clients: Iterable[str]) -> None:
        """Start what has to run for these clients, so that no call waits for it."""
        for client in sorted(set(clients) - IN_PYTHON):
            self._node(client)

    def settled(self, wanted: Iterable[Job], known: Mapping[Cell, Outcome]) -> Matrix:
        """The outcomes of these cells; those that are known otherwise are measured again, one at a time."""
        return settled(self.measure, wanted, known)

    def outcome(self, job: Job) -> Outcome:
        """The outcome of one cell."""
        calm = self._calmly(job)
        own = case(job.kind)
        heard, names = self._ask(job, own, own.patience)
        if names and job.kind not in names:
            return NOWHERE
        return classified(calm, content(job.column.endpoint, heard.said), heard)

    def _calmly(self, job: Job) -> Content:
        return self._calm.to(job, case(job.kind))

    def _ask(self, job: Job, own: Case, patience: Patience) -> tuple[Heard, list[str]]:
        """What a call gets from a new mock, and the kinds that took part; none if no request came as far."""
        fields = question(job.column, job.form, own.asked)
        with scripted(job, own) as engy:
            heard = self.call(engy, job, own.calls, fields, address(engy, patience), patience.whole)
        return heard, [kind for entry in engy.journal for kind in _kinds(entry)]

    def call(
        self, engy: EngyMock, job: Job, calls: int, fields: Mapping[str, Any], address: Address, seconds: float
    ) -> Heard:
        """What a client gets from the last of so many calls to this mock."""
        column = job.column
        if column.client in IN_PYTHON:
            return watched(
                lambda: ask(
                    column.client, column.endpoint, job.form, fields, address, lambda: wait_idly(engy), calls
                ),
                seconds,
                engy.stop,
            )
        node = self._node(column.client)
        heard = Heard()
        for number in range(calls):
            if number:
                wait_idly(engy)
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
