"""What people do to rules and fixtures by mistake or on a bad day, and what they are told."""

import re
from typing import Any

import httpx2
import pytest

from engy_mock import EngyMock, MockError, Reply, StandingClock, ToolCall, UnmetExpectation, Usage, WallClock
from engy_mock.verdict.expectations import asked_of

BODY = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 5}


@pytest.fixture
def own():
    """A mock of its own, since its defects are no fault of the test."""
    with EngyMock() as engy:
        yield engy


def post(engy, body=BODY, path="/v1/chat/completions"):
    """One request."""
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    return httpx2.post(f"{engy.origin}{path}", json=body, headers=headers, timeout=20)


def fails(_):
    raise ValueError("not like this")


def leaves(_):
    raise SystemExit(1)


def gives_up(_):
    pytest.fail("unexpected request")


NAN = float("nan")


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (
            lambda engy: engy.when().refuse(429, retry_after=[]),
            "a finite number of seconds from 0 or a text, got []",
        ),
        (lambda engy: engy.when().refuse(429, retry_after=b"x"), "from 0 or a text, got b'x'"),
        (lambda engy: engy.when().refuse(429, retry_after=-1), "from 0 or a text, got -1"),
        (lambda engy: engy.when().refuse(429, headers="x"), "headers= takes a mapping, got 'x'"),
        (lambda engy: engy.when().reply("x", logprobs=5), "logprobs= takes a mapping of texts to numbers, got 5"),
        (lambda engy: engy.scenario(5), "a scenario is a name, a path or a Scenario, got 5"),
        (lambda engy: engy.scenario("outage").go(5), "go takes the name of a phase, got 5"),
        (lambda engy: engy.asked(at_least="x"), "at_least= takes a whole number from 0, got 'x'"),
        (lambda engy: engy.asked(times=True), "times= takes a whole number from 0, got True"),
        (lambda engy: engy.asked(at_most=-1), "at_most= takes a whole number from 0, got -1"),
        (lambda engy: engy.asked_in_order(5), "asked_in_order takes mappings of words"),
        (lambda engy: engy.asked_in_order({1: 2}), "got {1: 2}"),
    ],
)
def test_mistakes_in_what_is_asked_of_a_mock(do, said):
    """The word and its value are named."""
    with pytest.raises(MockError) as caught:
        do(EngyMock())
    assert said in str(caught.value)


def test_an_expectation_without_words():
    """Its message has no word that hangs in the air."""
    with pytest.raises(UnmetExpectation, match="expected at least 1 of requests, there were 0"):
        EngyMock().asked()


@pytest.mark.parametrize("leave", [lambda engy, scene: scene.end(), lambda engy, scene: engy.reset()])
def test_a_scene_that_is_over_goes_nowhere(leave):
    """Whoever holds on to it is told, as nothing would happen."""
    engy = EngyMock()
    scene = engy.scenario("outage")
    phase = scene.scenario.phases[0].name
    scene.go(phase)
    leave(engy, scene)
    with pytest.raises(MockError, match="scenario outage is not under way"):
        scene.go(phase)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"clock": "wal"}, "clock= takes 'standing', 'today', 'patient', 'wall' or a clock, got 'wal'"),
        ({"clock": WallClock}, "clock= takes 'standing', 'today', 'patient', 'wall' or a clock"),
        ({"seed": []}, "seed= takes a whole number of at most 64 bits, got []"),
        ({"seed": True}, "seed= takes a whole number of at most 64 bits, got True"),
        ({"seed": 10**400}, "seed= takes a whole number of at most 64 bits, got 1000"),
        ({"settings": 5}, "settings= takes Settings or a mapping, got 5"),
        ({"scenarios": 5}, "a scenario is a name, a path or a Scenario, got 5"),
        ({"scenario_folders": 5}, "scenario_folders= takes paths, got 5"),
        ({"time_scale": None}, "time_scale= takes a number from 0, got None"),
        ({"time_scale": "x"}, "time_scale= takes a number from 0, got 'x'"),
        ({"time_scale": NAN}, "time_scale= takes a number from 0, got nan"),
        ({"time_scale": -1}, "time_scale= takes a number from 0, got -1"),
        ({"limits": 5}, "limits= takes a Limits, got 5"),
    ],
)
def test_a_mock_that_cannot_be_made(words, said):
    """It is told before anything of it runs."""
    with pytest.raises(MockError) as caught:
        EngyMock(**words)
    assert said in str(caught.value)


