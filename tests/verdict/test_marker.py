"""Marker, options and further fixtures of the plugin, in runs of pytest of its own."""

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SETTINGS = (
    "-p",
    "no:cacheprovider",
    "-o",
    "asyncio_mode=auto",
    "-o",
    "asyncio_default_fixture_loop_scope=function",
)

CALLS = """
import httpx2
import pytest

def call(engy, text="hi"):
    body = {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], "max_tokens": 5}
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    return httpx2.post(f"{engy.base_url}/chat/completions", json=body, headers=headers, timeout=20)
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))

    def run(code, *arguments):
        pytester.makepyfile(CALLS + code)
        return pytester.runpytest_inprocess(*SETTINGS, *arguments)

    return run


STORM = "description: A storm.\nrules: [{refuse: 503, times: 1}]\n"


def test_the_marker_says_how_the_mock_is(run, pytester):
    """Scenario by name from the folder `scenarios` of the project, seed, clock, strict and settings."""
    pytester.mkdir("scenarios").joinpath("storm.yaml").write_text(STORM)
    run(
        """
from engy_mock import WallClock

@pytest.mark.engy(scenario="storm")
def test_scenario(engy):
    assert [call(engy).status_code for _ in range(2)] == [503, 200]

def test_next(engy):
    assert call(engy).status_code == 200

@pytest.mark.engy(seed=7, clock="wall")
def test_own(engy, request):
    assert engy.gateway.seed == 7
    assert isinstance(engy.gateway.clock, WallClock)
    assert call(engy).status_code == 200

@pytest.mark.engy(settings={"closed_accounts": True})
def test_settings(engy):
    assert engy.settings.closed_accounts

@pytest.mark.engy(strict=True)
class TestStrict:
    def test_strict(self, engy):
        engy.when(says="hi").reply("hello")
        assert call(engy).status_code == 200

    @pytest.mark.engy(strict=False)
    def test_not(self, engy):
        assert call(engy).status_code == 200
"""
    ).assert_outcomes(passed=6)


def test_options(run, pytester):
    pytester.mkdir("scenarios").joinpath("storm.yaml").write_text(STORM)
    run(
        """
def test_scenario(engy):
    assert call(engy).status_code == 503
    assert engy.gateway.seed == 5

@pytest.mark.engy(scenario=[])
def test_none(engy):
    assert call(engy).status_code == 200
""",
        "--engy-scenario=storm",
        "--engy-seed=5",
    ).assert_outcomes(passed=2)


@pytest.mark.slow
def test_further_mocks_are_verified_too(run):
    """By their own word or by the marker's, unless their own says no, or the test has failed already."""
    result = run(
        """
def test_own(engy_factory):
    engy_factory(verify=True).when(says="France").reply("Paris.")

@pytest.mark.engy(verify=True)
def test_marked(engy_factory):
    engy_factory().when(says="Spain").reply("Madrid.")

@pytest.mark.engy(verify=True)
def test_beside(engy, engy_factory):
    engy_factory().when(says="Italy").reply("Rome.")

@pytest.mark.engy(verify=True)
def test_spared(engy, engy_factory):
    engy_factory(verify=False).when(says="France").reply("Paris.")

def test_not_asked_for(engy_factory):
    engy_factory().when(says="France").reply("Paris.")

def test_stopped_by_itself(engy_factory):
    engy_factory(verify=True).stop()

def test_fails_by_itself(engy_factory):
    engy_factory(verify=True).when(says="Peru").reply("Lima.")
    assert "its own" == "reason"
"""
    )
    result.assert_outcomes(passed=6, failed=1, errors=3)
    for country in ("France", "Spain", "Italy"):
        result.stdout.fnmatch_lines([f"*when(says='{country}') was never used"])
    result.stdout.no_fnmatch_line("*Peru*never used*")


