"""The cases: one row each."""

import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from tests.benchmarks.bare import Answer
from tests.benchmarks.load import CONNECTIONS, Round, drive, http_request
from tests.benchmarks.measure import Case, Plan, Samples, Target
from tests.benchmarks.paced import paced_streams
from tests.benchmarks.processes import (
    TOP,
    Server,
    bare_server,
    our_server,
    processor_seconds_of_children,
    run,
)

Body = dict[str, Any]
Bodies = Callable[[Server], Iterator[Body]]
"""The request bodies of a case, one after the other; the server may be asked how many tokens a text has."""

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
MODEL = "glm-5.2"
PROMPT_TOKENS = 50
SCORED_TOKENS = 1024
GENERATOR_AT_ITS_LIMIT = 0.93

WORDS = (
    *(
        "the",
        "people",
        "of",
        "this",
        "town",
        "know",
        "that",
        "a",
        "good",
        "day",
        "begins",
        "with",
        "water",
        "and",
    ),
    *(
        "bread",
        "work",
        "is",
        "done",
        "when",
        "light",
        "sun",
        "falls",
        "on",
        "old",
        "house",
        "near",
        "river",
        "where",
    ),
    *("children", "play", "time", "long", "first", "they", "read", "to", "each", "other", "in", "evening"),
)


def words(number: int, count: int) -> str:
    """So many words, different for each number from the first to the last."""
    chosen, state = [], number
    for _ in range(count):
        state = (state * 1103515245 + 12345 + number) % 2**31
        chosen.append(WORDS[(state >> 8) % len(WORDS)])
    return " ".join(chosen)


# Load on a running server
# ------------------------


def chat(max_tokens: int, *, is_new: bool, **more: object) -> Bodies:
    """Chat requests of fifty prompt tokens; each with a new prompt, or all with the same."""

    def bodies(server: Server) -> Iterator[Body]:
        def body(number: int, length: int) -> Body:
            text = words(number, length)
            return {
                "model": MODEL,
                "max_tokens": max_tokens,
                "messages": [{"role": "user", "content": text}],
                **more,
            }

        length = PROMPT_TOKENS - 10
        for _ in range(4):
            probe = {**body(1, length), "stream": False}
            length += PROMPT_TOKENS - json.loads(_ask(server, CHAT, probe).pieces[0])["usage"]["prompt_tokens"]
        for number in itertools.count(1):
            yield body(number if is_new else 1, length)

    return bodies