def test_clocks_have_words():
    assert isinstance(EngyMock(clock="wall").gateway.clock, WallClock)
    assert isinstance(EngyMock(clock="standing").gateway.clock, StandingClock)


# Under names without types, since all of it is wrong.
SAY: Any = Reply
CALL: Any = ToolCall
COUNT: Any = Usage

UNSAYABLE = [
    (lambda: SAY(text=5), "text= takes a text, got 5"),
    (lambda: SAY(text="\udc00"), "text has half a surrogate pair"),
    (lambda: SAY(reasoning=b"x"), "reasoning= takes a text, got b'x'"),
    (lambda: SAY(tool_calls="f"), "tool_calls= takes a list of ToolCall, got 'f'"),
    (lambda: SAY(tool_calls=(CALL(5),)), "the name of a ToolCall takes a text, got 5"),
    (lambda: SAY(tool_calls=(CALL("f", call_id=5),)), "the id of a ToolCall takes a text, got 5"),
    (lambda: SAY(tool_calls=(CALL("f", a="\ud800"),)), "the arguments of a ToolCall has half a"),
    (lambda: SAY(tool_calls=(CALL("f", 5),)), "ToolCall takes arguments as a text or a mapping, got 5"),
    (lambda: SAY(tool_calls=(CALL("f", a={1}),)), "cannot be written as JSON"),
    (lambda: SAY(usage=5), "usage= takes a Usage, got 5"),
    (lambda: SAY(usage=COUNT(prompt_tokens="1", completion_tokens=1)), "got '1' for prompt_tokens"),
    (lambda: SAY(usage=COUNT(prompt_tokens=1, completion_tokens=-1)), "got -1 for completion_tokens"),
    (lambda: SAY(finish_reason="bogus"), "finish_reason= takes one of stop"),
    (lambda: SAY(logprobs=5), "logprobs= takes a mapping of texts to numbers, got 5"),
    (lambda: SAY(logprobs={1: -1.0}), "logprobs= takes texts as keys, got 1"),
    (lambda: SAY(logprobs={"x": "y"}), "numbers from -100 to 0, got 'y' for 'x'"),
    (lambda: SAY(response=object()), "response= takes what JSON can hold"),
]
"""Replies that no answer could carry, and what is said of them."""


@pytest.mark.parametrize(("make", "said"), UNSAYABLE)
def test_a_reply_that_cannot_be_said(own, make, said):
    """A Reply is looked at as the words of `reply` are, at once and inside a sequence."""
    for wrapped in (lambda: make(), lambda: ["fine", make()]):
        with pytest.raises(MockError) as caught:
            own.when().reply(wrapped())
        assert said in str(caught.value)
    assert not own.gateway.script.rules


@pytest.mark.slow
@pytest.mark.parametrize(("make", "said"), UNSAYABLE)
def test_a_function_that_gives_what_cannot_be_said(own, make, said):
    """The defect is a MockError that says what is wrong, and in which function unless it never got to give it."""

    def speak(_):
        return make()

    own.when().reply(speak)
    assert post(own).status_code == 500
    (defect,) = own.gateway.defects
    assert isinstance(defect, MockError)
    assert said in str(defect)
    assert "speak gave" in str(defect) or "ToolCall" in said or "written as JSON" in said


@pytest.mark.parametrize(
    ("give", "said"),
    [
        (lambda: 5, "mar gave 5: a function in the place of a fault gives events"),
        (lambda: None, "mar gave None"),
        (lambda: ["x"], "mar gave 'x' among its events"),
    ],
)
def test_a_fault_function_that_gives_no_events(own, give, said):
    """The function is named, in the defect and so in the test that fails by it."""

    def mar(_):
        return give()

    own.when().reply("hello", faults=mar)
    assert post(own).status_code == 500
    (defect,) = own.gateway.defects
    assert isinstance(defect, MockError)
    assert said in str(defect)


