"""Scenario files: read, checked line by line, found by name, played in phases."""

import json
import subprocess
import sys

import jsonschema
import pytest
import yaml

from engy_mock import EngyMock, MockError
from engy_mock.books.fleet import WORKERS, Worker
from engy_mock.gateway.settings import described
from engy_mock.scripting.mistakes import MistakenFile
from engy_mock.scripting.notation import Sheet
from engy_mock.scripting.scenario import from_file, from_sheet
from engy_mock.scripting.schema import schema
from engy_mock.vocabulary.generation import Reply, Usage
from tests.scripting.captured import PATHS, ask, body_for, send


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def written(folder, name, text):
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


FULL = """\
description: Everything that a file can say.
good_client: Copes.
settings: {one_event_per_write: true}
models:
  glm-5.2: {max_output: 20}
rules:
  - when: {endpoint: chat, says: weather, offers: get_weather}
    reply:
      reasoning: I look it up.
      tool_calls: [{name: get_weather, arguments: {city: Paris}}]
  - when: {says: json}
    reply: {json: {a: [1, 2]}}
  - when: {says: twice}
    reply: [first, {text: second}]
  - when: {says: counted}
    reply: {text: x, usage: {prompt_tokens: 1, completion_tokens: 2}, finish_reason: length}
  - when: {says: broken, stream: true}
    reply: one two three
    faults: [{kind: reset, after: 2}]
  - when: {says: "no"}
    refuse: {status: 429, retry_after: 7, message: not now}
  - when: {says: gone}
    refuse: 503
"""


