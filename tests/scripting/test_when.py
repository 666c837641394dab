"""Rules: what a test dictates, to whom, how often, and what its author is told when it cannot be."""

import json
import threading
from typing import Any

import openai
import pytest
from openai import OpenAI

from engy_mock import MockError, Reply, ToolCall
from engy_mock.faults import Reset
from engy_mock.scripting.matchers import conditions
from engy_mock.scripting.notation import Sheet
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.scenario import from_sheet

USER: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def kept():
    made: dict[str, OpenAI] = {}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def ask(engy, kept):
    """Ask one question; returns the choice."""
    if engy.base_url not in kept:
        kept[engy.base_url] = OpenAI(base_url=engy.base_url, api_key=engy.api_key, max_retries=0)

    def ask(messages=USER, model="glm-5.2", **extra):
        return kept[engy.base_url].chat.completions.create(model=model, messages=messages, **extra).choices[0]

    return ask


def test_a_reply_takes_the_place_of_the_models_words(engy, ask):
    """The text of the rule, without reasoning unless the rule gives some (E-133)."""
    engy.when(model="glm-5.2", says="Paris").reply("Sunny.")
    answer = ask()
    assert answer.message.content == "Sunny."
    assert answer.finish_reason == "stop"
    assert not (answer.message.model_extra or {}).get("reasoning_content")
    assert engy.journal.last.rule == "when(model='glm-5.2', says='Paris')"
    assert ask(model="kimi-k3").message.content != "Sunny."
    assert engy.journal.last.rule is None


def test_reasoning_is_told_where_the_model_thinks(engy, ask):
    """Scripted reasoning is dropped when thinking is off (E-133)."""
    engy.when().reply("Sunny.", reasoning="I know that.")
    assert ask().message.model_extra["reasoning_content"] == "I know that."
    assert "reasoning_content" not in (ask(reasoning_effort="none").message.model_extra or {})


def test_ask_call_result_answer(engy, ask):
    """A conversation with a tool is one sequence of rules."""
    engy.when(offers="get_weather", tool_result=False).reply(tool_calls=[ToolCall("get_weather", city="Paris")])
    engy.when(tool_result="12 degrees").reply("It has 12 degrees.")
    first = ask(tools=[TOOL])
    assert first.finish_reason == "tool_calls"
    (call,) = first.message.tool_calls
    assert (call.function.name, call.function.arguments) == ("get_weather", '{"city":"Paris"}')
    turns = [*USER, first.message, {"role": "tool", "tool_call_id": call.id, "content": "12 degrees"}]
    assert ask(turns, tools=[TOOL]).message.content == "It has 12 degrees."


def test_a_sequence_is_said_once_and_steps_aside(engy, ask):
    """One reply after the other, then the model."""
    engy.when().reply(["one", Reply(text="two"), lambda request: request.model])
    assert [ask().message.content for _ in range(3)] == ["one", "two", "glm-5.2"]
    assert ask().message.content not in ("one", "two", "glm-5.2")


def test_times_and_order(engy, ask):
    """Rules are tried in the order written; one that is used up steps aside."""
    engy.when(says="weather").reply("first", times=2)
    engy.when().reply("second")
    assert [ask().message.content for _ in range(4)] == ["first", "first", "second", "second"]


def test_let_through_leaves_requests_to_the_model(engy, ask):
    """In Python and in a file: the model's own words, though a rule behind would refuse, and strict or not."""
    own = ask().message.content
    engy.settings.strict = True
    engy.when(says="weather").let_through(times=1)
    engy.when().reply("Mine.")
    engy.when().faults("html-error")
    assert ask().message.content == own
    assert engy.journal.last.rule == "when(says='weather')"
    with pytest.raises(openai.InternalServerError):
        ask()
    engy.reset()
    document = {"description": "x", "rules": [{"when": {"says": "weather"}, "let_through": True}, {"refuse": 503}]}
    engy.scenario(from_sheet(Sheet("here", document), "through"))
    assert ask().message.content == own
    with pytest.raises(openai.InternalServerError):
        ask([{"role": "user", "content": "Hello"}])


def test_let_through_may_be_late_and_marred(engy, ask):
    engy.when().let_through(faults=["id-null"], delay=2)
    engy.when().refuse(500)
    assert ask().finish_reason == "stop"
    assert engy.journal.last.faults == ("id-null", "delay seconds=2")


