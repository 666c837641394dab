"""What strangers can and cannot do, where no other test looks: named by the rules of the specification."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from engy_mock import EngyMock, Limits, MockError, UnmetExpectation
from engy_mock.books.entry import Entry
from engy_mock.books.journal import Journal, Usual
from engy_mock.dialects.routes import ROUTES
from engy_mock.serving.connections import handler_options
from engy_mock.vocabulary import json as house_json
from engy_mock.vocabulary.seeds import secret
from tests.control.conftest import Caller

TOP = Path(__file__).parents[2]
SCRIPT = "<script>alert(1)</script>"
KEY = {"authorization": "Bearer sk-engy-canary"}


OPENED: list[str] = []
"""Every file that this process has opened since somebody has cleared the list."""

sys.addaudithook(lambda event, args: OPENED.append(str(args[0])) if event == "open" else None)


@pytest.fixture
def engy():
    return EngyMock()


def post(engy, path, body, **headers):
    with engy.http_client() as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post(path, content=body, headers={"content-type": "application/json", **KEY, **named})


def test_idle_connections_live_longer_than_pools_keep_them():
    """R-7, Q-16: pools of clients keep a connection for 90 seconds."""
    assert Limits().idle_seconds >= 120
    assert handler_options(Limits())["keepalive_timeout"] == Limits().idle_seconds
    assert (Limits().header_seconds, Limits().body_seconds, Limits().max_connections) == (10, 60, 2048)


def test_caps_are_those_that_were_asked_for():
    """Q-11, Q-18, Q-19."""
    limits = Limits()
    assert (limits.body_bytes, limits.answer_seconds) == (32 * 2**20, 1800)
    assert (limits.max_stalls, limits.stall_seconds) == (256, 600)


@pytest.mark.parametrize("pattern", ["(a+)+$", ".*", "[a-z]+"])
def test_words_of_rules_are_no_patterns(engy, pattern):
    """Q-20: they are compared as they stand, so that no text makes them slow."""
    engy.when(says=pattern).reply("met")
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "a" * 40 + "b"}]}
    post(engy, "/v1/chat/completions", json.dumps(body).encode())
    assert engy.journal.last.rule is None
    body["messages"][0]["content"] = f"x {pattern} x"
    post(engy, "/v1/chat/completions", json.dumps(body).encode())
    assert engy.journal.last.rule is not None


@pytest.mark.parametrize(
    "headers", [{"X-A": "a\r\nSet-Cookie: b"}, {"X-A\r\nX-B": "a"}, {"X-A": "a\nb"}, {"X-A": "\x00"}, {"": "a"}]
)
def test_headers_in_scripts_are_checked_when_they_are_written(engy, headers):
    """Q-21: no control characters, or the client would be left without an answer."""
    with pytest.raises(MockError, match="header"):
        engy.when().refuse(503, headers=headers)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_foreign_text_is_never_html(engy, route):
    """Q-22, Q-48: what is repeated is JSON or an event; no answer is sniffed, all name the same server."""
    with engy.http_client() as client:
        for body in (b"{}", json.dumps({"model": SCRIPT, "prompt": SCRIPT}).encode(), SCRIPT.encode()):
            answer = client.request(
                route.method,
                route.path.replace("{name}", SCRIPT),
                content=body,
                headers={**KEY, "x-api-key": SCRIPT, "content-type": "application/json"},
            )
            assert answer.headers["content-type"].partition(";")[0] in ("application/json", "text/event-stream")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["server"] == "engy-mock"


def test_a_page_in_place_of_json_is_always_the_same(engy):
    """Q-22: `200-html` repeats nothing of the request."""
    engy.when().faults("200-html")
    pages = set()
    for text in ("Hello!", SCRIPT):
        body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}]}
        answer = post(engy, "/v1/chat/completions", json.dumps(body).encode())
        assert answer.headers["content-type"].startswith("text/html")
        pages.add(answer.text)
    assert len(pages) == 1
    assert SCRIPT not in pages.pop()


def test_text_in_scenarios_is_text(tmp_path):
    """Q-23: nothing in it is run or filled in."""
    text = "{{ ''.__class__ }} ${HOME} {0} %s"
    (tmp_path / "odd.yaml").write_text(f"description: x\nrules: [{{reply: {json.dumps(text)}}}]\n")
    engy = EngyMock(scenarios=[tmp_path / "odd.yaml"])
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello!"}]}
    answer = post(engy, "/v1/chat/completions", json.dumps(body).encode())
    assert answer.json()["choices"][0]["message"]["content"] == text


@pytest.mark.parametrize(
    "name", ["../busy-hour", "%2e%2e/busy-hour", "/etc/passwd", "busy-hour.yaml", "Busy", "..", "a" * 500, "a b"]
)
def test_a_request_opens_no_file_by_a_name_of_its_own(engy, name):
    """Q-26, Q-27: what is no name is refused, without the path of anything, before any file is looked at."""
    engy.settings.scenario_header = True
    body = b'{"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello!"}]}'
    with engy.http_client() as client:
        headers = {**KEY, "content-type": "application/json"}
        assert client.post("/v1/chat/completions", content=body, headers=headers).status_code == 200
        named = {**headers, "x-engy-mock-scenario": name}
        client.post("/v1/chat/completions", content=body, headers=named)  # loads what it needs to refuse
        OPENED.clear()
        answer = client.post("/v1/chat/completions", content=body, headers=named)
        assert OPENED == []
    assert answer.status_code == 400
    assert str(TOP) not in answer.text


def test_no_certificate_is_shipped():
    """Q-28: no key of anything stands in the package."""
    suffixes = {path.suffix for path in (TOP / "engy_mock").rglob("*") if path.is_file()}
    assert suffixes & {".pem", ".key", ".crt", ".p12", ".pfx", ".der"} == set()


def test_what_keeps_strangers_out_is_made_anew():
    """Q-8: no seed tells the secret of a page."""
    assert len({secret() for _ in range(100)}) == 100


def test_a_journal_that_has_lost_something_says_so(engy):
    """Q-35, Q-36: the oldest make room, they are counted, and who relies on them fails."""
    journal = Journal(lambda: Usual(journal_entries=3))
    for number in range(5):
        journal.add(Entry(method="GET", path=f"/{number}", body=b"", request_id=str(number)))
    assert ([entry.path for entry in journal], journal.lost) == (["/2", "/3", "/4"], 2)
    engy.gateway.journal = journal
    with pytest.raises(UnmetExpectation, match="2 earlier exchanges were dropped"):
        engy.verify()


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/chat/completions", b"{", {}),
        ("/v1/chat/completions", b'{"model": "sk-engy-canary-key"}', {}),
        ("/v1/sk-engy-canary-key", b"{}", {}),
        ("/v1/chat/completions", b"{}", {"authorization": "Bearer canary-key"}),
        ("/v1/messages", b'{"model": 5}', {"x_api_key": "sk-engy-canary-key"}),
        ("/v5/completions", b"[]", {"x_api_key": "canary-key"}),
        ("/v5/models", b'{"name": []}', {"x_api_key": "canary-key"}),
    ],
)
def test_refusals_tell_nothing_of_the_house(engy, path, body, headers):
    """Q-40: no key, no path of this machine, no traceback."""
    text = post(engy, path, body, **headers).text
    assert not re.search(r"canary-key|Traceback|File \"|/site-packages/|\.py\b", text)
    assert str(TOP) not in text


def test_a_defect_tells_nothing_of_the_house(engy, caplog):
    """Q-40, Q-46: the client hears that the mock failed, the log hears why."""

    def broken(request):
        raise RuntimeError(f"canary in {__file__}")

    engy.when(broken).reply("never")
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello!"}]}
    answer = post(engy, "/v1/chat/completions", json.dumps(body).encode())
    assert (answer.status_code, answer.json()["error"]["message"]) == (500, "the mock failed")
    assert "canary" not in answer.text
    assert [record.levelname for record in caplog.records if record.name == "engy_mock"] == ["ERROR"]


def test_a_defect_of_control_tells_nothing_either(monkeypatch, caplog):
    """Q-40: a plain 500, and an error in the log."""
    engy = EngyMock(control=True)
    monkeypatch.setattr(engy.gateway, "accounts", 5)
    assert Caller(engy)("GET", "accounts", status=500)["error"]["message"] == "the mock failed"
    assert [record.levelname for record in caplog.records if record.name == "engy_mock"] == ["ERROR"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), [{"a": float("nan")}]])
def test_what_json_lacks_is_not_written(value):
    """Q-47: but by the fault that is there for it."""
    with pytest.raises(ValueError, match="JSON has no number"):
        house_json.write(value)


def test_dependencies_have_floors_that_are_tried():
    """Q-49, Q-12: aiohttp is new enough, and a stage of CI installs the lowest versions that are allowed."""
    with (TOP / "pyproject.toml").open("rb") as file:
        requirements = tomllib.load(file)["project"]["dependencies"]
    [floor] = [re.match(r"aiohttp>=(\d+)\.(\d+)\.(\d+)", line) for line in requirements if "aiohttp" in line]
    assert floor is not None
    assert tuple(map(int, floor.groups())) >= (3, 14, 1)
    assert 'stage "tests with the lowest versions allowed"' in (TOP / ".ci" / "run").read_text(encoding="utf-8")
