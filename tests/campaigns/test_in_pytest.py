"""The marker `engy_campaign`, in runs of pytest of its own."""

import re
from pathlib import Path

import pytest

from engy_mock.scripting.scenario import from_file

pytest_plugins = ["pytester"]

SETTINGS = (
    "-p",
    "no:cacheprovider",
    "-o",
    "asyncio_mode=auto",
    "-o",
    "asyncio_default_fixture_loop_scope=function",
)

CLIENT = """
import json
import os
from http.client import HTTPConnection

import pytest

def ask(text, attempts=1):
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], "max_tokens": 5}
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"}
    for _ in range(attempts):
        connection = HTTPConnection(os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://"))
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            break
    return status

"""

REFUSING = "description: Refusals.\ntroubles:\n  - {refuse: {status: [503, 529]}, rate: 0.5}\n"

NAIVE = """
@pytest.mark.engy_campaign(seeds=6, profile="refusing")
def test_naive(engy, tmp_path):
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").touch()
    for text in ("Why?", "How?"):
        assert ask(text) == 200
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.mkdir("profiles").joinpath("refusing.yaml").write_text(REFUSING)

    def run(code, *arguments):
        pytester.makepyfile(test_it=CLIENT + code)
        return pytester.runpytest_inprocess(*SETTINGS, *arguments)

    return run


def section(result, title):
    """The lines of the report under this title, up to the next one."""
    lines = result.outlines
    start = next(place for place, line in enumerate(lines) if re.fullmatch(rf"-+ {title} -+", line))
    end = next(place for place in range(start + 1, len(lines)) if re.match(r"[-=_]{5}", lines[place]))
    return lines[start + 1 : end]


def test_each_seed_is_a_run_and_a_failure_tells_how_to_repeat_it(run):
    """Fresh fixtures for every run; seed, plan in words, the fewest troubles, and the line that replays it."""
    result = run(NAIVE)
    counts = result.parseoutcomes()
    assert counts["passed"] + counts["failed"] == 6
    assert counts["passed"] >= 1
    lines = section(result, "engy_mock: campaign")
    seed = re.fullmatch(r"seed (\d+) of profile refusing, plan ([0-9a-f]{16}):", lines[0])[1]
    assert re.fullmatch(r"  refuse 5\d\d at 50% of the requests", lines[1])
    assert re.fullmatch(r"the fewest that still fail \(\d+ runs\):", lines[2])
    assert re.fullmatch(r"  refuse 5\d\d at the 1st whole chat request that says '(Why|How)\?'", lines[3])
    assert lines[4:] == [f"replay: pytest test_it.py::test_naive --engy-seed={seed}"]
    result.stdout.fnmatch_lines(
        [
            "*engy_mock: campaigns*",
            f"test_it.py::test_naive (refusing): 6 runs, {counts['failed']} failed*",
            "  smallest failing plan (seed *): refuse 5* at the 1st whole chat request that says *",
            "  replay: pytest test_it.py::test_naive --engy-seed=*",
        ]
    )
    assert sum("def test_naive" in line for line in result.outlines) == 1


TWO_CAUSES = """
description: Refusals of two sorts, which one assert finds.
kinds: 1
troubles:
  - {refuse: {status: [400, 402]}}
  - {refuse: {status: 503}}
  - {fault: crlf}
