"""The server as a process, with all that it serves, and its options out of files and the environment."""

import json
import os
import re
import signal
import subprocess
import sys

import httpx2
import pytest

from engy_mock import EngyMock, MockError
from engy_mock.cli import main
from engy_mock.cli.files import Files
from engy_mock.cli.options import NAMES, chosen
from engy_mock.cli.pace import said_of
from engy_mock.cli.serving import made
from engy_mock.gateway.rehearsal import rehearse
from engy_mock.vocabulary.clock import WallClock
from engy_mock.vocabulary.wire import Call, Wait
from tests.control.conftest import CONTROL
from tests.doors.raw import PATIENCE, Raw, request

HELLO = [{"role": "user", "content": "Hello!"}]
GREEN = "description: x\nrules: [{reply: green}]\n"


@pytest.fixture
def serve(tmp_path):
    """Start a process that serves, from a folder of its own; returns it and what it greets with."""
    processes = []

    def start(*arguments, **environment):
        command = [sys.executable, "-m", "engy_mock", "serve", "--port", "0", *arguments]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )
        processes.append(process)
        greeting = ""
        while "-d '" not in greeting:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            greeting += line
        return process, greeting

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def origin_of(greeting):
    return re.search(r"http://127\.0\.0\.1:\d+", greeting)[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_peace(serve, tmp_path, number):
    """Q-45: with a stall, a live feed and an idle connection open; with code 0 and without a word."""
    (tmp_path / "silent.yaml").write_text("description: x\nrules: [{reply: one two, faults: [stall]}]\n")
    process, greeting = serve("--scenario", "./silent.yaml")
    port = int(origin_of(greeting).rpartition(":")[2])
    body = json.dumps({"model": "glm-5.2", "stream": True, "messages": HELLO}).encode()
    with Raw(port) as stalled, Raw(port) as feed, Raw(port) as idle:
        sent = request(
            "/v1/chat/completions", body, "Authorization: Bearer sk-engy-x", "Content-Type: application/json"
        )
        stalled.send(sent)
        stalled.read_until(b"data: ")
        feed.send(request("/_mock/feed", b"", "X-Engy-Mock-Control: 1", method="GET"))
        feed.read_until(b"exchanges of this mock")
        idle.send(request("/_mock/health", method="GET"))
        idle.read_answer()
        process.send_signal(number)
        stalled.read_to_end()
        assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_log_of_json_lines(serve):
    """Q-38: one line for each request, none for control, and nothing of what was sent."""
    process, greeting = serve("--log-format", "json")
    origin = origin_of(greeting)
    with httpx2.Client(trust_env=False) as client:
        client.get(f"{origin}/_mock/health")
        client.get(f"{origin}/v1/models?secret=canary")
        client.get(f"{origin}/canary")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("GET", "/v1/models", 200),
        ("GET", "-", 404),
    ]
    assert "canary" not in out