@pytest.mark.parametrize("function", [fails, leaves, gives_up, lambda _: 7])
def test_a_rule_that_fails_is_a_defect_of_the_test(own, function):
    """Q-46: 500 with a mark and no wish to be tried again; books settled, reason kept, service up."""
    own.when(model="glm-5.2").reply(function, times=1)
    answer = post(own)
    assert answer.status_code == 500
    assert (answer.headers["X-Engy-Mock-Bug"], answer.headers["x-should-retry"]) == ("1", "false")
    assert "not like this" not in answer.text
    assert len(own.gateway.defects) == 1
    assert own.gateway.accounts.default.held_micro == 0
    entry = own.journal.last
    assert entry.status == 500
    assert repr(own.gateway.defects[0])[:40] in entry.error
    assert post(own).status_code == 200


@pytest.mark.slow
def test_a_defect_fails_the_test_that_met_it(pytester):
    """Q-46: what a rule's function raises comes out at the end of the test; the next test is not touched."""
    pytester.makepyfile(
        """
        import httpx2, pytest

        def post(engy):
            body = {"model": "glm-5.2", "messages": [{"role": "user", "content": "x"}], "max_tokens": 3}
            return httpx2.post(engy.base_url + "/chat/completions", json=body, timeout=20,
                               headers={"Authorization": "Bearer " + engy.api_key})

        def test_first(engy):
            engy.when().reply(lambda request: pytest.fail("unexpected request"))
            assert post(engy).status_code == 500

        def test_down(engy):
            engy.stop()

        def test_up_again(engy, monkeypatch):
            assert post(engy).status_code == 200
        """
    )
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*unexpected request*"])


@pytest.mark.slow
def test_a_proxy_of_the_machine_is_not_asked(pytester, monkeypatch):
    """A company's proxy stands between nobody and the mock."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    pytester.makepyfile(
        """
        from openai import OpenAI

        def test_it(engy):
            with OpenAI(max_retries=0) as client:
                assert client.models.list().data
        """
    )
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda engy: engy.when("hi"), "when takes functions and words"),
        (lambda engy: engy.when(says=None), "says= takes str, got None"),
        (lambda engy: engy.when(says=re.compile("x")), "says= takes str"),
        (lambda engy: engy.when(header="x"), "header= takes Mapping"),
        (lambda engy: engy.when(stream="yes"), "stream= takes bool, got 'yes'"),
        (lambda engy: engy.when(endpoint="chats"), "got 'chats'. Did you mean 'chat'?"),
        (lambda engy: engy.when(surface="v2"), "surface= takes one of v1, v5"),
        (lambda engy: engy.when().reply(Reply), "a reply is a text"),
        (lambda engy: engy.when().reply("x", times="2"), "times must be at least 1, got '2'"),
        (lambda engy: engy.when().reply(tool_calls=ToolCall("f")), "tool_calls= takes a list of ToolCall"),
        (lambda engy: engy.when().reply(tool_calls=[{"name": "f"}]), "tool_calls= takes a list of ToolCall"),
        (lambda engy: engy.when().reply("\ud800"), "half a surrogate pair"),
        (lambda engy: engy.when().reply("x", finish_reason="bogus"), "finish_reason= takes one of stop"),
        (lambda engy: engy.when().reply("x", usage={"total": 1}), "usage= takes a Usage"),
        (lambda engy: engy.when().reply("x", logprobs={"x": 3.0}), "numbers from -100 to 0, got 3.0 for 'x'"),
        (lambda engy: engy.when().refuse(404.5), "a status from 400 to 599, got 404.5"),
        (lambda engy: engy.when().refuse("404"), "a status from 400 to 599, got '404'"),
        (lambda engy: engy.when().refuse(429, retry_after="1\r\nX-Evil: 1"), "header 'Retry-After'"),
        (lambda engy: engy.when().refuse(429, retry_after=float("nan")), "a finite number of seconds"),
        (lambda engy: engy.when().refuse(429, headers={"X A": "b"}), "'X A' is no name of a header"),
        (lambda engy: engy.when().refuse(429, headers={"Content-Length": "5"}), "frames the answer"),
        (
            lambda engy: engy.when().refuse(429, headers={"X-A": "\U0001f389"}),
            "characters that no header may have",
        ),
        (lambda engy: engy.when().refuse(429, "\udc00"), "message= takes a text"),
    ],
)
def test_mistakes_are_told_when_the_rule_is_written(write, words):
    """A MockError at the line of the test that is wrong, not a 500 in the client's log."""
    with pytest.raises(MockError) as caught:
        write(EngyMock())
    assert words in str(caught.value)


