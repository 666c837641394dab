"""What questions ask for, what they refuse, and what they only mention."""

import pytest

from engy_mock.model.answers.offers import tool_meant, with_place
from engy_mock.model.answers.wishes import MIXTURE, Wish, wish_of
from engy_mock.vocabulary.request import Tool

ASKED = {
    "Make a table of ships, then a bullet list": Wish(shapes=("table", "list")),
    "A list, and then a table": Wish(shapes=("list", "table")),
    "First a list, then a table, finally some code": Wish(shapes=("list", "table", "code")),
    "Give me a checklist": Wish(shapes=("tasks",)),
    "Make a task list with bullet points": Wish(shapes=("tasks", "list")),
    "A to-do list and a list": Wish(shapes=("tasks", "list")),
    "A web-site, or two websites?": Wish(shapes=("links",)),
    "Cite your sources": Wish(shapes=("links",)),
    "How do I bake bread?": Wish(shapes=("steps",)),
    "How do I polish shoes?": Wish(shapes=("steps",)),
    "How to fix a roof": Wish(shapes=("steps",)),
    "Tell me how to fix a roof": Wish(shapes=("steps",)),
    "What are the steps to bake bread?": Wish(shapes=("steps",)),
    "Explain step by step how tides work": Wish(shapes=("steps",)),
    "I need a table of ships": Wish(shapes=("table",)),
    "I'd like some emojis": Wish(shapes=("emoji",)),
    "Can you make a table?": Wish(shapes=("table",)),
    "Could I have a table of ships?": Wish(shapes=("table",)),
    "Why don't you make a table?": Wish(shapes=("table",)),
    "Don't forget to add a table": Wish(shapes=("table",)),
    "No, make a table": Wish(shapes=("table",)),
    "Your answer should be a table": Wish(shapes=("table",)),
    "Not only a table but also a list": Wish(shapes=("table", "list")),
    "List the rivers": Wish(shapes=("list",)),
    "List the rivers in a table": Wish(shapes=("table",)),
    "Ships in a table": Wish(shapes=("table",)),
    "What are the planets, as a table?": Wish(shapes=("table",)),
    "Why do cats purr? Use bullet points.": Wish(shapes=("list",)),
    "Put this into bullet points": Wish(shapes=("list",)),
    "Explain tides using a table, a list and a quote": Wish(shapes=("table", "list", "quote")),
    "Write it in LaTeX": Wish(shapes=("math",)),
    "Give me the quadratic formula": Wish(shapes=("math",)),
    "Structure your answer with headings": Wish(shapes=("headings",)),
    "Answer in Markdown": Wish(shapes=MIXTURE),
    "Create a markdown table": Wish(shapes=("table",)),
    "A detailed article about tea": Wish(shapes=("long",)),
    "Write me a really long text": Wish(shapes=("long",)),
    "I want a longer answer": Wish(shapes=("long",)),
    "Give me a longer version": Wish(shapes=("long",)),
    "Make it longer": Wish(shapes=("long",)),
    "Explain in detail, with links": Wish(shapes=("long", "links")),
    "Explain it in 500 words": Wish(shapes=("long",), words=500),
    "Write a 1000-word text on rivers": Wish(shapes=("long",), words=1000),
    "Write a 2,000-word essay": Wish(shapes=("long",), words=2000),
    "Write two thousand words": Wish(shapes=("long",), words=2000),
    "Make a long list of ships": Wish(shapes=("list",)),
    "a shopping list": Wish(shapes=("list",)),
    "famous quotes please": Wish(shapes=("quote",)),
    "果物の表を": Wish(shapes=("table",), tongue="japanese"),
    "做一个表格": Wish(shapes=("table",), tongue="chinese"),
    "Mach eine Tabelle über Schiffe": Wish(shapes=("table",), tongue="german"),
    "Réponds sous forme de tableau": Wish(shapes=("table",), tongue="french"),
}
"""What asks for forms, in the order in which it names them."""

ASKED |= {
    'Make a table of "red ships" and "blue ones"': Wish(shapes=("table",)),
    "Don't say it's a list: make a 'table' of the ships' names": Wish(shapes=("table",)),
}

PROGRAMS = {
    "Write a Rust function": ("rust",),
    "Some SQL, please": ("sql",),
    "A function in Go": ("go",),
    "Write Go, please": ("go",),
    "python code": ("python",),
    "Fibonacci in Python": ("python",),
    "Rust code for sorting": ("rust",),
    "Write Python, JavaScript and Rust code": ("python", "javascript", "rust"),
    "Write Python, Rust, Go, SQL, HTML and CSS": ("python", "rust", "go", "sql"),
    "Can you give me an example of a SQL query?": ("sql",),
    "Convert this to TypeScript": ("typescript",),
    "Write a PHP function": ("PHP",),
    "C# example please": ("C#",),
    "Write C++ code": ("C++",),
    "R code, please": ("R",),
    "A Swift class": ("Swift",),
    "```\n1 + 1\n```": (),
    "Explain this:\n```rust\nfn main() {}\n```": ("rust",),
}
"""What asks for programs, and in which languages."""