def test_other_addresses_need_a_token(tmp_path):
    """Q-1: everybody could change the mock."""
    command = [sys.executable, "-m", "engy_mock", "serve", "--port", "0", "--host", "0.0.0.0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    assert "--control-token" in done.stderr


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, without any option in the environment."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options(environment=None, **given):
    return chosen(given, environment or {})


def test_the_command_line_counts_first_then_the_environment_then_the_file(here):
    (here / "pyproject.toml").write_text('[tool.engy-mock]\nport = 1\nseed = 1\nallow_host = ["a.test"]\n')
    found = options({"ENGY_MOCK_SEED": "2", "ENGY_MOCK_PORT": "2"}, port=3)
    assert (found["port"], found["seed"], found["allow-host"], found["host"]) == (3, 2, ["a.test"], "127.0.0.1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.yaml", "port: 9\nscenario: [busy-hour, ./own.yaml]\nwall-clock: true\ntokenizer: {glm-5.2: t.json}\n"),
        (
            "x.toml",
            'port = 9\nscenario = ["busy-hour", "./own.yaml"]\nwall_clock = true\n'
            '[tokenizer]\n"glm-5.2" = "t.json"\n',
        ),
        (
            "pyproject.toml",
            '[tool.engy-mock]\nport = 9\nscenario = ["busy-hour", "./own.yaml"]\nwall-clock = "yes"\n'
            'tokenizer = ["glm-5.2=t.json"]\n',
        ),
    ],
)
def test_options_in_a_file(here, name, text):
    """Paths in it are seen from where it stands."""
    folder = here / "sub"
    folder.mkdir()
    (folder / name).write_text(text)
    for found in (options(config=f"sub/{name}"), options({"ENGY_MOCK_CONFIG": f"sub/{name}"})):
        assert (found["port"], found["wall-clock"]) == (9, True)
        assert found["scenario"] == ["busy-hour", os.path.join("sub", "own.yaml")]  # noqa: PTH118
        [(model, path)] = found["tokenizer"]
        assert (model, path.as_posix()) == ("glm-5.2", "sub/t.json")


def test_the_environment_has_lists_too(here):
    found = options({"ENGY_MOCK_SCENARIO": "a, b", "ENGY_MOCK_TOKENIZER": "m=p", "ENGY_MOCK_NO_CONTROL": "1"})
    assert (found["scenario"], found["no-control"]) == (["a", "b"], True)
    assert found["tokenizer"][0][0] == "m"


def test_without_any_file_all_is_as_by_default(here):
    (here / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    found = options()
    assert found["config"] is None
    assert set(found) == {"config", *NAMES}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port: x\n", "x.yaml, line 1, port: 'x' is not a whole number"),
        ("seed: 1\nprot: 9\n", "x.yaml, line 2, prot: there is no such option. Did you mean 'port'?"),
        ("pace: slwo\n", "Did you mean 'slow'?"),
        ("wall-clock: perhaps\n", "neither true nor false"),
        ("cors-origin: ['*']\n", "name each one that is meant"),
        ("port: [1]\n", "neither a text nor a number"),
        ("- port\n", "options are a mapping"),
        ("port: 1\nport: 2\n", "line 2"),
        ("host: !!python/object:x {}\n", "is not allowed"),
    ],
)
def test_mistakes_in_a_file_have_a_place(here, text, message):
    (here / "x.yaml").write_text(text)
    with pytest.raises(MockError) as caught:
        options(config="x.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.toml", "port = \n", "x.toml, line 1: not valid TOML"),
        ("x.toml", "seed = 1\nprot = 9\n", "x.toml, line 2, prot: there is no such option. Did you mean 'port'?"),
        ("pyproject.toml", "[tool.engy-mock]\nprot = 9\n", "pyproject.toml, [tool.engy-mock], prot"),
        ("pyproject.toml", "[tool.other]\n", "there is no table [tool.engy-mock]"),
        ("x.ini", "port = 9\n", "a YAML, JSON or TOML file is wanted"),
        ("none.yaml", None, "none.yaml: cannot be read"),
    ],
)
def test_mistakes_in_other_files_have_one_too(here, name, text, message):
    if text is not None:
        (here / name).write_text(text)
    with pytest.raises(MockError) as caught:
        options(config=name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ENGY_MOCK_PROT", "1", "ENGY_MOCK_PROT: there is no such option. Did you mean 'ENGY_MOCK_PORT'?"),
        ("ENGY_MOCK_PORT", "70000", "ENGY_MOCK_PORT: 70000 is no port"),
        ("ENGY_MOCK_TOKENIZER", "x", "'x' is not MODEL=PATH"),
    ],
)
def test_mistakes_in_the_environment_name_the_variable(here, variable, value, message):
    with pytest.raises(MockError) as caught:
        options({variable: value})
    assert message in str(caught.value)


