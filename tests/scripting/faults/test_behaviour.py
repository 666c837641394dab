"""The faults of section "Behaviour": what a service does that has too much to do, or is not what it was.

Below the sockets, where a test can hold an answer open for as long as it likes; what is particular about the wire
is looked at there.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.gateway.performing import Planned
from engy_mock.scripting.fault import catalogue
from engy_mock.scripting.occasion import Occasion
from engy_mock.vocabulary.generation import Choice, Generation, Usage
from engy_mock.vocabulary.wire import Begin, Call, Head, Step, Wait, Whole, Write
from tests.doors.raw import PATIENCE, Raw, request
from tests.scripting.captured import PATHS, ask, body_for

# fmt: off
KINDS = {
    "cold-start", "warm-up", "load-latency", "queue-full", "key-concurrency", "quota-refill", "brown-out",
    "fail-over", "slow-tokenizer", "cache-cold", "unstable-answer", "retry-differs", "limit-headers-drift",
    "stream-refused", "history-strict", "worker-gone", "cancel-unnoticed",
}
# fmt: on
"""All kinds of the section."""

ROUTES = ("chat", "messages", "responses", "v5 chat", "v5 completions", "v5 responses")
"""Routes that answer whole and as a stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer below the sockets: how it began, and all of its body."""

    head: Head
    body: bytes
    steps: tuple[Step, ...]

    @property
    def status(self) -> int:
        return self.head.status

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.head.headers}


def call(engy: EngyMock, route: str = "chat", *, stream: bool = False, key: str = "", **more: Any) -> Call:
    """A request below the sockets, with the key of the mock or another."""
    key = key or engy.api_key
    headers = {"authorization": f"Bearer {key}", "x-api-key": key, "content-type": "application/json"}
    body = json.dumps(body_for(route, stream=stream, **more)).encode()
    return Call(method="POST", path=PATHS[route], headers={**headers, "host": "127.0.0.1"}, body=body)


def tell(engy: EngyMock, route: str = "chat", **more: Any) -> Told:
    """One answer to its end."""
    steps = tuple(engy.gateway.answer(call(engy, route, **more)))
    begin = next(step for step in steps if isinstance(step, Begin | Whole))
    body = b"".join(step.data if isinstance(step, Write) else getattr(step, "body", b"") for step in steps)
    return Told(head=begin.head, body=body, steps=steps)


@contextmanager
def held_open(engy: EngyMock, count: int, **more: Any) -> Iterator[None]:
    """So many answers under way; they end with the block."""
    under_way = [engy.gateway.answer(call(engy, **more)) for _ in range(count)]
    yield
    for steps in under_way:
        for _ in steps:
            pass


def named(engy: EngyMock) -> list[tuple[str, ...]]:
    return [entry.faults for entry in engy.journal]


def waits(told: Told) -> list[float]:
    return [step.seconds for step in told.steps if isinstance(step, Wait)]


def test_all_kinds_are_there():
    """D-7: each kind of the section is in the catalogue, and has a test in this file."""
    assert set(catalogue()) >= KINDS
    source = Path(__file__).read_text("utf-8")
    assert [kind for kind in sorted(KINDS) if source.count(f'"{kind}"') < 2] == []


@pytest.mark.parametrize("route", PATHS)
def test_cold_start(engy: EngyMock, route: str):
    """503 with a hint at the seconds that are left, until the rule has been in force for so long."""
    engy.when().reply("Here I am.", faults=[{"kind": "cold-start", "seconds": 10.0}])
    seen = ask(engy, route, stream=False)
    assert (seen.status, seen.headers["retry-after"], seen.headers["retry-after-ms"]) == (503, "10", "1")
    engy.clock.advance(9.5)
    seen = ask(engy, route, stream=False)
    assert (seen.status, seen.headers["retry-after"]) == (503, "1")
    engy.clock.advance(0.5)
    assert b"Here I am." in ask(engy, route, stream=False).body
    assert named(engy) == [("cold-start seconds=10.0",)] * 2 + [()]
    assert [entry.status for entry in engy.journal] == [503, 503, 200]
    assert engy.gateway.accounts.default.held_micro == 0


@pytest.mark.parametrize("stream", [False, True])
def test_warm_up(engy: EngyMock, stream: bool):
    """The first answers begin late, the others do not, and all are the same."""
    engy.when().reply("one two", faults=[{"kind": "warm-up", "seconds": 2.5, "requests": 2}])
    told = [tell(engy, stream=stream) for _ in range(3)]
    assert [waits(one) for one in told] == [[2.5], [2.5], []]
    assert isinstance(told[0].steps[0], Wait)
    assert [one.status for one in told] == [200, 200, 200]
    assert named(engy) == [("warm-up seconds=2.5 requests=2",)] * 2 + [()]


def test_load_latency(engy: EngyMock):
    """Late by a step for each other request that is being answered; alone it is in time."""
    engy.when(says="wait").reply("...")
    engy.when().reply("now", faults=[{"kind": "load-latency", "per": 0.5}])
    assert waits(tell(engy)) == []
    with held_open(engy, 3, stream=True, text="wait"):
        assert waits(tell(engy)) == [1.5]
        assert waits(tell(engy)) == [1.5]
    assert waits(tell(engy)) == []
    assert [entry.faults for entry in engy.journal if entry.rule and "wait" not in entry.rule] == [
        (),
        ("load-latency per=0.5",),
        ("load-latency per=0.5",),
        (),
    ]


@pytest.mark.parametrize("kind", ["queue-full", "key-concurrency"])
@pytest.mark.parametrize("route", ["chat", "messages", "v5 chat"])
def test_queues(engy: EngyMock, kind: str, route: str):
    """429 above so many open requests, with the limit that is in force; each place that is left counts."""
    engy.when().reply("...", faults=[{"kind": kind, "limit": 2}])
    with held_open(engy, 2, route=route):
        told = tell(engy, route)
        assert told.status == 429
        assert told.headers["retry-after"] == "1"
        limit = "anthropic-ratelimit-requests-limit" if route == "messages" else "x-ratelimit-limit-requests"
        assert told.headers.get(limit) == (None if route.startswith("v5") else "2")
        assert b" 2 " in told.body
        assert tell(engy, route).status == 429
    assert tell(engy, route).status == 200
    assert named(engy) == [(), (), (f"{kind} limit=2",), (f"{kind} limit=2",), ()]
    assert engy.gateway.accounts.default.held_micro == 0


def test_keys_have_places_of_their_own(engy: EngyMock):
    """`key-concurrency` counts each key for itself, `queue-full` all together."""
    engy.when(says="key").faults({"kind": "key-concurrency", "limit": 1})
    engy.when(says="all").faults({"kind": "queue-full", "limit": 1})
    other = "sk-engy-another"
    with held_open(engy, 1, text="key"):
        assert tell(engy, text="key").status == 429
        assert tell(engy, text="key", key=other).status == 200
        assert tell(engy, text="all", key=other).status == 429


def test_a_place_is_free_before_the_last_byte(engy: EngyMock):
    """At the socket: who has seen the end of an answer finds its place free, also after one was refused."""
    engy.when().reply("one two", faults=[{"kind": "queue-full", "limit": 1}])
    with Raw(engy.port) as raw:
        headers = (f"Authorization: Bearer {engy.api_key}", "Content-Type: application/json")
        for stream in (True, False) * 5:
            raw.send(request(PATHS["chat"], json.dumps(body_for("chat", stream=stream)).encode(), *headers))
            assert raw.read_answer()[0].startswith(b"HTTP/1.1 200")


def test_who_leaves_makes_room(engy: EngyMock):
    """A stalled answer keeps its place until its client has gone."""
    engy.when(says="wait").reply("...", faults=["stall"])
    engy.when().reply("now", faults=[{"kind": "queue-full", "limit": 1}])
    stalled = engy.gateway.answer(call(engy, stream=True, text="wait"))
    next(stalled)
    assert tell(engy).status == 429
    assert isinstance(stalled, Planned)
    stalled.close()
    assert tell(engy).status == 200


def test_quota_refill(engy: EngyMock):
    """So many requests in each span; the headers follow, and the hint is what is left of the span."""
    engy.when().reply("one", faults=[{"kind": "quota-refill", "requests": 2, "seconds": 60.0}])

    def seen() -> tuple[Any, ...]:
        told = tell(engy)
        headers = told.headers
        names = ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
        return (told.status, *(headers[name] for name in names), headers.get("retry-after"))

    assert seen() == (200, "2", "1", "60s", None)
    engy.clock.advance(10)
    assert seen() == (200, "2", "0", "50s", None)
    assert seen() == (429, "2", "0", "50s", "50")
    engy.clock.advance(49.5)
    assert seen() == (429, "2", "0", "1s", "1")
    engy.clock.advance(0.5)
    assert seen() == (200, "2", "1", "60s", None)
    engy.clock.advance(600)
    assert seen() == (200, "2", "1", "60s", None)


def test_two_quotas_in_one_rule(engy: EngyMock):
    """A limit for the minute and one for the hour: each counts for itself."""
    minute = {"kind": "quota-refill", "requests": 2, "seconds": 60.0}
    hour = {"kind": "quota-refill", "requests": 3, "seconds": 3600.0}
    engy.when().reply("one", faults=[minute, hour])
    assert [tell(engy).status for _ in range(2)] == [200, 200]
    engy.clock.advance(60)
    told = [tell(engy) for _ in range(2)]
    assert [one.status for one in told] == [200, 429]
    assert told[1].headers["retry-after"] == "3540"


def test_quota_of_tokens(engy: EngyMock):
    """The tokens of the answers of a span count; they are told in the names that Anthropic's clients know."""
    engy.when().reply("one", faults=[{"kind": "quota-refill", "tokens": 20, "seconds": 30.0}])

    def seen() -> tuple[int, str, str]:
        told = tell(engy, "messages")
        begin = "anthropic-ratelimit-tokens"
        assert told.headers[f"{begin}-limit"] == "20"
        return told.status, told.headers[f"{begin}-remaining"], told.headers[f"{begin}-reset"]

    usage = []
    assert seen() == (200, "20", "2026-10-18T00:00:30Z")
    last = engy.journal.last.usage
    assert last is not None
    usage.append(last.total_tokens)
    assert seen() == (200, str(20 - usage[0]), "2026-10-18T00:00:30Z")
    assert seen() == (429, "0", "2026-10-18T00:00:30Z")
    engy.clock.advance(30)
    assert seen() == (200, "20", "2026-10-18T00:01:00Z")


