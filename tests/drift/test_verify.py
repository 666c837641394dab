"""A server that does as the mock does is found the same, and one that does not is found out."""

import json
from decimal import Decimal
from typing import Any

import pytest

from engy_mock import EngyMock, Usage
from engy_mock.cli import main
from engy_mock.drift import claims
from engy_mock.drift.answer import Answer
from engy_mock.drift.checks import CHECKS
from engy_mock.drift.cost import Tariff
from engy_mock.drift.shape import differences, shape_of
from engy_mock.drift.survey import begun
from engy_mock.model.cards import CARDS
from engy_mock.vocabulary.errors import MockError


def verify(engy, *more, capsys=None):
    return main(["verify", "--base-url", engy.base_url, "--key-env", "REAL_KEY", "--yes", *more])


@pytest.fixture(autouse=True)
def _key(engy, monkeypatch):
    monkeypatch.setenv("REAL_KEY", engy.api_key)


def told(engy, capsys, *more):
    """The exit code and, by the names of the checks, what was found."""
    code = verify(engy, "--json", *more)
    document = json.loads(capsys.readouterr().out)
    return code, {one["name"]: one for one in document["checks"]}, document


def test_the_mock_is_as_the_mock(engy, capsys):
    """Nothing differs, all was looked at, and what was spent is below the estimate and the limit."""
    code, found, document = told(engy, capsys)
    assert {name: one["differences"] for name, one in found.items() if one["differences"]} == {}
    assert (code, document["differing"], document["skipped"]) == (0, 0, 0)
    assert len(found) == len(CHECKS)
    assert 0 < document["spent_micro"] <= document["estimate_micro"] <= document["limit_micro"]
    assert document["spent_micro"] == engy.accounts.default.charged_micro
    for check, entry in zip(CHECKS, list(engy.journal)[2:], strict=True):
        assert (entry.status == 200) == (check.is_paid or check.name in FREE), check.name


FREE = {"models", "models with a bad key", "models with a key", "count_tokens"}


def test_names_are_unique():
    """A check is known by its name."""
    assert len({check.name for check in CHECKS}) == len(CHECKS)


DRIFTS: dict[str, Any] = {
    "another status": (
        {"model": "deepseek-v4.1-flash", "endpoint": "chat", "stream": False},
        lambda rule: rule.refuse(500, "broken"),
        {"chat": "status 500, expected 200"},
    ),
    "a field too few": (
        {"endpoint": "chat"},
        lambda rule: rule.faults("usage-missing"),
        {"chat": "usage"},
    ),
    "events in another order": (
        {"endpoint": "messages", "stream": True},
        lambda rule: rule.faults("no-message-stop"),
        {"messages, streamed": "message_stop"},
    ),
    "no end mark": (
        {"endpoint": "chat", "stream": True},
        lambda rule: rule.faults("no-done"),
        {"chat, streamed": "[DONE]"},
    ),
    "a stream that breaks": (
        {"endpoint": "responses", "stream": True},
        lambda rule: rule.faults({"kind": "cut", "after": 2}),
        {"responses, streamed": "the answer breaks off"},
    ),
    "another envelope": (
        {"refused": 401},
        lambda rule: rule.faults("html-error"),
        {"chat without a key": "content type", "messages without a key": "content type"},
    ),
    "arguments that are cut": (
        {"offers": "get_weather"},
        lambda rule: rule.faults("tool-args-truncated"),
        {"a tool that must be called": "the arguments of get_weather are no JSON object"},
    ),
    "reasons that are none": (
        {},
        lambda rule: rule.faults("finish-odd"),
        {
            "chat": "finish_reason is '', which is none",
            "chat, streamed": "finish_reason is ''",
            "completions": "finish_reason is ''",
            "messages": "stop_reason is ''",
            "messages, streamed": "stop_reason is ''",
            "responses": "status of the response is ''",
            "responses, streamed": "status of the response is ''",
        },
    ),
    "more tokens than were allowed": (
        {"endpoint": "chat", "stream": False},
        lambda rule: rule.reply("x", usage=Usage(prompt_tokens=10, completion_tokens=900)),
        {"chat": "900 tokens came out, and 16 were allowed"},
    ),
}