VARIABLES = ["ENGY_MOCK_CONFIG", *["ENGY_MOCK_" + name.replace("-", "_").upper() for name in NAMES]]
WITH_VALUES = [name for name in NAMES if name not in ("wall-clock", "no-control")]


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_variable_says_nothing(here, text):
    """Descriptions of containers hand on what is not set as `${X:-}`."""
    assert options(dict.fromkeys(VARIABLES, text)) == options()
    (here / "pyproject.toml").write_text('[tool.engy-mock]\nhost = "::1"\n')
    assert options({"ENGY_MOCK_HOST": text})["host"] == "::1"


@pytest.mark.parametrize("name", ["config", *WITH_VALUES])
def test_an_empty_value_on_the_command_line_is_a_mistake(capsys, name):
    with pytest.raises(SystemExit) as caught:
        main(["serve", f"--{name}", ""])
    assert caught.value.code == 2
    assert f"argument --{name}: nothing is said here" in capsys.readouterr().err


@pytest.mark.parametrize("name", WITH_VALUES)
def test_an_empty_value_in_a_file_is_a_mistake(here, name):
    (here / "x.yaml").write_text(f"{name}: ''\n")
    with pytest.raises(MockError, match=rf"x\.yaml, line 1, {name}: nothing is said here"):
        options(config="x.yaml")


def mock_of(**given) -> tuple[EngyMock, Files]:
    files = Files({"log-format": "none", **given}, {})
    return made(files), files


def said(engy, **headers):
    with engy.http_client() as client:
        answer = client.post(
            "/v1/chat/completions",
            json={"model": "glm-5.2", "messages": HELLO},
            headers={"authorization": f"Bearer {engy.api_key}", **headers},
        )
    return answer.json()["choices"][0]["message"]["content"] if answer.status_code == 200 else answer.status_code


def save(path, text, number):
    """Write a file so that its time is another one, however fast tests are."""
    path.write_text(text)
    os.utime(path, (number, number))


def test_a_scenario_is_read_again_when_it_is_saved(here):
    """What is broken is told, and what was good goes on; also after a reset."""
    own = here / "own.yaml"
    save(own, GREEN, 1)
    engy, files = mock_of(scenario=["./own.yaml"])
    assert said(engy) == "green"
    files.look(engy)
    assert said(engy) == "green"
    save(own, "description: x\nrules: [{reply: blue}]\n", 2)
    files.look(engy)
    assert (said(engy), files.complaints) == ("blue", [])
    save(own, "description: x\nruels: []\n", 3)
    files.look(engy)
    assert said(engy) == "blue"
    [complaint] = files.complaints
    assert "line 2" in complaint
    assert "Did you mean 'rules'?" in complaint
    with engy.http_client() as client:
        assert client.get("/_mock/state", headers=CONTROL).json()["complaints"] == [complaint]
    engy.reset()
    assert said(engy) == "blue"
    save(own, GREEN, 4)
    files.look(engy)
    assert (said(engy), files.complaints) == ("green", [])
    own.unlink()
    files.look(engy)
    assert said(engy) == "green"
    assert "cannot be read" in files.complaints[0]


def test_a_scenario_stays_in_its_phase(here):
    own = here / "own.yaml"
    text = "description: x\nphases: [{name: a, rules: [{reply: one}]}, {name: b, rules: [{reply: two}]}]\n"
    save(own, text, 1)
    engy, files = mock_of(scenario=["./own.yaml"])
    engy.gateway.scenes.stage.scenes[0].go("b")
    save(own, text.replace("two", "three"), 2)
    files.look(engy)
    assert said(engy) == "three"


def test_what_is_saved_leaves_the_others_where_they_are(here):
    """A rule that is used up stays so if another file is saved."""
    save(here / "once.yaml", "description: x\nrules: [{reply: once, times: 1}]\n", 1)
    save(here / "own.yaml", GREEN, 1)
    engy, files = mock_of(scenario=["./once.yaml", "./own.yaml"])
    assert [said(engy), said(engy)] == ["once", "green"]
    save(here / "own.yaml", GREEN.replace("green", "blue"), 2)
    files.look(engy)
    assert said(engy) == "blue"