def test_failures_show_the_test_and_not_the_mock(run):
    """What was expected and where in the test; the source of the mock only where that is what is broken."""
    code = """
def test_asked(engy):
    engy.asked(says="x")

def test_misspelt(engy):
    engy.when(sayz="x")

@pytest.mark.engy(verify=True, strict=True)
def test_at_the_end(engy):
    engy.when(says="never").reply("x")

@pytest.mark.engy(strict=True)
def test_strict(engy):
    call(engy)

def test_bug_of_a_rule(engy):
    engy.when().reply(lambda request: 1 / 0)
    call(engy)

@pytest.mark.engy(sed=7)
def test_marker(engy):
    pass

def test_bug_of_the_mock(engy):
    engy.catalog.add(None)
"""
    result = run(code, "--show-capture=no")
    result.assert_outcomes(passed=3, failed=3, errors=4)
    text = result.stdout.str()
    own = re.findall(r"engy_mock/(\S+):\d+:", text)
    assert own == ["model/catalog.py"]
    for line in ('>       engy.asked(says="x")', '>       engy.when(sayz="x")', ">       engy.catalog.add(None)"):
        assert line in text
    for line in (
        "MockError: unknown matcher 'sayz'. Did you mean 'says'?",
        "MockError: the marker engy has no 'sed'. Did you mean 'seed'?",
        "UnmetExpectation: when(says='never') was never used",
        ">   engy.when().reply(lambda request: 1 / 0)",
    ):
        assert line in text


@pytest.mark.slow
def test_the_journal_stands_beside_all_that_fails(run):
    """Whether a test fails while it is set up, by itself or at its end; with all that is wrong, mock by mock."""
    result = run(
        """
@pytest.fixture
def warm(engy):
    call(engy, "while it is set up")
    raise RuntimeError("cold")

def test_set_up(warm):
    pass

@pytest.mark.engy(strict=True)
def test_strict(engy):
    call(engy, "swallowed")

def test_bug(engy):
    engy.when().reply(lambda request: 1 / 0)
    call(engy, "by zero")

@pytest.mark.engy(verify=True, verdict="error")
def test_both(engy):
    engy.when(says="never").reply("x")
    engy.when().refuse(401, times=1)
    call(engy, "once"), call(engy, "once")

def test_long(engy):
    for number in range(50):
        call(engy, f"question {number}.")
    assert False

def test_many(engy, engy_factory):
    one, two = engy_factory(verify=True), engy_factory(verify=True, seed=2)
    for name, mock in (("first", one), ("second", two)):
        mock.when(says=name).reply("x")
    call(engy, "to engy"), call(one, "to one"), call(two, "to two")

def test_two_bugs(engy_factory):
    for number in (1, 2):
        mock = engy_factory()
        mock.when().reply(lambda request: {}[f"bug {number}"])
        call(mock)
"""
    )
    result.assert_outcomes(passed=5, failed=1, errors=6)
    text = result.stdout.str()
    _, *parts = re.split(r"^_{3,} (?:ERROR at \w+ of )?(test_\w+) _{3,}$", text, flags=re.MULTILINE)
    said = dict(zip(parts[::2], parts[1::2], strict=True))
    heading = re.compile("^-+ engy_mock: what reached (.*?) -+$", re.MULTILINE)
    for name, words in (
        ("test_set_up", ["'while it is set up'", "RuntimeError: cold"]),
        ("test_strict", ["'swallowed'", "no rule answers POST"]),
        ("test_bug", ["'by zero'", "ZeroDivisionError"]),
        (
            "test_both",
            ["when(says='never') was never used", "error retried-non-retryable (exchange 0, 1)", "1. POST"],
        ),
        ("test_long", ["(10 more before these", "10. POST", "'question 49.'"]),
    ):
        assert heading.findall(said[name]) == ["the mock"]
        for word in words:
            assert word in said[name]
    assert "'question 9.'" not in said["test_long"]
    names = ["engy, at http", "mock 1 of engy_factory, at http", "mock 2 of engy_factory, at http"]
    found = heading.findall(said["test_many"])
    assert [one.partition("://")[0] for one in found] == names
    for number, name in ((1, "first"), (2, "second")):
        told = rf"mock {number} of engy_factory, at \S+:\nE? +when\(says='{name}'\) was never used"
        assert re.search(told, said["test_many"])
    told = r"KeyError: 'bug 1'\nE +mock 2 of engy_factory, at \S+: KeyError: 'bug 2'"
    assert re.search(told, said["test_two_bugs"])


