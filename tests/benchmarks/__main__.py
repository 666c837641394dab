"""How fast the mock is beside a bare aiohttp handler that says the same bytes: one table.

    python -m tests.benchmarks [--smoke] [--only WORD ...] [--rounds N] [--seconds S] [--json FILE]

Each figure is the median of several rounds; bare and ours are measured in turn, and the ratio is taken pair
by pair, because the speed of a machine drifts. Servers run on the first core, the load on the second. A
missed target is told in the table and nowhere else; the exit status is 1 if a case could not be run.
Where something else runs on the machine, the processor time an answer takes, in the notes, says more.
"""

import argparse
import json
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.cases import CASES
from tests.benchmarks.measure import SMOKE, Plan, Row, table
from tests.benchmarks.processes import CORES, IS_PINNED


def main() -> int:
    """Run the cases that were asked for and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--smoke", action="store_true", help="only see whether each case runs; the figures mean little"
    )
    parser.add_argument(
        "--only", action="append", metavar="WORD", help="cases whose name contains this; repeatable"
    )
    parser.add_argument("--rounds", type=int, help=f"counted rounds (default {Plan().rounds})")
    parser.add_argument("--seconds", type=float, help=f"length of a round under load (default {Plan().seconds})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file, too")
    options = parser.parse_args()

    plan = SMOKE if options.smoke else Plan()
    plan = replace(plan, rounds=options.rounds or plan.rounds, seconds=options.seconds or plan.seconds)
    cases = [case for case in CASES if not options.only or any(word in case.name for word in options.only)]
    if not cases:
        parser.error("no case has such a name: " + "; ".join(case.name for case in CASES))
    if IS_PINNED:
        os.sched_setaffinity(0, {CORES[1]})

    rows, failures = [], []
    for case in cases:
        print(f"... {case.name}", file=sys.stderr, flush=True)
        try:
            rows.append(Row(case=case, samples=case.measure(plan)))
        except Exception as error:
            last_line = str(error).strip().rpartition("\n")[2]
            failures.append(f"{case.name}: {type(error).__name__}: {last_line}")

    where = "servers and load on a core each" if IS_PINNED else "not pinned: the figures are worth less"
    print(f"Python {platform.python_version()}, {plan.rounds} rounds, {where}")
    print(table(rows))
    for failure in failures:
        print(f"could not be run: {failure}")
    if options.json:
        records = {
            "python": platform.python_version(),
            "pinned": IS_PINNED,
            "rows": [row.record() for row in rows],
        }
        options.json.write_text(json.dumps(records, indent=1), "utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