TONGUES = {
    "Auf Deutsch, bitte": "german",
    "In German, please": "german",
    "German please": "german",
    "What is the capital of Germany? Answer in German.": "german",
    "You must answer in German": "german",
    "Write a German poem": "german",
    "Translate this to French": "french",
    "フランス語で答えて": "french",
    "用法语回答": "french",
    "Ответь по-французски": "french",
    "Warum schwanken Brücken?": "german",
    "Pourquoi les ponts bougent-ils ?": "french",
    "Comment allez-vous ?": "french",
    "¿Por qué se mueven los puentes?": "spanish",
    "Por que o céu é azul?": "portuguese",
    "Perché il cielo è blu?": "italian",
    "Dlaczego niebo jest niebieskie?": "polish",
    "Gökyüzü neden mavi bir renk?": "turkish",
    "Расскажи о хлебе": "russian",  # noqa: RUF001
    "パンについて教えて": "japanese",
    "什么是水": "chinese",
    "请解释 transformer architecture 的原理": "chinese",
}
"""What asks for a language, or is written in one."""

REFUSED = {
    "Please do not use a table": ("table",),
    "I do not want a table": ("table",),
    "No lists, please": ("list",),
    "Never use bullet points": ("list",),
    "Answer without code": ("code",),
    "Tell me about tea. Keep it short, no code": ("code",),
    "You don't have to write any code": ("code",),
    "Please don't write an essay": ("long",),
    "Don't make tables, lists or code blocks": ("table", "list", "code"),
    "Explain it without using tables or lists": ("table", "list"),
    "Tell me about ships, but not in a list": ("list",),
    "Keine Tabelle bitte": ("table",),
}
"""What a question refuses, and asks for nothing."""

BOTH = {
    "Give me a list, not a table": Wish(shapes=("list",), without=("table",)),
    "Instead of a table, give me a list": Wish(shapes=("list",), without=("table",)),
    "Don't make a list, make a table": Wish(shapes=("table",), without=("list",)),
    "Answer in Markdown, but without a table": Wish(
        shapes=("headings", "list", "code", "quote", "links"), without=("table",)
    ),
    "No code. A table in Japanese": Wish(shapes=("table",), tongue="japanese", without=("code",)),
}

UNASKED = [
    *('Correct the grammar: "Give me a table of fruits".', "Proofread: 'Write a Python script.'"),
    *("Summarize this: \u201cHi Bob, please make a table. Thanks\u201d", 'Say "make a list" in a louder voice'),
    *("Why do bridges sway?", "What is the capital of France?", "Shall we go?", "Crème brûlée?", "Hi"),
    *("What is the dress code?", "What is the function of the liver?", "Tell me about the function of the liver"),
    *("Is python a snake?", "Does rust weaken steel?", "Explain rust", "What is a list in Python?"),
    *("Who wrote the article?", "How long does it take to write an essay?", "They had a long day near the river"),
    *("I need a long rope", "I want to live longer", "How long is the river?", "Tell me how long it takes"),
    *("latex gloves", "Where do I get latex gloves?", "Turkish coffee", "What is an emoji?", "What is markdown?"),
    *("What is on the table?", "Where can I buy a wooden table?", "Do I need a table?", "The table is broken"),
    *("Give me table tennis rules", "A list of names is useful", "She sat at the table with a list in her hand"),
    *("Is German hard to learn?", "I would like to learn German", "Kafka wrote in German", "Tell me about Java"),
    *("Tell me about life in German cities", "Compare Python, Go and Rust", "I like to read and write code"),
    *(
        "I have a lot to do today",
        "How many steps does the tower have?",
        "How do you do?",
        "How do you feel today?",
    ),
    *(
        "My Python script fails with KeyError. Why?",
        "I need help with Python",
        "I have an error in my Python code",
    ),
    *(
        "TypeError: list indices must be integers",
        "Good code",
        "My table",
        "Please check the link",
        "I speak French",
    ),
    *("When I came home, the list was gone", "In 1000 words there are many letters", "São Paulo", "Die Hard"),
    *("How can I help?", "A picture is worth a thousand words", "Summarise this in 50 words", "東京", "日本"),
    *("What does 東京 mean?", "What does こんにちは mean?", 'What does "wie geht es dir" mean?'),
    *("Who was Leonardo da Vinci?", "Rio de la Plata", "Kim da Silva", "I need a source of protein"),
]
"""What only mentions things."""


