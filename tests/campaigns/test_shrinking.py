"""From a plan that fails to the fewest troubles that still do."""

import pytest

from engy_mock import EngyMock
from engy_mock.campaigns.plan import Plan, Trouble
from engy_mock.campaigns.shrinking import shrunk
from tests.scripting.captured import body_for

TEXTS = ("Why?", "How?", "When?", "Who?")


def run(plan, texts=TEXTS, times=2):
    """The statuses by question of a client that asks each of them twice."""
    engy = EngyMock()
    engy.scenario(plan.scenario())
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        for text in texts * times:
            client.post("/v1/chat/completions", json=body_for("chat", stream=False, text=text))
    return list(engy.journal)


def looked_into(plan, wrong, most=100):
    """What a plan shrinks to whose run is `wrong`, and every plan that was run for it."""
    tried = []

    def fails(other):
        tried.append(other)
        return wrong(run(other))

    return shrunk(plan, run(plan), fails, most), tried


def at_times(*troubles):
    return Plan(profile="own", seed=0, troubles=tuple(troubles))


EVERYTHING = Trouble(does={"refuse": {"status": 503}}, times=8)


def test_one_of_many_is_found():
    """One request of eight is what it takes; nothing else is left."""
    found, tried = looked_into(
        at_times(EVERYTHING), lambda journal: journal[2].status == 503 or journal[6].status == 503
    )
    assert [str(one) for one in found.plan.troubles] == [
        "refuse 503 at the 1st whole chat request that says 'When?'"
    ]
    assert found.is_complete
    assert found.is_repeatable
    assert found.runs == len(tried) == len({plan.digest for plan in tried})


def test_two_that_are_needed_together_are_found():
    """Both stay, each where it was, since neither is enough alone."""
    found, _ = looked_into(
        at_times(EVERYTHING), lambda journal: [journal[place].status for place in (0, 5)] == [503, 503]
    )
    assert {(trouble.when["says"], trouble.at) for trouble in found.plan.troubles} == {
        ("Why?", (1,)),
        ("How?", (2,)),
    }


def test_what_only_brought_another_attempt_about_is_left_out():
    """If a trouble at the second attempt is enough at the first one, the trouble of the first is no part of it."""
    plan = at_times(
        Trouble(does={"refuse": {"status": 429}}, times=1),
        Trouble(does={"refuse": {"status": 400}}, times=2),
    )
    found, _ = looked_into(plan, lambda journal: any(entry.status == 400 for entry in journal))
    assert [trouble.what for trouble in found.plan.troubles] == ["refuse 400"]
    assert found.plan.troubles[0].at == (1,)


def test_what_fails_without_any_trouble_says_so():
    """Then there is nothing to blame on the plan."""
    found, _ = looked_into(at_times(EVERYTHING), lambda journal: True)
    assert found.plan.troubles == ()


def test_what_does_not_happen_again_says_so():
    """A run that fails for other reasons than its plan keeps its plan."""
    plan = at_times(EVERYTHING)
    found, tried = looked_into(plan, lambda journal: False)
    assert (found.is_repeatable, found.plan) == (False, plan)
    assert len(tried) == 2


@pytest.mark.parametrize("most", [1, 3, 6])
def test_runs_are_bounded(most):
    """With fewer runs than it would take the result still fails, and says that it may not be the smallest."""
    found, tried = looked_into(
        at_times(EVERYTHING), lambda journal: [journal[place].status for place in (0, 5)] == [503, 503], most
    )
    assert len(tried) <= most
    assert not found.is_complete
    assert run(found.plan)[0].status == 503


def test_it_is_the_same_each_time():
    """The same plans are tried in the same order."""
    one, other = (looked_into(at_times(EVERYTHING), lambda journal: journal[7].status == 503) for _ in range(2))
    assert one[0] == other[0]
    assert [plan.digest for plan in one[1]] == [plan.digest for plan in other[1]]
