"""Answers worth rendering: what comes of what questions ask for, and that it is a real answer all the same."""

import json
import re

import pytest

from engy_mock import EngyMock
from engy_mock.gateway import Settings
from engy_mock.model.answers.composing import composed
from engy_mock.model.answers.material import snippets, tongues
from engy_mock.model.answers.wishes import Wish, wish_of
from engy_mock.model.corpus import bundled
from engy_mock.vocabulary.seeds import Draws

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def mock(answers="asked", **settings):
    return EngyMock(settings=Settings(answers=answers, **settings))


def ask(engy, question, path="/v1/chat/completions", **fields):
    messages = question if isinstance(question, list) else [{"role": "user", "content": question}]
    with engy.http_client() as client:
        answer = client.post(
            path,
            json={"model": "glm-5.2", "messages": messages, **fields},
            headers={"authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key},
            timeout=60,
        )
    assert answer.status_code == 200, answer.text
    return answer


def said(engy, question, **fields):
    return ask(engy, question, **fields).json()["choices"][0]["message"]["content"]


FORMS = {
    "list": r"^- .+\n- .+\n  - .+\n- ",
    "steps": r"^1\. .+\n2\. .+\n3\. ",
    "tasks": r"^- \[[ x]\] ",
    "table": r"^\|.+\|.+\|\n\|:---\|:---:\|---:\|:---\|\n\|.+\|",
    "code": r"^```python\n(.*\n)+```",
    "links": r"^- \[.+\]\(https://example\.com/\S+\)",
    "quote": r"^> .+\n>\n> ",
    "math": r"\$\$\n.+\n\$\$",
    "emoji": r"^[^\x00-\uffff]|^[\u2600-\u27bf]",
    "headings": r"^## .+\n\n.+\n\n### ",
    "long": r"^# .+\n(.*\n)+## 6\. ",
}


@pytest.mark.parametrize("shape", list(FORMS))
def test_each_form_looks_like_itself(shape):
    """For every topic, for none, and in another language."""
    for place, topic in enumerate((bundled().general, *bundled().topics)):
        text = composed(Wish(shapes=(shape,)), topic, Draws(b"%d" % place))
        assert re.search(FORMS[shape], text, re.MULTILINE), text
        assert "|" not in re.sub(r"^\|.*\|$", "", text, flags=re.MULTILINE)
        assert "NOUN" not in text
    text = composed(Wish(shapes=(shape,), tongue="korean"), bundled().general, Draws(b"x"))
    assert re.search(FORMS[shape], text, re.MULTILINE), text
    assert re.search("[\uac00-\ud7a3]{3}", text)


@pytest.mark.parametrize("tongue", tongues(), ids=lambda tongue: tongue.name)
def test_languages(tongue):
    """Each opens with a line of its own, has sentences enough for a list, and can be asked for by name."""
    assert len(tongue.sentences) >= 5
    assert wish_of(f"Say it in {tongue.name.capitalize()}.") == Wish(tongue=tongue.name)
    text = composed(Wish(tongue=tongue.name), bundled().general, Draws(b"x"))
    assert text.startswith(tongue.opening)


@pytest.mark.parametrize("snippet", snippets(), ids=lambda snippet: snippet.name)
def test_programs(snippet):
    """What can be read here, can be read: the rest is for eyes."""
    text = snippet.about("boat", 7)
    assert "7" in text
    assert "NOUN" not in text + snippet.about("boat", 7).replace("Boat", "")
    if snippet.name == "python":
        compile(text, "snippet", "exec")
    if snippet.name == "json":
        assert json.loads(text)["count"] == 7


@pytest.mark.parametrize(
    "question", ["Make a table of ships", "Tell me about tea in Hindi", "A long article, please"]
)
def test_streams_counts_and_log_probabilities_agree(question):
    """They are those of a real answer: the text of the tokens is the text, and all of it is paid for."""
    engy = mock()
    fields = {"logprobs": True, "top_logprobs": 2, "reasoning_effort": "none"}
    whole = ask(engy, question, **fields).json()
    choice = whole["choices"][0]
    raw = b"".join([bytes(one["bytes"]) for one in choice["logprobs"]["content"]])
    assert raw.decode() == choice["message"]["content"]
    assert len(choice["logprobs"]["content"]) + 1 == whole["usage"]["completion_tokens"]
    assert all(one["logprob"] <= 0 for one in choice["logprobs"]["content"])
    stream = ask(engy, question, stream=True, **fields).text
    pieces = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    text = "".join([one["choices"][0]["delta"].get("content") or "" for one in pieces if one["choices"]])
    assert text == choice["message"]["content"]
    entry = engy.journal[0]
    assert entry.charged_micro == engy.journal[1].charged_micro > 0


def test_limits_and_stops_hold():
    """As for any other answer."""
    cut = ask(mock(), "Make a table of ships", max_tokens=30, reasoning_effort="none").json()
    assert (cut["choices"][0]["finish_reason"], cut["usage"]["completion_tokens"]) == ("length", 30)
    assert "Rank" not in said(mock(), "Make a table of ships", stop=["Rank"])


def test_the_same_question_has_the_same_answer():
    """In another mock; another seed, model or talk before it makes another one."""
    question = "Make a list about music"
    one = said(mock(), question)
    assert said(mock(), question) == one
    assert said(mock(), question, seed=5) != one
    assert said(mock(), question, model="kimi-k3") != one
    assert said(EngyMock(seed=3, settings=Settings(answers="asked")), question) != one
    before = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    assert said(mock(), [*before, {"role": "user", "content": question}]) != one


def test_no_other_knob_changes_the_words():
    """README: they are dictated, so token choice has no say; temperature picks other sentences."""
    question = "Make a list about music"
    one = said(mock(), question)
    knobs = {"top_p": 0.1, "top_k": 1, "presence_penalty": 2, "frequency_penalty": 2, "logit_bias": {"50": 100}}
    for name, value in knobs.items():
        assert said(mock(), question, **{name: value}) == one
    assert said(mock(), question, temperature=0.3) != one


def test_copies_differ():
    """Each is an answer of its own, and the prompt is paid for once."""
    path, model = "/v5/chat/completions", "openai/gpt-4o"
    one, two = (ask(mock(), "A list about trees", path, model=model, n=n).json() for n in (1, 2))
    texts = [choice["message"]["content"] for choice in two["choices"]]
    assert [choice["index"] for choice in two["choices"]] == [0, 1]
    assert texts[0] == one["choices"][0]["message"]["content"] != texts[1]
    assert two["usage"]["prompt_tokens"] == one["usage"]["prompt_tokens"]
    assert two["usage"]["completion_tokens"] > one["usage"]["completion_tokens"]


def test_it_thinks_first_where_the_model_does():
    """About the question, as long as its level has it."""
    message = ask(mock(), "Make a table of ships").json()["choices"][0]["message"]
    assert "ships" in message["reasoning_content"]
    silent = ask(mock(), "Make a table of ships", reasoning_effort="none").json()["choices"][0]["message"]
    assert not silent.get("reasoning_content")
    assert silent["content"].count("|") > 10


def test_a_tool_is_called_and_its_result_is_told():
    """Where a question means it; the arguments fit, and what comes back is quoted."""
    engy = mock()
    question = {"role": "user", "content": "What is the weather in Paris?"}
    choice = ask(engy, [question], tools=[WEATHER]).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    call = choice["message"]["tool_calls"][0]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "12 degrees"}
    assert said(engy, [question, choice["message"], result], tools=[WEATHER]).startswith("> 12 degrees\n\n")
    assert (
        ask(engy, [question], tools=[WEATHER], tool_choice="none").json()["choices"][0]["finish_reason"] == "stop"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"messages": [{"role": "user", "content": "A list"}, {"role": "assistant", "content": "The list"}]},
    ],
)
def test_what_the_request_demands_comes_first(fields):
    """JSON is JSON, and what has been begun is gone on with."""
    plain, asked = (said(mock(style), "Make a list", **fields) for style in ("plain", "asked"))
    assert plain == asked


