"""The server of a soak, in a process of its own that tells on demand what it holds.

    python -m tests.soak.served SCENARIO_FILE

It prints its port, then one JSON object for each line that it reads: the tasks of its loop, its open files, its
memory, and how many answers are under way.
"""

import asyncio
import gc
import json
import sys
from pathlib import Path
from typing import Any

from engy_mock import EngyMock, WallClock
from engy_mock.cli.serving import _fastest_loop, _raise_file_limit, _spare_what_stays
from engy_mock.gateway import Settings


def resident() -> int:
    """The memory that this process holds now, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def sockets() -> int:
    """How many sockets are open (Linux)."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found += str(entry.readlink()).startswith("socket:")
        except OSError:
            continue  # the one by which the folder was read
    return found


def main() -> None:
    """Serve until there is nothing more to read."""
    loops: list[asyncio.AbstractEventLoop] = []
    factory = _fastest_loop() or asyncio.new_event_loop

    def loop() -> asyncio.AbstractEventLoop:
        loops.append(factory())
        return loops[-1]

    async def tasks() -> int:
        return len(asyncio.all_tasks()) - 1

    _raise_file_limit()
    engy = EngyMock(
        clock=WallClock(),
        settings=Settings(hurries_retries=False),
        scenarios=[sys.argv[1]],
        control=True,
        loop_factory=loop,
    )
    with engy:
        engy.gateway.warm_up()
        _spare_what_stays()
        print(engy.port, flush=True)
        for line in sys.stdin:
            if line.strip() == "collect":
                gc.collect()
            told: dict[str, Any] = {
                "tasks": asyncio.run_coroutine_threadsafe(tasks(), loops[0]).result(30),
                "sockets": sockets(),
                "resident": resident(),
                "under_way": len(engy.watch.open),
                "held": engy.gateway.fleet.under_way,
                "defects": len(engy.gateway.defects),
                "entries": len(engy.journal),
            }
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