def control(engy, method, path, body=None):
    with engy.http_client() as client:
        return client.request(method, f"/_mock/{path}", json=body, headers=CONTROL)


@pytest.mark.parametrize("is_included", [False, True])
def test_a_scenario_that_is_switched_on_later_is_read_again_too(here, is_included):
    """Whoever has switched it on, and however soon it is saved; until it is off."""
    folder = here / "scen"
    folder.mkdir()
    own = folder / "own.yaml"
    save(own, GREEN, 1)
    (folder / "around.yaml").write_text("description: x\ninclude: [own]\n")
    engy, files = mock_of(scenarios=["scen"])
    name = "around" if is_included else "own"
    assert control(engy, "PUT", f"scenarios/{name}", {}).status_code == 200
    assert said(engy) == "green"
    for number, colour in enumerate(("blue", "red"), 2):
        save(own, GREEN.replace("green", colour), number)
        files.look(engy)
        assert said(engy) == colour
    save(own, "description: x\nruels: []\n", 4)
    files.look(engy)
    assert (said(engy), len(files.complaints)) == ("red", 1)
    engy.reset()
    files.look(engy)
    assert files.complaints == []
    save(own, GREEN, 5)
    files.look(engy)
    assert engy.gateway.scenes.stage.scenes == ()


def test_a_scenario_that_requests_ask_for_is_read_again_too(here):
    folder = here / "scen"
    folder.mkdir()
    own = folder / "own.yaml"
    save(own, GREEN, 1)
    engy, files = mock_of(**{"scenarios": ["scen"], "scenario-header": ["own"]})
    asking = {"X-Engy-Mock-Scenario": "own"}
    assert said(engy, **asking) == "green"
    save(own, GREEN.replace("green", "blue"), 2)
    files.look(engy)
    assert said(engy, **asking) == "blue"
    save(own, "description: x\nsettings: {strict: true}\n", 3)
    files.look(engy)
    assert said(engy, **asking) == "blue"
    assert "one alone cannot ask for it" in files.complaints[0]


def test_a_reset_needs_no_file(here):
    """What has been read is begun again, an included file that is broken by now too."""
    save(here / "own.yaml", GREEN, 1)
    save(here / "around.yaml", "description: x\ninclude: [own]\n", 1)
    engy, files = mock_of(scenario=["./around.yaml"])
    save(here / "own.yaml", "nonsense", 2)
    files.look(engy)
    engy.reset()
    assert (said(engy), len(files.complaints)) == ("green", 1)


def test_options_are_read_again_when_they_are_saved(here):
    """Those that can change in a running server do; the others are said to need another start."""
    save(here / "own.yaml", GREEN, 1)
    config = here / "c.yaml"
    save(config, "cors-origin: [https://a.test]\n", 1)
    engy, files = mock_of(config="c.yaml")
    assert engy.settings.cors_origins == {"https://a.test"}
    save(config, "cors-origin: [https://b.test]\nscenario: [./own.yaml]\nseed: 7\n", 2)
    files.look(engy)
    assert engy.settings.cors_origins == {"https://b.test"}
    assert said(engy) == "green"
    assert files.complaints == ["c.yaml: another start is needed for seed"]
    save(config, "scenario: [nope]\n", 3)
    files.look(engy)
    assert said(engy) == "green"
    assert "there is no scenario 'nope'" in files.complaints[0]