def scoring(server: Server) -> Iterator[Body]:
    """Raw prompts of 1,024 token ids, to be scored with 30 alternatives each; no two alike."""
    ids: list[int] = []
    for number in itertools.count(1):
        if len(ids) >= SCORED_TOKENS:
            break
        probe = {"model": MODEL, "prompt": words(number * 7919, 100), "max_tokens": 1, "logprob_start_len": 0}
        answer = json.loads(_ask(server, COMPLETIONS, probe).pieces[0])
        ids += answer["choices"][0]["logprobs"]["token_ids"]
    for number in itertools.count(1):
        turn = number % SCORED_TOKENS
        first = ids[number // SCORED_TOKENS % SCORED_TOKENS]
        prompt = [first, *ids[turn:SCORED_TOKENS], *ids[:turn]][:SCORED_TOKENS]
        yield {"model": MODEL, "prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 30}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderLoad:
    """Ask ours and a bare server for the same bytes in turn, and read one figure off each round."""

    path: str
    bodies: Bodies
    figure: Callable[[Round], float]
    connections: int = CONNECTIONS

    def __call__(self, plan: Plan) -> Samples:
        """Measure as planned."""
        with tempfile.TemporaryDirectory() as folder, our_server() as ours:
            ours.wait()
            bodies = self.bodies(ours)
            captured = sorted(
                (_ask(ours, self.path, next(bodies)) for _ in range(9)),
                key=lambda answer: len("".join(answer.pieces)),
            )
            answer = captured[len(captured) // 2]
            with bare_server(answer, Path(folder), uvloop=ours.has_uvloop) as bare:
                bare.wait()
                loads: dict[Server, list[float]] = {bare: [], ours: []}
                costs: dict[Server, list[float]] = {bare: [], ours: []}

                def figure(server: Server) -> float:
                    requests = (http_request(server.port, self.path, _encoded(body)) for body in bodies)
                    before = server.processor_seconds
                    round_ = drive(server.port, requests, seconds=plan.seconds, connections=self.connections)
                    costs[server].append((server.processor_seconds - before) / round_.answers * 1000)
                    loads[server].append(round_.generator_load)
                    return self.figure(round_)

                bare_figures, our_figures = plan.interleave(lambda: figure(bare), lambda: figure(ours))
        bare_cost, our_cost = statistics.median(costs[bare]), statistics.median(costs[ours])
        note = f"{_describe(answer)}; {bare_cost:.3g} and {our_cost:.3g} ms of processor time an answer"
        for server, name in ((bare, "bare"), (ours, "ours")):
            if statistics.median(loads[server]) > GENERATOR_AT_ITS_LIMIT:
                note += f"; {name}: limited by the generator"
        return Samples(bare=bare_figures, ours=our_figures, note=note)


def _describe(answer: Answer) -> str:
    size = f"{len(''.join(answer.pieces).encode()):,} bytes"
    if len(answer.pieces) > 1:
        return f"{len(answer.pieces)} events, {size}"
    usage = json.loads(answer.pieces[0])["usage"]
    return f"{usage['prompt_tokens']} + {usage['completion_tokens']} tokens, {size}"


def _encoded(body: Body) -> bytes:
    return json.dumps(body).encode()


def _ask(server: Server, path: str, body: Body) -> Answer:
    return server.ask(path, _encoded(body))


# Whole processes
# ---------------

SETTLED_SECONDS = 3.0
HELLO = {"model": MODEL, "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]}


def _both(plan: Plan, figure: Callable[[Server], float]) -> Samples:
    """A figure of a new process of ours and of a new bare one, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        with our_server() as ours:
            answer = _ask(ours.wait(), CHAT, HELLO)
            uvloop = ours.has_uvloop
        bare, our = plan.interleave(
            lambda: figure(bare_server(answer, Path(folder), uvloop=uvloop)), lambda: figure(our_server())
        )
    return Samples(bare=bare, ours=our)


def first_answer(plan: Plan) -> Samples:
    """Seconds from the start of a server process to the end of its first answer."""
    costs: list[float] = []

    def figure(server: Server) -> float:
        began = time.perf_counter()
        with server:
            _ask(server.wait(), CHAT, HELLO)
            elapsed = time.perf_counter() - began
            costs.append(server.processor_seconds)
            return elapsed

    samples = _both(plan, figure)
    bare_cost, our_cost = statistics.median(costs[::2]), statistics.median(costs[1::2])
    return replace(samples, note=f"{bare_cost:.3g} and {our_cost:.3g} s of processor time")


def idle_memory(plan: Plan) -> Samples:
    """Resident memory of a server process that has answered once and loaded all that it loads by itself, in MB."""

    def figure(server: Server) -> float:
        with server:
            _ask(server.wait(), CHAT, HELLO)
            time.sleep(SETTLED_SECONDS)
            return server.resident_mb

    return _both(plan, figure)


def unused_plugin(plan: Plan) -> Samples:
    """What a run of pytest with one test that asks for nothing costs without our plugin, and with it.

    In milliseconds of processor time, as the clock on the wall is too coarse for so little. Other plugins
    stay away, so that what they have imported is not taken off our bill.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH"))))

        def figure(*plugins: str) -> float:
            before = processor_seconds_of_children()
            run(
                *(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    *plugins,
                    "test_nothing.py",
                ),
                folder=Path(folder),
                environment={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path},
            )
            return (processor_seconds_of_children() - before) * 1000

        longer = replace(plan, rounds=plan.rounds * 3)
        bare, ours = longer.interleave(figure, lambda: figure("-p", "engy_mock.pytest_plugin"))
    return Samples(bare=bare, ours=ours)


# Inside a process
# ----------------


def _inside(what: str, times: int, *more: str) -> float:
    """The median of a figure taken in a process of its own, in milliseconds."""
    command = (sys.executable, "-m", "tests.benchmarks.inside", what, str(times), *more)
    seconds: list[float] = json.loads(run(*command))
    return statistics.median(seconds) * 1000


def new_mock(plan: Plan) -> Samples:
    """Milliseconds to start a mock and stop it, beside a bare server in a thread."""
    bare, ours = plan.interleave(lambda: _inside("bare-start", 20), lambda: _inside("start", 20))
    return Samples(bare=bare, ours=ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSocket:
    """Calls per second for a small answer that came before, without a socket (ours) beside over one (bare).

    Both in a process of its own, the mock in a thread. What asks is the same but for the socket: a transport of
    httpx2 with a request made once, httpx2's client, or that of `openai`, whose own work is in both figures.
    """

    by: Literal["transport", "client", "openai"]
    callers: int = 1

    def __call__(self, plan: Plan) -> Samples:
        """Measure as planned."""

        def figure(way: str) -> float:
            return 1000 / _inside(self.by, 5, way, str(self.callers))

        bare, ours = plan.interleave(lambda: figure("socket"), lambda: figure("inside"))
        return Samples(bare=bare, ours=ours, note="bare: the same over the socket")


def reset(plan: Plan) -> Samples:
    """Milliseconds to reset a mock that has given ten answers."""
    return Samples(ours=[_inside("reset", 20) for _ in range(plan.rounds)])


CASES = (
    Case(
        name="chat, every prompt new",
        unit="answers/s",
        target=Target(of="ratio", at_least=0.4),
        measure=UnderLoad(path=CHAT, bodies=chat(100, is_new=True), figure=attrgetter("answers_per_second")),
    ),
    Case(
        name="chat, same prompt",
        unit="answers/s",
        target=Target(of="ratio", at_least=0.7),
        measure=UnderLoad(path=CHAT, bodies=chat(100, is_new=False), figure=attrgetter("answers_per_second")),
    ),
    Case(
        name="stream, same prompt",
        unit="events/s",
        target=Target(of="ratio", at_least=3),
        measure=UnderLoad(
            path=CHAT, bodies=chat(400, is_new=False, stream=True), figure=attrgetter("events_per_second")
        ),
    ),
    Case(
        name="stream, every prompt new",
        unit="events/s",
        target=None,
        measure=UnderLoad(
            path=CHAT, bodies=chat(400, is_new=True, stream=True), figure=attrgetter("events_per_second")
        ),
    ),
    Case(
        name="score 1,024 tokens, 30 alternatives",
        unit="ms",
        target=Target(of="ours", at_most=25),
        measure=UnderLoad(
            path=COMPLETIONS,
            bodies=scoring,
            figure=lambda round_: round_.seconds_per_answer * 1000,
            connections=1,
        ),
    ),
    Case(name="new mock, start and stop", unit="ms", target=Target(of="ours", at_most=5), measure=new_mock),
    Case(name="reset", unit="ms", target=Target(of="ours", at_most=1), measure=reset),
    Case(
        name="no socket, httpx2's transport",
        unit="calls/s",
        target=Target(of="ratio", at_least=5),
        measure=NoSocket(by="transport"),
    ),
    Case(
        name="no socket, httpx2's transport, 8 callers",
        unit="calls/s",
        target=Target(of="ratio", at_least=5),
        measure=NoSocket(by="transport", callers=8),
    ),
    Case(name="no socket, httpx2's client", unit="calls/s", target=None, measure=NoSocket(by="client")),
    Case(name="no socket, openai's client", unit="calls/s", target=None, measure=NoSocket(by="openai")),
    Case(name="unused plugin", unit="ms", target=Target(of="added", at_most=15), measure=unused_plugin),
    Case(name="serve to first answer", unit="s", target=Target(of="added", at_most=0.2), measure=first_answer),
    Case(
        name="1,000 paced streams, 99th percentile late",
        unit="ms",
        target=Target(of="ours", at_most=15),
        measure=paced_streams,
    ),
    Case(name="idle memory", unit="MB", target=Target(of="ours", at_most=70), measure=idle_memory),
)
