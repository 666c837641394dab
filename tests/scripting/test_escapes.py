"""Texts are found as they were sent, and as they are read: JSON in a prompt is often written with escapes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engy_mock import UnmetExpectation
from engy_mock.vocabulary.escapes import MOST_DEEP, contains, readings
from tests.scripting.captured import PATHS, ask, body_for, send

MEANT = ("Z\u00fcrich", "\u6771\u4eac", 'say "hi"', "a\nb", "C:\\new\\table", "\U0001f600 smile", "<a/b>")


def user(text):
    return {"role": "user", "content": text}


def called(arguments="{}", result="done"):
    """A conversation in which a tool was called with these arguments, and gave this result."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return [
        user("Look."),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def tool_use(text):
    return {"type": "tool_use", "id": "a", "name": "f", "input": {"k": text}}


@given(text=st.text(), deep=st.integers(0, 3))
def test_json_is_seen_through(text, deep):
    """Whatever a text is, and however often it was made JSON of, one of the readings has it."""
    written = text
    for _ in range(deep):
        written = json.dumps({"k": written}, ensure_ascii=deep % 2 == 0)
    assert contains(written, text)
    assert readings(written)[0] == written


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no escapes", ("no escapes",)),
        (r"C:\Users", (r"C:\Users",)),
        (r"half a \ud83d pair", (r"half a \ud83d pair",)),
        (r"\ud83d\ude00", (r"\ud83d\ude00", "\U0001f600")),
        (r"\uD83D\uDE00 \u00FC", (r"\uD83D\uDE00 \u00FC", "\U0001f600 \u00fc")),
        (r"cut \u00f", (r"cut \u00f",)),
        (r"\\u00fc", (r"\\u00fc", r"\u00fc", "\u00fc")),
    ],
)
def test_readings(text, found):
    assert readings(text) == found


def test_readings_have_an_end():
    assert len(readings("\\" + "u005c" * 1000)) == MOST_DEEP + 1


@pytest.mark.parametrize("text", MEANT)
@pytest.mark.parametrize(
    ("endpoint", "fields"),
    [
        ("chat", lambda written, text: {"messages": called(arguments=written)}),
        ("chat", lambda written, text: {"messages": called(result=written)}),
        ("chat", lambda written, text: {"messages": [user(f"These are the data: {written}. What of it?")]}),
        ("chat", lambda written, text: {"messages": [user(f"As far as it goes: {written[:-2]}")]}),
        (
            "chat",
            lambda written, text: {
                "messages": [user("x")],
                "tools": [{"type": "function", "function": {"name": "f", "parameters": {"enum": [text]}}}],
            },
        ),
        (
            "messages",
            lambda written, text: {
                "messages": [
                    user("x"),
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"k": text}}],
                    },
                    user([{"type": "tool_result", "tool_use_id": "a", "content": "r"}]),
                ]
            },
        ),
        ("chat", lambda written, text: {"messages": called(arguments=written), "temperature": "hot"}),
    ],
    ids=["arguments", "result", "in a sentence", "cut", "tools", "input", "refused"],
)
def test_prompts_are_looked_into_as_they_are_read(engy, endpoint, fields, text):
    """What must not leave the house is found however it was written, and what must be there as well."""
    more = fields(json.dumps({"k": text}), text)
    send(engy, PATHS[endpoint], body_for(endpoint, stream=False) | more)
    engy.check_prompts(has=text)
    with pytest.raises(UnmetExpectation, match="has "):
        engy.check_prompts(lacks=text)
    engy.check_prompts(lacks="Bern")


@pytest.mark.parametrize("text", MEANT)
@pytest.mark.parametrize("others", [0, 30])
def test_words_see_through_escapes(engy, text, others):
    """A rule is met by what the model reads, alone or among many that are looked up; expectations likewise."""
    for number in range(others):
        engy.when(tool_result=f"result {number}.", says=f"question {number}.").reply("other")
        engy.when(system=f"system {number}.").reply("other")
    engy.when(tool_result=text).reply("result")
    engy.when(system=text).reply("system")
    engy.when(says=text).reply("says")
    written = json.dumps({"k": text})
    for messages in (called(result=written), [{"role": "system", "content": written}, user("x")], [user(written)]):
        ask(engy, stream=False, messages=messages)
    assert [entry.text for entry in engy.journal] == ["result", "system", "says"]
    engy.asked(says=text, times=1)
    engy.asked_in_order({"tool_result": text}, {"system": text}, {"says": text})