def test_a_function_decides(engy, ask):
    """A function of the request answers; None leaves it to the model; a function is a matcher, too."""
    engy.when(lambda request: request.max_tokens == 9).reply(lambda request: None)
    engy.when(lambda request: len(request.messages) == 1).reply(lambda request: request.last_user_text.upper())
    assert ask().message.content == "WHAT IS THE WEATHER IN PARIS?"
    assert ask(max_tokens=9).finish_reason == "length"


def test_json_usage_finish_reason_and_logprobs(engy, ask):
    """What a test dictates beside the text; without it the model gives its own values."""
    engy.when(says="json").reply(json={"a": [1, "\u00e9"]})
    engy.when(says="odd").reply("Hm.", finish_reason="content_filter")
    engy.when(says="sure").reply("The bridge.", logprobs={"The": -0.5})
    assert ask([{"role": "user", "content": "json"}]).message.content == '{"a":[1,"\u00e9"]}'
    assert ask([{"role": "user", "content": "odd"}]).finish_reason == "content_filter"
    entries = ask([{"role": "user", "content": "sure"}], logprobs=True).logprobs.content
    assert [entry.token for entry in entries] == ["The", " bridge", "."]
    assert entries[0].logprob == -0.5
    assert entries[1].logprob < 0


def test_a_scripted_text_is_cut_and_stopped_like_any_other(engy, ask):
    """Limits and stops work on dictated words (E-102)."""
    engy.when().reply("one two three four")
    cut = ask(max_tokens=2)
    assert (cut.message.content, cut.finish_reason) == ("one two", "length")
    assert ask(stop=" three").message.content == "one two"


REFUSED = [
    (400, openai.BadRequestError),
    (401, openai.AuthenticationError),
    (402, openai.APIStatusError),
    (403, openai.PermissionDeniedError),
    (404, openai.NotFoundError),
    (409, openai.ConflictError),
    (418, openai.APIStatusError),
    (422, openai.UnprocessableEntityError),
    (429, openai.RateLimitError),
    (500, openai.InternalServerError),
    (502, openai.InternalServerError),
    (503, openai.InternalServerError),
    (504, openai.InternalServerError),
    (529, openai.InternalServerError),
]


@pytest.mark.parametrize(("status", "kind"), REFUSED)
@pytest.mark.parametrize("stream", [False, True])
def test_any_status_can_be_refused_with(engy, ask, status, kind, stream):
    """Told in the dialect of the route, streamed or not, and free of charge."""
    engy.when(endpoint="chat").refuse(status, "not today", times=1)
    with pytest.raises(kind, match="not today") as caught:
        ask(stream=stream)
    assert caught.value.status_code == status
    assert caught.value.body["code"] == status
    assert engy.journal.last.charged_micro == 0
    assert engy.gateway.accounts.default.held_micro == 0


def test_hints_are_short_in_tests_and_as_documented_elsewhere(engy, ask):
    """A scripted refusal does not slow a test down unless the rule says so."""
    engy.when(says="plain").refuse(429)
    engy.when(says="slow").refuse(429, retry_after=7)
    engy.when(says="bad").refuse(400)

    def headers(text):
        with pytest.raises(openai.APIStatusError) as caught:
            ask([{"role": "user", "content": text}])
        return caught.value.response.headers

    assert (headers("plain")["retry-after"], headers("plain")["retry-after-ms"]) == ("1", "1")
    assert headers("plain")["x-ratelimit-remaining-requests"] == "0"
    assert headers("slow")["retry-after"] == "7"
    assert "retry-after-ms" not in headers("slow")
    assert "retry-after" not in headers("bad")
    engy.settings.hurries_retries = False
    assert "retry-after-ms" not in headers("plain")


def test_a_client_that_retries_gets_through(engy):
    """Two refusals, then the answer, in less time than one documented wait."""
    engy.when(endpoint="chat").refuse(429, times=2)
    with OpenAI() as client:
        answer = client.chat.completions.create(model="glm-5.2", messages=USER)
    assert answer.choices[0].message.content
    assert [entry.status for entry in engy.journal] == [429, 429, 200]
    assert [entry.headers["x-stainless-retry-count"] for entry in engy.journal] == ["0", "1", "2"]


