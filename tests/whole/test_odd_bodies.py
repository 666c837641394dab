"""No body whatever gives a 5xx, a traceback or silence (Q-14, Q-15)."""

import gzip
import json
import random

import httpx2
import pytest

PATHS = ("/v1/chat/completions", "/v1/completions")

GOOD = {
    "/v1/chat/completions": {
        "model": "glm-5.2",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        ],
        "max_tokens": 5,
        "temperature": 0.5,
        "stop": ["x"],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": "auto",
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "reasoning": {"effort": "low"},
        "logit_bias": {"5": 1},
        "provider": {"zdr": True},
        "logprobs": True,
        "top_logprobs": 2,
    },
    "/v1/completions": {
        "model": "glm-5.2",
        "prompt": "The bridge",
        "max_tokens": 5,
        "echo": True,
        "logprobs": 2,
        "logprob_start_len": 1,
        "stop": "x",
        "seed": 3,
    },
}

ODD: list[object] = [
    None, True, False, 0, 1, -1, 0.5, -0.0, 1e308, 2**63, -(2**64), 10**30, "", "x", "\x00", "\u2028", "🎉" * 9,
    "a" * 5000, [], {}, [[]], [{}], [None], [1], [True], {"type": "x"}, {"type": "function"}, [0, 4095], [4096],
    [-1], {"": ""}, [["a"]], "auto", "none", "required", "glm-5.2", {"type": "json_schema"}, {"effort": "max"},
    [{"role": "user", "content": "x"}], [{"role": "tool"}], {"url": "data:image/png;base64,AAAA"},
    [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}],
    {"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#/nope"}}},
]  # fmt: skip


def mutated(chance: random.Random, value: object, depth: int = 0) -> object:
    """The value with something odd in it, or left out, or put in beside."""
    if depth > 4 or chance.random() < 0.12:
        return chance.choice(ODD)
    if isinstance(value, dict):
        made = {
            key: mutated(chance, item, depth + 1) if chance.random() < 0.35 else item
            for key, item in value.items()
            if chance.random() > 0.05
        }
        if chance.random() < 0.1:
            made[chance.choice(("x", "stream", "n", "user", "seed", "suffix"))] = chance.choice(ODD)
        return made
    if isinstance(value, list):
        return [mutated(chance, item, depth + 1) if chance.random() < 0.5 else item for item in value]
    return chance.choice(ODD) if chance.random() < 0.7 else value


def broken(chance: random.Random, body: bytes) -> bytes:
    """The bytes of a body with some of them lost, doubled or changed."""
    data = bytearray(body)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(data) + 1)
        what = chance.randrange(4)
        if what == 0:
            del data[place : place + chance.randrange(1, 30)]
        elif what == 1:
            data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5)))
        elif what == 2:
            data[place:place] = data[: chance.randrange(40)]
        else:
            data = bytearray(chance.choice((b"\xef\xbb\xbf", b"", b"\xff\xfe"))) + data
    return bytes(data)


def checked(answer: httpx2.Response) -> None:
    """Answered, or refused in the envelope, with nothing of the inside shown."""
    assert answer.status_code in (200, 400, 404, 413, 415), (answer.status_code, answer.text[:300])
    assert "Traceback" not in answer.text
    assert "pydantic" not in answer.text
    assert "X-Engy-Mock-Bug" not in answer.headers
    if answer.status_code != 200:
        error = answer.json()["error"]
        assert list(error) == ["message", "type", "param", "code"]
        assert len(error["message"]) < 900


@pytest.fixture
def http(engy):
    headers = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}
    with httpx2.Client(base_url=engy.origin, headers=headers, timeout=20) as client:
        yield client


def bombard(http: httpx2.Client, times: int) -> dict[int, int]:
    """So many odd bodies; returns how often each status came."""
    chance = random.Random(20261129)
    statuses: dict[int, int] = {}
    for turn in range(times):
        path = PATHS[turn % 2]
        value = mutated(chance, GOOD[path])
        try:
            body = json.dumps(value).encode()
        except ValueError:
            continue
        if chance.random() < 0.2:
            body = broken(chance, body)
        answer = http.post(path, content=body)
        checked(answer)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
    return statuses


def test_1000_odd_bodies(http):
    """A tenth of the whole, in the fast part; some of them are good enough for an answer."""
    statuses = bombard(http, 1_000)
    assert statuses[200] > 50
    assert statuses[400] > 300


@pytest.mark.slow
def test_10000_odd_bodies(http):
    """All of them, on one connection that stays in use."""
    statuses = bombard(http, 10_000)
    assert statuses[200] > 500
    assert statuses[400] > 3_000


HOSTILE = [
    pytest.param(b"[" * 100_000, id="deep-arrays"),
    pytest.param(b'{"a":' * 50_000, id="deep-objects"),
    pytest.param(b'{"model":' + b"9" * 5_000 + b"}", id="long-number"),
    pytest.param(b"\xef\xbb\xbf{}", id="byte-order-mark"),
    pytest.param('{"model":"é"}'.encode("latin-1"), id="latin-1"),
    pytest.param('{"model":"x"}'.encode("utf-16"), id="utf-16"),
    pytest.param(b'{"model":"\\ud800"}', id="lone-surrogate"),
    pytest.param(b'{"model":NaN}', id="nan"),
    pytest.param(b"null", id="null"),
    pytest.param(b'"x"', id="string"),
    pytest.param(b"[]", id="array"),
    pytest.param(b"7", id="number"),
    pytest.param(b"", id="empty"),
    pytest.param(b"{", id="open"),
    pytest.param(b"{}{}", id="two"),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", HOSTILE)
def test_what_is_no_json_object_is_400(http, path, body):
    """E-6: a reason in one line, and the connection can still be used."""
    answer = http.post(path, content=body)
    checked(answer)
    assert answer.status_code == 400
    assert http.post(path, json=GOOD[path]).status_code == 200


def test_other_content_types_are_415(http):
    """E-6, Q-13: nothing but JSON is read, and JSON by its name only."""
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"):
        answer = http.post(PATHS[0], content=b"{}", headers={"Content-Type": kind})
        checked(answer)
        assert answer.status_code == 415
    for kind in ("application/json; charset=utf-8", "application/vnd.api+json"):
        assert http.post(PATHS[0], json=GOOD[PATHS[0]], headers={"Content-Type": kind}).status_code == 200


def test_compressed_bodies(http):
    """Q-12: gzip is read; what does not unpack is 400, what unpacks to too much 413."""
    gz = {"Content-Encoding": "gzip"}
    good = gzip.compress(json.dumps(GOOD[PATHS[1]]).encode())
    assert http.post(PATHS[1], content=good, headers=gz).status_code == 200
    assert http.post(PATHS[1], content=b"not gzip", headers=gz).status_code == 400
    bomb = gzip.compress(b"[" + b" " * 40_000_000 + b"]")
    assert http.post(PATHS[1], content=bomb, headers=gz).status_code == 413
