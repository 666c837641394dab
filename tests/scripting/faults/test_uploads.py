"""Faults of uploads: answers that do not wait for the body, and invitations that never come."""

import json
import subprocess
import sys
import threading

import httpx2
import pytest

from engy_mock import EngyMock, Limits, MockError
from tests.doors.raw import Raw, request
from tests.scripting.captured import PATHS, ask, body_for
from tests.scripting.faults.official import HELLO

LARGE = 16 * 1024 * 1024


def head_of(engy, route, *headers, size=LARGE):
    """The head of a request whose body is so large."""
    lines = [f"Authorization: Bearer {engy.api_key}", f"x-api-key: {engy.api_key}"]
    lines += ["Content-Type: application/json", f"Content-Length: {size}", *headers]
    return request(PATHS[route], b"", *lines)


@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize("status", [401, 413, 429])
def test_an_answer_before_the_body(engy, route, status):
    """The refusal is there although not a byte of the body has been sent; then the connection ends."""
    engy.when().faults({"kind": "early-response", "status": status})
    with Raw(engy.port) as raw:
        raw.send(head_of(engy, route))
        head, body = raw.read_answer()
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"\r\nConnection: close\r\n" in head
        assert (b'"detail"' if route.startswith("v5") else b'"error"') in body
        assert raw.read_to_end() == (b"", "fin")
    entry = engy.journal.last
    assert (entry.status, entry.body, entry.charged_micro) == (status, b"", 0)
    assert entry.faults == ("early-response" if status == 413 else f"early-response status={status}",)
    assert entry.rule == "when()"
    assert engy.gateway.accounts.default.held_micro == 0


def test_pages_answer_before_the_body_too(engy):
    """A page whose request has a body is refused at once; one without a body cannot be, which is told."""
    engy.when(endpoint="count_tokens").faults("early-response")
    engy.when(endpoint="models").faults("early-response")
    with Raw(engy.port) as raw:
        lines = [f"Authorization: Bearer {engy.api_key}", "Content-Type: application/json"]
        raw.send(request("/v1/messages/count_tokens", b"", *lines, f"Content-Length: {LARGE}"))
        assert raw.read_answer()[0].startswith(b"HTTP/1.1 413 ")
        assert raw.read_to_end() == (b"", "fin")
    assert engy.journal.last.faults == ("early-response",)
    assert httpx2.get(f"{engy.base_url}/models").status_code == 200
    assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((), ("early-response",))


def test_who_still_sends_hits_a_closed_door(engy):
    """The rest of the body goes nowhere: a reset, or a broken pipe."""
    engy.when(endpoint="chat").faults("early-response")
    with Raw(engy.port) as raw:
        raw.send(head_of(engy, "chat"))
        with pytest.raises(ConnectionError):
            raw.send(bytes(LARGE))


def test_what_a_client_sees(engy):
    """A status, or only that the connection broke: it depends on who is faster."""
    engy.when(endpoint="chat").faults("early-response")
    headers = {"Authorization": f"Bearer {engy.api_key}", "Content-Type": "application/json"}
    with httpx2.Client(headers=headers) as client:
        try:
            status = client.post(f"{engy.base_url}/chat/completions", content=bytes(LARGE)).status_code
        except httpx2.TransportError:
            status = 413
    assert status == engy.journal.last.status == 413


def test_early_rules_count(engy):
    """`times` holds, and other routes, other keys and invalid keys are not touched."""
    engy.when(endpoint="chat", key=engy.api_key).faults("early-response", times=1)
    engy.when().reply("hello")
    assert ask(engy, "messages", stream=False).status == 200
    assert ask(engy, stream=False).status == 413
    assert ask(engy, stream=False).status == 200
    assert [entry.faults for entry in engy.journal] == [(), ("early-response",), ()]
    engy.when(header={"x-upload": "yes"}).faults("early-response")
    assert ask(engy, stream=False).status == 200
    assert ask(engy, stream=False, headers=["x-upload: yes"]).status == 413
    with httpx2.Client() as client:
        answer = client.post(
            f"{engy.base_url}/chat/completions", json={"messages": HELLO}, headers={"x-upload": "yes"}
        )
    assert answer.status_code == 401
    assert engy.journal.last.faults == ()


@pytest.mark.parametrize(("rate", "hit"), [(0.0, 0), (1.0, 20), (0.5, None)])
def test_rates_hold_at_the_door(engy, rate, hit):
    """D-6: the same share of the same requests, every time."""
    seen = []
    for _ in range(2):
        engy.reset()
        engy.when(endpoint="chat").faults({"kind": "early-response", "rate": rate})
        seen.append([ask(engy, stream=False).status for _ in range(20)])
    assert seen[0] == seen[1]
    assert seen[0].count(413) == hit or (hit is None and 3 <= seen[0].count(413) <= 17)


