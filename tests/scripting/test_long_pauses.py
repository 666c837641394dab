"""No pause of an answer is longer than ten minutes, whoever writes it (Q-19)."""

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.faults import (
    ColdStart,
    Dribble,
    IdleClose,
    SlowFirstEvent,
    SlowHeaders,
    SlowTokenizer,
    Stall,
    WarmUp,
)
from engy_mock.vocabulary.wire import Wait

TOO_LONG = (601, 1e9)
KINDS = (Stall, SlowHeaders, SlowFirstEvent, Dribble, WarmUp)


@pytest.mark.parametrize("seconds", TOO_LONG)
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_names_the_bound(kind, seconds):
    """Q-19: where the rule is written, not where it acts."""
    with pytest.raises(MockError, match="600"):
        EngyMock().when().faults(kind(seconds=seconds))


@pytest.mark.parametrize("seconds", TOO_LONG)
def test_a_delay_names_the_bound(seconds):
    with pytest.raises(MockError, match="600"):
        EngyMock().when().reply("x", delay=seconds)


def test_a_pace_is_bounded_as_well():
    with pytest.raises(MockError, match="at least one piece in 600 seconds"):
        EngyMock().when().reply("x", pace=0.001)


@pytest.mark.parametrize(
    "rule",
    [
        "{reply: {text: x}, delay: 601}",
        "{reply: {text: x}, pace: 0.001}",
        "{faults: [{kind: stall, seconds: 700}]}",
        "{faults: [{kind: slow-headers, seconds: 1.0e+9}]}",
    ],
)
def test_a_file_names_the_bound(tmp_path, rule):
    (tmp_path / "late.yaml").write_text(f"description: Late.\nrules: [{rule}]\n")
    with pytest.raises(MockError, match=r"late\.yaml.*600"):
        EngyMock(scenario_folders=[tmp_path]).scenario("late")


@pytest.mark.parametrize("kind", KINDS)
def test_ten_minutes_are_allowed(kind):
    EngyMock().when().faults(kind(seconds=600))


def test_what_waits_for_nothing_is_not_bounded():
    """A connection may be broken after any time that it was idle: no answer waits for that."""
    engy = EngyMock()
    engy.when().faults(IdleClose(seconds=4000))
    engy.when().faults(ColdStart(seconds=4000))


def test_what_a_prompt_is_worth_is_bounded(engy):
    """A delay for each token ends at ten minutes, however many tokens there are."""
    engy.when().reply("x", faults=[SlowTokenizer(per=600)])
    with engy.http_client() as client:
        client.post(
            "/v1/chat/completions",
            json={"model": "glm-5.2", "messages": [{"role": "user", "content": "one two three"}]},
            headers={"authorization": f"Bearer {engy.api_key}"},
        )
    steps = engy.journal.last.course.steps
    assert [step.seconds for step in steps if isinstance(step, Wait)] == [600]
