"""`engy-mock campaign -- COMMAND`: what is run, how it is judged, and what comes out."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from time import sleep
from xml.etree import ElementTree as tree

import pytest

from engy_mock.campaigns.command import Commands
from engy_mock.campaigns.page import POLICY
from engy_mock.cli import main
from engy_mock.cli.progress import Progress
from engy_mock.scripting.scenario import from_file
from engy_mock.vocabulary.errors import MockError

CLIENT = """
import json, os, sys
from http.client import HTTPConnection, HTTPException

def ask(text, attempts=1):
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}]}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    for _ in range(attempts):
        connection = HTTPConnection(os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://"))
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status == 200:
            return json.loads(answer.read())["choices"][0]["message"]["content"]
    sys.exit(f"refused with {answer.status}")

"""

PARIS = 'ask("What is the capital of France?")'

REFUSING = "description: Refusals.\ntroubles:\n  - {refuse: 503, times: 1}\n"
EMPTY = """
description: Nothing is said.
kinds: 2
troubles:
  - {fault: content-empty, rate: 0.5}
  - {fault: cache-cold}
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refusing.yaml").write_text(REFUSING)
    (tmp_path / "empty.yaml").write_text(EMPTY)

    def run(code, *options):
        (tmp_path / "client.py").write_text(CLIENT + code)
        code = main(["campaign", *options, "--", sys.executable, "-S", "client.py"])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def outcomes(printed):
    """Name and outcome of each case, as the lines tell them."""
    return re.findall(r"^(?:ok|FAILED) +(\S+) +(\S+) ", printed, re.MULTILINE)


def test_a_client_that_copes(run):
    """It answers, after another attempt if need be; the exit code says that all is well."""
    code, printed, _ = run(
        f"print({PARIS[:-1]}, attempts=3))", "--profile", "refusing.yaml", "--seeds", "2", "--contains", "Paris"
    )
    assert (code, outcomes(printed)) == (0, [("refusing-0", "recovered"), ("refusing-1", "recovered")])
    assert "refuse 503" in printed
    assert "2 cases: 2 recovered; none failed" in printed


def test_a_client_that_reports(run):
    """A failure that is told is none, unless there has to be an answer, or other words for it."""
    given = ("--profile", "refusing.yaml", "--seed", "4")
    code, printed, _ = run(f"print({PARIS})", *given)
    assert (code, outcomes(printed)) == (0, [("refusing-4", "reported")])
    code, printed, _ = run(f"print({PARIS})", *given, "--must-answer")
    assert (code, outcomes(printed)) == (1, [("refusing-4", "reported")])
    code, printed, _ = run(f"print({PARIS})", *given, "--error", "no worker")
    assert (code, outcomes(printed)) == (1, [("refusing-4", "unreported")])
    assert "exit code 1, but no word of 'no worker'" in printed
    assert "stderr: refused with 503" in printed


ALL_REPORTS = ("--html", "out/page.html", "--junit", "out/junit.xml", "--json", "out/report.json")


@pytest.mark.slow
def test_a_client_that_is_silently_wrong(run, tmp_path):
    """It is found, made small, kept, and told in every report; the line that repeats it does."""
    code, printed, _ = run(
        f"print('<b>', {PARIS}, '\\x00&')",
        *("--profile", "empty.yaml", "--seeds", "4", "--contains", "Paris", "--shrink", "--save-plans", "kept"),
        *ALL_REPORTS,
    )
    assert code == 1
    report = json.loads((tmp_path / "out/report.json").read_text())
    wrong = [one for one in report["results"] if one["fails"]]
    assert wrong
    assert {one["outcome"] for one in wrong} == {"silently-wrong"}
    small = "content-empty at the 1st whole chat request that says 'What is the capital of France?'"
    assert {tuple(one["smallest"]) for one in wrong} == {(small,)}
    name = wrong[0]["name"]
    (rule,) = from_file(tmp_path / "kept" / f"{name}.yaml").rules
    assert rule.at == (1,)
    assert f"\n    {small}\n" in printed
    _check_junit((tmp_path / "out/junit.xml").read_bytes(), report)
    _check_page((tmp_path / "out/page.html").read_text(), report)
    assert main(shlex.split(wrong[0]["replay"])[1:]) == 1


def _check_junit(document, report):
    """One suite with a case for each, in the shape that all readers of such files share."""
    top = tree.fromstring(document)
    (suite,) = top
    assert (top.tag, suite.tag) == ("testsuites", "testsuite")
    for one in (top, suite):
        assert {"name", "tests", "failures", "errors", "time"} <= one.attrib.keys()
        assert (one.get("tests"), one.get("failures")) == (str(report["cases"]), str(report["failed"]))
    assert [case.get("name") for case in suite] == [one["name"] for one in report["results"]]
    for case, one in zip(suite, report["results"], strict=True):
        assert case.attrib.keys() == {"classname", "name", "time"}
        parts = [part.tag for part in case]
        assert parts == (["failure", "system-out", "system-err"] if one["fails"] else [])
        if parts:
            assert case[0].attrib.keys() == {"type", "message"}
            assert one["smallest"][0] in (case[0].text or "")
            assert case[1].text == "<b>  \ufffd&\n"


class _Page(HTMLParser):
    """What a page is made of: elements that are open, all that there are, and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.attributes, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def _check_page(text, report):
    """A page that is well formed, needs nothing else, and shows a mark for each case."""
    page = _Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "b>"} & set(page.names)
    assert not [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert page.names.count("circle") + page.names.count("path") == report["cases"]
    assert "<b>  \ufffd&" in page.text
    assert ("content", POLICY) in page.attributes


def is_gone(process: int) -> bool:
    """Whether a process that has been killed comes to its end, be it as a zombie."""
    for _ in range(500):
        try:
            if Path(f"/proc/{process}/stat").read_text().split(") ")[1][0] == "Z":
                return True
        except OSError:
            return True
        sleep(0.01)
    return False


@pytest.mark.slow
def test_a_command_that_never_ends(run, tmp_path):
    """It hangs, and is ended with all that it has started."""
    child = (
        "import subprocess, time\n"
        "children = [subprocess.Popen(['sleep', '600'], start_new_session=own) for own in (False, True)]\n"
    )
    waits = f"{child}open('child', 'w').write(' '.join([str(child.pid) for child in children]))\n"
    code, printed, _ = run(
        f"import os.path\nprint({PARIS})\nif os.path.exists('calm'):\n    exec({waits + 'time.sleep(600)'!r})\n"
        "open('calm', 'w')",
        *("--profile", "empty.yaml", "--seed", "0", "--timeout", "4"),
    )
    assert (code, outcomes(printed)) == (1, [("empty-0", "hung")])
    assert "not over after 4 seconds" in printed
    assert "never-ended" in printed
    same_group, other_session = map(int, (tmp_path / "child").read_text().split())
    assert is_gone(same_group)
    if sys.platform == "linux":
        assert is_gone(other_session)
    else:
        os.kill(other_session, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there the system tells what a command has started")
def test_what_a_command_leaves_behind(run, tmp_path):
    """A command that ends well leaves nothing running, not in a session of its own either."""
    code, _, _ = run(
        f"import subprocess\nprint({PARIS})\n"
        "left = subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=-3, stderr=-3)\n"
        "open('left', 'a').write(f'{left.pid}\\n')",
        *("--profile", "empty.yaml", "--seed", "0"),
    )
    assert code == 0
    pids = (tmp_path / "left").read_text().split()
    assert len(pids) == 2
    assert all(is_gone(int(pid)) for pid in pids)


@pytest.mark.parametrize("option", ["--html", "--junit", "--json", "--save-plans"])
@pytest.mark.parametrize("name", ["client.py/x", "client.py/x/y", "/dev/null/x"])
def test_reports_that_cannot_be_written_are_found_first(run, tmp_path, option, name):
    """The command has not been run once by then."""
    code, _, errors = run("open('ran', 'w')", "--seed", "1", option, name)
    assert code == 2
    assert f"{name}: cannot be written" in errors
    assert not (tmp_path / "ran").exists()


def test_looking_for_room_leaves_nothing(run, tmp_path):
    """A file that is there stays as it was, and one that is not is not made."""
    (tmp_path / "old.json").write_text("old")
    code, _, _ = run("sys.exit(3)", "--seed", "1", "--json", "old.json", "--html", "new.html")
    assert code == 2
    assert (tmp_path / "old.json").read_text() == "old"
    assert not (tmp_path / "new.html").exists()


DICTATING = """
description: Another answer than on a calm day.
rules:
  - {times: 1, refuse: 503}
  - reply: Rivers carry water to the sea.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "outcome", "reason"),
    [
        (f"print({PARIS[:-1]}, attempts=3))", "recovered", "dictates the answer, which is there"),
        (f"print('Paris' in {PARIS[:-1]}, attempts=3))", "recovered", "so nothing is expected of the output"),
        (f"print({PARIS[:-1]}, attempts=3).partition('Rivers')[0])", "silently-wrong", "but the output is empty"),
    ],
)
def test_dictated_answers_are_right(run, tmp_path, code, outcome, reason):
    """Where the scenario says what is answered, nobody can print what a calm day brings."""
    (tmp_path / "dictating.yaml").write_text(DICTATING)
    contains = () if "in" in code.split("(")[1] else ("--contains", "Paris")
    run(code, "--scenario", "dictating.yaml", *contains, "--equals-clean", "--json", "report.json")
    (result,) = json.loads((tmp_path / "report.json").read_text())["results"]
    assert result["outcome"] == outcome
    assert reason in result["reason"]
    assert result["fails"] == (outcome == "silently-wrong")


