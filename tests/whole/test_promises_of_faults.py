"""What is promised of faults: the same requests get the same bytes, in the same writes, with the same faults."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from engy_mock import EngyMock
from tests.scripting.captured import ask
from tests.waiting import until

ROUTES = ("chat", "messages", "responses", "v5 completions")


def scripted(engy):
    """Rules of every sort: faults by rate, a pace, refusals, a reply, behaviours."""
    engy.when(says="number 3").refuse(429)
    engy.when(says="number 4").reply("one two three four five", pace=50, faults=[{"kind": "cut", "after": 3}])
    engy.when(says="number 5").faults("usage-zero", delay=2)
    engy.when(stream=True).faults({"kind": "reset", "after": 4, "rate": 0.5}, "extra-fields", rate=0.7)
    engy.when(stream=False).faults({"kind": "truncate", "after": 5, "rate": 0.5}, rate=0.7)


def captured(engy, number):
    """What one of many callers sees: bytes, borders of writes, and how the connection ended."""
    seen = ask(engy, ROUTES[number % 4], stream=number % 3 != 0, text=f"question number {number}")
    return seen.raw, seen.ending


def run(numbers=range(24)):
    """A fresh mock, asked one request after the other."""
    with EngyMock(seed=3) as engy:
        scripted(engy)
        return [captured(engy, number) for number in numbers], [entry.plan for entry in engy.journal]


def test_two_runs():
    """D-1: equal byte for byte, chunks and with them the borders of writes included; plans too."""
    first, plans = run()
    assert run() == (first, plans)
    assert len({ending for _, ending in first}) == 2
    assert len(set(plans)) == len(plans)


def test_parallel_callers():
    """D-2: each of 32 parallel callers sees what it would see alone."""
    alone = dict(enumerate(run(range(32))[0]))
    with EngyMock(seed=3) as engy:
        scripted(engy)
        with ThreadPoolExecutor(32) as callers:
            together = dict(zip(range(32), callers.map(lambda n: captured(engy, n), range(32)), strict=True))
    assert together == alone


def test_after_requests_of_others():
    """D-4: what unrelated requests were answered before changes nothing."""
    alone, _ = run([7, 8, 9])
    after, _ = run([*range(100, 110), 7, 8, 9])
    assert after[-3:] == alone


SCRIPT = """
import hashlib
from tests.whole.test_promises_of_faults import run
print(hashlib.sha256(repr(run()).encode()).hexdigest())
"""


@pytest.mark.slow
def test_other_hash_seeds():
    """D-3: another process under another PYTHONHASHSEED: the same."""
    digests = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        digests.add(done.stdout.strip())
    assert digests == {hashlib.sha256(repr(run()).encode()).hexdigest()}


def test_the_plan_stands_in_the_header_and_in_the_journal(engy):
    """The seed and what stands for all that was decided, on every answer."""
    engy.when(says="broken").faults("usage-zero")
    plans = [ask(engy, text=text).headers["x-engy-mock-plan"] for text in ("broken", "broken", "fine")]
    assert plans == [entry.plan for entry in engy.journal]
    assert all(plan.startswith("0/") and len(plan) == 18 for plan in plans)
    assert len(set(plans)) == 3


@pytest.mark.parametrize("kind", ["stall", "stall-with-comments"])
def test_a_reset_ends_what_is_under_way(engy, kind):
    """D-10: after a reset the mock is healthy, and answers from before do not reach the new journal."""
    engy.when().faults({"kind": kind, "after": 2})
    with ThreadPoolExecutor(4) as callers:
        stalled = [callers.submit(ask, engy, text=f"number {number}") for number in range(4)]
        until(lambda: len(engy.journal) == 4 and all(entry.pieces_sent == 2 for entry in engy.journal))
        old = engy.journal
        engy.reset()
        endings = [future.result().ending for future in stalled]
    assert set(endings) <= {"reset", "fin"}
    assert len(engy.journal) == 0
    until(lambda: all(entry.fate == "cut off" for entry in old))
    assert ask(engy).status == 200
    assert len(engy.journal) == 1
    assert engy.accounts.default.held_micro == 0