def test_everything_that_a_file_can_say(engy, folder):
    scene = engy.scenario(written(folder, "full", FULL))
    assert (scene.name, scene.phase) == ("full", None)

    def text(said, **more):
        return ask(engy, stream=False, text=said, **more).document["choices"][0]["message"]

    call = text("the weather", tools=True)["tool_calls"][0]["function"]
    assert call == {"name": "get_weather", "arguments": '{"city":"Paris"}'}
    assert text("json")["content"] == '{"a":[1,2]}'
    assert [text("twice")["content"] for _ in range(2)] == ["first", "second"]
    assert text("twice")["content"] not in {"first", "second"}
    counted = ask(engy, stream=False, text="counted").document
    assert (counted["usage"]["total_tokens"], counted["choices"][0]["finish_reason"]) == (3, "length")
    assert ask(engy, text="broken").ending == "reset"
    refused = ask(engy, text="no")
    assert (refused.status, refused.headers["retry-after"]) == (429, "7")
    assert refused.document["error"]["message"] == "not now"
    assert ask(engy, text="gone").status == 503
    assert len(ask(engy, text="writes apart").writes) > 5
    assert ask(engy, stream=False, text="model").document["usage"]["completion_tokens"] <= 20
    scene.end()
    assert engy.settings.one_event_per_write is False
    assert ask(engy, text="gone").status == 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("descripton: x", "s.yaml, line 1, description: description is missing"),
        ("description: x\nrulez: []", "s.yaml, line 2, rulez: unknown key 'rulez'. Did you mean 'rules'?"),
        (
            "description: x\nrules:\n  - wen: {}",
            "s.yaml, line 3, rules[0].wen: unknown key 'wen'. Did you mean 'when'?",
        ),
        (
            "description: x\nrules:\n  - when: {endpoint: chatt}\n    reply: x",
            "line 3, rules[0].when.endpoint: 'chatt' is not allowed: input should be 'chat'",
        ),
        ("description: x\nrules:\n  - when: {endpoint: chatt}\n    reply: x", "Did you mean 'chat'?"),
        (
            "description: x\nrules:\n  - reply: {txt: x}",
            "line 3, rules[0].reply.txt: unknown key 'txt'. Did you mean 'text'?",
        ),
        ("description: x\nrules:\n  - times: 0\n    reply: x", "line 3, rules[0].times: 0 is not allowed"),
        (
            'description: x\nrules: [{refuse: "429"}]',
            "rules[0].refuse: '429' is not allowed: input should be a valid",
        ),
        (
            "description: x\ninclude: [../../etc/passwd]",
            "include[0]: '../../etc/passwd' is not allowed: a name has lower case letters, digits, dots, hyphens",
        ),
        ("description: x\nphases: [{name: A b}]", "phases[0].name: 'A b' is not allowed: a name has lower case"),
        (
            "description: x\nrules: [{when: {field: {messages..role: user}}, reply: y}]",
            "rules[0].when: field= takes paths like messages.0.role: 'messages..role' has an empty step",
        ),
        ("description: x\nrules:\n  - rate: 2\n    reply: x", "line 3, rules[0].rate: 2 is not allowed"),
        ("description: x\nrules:\n  - reply: x\n    times: '2'", "line 4, rules[0].times"),
        (
            "description: x\nrules:\n  - reply: x\n    refuse: 429",
            "line 3, rules[0]: a rule has one of reply, refuse, let_through, not reply and refuse",
        ),
        (
            "description: x\nrules:\n  - when: {}",
            "line 3, rules[0]: a rule needs reply, refuse, let_through, faults",
        ),
        (
            "description: x\nrules:\n  - refuse: 200",
            "line 3, rules[0].refuse: 200 is not allowed: input should be greater than or equal to 400",
        ),
        (
            'description: x\nrules:\n  - refuse: {status: 429, headers: {x: "a\\nb"}}',
            "line 3, rules[0].refuse: header 'x'",
        ),
        (
            "description: x\nrules:\n  - refuse: 429\n  - faults: [rest]",
            "line 4, rules[1].faults[0]: unknown fault kind 'rest'. Did you mean 'reset'?",
        ),
        (
            "description: x\nrules:\n  - faults: [{kind: reset, afer: 2}]",
            "line 3, rules[0].faults[0].afer: reset: unknown parameter 'afer'. Did you mean 'after'?",
        ),
        (
            "description: x\nrules:\n  - refuse: 429\n    faults:\n      - kind: retry-after\n        form: dat",
            "line 6, rules[0].faults[0].form: retry-after: form is 'dat': ",
        ),
        (
            "description: x\nrules:\n  - refuse: 429\n    faults:\n      - kind: retry-after\n        form: dat",
            "Did you mean 'date'?",
        ),
        (
            "description: x\nrules:\n  - faults:\n      - kind: reset\n        after: -1",
            "line 5, rules[0].faults[0].after: reset: after is -1: input should be greater than or equal to 0",
        ),
        ("description: x\nrules:\n  - faults: [{after: 2}]", "line 3, rules[0].faults[0].kind: kind is missing"),
        (
            "description: x\nrules:\n  - when: {stream: false}\n    faults: [stall-with-comments]",
            "line 4, rules[0].faults[0]: fault 'stall-with-comments' can never apply",
        ),
        (
            "description: x\nphases:\n  - name: a\n  - name: a",
            "line 4, phases[1].name: there is a phase 'a' already",
        ),
        (
            "description: x\nphases:\n  - name: calm\n    next: strom\n  - name: storm",
            "line 4, phases[0].next: there is no phase 'strom'. Did you mean 'storm'?",
        ),
        ("description: x\nphases:\n  - name: Not A Name", "line 3, phases[0].name"),
        ("description: x\nsettings: {one_event_per_writ: true}", "Did you mean 'one_event_per_write'?"),
        (
            "description: x\nsettings: {one_event_per_write: maybe}",
            "line 2, settings.one_event_per_write: ",
        ),
        ("description: x\nmodels: {glm-5.22: {context: 5}}", "unknown model 'glm-5.22'. Did you mean 'glm-5.2'?"),
        ("description: x\ninclude: [../../etc/passwd]", "line 2, include[0]"),
        ("description: x\ninclude: [nowhere]", "s.yaml, line 2, include[0]: there is no scenario 'nowhere'"),
        ("- 1", "a scenario is a mapping with description and rules, got list"),
        ("", "a scenario is a mapping with description and rules, got NoneType"),
    ],
)
def test_mistakes_have_a_place(folder, text, said):
    """File, line, key, and what is meant: before the server starts."""
    path = written(folder, "s", text)
    with pytest.raises(MockError) as caught:
        EngyMock(scenarios=[path])
    assert said in str(caught.value)


MANY = """\
descripton: x
include: [nowhere]
settings: {stirct: true, capacity: 0}
models: {glm-5.22: {context: 5}}
rules:
  - when: {endpoint: chatt, sys: a}
    faults: [{kind: reset, afer: 1, rate: 2}, rest]
  - refuse: {status: 429, headers: {x: "a\\nb"}}
    faults: [{kind: reset, afer: 1, rate: 2}, rest]
  - reply: [{txt: x}, y]
phases:
  - name: calm
    until: {request: 1}
    next: strom
    rules: [{times: 0, reply: x}, {delay: 1, faults: [crfl]}]
  - name: storm
"""

