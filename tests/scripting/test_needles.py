"""Many texts are looked for at once, and what is found is what looking for each of them finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engy_mock.scripting.needles import FEW, Needles

LETTERS = st.text(alphabet="ab \u00e9\U0001f600", max_size=12)
"""Few letters, so that much is found."""


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(LETTERS, max_size=60), text=st.text(alphabet="ab \u00e9\U0001f600", max_size=200))
def test_what_is_found(texts, text):
    """Short ones, empty ones, those within others, at the beginning and at the end."""
    assert Needles(texts).found_in(text) == {one for one in texts if one in text}


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, 1000])
def test_how_many_there_are(count):
    needles = Needles(f"question {number}?" for number in range(count))
    assert bool(needles) is (count > 0)
    for number in (0, FEW, 999):
        expected = {f"question {number}?"} if number < count else set()
        assert needles.found_in(f"Here is question {number}? Indeed.") == expected


def test_rules_by_texts_are_found(engy):
    """One of a thousand rules, by what the user says, what the system says, or what a tool has said."""
    for number in range(400):
        engy.when(says=f"customer {number}.").reply(f"says {number}")
        engy.when(system=f"tenant {number}.").reply(f"system {number}")
        engy.when(tool_result=f"order {number}.").reply(f"result {number}")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    histories = {
        "says 77": [{"role": "user", "content": "I am customer 77. Hello."}],
        "system 399": [
            {"role": "system", "content": "For tenant 399. Be kind."},
            {"role": "user", "content": "customer"},
        ],
        "result 0": [
            {"role": "user", "content": "customer"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "It is order 0."},
        ],
    }
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        for expected, messages in histories.items():
            client.post("/v1/chat/completions", json={"model": "glm-5.2", "messages": messages})
            assert engy.journal.last.text == expected