@pytest.mark.parametrize("name", ["pyproject.toml", "own.toml", "own.yaml"])
@pytest.mark.parametrize("trouble", ["away", "without a word of ours"])
def test_options_that_are_away_for_a_moment_go_on(here, name, trouble):
    """That is told, a reset loses nothing, and the file is read again when it is back."""
    given = {} if name == "pyproject.toml" else {"config": name}
    said_in = {
        "pyproject.toml": '[tool.engy-mock]\nscenario = ["./own-rules.yaml"]\naccounts = "accounts.yaml"\n',
        "own.toml": 'scenario = ["./own-rules.yaml"]\naccounts = "accounts.yaml"\n',
        "own.yaml": "scenario: [./own-rules.yaml]\naccounts: accounts.yaml\n",
    }[name]
    save(here / "own-rules.yaml", GREEN, 1)
    save(here / "accounts.yaml", "accounts: {poor: {balance_micro: 5}}\n", 1)
    save(here / name, said_in, 1)
    engy, files = mock_of(**given)
    if trouble == "away":
        (here / name).rename(here / "away")
    else:
        save(here / name, "[tool.other]\nx = 1\n" if name == "pyproject.toml" else "\n", 2)
    files.look(engy)
    assert (said(engy), len(files.complaints)) == ("green", 1)
    assert files.complaints[0].startswith(name)
    assert files.complaints[0].endswith("(what was good before goes on)")
    engy.reset()
    assert (said(engy), engy.accounts["poor"].balance_micro) == ("green", 5)
    if trouble == "away":
        (here / "away").rename(here / name)
    else:
        save(here / name, said_in, 3)
    files.look(engy)
    assert (said(engy), files.complaints) == ("green", [])
    save(here / "other.yaml", GREEN.replace("green", "blue"), 1)
    save(here / name, said_in.replace("own-rules", "other"), 4)
    files.look(engy)
    assert said(engy) == "blue"


def test_what_needs_another_start_is_told_while_it_does(here, caplog):
    """In the log as well, and no longer when all is as at the start."""
    config = here / "c.yaml"
    save(config, "seed: 1\n", 1)
    engy, files = mock_of(config="c.yaml")
    for number, text in enumerate(("seed: 7\nport: 9\n", "seed: 7\nport: 9\nallow-host: [a.test]\n"), 2):
        caplog.clear()
        save(config, text, number)
        files.look(engy)
        told = "c.yaml: another start is needed for port, seed"
        assert (files.complaints, [one.getMessage() for one in caplog.records]) == ([told], [told])
    assert engy.settings.allowed_hosts == {"a.test"}
    save(config, "seed: 1\n", 4)
    files.look(engy)
    assert (engy.settings.allowed_hosts, files.complaints) == (frozenset(), [])


