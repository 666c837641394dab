"""How well many streams at a human pace keep to their schedule, seen by a client that notes when each event comes.

A stream's schedule is fixed by its events themselves: the one that was earliest by its own number is in time, and
all others are late by so much against it. So neither the way to the server nor the time of a request counts, but
everything that makes one event later than its neighbours, drift too.
"""

import asyncio
import gc
import json
import statistics
import time
from dataclasses import dataclass, field
from typing import cast

from tests.benchmarks.load import http_request
from tests.benchmarks.measure import Plan, Samples
from tests.benchmarks.processes import OURS, Server

PATH = "/v1/chat/completions"
STREAMS = 1000
PER_SECOND = 5
"""Slower than people read, so that a client in Python can keep up with all streams on one core of its own."""

RAMP_SECONDS = 6.0
"""The streams begin one after the other in this time, which is not measured: to begin costs more than to go on."""

WINDOW_SECONDS = 8.0
PERCENTILE = 99


@dataclass(slots=True)
class Arrivals(asyncio.Protocol):
    """One stream: how many events came when."""

    request: bytes
    times: list[tuple[float, int]] = field(default_factory=list)
    is_over: bool = False
    transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self.transport = transport
        cast("asyncio.Transport", transport).write(self.request)  # uvloop's are none by their class

    def data_received(self, data: bytes) -> None:
        """Note what came; the last write holds the end as well and counts no more."""
        self.is_over = self.is_over or b"[DONE]" in data
        events = data.count(b"\n\n")
        if events and not self.is_over:
            self.times.append((time.perf_counter(), events))

    def lateness(self, begin: float, end: float) -> list[float]:
        """How many seconds late each event of a window of time was."""
        found: list[tuple[float, float]] = []
        number = 0
        for place, (moment, events) in enumerate(self.times):
            # The first write tells the role as well as the first piece.
            for _ in range(1 if place == 0 else events):
                found.append((moment, moment - number / PER_SECOND))
                number += 1
        window = [(moment, offset) for moment, offset in found if begin <= moment <= end]
        earliest = min([offset for _, offset in window], default=0.0)
        return [offset - earliest for _, offset in window]


def percentile(figures: list[float], percent: int) -> float:
    """The figure that so many percent of them do not exceed."""
    return sorted(figures)[max(0, -(-len(figures) * percent // 100) - 1)]


def paced_streams(plan: Plan) -> Samples:
    """The 99th percentile of how late the events of 1,000 paced streams are, in milliseconds."""
    is_smoke = plan.seconds < 1
    streams = STREAMS // 50 if is_smoke else STREAMS
    figures: list[float] = []
    loads: list[float] = []
    events, cost = 0, 0.0
    pace = f"first_seconds=0.5/per_second={PER_SECOND}"
    with Server((*OURS, "serve", "--port", "{port}", "--pace", pace)) as server:
        server.wait()
        for _ in range(1 if is_smoke else min(plan.rounds, 3)):
            before = server.processor_seconds
            late, load = _drive(server.port, streams, RAMP_SECONDS / 8 if is_smoke else RAMP_SECONDS)
            cost = server.processor_seconds - before
            figures.append(percentile(late, PERCENTILE) * 1000)
            loads.append(load)
            events = len(late)
    note = f"{streams} streams of {PER_SECOND} events/s, {events} events in the last round; the server computed"
    note += f" {cost:.1f} s in all, the client computed {statistics.median(loads):.0%} of the time"
    return Samples(ours=figures, note=note)


def _drive(port: int, streams: int, ramp: float) -> tuple[list[float], float]:
    try:
        import uvloop
    except ImportError:
        factory = None
    else:
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(_watch(port, streams, ramp))


async def _watch(port: int, streams: int, ramp: float) -> tuple[list[float], float]:
    """How late the events of all streams were, and the share of the time in which the client itself computed."""
    body = {
        "model": "kimi-k3",
        "stream": True,
        "messages": [{"role": "user", "content": "Why do bridges sway in the wind?"}],
    }
    request = http_request(port, PATH, json.dumps(body).encode())
    loop = asyncio.get_running_loop()
    gc.disable()
    try:
        watched: list[Arrivals] = []
        for _ in range(streams):
            _, protocol = await loop.create_connection(lambda: Arrivals(request), "127.0.0.1", port)
            watched.append(protocol)
            await asyncio.sleep(ramp / streams)
        await asyncio.sleep(1.0)
        began, computed = time.perf_counter(), time.process_time()
        await asyncio.sleep(min(WINDOW_SECONDS, ramp * 2))
        ended = time.perf_counter()
        load = (time.process_time() - computed) / (ended - began)
        late = [seconds for one in watched for seconds in one.lateness(began, ended)]
        for one in watched:
            if one.transport is not None:
                one.transport.close()
        await asyncio.sleep(0.1)
    finally:
        gc.enable()
    if not late:
        raise RuntimeError("no event came in time")
    return late, load