@pytest.mark.parametrize("route", ["chat", "messages", "v5 completions"])
def test_an_invitation_that_never_comes(engy, route):
    """The client waits; if it sends its body all the same, the answer is as usual."""
    engy.when().reply("hello")
    body = str(body_for(route, stream=False)).replace("'", '"').replace("False", "false").encode()
    head = head_of(engy, route, "Expect: 100-continue", size=len(body))
    with Raw(engy.port) as raw:
        raw.send(head)
        assert raw.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    engy.reset()
    engy.when().reply("hello", faults=["expect-100-never"])
    with Raw(engy.port) as raw:
        raw.send(head)
        assert raw.read_until_quiet(0.05) == b""
        raw.send(body)
        assert raw.read_answer()[0].startswith(b"HTTP/1.1 200 OK")
    entry = engy.journal.last
    assert (entry.faults, entry.not_applied, entry.status) == (("expect-100-never",), (), 200)
    assert entry.usage is not None
    assert engy.gateway.accounts.default.held_micro == 0


def test_who_does_not_ask_is_not_kept_waiting(engy):
    """D-8: where nobody waits for an invitation the journal says that the fault found no place."""
    engy.when().reply("hello", faults=["expect-100-never"])
    assert ask(engy, stream=False).status == 200
    assert engy.journal.last.not_applied == ("expect-100-never",)


@pytest.mark.parametrize(
    ("words", "hidden"), [({"model": "glm-5.2"}, "model"), ({"stream": True, "says": "x"}, "stream and says")]
)
@pytest.mark.parametrize("kind", ["early-response", "expect-100-never"])
def test_rules_that_look_at_the_body_come_too_late(engy, kind, words, hidden):
    """Only the head is there when these kinds act."""
    with pytest.raises(MockError, match=f"before the body is read, so that {hidden} cannot be looked at"):
        engy.when(**words).faults(kind)


def test_functions_look_at_the_body(engy):
    """A rule with a function fits once the body is there, which is too late; the journal says so."""
    engy.when(lambda request: True).faults("early-response")
    assert ask(engy, stream=False).status == 200
    assert engy.journal.last.not_applied == ("early-response",)


async def test_on_a_loop_of_the_test(aiohttp_client):
    """The application does the same for whoever runs it."""
    engy = EngyMock()
    engy.when().faults({"kind": "early-response", "status": 429})
    client = await aiohttp_client(engy.app())
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    answer = await client.post(PATHS["chat"], json=body_for("chat", stream=False), headers=headers)
    assert answer.status == 429


@pytest.mark.parametrize("route", PATHS)
def test_an_early_answer_inside(engy, route):
    """A client without a socket is told the same as one with it, whose body is there too late to count."""
    engy.when().faults("early-response")
    headers = {"Authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key}
    with engy.http_client() as client:
        answer = client.post(PATHS[route], json=body_for(route, stream=False), headers=headers)
    over_a_socket = ask(engy, route, stream=False)
    assert answer.status_code == over_a_socket.status == 413
    assert answer.content == over_a_socket.raw.partition(b"\r\n\r\n")[2]
    entry, other = engy.journal
    assert (entry.status, entry.body, entry.faults, entry.not_applied) == (413, b"", ("early-response",), ())
    assert (entry.path, entry.error) == (other.path, other.error)


@pytest.mark.parametrize("header", ["X-Plain: a", "X-Odd:  spaced"])
@pytest.mark.parametrize("is_handed_over", [False, True])
def test_a_rule_that_is_written_behind_the_head_is_too_late(header, is_handed_over):
    """On whatever connection, also on one that aiohttp takes over while the body is missing."""
    body = json.dumps({"model": "glm-5.2", "messages": HELLO}).encode()
    with EngyMock(limits=Limits(body_seconds=2 if is_handed_over else 60)) as engy, Raw(engy.port) as raw:
        raw.send(head_of(engy, "chat", header, size=len(body)) + body[:9])
        waiting = speaker(engy, None)
        engy.when().faults("early-response")
        if is_handed_over and header == "X-Plain: a":
            speaker(engy, waiting)
        raw.send(body[9:])
        assert raw.read_answer()[0].startswith(b"HTTP/1.1 200 ")
        assert engy.journal.last.not_applied


def speaker(engy, before):
    """Who is to answer, once it is another one than before."""
    while True:
        found = next(iter(engy._shell.turns.copy()), None)
        if found is not None and found is not before:
            return found
        threading.Event().wait(0.005)


LOADED = """
import sys
from engy_mock import EngyMock

def is_loaded():
    return "aiohttp" in sys.modules

folder, way = sys.argv[1:]
with EngyMock(scenario_folders=[folder]) as engy:
    engy.when().faults("reset", times=1)
    engy.when(key="x").reply("y")
    before = is_loaded()
    if way == "rule":
        engy.when().faults("early-response")
    elif way == "scenario":
        engy.scenario("early")
    print(before, is_loaded())
engy = EngyMock()
engy.when().faults("expect-100-never")
with engy:
    print(is_loaded())
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["rule", "scenario"])
def test_what_heads_need_is_loaded_with_the_rule(tmp_path, way):
    """No request waits for it, and without such a rule nobody does."""
    phases = "[{name: a}, {name: b, rules: [{faults: [early-response]}]}]"
    (tmp_path / "early.yaml").write_text(f"description: x\nphases: {phases}\n")
    command = [sys.executable, "-c", LOADED, str(tmp_path), way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]