"""


@pytest.mark.slow
def test_failures_by_other_troubles_are_others(run, pytester):
    """The same error at the same place is looked into for each trouble that brings it about."""
    (pytester.path / "profiles" / "two.yaml").write_text(TWO_CAUSES)
    result = run(NAIVE.replace("seeds=6", "seeds=12").replace("refusing", "two"))
    lines = result.outlines
    found = [lines[place + 1] for place, line in enumerate(lines) if line.startswith("the fewest that still fail")]
    assert sorted(one.strip()[:8] for one in found) == ["refuse 4", "refuse 5"]
    assert sum("def test_naive" in line for line in result.outlines) == 2
    result.stdout.fnmatch_lines(["*AssertionError at test_it.py:*, by refuse 4xx, as shown or like others: *"])


@pytest.mark.slow
def test_a_replay_is_the_same_run(run):
    """One item, the same plan by its digest, the same failure, the same exchanges."""
    result = run(NAIVE)
    lines = section(result, "engy_mock: campaign")
    journal = section(result, "engy_mock: what reached the mock")
    seed = re.search(r"--engy-seed=(\d+)", lines[-1])[1]
    again = run(NAIVE, f"test_it.py::test_naive[refusing-{seed}]", f"--engy-seed={seed}")
    again.assert_outcomes(failed=1)
    assert section(again, "engy_mock: campaign") == lines
    assert section(again, "engy_mock: what reached the mock") == journal
    run(NAIVE, "test_it.py::test_naive", f"--engy-seed={seed}").assert_outcomes(failed=1)


def test_a_failing_plan_is_kept_as_a_scenario(run, pytester):
    """What is saved makes the test fail without any campaign."""
    result = run(NAIVE, "--engy-save-plan=kept")
    (path,) = list((pytester.path / "kept").iterdir())
    assert re.fullmatch(r"test-naive-refusing-\d\.yaml", path.name)
    assert [rule.at for rule in from_file(path).rules] == [(1,)]
    assert path.read_text().startswith("# `flapping` with one status in its pattern is `refuse`")
    result.stdout.fnmatch_lines([f"  saved: kept/{path.name}"])
    plain = NAIVE.replace('@pytest.mark.engy_campaign(seeds=6, profile="refusing")', "")
    run(plain).assert_outcomes(passed=1)
    run(plain, f"--engy-scenario={path}").assert_outcomes(failed=1)


ASYNCHRONOUS = """
@pytest.fixture
async def question(engy):
    return "Why?"

@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.engy_campaign(seeds=3, profile="refusing")
async def test_waits(question, attempts):
    assert ask(question, attempts) == 200
"""


@pytest.mark.slow
def test_asynchronous_tests_with_parameters_and_fixtures_of_their_own(run):
    """A run knows nothing of the one before; with other parameters the replay names the item."""
    result = run(ASYNCHRONOUS, "-v")
    counts = result.parseoutcomes()
    assert counts["passed"] + counts["failed"] == 6
    result.stdout.fnmatch_lines(
        ["test_it.py::test_waits?1-refusing-0? *", "test_it.py::test_waits?3-refusing-2? *"]
    )
    result.stdout.fnmatch_lines(["replay: pytest 'test_it.py::test_waits?1-refusing-?]' --engy-seed=?"])
    result.stdout.fnmatch_lines(["test_it.py::test_waits?1? (refusing): 3 runs, *", "test_it.py::test_waits?3? *"])


@pytest.mark.slow
def test_workers_count_together(run):
    """With pytest-xdist the runs are spread, and the summary has all of them."""
    result = run(NAIVE, "-n", "2")
    result.stdout.fnmatch_lines(["test_it.py::test_naive (refusing): 6 runs, * failed*"])
    assert section(result, "engy_mock: campaign")


def test_not_run_again_when_that_is_not_wanted(run):
    """With shrink=0 a failure has its plan as drawn."""
    result = run(NAIVE.replace("seeds=6", "seeds=6, shrink=0"))
    lines = section(result, "engy_mock: campaign")
    assert [line for line in lines if "fewest" in line] == []
    result.stdout.fnmatch_lines(["  first failing plan (seed *): refuse 5?? at 50% of the requests"])


UNLIKE = """
import itertools
numbers = itertools.count()

@pytest.mark.engy_campaign(seeds=[2], profile="refusing")
def test_unlike(engy):
    answers = [ask(f"Number {next(numbers)}?") for _ in range(6)]
    if next(numbers) < 9:
        pytest.fail("only in the first run")
"""


def test_what_fails_otherwise_each_time_says_so(run):
    """A test that does not fail again is told to be unlike itself."""
    lines = section(run(UNLIKE), "engy_mock: campaign")
    assert lines[2].startswith("did not fail again when the same happened again")


CALM = """
@pytest.mark.engy_campaign(seeds=2, profile="refusing")
def test_idle(engy):
    engy.when().reply("Never asked.")

@pytest.mark.engy(seed=7)
@pytest.mark.engy_campaign(seeds=[1], profile="refusing")
def test_own_mock(engy):
    assert engy.gateway.seed == 7