def test_other_words_of_when(engy, ask):
    """stream, system, key, header and field, each alone."""
    engy.when(stream=True).refuse(400, "no streams")
    engy.when(system="pirate").reply("Arr.")
    engy.when(header={"X-Team": "blue"}).reply("Blue.")
    engy.when(field={"metadata.team": 7, "messages.0.role": "user"}).reply("Seven.")
    engy.when(key="sk-engy-special").reply("Special.")
    with pytest.raises(openai.BadRequestError, match="no streams"):
        ask(stream=True)
    assert ask([{"role": "system", "content": "You are a pirate."}, *USER]).message.content == "Arr."
    assert ask(extra_headers={"x-team": "blue"}).message.content == "Blue."
    assert ask(extra_body={"metadata": {"team": 7}}).message.content == "Seven."
    special = {"Authorization": "Bearer sk-engy-special"}
    assert ask(extra_headers=special).message.content == "Special."
    assert len(ask().message.content) > 20


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("others", [0, 40], ids=["few rules", "many rules"])
def test_each_prompt_of_a_batch_says_something(engy, place, others):
    """`says` looks into every raw prompt, by rules that are tried one by one as by those that are looked up."""
    for number in range(others):
        engy.when(says=f"nobody says {number}").reply("no")
    engy.when(says="needle \u00fc").reply("found")
    prompts = ["one", "two", "three"]
    prompts[place] = 'some "needle \\u00fc" here'
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as http:
        body = {"model": "glm-5.2", "prompt": prompts, "max_tokens": 3}
        answer = http.post("/v1/completions", json=body)
    assert {choice["text"] for choice in answer.json()["choices"]} == {"found"}
    assert engy.asked(says="needle \u00fc", times=1) == [engy.journal.last]
    engy.asked(says="nothing like that", times=0)


def test_steps_of_times_are_atomic(engy):
    """D-9: 8 callers with 500 requests each; a rule for 1,000 of them answers 1,000."""
    from engy_mock.scripting.asked import Asked
    from engy_mock.scripting.rules import Rule
    from engy_mock.scripting.script import Script
    from engy_mock.vocabulary.request import GenerationRequest, RawPrompt

    script = Script()
    script.add(Rule(description="all", conditions=(), answers=(Reply(text="x"),), times=1_000))
    asked = Asked(
        endpoint="completions",
        surface="v1",
        request=GenerationRequest(
            endpoint="completions", surface="v1", model="m", prompt=RawPrompt(prompts=("x",))
        ),
    )
    uses: list[int] = []

    def call():
        for _ in range(500):
            chosen = script.choose(asked)
            if chosen is not None:
                uses.append(chosen.answering.use)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(uses) == list(range(1_000))


def test_a_reset_forgets_the_rules(engy, ask):
    """What one test dictates, the next does not hear."""
    engy.when().reply("Mine.")
    engy.reset()
    assert ask().message.content != "Mine."


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda engy: engy.when(modle="x"), "unknown matcher 'modle'. Did you mean 'model'?"),
        (lambda engy: engy.when().refuse(200), "refuse takes a status from 400 to 599, got 200"),
        (lambda engy: engy.when().refuse(400, headers={"X-A": "a\r\nb"}), "header 'X-A'"),
        (lambda engy: engy.when().reply(7), "a reply is a text, a Reply, a function"),
        (lambda engy: engy.when().reply("x", times=0), "times must be at least 1, got 0"),
        (lambda engy: engy.when().reply("x", json={}), "a text or json, not both"),
        (lambda engy: engy.when().reply(["x"], reasoning="y"), "reasoning stands beside a text only"),
    ],
)
def test_what_cannot_be_is_told_to_the_author(engy, write, words):
    """A MockError names the word and a way out."""
    with pytest.raises(MockError) as caught:
        write(engy)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"a\r\nb": "x"}, "no request has a header"),
        ({"": "x"}, "no request has a header"),
        ({"a b": "x"}, "no request has a header"),
        ({"a": "x\r\ny"}, "values on one line"),
        ({"a": "x\n"}, "values on one line"),
        ({"a": " x"}, "values on one line"),
    ],
)
def test_headers_that_cannot_come(engy, header, said):
    """A rule that could never fit is refused when it is written."""
    with pytest.raises(MockError, match=said):
        engy.when(header=header)


@pytest.mark.parametrize("sent", ["glm-5.2", "engy/glm-5.2"])
@pytest.mark.parametrize("wanted", ["glm-5.2", "engy/glm-5.2"])
def test_models_fit_with_and_without_their_vendor(engy, ask, sent, wanted):
    """E-30: on either side; another vendor is another model."""
    engy.when(model="other/glm-5.2").reply("Wrong.") if "/" in sent else None
    engy.when(model="kimi-k3").reply("Wrong.")
    engy.when(model=wanted).reply("Right.")
    ask(model=sent)
    assert engy.journal.last.text == "Right."
    engy.asked(model=wanted, times=1)
    engy.asked(model="kimi-k3", times=0)