def test_further_mocks_are_as_the_marker_says(run, pytester):
    """What is said for all of a test holds for each of its mocks, unless the factory is told otherwise."""
    pytester.mkdir("scenarios").joinpath("storm.yaml").write_text(STORM, "utf-8")
    result = run(
        """
@pytest.mark.engy(strict=True, seed=7, settings={"capacity": 3}, clock="patient")
def test_words(engy_factory):
    engy = engy_factory()
    assert (engy.gateway.seed, engy.settings.strict, engy.settings.capacity) == (7, True, 3)
    assert type(engy.clock).__name__ == "PatientClock"
    engy.reset()
    assert engy.settings.strict
    other = engy_factory(5, strict=False, settings={"capacity": 4})
    assert (other.gateway.seed, other.settings.strict, other.settings.capacity) == (5, False, 4)
    assert not engy_factory(settings={"strict": False}).settings.strict

def test_options(engy_factory):
    engy = engy_factory()
    assert engy.gateway.seed == 11
    assert [call(engy).status_code for _ in range(2)] == [503, 200]
    assert call(engy_factory(scenario=())).status_code == 200

@pytest.mark.engy(scenario="outage")
def test_none_of_the_line(engy, engy_factory):
    assert call(engy_factory()).status_code == 200
    assert call(engy_factory(scenarios=["storm"])).status_code == 503

@pytest.mark.engy(port=0, seed=3)
def test_ports_are_not_shared(engy, engy_factory):
    assert len({engy.port, engy_factory().port, engy_factory().port}) == 3

@pytest.mark.engy(verdict="warning")
def test_judged(engy_factory):
    engy = engy_factory(scenario=())
    engy.when().refuse(503)
    call(engy)

@pytest.mark.engy(verdict="warning")
def test_not_judged(engy_factory):
    engy = engy_factory(scenario=(), verdict="error")
    engy.when().refuse(503)
    call(engy)
""",
        "--engy-seed=11",
        "--engy-scenario=storm",
    )
    result.assert_outcomes(passed=6, errors=1)
    assert "warning gave-up (exchange 0)" in result.stdout.str()


def test_what_a_test_changes_stays_with_its_mock(run, pytester):
    """Settings in the marker of a class are as new for each mock, and a reset gives what the marker says."""
    pytester.mkdir("scenarios").joinpath("storm.yaml").write_text(STORM, "utf-8")
    result = run(
        """
from engy_mock import Settings

@pytest.mark.engy(settings=Settings(prompt_cache=False))
class TestSettings:
    def test_changed(self, engy_factory, engy):
        for one in (engy, engy_factory()):
            one.settings.prompt_cache = True
            one.reset()
            assert not one.settings.prompt_cache
            one.settings.prompt_cache = True

    def test_next(self, engy_factory, engy):
        assert not engy.settings.prompt_cache and not engy_factory().settings.prompt_cache

@pytest.mark.engy(settings={"pace_by_model": {}})
class TestMapping:
    def test_changed(self, engy_factory, engy):
        for one in (engy, engy_factory()):
            one.settings.pace_by_model["glm-5.2"] = 5.0

    def test_next(self, engy_factory, engy):
        assert not engy.settings.pace_by_model and not engy_factory().settings.pace_by_model

@pytest.mark.engy(scenario="storm", strict=True)
def test_reset(engy):
    for _ in range(2):
        engy.when(says="bye").reply("Bye.")
        assert [call(engy, "bye").status_code, engy.settings.strict] == [200, True]
        assert call(engy).status_code == 503
        engy.reset()

def test_unmarked(engy):
    assert engy.settings == Settings()
    engy.reset()
    assert [call(engy).status_code, engy.settings == Settings()] == [200, True]

@pytest.mark.parametrize("word", ["sedd", "verdcit", "loop_factry", "scenarois"])
def test_misspelt(engy_factory, word):
    engy_factory(**{word: 1})
""",
    )
    result.assert_outcomes(passed=6, failed=4)
    told = result.stdout.str()
    for wrong, right in (("sedd", "seed"), ("verdcit", "verdict"), ("loop_factry", "loop_factory")):
        assert f"engy_factory has no '{wrong}'. Did you mean '{right}'?" in told


def test_strict_and_verify_fail_the_test(run):
    """What did not come true fails at the end, with the journal beside it."""
    result = run(
        """
@pytest.mark.engy(strict=True)
def test_strict(engy):
    engy.when(says="other").reply("x")
    assert call(engy).status_code == 500

@pytest.mark.engy(verify=True)
def test_verify(engy):
    engy.when(says="never").reply("x")
    call(engy)

def test_shown(engy):
    call(engy, "what was said")
    assert False
"""
    )
    result.assert_outcomes(passed=2, failed=1, errors=2)
    text = result.stdout.str()
    assert "no rule answers POST /v1/chat/completions" in text
    assert "when(says='never') was never used" in text
    assert "engy_mock: what reached the mock" in text
    assert "'what was said'" in text


