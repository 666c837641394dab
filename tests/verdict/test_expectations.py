"""What a test can expect of its client, and what it is told when that does not come true."""

import json

import pytest

from engy_mock import MockError, ToolCall, UnmetExpectation
from engy_mock.books.entry import Entry
from engy_mock.books.journal import ELSEWHERE, FIELDS
from engy_mock.scripting.matchers import MATCHERS
from tests.scripting.captured import ask


def turn(engy, *texts, stream=False, **more):
    """One request with these turns, user and assistant alternating."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return ask(engy, stream=stream, messages=messages, **more)


def test_asked_gives_what_fits(engy):
    turn(engy, "the capital of France")
    turn(engy, "the capital of Spain", stream=True)
    ask(engy, "messages", stream=False, text="France again")
    assert [entry.number for entry in engy.asked(says="France")] == [0, 2]
    assert [entry.number for entry in engy.asked(stream=True, times=1)] == [1]
    assert engy.asked(endpoint="messages", at_least=1)[0].surface == "v1"
    assert engy.asked(says="Italy", times=0) == []
    assert engy.asked(lambda request: len(request.messages) == 1, times=3)
    assert [entry.number for entry in engy.asked_in_order({"says": "France"}, {"endpoint": "messages"})] == [0, 2]


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        (
            lambda engy: engy.asked(says="Italy"),
            ["at least 1 of requests with says='Italy', there were 0", "lacks"],
        ),
        (lambda engy: engy.asked(says="France", times=2), ["exactly 2", "there were 1", "last user turn lacks"]),
        (lambda engy: engy.asked(at_most=1), ["at most 1", "there were 2"]),
        (lambda engy: engy.asked(stream=True, model="kimi-k3"), ["stream is False, not True; model is glm-5.2"]),
        (
            lambda engy: engy.asked_in_order({"says": "Spain"}, {"says": "France"}),
            ["as step 2 of 2 behind exchange 1", "France"],
        ),
    ],
)
def test_what_did_not_come_is_explained(engy, expect, said):
    """The message names what was expected, how many there were, and the nearest others with their reasons."""
    turn(engy, "the capital of France")
    turn(engy, "the capital of Spain")
    with pytest.raises(UnmetExpectation) as caught:
        expect(engy)
    for part in said:
        assert part in str(caught.value)


def test_nothing_came(engy):
    with pytest.raises(UnmetExpectation, match="no request has reached the mock"):
        engy.asked()
    with pytest.raises(UnmetExpectation, match="no request has reached the model"):
        engy.check_prompts(lacks="secret")
    with pytest.raises(MockError, match="the journal keeps no keys"):
        engy.asked(key="sk-engy-x")


def test_prompts_are_looked_into(engy):
    """Text in any turn, arguments of calls and descriptions of tools; and a budget."""
    turn(engy, "hello", "password: hunter2", "go on")
    engy.check_prompts(has=["hello", "go on"], lacks="apikey", max_prompt_tokens=500)
    with pytest.raises(UnmetExpectation, match=r"message 1 \(assistant\) has 'hunter2'"):
        engy.check_prompts(lacks="hunter2")
    with pytest.raises(UnmetExpectation, match="nothing in its prompt has 'bye'"):
        engy.check_prompts(has="bye")
    with pytest.raises(UnmetExpectation, match=r"its prompt has .* tokens, 3 are allowed"):
        engy.check_prompts(max_prompt_tokens=3)


def test_a_prefix_that_changes_is_found(engy):
    """Turns that only add keep the cache warm; one that rewrites an earlier turn, or the tools, does not."""
    turn(engy, "hello", "hi", "first")
    turn(engy, "another conversation")
    turn(engy, "hello", "hi", "first", "one", "second")
    engy.check_prompts(keeps_prefix=True)
    turn(engy, "hello", "hi!", "first", "one", "second", "two", "third")
    with pytest.raises(UnmetExpectation, match=r"message 1 \(assistant\) has changed since"):
        engy.check_prompts(keeps_prefix=True)
    engy.reset()
    turn(engy, "hello")
    turn(engy, "hello", "hi", "more", tools=True)
    with pytest.raises(UnmetExpectation, match="the tools have changed"):
        engy.check_prompts(keeps_prefix=True)


def test_verify_wants_rules_used(engy):
    engy.when(says="used").reply("x")
    engy.when(says="twice").refuse(429, times=2)
    turn(engy, "used")
    turn(engy, "twice")
    with pytest.raises(UnmetExpectation) as caught:
        engy.verify()
    assert "when(says='twice') was used 1 times of 2" in str(caught.value)
    assert "says='used'" not in str(caught.value)
    turn(engy, "twice")
    engy.verify()
    engy.when(says="never").reply("x")
    with pytest.raises(UnmetExpectation, match=r"when\(says='never'\) was never used"):
        engy.verify()


def test_verify_wants_faults_applied(engy):
    """D-8: a fault that found no place fails the verification."""
    engy.when().faults("stall-with-comments")
    turn(engy, "whole")
    with pytest.raises(UnmetExpectation, match="exchange 0: fault 'stall-with-comments' changed nothing"):
        engy.verify()


def test_unmatched_requests_know_why(engy):
    """The journal names the nearest rules, each with its reasons."""
    engy.when(says="France", stream=True).reply("x")
    engy.when(says="Spain").reply("y", times=1)
    turn(engy, "Spain")
    turn(engy, "Spain, once more")
    assert engy.journal[0].mismatches == (
        "when(says='France', stream=True): last user turn lacks 'France'; stream is False, not True",
    )
    assert engy.journal.last.mismatches == (
        "when(says='Spain'): it has been used 1 times, which is all",
        "when(says='France', stream=True): last user turn lacks 'France'; stream is False, not True",
    )


def test_strict_refuses_what_no_rule_answers(engy_factory):
    """An unmatched request is a fault of the mock to the client; the test is told the nearest rules."""
    engy = engy_factory()
    engy.settings.strict = True
    engy.when(says="France").reply("Paris.")
    assert turn(engy, "France").status == 200
    seen = turn(engy, "Spain")
    assert (seen.status, seen.headers["x-engy-mock-bug"]) == (500, "1")
    (defect,) = engy.gateway.defects
    assert isinstance(defect, UnmetExpectation)
    assert "when(says='France'): last user turn lacks 'France'" in str(defect)
    assert "Spain" in str(defect)
    engy.gateway.defects.clear()


FLAKY = """
description: A phase with an answer, and one without.
phases:
  - {name: calm, until: {requests: 1}, next: crlf, rules: [{reply: Hello.}]}
  - {name: crlf, rules: [{faults: [crlf]}]}