ALL_OF_THEM = [
    "line 1, description: description is missing",
    "line 1, descripton: unknown key 'descripton'. Did you mean 'description'?",
    "line 2, include[0]: there is no scenario 'nowhere'.",
    "line 3, settings.stirct: there is no setting 'stirct'. Did you mean 'strict'?",
    "line 3, settings.capacity: setting capacity is 0: input should be greater than or equal to 1",
    "line 4, models.glm-5.22: unknown model 'glm-5.22'. Did you mean 'glm-5.2'?",
    "line 6, rules[0].when.endpoint: 'chatt' is not allowed: ",
    "line 6, rules[0].when.sys: unknown key 'sys'. Did you mean 'says'?",
    "line 7, rules[0].faults[0].afer: reset: unknown parameter 'afer'. Did you mean 'after'?",
    "line 7, rules[0].faults[0].rate: reset: rate is 2: ",
    "line 7, rules[0].faults[1]: unknown fault kind 'rest'. Did you mean 'reset'?",
    "line 8, rules[1].refuse: header 'x'",
    "line 9, rules[1].faults[0].afer: reset: unknown parameter 'afer'. Did you mean 'after'?",
    "line 9, rules[1].faults[0].rate: reset: rate is 2: ",
    "line 9, rules[1].faults[1]: unknown fault kind 'rest'. Did you mean 'reset'?",
    "line 10, rules[2].reply[0].txt: unknown key 'txt'. Did you mean 'text'?",
    "line 13, phases[0].until.request: unknown key 'request'. Did you mean 'requests'?",
    "line 14, phases[0].next: there is no phase 'strom'. Did you mean 'storm'?",
    "line 15, phases[0].rules[0].times: 0 is not allowed: ",
    "line 15, phases[0].rules[1].faults[0]: unknown fault kind 'crfl'. Did you mean 'crlf'?",
]


def test_all_mistakes_are_told_at_once(folder):
    """Whatever can be looked at is, though something else is wrong; each mistake stands in a line."""
    path = written(folder, "many", MANY)
    checked = run("check", str(path))
    assert checked.returncode == 1
    lines = checked.stderr.splitlines()
    assert all(line.startswith(f"{path}, line ") for line in lines)
    found = sorted(line.removeprefix(f"{path}, ") for line in lines)
    assert len(found) == len(ALL_OF_THEM)
    for line, wanted in zip(found, sorted(ALL_OF_THEM), strict=True):
        assert line.startswith(wanted), line


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "{faults: [{kind: reset, afer: 3}], repply: hi}",
            [
                "rules[0].faults[0].afer: reset: unknown parameter 'afer'. Did you mean 'after'?",
                "rules[0].repply: unknown key 'repply'. Did you mean 'reply'?",
            ],
        ),
        (
            "{times: 0, reply: x, refuse: 429}",
            [
                "rules[0].times: 0 is not",
                "rules[0]: a rule has one of reply, refuse, let_through, not reply and ref",
            ],
        ),
        (
            "{faults: [{after: 1}, rest], when: {says: 1}}",
            [
                "rules[0].faults[0].kind: kind is missing",
                "rules[0].faults[1]: unknown fault kind 'rest'. Did you mean 'reset'?",
                "rules[0].when.says: 1 is not allowed",
            ],
        ),
        ("{repply: hi}", ["rules[0].repply: unknown key 'repply'. Did you mean 'reply'?"]),
        ("{fault: [reset], tmes: 1}", ["rules[0].fault: unknown", "rules[0].tmes: unknown"]),
        ("hi", ["rules[0]: 'hi' is not allowed"]),
    ],
)
def test_all_of_a_rule_is_looked_at(folder, rule, said):
    """What is right about a rule is checked further, though another key of it is wrong; nothing is told twice."""
    path = written(folder, "rule", f"description: x\nrules: [{rule}]\n")
    with pytest.raises(MistakenFile) as caught:
        from_file(path)
    found = sorted(one.partition("line 2, ")[2] for one in caught.value.mistakes)
    assert len(found) == len(said), found
    for line, wanted in zip(found, said, strict=True):
        assert line.startswith(wanted), line


def test_mistakes_of_included_files_are_told_with_the_rest(folder):
    """A broken file that is included names its own lines; circles name the include that closes them."""
    outer = written(folder, "outer", "description: x\ninclude:\n  - inner\n  - other\nrulez: []")
    inner = written(folder, "inner", "description: x\ninclude: [outer]\nrules: [{refuse: 4290}]")
    written(folder, "other", "description: x")
    lines = run("check", "outer", "nowhere", "--scenarios", str(folder)).stderr.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        f"{outer}, line 5, rulez",
        f"{inner}, line 3, rules[0].refuse",
        f"{inner}, line 2, include[0]",
        "nowhere",
    ]
    with pytest.raises(MockError) as caught:
        EngyMock(scenario_folders=[folder], scenarios=["inner"])
    assert "rules[0].refuse" in str(caught.value)


