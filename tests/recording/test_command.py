"""`engy-mock record` and `engy-mock serve --cassette`, as processes of their own."""

import json
import os
import re
import signal
import ssl
import subprocess
import sys

import httpx2
import pytest

from engy_mock import EngyMock
from engy_mock.cli import main
from engy_mock.recording.cassette import read
from engy_mock.recording.tape import Tape
from engy_mock.serving.relay import Relay
from engy_mock.serving.server import listen
from engy_mock.serving.thread import ServerThread
from engy_mock.serving.upstream import upstream
from tests.doors.raw import PATIENCE
from tests.recording.conftest import REAL_KEY
from tests.recording.test_record import CHAT


@pytest.fixture
def start():
    """Start a command; returns its process and the first lines that it prints, up to one that fits."""
    processes = []

    def start(*arguments, until):
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "engy_mock", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "REAL_KEY": REAL_KEY},
        )
        processes.append(process)
        said = ""
        while not re.search(until, said):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        return process, said

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def ask(base_url):
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        return client.post(f"{base_url}/chat/completions", json=CHAT, headers={"Authorization": "Bearer any-key"})


@pytest.mark.slow
def test_record_then_serve(service, tmp_path, start):
    """What was recorded by one command is served by another, after both have ended in peace."""
    path = tmp_path / "france.yaml"
    arguments = ("--upstream", service.base_url, "--port", "0", "--cassette", str(path), "--key-env", "REAL_KEY")
    process, said = start("record", *arguments, until=r"key: .*\n")
    assert f"records {service.origin} to {path}" in said
    assert REAL_KEY not in said
    before = ask(re.search(r"base URL: (\S+)\n", said)[1])
    assert before.status_code == 200
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, errors) == (0, "1 exchanges recorded\n", "")
    process, said = start("serve", "--port", "0", "--cassette", str(path), until=r"-d '")
    base_url = re.search(r"serves at (\S+)\n", said)[1]
    assert ask(base_url).content == before.content
    assert ask(base_url).status_code == 500
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert errors == "france.yaml: POST /v1/chat/completions was recorded 1 times, and this is one more\n"


@pytest.mark.slow
def test_killed_between_two_exchanges(service, tmp_path, start):
    """Whatever the client has heard to the end is in the file, though the recorder never closes it."""
    path = tmp_path / "x.yaml"
    arguments = ("--upstream", service.base_url, "--port", "0", "--cassette", str(path), "--key-env", "REAL_KEY")
    process, said = start("record", *arguments, until=r"key: .*\n")
    base_url = re.search(r"base URL: (\S+)\n", said)[1]
    for _ in range(3):
        ask(base_url)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert [one.exchange for one in read(path).exchanges] == [1, 2, 3]
    assert read(path).notes == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--upstream", "http://127.0.0.1:1/v1", "--key-env", "NOT_SET"], "'NOT_SET' is not set"),
        (["--upstream", "nowhere"], "is no address of a service"),
        (["--upstream", "http://127.0.0.1:1/v1", "--cassette", "none/at/all.yaml"], "cannot be written"),
    ],
)
def test_what_cannot_be_recorded(capsys, monkeypatch, tmp_path, arguments, message):
    """Mistakes are told before anything is opened."""
    monkeypatch.chdir(tmp_path)
    assert main(["record", *arguments]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tls", "trusts", "status"),
    [("valid", True, 200), ("valid", False, 502), ("expired", True, 502), ("wrong-host", True, 502)],
)
def test_certificates_are_checked(tmp_path, tls, trusts, status):
    """A service that cannot show who it is gets neither the request nor the key."""
    with EngyMock(tls=tls) as engy:
        trust = ssl.create_default_context(cadata=engy.authority) if trusts else None
        tape = Tape(tmp_path / "x.yaml", engy.base_url)
        relay = Relay(upstream(engy.base_url, engy.api_key), tape, trust=trust)
        thread = ServerThread(relay, listen("127.0.0.1", 0), "127.0.0.1")
        thread.start()
        try:
            answer = ask(f"{thread.origin}/v1")
        finally:
            thread.stop()
            tape.close()
        assert answer.status_code == status
        assert len(engy.journal) == (status == 200)
    if status == 502:
        assert answer.json()["error"]["message"] == "the certificate of the upstream is not trusted"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('query: "x=1&sig={}"', "secret parameter"),
        ('body: {{text: "client_secret={}&x=1"}}', "secret parameter"),
        ('body: {{json: {{openai_api_key: "{}"}}}}', "secret field"),
        ('body: {{json: {{client_secret: {{a: ["{}"]}}}}}}', "secret field"),
        ('body: {{json: {{content: "export OPENAI_API_KEY={}"}}}}', "secret field"),
    ],
)
def test_check_finds_what_a_recorder_would_not_write(tmp_path, capsys, line, kind):
    """A cassette that somebody has changed is not good: line and kind are told, never the secret (Q-33)."""
    secret = "Zq7" + "w5Xk2Rt9Lm"
    path = tmp_path / "x.yaml"
    path.write_text(
        "---\nengy_mock_cassette: 1\n...\n---\nexchange: 1\nrequest:\n  method: POST\n  path: /v1/x\n"
        f"  {line.format(secret)}\nanswer:\n  status: 200\n...\n"
    )
    assert main(["check", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}, line 9: looks like a secret: {kind}\n"


def test_check_finds_a_secret_that_is_split_over_events(tmp_path, capsys):
    """The assembled text of a stream is looked at, as the recorder does (Q-34)."""
    secret = "sk-" + "a1B2" * 10
    told = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in (secret[:10], secret[10:])]
    texts = [json.dumps(f"data: {json.dumps(one)}\n\n") for one in told]
    events = "".join([f"    - {{at: 1, text: {text}}}\n" for text in texts])
    path = tmp_path / "x.yaml"
    path.write_text(
        "---\nengy_mock_cassette: 1\n...\n---\nexchange: 1\nrequest: {method: POST, path: /v1/x}\n"
        f"answer:\n  status: 200\n  events:\n{events}...\n"
    )
    assert main(["check", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}, line 10: looks like a secret: API key\n"