def test_ordinary(engy):
    assert engy.gateway.seed == 5
"""


def test_the_seed_on_the_command_line_draws_plans_and_no_words(run):
    """In a campaign the mock speaks as ever; what no request has met is told at the end."""
    result = run(CALM, "--engy-seed=5")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["test_it.py::test_idle (refusing): 1 run, 0 failed, 1 met no trouble"])
    run(CALM.replace("== 5", "== 0")).stdout.fnmatch_lines(
        [
            "test_it.py::test_idle (refusing): 2 runs, 0 failed, 2 met no trouble",
            "  no request met a trouble: is the profile for what the test asks?",
        ]
    )


HASTY = """
@pytest.mark.engy(verdict="error")
@pytest.mark.engy_campaign(seeds=1, profile="full")
def test_hasty(engy):
    assert ask("Why?", attempts=3) == 200
"""


def test_the_verdict_counts_where_the_test_says_so(run, pytester):
    """A test that passes can still have a client that does wrong; its plan is made small as well."""
    full = (
        "description: Full.\nkinds: 2\ntroubles: [{refuse: {status: 429, retry_after: 9}, times: 1}, {delay: 1}]\n"
    )
    pytester.path.joinpath("profiles", "full.yaml").write_text(full)
    result = run(HASTY)
    result.assert_outcomes(passed=1, errors=1)
    assert "  refuse 429 retry_after=9 at the 1st whole chat request that says 'Why?'" in section(
        result, "engy_mock: campaign"
    )
    result.stdout.fnmatch_lines(["*retry-after-ignored*", "test_it.py::test_hasty (full): 1 run, 1 failed"])


MISTAKES = {
    "engy_campaign(profil='x')": "there is no 'profil'. Did you mean 'profile'?",
    "engy_campaign('stormy')": "it takes words like seeds=, got 'stormy'",
    "engy_campaign(profile='storm')": "there is no profile 'storm'. Did you mean 'stormy'?",
    "engy_campaign(profile=7)": "profile= takes a name or a path, got 7",
    "engy_campaign(seeds=0)": "seeds= takes a number of seeds up to 100000, or a list of them, got 0",
    "engy_campaign(seeds=['1'])": "seeds= takes a number of seeds up to 100000, or a list of them, got ['1']",
    "engy_campaign(seeds=10**9)": "seeds= takes a number of seeds up to 100000, or a list of them, got 1000000000",
    "engy_campaign(shrink=-1)": "shrink= takes a number of runs from 0, got -1",
}


def test_mistakes_of_the_marker(run, pytester):
    """They are told when tests are collected, without a traceback; a test without a mock is one of them."""
    start = "import pytest\n@pytest.mark."
    files = {
        f"test_{number}": f"{start}{marked}\ndef test_it(engy):\n    pass\n"
        for number, marked in enumerate(MISTAKES)
    }
    pytester.makepyfile(**files, test_none=f"{start}engy_campaign\ndef test_it():\n    pass\n")
    result = run("")
    result.assert_outcomes(errors=len(MISTAKES) + 1)
    for said in (*MISTAKES.values(), "the test has to use the fixture engy, or another one that does"):
        assert f"test_it, the marker engy_campaign: {said}" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


@pytest.mark.slow
def test_an_unused_plugin_loads_nothing_of_it(run, pytester):
    """Who has no campaign does not pay for any."""
    pytester.makepyfile(
        """
import sys

def test_it():
    assert not [name for name in sys.modules if name.startswith(("engy_mock.campaigns", "engy_mock.mock"))]
"""
    )
    pytester.runpytest_subprocess(*SETTINGS).assert_outcomes(passed=1)


def test_a_unittest_says_that_it_cannot(run):
    """pytest makes one item of each test of a TestCase: a marker in silence would promise what it does not do."""
    result = run(
        """
import unittest

@pytest.mark.usefixtures("engy")
class TestIt(unittest.TestCase):
    @pytest.mark.engy_campaign
    def test_it(self):
        pass
"""
    )
    result.assert_outcomes(errors=1)
    assert "engy_campaign is not for a unittest.TestCase" in result.stdout.str()