def test_what_includes_a_broken_file_tells_the_lines_of_that_file(folder):
    written(folder, "outer", "description: x\ninclude: [inner]")
    inner = written(folder, "inner", "description: x\nrules: [{refuse: 4290}]")
    with pytest.raises(MockError) as caught:
        EngyMock(scenario_folders=[folder], scenarios=["outer"])
    assert str(caught.value).startswith(f"{inner}, line 2, rules[0].refuse: 4290 is not allowed")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("strict", "1", "setting strict is 1: input should be a valid boolean"),
        ("capacity", "'3'", "setting capacity is '3': input should be a valid integer"),
        ("capacity", "0", "setting capacity is 0: input should be greater than or equal to 1"),
        ("capacity", "2.0", "setting capacity is 2.0: input should be a valid integer"),
        ("ping_seconds", "0", "setting ping_seconds is 0: input should be greater than 0"),
        ("ping_seconds", ".inf", "setting ping_seconds is inf: input should be a finite number"),
        ("keep_alive_comments", "-1", "setting keep_alive_comments is -1: input should be greater than 0"),
        ("max_images", "-1", "setting max_images is -1: input should be greater than or equal to 0"),
        ("workers", "[{zdr: 1}]", "setting workers[0].zdr is 1: input should be a valid boolean"),
        ("workers", "[{zrd: true}]", "setting workers[0].zrd is True: unexpected keyword argument"),
        ("allowed_hosts", "[1]", "setting allowed_hosts[0] is 1: input should be a valid string"),
        (
            "allowed_hosts",
            "example.org",
            "setting allowed_hosts is 'example.org'",
        ),
    ],
)
def test_settings_have_the_type_that_they_have(folder, name, value, said):
    """Nothing is taken for something else; file, line and key are told."""
    path = written(folder, "s", f"description: x\nsettings:\n  prompt_cache: true\n  {name}: {value}")
    with pytest.raises(MockError) as caught:
        EngyMock(scenarios=[path])
    assert f"s.yaml, line 4, settings.{name}: {said}" in str(caught.value)


def test_lists_become_what_a_setting_is(engy, folder):
    text = "description: x\nsettings: {workers: [{zdr: true}, {}], allowed_hosts: [a.example], ping_seconds: 2}"
    scene = engy.scenario(written(folder, "s", text))
    assert engy.settings.workers == (Worker(zdr=True), Worker())
    assert engy.settings.allowed_hosts == frozenset({"a.example"})
    assert engy.settings.ping_seconds == 2
    scene.end()
    assert engy.settings.workers == WORKERS


def test_includes_bring_their_rules_behind_the_own(folder):
    written(folder, "inner", "description: x\nrules:\n  - reply: inner\n  - when: {says: b}\n    reply: b")
    written(folder, "outer", "description: x\ninclude: [inner]\nrules:\n  - when: {says: a}\n    reply: outer")
    with EngyMock(scenario_folders=[folder], scenarios=["outer"]) as engy:
        assert [scene.name for scene in engy.gateway.scenes.stage.scenes] == ["outer", "inner"]
        for said, heard in (("a", "outer"), ("b", "inner")):
            assert ask(engy, stream=False, text=said).document["choices"][0]["message"]["content"] == heard


def test_circles_are_told(folder):
    written(folder, "a", "description: x\ninclude: [b]")
    written(folder, "b", "description: x\ninclude: [c]")
    written(folder, "c", "description: x\ninclude: [a]")
    with pytest.raises(MockError) as caught:
        EngyMock(scenario_folders=[folder], scenarios=["a"])
    assert str(caught.value) == (
        f"{folder / 'c.yaml'}, line 2, include[0]: scenarios include each other: a > b > c > a"
    )


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("{text: a, logprobs: {a: 0.5}}", "logprobs= takes numbers from -100 to 0, got 0.5 for 'a'"),
        (
            "{text: a, usage: {prompt_tokens: 1, completion_tokens: 1, cached_tokens: 2}}",
            "usage= has 2 cached_tokens, a part of prompt_tokens, which are 1",
        ),
        (
            "{text: a, usage: {prompt_tokens: 1, completion_tokens: 1, reasoning_tokens: 2}}",
            "usage= has 2 reasoning_tokens, a part of completion_tokens, which are 1",
        ),
        (
            "{text: a, usage: {prompt_tokens: 1000000001, completion_tokens: 1}}",
            "usage= counts whole tokens from 0 to 1000000000, got 1000000001 for prompt_tokens",
        ),
    ],
)
def test_replies_of_files_say_what_an_answer_can_say(folder, reply, said):
    """What `reply()` refuses, a file is refused with its line."""
    path = written(folder, "s", f"description: x\nrules:\n  - reply: {reply}")
    with pytest.raises(MockError) as caught:
        EngyMock(scenarios=[path])
    assert f"line 3, rules[0].reply{'[1]' if reply[0] == '[' else ''}: {said}" in str(caught.value)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"prompt_tokens": -1}, "usage= counts whole tokens from 0 to 1000000000, got -1 for prompt_tokens"),
        (
            {"completion_tokens": 1.5},
            "usage= counts whole tokens from 0 to 1000000000, got 1.5 for",
        ),
        ({"prompt_tokens": True}, "got True for prompt_tokens"),
        ({"cached_tokens": 6}, "usage= has 6 cached_tokens, a part of prompt_tokens, which are 5"),
        ({"reasoning_tokens": 6}, "usage= has 6 reasoning_tokens, a part of completion_tokens, which are 5"),
    ],
)
def test_counts_that_no_answer_has(engy, counts, said):
    """In `reply()` and in a Reply handed to it."""
    usage = Usage(**{"prompt_tokens": 5, "completion_tokens": 5, **counts})
    for handed in ({"text": "x", "usage": usage}, {"text": ["y", Reply(text="x", usage=usage)]}):
        with pytest.raises(MockError) as caught:
            engy.when().reply(**handed)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("a" * 65, "is no name of a scenario: it has more than 64 characters"),
        ("a" * 252, "is no name of a scenario: it has more than 64 characters"),
        ("a" * 5000, "is no name of a scenario: it has more than 64 characters"),
        (f"{'a' * 5000}.yaml", "cannot be read"),
        ("a\0b.yaml", r"a\x00b.yaml: cannot be read"),
        ("a\ud800.yaml", r"a\xd800.yaml: cannot be read"),
        ("a\0/b", r"a\x00/b: cannot be read"),
    ],
)
def test_names_and_paths_that_no_file_can_have(engy, wanted, said):
    with pytest.raises(MockError) as caught:
        engy.scenario(wanted)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_two_files_of_one_name_do_not_replace_each_other(engy, folder):
    """The same file begins anew, by whatever path; another one of its name is told, included or not."""
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    first = written(folder / "one", "same", "description: x\nrules: [{refuse: 418}]")
    second = written(folder / "two", "same", "description: x\nrules: [{refuse: 503}]")
    around = written(folder / "two", "around", "description: x\ninclude: [same]")
    engy.scenario(first)
    engy.scenario(folder / "two" / ".." / "one" / "same.yaml")
    for wanted in (second, around):
        with pytest.raises(MockError) as caught:
            engy.scenario(wanted)
        assert "one/same.yaml and" in str(caught.value).replace("\\", "/")
        assert str(second) in str(caught.value)
    assert ask(engy).status == 418
    inside = written(folder / "one", "around", "description: x\ninclude: [same]")
    assert engy.scenario(inside).name == "around"


