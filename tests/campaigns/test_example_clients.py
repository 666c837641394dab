"""The clients in `examples/` in campaigns, which find what is wrong with the naive one alone."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from engy_mock import EngyMock, Limits, ToolCall
from engy_mock.campaigns import profile
from engy_mock.campaigns.drawing import drawn
from engy_mock.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = range(24)
PROFILES = ("stormy", "streaming", "rate-limits")
QUESTIONS = ("What do rivers do?", "What is the weather in Paris?")


def loaded(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"campaign_{name}", EXAMPLES / f"{name}.py")
    assert spec
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAIVE, CAREFUL = loaded("naive_client"), loaded("careful_client")


@pytest.fixture(scope="module")
def running():
    with EngyMock(limits=Limits(stall_seconds=0.2)) as engy:
        yield engy


def verdict(engy, client, plan, **given):
    """What a campaign finds out about a client in one run."""
    engy.reset()
    engy.scenario(plan.scenario())
    engy.when(offers="get_weather", says="weather", tool_result=False).reply(
        tool_calls=[ToolCall("get_weather", city="Paris")]
    )
    engy.when(tool_result=True).reply("It is sunny.")
    engy.when().reply("Rivers carry water to the sea.")
    assistant = client.Assistant(engy.base_url, engy.api_key, sleep=engy.clock.advance, **given)
    for question in QUESTIONS:
        try:
            answer = assistant.ask(question)
        except Exception as error:
            engy.heard(error=error)
        else:
            engy.heard(answer)
    return engy.verdict()


FOUND = {
    "truncated-accepted": ("stormy", 7),
    "silent-acceptance": ("stormy", 1),
    "broken-tool-call-executed": ("stormy", 6),
    "poisoned-history": ("stormy", 6),
    "retried-non-retryable": ("stormy", 27),
    "retry-after-ignored": ("rate-limits", 0),
    "retried-spent-quota": ("rate-limits", 1),
}
"""What campaigns find, each with a seed that shows it."""


@pytest.mark.parametrize("word", FOUND)
def test_a_seed_shows_a_fault_again_and_again(running, word):
    """The same seed brings the same verdict; the mended twin has nothing to fear from it."""
    name, seed = FOUND[word]
    plan = drawn(profile.named(name), seed)
    first, second = verdict(running, NAIVE, plan), verdict(running, NAIVE, plan)
    assert word in [finding.word for finding in first.errors]
    assert first.snapshot() == second.snapshot()
    assert verdict(running, CAREFUL, plan, timeout=0.5).errors == ()


@pytest.mark.slow
def test_campaigns_find_at_least_six_faults_and_none_in_the_mended_twin(running):
    """Nobody has to know the seeds: those from 0 on are enough."""
    plans = [drawn(profile.named(name), seed) for name in PROFILES for seed in SEEDS]
    assert len({finding.word for plan in plans for finding in verdict(running, NAIVE, plan).errors}) >= 6
    for plan in plans:
        mended = verdict(running, CAREFUL, plan, timeout=0.5)
        assert mended.errors == (), f"{plan.name}: {plan}\n{mended}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fails"), [("naive_client", True), ("careful_client", False)])
def test_the_command_line_tells_them_apart(name, fails, capsys):
    """As scripts they take address and key from the environment, so that one line shows what each of them does."""
    options = ["--seeds", "12", "--timeout", "20", "--contains", "Paris"]
    code = main(["campaign", *options, "--", sys.executable, str(EXAMPLES / f"{name}.py")])
    printed = capsys.readouterr().out
    assert code == fails, printed
    assert bool(re.search("silently-wrong .* truncated-accepted", printed)) == fails, printed
