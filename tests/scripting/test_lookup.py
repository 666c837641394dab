"""Rules are looked up: the same rule as by trying one after the other, and without trying them all."""

import threading
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.fault import made
from engy_mock.scripting.matchers import conditions
from engy_mock.scripting.rules import Rule, let_through, rates_of
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.generation import Reply
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message

FIELDS = st.sampled_from(["x", 1, 1.0, True, None, [1], [1.0, {"a": True}], {"a": [1]}, {"a": 1, "b": None}, []])

FUNCTIONS = (
    lambda request: request.model == "a",
    lambda request: request.is_streamed,
    lambda request: None,
    lambda request: "a reason" if request.last_user_text == "x" else True,
    lambda request: "",
)

WORDS = {
    "endpoint": st.sampled_from(["chat", "messages"]),
    "model": st.sampled_from(["a", "b", "v/a"]),
    "stream": st.booleans(),
    "says": st.sampled_from(["x", "y", "xy"]),
    "tool_result": st.sampled_from([True, False, "12", "degrees"]),
    "key": st.sampled_from(["k", "l"]),
    "field": st.dictionaries(st.sampled_from(["user", "n"]), FIELDS, max_size=2),
    "header": st.dictionaries(st.just("x-team"), st.sampled_from(["red", "blue"]), max_size=1),
}


def asked(endpoint="chat", model="a", stream=False, says="x", key="k", field=None, header=None, tool_result=None):
    messages = [Message(role="user", text=says)]
    if tool_result:
        messages.append(Message(role="tool", text=str(tool_result)))
    request = GenerationRequest(
        endpoint=endpoint,
        surface="v1",
        model=model,
        prompt=Conversation(messages=tuple(messages)),
        is_streamed=stream,
    )
    return Asked(endpoint=endpoint, surface="v1", request=request, key=key, headers=header or {}, body=field or {})


def rule(number, words, functions=(), **more):
    made = conditions(tuple(functions), words)
    return Rule(description=str(number), conditions=made, answers=(Reply(text="x"),), words=words, **more)


def count_looks(condition, looks):
    """Note each time that the condition is looked at."""
    fits = condition.check

    def look(asked):
        looks.append(condition.word)
        return fits(asked)

    object.__setattr__(condition, "check", look)


@pytest.mark.slow
@given(
    rules=st.lists(
        st.tuples(st.fixed_dictionaries({}, optional=WORDS), st.lists(st.sampled_from(FUNCTIONS), max_size=2)),
        max_size=12,
    ),
    request=st.fixed_dictionaries(WORDS),
)
@settings(max_examples=300, deadline=None)
def test_the_first_rule_that_fits_answers(rules, request):
    """Looking up finds the very rule that trying them in order finds."""
    script = Script()
    for number, (words, functions) in enumerate(rules):
        script.add(rule(number, words, functions))
    one = asked(**request)
    wanted = next((str(n) for n, own in enumerate(script.rules) if not own.mismatches(one)), None)
    found = script.choose(one)
    assert (found.answering.rule.description if found else None) == wanted


def test_functions_are_asked_once_and_in_their_turn():
    """What rules share is asked once for a request; what stands behind the rule that answers, never."""
    asked_of: list[str] = []

    def noting(name, *, says):
        def function(request):
            asked_of.append(name)
            return says

        return function

    shared, guard = noting("shared", says=True), noting("guard", says=False)
    script = Script()
    for number in range(100):
        script.add(rule(number, {"model": "a"}, [shared, guard, noting("guarded", says=True)]))
    for number in range(100):
        script.add(rule(100 + number, {"model": "a"}, [shared, noting("own", says=number == 5)]))
    script.add(rule(200, {"model": "other"}, [noting("of another model", says=True)]))
    found = script.choose(asked())
    assert found is not None
    assert found.answering.rule.description == "105"
    assert asked_of == ["shared", "guard", *["own"] * 6]


def test_a_function_need_not_be_hashable():
    """Any callable will do."""

    class Picky:
        def __eq__(self, other):
            return isinstance(other, Picky)

        def __call__(self, request):
            return request.model == "a"

    script = Script()
    script.add(rule(0, {}, [Picky()]))
    script.add(rule(1, {}, [Picky()]))
    assert script.choose(asked(model="b")) is None
    assert script.choose(asked()).answering.rule.description == "0"


def test_rules_that_are_used_up_are_not_asked():
    """A function of a rule that cannot be used any more is left alone."""
    calls: list[int] = []
    script = Script()
    script.add(rule(0, {}, [lambda request: calls.append(1)], times=1))
    assert script.choose(asked()) is not None
    assert script.choose(asked()) is None
    assert len(calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize("word", ["model", "field", "header", "says", "tool_result", "list"])
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
            "tool_result": f"result {number}.",
            "list": {"user": [{"n": number}]},
        }
        words["field" if word == "list" else word] = own[word]
        script.add(rule(number, words))
    for each in script.rules:
        count_looks(each.conditions[0], looks)
    values = {"says": "I say 777.", "model": "m777", "field": {"user": "u777"}, "header": {"x-team": "t777"}}
    values |= {"tool_result": "The result 777.", "list": {"user": [{"n": 777}]}}
    given = {"field": {"user": "u", "n": 1}, "header": {"x-team": "red"}}
    found = script.choose(asked(**given | {"field" if word == "list" else word: values[word]}))
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


def test_letting_through_ends_the_search():
    """Behind a rule that lets a request through, none answers and none mars; those before it do."""
    script = Script()
    script.add(Rule(description="mars", conditions=(), faults=(made("crlf"),), times=1))
    script.add(
        Rule(description="through", conditions=conditions((), {"says": "x"}), answers=(let_through,), times=2)
    )
    script.add(rule(2, {}))
    script.add(Rule(description="mars too", conditions=(), faults=(made("bom"),)))
    first, second, other = (script.choose(asked(says=text)) for text in ("x", "x", "y"))
    assert (first.answer, first.description) == (None, "through + mars")
    assert (second.answer, second.description, second.faults) == (None, "through", [])
    assert (other.answer.text, other.description) == ("x", "2 + mars too")


def test_rate_of_a_rule(engy):
    """D-6: 10,000 draws at 0.3 hit 2,850 to 3,150 times; 0 never, 1 always; the same ones each time."""
    one = asked()

    def hits(rate):
        script = Script()
        script.add(rule(0, {}, rate=rate))
        return [script.choose(one, partial(bytes, [*b"%d" % number])) is not None for number in range(10_000)]

    assert 2_850 <= sum(hits(0.3)) <= 3_150
    assert hits(0.3) == hits(0.3)
    assert not any(hits(0.0))
    assert all(hits(1.0))


@pytest.mark.slow
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


def test_rates_of_many_rules_are_settled_each_for_itself():
    """Of requests and of rules alike, about the share that the rate says; a rule of rate 0 is never met."""
    words = [
        Rule(description=f"rule {number}", conditions=(), rate=0.3, name=f"{number}") for number in range(200)
    ]
    hits = [[not rule.is_spared(rates_of(b"%d" % request)) for rule in words] for request in range(200)]
    for row in (*hits, *zip(*hits, strict=True)):
        assert 20 < sum(row) < 105
    assert Rule(description="never", conditions=(), rate=0.0, name="x").is_spared(rates_of(b"x"))