def test_two_files_of_one_name_are_told_among_those_included(folder):
    (folder / "own").mkdir()
    written(folder, "same", "description: x")
    written(folder, "outer", "description: x\ninclude: [same, inner]")
    written(folder / "own", "inner", "description: x\ninclude: [same]")
    written(folder / "own", "same", "description: x")
    with pytest.raises(MockError, match="two scenarios are called same"):
        EngyMock(scenario_folders=[folder / "own"], scenarios=[folder / "outer.yaml"])


PHASES = """\
description: Calm, a storm by count, then for thirty seconds, then calm for good.
phases:
  - name: calm
    until: {requests: 2}
  - name: gusts
    until: {requests: 3}
    rules:
      - refuse: 429
        times: 2
  - name: storm
    until: {seconds: 30}
    rules: [{refuse: 503}]
  - name: after
"""


def test_phases_end_by_count_by_time_and_when_told(folder):
    with EngyMock() as engy:
        scene = engy.scenario(written(folder, "phases", PHASES))

        def statuses(count):
            return [ask(engy, stream=False, seed=number).status for number in range(count)]

        assert statuses(5) == [200, 200, 429, 429, 200]
        assert scene.phase == "storm"
        engy.clock.advance(29)
        assert statuses(2) == [503, 503]
        engy.clock.advance(1)
        assert scene.phase == "after"
        assert statuses(2) == [200, 200]
        scene.go("gusts")
        assert statuses(4) == [429, 429, 200, 503]
        with pytest.raises(MockError, match=r"has no phase 'clam'. Did you mean 'calm'"):
            scene.go("clam")


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        ("[{name: a, until: {seconds: 0}, next: a}]", "line 2, phases[0].until.seconds: the phases a > a follow"),
        (
            "\n  - {name: z, until: {requests: 1}}\n  - {name: a, until: {seconds: 0}}\n"
            "  - {name: b, until: {seconds: 0.001, requests: 3}, next: a}",
            "line 4, phases[1].until.seconds: the phases a > b > a follow each other without taking any time",
        ),
    ],
)
def test_phases_that_go_round_without_time_are_told_at_once(folder, phases, said):
    with pytest.raises(MockError) as caught:
        EngyMock(scenarios=[written(folder, "s", f"description: x\nphases: {phases}")])
    assert said in str(caught.value)


def test_phases_may_go_round_for_long(engy, folder):
    """A circle that takes time is where it should be after a million rounds; one of its phases may have none."""
    text = (
        "description: x\nphases: [{name: first, until: {seconds: 5}}, {name: up, until: {seconds: 2}},"
        " {name: turn, until: {seconds: 0}}, {name: down, until: {seconds: 1}, next: up}]"
    )
    scene = engy.scenario(written(folder, "round", text))
    assert scene.phase == "first"
    engy.clock.advance(5 + 3_000_000 + 1)
    assert scene.phase == "up"
    engy.clock.advance(1)
    assert scene.phase == "down"
    engy.clock.advance(1)
    assert scene.phase == "up"


