"""Answers worth rendering: what questions ask for, what comes of it, and that it is a real answer all the same."""

import json
import re

import pytest

from engy_mock import EngyMock
from engy_mock.gateway import Settings
from engy_mock.model.answers.composing import composed
from engy_mock.model.answers.material import snippets, tongues
from engy_mock.model.answers.wishes import SHAPES, Wish, tool_meant, wish_of
from engy_mock.model.corpus import bundled
from engy_mock.vocabulary.request import Tool
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


@pytest.mark.parametrize(
    ("question", "wish"),
    [
        ("Why do bridges sway?", None),
        ("What is the capital of France?", None),
        ("Make a table of ships, then a bullet list", Wish(shapes=("table", "list"))),
        ("A list, and then a table", Wish(shapes=("list", "table"))),
        ("Give me a checklist", Wish(shapes=("tasks",))),
        ("How do I bake bread?", Wish(shapes=("steps",))),
        ("Write a Rust function", Wish(shapes=("code",), code="rust")),
        ("Some SQL, please", Wish(shapes=("code",), code="sql")),
        ("Shall we go?", None),
        ("A function in Go", Wish(shapes=("code",), code="go")),
        ("Make a task list of bullet points", Wish(shapes=("tasks", "list"))),
        ("A to-do list and a list", Wish(shapes=("tasks", "list"))),
        ("A web-site, or two websites?", Wish(shapes=("links",))),
        ("```\n1 + 1\n```", Wish(shapes=("code",))),
        ("果物の表を", Wish(shapes=("table",), tongue="japanese")),
        ("A detailed article about tea", Wish(shapes=("long",))),
        ("Write me a really long text", Wish(shapes=("long",))),
        ("Explain it in 500 words", Wish(shapes=("long",))),
        ("I want a longer answer", Wish(shapes=("long",))),
        ("How long is the river?", None),
        ("Tell me how long it takes", None),
        ("They had a long day near the river", None),
        ("Auf Deutsch, bitte", Wish(tongue="german")),
        ("A table in Japanese", Wish(shapes=("table",), tongue="japanese")),
        ("Расскажи о хлебе", Wish(tongue="russian")),  # noqa: RUF001
        ("パンについて教えて", Wish(tongue="japanese")),
        ("Crème brûlée?", None),
        ("Answer in Markdown", Wish(shapes=("headings", "list", "table", "code", "quote", "links"))),
    ],
)
def test_what_a_question_asks_for(question, wish):
    """Forms in the order in which they are named, languages by their names or by the script of the question."""
    assert wish_of(question) == wish


def test_tools_are_meant_by_a_word_of_their_names():
    """Not by one that any tool may have."""
    tools = [Tool(name="list_files"), Tool(name="get_weather"), Tool(name="bookFlight")]
    assert tool_meant("What is the weather like?", tools) == "get_weather"
    assert tool_meant("Which flight is cheapest?", tools) == "bookFlight"
    assert tool_meant("Make me a list", tools) is None
    assert tool_meant("Hello", []) is None


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


@pytest.mark.parametrize("shape", list(SHAPES))
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
    assert list(json.loads(call["function"]["arguments"])) == ["city"]
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
