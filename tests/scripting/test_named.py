"""Replies with a name: written once, given by many rules."""

import pytest

from engy_mock import MockError
from engy_mock.scripting.notation import read
from engy_mock.scripting.scenario import from_sheet

HEAD = "description: x\nreplies:\n  tide: High tide.\n  both: {text: Both., reasoning: Hm.}\n"


def scenario(text, head=HEAD):
    return from_sheet(read((head + text).encode(), "f.yaml"), "f")


def test_a_rule_gives_a_named_reply():
    """Alone, within a list, and in a phase."""
    made = scenario(
        "rules:\n  - reply: {same_as: tide}\n  - reply: [{same_as: both}, Else., {same_as: tide}]\n"
        "phases: [{name: one, rules: [{reply: {same_as: both}}]}]\n"
    )
    alone, many = [[answer.text for answer in rule.answers] for rule in made.rules]
    assert (alone, many) == (["High tide."], ["Both.", "Else.", "High tide."])
    [within] = made.phases[0].rules
    assert within.answers[0].reasoning == "Hm."


def test_words_of_other_places_stay_words():
    """Only a reply can be the same as another; JSON that says so is JSON."""
    [rule] = scenario("rules: [{reply: {json: {same_as: tide}}}]\n").rules
    assert rule.answers[0].text == '{"same_as":"tide"}'


@pytest.mark.parametrize(
    ("text", "head", "said"),
    [
        ("rules: [{reply: {same_as: tides}}]", HEAD, "there is no reply named 'tides'. Did you mean 'tide'?"),
        ("rules: [{reply: {same_as: tide}}]", "description: x\n", "The file has no `replies`."),
        ("rules: [{reply: {same_as: tide, text: x}}]", HEAD, "has no other key than `same_as`"),
        ("  third: {same_as: tide}\nrules: []", HEAD, "names no other one"),
        (
            "  third: {txt: x}\nrules: []",
            HEAD,
            "line 5, replies.third.txt: unknown key 'txt'. Did you",
        ),
        ("rules:\n  - when: {same_as: tide}\n", HEAD, "unknown key 'same_as'"),
    ],
)
def test_mistakes(text, head, said):
    """Each has its place."""
    with pytest.raises(MockError) as caught:
        scenario(text, head)
    assert str(caught.value).startswith("f.yaml, line")
    assert said in str(caught.value)
