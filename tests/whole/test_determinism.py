"""The same requests get the same bytes: in any process, under any hash seed, with any number of callers."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from engy_mock import EngyMock

CALLS: list[tuple[str, dict[str, object]]] = [
    ("/v1/chat/completions", {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}]}),
    (
        "/v1/chat/completions",
        {
            "model": "kimi-k3",
            "stream": True,
            "stream_options": {"include_usage": True},
            "logprobs": True,
            "top_logprobs": 5,
            "messages": [{"role": "user", "content": "Tell me about rivers, please. \u00e9\U0001f389"}],
        },
    ),
    (
        "/v1/chat/completions",
        {
            "model": "glm-5.3",
            "messages": [{"role": "user", "content": "Book a table"}],
            "tool_choice": "required",
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "book",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string"},
                                "when": {"type": "string", "format": "date-time"},
                                "email": {"type": "string", "format": "email"},
                            },
                            "required": ["name", "when", "email"],
                        },
                    },
                }
            ],
        },
    ),
    (
        "/v1/chat/completions",
        {
            "model": "qwen3.8-27b",
            "temperature": 1.5,
            "top_p": 1,
            "max_tokens": 64,
            "frequency_penalty": 1,
            "messages": [{"role": "user", "content": "What about trains?"}],
        },
    ),
    ("/v1/completions", {"model": "glm-5.2", "prompt": ["The old bridge", "A ship"], "max_tokens": 20}),
    (
        "/v1/completions",
        {"model": "glm-5.2", "prompt": "The old bridge", "echo": True, "logprobs": 30, "max_tokens": 3},
    ),
    ("/v1/chat/completions", {"model": "nope", "messages": [{"role": "user", "content": "Hello"}]}),
]

PROMISE = "39deb325355cbc810966b2280e5cb1c71c0cf7b3c8f1a99115030339631c7fc2"
"""Of everything but the values that Faker makes up, which may change with its releases."""

SCRIPT = """
import hashlib, sys
from engy_mock import EngyMock
from tests.whole.test_determinism import CALLS, captured
with EngyMock(seed=int(sys.argv[1])) as engy:
    print(hashlib.sha256(b"".join(captured(engy, path, body) for path, body in CALLS)).hexdigest())
"""


def captured(engy: EngyMock, path: str, body: object) -> bytes:
    """Everything that comes back on a connection of its own, head included."""
    return asyncio.run(_captured(engy.port, path, body, engy.api_key))


async def _captured(port: int, path: str, body: object, key: str) -> bytes:
    data = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.fixture
def other() -> Iterator[EngyMock]:
    with EngyMock() as engy:
        yield engy


@pytest.mark.parametrize(("path", "body"), CALLS)
def test_two_mocks_send_the_same_bytes(engy, other, path, body):
    """D-1, D-4: with a fresh mock, and after other requests."""
    first = captured(engy, path, body)
    captured(other, "/v1/completions", {"model": "glm-5.2", "prompt": "Something else", "max_tokens": 4})
    assert captured(other, path, body) == first


def test_processes_under_other_hash_seeds_send_the_same_bytes():
    """D-3: two new processes, two hash seeds, one digest; another seed of the mock gives another."""

    def run(hash_seed: str, seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, seed],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.strip()

    here = run("1", "0")
    assert len(here) == 64
    assert run("2", "0") == here
    assert run("1", "7") != here


async def test_32_parallel_callers_get_what_one_gets(engy, other):
    """D-2: each caller's capture is the same, alone or among 32; equal requests share one set of ids."""

    def bodies() -> list[tuple[str, dict]]:
        return [
            (path, {**body, "user": str(n)}) for n in range(5) for path, body in CALLS if body["model"] != "nope"
        ][:32]

    alone = [await _captured(engy.port, path, body, engy.api_key) for path, body in bodies()]
    together = await asyncio.gather(*(_captured(other.port, path, body, other.api_key) for path, body in bodies()))
    assert together == alone
    same = CALLS[0]
    first = {await _captured(engy.port, *same, engy.api_key) for _ in range(8)}
    second = set(await asyncio.gather(*(_captured(other.port, *same, other.api_key) for _ in range(8))))
    assert len(first) == 8
    assert first == second


def test_a_known_request_is_answered_as_the_first_time(engy):
    """An answer that is remembered differs from the first in its id alone."""
    path, body = CALLS[0]
    first, second = captured(engy, path, body), captured(engy, path, body)
    ids = [json.loads(answer.partition(b"\r\n\r\n")[2])["x_engy"]["request_id"] for answer in (first, second)]
    assert ids[0] != ids[1]
    for old, new in ((ids[1], ids[0]), (ids[1][:24], ids[0][:24]), (ids[1][:16], ids[0][:16])):
        second = second.replace(old.encode(), new.encode())
    assert second == first


def test_the_promise_of_this_version(engy):
    """D-5: this digest changes only together with an entry in the list of changes."""
    answers = b"".join(captured(engy, path, body) for path, body in CALLS if "tools" not in body)
    assert hashlib.sha256(answers).hexdigest() == PROMISE