@pytest.mark.slow
def test_the_verdict_fails_the_test(run):
    """The marker names the level; a test that failed by itself is not judged as well."""
    result = run(
        """
@pytest.mark.engy(verdict="error")
def test_error(engy):
    engy.when().refuse(401, times=1)
    call(engy), call(engy)

@pytest.mark.engy(verdict="error")
def test_warning(engy):
    engy.when().refuse(503)
    call(engy)

@pytest.mark.engy(verdict="warning")
def test_failed(engy):
    engy.when().refuse(503)
    call(engy)
    assert False
"""
    )
    result.assert_outcomes(passed=2, failed=1, errors=1)
    assert "error retried-non-retryable (exchange 0, 1): a 401 was tried again" in result.stdout.str()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("engy(scenaro='x')", "the marker engy has no 'scenaro'. Did you mean 'scenario'?"),
        ("engy('storm')", "the marker engy takes words like scenario="),
        ("engy(scenario='nowhere')", "there is no scenario 'nowhere'"),
        ("engy(settings={'stric': True})", "there is no setting 'stric'. Did you mean 'strict'?"),
        ("engy(settings={1: True})", "there is no setting '1'."),
        ("engy(settings=5)", "the marker engy: settings= takes Settings or a mapping, got 5"),
        ("engy(strict='no')", "the marker engy: strict= takes a bool, got 'no'"),
        ("engy(verdict='eror')", "the marker engy, verdict=: unknown fail_level 'eror'. Did you mean 'error'?"),
        ("engy(verify=1)", "the marker engy: verify= takes a bool, got 1"),
        ("engy(scenario=5)", "the marker engy, scenario=: a scenario is a name, a path or a Scenario, got 5"),
        ("engy(scenario=[5])", "the marker engy, scenario=: a scenario is a name"),
        ("engy(scenario=None)", "the marker engy, scenario=: a scenario is a name"),
        ("engy(seed='x')", "the marker engy: seed= takes a whole number of at most 64 bits, got 'x'"),
        (
            "engy(clock='wal')",
            "the marker engy: clock= takes 'standing', 'today', 'patient', 'wall' or a clock, got 'wal'",
        ),
        ("engy(limits=5)", "the marker engy: limits= takes a Limits, got 5"),
        ("engy(time_scale='x')", "the marker engy: time_scale= takes a number from 0, got 'x'"),
        ("engy(settings={'capacity': 0})", "setting capacity is 0: input should be greater than or equal to 1"),
    ],
)
def test_mistakes_in_a_marker(run, marker, said):
    result = run(f"@pytest.mark.{marker}\ndef test_it(engy):\n    pass\n")
    result.assert_outcomes(errors=1)
    assert said in result.stdout.str()
    assert "ERROR at setup of test_it" in result.stdout.str()


@pytest.mark.slow
def test_more_mocks_and_other_processes(run):
    """`engy_factory` makes mocks that stop with the test; `engy_env` leads other processes to the mock."""
    run(
        """
import os
import subprocess
import sys

made = []

def test_two(engy_factory, engy):
    one, two = engy_factory(seed=1), engy_factory(seed=2)
    made.extend((one, two))
    assert len({one.port, two.port, engy.port}) == 3
    assert call(one).json()["id"] != call(two).json()["id"]

def test_stopped():
    assert not any(engy.is_running for engy in made)

def test_process(engy, engy_env):
    assert engy_env["OPENAI_BASE_URL"] == engy_env["ENGY_BASE_URL"] == engy.base_url
    assert engy_env["ENGY_API_KEY"] == engy.api_key
    code = "import openai; print(openai.OpenAI().models.list().data[0].id)"
    env = {**os.environ, **engy_env}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert "glm" in done.stdout, done.stderr
""",
    ).assert_outcomes(passed=3)


def test_unittest_classes(run):
    """A TestCase has the mock as an attribute."""
    run(
        """
import unittest

@pytest.mark.usefixtures("engy")
class TestOld(unittest.TestCase):
    def test_call(self):
        self.engy.when().reply("hello")
        self.assertEqual(call(self.engy).json()["choices"][0]["message"]["content"], "hello")

    def test_new(self):
        self.assertEqual(len(self.engy.journal), 0)
"""
    ).assert_outcomes(passed=2)


def test_anyio(pytester, monkeypatch):
    """Asynchronous tests under anyio's plugin use the same fixture."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makeini("[pytest]")
    pytester.makepyfile(
        """
import pytest
from openai import AsyncOpenAI

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it(engy, anyio_backend):
    async with AsyncOpenAI() as client:
        assert (await client.models.list()).data
"""
    )
    pytester.runpytest_subprocess(
        "-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:cacheprovider"
    ).assert_outcomes(passed=1)
