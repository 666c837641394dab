"""Every block of the README runs as it stands there; only the port is another."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engy_mock.campaigns import profile
from engy_mock.campaigns.drawing import drawn
from engy_mock.cli import main
from engy_mock.scripting import forms

README = Path(__file__).parents[2] / "README.md"

BLOCK = re.compile(r"(?:<!-- ([a-z ]+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)

BLOCKS = [(mark, language, text) for mark, language, text in BLOCK.findall(README.read_text(encoding="utf-8"))]


def marked(mark: str) -> list[str]:
    """The blocks with this mark, in order."""
    return [text for own, _, text in BLOCKS if own == mark]


def test_every_block_has_a_mark_that_something_runs():
    """A block without a mark would be one that nobody tries."""
    known = {"serve command", "curl", "test command", "campaign command", "profile", "test", "run"}
    assert {mark for mark, _, _ in BLOCKS} == known
    assert len(marked("test")) >= 3
    assert len(marked("run")) >= 3


@pytest.mark.slow
def test_tests_of_the_readme_pass(pytester):
    """A reader who copies a test sees it pass; all of them in one run, as a file each."""
    blocks = marked("test")
    pytester.makepyfile(**{f"test_block_{place}": block for place, block in enumerate(blocks)})
    pytester.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
    )
    wanted = 0
    for block in blocks:
        wanted += len(re.findall(r"^(?:async )?def test_", block, re.MULTILINE))
        wanted += sum(int(seeds) - 1 for seeds in re.findall(r"engy_campaign\(seeds=(\d+)", block))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=wanted)


@pytest.mark.slow
@pytest.mark.parametrize("block", marked("run"))
def test_scripts_of_the_readme_run(block, tmp_path):
    """A reader who copies a script sees it end without a complaint."""
    script = tmp_path / "script.py"
    script.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("print(" in block) == bool(done.stdout)


def test_the_curl_is_answered(engy):
    """The first thing that a reader types brings a stream that ends regularly."""
    (command,) = marked("curl")
    assert "127.0.0.1:8787" in command
    done = subprocess.run(
        ["bash", "-c", command.replace(":8787", f":{engy.port}")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    events = done.stdout.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    text = "".join(
        choice["delta"].get("content") or ""
        for event in events[:-2]
        for choice in json.loads(event.removeprefix("data: "))["choices"]
    )
    assert text == "The capital of France is Paris."


CLIENT = """
import os
from openai import OpenAI

with OpenAI() as client:
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    print(client.chat.completions.create(model="glm-5.2", messages=messages).choices[0].message.content)
"""


@pytest.mark.slow
def test_the_campaign_runs(tmp_path, monkeypatch, capsys):
    """A reader who has a client of this name gets a verdict on it, and a page."""
    (command,) = marked("campaign command")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client.py").write_text(CLIENT)
    words = shlex.split(command.replace("python client.py", f"{shlex.quote(sys.executable)} client.py"))
    assert main(words[1:]) in (0, 1)
    assert "3 cases: " in capsys.readouterr().out
    assert "<svg" in (tmp_path / "campaign.html").read_text(encoding="utf-8")


def test_the_profile_is_one(tmp_path):
    """Plans can be drawn from it."""
    (text,) = marked("profile")
    (tmp_path / "mine.yaml").write_text(text)
    found = profile.named(tmp_path / "mine.yaml")
    assert all(1 <= len(drawn(found, seed).troubles) <= 2 for seed in range(20))


def test_the_commands_are_one_line_each():
    """Set-up is one command for the server and one for the tests; CI runs the second as it stands."""
    for mark, ending in (("serve command", "engy-mock serve"), ("test command", "pytest -n auto")):
        (command,) = marked(mark)
        assert command.count("\n") == 1
        assert command.rstrip().endswith(ending)


@pytest.mark.parametrize(
    "form",
    [
        *(forms.WhenForm, forms.ReplyForm, forms.ToolCallForm, forms.UsageForm, forms.RefuseForm, forms.RuleForm),
        *(forms.ScenarioForm, forms.ModelForm, forms.TermsForm, forms.PhaseForm, forms.UntilForm),
    ],
)
def test_every_key_stands_in_a_table(form):
    """Whoever writes rules and scenarios finds all keys at one place."""
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    told = set(re.findall(r"`(\w+)`", "\n".join(rows))) | {"when"}
    assert {field.alias or name for name, field in form.model_fields.items()} <= told


def test_the_table_of_contents_leads_to_all_headings():
    """In their order, by the anchors that forges make of them."""
    text = BLOCK.sub("", README.read_text(encoding="utf-8"))
    titles = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    anchors = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    assert re.findall(r"\[([^\]]+)\]\(#([\w-]+)\)", text) == list(zip(titles, anchors, strict=True))
