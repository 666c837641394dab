"""Profiles: what a file may say, what is drawn from it, and what is wrong with a file, by its line."""

import pytest

from engy_mock import MockError
from engy_mock.campaigns import profile
from engy_mock.campaigns.choices import possible, settled
from engy_mock.campaigns.drawing import drawn
from engy_mock.scripting import notation
from engy_mock.scripting.matchers import ENDPOINTS
from engy_mock.vocabulary.seeds import Draws

SHIPPED = ("mild", "money", "rate-limits", "stormy", "streaming")


def read(text, name="own"):
    return profile.from_sheet(notation.read(text.encode(), f"{name}.yaml"), name)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_good(name):
    """Each shipped profile can be read, says what it is for, and makes plans that are scenarios."""
    found = profile.named(name)
    assert found.description
    for seed in range(12):
        plan = drawn(found, seed)
        assert found.least <= len(plan.troubles) <= found.most
        assert len(plan.scenario().rules) == len(plan.rules) >= len(plan.troubles)
    assert set(profile.names()) == set(SHIPPED)


def test_own_profiles_come_first(tmp_path):
    """A file in one's own folder takes the place of a shipped one of its name; a path names any."""
    path = tmp_path / "stormy.yaml"
    path.write_text("description: Mine.\ntroubles: [{fault: reset}]\n")
    assert profile.named("stormy", [tmp_path]).description == "Mine."
    assert profile.named(str(path)).description == "Mine."
    assert profile.named("stormy", [tmp_path / "none"]).description != "Mine."


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("stormi", "there is no profile 'stormi'. Did you mean 'stormy'?"),
        ("x", "there is no profile 'x'. Known are mild, money, rate-limits, stormy, streaming;"),
        ("no/such.yaml", "no/such.yaml: cannot be read"),
        ("a\0b", r"there is no profile 'a\\x00b'"),
    ],
)
def test_profiles_that_there_are_not(wanted, said):
    with pytest.raises(MockError) as raised:
        profile.named(wanted)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "own.yaml, line 1: a profile is a mapping with description and troubles, got list"),
        ("description: x", "own.yaml, line 1, troubles: troubles is missing"),
        ("description: x\ntrouble: []", "line 2, trouble: unknown key 'trouble'. Did you mean 'troubles'?"),
        ("description: x\ntroubles: []", "line 2, troubles"),
        ("description: x\nkinds: {from: 3, to: 1}\ntroubles: [{fault: reset}]", "line 2, kinds: from 3 to 1"),
        (
            "description: x\nkinds: 9\ntroubles: [{fault: reset}]",
            "line 2, kinds: 9 kinds cannot be in a run, where there are 1 troubles",
        ),
        ("description: x\nkinds: many\ntroubles: [{fault: reset}]", "line 2, kinds: many is not allowed"),
        (
            "description: x\ntroubles:\n  - {fault: reset}\n  - {fault: resett}",
            "line 4, troubles[1]: unknown fault kind 'resett'. Did you mean 'reset'?",
        ),
        (
            "description: x\ntroubles:\n  - {fault: {kind: reset, aftr: 2}}",
            "line 3, troubles[0]: reset: unknown parameter 'aftr'. Did you mean 'after'?",
        ),
        ("description: x\ntroubles: [{fault: {kind: reset, after: [1, -1]}}]", "reset: after is -1"),
        ("description: x\ntroubles: [{fault: {kind: reset, after: {from: 4, to: 2}}}]", "smaller number"),
        ("description: x\ntroubles: [{fault: {kind: reset, after: []}}]", "an empty list leaves no choice"),
        ("description: x\ntroubles: [{refuse: 200}]", "refuse takes a status from 400 to 599, got 200"),
        ("description: x\ntroubles: [{refuse: {status: 429, retry: 2}}]", "unexpected keyword argument 'retry'"),
        ("description: x\ntroubles: [{fault: reset, refuse: 429}]", "has one of fault, refuse, delay"),
        ("description: x\ntroubles: [{rate: 0.5}]", "has one of fault, refuse, delay, got none"),
        ("description: x\ntroubles: [{fault: reset, rate: [0.5, 2]}]", "rate is 2: a share is 0 to 1"),
        ("description: x\ntroubles: [{fault: reset, times: 0}]", "times is 0: it must be at least 1"),
        ("description: x\ntroubles: [{fault: reset, weight: 0}]", "line 2, troubles[0].weight"),
        ("description: x\ntroubles: [{fault: reset, wen: {}}]", "unknown key 'wen'. Did you mean 'when'?"),
        ("description: x\ntroubles: [{delay: -1}]", "delay is -1: it is a number of seconds from 0"),
        ("description: x\ntroubles: [{fault: early-response, times: 1}]", "acts before a request is read"),
        ("description: x\ntroubles: [{fault: 7}]", "a fault is the name of a kind"),
        (
            "description: x\nstream: false\ntroubles: [{fault: crlf}]",
            "fault 'crlf' can never apply: it is for streams only",
        ),
        ("description: x\nendpoints: [chats]\ntroubles: [{fault: reset}]", "line 2, endpoints[0]"),
    ],
)
def test_mistakes_have_a_place(text, said):
    """Everything that is wrong is told when the file is read, with its line and the nearest right word."""
    with pytest.raises(MockError) as raised:
        read(text)
    assert said in str(raised.value)


def test_a_list_is_a_choice_and_a_span_a_range():
    """Ends of ranges are included; whole numbers stay whole; what is neither is itself."""
    draws = Draws(b"x")
    assert {settled([1, "two"], draws) for _ in range(50)} == {1, "two"}
    assert {settled({"from": 2, "to": 4}, draws) for _ in range(80)} == {2, 3, 4}
    assert all(0.5 <= settled({"from": 0.5, "to": 1}, draws) <= 1 for _ in range(20))
    assert settled({"kind": "x"}, draws) == {"kind": "x"}
    assert list(possible({"from": 1, "to": 9})) == [1, 9]


def test_dialects_and_forms_are_those_of_the_profile():
    """A kind is for what it and the profile have in common, a rule for each dialect; a form holds for all rows."""
    found = read("description: x\nstream: true\nendpoints: [chat, messages]\ntroubles: [{fault: finish-odd}]")
    (trouble,) = drawn(found, 0).troubles
    assert trouble.endpoints == ("chat", "messages")
    assert [rule["when"] for rule in trouble.rules()] == [
        {"endpoint": "chat", "stream": True},
        {"endpoint": "messages", "stream": True},
    ]
    assert set(trouble.endpoints) < set(ENDPOINTS)
