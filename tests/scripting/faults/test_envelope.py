"""Faults of what stands around an answer, at the socket: ids, model, time, and fields that nobody expects."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scripting.captured import Capture
from tests.scripting.faults.compared import ALL, CHUNKED, FORMS, TEXT, Pair, Row, cases, documents, idle, run, text

RESPONSES = ("responses", "v5 responses")


def tops(seen: Capture) -> Iterator[dict[str, Any]]:
    """The objects that say what the answer is."""
    for document in documents(seen):
        for top in (document, document.get("message"), document.get("response")):
            if isinstance(top, dict) and "model" in top:
                yield top


def _others(pair: Pair, key: str) -> None:
    """All but this key is as it was."""

    def rest(seen: Capture) -> list[dict[str, Any]]:
        return [{name: value for name, value in top.items() if name != key} for top in tops(seen)]

    assert rest(pair.seen) == rest(pair.calm) != []


def ids_change(pair: Pair) -> None:
    ids = [one["id"] for one in pair.seen.documents]
    assert len(set(ids)) == len(ids) > 3
    assert ids[0] == pair.calm.documents[0]["id"]
    assert {(one.partition("-")[0], len(one)) for one in ids} == {(ids[0].partition("-")[0], len(ids[0]))}
    _others(pair, "id")


def fields(key: str, value: object):
    """The field has this value wherever it stands."""

    def check(pair: Pair) -> None:
        assert {repr(top[key]) for top in tops(pair.seen)} == {repr(value)}
        _others(pair, key)

    return check


def model_is_other(pair: Pair) -> None:
    (usual,) = {top["model"] for top in tops(pair.calm)}
    assert {top["model"] for top in tops(pair.seen)} == {f"{usual}-other"}
    _others(pair, "model")


def object_is_missing(pair: Pair) -> None:
    assert not any("object" in top for top in tops(pair.seen))
    _others(pair, "object")


def fingerprints_change(pair: Pair) -> None:
    found = [one["system_fingerprint"] for one in pair.seen.documents]
    assert len(set(found)) == len(found) > 3
    assert all(one.startswith("fp_") for one in found)
    _others(pair, "system_fingerprint")


def created(change):
    def check(pair: Pair) -> None:
        key = "created_at" if pair.route in RESPONSES else "created"
        (usual,) = {top[key] for top in tops(pair.calm)}
        (found,) = {top[key] for top in tops(pair.seen)}
        assert (found, type(found)) == (change(usual), type(change(usual)))
        _others(pair, key)

    return check


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for key, item in value.items():
            if key not in ("input", "metadata", "tools", "x_extra"):
                yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def has_extras_everywhere(pair: Pair) -> None:
    found = [one for document in documents(pair.seen) for one in _objects(document)]
    assert all(one["x_extra"] == {"x": 1} for one in found)
    for one in found:
        del one["x_extra"]
    assert len(found) == sum(1 for document in documents(pair.calm) for _ in _objects(document))
    assert text(pair.seen) == text(pair.calm)


def is_deep(pair: Pair) -> None:
    for document in documents(pair.seen):
        depth, inside = 1, document["x_deep"]
        while inside:
            (inside,) = inside.values()
            depth += 1
        assert depth == 150
    assert text(pair.seen) == text(pair.calm)


def has_odd_numbers(pair: Pair) -> None:
    for document in documents(pair.seen):
        huge, below, large, small, tiny, zero, plus = document["x_odd_numbers"]
        assert (huge, below, large) == (123456789012345678901234567890, -math.inf, 1e308)
        assert (small, tiny, math.copysign(1, zero), plus) == (5e-324, 0.0, -1.0, 100.0)
    assert pair.seen.body.count(b"-1E400,1e308,5e-324,1E-400,-0.0,1E+2]") == len(documents(pair.calm))
    assert text(pair.seen) == text(pair.calm)


def has_keys_twice(pair: Pair) -> None:
    assert documents(pair.seen) == documents(pair.calm)
    payloads = [data for _, data in pair.seen.events if data.startswith("{")]
    for data in payloads if pair.is_streamed else [pair.seen.body.decode()]:
        keys = json.loads(data, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
        assert keys[: len(keys) // 2] == keys[len(keys) // 2 :] != []


STREAMS = (True,)
TIMED = (*CHUNKED, *RESPONSES)
ROWS = [
    Row(fault="id-changes", check=ids_change, routes=CHUNKED, forms=STREAMS),
    Row(fault="id-null", check=fields("id", None), routes=ALL),
    Row(fault="model-other", check=model_is_other, routes=ALL),
    Row(fault="object-missing", check=object_is_missing, routes=TIMED),
    Row(fault="fingerprint-changes", check=fingerprints_change, routes=CHUNKED, forms=STREAMS),
    Row(fault="created-odd", check=created(lambda time: time + 0.25), routes=TIMED),
    *[
        Row(fault={"kind": "created-odd", "value": value}, check=created(change), routes=("chat", "responses"))
        for value, change in (
            ("milliseconds", lambda time: time * 1000),
            (0, lambda _: 0),
            (None, lambda _: None),
        )
    ],
    Row(fault="extra-fields", check=has_extras_everywhere, routes=ALL),
    Row(fault="deep-extras", check=is_deep, routes=ALL),
    Row(fault="odd-numbers", check=has_odd_numbers, routes=ALL),
    Row(fault="duplicate-keys", check=has_keys_twice, routes=ALL),
]


@pytest.mark.slow
@pytest.mark.parametrize(("row", "route", "is_streamed"), cases(ROWS))
def test_envelope(engy, row, route, is_streamed):
    """The envelope is as the fault has it, and what is in it is what it was."""
    run(engy, row, route, is_streamed)


@pytest.mark.parametrize("is_streamed", FORMS)
def test_messages_say_no_time(engy, is_streamed):
    """Messages have neither a time nor a kind of object, and the journal says so."""
    idle(engy, "created-odd", "messages", is_streamed, TEXT)
    engy.reset()
    idle(engy, "object-missing", "messages", is_streamed, TEXT)
