"""The log has a line for each exchange, and nothing in it that should not be there (Q-38, Q-39)."""

import io
import json

import pytest

from engy_mock import EngyMock
from engy_mock.serving.access_log import AccessLog

HELLO = [{"role": "user", "content": "canary-body"}]
KEY = {"authorization": "Bearer sk-engy-canary"}


@pytest.fixture(params=[False, True], ids=["text", "json"])
def logged(request):
    """A mock, and what it has logged."""
    out = io.StringIO()
    engy = EngyMock()
    engy.watch.listeners.append(AccessLog(out, is_json=request.param))
    return engy, out, request.param


def test_a_line_for_each_exchange(logged):
    """Q-38: method, route, status, seconds, rule and faults."""
    engy, out, is_json = logged
    engy.when(says="cut").reply("one two three", faults=["cut"])
    with engy.http_client() as client:
        client.post("/v1/chat/completions", json={"model": "glm-5.2", "messages": HELLO}, headers=KEY)
        body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "cut"}], "stream": True}
        with pytest.raises(Exception, match="closed"):
            client.post("/v1/chat/completions", json=body, headers=KEY)
        client.delete("/v5/models/canary-name", headers={"x-api-key": "canary"})
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    if is_json:
        first, second, third = map(json.loads, lines)
        assert (first["method"], first["route"], first["status"]) == ("POST", "/v1/chat/completions", 200)
        assert (second["rule"], second["faults"]) == ("when(says='cut')", ["cut"])
        assert (third["method"], third["route"], third["status"]) == ("DELETE", "/v5/models/{name}", 404)
    else:
        assert "  POST  /v1/chat/completions  200  " in lines[0]
        assert "rule: when(says='cut')  fault: cut" in lines[1]


def test_no_body_no_query_no_header(logged):
    """Q-38, Q-9: a canary in each place where a client can put one."""
    engy, out, _ = logged
    with engy.http_client() as client:
        client.post(
            "/v1/chat/completions?canary=1",
            json={"model": "canary-model", "messages": HELLO, "user": "canary"},
            headers={**KEY, "user-agent": "canary", "x-canary": "canary", "cookie": "canary=1"},
        )
        client.get("/canary/path")
        client.options("/v1/models", headers={"origin": "http://localhost:5173"})
        client.get("/v1/models", headers={"authorization": "Bearer sk-engy-canary"})
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert "OPTIONS" in lines[2]
    assert "/v1/models" in lines[2]
    assert "canary" not in out.getvalue()


def test_one_exchange_is_one_line(logged):
    """Q-39: whatever a rule or a method is called, no control character reaches a terminal."""
    engy, out, _ = logged
    name = "x\n[INFO] fake\x1b[2J"
    engy.when(model=name).refuse(500)
    engy.when(says=name).reply("one")
    with engy.http_client() as client:
        body = {"model": "glm-5.2", "messages": [{"role": "user", "content": name}]}
        client.post("/v1/chat/completions", json=body, headers=KEY)
        client.post("/v1/chat/completions", json={**body, "model": name}, headers=KEY)
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().count("\n") == 2


def test_a_reader_that_has_gone_does_no_harm():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    engy = EngyMock()
    engy.watch.listeners.append(AccessLog(Gone()))
    with engy.http_client() as client:
        assert client.get("/v1/models").status_code == 200