def test_plain_is_plain_and_markdown_is_always():
    """The styles differ in when, not in what; facts stay facts."""
    table, sway, capital = "Make a table of ships", "Why do bridges sway?", "What is the capital of France?"
    assert "|" not in said(mock("plain"), table)
    assert said(mock("markdown"), table) == said(mock("asked"), table)
    assert said(mock("plain"), sway) == said(mock("asked"), sway) != said(mock("markdown"), sway)
    assert said(mock("markdown"), capital) == "The capital of France is Paris."
    kinds = {said(mock("markdown"), sway, seed=seed).count("\n") > 3 for seed in range(8)}
    assert kinds == {True}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is the capital of Germany? Answer in German.",
            ["auf Deutsch", "The capital of Germany is Berlin."],
        ),
        ("What is the capital of France? Give me a table.", ["The capital of France is Paris.", "| In short |"]),
        ("What is the opposite of hot, in bullet points?", ["The opposite of hot is cold.", "\n- "]),
        ("Answer without code: what is the capital of Spain?", ["The capital of Spain is Madrid."]),
        ("Write an essay on rivers", ["# Rivers", "## 6. Rivers"]),
        ("Write Python, JavaScript and Rust code", ["```python\n", "```javascript\n", "```rust\n"]),
        ("Write a PHP function", ["I know no PHP, so this is Python:", "```python\n"]),
        ("Write SQL, Ruby and C# code", ["```sql\n", "I know no Ruby and no C#, so this is Python:"]),
        ("JavaScript code for an example", ["function fetch"]),
    ],
)
def test_what_an_answer_has(question, parts):
    """What is known does not get lost, and no program is called what it is not."""
    text = said(mock(), question)
    places = [text.find(part) for part in parts]
    assert -1 not in places, text
    assert places == sorted(places)
    assert "```php" not in text
    assert not re.search(r"fetch[a-z]+\(url", text)