def test_a_refused_answer_is_not_dictated(run, tmp_path):
    """What never came through excuses nothing."""
    (tmp_path / "dictating.yaml").write_text(DICTATING + "    faults: [{kind: refuse-late}]\n")
    (tmp_path / "dictating.yaml").write_text("description: x\nrules: [{reply: One two., faults: [200-html]}]\n")
    code = f"try:\n    print({PARIS})\nexcept ValueError:\n    print('It is London.')"
    code, printed, _ = run(code, "--scenario", "dictating.yaml", "--contains", "Paris")
    assert (code, outcomes(printed)) == (1, [("dictating", "silently-wrong")])
    assert "the output lacks 'Paris'" in printed


STREAMING = """
import json, os, urllib.request
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "The capital of France?"}]}
text = ""
try:
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)):
        try:
            text += json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
        except (ValueError, LookupError):
            pass
except OSError:
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "last", "outcome", "words"),
    [
        ("no-finish-reason", "print('Answer:', text)", "silently-wrong", {"truncated-accepted"}),
        ("{kind: truncate, after: 14}", "print(text)", "silently-wrong", {"truncated-accepted"}),
        ("{kind: fail, after: 14}", "print(text)", "silently-wrong", {"silent-acceptance"}),
        ("{kind: fail, after: 0}", "print(text or 'sorry')", "reported", set()),
        ("{kind: fail, after: 0}", "print(text)", "silently-wrong", {"silent-acceptance", "gave-up"}),
        ("{kind: fail, after: 0}", "print('It is London.')", "silently-wrong", {"made-up-answer"}),
        ("{kind: fail, after: 0}", "print('My error:')", "reported", set()),
        ("html-error", "print(text or 'sorry')", "reported", set()),
        ("crlf", "print(text)", "answered", set()),
    ],
)
def test_what_is_printed_is_taken_for_the_answer(run, tmp_path, fault, last, outcome, words):
    """A command that ends well and prints what has no end has heard it, as `engy.heard` is told in pytest."""
    (tmp_path / "broken.yaml").write_text(f"description: x\nrules: [{{faults: [{fault}]}}]\n")
    run(STREAMING + last, "--scenario", "broken.yaml", "--json", "report.json")
    (result,) = json.loads((tmp_path / "report.json").read_text())["results"]
    assert (result["outcome"], {one["word"] for one in result["findings"]}) == (outcome, words)
    assert result["fails"] == (outcome == "silently-wrong")


INVENTING = f"""
try:
    print({PARIS})