@pytest.mark.parametrize("value", [None, False, 0, "", [], {"a": None}])
def test_an_inference_is_answered_with_any_json(engy, value):
    """S-74: null is a value too; who says nothing leaves it to the mock. Files say the same."""
    body = {"model": "openai/gpt-4o", "args": {"x": 1}}
    headers = {"x-api-key": "k"}
    engy.when(endpoint="inference").reply(response=value, times=1)
    sheet = Sheet("here", {"description": "Any.", "rules": [{"times": 1, "reply": {"response": value}}]})
    with engy.http_client(headers=headers) as client:
        assert client.post("/v5/inference", json=body).json()["response"] == value
        assert client.post("/v5/inference", json=body).json()["response"]["args"] == {"x": 1}
        engy.scenario(from_sheet(sheet, "any"))
        assert client.post("/v5/inference", json=body).json()["response"] == value
    with pytest.raises(MockError, match="response stands beside a text only"):
        engy.when().reply(lambda request: "x", response=value)


@pytest.mark.parametrize("value", [None, False, 0, []])
def test_a_reply_is_any_json(engy, ask, value):
    """None is null there as well."""
    engy.when().reply(json=value)
    assert ask().message.content == json.dumps(value)
    with pytest.raises(MockError, match="a text or json, not both"):
        engy.when().reply("x", json=value)


def test_halves_of_pairs(engy):
    """Q-24: what no request has and no answer can carry is a mistake of the rule."""
    with pytest.raises(MockError, match="says= has half a surrogate pair, which is in no request"):
        engy.when(says="\ud800")
    with pytest.raises(MockError, match="field= has half a surrogate pair"):
        engy.when(field={"user": ["\ud800"]})
    with pytest.raises(MockError, match="a token of logprobs has half a surrogate pair"):
        engy.when().reply("x", logprobs={"\ud800": -1.0})


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall("f", id="42"), '{"id":"42"}'),
        (ToolCall("f", name="Ann", call_id="c"), '{"name":"Ann"}'),
        (ToolCall("f", {"arguments": 1, "call_id": 2}, self="x"), '{"arguments":1,"call_id":2,"self":"x"}'),
        (ToolCall("f", arguments='{"a": 1}'), '{"a": 1}'),
        (ToolCall("f", ""), "{}"),
    ],
)
def test_arguments_of_tool_calls(call, arguments):
    """Whatever is named in a call is an argument of the tool; only `call_id` is one of the call."""
    assert (call.name, call.arguments, call.id) == ("f", arguments, "c" if "Ann" in arguments else None)
    assert eval(repr(call)) == call
    assert call.changed(id="d").id == "d"


def test_a_tool_call_has_a_text_or_values():
    """A text is not thrown away for values that stand beside it."""
    with pytest.raises(MockError, match=r"takes a text or values, not both: .* and b"):
        ToolCall("f", '{"a":1}', b=2)


@pytest.mark.parametrize(
    ("hint", "sent"),
    [
        (1e-9, "0.000000001"),
        (0.25, "0.25"),
        (2, "2"),
        (2.0, "2"),
        (0.1 + 0.2, "0.3"),
        ("soon", "soon"),
    ],
)
def test_hints_are_written_as_numbers(hint, sent):
    """A hint is a decimal number, however small."""
    (found,) = [
        value
        for name, value in Refusal(status=429, retry_after=hint).error(hurries=False).headers
        if name == "Retry-After"
    ]
    assert found == sent


def test_a_hint_stands_once(engy):
    """Two hints that contradict each other are a mistake; the kind `conflicting-retry-hints` is for that."""
    with pytest.raises(MockError, match="retry_after= and headers= both say retry-AFTER"):
        engy.when().refuse(429, retry_after=2, headers={"retry-AFTER": "5"})
    engy.when().refuse(429, headers={"Retry-After": "5"})


def test_a_parameter_that_a_kind_does_not_have():
    """A class knows the nearest right spelling, as its name in a file does."""
    with pytest.raises(MockError, match=r"^reset: unknown parameter 'afer'. Did you mean 'after'\?$"):
        Reset(afer=2)  # type: ignore[call-arg]
    assert Reset(2) == Reset(after=2, rate=1.0)
    with pytest.raises(MockError, match="'' has an empty step"):
        conditions((), {"field": {"": 5}})