@pytest.mark.parametrize("name", ["mine.json", "sub/mine.yaml", "mine.yml"])
def test_a_path_in_a_file_is_seen_from_there_whatever_it_ends_in(here, name):
    (here / "x" / "sub").mkdir(parents=True)
    (here / "x" / name).write_text('{"description": "x", "rules": [{"reply": "green"}]}\n')
    (here / "x" / "c.yaml").write_text(f"scenario: [{name}]\n")
    engy, _ = mock_of(config="x/c.yaml")
    assert said(engy) == "green"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scenarios": ["nowhere"]}, "nowhere: there is no such folder"),
        ({"scenarios": ["own.yaml"]}, "own.yaml: there is no such folder"),
        ({"scenario-header": ["nosuch"]}, "there is no scenario 'nosuch'"),
        ({"scenario-header": ["strict"], "scenarios": ["."]}, "one alone cannot ask for it"),
        ({"accounts": "nowhere.yaml"}, "nowhere.yaml: cannot be read"),
    ],
)
def test_what_there_is_not_is_told_at_the_start(here, given, message):
    (here / "own.yaml").write_text(GREEN)
    (here / "strict.yaml").write_text("description: x\nsettings: {strict: true}\n")
    with pytest.raises(MockError) as caught:
        mock_of(**given)
    assert message in str(caught.value)
    (here / "c.yaml").write_text(json.dumps(given))
    with pytest.raises(MockError) as caught:
        mock_of(config="c.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize("command", ["check busy-hour", "scenarios list", "scenarios show busy-hour"])
def test_a_folder_that_there_is_not_is_told(here, capsys, command):
    assert main([*command.split(), "--scenarios", "nowhere"]) == 1
    assert "nowhere: there is no such folder" in capsys.readouterr().err


def test_any_scenario_may_be_asked_for(here):
    engy, _ = mock_of(**{"scenario-header": ["*"]})
    assert said(engy, **{"X-Engy-Mock-Scenario": "nosuch"}) == 400


def test_accounts_out_of_a_file(here):
    """They are there again after each reset, and change when the file is saved."""
    path = here / "accounts.yaml"
    save(path, "accounts:\n  poor: {key: sk-engy-poor, balance_micro: 5}\n  default: {max_concurrent: 3}\n", 1)
    engy, files = mock_of(accounts="accounts.yaml")
    engy.accounts["poor"].deposit(10)
    engy.reset()
    assert (engy.accounts["poor"].balance_micro, engy.accounts["poor"].key) == (5, "sk-engy-poor")
    assert engy.accounts.default.max_concurrent == 3
    save(path, "accounts:\n  poor: {balance_micro: 7}\n", 2)
    files.look(engy)
    assert engy.accounts["poor"].balance_micro == 7
    assert not engy.accounts.default.max_concurrent
    save(path, "accounts:\n  poor: {balance: 7}\n", 3)
    files.look(engy)
    assert "line 2" in files.complaints[0]
    assert "Did you mean 'balance_micro'?" in files.complaints[0]


def books(engy):
    """All accounts with their terms and keys, without what they have spent."""
    return {
        one.name: (
            one.keys,
            one.max_concurrent,
            one.requests_per_minute,
            one.tokens_per_minute,
            one.discount_percent,
        )
        for one in engy.accounts
    }, {key: one.name for key, one in engy.accounts.by_key.items()}


FIRST = (
    "accounts:\n"
    "  a: {key: sk-engy-a, requests_per_minute: 1, discount_percent: 10}\n"
    "  b: {key: sk-engy-b}\n"
    "  default: {max_concurrent: 3, key: sk-engy-own}\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "accounts: {a: {key: sk-engy-a2}, b: {key: sk-engy-b}}\n",
        "accounts: {b: {key: sk-engy-a}}\n",
        "accounts: {a: {key: sk-engy-b}, b: {key: sk-engy-a}, c: {tokens_per_minute: 5}}\n",
        "accounts: {a: {}, default: {max_concurrent: 1}}\n",
        "accounts: {}\n",
    ],
)
@pytest.mark.parametrize("with_scenario", [False, True])
def test_accounts_read_again_are_as_if_the_file_had_always_been_so(here, text, with_scenario):
    """Limits, keys and accounts that have left it are no more, and a scenario's terms stay above them."""
    path = here / "accounts.yaml"
    save(here / "tight.yaml", "description: x\naccount: {max_concurrent: 2}\n", 1)
    given = {"accounts": "accounts.yaml", "scenario": ["./tight.yaml"] if with_scenario else []}
    save(path, FIRST, 1)
    engy, files = mock_of(**given)
    save(path, text, 2)
    other, _ = mock_of(**given)
    files.look(engy)
    assert (books(engy), files.complaints) == (books(other), [])
    engy.gateway.scenes.clear()
    other.gateway.scenes.clear()
    assert books(engy) == books(other)
    engy.reset()
    other.reset()
    assert books(engy) == books(other)


