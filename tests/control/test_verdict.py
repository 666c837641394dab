"""The verdict over HTTP, for clients of any language, and on the command line."""

import json

import pytest

from engy_mock import EngyMock
from engy_mock.cli import main


def bad_day(ask):
    ask.engy.when(says="Hello").refuse(401, times=1)
    ask.chat()
    ask.chat()


def test_the_verdict(ask):
    bad_day(ask)
    found = ask("GET", "verdict")
    assert found["fails"]
    assert found["outcomes"] == {"recovered": 1}
    assert [one["word"] for one in found["findings"]] == ["retried-non-retryable"]
    assert found["calls"][0]["statuses"] == [401, 200]
    assert "error retried-non-retryable (exchange 0, 1): a 401 was tried again" in found["text"]


def test_its_query(ask):
    bad_day(ask)
    assert not ask("GET", "verdict?fail_level=never")["fails"]
    assert ask("GET", "verdict?ignore=retried-non-retryable,gave-up")["findings"] == []
    assert ask("GET", "verdict?since=2")["calls"] == []
    assert "Did you mean 'gave-up'?" in ask("GET", "verdict?ignore=gave-upp", status=400)["error"]["message"]
    ask("GET", "verdict?fail_level=fatal", status=400)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"text": ""}, ["silent-acceptance"]),
        ({"error": {"type": "TypeError", "message": "null"}}, ["error-class-lost"]),
        ({"error": {"type": "ApiError", "message": "failed", "status": 500}}, []),
        ({"text": "Sorry, ask again later.", "finish_reason": "stop"}, []),
    ],
)
def test_what_was_heard(ask, said, found):
    ask.engy.when().refuse(500)
    ask.chat()
    assert ask("POST", "heard", {**said, "of": ask.engy.journal.last.request_id}) == {"heard": 1}
    assert [one["word"] for one in ask("GET", "verdict")["findings"]] == found


@pytest.mark.parametrize("said", [{}, {"text": "x", "error": {}}, {"text": 1}, {"error": {"status": 7}}])
def test_what_cannot_be_heard(ask, said):
    ask("POST", "heard", said, status=400)
    assert ask.engy.journal.heard == ()


def test_an_exchange_has_one_number_everywhere(ask):
    """The same in the journal of a test, on the page, in texts of the verdict, and in copies: counted from 0."""
    bad_day(ask)
    told = ask("GET", "verdict")
    number = told["findings"][0]["exchanges"][1]
    assert number == 1
    assert "retried-non-retryable (exchange 0, 1)" in told["text"]
    assert ask.engy.journal[number].number == number
    assert str(ask.engy.journal).splitlines()[number].startswith("1. POST /v1/chat/completions")
    assert ask("GET", f"journal/{number}")["number"] == number
    assert f"def test_exchange_{number}(engy)" in ask("GET", f"copies/{number}")["pytest"]


def test_the_command_line(capsys):
    """The exit code tells a verdict that fails from one that does not, and both from none at all."""
    with EngyMock(control=True, control_token="open") as engy:
        command = ["verdict", "--url", engy.origin, "--control-token", "open"]
        assert main(command) == 0
        assert "nothing is wrong with the client" in capsys.readouterr().out
        engy.when().refuse(503)
        with engy.http_client() as client:
            body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}]}
            client.post("/v1/chat/completions", json=body, headers={"authorization": f"Bearer {engy.api_key}"})
        assert main([*command, "--fail-level", "warning", "--json"]) == 2
        found = json.loads(capsys.readouterr().out)
        assert [one["word"] for one in found["findings"]] == ["gave-up"]
        assert main([*command, "--fail-level", "warning", "--ignore", "gave-up"]) == 0
        capsys.readouterr()
        assert main(["verdict", "--url", engy.origin, "--control-token", "wrong"]) == 1
        assert "refuses with 401" in capsys.readouterr().err
    assert main(command) == 1
    assert "no mock with a control API" in capsys.readouterr().err


@pytest.mark.parametrize("behind", ["/", "/v1", "/v1/", "/v5"])
def test_the_command_line_takes_a_base_url(capsys, behind):
    """What clients are told is an address too."""
    with EngyMock(control=True, control_token="open") as engy:
        assert main(["verdict", "--url", engy.origin + behind, "--control-token", "open"]) == 0
    assert "nothing is wrong with the client" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("x", "--url: 'x' is no address of a mock: write http://127.0.0.1:8787"),
        ("localhost:8787", "is no address of a mock"),
        ("file:///etc/hostname", "is no address of a mock"),
        ("http://[::1", "is no address of a mock"),
        ("http://127.0.0.1:99999", "is no address of a mock"),
        ("http://127.0.0.1:1/v1", "no mock with a control API at http://127.0.0.1:1/_mock/verdict: "),
        ("http://127.0.0.1:1/a b", "no mock with a control API at http://127.0.0.1:1/a b/_mock/verdict: "),
    ],
)
def test_an_address_that_is_none(capsys, url, said):
    """One line tells what is wrong."""
    assert main(["verdict", "--url", url]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("engy-mock: ")
    assert said in line
