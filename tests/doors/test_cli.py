"""The command line, as a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from engy_mock import __version__
from engy_mock.cli import main
from tests.doors.raw import PATIENCE, Raw, request

PRETEND = """
import sys
from tests.doors import pretend
from engy_mock.vocabulary.wire import Begin, Head, Wait, Write

def gateway(**arguments):
    made = pretend.Gateway(**arguments)
    made.answers["/v1/stall"] = pretend.says(Begin(Head(200, ())), Write(b"x"), Wait(float("inf")))
    made.answers["/v1/used"] = lambda call: iter([pretend.whole(repr(made.catalog.used).encode())])
    made.answers["/v1/hosts"] = lambda call: iter([pretend.whole(repr(made.settings.allowed_hosts).encode())])
    made.answers["/v1/warm"] = lambda call: iter([pretend.whole(repr(made.is_warm).encode())])
    made.answers["/v1/clock"] = lambda call: iter([pretend.whole(type(made.clock).__name__.encode())])
    return made

class Module:
    Gateway, Settings = staticmethod(gateway), pretend.Settings

sys.modules["engy_mock.gateway"] = Module
from engy_mock.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def serve():
    """Start a process that serves, on a port of its own; returns it, the port and its greeting."""
    processes = []

    def serve(*arguments):
        command = [sys.executable, "-c", PRETEND, "serve", "--port", "0", "--no-control", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout is not None
        greeting = ""
        while "-d '" not in greeting:
            line = process.stdout.readline()
            assert line, "it ended before it had greeted"
            greeting += line
        return process, int(re.search(r"http://127\.0\.0\.1:(\d+)/v1\n", greeting)[1]), greeting

    yield serve
    for process in processes:
        process.kill()
        process.communicate()


def answer(port, path):
    with Raw(port) as raw:
        raw.send(request(path))
        return raw.read_answer()[1]


def test_it_serves_what_it_announces(serve):
    """Ready means ready: address, key and model are there at the first line."""
    _, port, greeting = serve("--seed", "7")
    assert answer(port, "/v1/warm") == b"True"
    key = re.search(r"^key: (sk-engy-[\w-]{43})$", greeting, re.MULTILINE)[1]
    assert f"curl http://127.0.0.1:{port}/v1/chat/completions" in greeting
    assert f'"Authorization: Bearer {key}"' in greeting


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_peace(serve, number):
    """Also with a stall open; within two seconds, with code 0 and without a word (Q-45)."""
    process, port, _ = serve()
    with Raw(port) as raw:
        raw.send(request("/v1/stall"))
        raw.read_until(b"x")
        process.send_signal(number)
        raw.read_to_end()
        assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""


def test_a_busy_port_is_one_line(serve):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-c", PRETEND, "serve", "--port", str(port), "--no-control"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert re.fullmatch(rf"engy-mock: port {port} on 127\.0\.0\.1 is in use[^\n]*\n", done.stderr)
    assert done.stdout == ""


def test_models_take_their_own_tokenizers_and_templates(serve):
    _, port, _ = serve("--tokenizer", "glm-5.2=/a/t.json", "--chat-template", "kimi-k3=c.jinja")
    used = answer(port, "/v1/used").decode()
    assert used == "[('glm-5.2', PosixPath('/a/t.json'), None), ('kimi-k3', None, PosixPath('c.jinja'))]"


def test_hosts_and_clock_can_be_chosen(serve):
    _, port, _ = serve("--allow-host", "engy.test", "--wall-clock")
    assert answer(port, "/v1/hosts") == b"frozenset({'engy.test'})"
    assert answer(port, "/v1/clock") == b"WallClock"


def test_another_address_is_a_warning(serve):
    """Q-1: and only with a token for whoever wants to control it."""
    process, port, _ = serve("--host", "0.0.0.0", "--control-token", "open-sesame")
    assert answer(port, "/v1/x") == b"/v1/x"
    process.send_signal(signal.SIGTERM)
    assert process.communicate()[1].startswith("listening on 0.0.0.0: everybody who reaches this machine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["nope"], "invalid choice: 'nope'"),
        (["serve", "--port", "x"], "'x' is not a whole number"),
        (["serve", "--tokenizer", "glm-5.2"], "'glm-5.2' is not MODEL=PATH"),
        (["serve", "--chat-template", "=x"], "'=x' is not MODEL=PATH"),
        (["serve", "--port", "65536"], "65536 is no port"),
        (["serve", "--pace", "slwo"], "Did you mean 'slow'?"),
        (["serve", "--pace", "0"], "per_second is a number from 0.01"),
        (["serve", "--log-format", "jsn"], "Did you mean 'json'?"),
    ],
)
def test_wrong_words_are_explained(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_version_is_told():
    for command in (["-m", "engy_mock", "--version"], ["-c", PRETEND, "--version"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (0, f"engy-mock {__version__}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["scenarios schema", "scenarios list", "scenarios show busy-hour", "check busy-hour", "-h", "check -h"],
)
def test_a_reader_that_has_seen_enough(words):
    """What is piped into `head` ends quietly, as other tools do."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "engy_mock", *words.split()], stdout=writer, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writer)
    assert ended.stderr == b""
    assert ended.returncode in (141, *((0,) if "-h" in words else ()))  # argparse minds no pipe