except SystemExit:
    print("Asked:", file=sys.stderr)
    print("The capital of France is London.")
"""


def result_of(run, tmp_path, code, *options):
    """The result of the one case, as JSON has it."""
    given = () if "--scenario" in options else ("--profile", "refusing.yaml", "--seed", "4")
    run(code, *given, *options, "--json", "report.json")
    (result,) = json.loads((tmp_path / "report.json").read_text())["results"]
    return result


def test_an_invented_answer_is_found(run, tmp_path):
    """What is printed before exit code 0 is taken for the answer, of which nothing was sent."""
    result = result_of(run, tmp_path, INVENTING, "--fail-level", "never")
    assert (result["outcome"], result["fails"]) == ("silently-wrong", True)
    (finding,) = result["findings"]
    assert (finding["word"], finding["severity"]) == ("made-up-answer", "error")
    assert result["reason"] == f"exit code 0, but {finding['evidence']}"
    assert finding["evidence"] == (
        "the answer was a 503, and the client says it got an answer: 'The capital of France is London.', "
        "of which nothing was sent"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        (("--error", "London"), "reported"),
        (("--error", "Asked:"), "reported"),
        (("--error", "Rome", "--error", "503"), "silently-wrong"),
        (("--ignore", "made-up-answer"), "reported"),
        (("--contains", "The capital"), "answered"),
        (("--contains", "Paris"), "silently-wrong"),
        (("--contains", "Paris", "--error", "London"), "reported"),
    ],
)
def test_what_the_user_knows_of_the_output(run, tmp_path, options, outcome):
    """Words that are named are the report of a failure, whatever the exit code; the others are none."""
    result = result_of(run, tmp_path, INVENTING, *options)
    assert (result["outcome"], result["fails"]) == (outcome, outcome == "silently-wrong")


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--contains", "Paris"), ("--equals-clean",)], ids=["-", "has", "is"])
@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ("print('Error:', repr(refusal))", "reported"),
        ('print(\'{"error": {"status": 503}}\')', "reported"),
        ("print('failed:', refusal, file=sys.stderr)", "reported"),
        ("print('# Capitals'); print('failed:', refusal, file=sys.stderr)", "reported"),
        ("print('It is London.')", "silently-wrong"),
        ('print(\'{"error": null, "answer": "London"}\')', "silently-wrong"),
        ("print('It is London.'); print('retry failed', file=sys.stderr)", "silently-wrong"),
        ("print('{', '  \"error\": null,', '  \"answer\": \"London\"', '}', sep=chr(10))", "silently-wrong"),
        ("pass", "silently-wrong"),
        ("print('ready', file=sys.stderr)", "silently-wrong"),
    ],
)
def test_a_failure_that_is_told_is_reported(run, tmp_path, last, outcome, options):
    """A report is one with any oracle, on stdout or alone on stderr; what reports nothing is none with any."""
    (tmp_path / "always.yaml").write_text("description: x\nrules: [{refuse: 503}]\n")
    code = (
        f"print('ready', file=sys.stderr)\ntry:\n    answer = {PARIS}\n    print('# Capitals')\n    print(answer)"
    )
    code += f"\nexcept SystemExit as refusal:\n    {last}"
    result = result_of(run, tmp_path, code, "--scenario", "always.yaml", *options)
    assert (result["outcome"], result["fails"]) == (outcome, outcome == "silently-wrong"), result["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "outcome"),
    [("print('Error: no text')", "reported"), ("print('Try again in London')", "silently-wrong")],
)
def test_an_answer_that_cannot_be_used_may_be_reported(run, tmp_path, last, outcome):
    """The client got something that a fault had marred: to say so is no regular answer, other words are none."""
    (tmp_path / "marred.yaml").write_text("description: x\nrules: [{faults: [content-empty]}]\n")
    code = f"answer = {PARIS}\nif answer:\n    print(answer)\nelse:\n    {last}"
    result = result_of(run, tmp_path, code, "--scenario", "marred.yaml", "--contains", "Paris")
    assert (result["outcome"], result["fails"]) == (outcome, outcome == "silently-wrong"), result["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "outcome"),
    [("print('Lyon')", "silently-wrong"), ("pass", "silently-wrong"), ("print('error')", "reported")],
)
def test_the_answers_of_other_calls_are_no_report(run, tmp_path, last, outcome):
    """What came through before the last call failed says nothing of it."""
    (tmp_path / "second.yaml").write_text("description: x\nrules: [{at: [2], refuse: 503}]\n")
    code = f"print({PARIS})\ntry:\n    print({PARIS})\nexcept SystemExit:\n    {last}"
    result = result_of(run, tmp_path, code, "--scenario", "second.yaml")
    assert result["outcome"] == outcome
    assert all(one["severity"] == "error" for one in result["findings"][:1])


def test_time_that_is_granted_does_not_count():
    """A command may last longer by the seconds in which it was told to wait."""
    late = [sys.executable, "-S", "-c", "import time; time.sleep(0.4)"]
    assert Commands(late, 0.1).run(os.environ, lambda: 60.0).exit_code == 0
    assert Commands(late, 0.1).run(os.environ, lambda: 0.1).exit_code is None


WAITING = """
import json, os, time, urllib.error, urllib.request
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
messages = [{"role": "user", "content": "The capital of France?"}]
body = json.dumps({"model": "glm-5.2", "messages": messages}).encode()
while True:
    try:
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        answer = urllib.request.urlopen(urllib.request.Request(url, body, headers))
        break
    except urllib.error.HTTPError as refusal:
        time.sleep(float(refusal.headers["Retry-After"]))
