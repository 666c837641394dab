"""Figures that are taken inside one process, without a socket between the clock and what is timed.

    python -m tests.benchmarks.inside {start,bare-start,reset} TIMES

It prints the seconds of each time as a JSON list.
"""

import asyncio
import json
import sys
import threading
import time
import urllib.request
from collections.abc import Callable

from aiohttp import web


def start() -> float:
    """Start a mock of one's own and stop it."""
    from engy_mock import EngyMock

    began = time.perf_counter()
    with EngyMock():
        pass
    return time.perf_counter() - began


def bare_start() -> float:
    """Start a bare aiohttp server in a thread and stop it."""
    is_up = threading.Event()
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        async def answer(_: web.Request) -> web.Response:
            return web.Response()

        app = web.Application()
        app.router.add_post("/", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        loop, is_over = asyncio.get_running_loop(), asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(is_over.set))
        is_up.set()
        await is_over.wait()
        await runner.cleanup()

    began = time.perf_counter()
    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    is_up.wait()
    stop[0]()
    thread.join()
    return time.perf_counter() - began


def resets(times: int) -> list[float]:
    """Reset a shared mock after ten answers under a rule."""
    from engy_mock import EngyMock

    body = json.dumps({"model": "glm-5.2", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]})
    seconds = []
    with EngyMock() as engy:
        for _ in range(times):
            engy.when(says="nothing of the sort").reply("Yes.")
            for _ in range(10):
                request = urllib.request.Request(
                    f"{engy.base_url}/chat/completions",
                    body.encode(),
                    {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"},
                )
                with urllib.request.urlopen(request) as answer:
                    answer.read()
            began = time.perf_counter()
            engy.reset()
            seconds.append(time.perf_counter() - began)
    return seconds


def main() -> None:
    """Print the figures that were asked for."""
    what, times = sys.argv[1], int(sys.argv[2])
    if what == "reset":
        print(json.dumps(resets(times)))
    else:
        once = {"start": start, "bare-start": bare_start}[what]
        once()
        print(json.dumps([once() for _ in range(times)]))


if __name__ == "__main__":
    main()