def test_quota_counts_are_atomic(engy: EngyMock):
    """Eight callers at once: not one request more than the quota gets through."""
    engy.when().reply("one", faults=[{"kind": "quota-refill", "requests": 30}])
    statuses: list[int] = []

    def caller() -> None:
        for _ in range(10):
            statuses.append(tell(engy).status)

    threads = [Thread(target=caller) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (statuses.count(200), statuses.count(429)) == (30, 50)


def test_brown_out(engy: EngyMock):
    """The share of failures rises; the same run fails at the same places."""
    rule = {"kind": "brown-out", "from": 0.1, "to": 0.9, "requests": 100}

    def run() -> list[int]:
        engy.reset()
        engy.when().reply("one", faults=[rule])
        return [tell(engy, seed=number).status for number in range(200)]

    first = run()
    assert set(first) == {200, 503}
    early, late = first[:50].count(503), first[100:].count(503)
    assert 5 <= early <= 25
    assert 80 <= late <= 98
    assert run() == first
    engy.reset()
    engy.when().reply("one", faults=[{"kind": "brown-out", "from": 0.0, "to": 0.0}])
    assert {tell(engy, seed=number).status for number in range(20)} == {200}
    engy.when(says="now").reply("one", faults=[{"kind": "brown-out", "from": 1.0, "status": 529}])
    engy.reset()
    engy.when().reply("one", faults=[{"kind": "brown-out", "from": 1.0, "status": 529}])
    assert tell(engy).status == 529


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_fail_over(engy: EngyMock, route: str, stream: bool):
    """Another name wherever one stands, and nothing else."""
    engy.when().reply("one two", faults=[{"kind": "fail-over", "model": "a-spare-model"}])
    seen = ask(engy, route, stream=stream)
    asked = str(body_for(route, stream=stream)["model"]).encode()
    assert b'"model":"a-spare-model"' in seen.body
    assert b'"model":"%b"' % asked not in seen.body
    if route.endswith(("chat", "completions")):
        assert all(one["model"] == "a-spare-model" for one in (seen.documents if stream else [seen.document]))
    engy.reset()
    engy.when().reply("one two", faults=["fail-over"])
    assert b'"model":"%b-fallback"' % asked in ask(engy, route, stream=stream).body


def test_slow_tokenizer(engy: EngyMock):
    """The wait grows with the prompt."""
    engy.when().reply("one", faults=[{"kind": "slow-tokenizer", "per": 0.25}])
    for text in ("Hi", "Hi, how are you? " * 20):
        told = tell(engy, text=text)
        usage = json.loads(told.body)["usage"]
        assert waits(told) == [0.25 * usage["prompt_tokens"]]
    assert usage["prompt_tokens"] > 60


def test_cache_cold():
    """No cached tokens, though the prefix is known; the rest stays as it is."""
    own = catalogue()["cache-cold"]()
    usage = Usage(prompt_tokens=200, completion_tokens=3, cached_tokens=128)
    generation = Generation(choices=(Choice(text=("one",)),), usage=usage)
    retold = own.retold(generation, None)  # type: ignore[arg-type]  # it does not look at the occasion
    assert retold == replace(generation, usage=replace(usage, cached_tokens=0))


def test_cache_cold_in_an_answer(engy: EngyMock):
    """What the client is shown, and what it pays: the prompt at its full price."""
    usage = Usage(prompt_tokens=200, completion_tokens=3, cached_tokens=128)
    engy.when().reply("one", usage=usage, times=1)
    engy.when().reply("one", usage=usage, faults=["cache-cold"])
    warm, cold = (json.loads(tell(engy).body)["usage"] for _ in range(2))
    assert warm["prompt_tokens_details"]["cached_tokens"] == 128
    assert cold["prompt_tokens_details"]["cached_tokens"] == 0
    assert engy.journal[1].charged_micro > engy.journal[0].charged_micro
    assert named(engy) == [(), ("cache-cold",)]


def texts(engy: EngyMock, count: int, **more: Any) -> list[str]:
    """What so many answers say."""
    return [json.loads(tell(engy, **more).body)["choices"][0]["message"]["content"] for _ in range(count)]


@pytest.mark.parametrize(
    "more", [{"seed": 7}, {"temperature": 0}, {"temperature": 0, "seed": 7}, {"top_k": 1}], ids=str
)
def test_unstable_answer(engy: EngyMock, more: dict[str, Any]):
    """Same seed or greedy, and yet another answer each time; the next mock says the same in the same order."""
    assert len(set(texts(engy, 3, **more))) == 1
    engy.when().faults("unstable-answer")
    other = texts(engy, 3, **more)
    assert len(set(other)) == 3
    engy.reset()
    texts(engy, 3, **more)
    engy.when().faults("unstable-answer")
    assert texts(engy, 3, **more) == other
    assert named(engy)[3:] == [("unstable-answer",)] * 3


@pytest.mark.parametrize("stream", [False, True])
def test_retry_differs(engy: EngyMock, stream: bool):
    """The first attempt breaks off in the middle, the second is complete and says something else."""
    engy.when().reply("one two three four", faults=["retry-differs"])
    first, second = (ask(engy, stream=stream) for _ in range(2))
    assert not first.is_complete
    assert second.is_complete
    assert b"three" not in second.body
    if stream:
        assert b"two" in first.rest
        assert b"three" not in first.rest
        assert second.events[-1] == ("", "[DONE]")
    assert named(engy) == [("retry-differs",), ("retry-differs",)]
    assert [bool(entry.charged_micro) for entry in engy.journal] == [False, True]
    assert not ask(engy, stream=stream, text="Another question.").is_complete


def test_retry_differs_after(engy: EngyMock):
    """`after` says how much of the first attempt gets through."""
    engy.when().reply("one two three four", faults=[{"kind": "retry-differs", "after": 3}])
    seen = ask(engy)
    assert b"three" in seen.rest
    assert b"four" not in seen.rest


@pytest.mark.parametrize(("route", "begin"), [("chat", "x-ratelimit-"), ("messages", "anthropic-ratelimit-")])
def test_limit_headers_drift(engy: EngyMock, route: str, begin: str):
    """Nothing is left where an answer is given, plenty where it is refused."""

    def left(told: Told) -> list[str]:
        return [value for name, value in told.headers.items() if name.startswith(begin) and "remaining" in name]

    engy.when().refuse(429, faults=["limit-headers-drift"], times=1)
    engy.when().reply("one", faults=["limit-headers-drift"])
    refused, answered = tell(engy, route), tell(engy, route, stream=True)
    assert (refused.status, left(refused)) == (429, ["59"])
    assert (answered.status, left(answered)) == (200, ["0"])
    assert named(engy) == [("limit-headers-drift",)] * 2


@pytest.mark.parametrize("route", ROUTES)
def test_stream_refused(engy: EngyMock, route: str):
    """A stream is 400, the same question without one is answered, and calmly."""
    engy.when().reply("one", faults=["stream-refused"])
    streamed, whole = tell(engy, route, stream=True), tell(engy, route)
    assert (streamed.status, whole.status) == (400, 200)
    assert b"stream" in streamed.body
    assert [(entry.faults, entry.not_applied) for entry in engy.journal] == [(("stream-refused",), ()), ((), ())]


def test_stream_refused_for_a_model(engy: EngyMock):
    """Only the model that cannot; where no stream can be meant the rule is a mistake."""
    engy.when().faults({"kind": "stream-refused", "model": "kimi-k3"})
    assert tell(engy, stream=True, model="kimi-k3").status == 400
    assert tell(engy, stream=True).status == 200
    with pytest.raises(MockError, match=r"stream-refused.*can never apply.*streams only"):
        engy.when(stream=False).faults("stream-refused")


CALLED = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}]}
HISTORY = [{"role": "user", "content": "Go."}, CALLED, {"role": "tool", "tool_call_id": "c1", "content": "4"}]