@pytest.mark.parametrize(("question", "wish"), [*ASKED.items(), *BOTH.items()])
def test_what_a_question_asks_for(question, wish):
    """Forms in the order in which they are named; what it refuses is no wish."""
    assert wish_of(question) == wish


@pytest.mark.parametrize(("question", "programs"), PROGRAMS.items())
def test_programs_that_are_asked_for(question, programs):
    """In one language or several, up to a bound; in some of them there is none."""
    wish = wish_of(question)
    assert wish is not None
    assert (wish.shapes, wish.programs) == (("code",), programs)


@pytest.mark.parametrize(("question", "tongue"), TONGUES.items())
def test_languages_that_are_asked_for(question, tongue):
    """By their names, or because the question is written in them."""
    assert wish_of(question) == Wish(tongue=tongue)


@pytest.mark.parametrize(("question", "without"), REFUSED.items())
def test_what_a_question_refuses(question, without):
    """A wish that is denied is none."""
    wish = wish_of(question)
    assert wish == Wish(without=without)
    assert not wish.is_for_more


@pytest.mark.parametrize(
    "question",
    [
        *("Don't answer in German", "Do not answer in French or German", "Please write in English"),
        *("Antworte auf Englisch: warum ist es so?", "Warum ist es so? Bitte nicht auf Deutsch"),
    ],
)
def test_english_is_what_is_left(question):
    """Where a language is refused, or English asked for in another one."""
    assert wish_of(question) == Wish(tongue="english")
    assert not Wish(tongue="english").is_for_more


@pytest.mark.parametrize("question", UNASKED)
def test_what_is_mentioned_is_not_asked_for(question):
    """However often a word is one of asking elsewhere."""
    assert wish_of(question) is None


def test_long_questions_are_read_at_their_ends():
    """What stands in the middle is a text that somebody asks about."""
    text = "The old bridge sways in the wind. " * 200
    assert wish_of(f"Summarise this as a table.\n{text}") == Wish(shapes=("table",))
    assert wish_of(f"{text}\nPut it in a list.") == Wish(shapes=("list",))
    assert wish_of(f"{text} Make a table. {text}") is None


WEATHER_TOOLS = [
    Tool(name="list_files"),
    Tool(name="get_weather"),
    Tool(name="bookFlight"),
    Tool(name="send_email"),
]
CLOCK = [Tool(name="current_time"), Tool(name="get_user")]


@pytest.mark.parametrize(
    ("question", "tools", "name"),
    [
        ("What is the weather like?", WEATHER_TOOLS, "get_weather"),
        ("Book me a flight to Rome", WEATHER_TOOLS, "bookFlight"),
        ("Which book is cheapest?", WEATHER_TOOLS, None),
        ("Which files are there?", WEATHER_TOOLS, "list_files"),
        ("Make me a list", WEATHER_TOOLS, None),
        ("Send an email to Ann", WEATHER_TOOLS, "send_email"),
        ("Email Ann about the plan", WEATHER_TOOLS, "send_email"),
        ("What is an email?", WEATHER_TOOLS, None),
        ("Do not send any email", WEATHER_TOOLS, None),
        ("Don't look at the weather. Book a flight.", WEATHER_TOOLS, "bookFlight"),
        ("Hello", [], None),
        ("Every time I sleep", CLOCK, None),
        ("What time is it?", CLOCK, "current_time"),
        ("Which user is that?", CLOCK, "get_user"),
        ("The user is angry", CLOCK, None),
    ],
)
def test_tools_are_meant_by_all_the_words_of_their_names(question, tools, name):
    """But for everyday verbs; not where they are denied, and not by a word that is everywhere."""
    assert tool_meant(question, tools) == name


@pytest.mark.parametrize(
    "parameters",
    [
        *(None, {}, {"properties": 3}, {"properties": {"unit": {"type": "string"}}}),
        {"properties": {"city": {"type": "string"}}, "required": 5},
        {"properties": {"city": {"type": "string", "maxLength": 2}}, "required": [{"a": 1}]},
    ],
)
def test_a_tool_without_a_place_is_left_alone(parameters):
    """Also one whose schema is none."""
    tool = Tool(name="get_weather", parameters=parameters)
    assert with_place(tool, "What is the weather in Paris?") is tool


@pytest.mark.parametrize("required", [[], ["city"], [{"a": 1}]])
def test_a_tool_with_a_place_has_to_take_it(required):
    """It is the only one that fits."""
    tool = Tool(name="x", parameters={"properties": {"city": {"type": "string"}}, "required": required})
    parameters = with_place(tool, "Weather in Paris").parameters
    assert parameters["properties"] == {"city": {"type": "string", "enum": ["Paris"]}}
    assert "city" in parameters["required"]