def test_reset_begins_anew(folder):
    """What a mock was made with is there again; what a test began is gone."""
    first = written(folder, "first", PHASES)
    second = written(folder, "second", "description: x\nrules: [{refuse: 418}]")
    with EngyMock(scenarios=[first]) as engy:
        engy.scenario(second)
        assert ask(engy).status == 418
        engy.reset()
        assert [ask(engy, seed=number).status for number in range(3)] == [200, 200, 429]


def test_a_request_asks_for_a_scenario_by_header_where_that_is_allowed(folder):
    """Elsewhere it is refused, with what would allow it (Q-27)."""
    written(folder, "gone", "description: x\nrules: [{refuse: 503, times: 2}]")
    with EngyMock(scenario_folders=[folder]) as engy:

        def status(name):
            import httpx2

            headers = {"Authorization": f"Bearer {engy.api_key}", "X-Engy-Mock-Scenario": name}
            body = body_for("chat", stream=False)
            return httpx2.post(f"{engy.origin}{PATHS['chat']}", headers=headers, json=body)

        for allowed in (False, frozenset[str]()):
            engy.settings.scenario_header = allowed
            refused = status("gone")
            assert refused.status_code == 400
            assert "--scenario-header" in refused.json()["error"]["message"]
        engy.settings.scenario_header = True
        assert [status("gone").status_code for _ in range(3)] == [503, 503, 200]
        unknown = status("gnoe")
        assert unknown.status_code == 400
        assert "Did you mean 'gone'?" in unknown.json()["error"]["message"]
        assert status("../../etc/passwd").status_code == 400
        assert ask(engy, stream=False).status == 200


ROUTES = [
    ("POST", "/v1/chat/completions", ("error", "message")),
    ("POST", "/v1/messages", ("error", "message")),
    ("POST", "/v1/responses", ("error", "message")),
    ("GET", "/v1/models", ("error", "message")),
    ("POST", "/v5/chat/completions", ("detail",)),
]