def test_who_stays_keeps_balance_and_charges(here):
    """The balance is another one only where the file has another one than before."""
    path = here / "accounts.yaml"
    save(path, "accounts: {a: {balance_micro: 50}, b: {balance_micro: 50}}\n", 1)
    engy, files = mock_of(accounts="accounts.yaml")
    for name in ("a", "b"):
        engy.accounts[name].hold(10).settle(10)
    mine = engy.account("mine", key="sk-engy-mine")
    save(path, "accounts: {a: {balance_micro: 50, max_concurrent: 1}, b: {balance_micro: 20}}\n", 2)
    files.look(engy)
    a, b = engy.accounts["a"], engy.accounts["b"]
    assert (a.balance_micro, a.charged_micro, a.max_concurrent) == (40, 10, 1)
    assert (b.balance_micro, b.charged_micro) == (20, 10)
    assert engy.accounts["mine"] is mine is engy.accounts.by_key["sk-engy-mine"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "accounts: {a: {key: sk-engy-q, balance_micro: 1}, b: {key: sk-engy-q}}\n",
            "accounts.b: this key belongs",
        ),
        ("accounts: {a: {key: sk-engy-q}, c: {key: sk-engy-mine}}\n", "'c' cannot have the key of account 'mine'"),
        ("accounts: {b: {balance_micro: 2}, a: {balance_micro: 5}}\n", "while 10 are held"),
        ("accounts: {a: {key: sk-engy-q}, b: {discount_percent: {nope: 5}}}\n", "accounts.b"),
        ("accounts: {a: {key: sk-engy-q}, b: {name: c}}\n", "the name is 'b' already"),
        ("accounts: []\n", "accounts"),
        ("", "accounts.yaml"),
        (None, "cannot be read"),
    ],
)
def test_a_broken_file_of_accounts_changes_nothing(here, text, complaint):
    """Also after a reset; when it is good again, it counts."""
    path = here / "accounts.yaml"
    save(path, FIRST, 1)
    engy, files = mock_of(accounts="accounts.yaml")
    engy.account("mine", key="sk-engy-mine")
    engy.accounts["a"].hold(10)
    before = books(engy), [one.balance_micro for one in engy.accounts]
    if text is None:
        path.unlink()
    else:
        save(path, text, 2)
    files.look(engy)
    assert (books(engy), [one.balance_micro for one in engy.accounts]) == before
    assert complaint in files.complaints[0]
    engy.reset()
    assert engy.accounts["a"].keys == ("sk-engy-a",)
    save(path, "accounts: {}\n", 3)
    files.look(engy)
    assert (len(engy.accounts), files.complaints) == (1, [])


def test_options_name_another_file_of_accounts(here):
    save(here / "c.yaml", "accounts: one.yaml\n", 1)
    save(here / "one.yaml", "accounts: {a: {}}\n", 1)
    save(here / "two.yaml", "accounts: {b: {}}\n", 1)
    engy, files = mock_of(config="c.yaml")
    save(here / "c.yaml", "accounts: three.yaml\nallow-host: [a.test]\n", 2)
    files.look(engy)
    assert "three.yaml: cannot be read" in files.complaints[0]
    assert ([one.name for one in engy.accounts], engy.settings.allowed_hosts) == (["default", "a"], frozenset())
    save(here / "c.yaml", "accounts: two.yaml\nallow-host: ['a:b']\n", 3)
    files.look(engy)
    assert "a:b" in files.complaints[0]
    assert [one.name for one in engy.accounts] == ["default", "a"]
    save(here / "c.yaml", "accounts: two.yaml\nallow-host: [a.test]\n", 4)
    files.look(engy)
    assert [one.name for one in engy.accounts] == ["default", "b"]
    engy.reset()
    assert [one.name for one in engy.accounts] == ["default", "b"]
    assert engy.settings.allowed_hosts == {"a.test"}
    save(here / "c.yaml", "seed: 0\n", 5)
    files.look(engy)
    assert [one.name for one in engy.accounts] == ["default"]


def test_options_name_another_scenario_of_the_same_name(here):
    for folder in ("x", "y"):
        (here / folder).mkdir()
        save(here / folder / "own.yaml", GREEN.replace("green", folder), 1)
    save(here / "c.yaml", "scenario: [x/own.yaml]\n", 1)
    engy, files = mock_of(config="c.yaml")
    save(here / "c.yaml", "scenario: [y/own.yaml]\n", 2)
    files.look(engy)
    assert (said(engy), files.complaints) == ("y", [])
    save(here / "c.yaml", "scenario: [x/own.yaml, y/own.yaml]\n", 3)
    files.look(engy)
    assert said(engy) == "y"
    assert "two scenarios are called own" in files.complaints[0]