print(json.load(answer)["choices"][0]["message"]["content"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "outcome"), [(6, "recovered"), (86400, "waiting")])
def test_who_waits_as_he_is_told_does_not_hang(run, tmp_path, seconds, outcome):
    """The timeout stands still meanwhile; a wait of a day is not sat through, and no fault of the client."""
    rule = f"{{times: 1, refuse: {{status: 429, retry_after: {seconds}}}}}"
    (tmp_path / "busy.yaml").write_text(f"description: x\nrules: [{rule}]\n")
    code, printed, _ = run(WAITING, "--scenario", "busy.yaml", "--timeout", "5", "--contains", "Paris")
    assert (code, outcomes(printed)) == (0, [("busy", outcome)])


@pytest.mark.slow
def test_cases_in_parallel_are_told_in_order(run, tmp_path):
    """With several jobs the same comes out, in the same order; only what was measured differs."""
    reports = []
    for jobs in ("1", "3"):
        run(
            f"print({PARIS})",
            *("--scenario", "spent-quota", "--profile", "empty.yaml", "--seeds", "3", "--contains", "Paris"),
            *("--shrink", "--jobs", jobs, "--json", f"{jobs}.json"),
        )
        report = json.loads((tmp_path / f"{jobs}.json").read_text())
        for one in (report["clean"], *report["results"]):
            one.pop("seconds")
        reports.append(report)
    assert reports[0] == reports[1]
    assert [one["name"] for one in reports[0]["results"]] == ["spent-quota", "empty-0", "empty-1", "empty-2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "options", "said"),
    [
        (
            "sys.exit('I am ill')",
            (),
            "the command fails on a calm day already (exit code 1); mend that first:\nI am ill",
        ),
        ("print(1)", (), "the command has asked the mock nothing: it finds it by OPENAI_BASE_URL"),
        (
            f"print({PARIS})",
            ("--contains", "Rome"),
            "fails on a calm day already (exit code 0, but the output lacks",
        ),
        (f"print({PARIS}, os.getpid())", ("--equals-clean",), "the command prints something else each time"),
        ("", ("--profile", "storm"), "there is no profile 'storm'. Did you mean 'stormy'?"),
        ("", ("--scenario", "busy-hou"), "there is no scenario 'busy-hou'. Did you mean 'busy-hour'?"),
        ("", ("--seed", "1", "--seeds", "2"), "--seed names plans, --seeds counts them: one of both"),
        (f"print({PARIS})", ("--seed", "1", "--ignore", "retry-strom"), "Did you mean 'retry-storm'?"),
        (f"print({PARIS})", ("--seed", "1", "--json", "client.py/x"), "client.py/x: cannot be written"),
    ],
)
def test_wrong_use(run, code, options, said):
    """What cannot be found out is told, with the exit code of wrong use."""
    result, _, errors = run(code, *options)
    assert result == 2
    assert said in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is no command: write it behind --"),
        (("--",), "there is no command: write it behind --"),
        (("--", "no-such-command-here"), "there is no command 'no-such-command-here' that could be run"),
    ],
)
def test_commands_that_there_are_not(words, said, capsys):
    """Nobody is left to guess."""
    assert main(["campaign", "--seed", "1", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [("--jobs", "0"), ("--timeout", "-1"), ("--seeds", "x"), ("--fail-level", "bad")]
)
def test_options_that_cannot_be(options, capsys):
    """argparse says which one and why."""
    with pytest.raises(SystemExit) as raised:
        main(["campaign", *options, "--", "true"])
    assert raised.value.code == 2
    assert options[0] in capsys.readouterr().err


def test_output_is_bounded():
    """What a command floods us with is read to its end, but kept only in part."""
    ran = Commands([sys.executable, "-S", "-c", "print('x' * 3_000_000)"], 60).run(os.environ)
    assert (ran.exit_code, ran.stdout.size) == (0, 3_000_001)
    assert len(ran.stdout.kept) == 1024 * 1024
    assert ran.stdout.tail(5).startswith("(1951425 more bytes were not kept)\n")


def test_nothing_is_started_when_all_is_over():
    """Whoever stops a campaign has stopped it."""
    commands = Commands(["true"], 5)
    commands.stop()
    with pytest.raises(MockError, match="has been stopped"):
        commands.run(os.environ)


class _Terminal(StringIO):
    def isatty(self):
        return True


def test_progress_is_for_terminals():
    """A bar where somebody looks, nothing elsewhere."""
    shown, hidden = _Terminal(), StringIO()
    for stream in (shown, hidden):
        progress = Progress(stream, 4)
        progress.show(1, "stormy-0")
        progress.clear()
    assert "[#######.......................] 1/4 stormy-0" in shown.getvalue()
    assert hidden.getvalue() == ""


@pytest.mark.slow
def test_a_broken_off_campaign_leaves_nothing_behind(tmp_path):
    """Ctrl-C ends it with what it has started."""
    client = tmp_path / "client.py"
    client.write_text(
        CLIENT + f"{PARIS}\nimport pathlib, time\np = pathlib.Path('pid')\np.exists() and time.sleep(99)\n"
    )
    client.write_text(client.read_text() + "p.write_text(str(os.getpid()))\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "engy_mock", "campaign", "--seeds", "9", "--", sys.executable, "-S", "client.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.PIPE,
        # Where the tests run in the background, the signal of Ctrl-C is ignored, and so it would be there.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    watched = tmp_path / "pid"
    while not watched.exists() and process.poll() is None:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    said = process.stderr.read().decode()
    assert "broken off" in said
    assert "Traceback" not in said
    process.stderr.close()
    # Python gives the signal itself for the exit code where it met the interpreter in the midst of a text that is
    # run as code, as classes of an import are. A shell says 130 of both.
    assert process.returncode in (130, -signal.SIGINT)
