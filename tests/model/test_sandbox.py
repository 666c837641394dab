"""A user's own chat template comes to an end, whatever it does."""

import pytest

from engy_mock import EngyMock
from engy_mock.model import sandbox
from engy_mock.model.sandbox import STEPS, STEPS_FOR_A_MESSAGE
from engy_mock.model.templates import from_text
from engy_mock.vocabulary.errors import InvalidRequest, MockError
from engy_mock.vocabulary.request import Conversation, Message
from tests.model.made import BUNDLED

TWICE = (
    "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(99) }}"
)
NESTED = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"


def rendered(source, text="Hi", count=1):
    conversation = Conversation(messages=(Message(role="user", text=text),) * count)
    return BUNDLED.decode(from_text(source)(conversation, (), "off", BUNDLED).tokens)


@pytest.mark.parametrize(
    "source",
    [
        NESTED,
        "{% for i in 'x' * 100000 %}{% for j in 'x' * 100000 %}{% endfor %}{% endfor %}",
        "{% for i in range(1000) %}{% for j in messages * 90000 if j.nothing %}{% endfor %}{% endfor %}",
        "{% set all = range(100000) | list %}{% for i in all %}{{ all | sum }}{% endfor %}",
        "{% for i in range(1000) %}{{ range(100000) | sum }}{% endfor %}",
        "{% for i in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth < 40 }}{% endfor %}",
        TWICE,
    ],
    ids=["ranges", "texts", "filtered", "filters", "many ranges", "recursive", "macros"],
)
def test_a_template_without_end_is_refused(source, monkeypatch):
    """Loops in loops, and what calls itself twice: the same refusal at the same step, long before their end."""
    monkeypatch.setattr(sandbox, "STEPS", 200_000)
    with pytest.raises(InvalidRequest) as refused:
        rendered(source)
    assert refused.value.message == (
        f"the chat template refused the messages: it goes on beyond {200_000 + STEPS_FOR_A_MESSAGE} steps, "
        "as if without an end"
    )
    assert refused.value.param == "messages"


def test_a_template_that_says_too_much_is_refused(monkeypatch):
    """What it says may be long, but not without a bound."""
    monkeypatch.setattr(sandbox, "MAX_CHARACTERS", 1000)
    source = "{% for i in range(10) %}{{ messages[0].content }}{% endfor %}"
    assert rendered(source, "a" * 100) == "a" * 1000
    with pytest.raises(InvalidRequest, match="says more than 1000 characters"):
        rendered(source, "a" * 101)


@pytest.mark.parametrize(
    "source",
    ["{{ 'x' * 100001 }}", "{{ 100001 * [1] }}", "{{ 3 ** 100000 }}", "{% set n = 2 ** 60000 %}{{ n * n }}"],
)
def test_products_are_no_longer_than_ranges(source):
    with pytest.raises(InvalidRequest, match="a product is too long: more than 100000"):
        rendered(source)


def test_products_that_are_short_are_as_ever():
    assert (
        rendered("{{ 'ab' * 2 }} {{ 3 * 4 }} {{ 2 ** 10 }} {{ 1.5 * 2 }} {{ [1] * 2 }}")
        == "abab 12 1024 3.0 [1, 1]"
    )
    with pytest.raises(InvalidRequest, match="'nothing' is undefined"):
        rendered("{{ nothing * 2 }}")


THOROUGH = """
{%- macro tag(name, attributes) -%}
    {{- '<' + name }}
    {%- for attribute in attributes %}
        {{- ' ' + attribute[0] | string | trim + '=' + attribute[1] | trim }}
    {%- endfor -%}
    {{- '>' -}}
{%- endmacro -%}
{%- set seen = namespace(users=0) -%}
{%- for message in messages[::-1] if message.role == 'user' %}{% set seen.users = seen.users + 1 %}{% endfor -%}
{%- for message in messages -%}
    {{- tag('turn', [('role', message.get('role')), ('last', 'yes' if loop.last else 'no')]) -}}
    {{- message.content.strip().split('</think>')[-1] | trim -}}
    {%- if loop.index0 == messages | length - 1 %}{{ tag('end', []) }}{% endif -%}
{%- endfor -%}
{{- seen.users -}}
"""


def test_a_template_that_is_thorough_is_not_refused(monkeypatch):
    """Macros, loops and filters for each of very many messages: long conversations have more steps."""
    assert rendered(THOROUGH, count=20_000).endswith("<turn role=user last=yes>Hi<end>20000")
    monkeypatch.setattr(sandbox, "STEPS", 0)
    assert rendered(THOROUGH, count=50).endswith("<turn role=user last=yes>Hi<end>50")


def test_loops_are_as_ever():
    """Counting them changes neither what a loop knows of itself nor what is in it."""
    told = "{{ loop.index }}/{{ loop.length }}{{ '.' if loop.last else ',' }}"
    assert rendered("{% for i in range(3) if i != 1 %}" + told + "{% else %}none{% endfor %}") == "1/2,2/2."
    assert rendered("{% for i in [] %}" + told + "{% else %}none{% endfor %}") == "none"
    nested = "{% for x in [[1], [2]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}"
    assert rendered(nested) == "12"
    assert rendered("{% for i in range(5) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}") == "01"


@pytest.mark.parametrize("source", ["{{ [1, 2] | random }}", "{{ lipsum(2) }}"])
def test_nothing_is_left_to_chance(source):
    """The same prompt for the same messages: a template gets nothing that differs each time."""
    with pytest.raises((MockError, InvalidRequest), match=r"random|lipsum"):
        rendered(source)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}),
        ("/v1/responses", {"input": "Hi"}),
    ],
)
def test_the_client_is_refused_and_the_service_goes_on(path, body):
    """In the dialect, like all that a template refuses; other models answer as ever."""
    engy = EngyMock()
    engy.catalog.use("kimi-k3", chat_template=NESTED)
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as http:
        refused = http.post(path, json={"model": "kimi-k3", **body})
        assert refused.status_code == 400
        assert f"beyond {STEPS + STEPS_FOR_A_MESSAGE} steps" in refused.json()["error"]["message"]
        assert http.post(path, json={"model": "glm-5.2", **body}).status_code == 200