"""


def test_strict_says_what_there_is_where_nothing_answers(engy_factory, tmp_path):
    """Rules that bring faults, and scenarios without answers, are there all the same."""
    (tmp_path / "flaky.yaml").write_text(FLAKY, "utf-8")
    engy = engy_factory(strict=True, scenario_folders=tmp_path)

    def said():
        turn(engy, "Spain")
        return str(engy.gateway.defects.pop()).partition("'Spain'")[2].lstrip(":\n ")

    assert said() == "there are no rules"
    engy.when(says="France").faults("crlf")
    assert said() == "1 rule brings faults, none answers"
    engy.scenario("flaky")
    assert turn(engy, "Spain").status == 200
    assert said() == ("2 rules bring faults, none answers; scenario flaky has no answers in its phase 'crlf'")
    engy.when(says="France").reply("Paris.")
    assert said() == "the nearest:\n  when(says='France'): last user turn lacks 'France'"


def test_what_stands_in_no_journal_has_no_number(engy_factory, caplog):
    """What strict says is said before the exchange is written down: it names no number."""
    engy = engy_factory(strict=True)
    engy.when(says="France").reply("Paris.")
    turn(engy, "France")
    seen = turn(engy, "Spain")
    entry = engy.journal.last
    asked = "no rule answers POST /v1/chat/completions glm-5.2 'Spain' the nearest:"
    assert asked in json.loads(seen.body)["error"]["message"]
    assert asked in caplog.text
    assert asked in entry.error
    assert "no rule answers POST /v1/chat/completions  glm-5.2  'Spain'\n" in str(engy.gateway.defects.pop())
    assert str(entry).startswith("1. POST /v1/chat/completions  glm-5.2  'Spain'  -> 500")
    lonely = Entry(method="GET", path="/v1/models", body=b"", request_id="x", status=200)
    assert str(lonely) == "GET /v1/models  -> 200"


def test_the_journal_reads_well(engy):
    engy.when(offers="get_weather").reply(tool_calls=[ToolCall("get_weather", city="Paris")])
    engy.when(says="broken").reply("one two", faults=["reset"])
    engy.when(says="no").refuse(429)
    turn(engy, "weather?", tools=True)
    turn(engy, "broken", stream=True)
    turn(engy, "no")
    lines = str(engy.journal).splitlines()
    assert 'get_weather(\'{"city":"Paris"}\')' in lines[0]
    assert lines[1].endswith("-> 200  'one two'  [reset]")
    assert "-> 429  'capacity is exhausted'" in lines[2]
    assert engy.journal.where(status=429)[0].error == "capacity is exhausted"
    assert [entry.number for entry in engy.journal.where(lambda entry: bool(entry.faults), endpoint="chat")] == [1]
    with pytest.raises(MockError, match=r"where: entries have no 'stauts'. Did you mean 'status'\?"):
        engy.journal.where(stauts=429)


def test_words_of_requests_are_known_elsewhere(engy):
    """Whoever asks entries for the words of `when` is told who knows them."""
    assert set(ELSEWHERE) == set(MATCHERS) - set(FIELDS)
    for word, said in {
        "says": r"engy\.asked\(says=",
        "key": "account=",
        "refused": "status=",
        "header": "headers=",
    }.items():
        with pytest.raises(MockError, match=f"entries have no '{word}'. .*{said}"):
            engy.journal.where(**{word: "x"})


def test_a_snapshot_is_the_same_in_every_run(engy):
    """Plain values without times and numbers of processes."""

    def run():
        engy.reset()
        engy.when(offers="get_weather").reply(tool_calls=[ToolCall("get_weather", city="Paris")])
        turn(engy, "hello")
        turn(engy, "weather?", tools=True)
        turn(engy, "hello", model="nope")
        return json.dumps(engy.journal.snapshot())

    first = run()
    assert run() == first
    hello, weather, refused = json.loads(first)
    assert hello["body"]["messages"][0]["content"] == "hello"
    assert hello["usage"]["prompt_tokens"] > 0
    assert weather["answer"]["tool_calls"] == [{"name": "get_weather", "arguments": '{"city":"Paris"}'}]
    assert (refused["status"], refused["error"]) == (404, "model nope not found")


@pytest.mark.parametrize("name", ["User-Agent", "user-agent", "USER-AGENT"])
def test_names_of_headers_have_no_case(engy, name):
    """The journal finds a header by the names by which a rule finds it."""
    engy.when(header={name: "me"}).reply("It is me.")
    turn(engy, "who?", headers=["User-Agent: me"])
    assert engy.journal.last.text == "It is me."
    assert engy.asked(header={name: "me"}, times=1) == engy.journal.where(headers={name: "me"})
    assert engy.asked_in_order({"header": {name: "me"}})
    assert engy.journal.where(headers={name: "you"}) == engy.asked(header={name: "you"}, times=0) == []


@pytest.mark.parametrize(
    "expect",
    [
        lambda engy: engy.asked(header={"X-Trace": "1"}, times=0),
        lambda engy: engy.asked_in_order({"header": {"x-trace": "1"}}),
        lambda engy: engy.journal.where(headers={"X-Trace": "1"}),
    ],
)
def test_headers_that_are_not_kept_are_nobodys_absence(engy, expect):
    """Q-32: what the journal leaves out for safety cannot be expected of it, least of all not to be there."""
    turn(engy, "who?", headers=["X-Trace: 1"])
    with pytest.raises(MockError, match=r"does not keep header '(X-Trace|x-trace)'.* it keeps accept, "):
        expect(engy)


def test_a_body_that_is_too_long_says_so(engy):
    """Q-35: it is cut with a mark, wherever one looks; what of it is short is still known."""
    turn(engy, "hello", pad="x" * 300_000, metadata={"user": "me"}, seed=5)
    entry = engy.journal.last
    assert (entry.is_body_cut, len(entry.body), entry.body_bytes > 300_000) == (True, 256 * 1024, True)
    assert f"[body cut: 262144 of {entry.body_bytes} bytes kept]" in str(engy.journal)
    (seen,) = engy.journal.snapshot()
    assert (seen["body"], seen["body_cut"]) == (None, {"bytes": entry.body_bytes, "kept": 262_144})
    with pytest.raises(MockError, match=r"the body of exchange 0 had \d+ bytes, of which the journal keeps"):
        entry.json()
    assert engy.asked(field={"seed": 5, "metadata.user": "me"}, says="hello", times=1)
    assert engy.asked(field={"seed": 6}, times=0) == engy.asked(field={"top_p": 1}, times=0) == []


@pytest.mark.parametrize("path", ["pad", "pad.0"])
def test_what_was_cut_is_not_denied(engy, path):
    """A field that was too long to be kept is neither there nor absent, unless something else decides."""
    turn(engy, "hello", pad="x" * 300_000)
    with pytest.raises(MockError, match="nobody knows 'pad' any more: the body had"):
        engy.asked(field={path: "x"}, times=0)
    with pytest.raises(MockError, match="nobody knows 'pad' any more"):
        engy.asked(lambda request: request.body["pad"] == "x", times=0)
    assert engy.asked(says="good bye", field={path: "x"}, times=0) == []


@pytest.fixture
def forgetful(engy_factory):
    """A mock whose journal keeps three exchanges and has had five."""
    engy = engy_factory(settings={"journal_entries": 3})
    for number in range(5):
        turn(engy, f"question {number}")
    return engy


@pytest.mark.parametrize(
    "expect",
    [
        lambda engy: engy.asked(times=3),
        lambda engy: engy.asked(times=5),
        lambda engy: engy.asked(says="question 0", times=0),
        lambda engy: engy.asked(at_most=4),
        lambda engy: engy.asked(at_least=4),
        lambda engy: engy.asked_in_order({"says": "question 0"}, {"says": "question 3"}),
        lambda engy: engy.check_prompts(lacks="secret"),
        lambda engy: engy.check_prompts(has="question"),
        lambda engy: engy.check_prompts(max_prompt_tokens=1000),
        lambda engy: engy.check_prompts(keeps_prefix=True),
        lambda engy: engy.verify(),
    ],
)
def test_nothing_is_expected_of_what_is_forgotten(forgetful, expect):
    """Q-35: what holds for the rest of a journal need not hold for all: that fails, and says how to keep more."""
    with pytest.raises(UnmetExpectation, match=r"2 earlier exchanges were dropped .* settings\.journal_entries"):
        expect(forgetful)


def test_what_is_left_proves_what_it_can(forgetful):
    """More exchanges could not make untrue that there was one; a snapshot counts those that are missing."""
    assert len(forgetful.asked(says="question 4")) == 1
    assert len(forgetful.asked_in_order({"says": "question 2"}, {"says": "question 4"})) == 2
    assert [one.get("dropped") for one in forgetful.journal.snapshot()] == [2, None, None, None]


def test_an_index_is_a_number(forgetful):
    """What had to make room moves no other exchange; slices leave it out."""
    journal = forgetful.journal
    assert [journal[number].number for number in (2, 3, 4, -1, -2, -3)] == [2, 3, 4, 4, 3, 2]
    assert [entry.number for entry in reversed(journal)] == [4, 3, 2]
    assert [entry.request.last_user_text for entry in journal[3:]] == ["question 3", "question 4"]
    numbers = [
        [entry.number for entry in part] for part in (journal[0:4], journal[-2:], journal[:], journal[::-2])
    ]
    assert numbers == [[2, 3], [3, 4], [2, 3, 4], [4, 2]]
    for number in (0, 1, -4, -5):
        with pytest.raises(
            IndexError, match=f"no exchange {number % 5} any more: 2 earlier exchanges were dropped"
        ):
            journal[number]
    for number in (5, -6):
        with pytest.raises(IndexError, match=f"no exchange {number}: there are 5, counted from 0"):
            journal[number]
    forgetful.reset()
    with pytest.raises(IndexError, match="no exchange 0: no request has reached the mock"):
        forgetful.journal[0]


def test_the_room_of_a_journal_is_a_setting(engy):
    """It may change at any time, and is as before after a reset; the journal itself has no such attribute."""
    engy.settings.journal_bytes = 1
    turn(engy, "one")
    turn(engy, "two")
    assert (len(engy.journal), engy.journal.lost) == (1, 1)
    engy.reset()
    turn(engy, "one")
    turn(engy, "two")
    engy.asked(times=2)
    with pytest.raises(MockError, match="setting journal_entries is 0"):
        engy.settings.journal_entries = 0
    with pytest.raises(AttributeError):
        engy.journal.max_entries = 5
