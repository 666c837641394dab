"""Rules are looked up: the same rule as by trying one after the other, and without trying them all."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.matchers import conditions
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.generation import Reply
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message

WORDS = {
    "endpoint": st.sampled_from(["chat", "messages"]),
    "model": st.sampled_from(["a", "b", "v/a"]),
    "stream": st.booleans(),
    "says": st.sampled_from(["x", "y", "xy"]),
    "key": st.sampled_from(["k", "l"]),
    "field": st.dictionaries(st.sampled_from(["user", "n"]), st.sampled_from(["x", 1, 1.0, True]), max_size=2),
    "header": st.dictionaries(st.just("x-team"), st.sampled_from(["red", "blue"]), max_size=1),
}


def asked(endpoint="chat", model="a", stream=False, says="x", key="k", field=None, header=None):
    request = GenerationRequest(
        endpoint=endpoint,
        surface="v1",
        model=model,
        prompt=Conversation(messages=(Message(role="user", text=says),)),
        is_streamed=stream,
    )
    return Asked(endpoint=endpoint, surface="v1", request=request, key=key, headers=header or {}, body=field or {})


def rule(number, words, **more):
    return Rule(
        description=str(number), conditions=conditions((), words), answers=(Reply(text="x"),), words=words, **more
    )


def count_looks(condition, looks):
    """Note each time that the condition is looked at."""
    fits = condition.check

    def look(asked):
        looks.append(condition.word)
        return fits(asked)

    object.__setattr__(condition, "check", look)


@given(
    rules=st.lists(st.fixed_dictionaries({}, optional=WORDS), max_size=12),
    request=st.fixed_dictionaries(WORDS),
)
@settings(max_examples=300, deadline=None)
def test_the_first_rule_that_fits_answers(rules, request):
    """Looking up finds the very rule that trying them in order finds."""
    script = Script()
    for number, words in enumerate(rules):
        script.add(rule(number, words))
    one = asked(**request)
    wanted = next((str(n) for n, own in enumerate(script.rules) if not own.mismatches(one)), None)
    found = script.choose(one)
    assert (found.answering.rule.description if found else None) == wanted


@pytest.mark.parametrize("word", ["model", "field", "header", "says"])
def test_a_thousand_rules_are_not_tried_one_by_one(word):
    """Of 1,000 rules with 10 conditions each, a request looks at those alone that may fit."""
    script = Script()
    looks: list[str] = []
    for number in range(1_000):
        words = {"endpoint": "chat", "stream": False, "says": "x", "key": "k", "model": "a"}
        words |= {"field": {"user": "u", "n": 1}, "header": {"x-team": "red"}}
        own = {
            "says": f"say {number}.",
            "model": f"m{number}",
            "field": {"user": f"u{number}"},
            "header": {"x-team": f"t{number}"},
        }
        words[word] = own[word]
        script.add(rule(number, words))
    for each in script.rules:
        count_looks(each.conditions[0], looks)
    values = {"says": "I say 777.", "model": "m777", "field": {"user": "u777"}, "header": {"x-team": "t777"}}
    found = script.choose(
        asked(**{"field": {"user": "u", "n": 1}, "header": {"x-team": "red"}, word: values[word]})
    )
    assert found is not None
    assert found.answering.rule.description == "777"
    assert len(looks) == 1


def test_shared_conditions_are_looked_at_once():
    """A condition that many rules share costs one look for a request."""
    looks: list[str] = []
    script = Script()
    for number in range(500):
        script.add(rule(number, {"model": "a", "key": "other"}))
    for own in script.rules:
        for condition in own.conditions:
            count_looks(condition, looks)
    assert script.choose(asked()) is None
    assert len(looks) <= 2


def test_rate_of_a_rule(engy):
    """D-6: 10,000 draws at 0.3 hit 2,850 to 3,150 times; 0 never, 1 always; the same ones each time."""
    one = asked()

    def hits(rate):
        script = Script()
        script.add(rule(0, {}, rate=rate))
        return [script.choose(one, b"%d" % number) is not None for number in range(10_000)]

    assert 2_850 <= sum(hits(0.3)) <= 3_150
    assert hits(0.3) == hits(0.3)
    assert not any(hits(0.0))
    assert all(hits(1.0))


def test_uses_are_atomic():
    """D-9: 8 callers with 5,000 requests each; a rule for 20,000 of them answers 20,000, none lost or double."""
    script = Script()
    script.add(rule(0, {"model": "a"}, times=20_000))
    one = asked()
    uses: list[list[int]] = [[] for _ in range(8)]

    def call(mine):
        for _ in range(5_000):
            found = script.choose(one)
            if found is not None:
                mine.append(found.answering.use)

    threads = [threading.Thread(target=call, args=(mine,)) for mine in uses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(use for mine in uses for use in mine) == list(range(20_000))