@pytest.mark.parametrize(
    ("turn", "status"),
    [
        (CALLED, 400),
        ({**CALLED, "reasoning_content": ""}, 400),
        ({**CALLED, "reasoning_content": "Let me see."}, 200),
        ({"role": "assistant", "content": "Hello."}, 200),
    ],
)
def test_history_strict(engy: EngyMock, turn: dict[str, Any], status: int):
    """R-36: a turn that calls tools without reasoning is 400; in normal mode all are taken."""
    history = [HISTORY[0], turn, HISTORY[2]]
    assert tell(engy, messages=history).status == 200
    engy.when().faults("history-strict")
    told = tell(engy, messages=history)
    assert told.status == status
    if status == 400:
        assert json.loads(told.body)["error"]["param"] == "messages[1].reasoning_content"
    assert engy.journal.last.faults == (("history-strict",) if status == 400 else ())
    assert engy.journal.last.not_applied == ()


@pytest.mark.parametrize(
    ("wish", "provider", "status"),
    [
        (None, {"zdr": True}, 503),
        (None, {"require_proof": True}, 503),
        (None, {}, 200),
        ("zdr", {"zdr": True}, 503),
        ("zdr", {"require_proof": True}, 200),
        ("require_proof", {"require_proof": True}, 503),
    ],
)
def test_worker_gone(engy: EngyMock, wish: str | None, provider: dict[str, bool], status: int):
    """A wish that was met is not any more; requests without it are answered."""
    engy.when().faults("worker-gone" if wish is None else {"kind": "worker-gone", "wish": wish})
    told = tell(engy, provider=provider)
    assert told.status == status
    assert (status == 503) is (b"no worker meets" in told.body)