QUICK = ("another status", "no end mark", "another envelope")


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in DRIFTS]
)
def test_drift_is_found(engy, capsys, case):
    """Each way in which a rule makes the server another one is told at the check that shows it."""
    words, change, expected = DRIFTS[case]
    change(engy.when(**words))
    code, found, _ = told(engy, capsys)
    assert code == 1
    for name, text in expected.items():
        assert text in " ".join(found[name]["differences"]), found[name]
    assert found["models"]["differences"] == []


def called(reason, name, arguments):
    """An answer that calls a tool."""
    call = {"function": {"name": name, "arguments": arguments}}
    return {"choices": [{"finish_reason": reason, "message": {"tool_calls": [call]}}]}


@pytest.mark.parametrize(
    ("claim", "body", "wrong"),
    [
        (claims.usage_adds_up, {"usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 6}}, "is 6"),
        (claims.usage_adds_up, {"usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}}, None),
        (
            claims.usage_adds_up,
            {"usage": {"input_tokens": 2, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 4}}},
            "more than the 2 tokens",
        ),
        (claims.receipt_is_right, {"x_engy": {"request_id": "x", "charged_micro": 1}}, "32 hexadecimal"),
        (
            claims.receipt_is_right,
            {"x_engy": {"request_id": "a" * 32, "charged_micro": 1}},
            "not that of the headers",
        ),
        (claims.model_is("a"), {"model": "b"}, "'b', and 'a' was sent"),
        (claims.logprobs_are_sound, {"logprobs": {"content": [{"token": "x", "logprob": 0.5}]}}, "is 0.5"),
        (claims.logprobs_are_sound, {"logprobs": {"top_logprobs": [{"x": -1.0, "y": 2}]}}, "is 2"),
        (
            claims.logprobs_are_sound,
            {"top_logprobs": [{"token": "x", "logprob": -0.5, "bytes": [87]}], "token_logprobs": [None, -1]},
            None,
        ),
        (claims.rows_are_sound, {"data": [{"id": "a", "pricing": {"prompt": "1e-7"}}]}, "no plain decimal"),
        (
            claims.rows_are_sound,
            {"data": [{"context_length": 1, "max_model_len": 2, "pricing": {}}]},
            "two windows",
        ),
        (claims.is_plain_json, [], "no JSON object"),
        (claims.ends_as_documented, {"choices": [{"finish_reason": "eos"}, 3]}, "finish_reason is 'eos'"),
        (claims.ends_as_documented, {"choices": [{"finish_reason": "length"}], "stop_reason": None}, None),
        (claims.ends_as_documented, {"delta": {"stop_reason": "stop"}}, "stop_reason is 'stop'"),
        (claims.ends_as_documented, {"response": {"object": "response", "status": "done"}}, "is 'done'"),
        (claims.tool_calls_can_be_run("a"), called("stop", "a", '{"city": "Par'), "are no JSON object"),
        (claims.tool_calls_can_be_run("a"), called("stop", "a", "[]"), "are no JSON object"),
        (claims.tool_calls_can_be_run("a"), called("stop", "b", "{}"), "'b' is called"),
        (claims.tool_calls_can_be_run("a"), called("length", "a", '{"city": "Par'), None),
        (claims.tool_calls_can_be_run("a"), called("tool_calls", "a", "{}"), None),
    ],
)
def test_claims(claim, body, wrong):
    """Each claim sees what it is for, and nothing else."""
    answer = Answer(status=200, headers={"content-type": "application/json"}, body=json.dumps(body).encode())
    found = claim(answer)
    assert (found is None) if wrong is None else (found is not None and wrong in found), found


@pytest.mark.parametrize(
    ("claim", "events", "wrong"),
    [
        (claims.chunks_are_alike, [{"id": 1}, {"id": 2}], "id changes"),
        (claims.numbers_rise, [{"sequence_number": 0}, {"sequence_number": 2}], "does not count"),
        (claims.numbers_rise, [{"sequence_number": 0}, {"sequence_number": 1}], None),
        (claims.ends_with_its_mark, [{"id": 1}], r"[DONE]"),
        (claims.names_are_types, [{"type": "a"}], "has the type 'a'"),
        (claims.blocks_follow_each_other, [{"type": "content_block_start", "index": 1}], "before the one before"),
        (claims.blocks_follow_each_other, [{"type": "content_block_start", "index": 0}], "never ends"),
        (claims.blocks_follow_each_other, [{"type": "content_block_delta", "index": 0}], "that is open"),
    ],
)
def test_claims_of_streams(claim, events, wrong):
    """The same for streams."""
    body = "".join([f"data: {json.dumps(event)}\n\n" for event in events]).encode()
    found = claim(Answer(status=200, headers={"content-type": "text/event-stream"}, body=body))
    assert (found is None) if wrong is None else (found is not None and wrong in found), found


def test_the_limit_is_kept(engy, capsys):
    """What would pass the limit is not asked, and the exit code says that something is open."""
    code, found, document = told(engy, capsys, "--limit-micro", "5")
    assert code == 2
    assert document["spent_micro"] <= 5
    assert document["skipped"] > 0
    assert "the limit would be passed" in found["a tool that must be called"]["skipped"]
    code, found, document = told(engy, capsys, "--limit-micro", "0")
    assert (code, document["spent_micro"]) == (2, 0)
    asked = [check for check in CHECKS if not found[check.name]["skipped"]]
    assert all(is_free_anywhere(check) for check in asked)
    assert len(asked) == sum(map(is_free_anywhere, CHECKS))


def is_free_anywhere(check):
    """Whether no server at all can charge for it: nothing is asked of a model, or by nobody."""
    names_no_model = not isinstance(check.body, dict) or "model" not in check.body
    return names_no_model or check.key != "good" or check.name in FREE


@pytest.mark.parametrize("model", ["kimi-k3", "qwen3.6-35b-a3b"])
def test_nothing_is_spent_with_nothing_to_spend(engy, capsys, model):
    """Of a model that accepts what others refuse, too, nothing is asked that it would charge for (E-89)."""
    assert main(["verify", "--base-url", engy.base_url, "--key-env", "REAL_KEY", "--limit-micro", "0"]) == 2
    capsys.readouterr()
    code, found, document = told(engy, capsys, "--limit-micro", "0", "--model", model)
    assert (code, document["spent_micro"], engy.accounts.default.charged_micro) == (2, 0, 0)
    assert found["temperature of 3"]["skipped"]


def test_what_a_model_accepts_belongs_to_the_estimate():
    """A temperature that is refused by others costs as much as any other answer of kimi-k3 (E-49, E-89)."""
    survey = begun(Odd(Answer(status=400)), "key", "kimi-k3", 10**6)
    paid = sum([survey.cost_of(check) for check in CHECKS if check.is_paid])
    accepted = [check for check in CHECKS if check.name in ("temperature of 3", "top_p of 2")]
    assert survey.estimate_micro == paid + sum(map(survey.cost_of, accepted))
    assert all(survey.cost_of(check) > 100 for check in accepted)


DEAR = """
description: A model that costs fifty times as much.
rules: []
models:
  deepseek-v4.1-flash: {price_factor: 50}
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no-finish-reason", "usage-missing", "usage-zero", "html-error", "reset"])
@pytest.mark.parametrize("limit", [300, 700])
def test_the_limit_is_kept_without_receipts(engy, capsys, tmp_path, kind, limit):
    """What an answer does not prove to have cost less counts at its worst, so that no limit is passed."""
    (tmp_path / "dear.yaml").write_text(DEAR, encoding="utf-8")
    engy.scenario(str(tmp_path / "dear.yaml"))
    engy.when().faults(kind)
    _, _, document = told(engy, capsys, "--limit-micro", str(limit))
    assert engy.accounts.default.charged_micro <= document["spent_micro"] <= limit


TARIFF = Tariff(input=Decimal(2), output=Decimal(3), longest=1000)


@pytest.mark.parametrize(
    ("words", "proven"),
    [
        ({"body": b'{"x_engy": {"charged_micro": 7}, "usage": {"prompt_tokens": 1, "completion_tokens": 1}}'}, 7),
        ({"body": b'{"usage": {"prompt_tokens": 10, "completion_tokens": 5}}'}, 35),
        ({"body": b'{"usage": {"input_tokens": 10, "output_tokens": 5}}'}, 35),
        ({"body": b'{"usage": {"prompt_tokens": 0, "completion_tokens": 0}}'}, None),
        ({"body": b'{"x_engy": {"charged_micro": -7}}'}, None),
        ({"body": b'{"usage": {"prompt_tokens": 10, "completion_tokens": 5}}', "trouble": "breaks off"}, None),
        ({"body": b"{}"}, None),
        ({"body": b"no JSON", "status": 500}, None),
        ({"body": b"no JSON", "status": 402}, 0),
        (
            {
                "headers": {"content-type": "text/event-stream"},
                "body": b'data: {"usage": {"input_tokens": 10, "output_tokens": 1}}\n\n',
            },
            None,
        ),
        (
            {
                "headers": {"content-type": "text/event-stream"},
                "body": b'data: {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}\n\ndata: [DONE]\n\n',
            },
            35,
        ),
    ],
)
def test_what_an_answer_proves(words, proven):
    """A receipt, or counts that are whole, show what an answer cost; a refusal costs nothing."""
    assert TARIFF.proven(Answer(**{"status": 200, **words})) == proven


def test_what_a_request_costs_at_most():
    """As many tokens as it lets come out, or as the model can say; the prompt with a margin."""
    assert TARIFF.most(10, {"model": "x", "max_tokens": 4}) == 30 + 12
    assert TARIFF.most(10, {"model": "x", "max_output_tokens": 4, "prompt": ["a", "b"]}) == 30 + 24
    assert TARIFF.most(10, {"model": "x"}) == 30 + 3000
    assert TARIFF.most(10, {"previous": "x"}) == 0
    assert TARIFF.most(10, {"model": "x", "max_tokens": 0}) == 30 + 3000
    assert TARIFF.most(10, {"model": "x", "max_tokens": 0, "max_completion_tokens": 4}) == 30 + 12


class Generous:
    """A server that answers what it should refuse, and counts what it would charge."""

    def __init__(self):
        self.charged_micro = 0

    def ask(self, method, path, headers, body):
        if method == "GET":
            return Answer(status=200, headers={"content-type": "application/json"}, body=b'{"data": []}')
        self.charged_micro += 36
        usage = {"prompt_tokens": 100, "completion_tokens": 400}  # 36 micro-USD at the list price
        return Answer(
            status=200, headers={"content-type": "application/json"}, body=json.dumps({"usage": usage}).encode()
        )


def test_a_server_that_charges_for_what_it_should_refuse():
    """After the first such charge nothing is free any more: what could pass the limit is not asked."""
    server = Generous()
    survey = begun(server, "key", "deepseek-v4.1-flash", 50)
    results = list(survey.results())
    assert (survey.spent_micro, server.charged_micro) == (36, 36)
    assert sum(one.skipped is not None for one in results) > len(CHECKS) // 2


class Lenient:
    """A server that answers whatever asks a model with a good key, at the greatest length that it may have."""

    def __init__(self, prices, longest):
        self.charged_micro = 0
        self.prices, self.longest = prices, longest

    def ask(self, method, path, headers, body):
        shown = " ".join(headers.get(name, "") for name in ("authorization", "x-api-key"))
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        if (
            path.endswith("count_tokens")
            or "good key" not in shown
            or not isinstance(said, dict)
            or "model" not in said
        ):
            return Answer(status=400, headers={"content-type": "application/json"}, body=b"{}")
        bounds = [said.get(name) for name in ("max_completion_tokens", "max_tokens", "max_output_tokens")]
        made = next((bound for bound in bounds if bound), self.longest)
        made *= len(said["prompt"]) if isinstance(said.get("prompt"), list) else 1
        self.charged_micro += int(len(body) * self.prices.input + made * self.prices.output)
        return Answer(status=200, headers={"content-type": "application/json"}, body=b"{}")


@pytest.mark.parametrize("limit", [0, 60, 500, 6000])
def test_the_limit_is_kept_by_what_answers_everything(limit):
    """What a request can cost that should be refused counts before it is sent."""
    card = next(card for card in CARDS if card.id == "deepseek-v4.1-flash")
    server = Lenient(card.prices, card.max_output)
    survey = begun(server, "good key", card.id, limit)
    results = list(survey.results())
    assert server.charged_micro <= survey.spent_micro <= limit
    assert all(one.skipped is None for one in results if is_free_anywhere(one.check))
    assert any(one.skipped for one in results) is (limit < 6000)


def test_nothing_is_spent_without_consent(engy, capsys, monkeypatch):
    """Without --yes and without anybody to ask, only the list of models and the key were looked at."""
    assert main(["verify", "--base-url", engy.base_url, "--key-env", "REAL_KEY"]) == 2
    said = capsys.readouterr().out
    assert "cost at most" in said
    assert "--yes" in said
    assert [entry.path for entry in engy.journal] == ["/v1/models", "/v1/chat/completions"]
    assert engy.accounts.default.charged_micro == 0


def test_the_report_for_people(engy, capsys):
    """One line for each check with its rule, the differences below it, and a sum."""
    engy.when(endpoint="completions").refuse(503, "no")
    assert verify(engy) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "same     E-20   models with a bad key" in lines
    place = lines.index("DIFFERS  E-154  completions")
    assert lines[place + 1].strip() == "status 503, expected 200"
    assert "different" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base-url", "http://127.0.0.1:1/v1", "--key-env", "REAL_KEY"], "cannot be reached"),
        (["--base-url", "{}", "--key-env", "NOT_SET"], "'NOT_SET' is not set"),
        (["--base-url", "http://192.0.2.1/v1", "--key-env", "REAL_KEY"], "use https"),
        (["--base-url", "{}", "--key-env", "REAL_KEY", "--model", "mine"], "the mock has no model 'mine'"),
    ],
)
def test_what_keeps_it_from_looking(engy, capsys, arguments, message):
    """A server that is not there, or a key that is not, is exit code 2 and a reason."""
    arguments = [argument.format(engy.base_url) for argument in arguments]
    assert main(["verify", "--yes", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_key_is_shown_to_nobody_else(engy, capsys):
    """Neither report has the key in it (Q-40)."""
    for more in ((), ("--json",)):
        verify(engy, *more)
        said = capsys.readouterr()
        assert engy.api_key not in said.out + said.err


@pytest.mark.slow
def test_another_model_and_its_price(engy, capsys):
    """The estimate is made of the prices that the server tells."""
    code, _, cheap = told(engy, capsys)
    assert code == 0
    code, found, dear = told(engy, capsys, "--model", "glm-5.2", "--limit-micro", "60000")
    assert {name: one["differences"] for name, one in found.items() if one["differences"]} == {}
    assert dear["estimate_micro"] > 5 * cheap["estimate_micro"]
    assert code == 0


class Odd:
    """A server that says the same to everything."""

    def __init__(self, answer):
        self.answer = answer

    def ask(self, method, path, headers, body):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=200),
        Answer(status=200, headers={"content-type": "application/json"}, body=b'{"data": 5}'),
        Answer(status=200, headers={"content-type": "application/json"}, body=b'{"data": [{"id": 5}, 6]}'),
        Answer(status=200, headers={"content-type": "text/event-stream"}, body=b"data: [DONE]\n\ndata: x\n\n: y"),
        Answer(
            status=200, headers={"content-type": "text/event-stream"}, body=b'event: a\ndata: {"usage": 1}\n\n'
        ),
        Answer(
            status=200,
            headers={"content-type": "application/json"},
            body=b'{"usage":{"prompt_tokens":"x"},"x_engy":{"charged_micro":"1"},"choices":[1],"data":[{"pricing":{}}]}',
        ),
        Answer(status=599, body=b"\xff" * 100),
    ],
)
def test_any_answer_whatever_is_taken(answer):
    """No answer makes the survey itself fail: each check tells what is wrong."""
    survey = begun(Odd(answer), "key", None, 10**6)
    results = list(survey.results())
    assert len(results) == len(CHECKS)
    assert sum(bool(one.differences) for one in results) > len(CHECKS) // 2


def test_a_server_that_goes_away():
    """What is not answered is told as that, at each check."""
    survey = begun(Odd(Answer(status=200)), "key", None, 10**6)
    survey.server = Odd(ConnectionRefusedError(111, "Connection refused"))
    assert {one.differences for one in survey.results()} == {("no answer: Connection refused",)}
    with pytest.raises(MockError, match="cannot be reached"):
        begun(Odd(TimeoutError("timed out")), "key", None, 1)


def test_a_server_that_falls_silent():
    """After one wait in vain nothing more is asked, and that is said."""
    survey = begun(Odd(Answer(status=200)), "key", None, 10**6)
    results = survey.results()
    next(results)
    survey.server = Odd(TimeoutError("timed out"))
    silent, *others = results
    assert silent.differences == ("no answer: TimeoutError",)
    assert {one.skipped for one in others} == {"not asked: the server has fallen silent"}


def test_a_refused_key(engy, capsys, monkeypatch):
    """One line says it, in place of a difference at every check that shows the key."""
    monkeypatch.setenv("REAL_KEY", "sk-engy-no-such-key")
    engy.settings.closed_accounts = True
    assert verify(engy) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "engy-mock: the key is refused with 401\n")
    assert len(engy.journal) == 2


@pytest.mark.parametrize("limit", ["-4", "1.5", "x"])
def test_a_limit_that_is_none(engy, capsys, limit):
    """Nobody spends less than nothing."""
    with pytest.raises(SystemExit) as raised:
        verify(engy, "--limit-micro", limit)
    assert raised.value.code == 2
    assert f"--limit-micro: '{limit}' is no whole number from 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "found", "said"),
    [
        ({"a": 1}, {"a": 2}, []),
        ({"a": 1.5}, {"a": 2}, []),
        ({"a": 1}, {"a": 2.5}, ["a: number, expected whole number"]),
        ({"a": "x"}, {"a": None}, ["a: null, expected text"]),
        ({"a": {"b": 1}}, {}, ["a: nothing, expected object"]),
        ({}, {"a": {"b": 1}}, ["a: object, expected nothing"]),
        ({"object": "list"}, {"object": "page"}, ["object: 'page', expected 'list'"]),
        ({"a": [{"b": 1}]}, {"a": []}, []),
        (
            {"a": [{"b": 1}, {"b": None}]},
            {"a": [{"b": 1}]},
            ["a[].b: whole number, expected null or whole number"],
        ),
        ({"a": []}, {"a": [1, 2]}, []),
        ([1], {"a": 1}, ["the whole: object, expected list", "[]: nothing, expected whole number"]),
    ],
)
def test_shapes(expected, found, said):
    """Kinds are compared place by place, values only where they are words of the interface."""
    told = list(differences(shape_of([expected]), shape_of([found])))
    assert [text for text in told if text in said] == said
    assert bool(told) == bool(said)


@pytest.mark.slow
def test_the_mock_through_a_recorder_is_the_same(engy, capsys, tmp_path):
    """A recorder changes nothing that a client could tell."""
    from tests.recording.conftest import recorders

    with recorders(tmp_path) as start:
        recorder = start(engy.base_url, key=engy.api_key)
        survey = begun(_probe(recorder.port), engy.api_key, None, 500)
        differing = {one.check.name: one.differences for one in survey.results() if one.differences}
    # Its own refusals are of the recorder, and the key that it shows is always the good one.
    assert all("key" in name for name in differing), differing
    with EngyMock(cassette=recorder.tape.path, replay="lenient") as played:
        assert played.gateway.replay is not None


def _probe(port):
    from engy_mock.drift.probe import Probe

    return Probe(scheme="http", host="127.0.0.1", port=port, prefix="/v1")
