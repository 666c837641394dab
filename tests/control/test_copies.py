"""What is copied from an exchange really works elsewhere: the command, the test, the scenario."""

import json
import subprocess
from contextlib import suppress
from typing import Any

import pytest
from httpx2 import RequestError

from engy_mock import EngyMock, ToolCall, Usage
from engy_mock.cli import main
from engy_mock.scripting.library import Library
from engy_mock.serving.copying.literals import literal
from engy_mock.serving.copying.losses import error_of, headers_of
from engy_mock.serving.copying.written import Unreadable, read_fault
from tests.control.conftest import Caller

QUESTION = "Why do bridges sway? It's \"odd\" - isn't it?"
INI = "[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
BY_HISTORY = {"balance-runs-out", "brown-out", "flapping"}
"""Faults that act by what has happened before: what they did is dictated instead."""

BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"model": "glm-5.2", "messages": [{"role": "user", "content": QUESTION}]},
    "/v1/completions": {"model": "glm-5.2", "prompt": QUESTION, "max_tokens": 8},
    "/v1/messages": {"model": "glm-5.2", "max_tokens": 60, "messages": [{"role": "user", "content": QUESTION}]},
    "/v1/responses": {"model": "glm-5.2", "input": QUESTION},
    "/v5/chat/completions": {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": QUESTION}]},
}


