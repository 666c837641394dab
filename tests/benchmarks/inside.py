"""Figures that are taken inside one process, without a socket between the clock and what is timed.

    python -m tests.benchmarks.inside {start,bare-start,reset} TIMES
    python -m tests.benchmarks.inside {transport,client,openai} TIMES {socket,inside} CALLERS

It prints the seconds of each time as a JSON list; in the second form, those of one call on the average.
"""

import asyncio
import json
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from engy_mock import EngyMock


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


@contextmanager
def caller(what: str, engy: "EngyMock", *, is_inside: bool) -> Iterator[Callable[[], object]]:
    """What asks for one small answer and reads it: by a transport of httpx2, its client, or that of `openai`."""
    import httpx2
    from openai import OpenAI

    body: dict[str, Any] = {
        "model": "glm-5.2",
        "max_tokens": 16,
        "messages": [{"role": "user", "content": "Hello."}],
    }
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    path = "/v1/chat/completions"
    with ExitStack() as stack:
        if what == "transport":
            transport = engy.transport() if is_inside else httpx2.HTTPTransport()
            stack.enter_context(transport)
            request = httpx2.Request("POST", engy.origin + path, json=body, headers=headers)

            def ask() -> object:
                response = transport.handle_request(request)
                response.read()
                response.close()
                return response.status_code == 200 or sys.exit("there was no answer")

            yield ask
            return
        http_client = engy.http_client() if is_inside else httpx2.Client(base_url=engy.origin)
        stack.enter_context(http_client)
        if what == "client":
            yield lambda: http_client.post(path, json=body, headers=headers).raise_for_status()
        else:
            openai = OpenAI(base_url=engy.base_url, api_key=engy.api_key, http_client=http_client)
            yield lambda: openai.chat.completions.create(**body)


def calls(what: str, times: int, *, is_inside: bool, callers: int) -> list[float]:
    """The seconds of a small call, whole from request to answer, `callers` threads asking at once."""
    from engy_mock import EngyMock

    batch = 200 // callers
    with EngyMock() as engy, caller(what, engy, is_inside=is_inside) as ask:

        def work() -> None:
            for _ in range(batch):
                ask()

        def once() -> float:
            threads = [threading.Thread(target=work) for _ in range(callers)]
            began = time.perf_counter()
            if callers == 1:
                work()
            else:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            return (time.perf_counter() - began) / (batch * callers)

        once()
        return [once() for _ in range(times)]


def main() -> None:
    """Print the figures that were asked for."""
    what, times = sys.argv[1], int(sys.argv[2])
    if what == "reset":
        print(json.dumps(resets(times)))
    elif what in {"transport", "client", "openai"}:
        is_inside, callers = sys.argv[3] == "inside", int(sys.argv[4])
        print(json.dumps(calls(what, times, is_inside=is_inside, callers=callers)))
    else:
        once = {"start": start, "bare-start": bare_start}[what]
        once()
        print(json.dumps([once() for _ in range(times)]))


if __name__ == "__main__":
    main()