@pytest.mark.parametrize("stream", [False, True])
def test_cancel_unnoticed(engy: EngyMock, stream: bool):
    """Who leaves pays for all of it, where others pay for what they have got; staying costs the same."""
    engy.settings.one_event_per_write = True

    def left(*faults: Any, steps: int) -> int:
        engy.when().reply("one two three four", faults=[*faults, {"kind": "warm-up", "seconds": 1.0}])
        under_way = engy.gateway.answer(call(engy, stream=stream))
        assert isinstance(under_way, Planned)
        for _ in range(steps):
            next(under_way)
        under_way.close()
        entry = engy.journal.last
        assert (entry.client_left, entry.not_applied) == (True, ())
        assert engy.gateway.accounts.default.held_micro == 0
        engy.gateway.script.clear()
        return entry.charged_micro

    steps = 4 if stream else 1
    partly = left("reason-phrase", steps=steps)
    fully = left("reason-phrase", "cancel-unnoticed", steps=steps)
    assert engy.journal.last.faults[-1] == "cancel-unnoticed"
    assert engy.journal.last.usage is not None
    assert engy.journal.last.usage.completion_tokens >= 4
    assert partly < fully
    engy.when().reply("one two three four", faults=["cancel-unnoticed"])
    tell(engy, stream=stream)
    stayed = engy.journal.last
    assert (stayed.charged_micro, stayed.faults, stayed.not_applied) == (fully, (), ())