def test_what_is_right_is_taken():
    """Hints are sent as numbers are written; usage and probabilities may be dictated."""
    engy = EngyMock()
    engy.when(stream=False).reply("x", usage=Usage(prompt_tokens=1, completion_tokens=2), logprobs={"x": -1})
    for hint, written in ((1, "1"), (0.25, "0.25"), (1e9, "1000000000"), ("soon", "soon"), (0, "0")):
        engy.when().refuse(429, retry_after=hint)
        refusal = engy.gateway.script.rules[-1].answers[0]
        assert ("Retry-After", written) in refusal.error(hurries=True).headers


def test_the_journal_counts_what_it_keeps(own):
    """Q-35: large bodies and large answers count by the memory they take, so that the bound holds."""
    body = {**BODY, "junk": [{}] * 100_000}
    assert post(own, body).status_code == 200
    entry = own.journal.last
    assert len(entry.body) == 256 * 1024
    assert list(entry.request.body) == list(BODY)  # what is long is not kept as values either
    small = post(own) and own.journal.last.weight
    scored = {**BODY, "logprobs": True, "top_logprobs": 30, "reasoning_effort": "none", "max_tokens": 60}
    assert post(own, scored).status_code == 200
    assert own.journal.last.weight > small + 40_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "extra",
    [
        {"frequency_penalty": 2},
        {"logit_bias": {str(token): -100 for token in range(250)}},
        {"temperature": 2, "top_p": 1, "logit_bias": {str(token): -100 for token in range(12)}},
    ],
    ids=["penalty", "no-end", "hot"],
)
def test_made_up_answers_come_to_an_end(own, extra):
    """Whatever the knobs make of it, an answer is over after 2,048 tokens."""
    body = {**BODY, **extra}
    del body["max_tokens"]
    answer = post(own, body).json()
    assert answer["usage"]["completion_tokens"] <= 2_060
    assert answer["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"field": {1: 2}}, "field= takes texts as keys, got 1"),
        ({"header": {1: "x"}}, "header= takes texts as keys, got 1"),
        ({"header": {"X-A": 1}}, "header= takes texts as values, got 1 for 'X-A'"),
        ({"refused": True}, "refused= takes a status from 400 to 599, got True"),
        ({"refused": 0}, "refused= takes a status from 400 to 599, got 0"),
        ({"refused": -1}, "refused= takes a status from 400 to 599, got -1"),
        ({"refused": 600}, "refused= takes a status from 400 to 599, got 600"),
        ({"endpoint": "c" * 500}, "endpoint= takes one of"),
        ({"m" * 500: 1}, "unknown matcher"),
    ],
)
def test_words_that_no_request_can_fit(words, said):
    """The word and the value are named, long ones in short."""
    with pytest.raises(MockError) as caught:
        EngyMock().when(**words)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("word", ["model", "says", "system", "offers", "tool_result", "key"])
def test_reasons_show_long_values_in_short(own, word):
    """Why a request does not fit stays readable, whatever the rule wants."""
    long = "x" * 5000
    own.when(**{word: long}).reply("never")
    assert post(own).status_code == 200
    reasons = own.gateway.script.rules[0].mismatches(asked_of(own.journal.last))
    assert [len(reason) < 250 for reason in reasons] == [True]


@pytest.mark.parametrize("path", ["messages.--1.role", "messages.\u00b2.role", "messages." + "9" * 5000])
def test_a_path_that_is_no_place_leads_nowhere(own, path):
    """It fits no request, and breaks none."""
    own.when(field={path: "user"}).reply("never")
    assert post(own).status_code == 200
    assert own.gateway.defects == []