def send(engy, path, body, **headers):
    """Send a body, and take what comes, or nothing."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    key = {"x-api-key": engy.api_key} if path.startswith("/v5") else {"authorization": f"Bearer {engy.api_key}"}
    with engy.http_client(timeout=1) as client:
        sent = {**key, "content-type": "application/json", **named}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        with suppress(RequestError):  # some answers break off
            client.post(path, content=data, headers={name: value for name, value in sent.items() if value})


def provoke(engy, path, stream=False, **more):
    body = {**BODIES[path], **more}
    send(engy, path, {**body, "stream": True} if stream else body)


def copies(engy):
    """The copies of all exchanges, by their numbers."""
    ask = Caller(engy)
    return [ask("GET", f"copies/{entry.number}") for entry in engy.journal]


def check_tests(pytester, texts):
    for number, text in enumerate(texts):
        pytester.makepyfile(**{f"test_copy_{number}": text})
    pytester.makeini(INI)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=len(texts))


def check_scenarios(tmp_path, texts, capsys):
    paths = [tmp_path / f"copy-{number}.yaml" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    code = main(["check", *map(str, paths)])
    assert code == 0, capsys.readouterr().err


@pytest.fixture(scope="module")
def various():
    """A mock that has had exchanges of every sort, and the copies of these."""
    engy = EngyMock(control=True, seed=7)
    engy.when(says="cut").reply("one two three four", faults=[{"kind": "cut", "after": 2}])
    engy.when(says="hush").reply("one two three four", faults=["stall"], delay=2.0)
    engy.when(says="rate").refuse(429, 'slow "down", it\'s too much', retry_after=3)
    engy.when(says="tool").reply(tool_calls=[ToolCall("get_weather", city="Paris")], reasoning="Hm.")
    for path in BODIES:
        for stream in (False, path != "/v1/completions"):
            provoke(engy, path, stream=stream)
    for word in ("cut", "hush", "rate", "tool"):
        body = {**BODIES["/v1/chat/completions"], "stream": True}
        send(engy, "/v1/chat/completions", {**body, "messages": [{"role": "user", "content": word}]})
    send(engy, "/v1/chat/completions", b"no json \xff\x00 100%")
    send(engy, "/v1/chat/completions", BODIES["/v1/chat/completions"], authorization="")
    send(engy, "/v1/chat/completions", BODIES["/v1/chat/completions"], content_type="text/plain")
    send(engy, "/v1/chat/completions", {**BODIES["/v1/chat/completions"], "model": "nope"})
    send(engy, "/v5/chat/completions", {"messages": "x"}, x_api_key="")
    send(engy, "/v1/nowhere", {"a": [1.5, True, None, "\ud800"]})
    poor = engy.account("poor", balance_micro=1)
    send(engy, "/v1/chat/completions", BODIES["/v1/chat/completions"], authorization=f"Bearer {poor.key}")
    with engy.http_client() as client:
        client.get("/v1/models")
    return engy, list(zip(engy.journal, copies(engy), strict=True))


@pytest.mark.slow
def test_copied_tests_pass(various, pytester):
    """A stream that breaks off, a refusal, a call of a tool, a body that is no JSON."""
    _, found = various
    wanted = [
        one["pytest"] for entry, one in found if (entry.rule and "hush" not in entry.rule) or entry.status == 400
    ]
    assert len(wanted) == 4
    check_tests(pytester, wanted)


@pytest.mark.slow
def test_all_copied_tests_pass(various, pytester):
    """Stalls, other dialects, other keys and paths too."""
    _, found = various
    assert len(found) > 15
    check_tests(pytester, [one["pytest"] for _, one in found])


def test_copied_scenarios_are_good(various, tmp_path, capsys):
    _, found = various
    made = [(entry, one["scenario"]) for entry, one in found]
    assert [entry.path for entry, text in made if text is None] == ["/v1/nowhere"]
    check_scenarios(tmp_path, [text for _, text in made if text is not None], capsys)


def test_copied_commands_do_the_same_again(various):
    """The same status, error and text, whatever stands in the body."""
    engy, found = various
    with engy:
        for entry, one in found:
            if "stall" in entry.faults[:1]:
                continue
            # Port 0 is that of a client without a socket; a page says the one that it came from.
            command = one["curl"].replace("http://127.0.0.1:0", engy.origin)
            subprocess.run(["sh"], input=command, text=True, capture_output=True, timeout=30, check=False)
            again = engy.journal.last
            assert again.number > entry.number
            for name in ("path", "status", "error", "text", "account", "body"):
                assert getattr(again, name) == getattr(entry, name)


@pytest.mark.slow
def test_a_copied_rule_does_the_same_again(various):
    """The answer, the refusal and the broken stream, on another mock that would say something else."""
    checked = 0
    for entry, one in various[1]:
        if entry.request is None or entry.surface == "v5":
            continue
        other = Caller(EngyMock(seed=99, control=True))
        other("PUT", "scenarios/copied", {"text": one["scenario"]})
        send(other.engy, entry.path, entry.body)
        again = other.engy.journal.last
        assert (again.status, again.text, again.faults) == (entry.status, entry.text, entry.faults)
        checked += 1
    assert checked > 8


def asked(text, **more):
    return {"model": "glm-5.2", "messages": [{"role": "user", "content": text}], **more}


def told(entry):
    """What a client can see of an answer, without what is of one exchange alone."""
    said = entry.generation
    choices = [] if said is None else said.choices
    return (
        (entry.status, entry.error, headers_of(entry), error_of(entry)),
        None if said is None else said.usage,
        [(choice.whole_text, choice.whole_reasoning, choice.finish_reason) for choice in choices],
        [[(call.name, call.arguments) for call in choice.tool_calls] for choice in choices],
        [[call.id for call in choice.tool_calls if call.id == "mine"] for choice in choices],
    )


COUNTED = Usage(prompt_tokens=1000, completion_tokens=3, cached_tokens=9)
WORDED = {
    "hinted": lambda rule: rule.refuse(429, retry_after=30),
    "dated": lambda rule: rule.refuse(503, retry_after="Fri, 01 Jan 2027 00:00:00 GMT"),
    "broken": lambda rule: rule.refuse(429, retry_after=1.5, headers={"X-Odd": "a: b # c"}, type="t", code="c"),
    "blamed": lambda rule: rule.refuse(400, "no\n# 'way'", param="messages", code=""),
    "counted": lambda rule: rule.reply("a", usage=COUNTED),
    "called": lambda rule: rule.reply(tool_calls=[ToolCall("get_weather", call_id="mine")], usage=COUNTED),
    "ended": lambda rule: rule.reply("one two", finish_reason="length"),
    "cut": lambda rule: rule.refuse(503, headers={"X-Odd": "1"}, delay=2.0),
}


@pytest.fixture(scope="module", params=[True, False], ids=["hurried", "unhurried"])
def worded(request):
    """Answers with every part that a rule can word, and their copies."""
    engy = EngyMock(control=True)
    engy.settings.hurries_retries = request.param
    for word, dictate in WORDED.items():
        dictate(engy.when(says=word))
        send(engy, "/v1/chat/completions", asked(word))
    send(engy, "/v1/messages", asked("hinted", max_tokens=9))
    send(engy, "/v1/messages", asked("hello", max_tokens=60, stop_sequences=["e"]))
    for _ in range(2):
        send(engy, "/v1/chat/completions", asked("the same once more " * 30, max_tokens=4))
    send(engy, "/v1/completions", {"model": "glm-5.2", "prompt": ["The sea", "A bridge"], "max_tokens": 5})
    send(engy, "/v1/chat/completions", asked("x", n=3, temperature=1))
    return list(zip(engy.journal, copies(engy), strict=True))


def test_a_copied_rule_leaves_nothing_out(worded):
    """Hints, headers, type and code, counts, ids of calls, several texts: another mock says all of it again."""
    for entry, one in worded:
        other = Caller(EngyMock(control=True))
        other("PUT", "scenarios/copied", {"text": one["scenario"]})
        send(other.engy, entry.path, entry.body)
        assert told(other.engy.journal.last) == told(entry)
        assert "Not copied" not in one["scenario"]


@pytest.mark.slow
def test_copied_tests_leave_nothing_out(worded, pytester):
    """Or they say what it is: tokens that were known from the cache."""
    texts = [one["pytest"] for _, one in worded]
    assert [entry.number for (entry, _), text in zip(worded, texts, strict=True) if "Not copied" in text] == [11]
    assert "    # Not copied: the counts of tokens.\n" in texts[11]
    assert 'refuse(429, "capacity is exhausted", retry_after=30)' in texts[0]
    check_tests(pytester, texts)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/models", None),
        (
            "POST",
            "/v1/messages/count_tokens",
            {"model": "glm-5.2", "messages": [{"role": "user", "content": "x"}]},
        ),
        ("GET", "/v5/models", None),
        ("GET", "/v5/chat/completions/models", None),
        ("POST", "/v5/models", {"name": "mine", "model_vendor": "openai", "model_type": "chat_completion"}),
        ("GET", "/v5/models/nobody", None),
    ],
)
def test_what_no_model_says_is_copied(method, path, body):
    """The rule leaves it to the service, which says the same again."""
    bodies = []
    engy, other = EngyMock(control=True), EngyMock(control=True, seed=0)
    for one in (engy, other):
        with one.http_client() as client:
            headers = {"x-api-key": one.api_key}
            bodies.append(client.request(method, path, json=body, headers=headers).json())
        if one is engy:
            [copy] = copies(engy)
            assert copy["complaint"] is None
            Caller(other)("PUT", "scenarios/copied", {"text": copy["scenario"]})
    assert bodies[0] == bodies[1]
    assert other.journal.last.rule == "scenario copied, rule 1" or engy.journal.last.status == 404


def test_what_no_rule_can_do_is_no_scenario():
    """It says why: never is it another answer than it was."""
    engy = EngyMock(control=True)
    engy.when(says="odd").reply("one two", faults=[Odd()])
    send(engy, "/v1/nowhere", {})
    record = {"name": "mine", "model_vendor": "openai", "model_type": "chat_completion"}
    send(engy, "/v5/models", record)
    with engy.http_client() as client:
        headers = {"x-api-key": engy.api_key}
        records = client.get("/v5/models", headers=headers).json()
        client.get(f"/v5/models/{records['items'][-1]['id']}", headers=headers)
    send(engy, "/v1/chat/completions", asked("odd"))
    path, _, _, known, odd = copies(engy)
    assert path["scenario"] is None
    assert "before any rule is asked" in path["complaint"]
    assert known["scenario"] is None
    assert "of what it knew by then" in known["complaint"]
    assert "# Not copied: status 200.\n" in known["pytest"]
    assert "status ==" not in known["pytest"]
    assert "# Not copied: fault " in odd["scenario"]
    assert "# Not copied: fault " in odd["pytest"]


class Odd:
    """A fault of a test's own, which no text can bring back."""

    def __call__(self, events):
        yield from events


