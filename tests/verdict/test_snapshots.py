"""A snapshot in the order of what was asked depends on what was asked alone, not on who came first."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from threading import Event

import pytest

from engy_mock import EngyMock

CHAT = "/v1/chat/completions"


def body(text="the same", **more):
    return {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], "max_tokens": 6, **more}


def quiet():
    """A mock whose answers do not depend on the prompts before them."""
    return EngyMock(settings={"prompt_cache": False})


def client_of(engy):
    return engy.http_client(base_url="http://localhost", headers={"Authorization": f"Bearer {engy.api_key}"})


RULES = {
    "a rate": lambda when: when().faults("empty-error", rate=0.5),
    "a rate and a number": lambda when: when().faults("empty-error", rate=0.5, times=5),
    "a number": lambda when: when().refuse(429, times=11),
    "several answers": lambda when: when().reply([f"answer {number}" for number in range(24)]),
    "places": lambda when: when(at=[2, 5, 9]).refuse(503),
    "places of a rate": lambda when: when(at=[2, 5, 9, 10, 11]).faults("empty-error", rate=0.5),
    "an answer, and faults with a number": lambda when: (when().reply("x"), when().faults("html-error", times=7)),
    "nothing": lambda when: None,
}


@pytest.mark.parametrize("write", RULES.values(), ids=RULES)
def test_the_same_by_threads(write):
    """E-14: equal requests of parallel callers stand in the order in which they were counted, with their ids."""

    def run(threads):
        engy = quiet()
        write(engy.when)
        with client_of(engy) as client, ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: client.post(CHAT, json=body()), range(24)))
        pairs = Counter((entry.status, entry.request_id) for entry in engy.journal)
        return engy.journal.snapshot(order="asked"), pairs

    alone = run(1)
    assert all(run(threads) == alone for threads in (2, 8, 8))


OVERTAKEN = {
    "a rate": lambda when, hold: when(hold).faults("empty-error", rate=0.5),
    "a number": lambda when, hold: when(hold).refuse(429, times=1),
    "places": lambda when, hold: when(hold, at=[2, 3]).refuse(503),
    "several answers": lambda when, hold: when(hold).reply(["first", "second", "third", "fourth"]),
}


@pytest.mark.parametrize("write", OVERTAKEN.values(), ids=OVERTAKEN)
def test_who_is_overtaken_counts_later(write):
    """A request that is held up on its way has the number and the id that fit its place among its equals."""

    def run(*, holds):
        engy = quiet()
        came, free = Event(), Event()

        def hold(request):
            if holds and not came.is_set():
                came.set()
                assert free.wait(20)

        write(engy.when, hold)
        with client_of(engy) as client, ThreadPoolExecutor(1) as pool:
            first = pool.submit(client.post, CHAT, json=body())
            assert came.wait(20) if holds else first.result()
            for _ in range(3):
                client.post(CHAT, json=body())
            free.set()
            first.result()
        pairs = Counter((entry.status, entry.request_id) for entry in engy.journal)
        return engy.journal.snapshot(order="asked"), pairs

    assert run(holds=True) == run(holds=False)


def other(**headers):
    return {"json": body(), "headers": {name.replace("_", "-"): value for name, value in headers.items()}}


def spaced(*texts):
    return [
        {"content": text.encode(), "headers": {"content-type": "application/json"}}
        for text in (json.dumps(body()), *texts)
    ]


def half(engy):
    engy.when().faults("empty-error", rate=0.5)


def by_header(engy):
    engy.when(header={"x-team": "red"}).reply("for the red ones")
    half(engy)


def by_key(engy):
    engy.when(key="sk-engy-two").reply("for the second key")
    half(engy)


def by_account(engy):
    engy.account(name="two", key="sk-engy-two")
    half(engy)


def nothing(engy):
    """No rules at all."""


USUAL = {"json": body()}

ASKED = {
    "a header that a rule looks at": (by_header, [USUAL, USUAL, other(x_team="red"), other(x_team="blue")]),
    "a key that a rule looks at": (by_key, [USUAL, USUAL, *[other(authorization="Bearer sk-engy-two")] * 2]),
    "accounts": (by_account, [USUAL, USUAL, USUAL, other(authorization="Bearer sk-engy-two")]),
    "keys that open nothing": (
        half,
        [USUAL, USUAL, other(authorization="Bearer x"), other(authorization="Basic x")],
    ),
    "other machines": (half, [USUAL, USUAL, other(host="one.example"), other(host="two.example")]),
    "types of content": (half, [USUAL, USUAL, *[other(content_type="text/plain")] * 2]),
    "headers that nobody looks at": (half, [USUAL, USUAL, other(user_agent="a"), other(traceparent="00-1")]),
    "heads, without a rule": (
        nothing,
        [USUAL, other(content_type="text/plain"), other(authorization="Bearer x"), other(host="one.example")],
    ),
    "bodies that nobody can unpack": (
        nothing,
        [{"content": b"x", "headers": {"content-encoding": "gzip"}}, {"content": b""}, USUAL],
    ),
    "white space": (half, spaced(json.dumps(body(), indent=1), json.dumps(body(), sort_keys=True) + " ")),
    "queries": (half, [{"url": f"{CHAT}?page={number % 2}", **USUAL} for number in range(4)]),
    "what is cut off": (half, [{"json": body("word " * 60_000 + end)} for end in "aab"]),
    "what is cut off and refused": (
        nothing,
        [{"json": body("y" * 300_000, temperature=wrong)} for wrong in ("x", "y", "z")],
    ),
    "refusals with faults": (
        lambda engy: engy.when(refused=400).faults("html-error", rate=0.5),
        [*[{"json": body(temperature="x")}] * 3, {"json": body(temperature="y")}],
    ),
    "heads that are answered before their bodies": (
        lambda engy: engy.when(header={"x-team": "red"}).faults("early-response", rate=0.5),
        [USUAL, *[other(x_team="red")] * 3],
    ),
}


@pytest.mark.parametrize(("prepare", "calls"), ASKED.values(), ids=ASKED)
def test_the_same_in_whatever_order(prepare, calls):
    """Each order of the same calls makes one snapshot: who differs in what matters is counted apart."""
    found = []
    orders = permutations(range(len(calls))) if len(calls) < 4 else ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1))
    for order in orders:
        engy = quiet()
        prepare(engy)
        with client_of(engy) as client:
            for place in order:
                call = {"url": CHAT} | calls[place]
                client.request("POST", **call)
        found.append(engy.journal.snapshot(order="asked"))
    assert len(found[0]) == len(calls)
    assert all(one == found[0] for one in found)


def test_attempts_stand_in_their_order(engy):
    """Sorted by their numbers, not by what came of them."""
    engy.when(says="again").refuse(429, times=2)
    with client_of(engy) as client:
        for text in ("other", "again", "again", "again"):
            client.post(CHAT, json=body(text))
    assert [one["status"] for one in engy.journal.snapshot(order="asked")] == [429, 429, 200, 200]


def test_the_usual_caller_has_the_usual_id(engy):
    """A rule for others does not change who is counted with whom, and so no id (E-14)."""

    def ids(**headers):
        with client_of(engy) as client:
            answers = [client.post(CHAT, json=body(), headers=headers) for _ in range(2)]
        return [answer.headers["x-request-id"] for answer in answers]

    usual = ids()
    engy.reset()
    engy.when(header={"x-team": "red"}).refuse(429)
    red = ids(**{"x-team": "red"})
    assert ids(**{"x-team": "blue"}) == usual
    assert len({*usual, *red}) == 4