@pytest.mark.parametrize("is_allowed", [False, True])
@pytest.mark.parametrize(("method", "path", "place"), ROUTES)
def test_a_scenario_that_nobody_may_ask_for_is_refused_in_the_words_of_the_route(method, path, place, is_allowed):
    """Q-27: with the setting and without, and without any rule or scenario under way."""
    model = "openai/gpt-4o" if path.startswith("/v5") else "glm-5.2"
    body = {"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "Hello!"}], "input": "x"}
    body = {key: value for key, value in body.items() if key != ("messages" if "responses" in path else "input")}
    with (
        EngyMock(settings={"scenario_header": ["outage"] if is_allowed else False}) as engy,
        engy.http_client() as client,
    ):
        headers = {"Authorization": f"Bearer {engy.api_key}", "x-api-key": engy.api_key}
        json = body if method == "POST" else None
        assert client.request(method, path, json=json, headers=headers).status_code == 200
        headers["X-Engy-Mock-Scenario"] = "flapping"
        refused = client.request(method, path, json=json, headers=headers)
        assert refused.status_code == 400
        said = refused.json()
        for key in place:
            said = said[key]
        assert said.startswith("X-Engy-Mock-Scenario: ")
        assert ("outage" if is_allowed else "--scenario-header") in said
        assert engy.accounts.default.held_micro == 0


def by_header(engy, name, *, key=None):
    """The answer to a request that asks for a scenario."""
    import httpx2

    headers = {"Authorization": f"Bearer {key or engy.api_key}", "X-Engy-Mock-Scenario": name}
    return httpx2.post(f"{engy.origin}{PATHS['chat']}", headers=headers, json=body_for("chat", stream=False))


BEYOND_RULES = {
    "settings": "settings: {answers: markdown}",
    "account": "account: {discount_percent: 20}",
    "models": "models: {glm-5.2: {is_available: false}}",
    "settings and account": "settings: {answers: markdown}\naccount: {requests_per_minute: 1}",
}


def test_a_file_of_mistakes_is_told_in_part(folder):
    """Q-24: however many there are, nobody waits for all of them."""
    path = written(folder, "wrong", "description: x\nrules:\n" + "  - [a]\n" * 2000)
    with pytest.raises(MockError) as caught:
        EngyMock(scenarios=[path])
    told = str(caught.value).splitlines()
    assert (len(told), told[-1]) == (101, f"{path}: and 1900 mistakes more")


@pytest.mark.slow
def test_a_thousand_rules_of_ten_conditions_fit(folder):
    """Q-24: the bounds are wider than what is promised for rules."""
    words = "endpoint: chat, surface: v1, model: glm-5.2, stream: false, system: a, offers: t, tool_result: false"
    more = "header: {a: b}, field: {user: u}"
    rules = [f"  - {{when: {{{words}, {more}, says: s{number}}}, reply: r}}" for number in range(1000)]
    path = written(folder, "large", "description: x\nrules:\n" + "\n".join(rules))
    assert len(EngyMock(scenarios=[path]).gateway.scenes.stage.rules()) == 1000


@pytest.mark.parametrize("keys", BEYOND_RULES)
def test_a_request_does_not_get_half_a_scenario(folder, keys):
    """What is the same for all requests, one of them cannot ask for: it is refused, not left out."""
    text = f"description: x\n{BEYOND_RULES[keys]}\n"
    written(folder, "whole", text)
    written(folder, "outer", "description: x\ninclude: [whole]\nrules: [{refuse: 503}]")
    with EngyMock(scenario_folders=[folder]) as engy:
        engy.settings.scenario_header = True
        for name in ("whole", "outer"):
            refused = by_header(engy, name)
            assert refused.status_code == 400
            message = refused.json()["error"]["message"]
            assert f"scenario whole has {keys}, which are the same for all requests" in message
        assert engy.settings.answers == "plain"


def test_models_of_a_phase_count_too(folder):
    """A scenario whose phases change models is none for one request either."""
    text = "description: x\nphases: [{name: a}, {name: b, models: {glm-5.2: {is_available: false}}}]"
    written(folder, "phased", text)
    with EngyMock(scenario_folders=[folder]) as engy:
        engy.settings.scenario_header = True
        assert "scenario phased has models" in by_header(engy, "phased").json()["error"]["message"]


def test_a_scenario_of_one_request_mars_refusals_too(folder):
    """Its rules for what the service refuses itself hold; a name that is none changes no refusal."""
    written(folder, "worn", "description: x\nrules: [{when: {refused: 401}, faults: [html-error]}]")
    with EngyMock(scenario_folders=[folder]) as engy:
        engy.settings.scenario_header = True
        assert by_header(engy, "worn", key="sk-other").headers["content-type"] == "text/html"
        assert by_header(engy, "other", key="sk-other").status_code == 401


def test_pages_and_natural_refusals_meet_rules_too(engy):
    """The list of models can be refused; what the service itself refuses can be marred by `refused`."""
    import httpx2

    engy.when(endpoint="models").refuse(503, times=1)
    assert [httpx2.get(f"{engy.base_url}/models").status_code for _ in range(2)] == [503, 200]
    engy.when(refused=404, endpoint="chat").faults("empty-reply")
    assert ask(engy, model="nope").raw == b""
    assert ask(engy).status == 200
    engy.when(endpoint="count_tokens").refuse(529)
    body = body_for("messages", stream=False)
    assert send(engy, "/v1/messages/count_tokens", body).status == 529


def test_pages_meet_rules_that_name_them_alone(engy, folder):
    """A client that looks at the models first neither uses up a rule nor ends a phase."""
    import httpx2

    models = f"{engy.base_url}/models"
    engy.when().refuse(429, times=1)
    engy.when(header={"x-team": "red"}).faults("reset-before-headers")
    engy.when(key=engy.api_key, stream=False).refuse(503)
    assert httpx2.get(models, headers={"x-team": "red"}).status_code == 200
    assert "it does not name endpoint='models'" in engy.journal.last.mismatches[0]
    assert send(engy, "/v1/messages/count_tokens", body_for("messages", stream=False)).status == 200
    assert ask(engy).status == 429
    engy.reset()
    text = "description: x\nphases: [{name: a, until: {requests: 1}}, {name: b, rules: [{refuse: 503}]}]"
    scene = engy.scenario(written(folder, "phased", text))
    for _ in range(3):
        assert httpx2.get(models).status_code == 200
    assert scene.phase == "a"
    assert [ask(engy).status for _ in range(2)] == [200, 503]
    assert httpx2.get(models).status_code == 200


def is_read(engy, document):
    """Whether the reader takes this as a scenario."""
    try:
        engy.gateway.scenes.check(from_sheet(Sheet("f", document), "f"))
    except MockError:
        return False
    return True


@pytest.mark.slow
def test_schema_and_reader_agree():
    """The JSON Schema says yes to what the reader takes, and no to what it does not."""
    document, engy = schema(described()), EngyMock()
    jsonschema.Draft202012Validator.check_schema(document)
    validator = jsonschema.Draft202012Validator(document)
    assert validator.is_valid(yaml.safe_load(FULL))
    assert validator.is_valid(yaml.safe_load(PHASES))
    assert validator.is_valid({"description": "x", "rules": [{"let_through": True}]})
    assert validator.is_valid({"description": "x", "settings": {"workers": [{"zdr": True}], "pace": "slow"}})
    wrongs: list[object] = [
        {"description": "x", "settings": {"stirct": True}},
        {"description": "x", "settings": {"capacity": 0}},
        {"description": "x", "rules": [{"let_through": False}]},
        {"description": "x", "rules": [{"refuse": 200}]},
        {"description": "x", "rulez": []},
        {"description": "x", "rules": [{"faults": ["rest"]}]},
        {"description": "x", "rules": [{"faults": [{"kind": "reset", "afer": 1}]}]},
        {"description": "x", "rules": [{"faults": [{"kind": "reset", "after": -1}]}]},
        {"description": "x", "rules": [{"when": {"endpoint": "chatt"}}]},
        {"rules": []},
    ]
    rules: list[object] = [
        {"reply": "y", "refuse": 429},
        {"refuse": 429, "let_through": True},
        {"reply": None},
        {"faults": []},
        {"times": 2},
        {"reply": []},
        {"reply": {"text": "x", "json": None}},
        {"reply": {"same_as": "a", "text": "x"}},
        {"reply": {"logprobs": {"x": 0.5}}},
        {"reply": {"usage": {"prompt_tokens": 10**9 + 1, "completion_tokens": 1}}},
        {"refuse": {"status": 429, "retry_after": -1}},
        {"refuse": {"status": 429, "retry_after": 1e15}},
        {"refuse": {"status": 429, "headers": {"a b": "c"}}},
        {"pace": 0.001},
        {"delay": 601},
        {"reply": "x", "when": {"field": {"messages..role": "user"}}},
        {"reply": "x", "when": {"field": {"": 5}}},
        {"reply": "x", "when": {"header": {"a b": "c"}}},
        {"faults": [{"kind": "ping-storm", "count": 101}]},
    ]
    wrongs += [{"description": "x", "rules": [rule]} for rule in rules]
    for wrong in wrongs:
        assert not validator.is_valid(wrong), wrong
        assert not is_read(engy, wrong), wrong
    rights: list[object] = [
        {"reply": None, "refuse": 429},
        {"reply": {"text": None, "json": None}},
        {"refuse": {"status": 429, "retry_after": 0}},
        {"refuse": {"status": 429, "retry_after": "soon"}},
        {"faults": ["ping-storm"], "reply": "x"},
        {"delay": 0},
        {"pace": 0.002, "when": {"field": {"messages.0.role": "user"}, "header": {"x-a": "b"}}},
        {"reply": ["x", {"text": "y"}]},
    ]
    for right in rights:
        document = {"description": "x", "rules": [right]}
        assert validator.is_valid(document), right
        assert is_read(engy, document), right


VALUES = [("$defs", "Tempo"), ("$defs", "Worker")]
"""Values of settings that are explained as a whole."""


def parts(document, place=()):
    """Each part of a JSON Schema that is a property, with its place."""
    if isinstance(document, dict):
        for word, value in document.items():
            if word == "properties":
                for name, own in value.items():
                    yield (*place, name), own
            if word != "allOf":  # what keys have to do with each other
                yield from parts(value, (*place, word))
    elif isinstance(document, list):
        for number, item in enumerate(document):
            yield from parts(item, (*place, number))


def test_editors_can_show_what_every_key_means():
    """Each key of a file and each parameter of a kind has a sentence in the JSON Schema."""
    silent = [
        place
        for place, own in parts(schema(described()))
        if place[-1] != "kind" and place[:2] not in VALUES and not str(own.get("description", "")).endswith(".")
    ]
    assert not silent
    forms = schema()["$defs"]
    assert forms["WhenForm"]["properties"]["says"]["description"] == (
        "The last user turn, or a raw prompt, contains the text, as sent or as JSON in it is read."
    )
    (reset,) = [one for one in forms["FaultForm"]["oneOf"] if one["properties"]["kind"]["const"] == "reset"]
    assert "get through first" in reset["properties"]["after"]["description"]


def run(*arguments):
    """The command line, as a user types it."""
    return subprocess.run(
        [sys.executable, "-m", "engy_mock", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
def test_the_command_line_checks_lists_and_shows(folder):
    good, bad = written(folder, "good", PHASES), written(folder, "bad", "description: x\nrulez: 1")
    checked = run("check", str(good), str(bad))
    assert checked.returncode == 1
    assert f"{good}: good" in checked.stdout
    assert "unknown key 'rulez'. Did you mean 'rules'?" in checked.stderr
    bad.unlink()
    listed = run("scenarios", "list", "--scenarios", str(folder))
    assert "good" in listed.stdout
    assert "Calm, a storm by count" in listed.stdout
    assert run("scenarios", "show", "good", "--scenarios", str(folder)).stdout == PHASES
    assert json.loads(run("scenarios", "schema").stdout) == schema(described())
