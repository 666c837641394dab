"""Calls that meet a fault, tried: a mock of its own for each, the client's own retries, none without an end."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from engy_mock import EngyMock
from engy_mock.scripting.fault import catalogue
from tests.card import frameworks
from tests.card.columns import COLUMNS, PACKAGES
from tests.card.result import NOWHERE, Result, judged, tell
from tests.matrix.cases import Case
from tests.matrix.cases import case as matrix_case
from tests.matrix.content import Content, content
from tests.matrix.job import LONG, Job, Patience
from tests.matrix.measuring import Measuring, watched
from tests.matrix.outcome import Heard
from tests.matrix.questions import question
from tests.matrix.running import WORKERS, CalmAnswers, Cell, address, in_parallel, scripted, settled, wait_idly

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
        self._calm = CalmAnswers(self._ask_calmly)
        self._stack = ExitStack()

    def __enter__(self) -> "Trials":
        self._stack.enter_context(self._measuring)
        self._stack.enter_context(frameworks.trusting(EngyMock().authority))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def results(self, wanted: Iterable[Job], workers: int = WORKERS) -> Card:
        """What becomes of these calls."""
        ordered = list(wanted)
        self._measuring.open({job.column.client for job in ordered} - set(PACKAGES))
        return in_parallel(ordered, self._calmly, self.result, workers)

    def settled(self, wanted: Iterable[Job], known: Mapping[Cell, Result]) -> Card:
        """What becomes of these calls; what is known otherwise is tried again, one call at a time."""
        return settled(self.results, wanted, known)

    def result(self, job: Job) -> Result:
        """What becomes of one call."""
        own = case(job.kind)
        calm = self._calmly(job)
        patience = replace(own.patience, whole=own.patience.whole + TO_RETRY)
        with scripted(job, own, times=None if job.kind in LASTING else own.calls) as engy:
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
        return self._calm.to(job, case(job.kind))

    def _ask_calmly(self, job: Job, own: Case) -> Heard:
        with scripted(job, own) as engy:
            return self._ask(engy, job, own, LONG)

    def _ask(self, engy: EngyMock, job: Job, own: Case, patience: Patience) -> Heard:
        fields = question(job.column, job.form, own.asked)
        where = address(engy, patience, retries=None)
        if job.column.client not in PACKAGES:
            return self._measuring.call(engy, job, own.calls, fields, where, patience.whole)
        return watched(
            lambda: frameworks.ask(job.column.client, job.form, fields, where, lambda: wait_idly(engy), own.calls),
            patience.whole,
            engy.stop,
        )