@pytest.mark.parametrize("words", [300, 1000, 2000])
def test_a_long_answer_is_as_long_as_was_asked_for(words):
    """Give or take a section; nobody gets a million."""
    text = composed(Wish(shapes=("long",), words=words), bundled().general, Draws(b"x"))
    assert words <= len(text.split()) < words + 200
    most = composed(Wish(shapes=("long",), words=10**6), bundled().general, Draws(b"x"))
    assert len(most.split()) < 6000


def test_what_is_refused_stays_away():
    """Also where every answer looks like something, and from what else was asked for."""
    for seed in range(8):
        text = said(mock("markdown"), "Why do bridges sway? Without tables, lists or code, please.", seed=seed)
        assert "|" not in text
        assert "```" not in text
        assert not re.search(r"^- [^\[<]", text, re.MULTILINE)
    assert not re.search(r"^- ", said(mock(), "Write an essay on rivers without lists"), re.MULTILINE)


def test_a_system_message_asks_for_all_answers():
    """Where a sentence of it begins with what it asks; the question has the last word."""

    def answered(system, question):
        return said(mock(), [{"role": "system", "content": system}, {"role": "user", "content": question}])

    always = "You are kind. Always answer with a table."
    assert "| Rank |" in answered(always, "Tell me about tea")
    assert answered(always, "What is the capital of France?").startswith("The capital of France is Paris.")
    assert "|" not in answered(always, "Tell me about tea, no table please")
    assert "\n- " in answered(always, "Give me a list about tea")
    assert "auf Deutsch" in answered("Answer in German.", "Tell me about tea")
    assert "auf Deutsch" not in answered("Answer in German.", "Answer in English: what is tea?")
    assert "|" not in answered("You write code and may use a table.", "Tell me about tea")


PLACE = {"type": "string", "description": "Where"}


@pytest.mark.parametrize(
    ("question", "properties", "arguments"),
    [
        ("What is the weather in New York tomorrow?", {"location": PLACE}, {"location": "New York"}),
        ("Weather for Oslo, please", {"city": PLACE, "place": PLACE}, {"city": "Oslo"}),
        ("How is the weather on Monday in Rome in May?", {"city": PLACE}, {"city": "Rome"}),
        ("The weather in Paris", {"city": {"type": "string", "enum": ["x"]}}, {"city": "x"}),
    ],
)
def test_a_tool_gets_the_place_of_the_question(question, properties, arguments):
    """Where a plain text of its arguments takes one."""
    function = {"name": "get_weather", "parameters": {"type": "object", "properties": properties}}
    choice = ask(mock(), question, tools=[{"type": "function", "function": function}]).json()["choices"][0]
    found = json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])
    assert arguments.items() <= found.items()


def test_messages_and_responses_say_it_too():
    """It is the model that says it, whatever the dialect."""
    engy = mock()
    told = ask(engy, "Make a table of ships", "/v1/messages", max_tokens=500).json()["content"][-1]["text"]
    assert told.count("|") > 10
    with engy.http_client() as client:
        body = {"model": "glm-5.2", "input": "Make a table of ships"}
        answer = client.post(
            "/v1/responses", json=body, headers={"authorization": f"Bearer {engy.api_key}"}
        ).json()
    assert answer["output"][-1]["content"][0]["text"].count("|") > 10


def test_the_setting_can_be_changed():
    """A remembered answer does not outlive it."""
    engy = mock("plain")
    before = said(engy, "Make a list about music")
    engy.settings.answers = "asked"
    assert said(engy, "Make a list about music").count("\n- ") > 2
    engy.settings.answers = "plain"
    assert said(engy, "Make a list about music") == before
