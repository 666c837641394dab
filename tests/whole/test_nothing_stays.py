"""What a refused request leaves behind: nothing that only the garbage collector could take away.

A server looks for garbage so rarely that what waits for it is as good as kept.
"""

import gc
import gzip
import json
import logging
import tracemalloc

import pytest

from engy_mock import EngyMock, Limits
from engy_mock.vocabulary.errors import ApiError
from tests.doors.raw import Raw, request

CAP = 1 << 20
BOMBS = 30
BOMB = gzip.compress(bytes(CAP + 1), mtime=0)
HEADERS = ("Authorization: Bearer sk-engy-any", "Content-Type: application/json")
HELLO = {"role": "user", "content": "hello"}
LARGE = b"x" * (CAP + 1)


@pytest.fixture
def engy():
    with EngyMock(limits=Limits(body_bytes=CAP, lingering_seconds=0.3)) as engy:
        yield engy


@pytest.fixture(autouse=True)
def _no_collector(engy):
    """Nobody looks for garbage, and memory is watched."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.enable()


def refusals():
    return sum(isinstance(one, ApiError) for one in gc.get_objects())


@pytest.fixture
def kept(_no_collector):
    """How many refusals have stayed since the test began; the last of a connection may wait for its successor."""
    before = refusals()  # tests that ran earlier may keep theirs
    return lambda: refusals() - before


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v5/chat/completions", "/nowhere"])
def test_many_bombs_leave_nothing(engy, path, kept):
    """Q-12: each unpacks to the cap, and all of that is gone with its answer."""
    with Raw(engy.port) as raw:
        for bomb in range(BOMBS):
            raw.send(request(path, BOMB, *HEADERS, "Content-Encoding: gzip"))
            assert raw.read_answer()[0][9:12] in (b"413", b"404", b"401")
            if bomb == 0:  # from here on all is loaded that is needed
                tracemalloc.clear_traces()
    assert tracemalloc.get_traced_memory()[0] < 8 * CAP
    assert kept() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("framing", ["Content-Encoding: gzip", "Transfer-Encoding: chunked"])
def test_large_bodies_that_are_read_in_parts_leave_nothing(engy, framing, kept):
    """Q-11: also where aiohttp reads them, as an `Expect` makes sure."""
    body = BOMB if "gzip" in framing else b"%x\r\n%b\r\n0\r\n\r\n" % (len(LARGE), LARGE)
    for bomb in range(BOMBS):
        with Raw(engy.port) as raw:
            raw.send(request("/v1/chat/completions", body, *HEADERS, framing, "X-Odd: \xe9", "Connection: close"))
            assert raw.read_answer()[0].startswith(b"HTTP/1.1 413 ")
        if bomb == 0:
            tracemalloc.clear_traces()
    assert tracemalloc.get_traced_memory()[0] < 12 * CAP
    assert kept() <= 1


@pytest.mark.slow
def test_bombs_inside_the_process_leave_nothing(engy, kept):
    """Q-12: a client without a socket is no different."""
    with engy.http_client() as client:
        for bomb in range(BOMBS):
            answer = client.post(
                engy.base_url + "/chat/completions",
                content=BOMB,
                headers={**dict(line.split(": ") for line in HEADERS), "Content-Encoding": "gzip"},
            )
            assert answer.status_code == 413
            if bomb == 0:
                tracemalloc.clear_traces()
    assert tracemalloc.get_traced_memory()[0] < 8 * CAP
    assert kept() <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no JSON" + LARGE[:-100], 400),
        (json.dumps({"model": "glm-5.2", "messages": [], "x": "y" * 900_000}).encode(), 400),
        (json.dumps({"model": "nobody", "messages": [{"role": "user", "content": "y " * 400_000}]}).encode(), 404),
    ],
    ids=["no JSON", "a field", "no model"],
)
def test_refused_bodies_do_not_outlive_their_entries(engy, body, status, kept):
    """What the journal keeps of a body is cut, and an error keeps nothing of it."""
    with Raw(engy.port) as raw:
        for bomb in range(BOMBS):
            raw.send(request("/v1/chat/completions", body, *HEADERS))
            assert raw.read_answer()[0][9:12] == str(status).encode()
            if bomb == 0:
                tracemalloc.clear_traces()
    engy.reset()
    assert tracemalloc.get_traced_memory()[0] < 8 * CAP
    assert kept() <= 1


@pytest.mark.slow
def test_only_the_first_defect_keeps_where_it_happened(engy, caplog):
    """The reasons of all stay for whoever looks for them; what was asked does not."""
    caplog.set_level(logging.CRITICAL, "engy_mock")

    def broken(request):
        raise ZeroDivisionError("a rule that cannot be right")

    engy.when().reply(broken)
    body = json.dumps({"model": "glm-5.2", "messages": [HELLO], "metadata": {"x": "y" * 900_000}}).encode()
    with Raw(engy.port) as raw:
        for _ in range(BOMBS):
            raw.send(request("/v1/chat/completions", body, *HEADERS))
            assert raw.read_answer()[0].startswith(b"HTTP/1.1 500 ")
    defects = list(engy.gateway.defects)
    engy.reset()
    assert tracemalloc.get_traced_memory()[0] < 16 * CAP
    assert [str(defect) for defect in defects] == ["a rule that cannot be right"] * BOMBS
    assert [defect.__traceback__ is not None for defect in defects] == [True] + [False] * (BOMBS - 1)


def test_keys_where_none_belongs_are_not_kept(engy):
    """Q-32: in the path, and in a header that is kept for another reason."""
    key = "sk-engy-" + "a" * 43
    with engy.http_client() as client:
        client.post(f"/v1/chat/completions/{key}", headers={"user-agent": f"app {key}"}, json={})
    entry = engy.journal.last
    assert (entry.path, entry.headers["user-agent"]) == ("/v1/chat/completions/sk-...", "app sk-...")
    assert key not in str(engy.journal) + repr(entry)
