"""An hour of bad manners in miniature: one command, one report.

    python -m tests.soak [--requests N] [--minutes N] [--callers N] [--idle N] [--slow N]

A million requests or ten minutes, whichever comes first: all routes, answers that break, clients that leave. Then
it looks what is left of it in the server: no task, no socket, no open hold, and no more memory than after the
warm-up. Before that a crowd of idle connections and slow readers must not make others wait. The exit status is 1
if anything is not as it should be. Linux only: what a process holds is read from /proc.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.asking import Load
from tests.soak.crowd import Crowd, seconds_of_new_requests

TOP = Path(__file__).parents[2]
SCENARIO = Path(__file__).with_name("mixed.yaml")

WARM_UP_SHARE = 0.3
"""The part of a soak in which memory may still grow: journal, caches and pools fill up."""

MOST_GROWTH = 1.10
QUIET_SECONDS = 10.0
"""How long the server may take until nothing is left of its clients."""

NEW_REQUESTS = 200
MOST_SLOWDOWN, SPARE_SECONDS = 2.0, 0.010
"""A request beside a crowd may take so many times as long as one without, and a little more."""


@dataclass(slots=True, kw_only=True)
class Report:
    """What a soak has found, as lines; `faults` are those that should not be there."""

    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def check(self, holds: bool, line: str) -> None:
        """Write a line down, and whether it is as it should be."""
        self.lines.append(f"{'good' if holds else 'BAD '}  {line}")
        if not holds:
            self.faults.append(line)


class Served:
    """The server's process."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.served", str(SCENARIO)],
            cwd=TOP,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def holds(self, wish: str = "tell") -> dict[str, Any]:
        """What it holds now."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(wish + "\n")
        self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


async def soak(served: Served, options: argparse.Namespace, report: Report) -> None:
    """Look at the server alone, beside a crowd, under load, and at what is left."""
    before = served.holds()
    await _crowded(served, options, report)
    await _left_alone(served, before, "after the crowd", report)

    load = Load(served.port, options.callers, options.requests)
    running = asyncio.create_task(load.run())
    began = time.monotonic()
    seconds = options.minutes * 60
    memory: list[tuple[float, int]] = []
    while not running.done():
        await asyncio.wait([running], timeout=min(1.0, seconds / 20))
        share = max(load.tally.total / options.requests, (time.monotonic() - began) / seconds)
        memory.append((share, (await asyncio.to_thread(served.holds))["resident"]))
        load.is_over = load.is_over or share >= 1
    await running
    took = time.monotonic() - began
    tally = load.tally
    report.lines.append(f"      {tally.total:,} requests in {took:.0f} s, {tally.total / took:,.0f} a second")
    means = sorted([(tally.seconds[name] / count * 1000, name) for name, count in tally.done.items()])
    report.lines.append(f"      the quickest: {means[0][0]:.1f} ms, {means[0][1]}")
    report.lines += [f"      the slowest: {mean:.1f} ms, {name}" for mean, name in means[:-4:-1]]
    report.check(not tally.wrong, f"all answers as they should be{_counted(tally.wrong)}")
    _check_memory(memory, report)
    await _left_alone(served, before, "after the load", report)


async def _crowded(served: Served, options: argparse.Namespace, report: Report) -> None:
    await seconds_of_new_requests(served.port, NEW_REQUESTS // 4)
    alone = await seconds_of_new_requests(served.port, NEW_REQUESTS)
    crowd = Crowd(served.port, idle=options.idle, slow=options.slow)
    await crowd.gather()
    try:
        beside = await seconds_of_new_requests(served.port, NEW_REQUESTS)
    finally:
        await crowd.disperse()
    one, other = statistics.median(alone), statistics.median(beside)
    report.check(
        other <= one * MOST_SLOWDOWN + SPARE_SECONDS,
        f"a new request takes {other * 1000:.2f} ms beside {options.idle:,} idle connections and {options.slow} "
        f"slow readers, {one * 1000:.2f} ms alone (medians)",
    )


async def _left_alone(served: Served, before: dict[str, Any], when: str, report: Report) -> None:
    """Nothing of the clients is left within a few seconds."""
    names = ("tasks", "sockets", "under_way", "held")
    deadline = time.monotonic() + QUIET_SECONDS
    while True:
        now = await asyncio.to_thread(served.holds, "collect")
        if all(now[name] <= before[name] for name in names) or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    for name in names:
        words = {"under_way": "answers under way", "held": "holds"}.get(name, name)
        report.check(now[name] <= before[name], f"{when} {now[name]} {words} are left, {before[name]} before")
    report.check(now["defects"] == 0, f"{when} {now['defects']} defects of the mock")


def _check_memory(memory: list[tuple[float, int]], report: Report) -> None:
    warm = [resident for share, resident in memory if share <= WARM_UP_SHARE] or [memory[0][1]]
    after = [resident for share, resident in memory if share > WARM_UP_SHARE] or [memory[-1][1]]
    growth = max(after) / max(warm)
    report.check(
        growth <= MOST_GROWTH,
        f"memory {max(warm) / 1e6:.0f} MB after the warm-up, at most {max(after) / 1e6:.0f} MB from then on "
        f"({growth - 1:+.1%})",
    )


def _counted(wrong: dict[str, int]) -> str:
    return "".join(f"; {count} x {what}" for what, count in sorted(wrong.items()))


def main(arguments: list[str] | None = None) -> int:
    """Soak, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000, help="at most so many (default 1,000,000)")
    parser.add_argument("--minutes", type=float, default=10.0, help="at most so long (default 10)")
    parser.add_argument("--callers", type=int, default=16, help="clients at once (default 16)")
    parser.add_argument("--idle", type=int, default=2000, help="idle connections (default 2,000)")
    parser.add_argument("--slow", type=int, default=200, help="slow readers (default 200)")
    options = parser.parse_args(arguments)
    report = Report()
    served = Served()
    try:
        asyncio.run(soak(served, options, report))
    finally:
        served.end()
    print("\n".join(report.lines))
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