def test_models_out_of_a_file(here):
    (here / "models.yaml").write_text(
        "models:\n"
        "  my-model: {like: glm-5.2, context: 1000, prices: {input: 1, output: 2, cached: 0.5}}\n"
        "  kimi-k3: {is_available: false}\n"
    )
    engy, _ = mock_of(models="models.yaml")
    cards = {card.id: card for card in engy.catalog}
    assert (cards["my-model"].context, str(cards["my-model"].prices.cached)) == (1000, "0.5")
    assert cards["kimi-k3"].is_available is False
    (here / "models.yaml").write_text("models: {new: {context: 5}}\n")
    with pytest.raises(MockError, match="A new model needs `like`"):
        mock_of(models="models.yaml")


@pytest.mark.parametrize("pace", ["slow", "realistic", "25", "glm-5.2:first_seconds=1/per_second=9/half_at=2"])
def test_a_pace_is_for_all_answers(here, pace):
    """It takes real time, so it comes with the wall clock."""
    engy, _ = mock_of(pace=[said_of(pace)])
    assert isinstance(engy.gateway.clock, WallClock)
    body = json.dumps({"model": "glm-5.2", "stream": True, "messages": HELLO}).encode()
    headers = {"authorization": f"Bearer {engy.api_key}"}
    call = Call(method="POST", path="/v1/chat/completions", headers=headers, body=body)
    _, steps = rehearse(engy.gateway, call)
    assert len([step for step in steps if isinstance(step, Wait)]) > 3


def test_a_pace_is_changed_while_the_server_runs(here):
    """In the file of options; a clock that stands runs from then on, or nobody would wait."""
    (here / "own.yaml").write_text("pace: [slow, 'kimi-k3:20']\n")
    engy, files = mock_of(config="own.yaml")
    engy.gateway.warm_up()
    files.prepare(engy)
    assert (engy.settings.pace, engy.settings.pace_by_model) == ("slow", {"kimi-k3": 20.0})
    save(here / "own.yaml", "pace: 30\n", 1)
    files.look(engy)
    assert (engy.settings.pace, engy.settings.pace_by_model, files.complaints) == (30.0, {}, [])
    save(here / "own.yaml", "pace: instant\n", 2)
    standing, files = mock_of(config="own.yaml")
    files.prepare(standing)
    assert not standing.clock.waits_for_real()
    save(here / "own.yaml", "pace: slow\n", 3)
    files.look(standing)
    assert (standing.settings.pace, files.complaints, standing.clock.waits_for_real()) == ("slow", [], True)


def test_a_pace_is_for_a_model_that_there_is(here, caplog):
    """At the start, and where the file is saved: what was good goes on."""
    (here / "own.yaml").write_text("pace: 'kimi-k3:20'\n")
    engy, files = mock_of(config="own.yaml")
    files.prepare(engy)
    save(here / "own.yaml", "pace: 'kimi:20'\n", 1)
    files.look(engy)
    assert "unknown model 'kimi'. Did you mean 'kimi-k3'?" in files.complaints[0]
    assert engy.settings.pace_by_model == {"kimi-k3": 20.0}
    with pytest.raises(MockError, match="unknown model 'kimi'"):
        mock_of(config="own.yaml")


def test_an_origin_on_the_command_line_is_one(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--cors-origin", "*"])
    assert "name each one that is meant" in capsys.readouterr().err


def test_no_scenario_comes_from_the_web(here):
    """Q-29: an address is no path of a file."""
    with pytest.raises(MockError, match="cannot be read"):
        mock_of(scenario=["http://evil.test/x.yaml"])