def test_cancel_unnoticed_at_the_socket(engy: EngyMock, monkeypatch: pytest.MonkeyPatch):
    """A client that hangs up in a pause is charged as if it had not."""
    closed = Event()
    close = Planned.close

    def noted(self: Planned) -> None:
        close(self)
        closed.set()

    monkeypatch.setattr(Planned, "close", noted)
    engy.when().reply(
        "one two three four", faults=["cancel-unnoticed", {"kind": "stall", "after": 1, "seconds": 600}]
    )
    raw = Raw(engy.port)
    headers = (f"Authorization: Bearer {engy.api_key}", "Content-Type: application/json")
    monkeypatch.setattr(type(engy.gateway.clock), "waits_for_real", lambda self: True)
    raw.send(request(PATHS["chat"], json.dumps(body_for("chat", stream=True)).encode(), *headers))
    raw.read_until(b"one")
    raw.leave()
    assert closed.wait(PATIENCE)
    entry = engy.journal.last
    assert (entry.client_left, entry.pieces_sent) == (True, 1)
    assert entry.usage is not None
    assert entry.usage.completion_tokens >= 4
    assert entry.charged_micro > 0


def test_occasions_know_who_is_there(engy: EngyMock):
    """What a behaviour may look at: uses, time, tokens, and who else is being answered."""
    seen: list[Occasion] = []
    own = catalogue()["cache-cold"]

    class Watching(own):  # type: ignore[misc,valid-type]  # a kind of the test's own
        def chosen(self, occasion: Occasion) -> tuple[()]:
            seen.append(occasion)
            return ()

    engy.when(says="wait").reply("...")
    engy.when().reply("one two", faults=[Watching()])
    waiting = {"text": "wait", "stream": True}
    tell(engy)
    engy.clock.advance(5)
    with held_open(engy, 1, **waiting), held_open(engy, 1, **waiting, key="sk-engy-another"):
        tell(engy)
    first, second = seen
    assert (first.use, first.since, first.tokens, first.open_requests, first.open_of_key) == (0, 0.0, 0, 1, 1)
    assert (second.use, second.since, second.open_requests, second.open_of_key) == (1, 5.0, 3, 2)
    assert engy.journal[0].usage is not None
    assert second.tokens == engy.journal[0].usage.total_tokens
    assert first.memory is second.memory
    assert not math.isinf(second.now)
