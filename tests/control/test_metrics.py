"""Counts and durations for Prometheus."""

import io
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engy_mock.serving.access_log import AccessLog
from tests.control.conftest import CONTROL
from tests.doors.raw import Raw, request


@pytest.fixture
def scrape(engy):
    """The samples by name and labels."""

    def read():
        with engy.http_client() as client:
            answer = client.get("/_mock/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    return read


def test_requests_are_counted_by_route_status_and_scenario(ask, scrape):
    ask.chat()
    ask.chat(key="bad")
    ask.engy.scenario("phases")
    ask.chat()
    found = scrape()
    assert found["engy_mock_requests_total", "", "/v1/chat/completions", "200"] == 1
    assert found["engy_mock_requests_total", "", "/v1/chat/completions", "401"] == 1
    assert found["engy_mock_requests_total", "/v1/chat/completions", "429", "phases"] == 1


def test_tokens_and_charges_add_up(ask, scrape):
    for text in ("one", "two"):
        ask.chat(text)
    entries = list(ask.engy.journal)
    found = scrape()
    route = "/v1/chat/completions"
    assert found["engy_mock_tokens_total", route, "completion"] == sum(
        one.usage.completion_tokens for one in entries
    )
    assert found["engy_mock_tokens_total", route, "prompt"] == sum(one.usage.prompt_tokens for one in entries)
    assert found["engy_mock_charged_micro_usd_total", route] == sum(one.charged_micro for one in entries) > 0


def test_faults_are_counted_whether_they_acted_or_not(ask, scrape):
    """Q-19: what was not applied is counted."""
    ask.engy.when(says="cut").reply("one two three four", faults=["cut"])
    with pytest.raises(Exception, match="closed"):
        ask.chat("cut", stream=True).read()
    ask.engy.when(says="whole").faults("response-done-appended")
    ask.chat("whole")
    assert ask.engy.journal.last.not_applied
    found = scrape()
    assert found["engy_mock_faults_total", "cut", "yes"] == 1
    assert found["engy_mock_faults_total", "no", "response-done-appended"] == 1


def test_durations_and_open_streams(ask, engy, scrape):
    engy.when(says="for ever").reply("one two three", faults=["stall"])
    body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "for ever"}]}
    headers = {"authorization": f"Bearer {engy.api_key}"}
    with engy.http_client() as client:
        with client.stream("POST", "/v1/chat/completions", json=body, headers=headers):
            assert scrape()["engy_mock_open_streams",] == 1
            assert scrape()["engy_mock_open_answers",] == 1
        assert client.get("/_mock/state", headers=CONTROL).json()["under_way"] == 0
    found = scrape()
    assert found["engy_mock_open_streams",] == 0
    assert found["engy_mock_answer_seconds_count", "/v1/chat/completions"] == 1
    assert found["engy_mock_first_byte_seconds_count", "/v1/chat/completions"] == 1


def test_what_clients_make_up_makes_no_new_rows(ask, engy, scrape):
    """Paths, methods and models of strangers never become labels."""
    with engy.http_client() as client:
        for number in range(5):
            client.get(f"/v1/canary-{number}")
            client.request(f"CANARY{number}", "/v1/models")
            ask.chat(model=f"canary-{number}")
    found = scrape()
    assert not [key for key in found if "canary" in str(key).lower()]
    assert found["engy_mock_requests_total", "", "-", "404"] == 5


def test_without_the_library_there_are_none(ask):
    """A page that says how to get them."""
    ask.engy._serving_shell().aside.house.metrics = None
    assert "install the extra" in ask("GET", "metrics", status=404)["error"]["message"]


def test_whoever_is_turned_away_at_the_door_is_counted(ask, engy, scrape):
    """What is no HTTP, a foreign name, a refused control call, and an answer that does not wait for a body."""
    log = io.StringIO()
    engy.watch.listeners.append(AccessLog(log, is_json=True))
    engy.when(endpoint="chat").faults("early-response")
    with engy:
        for data in (b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"):
            with Raw(engy.port) as raw:
                raw.send(data)
                raw.read_to_end()
        with Raw(engy.port) as raw:
            raw.send(request("/_mock/reset", b"{}", "Origin: https://evil.test", "Connection: close"))
            raw.read_to_end()
        with Raw(engy.port) as raw:
            raw.send(
                request(
                    "/v1/chat/completions", b"", "Content-Length: 100", f"Authorization: Bearer {engy.api_key}"
                )
            )
            raw.read_to_end()
        found = scrape()
    assert found["engy_mock_requests_total", "", "-", "400"] == 1
    assert found["engy_mock_requests_total", "", "-", "403"] == 2
    early = [key for key in found if key[0] == "engy_mock_requests_total" and "/v1/chat/completions" in key]
    assert [key[-1] for key in early] == ["413"]
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("-", "-", 400),
        ("GET", "-", 403),
        ("POST", "-", 403),
        ("POST", "/v1/chat/completions", 413),
    ]
    assert "evil" not in log.getvalue()