@pytest.mark.parametrize("method", ["HEAD", "GET", "PUT", "DELETE"])
@pytest.mark.parametrize("body", [b"", b'{"a": 1}'])
def test_commands_of_all_methods_come_to_an_end(method, body):
    """A head promises a body that does not come: `curl -X HEAD` would wait for it."""
    engy = EngyMock(control=True)
    with engy:
        with engy.http_client() as client:
            headers = {"content-type": "application/json"} if body else {}
            client.request(method, "/v1/models", content=body, headers=headers)
        [one] = copies(engy)
        command = one["curl"].replace("http://127.0.0.1:0", engy.origin)
        subprocess.run(["sh"], input=command, text=True, capture_output=True, timeout=30, check=True)
    first, again = engy.journal
    assert (first.method, first.body) == (again.method, again.body) == (method, body)
    assert first.status == again.status


def test_a_body_that_was_cut_is_not_copied():
    engy = EngyMock(control=True)
    long = [{"role": "user", "content": "x " * 200_000}]
    send(engy, "/v1/chat/completions", {"model": "glm-5.2", "messages": long})
    [one] = copies(engy)
    assert (one["curl"], one["pytest"], one["scenario"]) == (None, None, None)
    assert "longer than" in one["complaint"]


def test_a_long_body_is_no_argument():
    """Systems bound the length of an argument, so it comes by a pipe."""
    engy = EngyMock(control=True)
    long = [{"role": "user", "content": "%s\\ 'x' " * 15_000}]
    with engy:
        send(engy, "/v1/chat/completions", {"model": "glm-5.2", "messages": long, "max_tokens": 4})
        [one] = copies(engy)
        assert one["curl"].startswith("printf ")
        command = one["curl"].replace("http://127.0.0.1:0", engy.origin)
        subprocess.run(["sh"], input=command, text=True, capture_output=True, timeout=30, check=True)
        assert [entry.status for entry in engy.journal] == [200, 200]
        assert engy.journal[0].body == engy.journal[1].body


@pytest.mark.slow
def test_exchanges_of_all_scenarios_can_be_copied(pytester, tmp_path, capsys):
    """Whatever a scenario does: what is copied of it passes as a test, and is a good scenario.

    One half of the routes for each, by turns.
    """
    tests, scenarios = [], []
    for place, name in enumerate(Library().names()):
        engy = EngyMock(control=True, scenarios=[name])
        for number, path in list(enumerate(BODIES))[place % 2 :: 2]:
            provoke(engy, path, stream=bool(number % 2) and path != "/v1/completions", seed=number)
        for entry, one in zip(engy.journal, copies(engy), strict=True):
            tests.append(one["pytest"])
            scenarios.append(one["scenario"])
            _, claims = one["pytest"].split("exchange = engy.journal.last")
            assert f"exchange.status == {entry.status}\n" in claims
            kinds = {written.partition(" ")[0] for written in entry.faults} - BY_HISTORY
            assert [kind for kind in sorted(kinds) if kind not in claims] == []
    check_scenarios(tmp_path, scenarios, capsys)
    check_tests(pytester, list(dict.fromkeys(tests)))


@pytest.mark.slow
def test_what_a_draw_did_is_dictated(pytester, tmp_path, capsys):
    """A rule of another text draws anew: what is copied says what became of it."""
    engy = EngyMock(control=True, scenarios=["brown-out"])
    for number in range(30):
        send(engy, "/v1/chat/completions", {**BODIES["/v1/chat/completions"], "seed": number})
    refused = [entry.number for entry in engy.journal if entry.status == 503]
    assert len(refused) > 5
    made = [one for number, one in enumerate(copies(engy)) if number in refused]
    assert not [one for one in made if "brown-out" in one["scenario"].partition("rules:")[2]]
    check_scenarios(tmp_path, [one["scenario"] for one in made], capsys)
    check_tests(pytester, [one["pytest"] for one in made])


@pytest.mark.parametrize(
    ("written", "mapping"),
    [
        ("cut", {"kind": "cut"}),
        ("reset after=2", {"kind": "reset", "after": 2}),
        (
            "x text='a b=c' more=(1, 'y z=2')",
            {"kind": "x", "text": "a b=c", "more": [1, "y z=2"]},
        ),
        ("x words={'a': None, 'b': True}", {"kind": "x", "words": {"a": None, "b": True}}),
    ],
)
def test_faults_are_read_back(written, mapping):
    assert read_fault(written) == mapping


@pytest.mark.parametrize("written", ["x after=y()", "x after", "x =1"])
def test_what_is_no_fault_is_not_read(written):
    with pytest.raises(Unreadable):
        read_fault(written)


@pytest.mark.parametrize(
    "value",
    [
        *(1, -2.5, None, True, "", "it's", 'say "it\'s"', "\u00e9\n\ud800\x00"),
        *([], {}, (), (1,), {"a": [1, {"b": "x" * 200}]}, ["x" * 60, "y" * 60], ("a" * 60, "b" * 60, "c")),
    ],
)
def test_literals_are_what_they_stand_for(value):
    assert eval(literal(value)) == value
