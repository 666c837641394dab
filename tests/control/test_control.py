"""The control API shows and changes one mock, and says what is wrong with what it does not take."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import httpx2
import pytest

from engy_mock import EngyMock, ToolCall, WallClock
from engy_mock.scripting import notation
from tests.control.conftest import CONTROL, Caller
from tests.doors.raw import PATIENCE


def test_health_and_readiness_name_the_instance(ask):
    """Q-43: who waits for his own mock knows it by the instance, whoever listens on the port."""
    alive, ready = ask("GET", "health"), ask("GET", "ready")
    assert (alive["status"], ready["status"], alive["name"]) == ("ok", "ready", "engy-mock")
    assert alive["instance"] == ready["instance"]
    assert Caller(EngyMock(control=True))("GET", "health")["instance"] != alive["instance"]


def test_without_control_there_is_none():
    engy = EngyMock()
    with engy.http_client() as client:
        assert client.get("/_mock/health").status_code == 404
    assert len(engy.journal) == 1


def test_control_calls_are_not_in_the_journal(ask):
    ask("GET", "state")
    ask("GET", "nowhere", status=404)
    assert len(ask.engy.journal) == 0


def test_the_state_at_a_glance(ask):
    ask.chat()
    state = ask("GET", "state")
    assert (state["exchanges"], state["accounts"], state["under_way"], state["seed"]) == (1, 1, 0, 0)
    assert state["api_key"] == ask.engy.api_key
    assert state["defects"] == state["complaints"] == []


def test_settings_are_all_those_that_there_are(ask):
    changed = ask("PATCH", "settings", {"strict_tools": True, "capacity": 3, "workers": [{"zdr": True}]})
    assert changed == ask("GET", "settings")
    assert (changed["strict_tools"], changed["capacity"], changed["workers"][0]["zdr"]) == (True, 3, True)
    assert ask.engy.settings.capacity == 3
    header = ask("PATCH", "settings", {"scenario_header": ["outage"]})["scenario_header"]
    assert (header, ask.engy.settings.scenario_header) == (["outage"], {"outage"})
    ask("PATCH", "settings", {"cors_origins": ["https://App.test"]})
    assert ask.engy.settings.cors_origins == {"https://app.test"}


def test_the_clock_is_moved(ask):
    start = ask("GET", "clock")["now"]
    assert ask("PATCH", "clock", {"advance": 1.5})["now"] == start + 1.5
    assert ask("PATCH", "clock", {"now": 0}) == {"now": 0.0, "is_wall_clock": False, "runs": False}
    assert ask.engy.clock.now() == 0


def test_the_clock_runs_and_stands(ask):
    """Pauses really wait only while it runs; a reset lets it stand where it began."""
    assert ask("PATCH", "clock", {"runs": True})["runs"] is True
    assert ask("GET", "state")["runs"] is True
    assert ask.engy.clock.waits_for_real()
    ask("PATCH", "clock", {"now": 1000})
    before = ask("GET", "clock")["now"]
    ask("PATCH", "clock", {"advance": 50})
    assert ask("GET", "clock")["now"] >= before + 50 >= 1050
    stands = ask("PATCH", "clock", {"runs": False})
    assert (stands["runs"], ask("GET", "clock")) == (False, stands)
    ask("PATCH", "clock", {"runs": True})
    ask("POST", "reset", {})
    assert ask("GET", "clock") == {"now": 1792281600, "is_wall_clock": False, "runs": False}


def test_a_wall_clock_is_not_moved():
    caller = Caller(EngyMock(control=True, clock=WallClock()))
    assert caller("GET", "clock")["is_wall_clock"]
    assert caller("GET", "clock")["runs"]
    assert "cannot be moved" in caller("PATCH", "clock", {"advance": 1}, status=409)["error"]["message"]


def test_scenarios_go_on_and_off(ask):
    listed = {one["name"]: one for one in ask("GET", "scenarios")["scenarios"]}
    assert list(listed) == sorted(listed)
    broken, phases = listed["broken"], listed["phases"]
    assert (broken["name"], broken["is_on"]) == ("broken", False)
    assert "line 2" in broken["complaint"]
    assert (phases["name"], phases["is_on"], phases["phases"]) == ("phases", False, ["refusing", "well"])
    begun = ask("PUT", "scenarios/phases", {})
    assert (begun["is_on"], begun["phase"]) == (True, "refusing")
    assert begun["text"].startswith("description: Refuses first")
    assert ask.chat().status_code == 429
    [rule] = ask("GET", "rules")["rules"]
    assert (rule["scenario"], rule["used"], rule["answer"]) == ("phases", 1, "refuse 429")
    assert ask("PUT", "scenarios/phases", {"phase": "well"})["phase"] == "well"
    assert ask.chat().status_code == 200
    assert ask("PUT", "scenarios/phases", {"phase": "refusing"})["phase"] == "refusing"
    assert ask("DELETE", "scenarios/phases")["is_on"] is False
    assert ask.chat().status_code == 200
    assert "line 2" in ask("PUT", "scenarios/broken", {}, status=400)["error"]["message"]


def test_a_scenario_may_stand_in_no_file(ask):
    text = "description: x\nrules: [{when: {says: rain}, reply: It rains.}]\n"
    assert ask("PUT", "scenarios/made-here", {"text": text})["is_on"]
    answer = ask.chat("Will it rain?").json()
    assert answer["choices"][0]["message"]["content"] == "It rains."
    assert "made-here" in [one["name"] for one in ask("GET", "scenarios")["scenarios"]]
    assert ask("GET", "scenarios/made-here")["text"] == text
    wrong = ask("PUT", "scenarios/made-here", {"text": "description: x\nruels: []\n"}, status=400)
    assert "line 2" in wrong["error"]["message"]
    assert "Did you mean 'rules'?" in wrong["error"]["message"]


def test_rules_are_put_in_and_taken_out(ask):
    made = ask("POST", "rules", {"rules": [{"when": {"says": "rain"}, "reply": "It rains.", "times": 1}]})
    assert [(rule["scenario"], rule["times"]) for rule in made["rules"]] == [(None, 1)]
    assert ask.chat("rain").json()["choices"][0]["message"]["content"] == "It rains."
    assert ask("GET", "rules")["rules"][0]["used"] == 1
    assert ask("DELETE", "rules") == {"rules": []}
    wrong = ask("POST", "rules", {"rules": [{"reply": "x", "tiems": 1}]}, status=400)["error"]["message"]
    assert "Did you mean 'times'?" in wrong


@pytest.mark.parametrize(
    "name", ["x", "../x", "%2e%2e%2fphases", "%2Fetc%2Fpasswd", "phases%00", "a" * 500, "phases.yaml", "Phases"]
)
def test_names_never_become_other_paths(ask, name):
    """Q-26: what is no name of a scenario is refused before any file is looked for."""
    for method, body in (("GET", None), ("PUT", {})):
        answer = ask._client.request(
            method,
            f"/_mock/scenarios/{name}",
            json=body,
            headers={"X-Engy-Mock-Control": "1", "content-type": "application/json"},
        )
        assert answer.status_code in (400, 404)
        assert "etc" not in answer.text or "passwd" not in answer.text


def test_accounts_are_opened_and_changed(ask):
    opened = ask("POST", "accounts", {"name": "poor", "balance_micro": 5, "requests_per_minute": 2})
    [key] = opened["keys"]
    assert ask.chat(key=key).status_code == 402
    changed = ask(
        "PATCH",
        "accounts/poor",
        {
            "deposit_micro": 95,
            "requests_per_minute": None,
            "max_concurrent": 4,
            "discount_percent": {"glm-5.2": 12.5},
            "prices": {"kimi-k3": {"input": "0.5", "output": "1", "cached": "0.1"}},
            "add_key": True,
        },
    )
    assert (changed["balance_micro"], changed["requests_per_minute"], changed["max_concurrent"]) == (100, None, 4)
    assert (changed["discount_percent"], changed["prices"]["kimi-k3"]["input"]) == ({"glm-5.2": 12.5}, "0.5")
    assert len(changed["keys"]) == 2
    assert ask.chat(key=key).status_code == 200
    assert ask("GET", "accounts/poor")["charged_micro"] > 0
    assert ask("PATCH", "accounts/poor", {"revoke_key": key})["keys"] == changed["keys"][1:]
    assert ask.chat(key=key).status_code == 401
    assert ask("PATCH", "accounts/poor", {"is_closed": True})["keys"] == []
    listed = ask("GET", "accounts")["accounts"]
    assert [account["name"] for account in listed] == ["default", "poor"]
    assert not [account for account in listed if "keys" in account]


def test_a_change_is_all_or_nothing(ask):
    ask("POST", "accounts", {"name": "a", "balance_micro": 5})
    change = {"balance_micro": 50, "prices": {"nope": {"input": 1, "output": 1, "cached": 1}}}
    assert "unknown model 'nope'" in ask("PATCH", "accounts/a", change, status=400)["error"]["message"]
    assert ask("GET", "accounts/a")["balance_micro"] == 5


def test_models_come_and_go(ask):
    models = {model["id"]: model for model in ask("GET", "models")["models"]}
    assert models["glm-5.2"]["prices"]["input"] == "0.68"
    assert ask("PATCH", "models/glm-5.2", {"is_available": False})["is_available"] is False
    assert ask.chat().status_code == 404
    vendor = next(model["id"] for model in models.values() if "/" in model["id"])
    assert ask("PATCH", f"models/{vendor.replace('/', '%2F')}", {"is_available": False})["id"] == vendor


def test_the_journal_by_page(ask):
    for number in range(5):
        ask.chat(f"question {number}")
    ask.chat(model="nope")

    def numbers(query):
        page = ask("GET", f"journal?{query}")
        return [one["number"] for one in page["exchanges"]], page["has_more"]

    assert numbers("limit=2") == ([4, 5], True)
    assert numbers("limit=2&before=4") == ([2, 3], True)
    assert numbers("limit=2&before=2") == ([0, 1], False)
    assert numbers("limit=2&after=-1") == ([0, 1], True)
    assert numbers("after=3") == ([4, 5], False)
    assert numbers("status=404&endpoint=chat") == ([5], False)
    assert numbers("model=glm-5.2&account=default&limit=1") == ([4], True)
    page = ask("GET", "journal")
    assert (page["total"], page["lost"]) == (6, 0)
    assert page["exchanges"][0]["asked"] == "question 0"


def test_one_exchange_with_all_that_is_known(ask):
    ask.engy.when(says="France").reply("Paris it is.", reasoning="I know.")
    ask.chat("France?", stream=True, logprobs=True, top_logprobs=2, max_tokens=100).read()
    found = ask("GET", "journal/0")
    assert found["body"]["top_logprobs"] == 2
    assert found["rule"] == "when(says='France')"
    [choice] = found["choices"]
    assert ("".join(choice["text"]), choice["reasoning"] != []) == ("Paris it is.", True)
    assert "".join(token["token"] for token in choice["tokens"]) == "Paris it is."
    assert all(len(token["top"]) == 2 for token in choice["tokens"])
    assert found["head"].startswith("HTTP/1.1 200 OK\r\n")
    sent = "".join(write["text"] for write in found["writes"])
    assert sent.startswith("data: {")
    assert sent.endswith("data: [DONE]\n\n")
    assert found["seconds"] >= found["first_seconds"] >= 0
    assert found["is_over"] is True


def test_a_body_that_is_no_json_is_shown_as_text(ask):
    ask._client.post("/v1/chat/completions", content=b"no json", headers={"authorization": "Bearer sk-engy-x"})
    found = ask("GET", "journal/0")
    assert (found["body"], found["body_text"], found["status"]) == (None, "no json", 400)


def test_keys_are_never_shown(ask):
    """Q-32: neither journal nor wire show who asked."""
    ask.chat(key="sk-engy-canary")
    ask.chat(key="no-good-canary")
    assert "canary" not in str(ask("GET", "journal")) + str(ask("GET", "journal/0")) + str(ask("GET", "journal/1"))


def test_a_plan_is_what_then_happens(ask):
    """Rule, faults, charge and text, without a trace; then the same call for real."""
    ask("POST", "rules", {"rules": [{"when": {"says": "rain"}, "reply": "one two three", "faults": ["cut"]}]})
    body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "rain"}], "max_tokens": 8}
    plan = ask("POST", "plan", {"path": "/v1/chat/completions", "body": body})
    assert (plan["status"], plan["rule"], plan["faults"]) == (200, "rule 1, over HTTP", ["cut"])
    assert plan["steps"][-1]["kind"] == "close"
    assert len(ask.engy.journal) == 0
    assert ask("GET", "rules")["rules"][0]["used"] == 0
    with pytest.raises(Exception, match="closed"):
        ask.chat("rain", stream=True).read()
    assert ask.engy.journal.last.plan == plan["plan"]


def test_a_plan_of_what_is_refused(ask):
    plan = ask("POST", "plan", {"path": "/v1/chat/completions", "body": {"model": "nope", "messages": []}})
    assert plan["status"] == 400
    assert ask("POST", "plan", {"path": "/v1/nowhere"})["status"] == 404
    assert ask("POST", "plan", {"method": "GET", "path": "/v1/models?x=1"})["status"] == 200
    bad = {"path": "/v1/chat/completions", "headers": {"Authorization": "Bearer bad"}, "body": {}}
    assert ask("POST", "plan", bad)["status"] == 401
    assert "records" in ask("POST", "plan", {"path": "/v5/models", "body": {}}, status=400)["error"]["message"]


def test_a_reset_makes_all_as_new(ask):
    """Q-44: also what was said over HTTP."""
    ask.chat()
    ask("PATCH", "settings", {"capacity": 1})
    ask("PATCH", "clock", {"advance": 100})
    ask("POST", "accounts", {"name": "a"})
    ask("POST", "rules", {"rules": [{"reply": "x"}]})
    ask("PUT", "scenarios/phases", {})
    state = ask("POST", "reset", {})
    assert (state["exchanges"], state["accounts"], state["rules"], state["scenarios"]) == (0, 1, 0, [])
    assert ask("GET", "settings")["capacity"] is None
    assert ask("GET", "clock")["now"] == 1792281600


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "nowhere", None, 404, "there is no control route"),
        ("GET", "scenarios/", None, 404, "there is no control route"),
        ("DELETE", "settings", None, 405, "GET, PATCH"),
        ("PATCH", "settings", b"{", 400, "the body is not JSON"),
        ("PATCH", "settings", [], 400, "input should be an object"),
        ("PATCH", "settings", {"stirct": True}, 400, "Known are closed_accounts"),
        ("PATCH", "settings", {"strict": "perhaps"}, 400, "strict: input should be a valid boolean"),
        ("PATCH", "settings", {"cors_origins": ["*"]}, 400, "name each one that is meant"),
        ("PATCH", "settings", {"cors_origins": "https://a.test"}, 400, "cors_origins: input should be an array"),
        ("PATCH", "settings", {"allowed_hosts": ["*"]}, 400, "name each host that is meant"),
        ("PATCH", "settings", {"pace": "weird"}, 400, "pace: input should be"),
        ("PATCH", "settings", {"pace_by_model": {"kimi": "slow"}}, 400, "Did you mean 'kimi-k3'?"),
        ("POST", "reset", b"{", 400, "the body is not JSON"),
        ("POST", "reset", {"x": 1}, 400, "POST /_mock/reset takes no body"),
        ("POST", "plan", [], 400, "input should be an object"),
        ("PATCH", "clock", {}, 400, "say either now or advance or runs"),
        ("PATCH", "clock", {"now": 1, "advance": 1}, 400, "say either now or advance"),
        ("PATCH", "clock", {"now": -1}, 400, "now: input should be greater than"),
        ("PATCH", "clock", {"now": 1e300}, 400, "now: input should be less than"),
        ("PATCH", "clock", {"advance": 253402300799}, 400, "year 9999"),
        ("PUT", "scenarios/nope", {}, 404, "there is no scenario nope"),
        ("PUT", "scenarios/phases", {"phase": "wel"}, 400, "has no phase 'wel'. Did you mean 'well'?"),
        ("DELETE", "scenarios/phases", None, 404, "not under way"),
        ("POST", "rules", {"rules": []}, 400, "rules: list should have at least 1 item"),
        ("GET", "accounts/nope", None, 404, "there is no account 'nope'"),
        ("POST", "accounts", {"name": "default"}, 400, "there is an account 'default' already"),
        ("POST", "accounts", {"key": "x"}, 400, "a key is 'sk-engy-'"),
        ("PATCH", "accounts/default", {"balance_micro": 2**60}, 400, "balance_micro: input should be less"),
        ("PATCH", "accounts/default", {"is_closed": True}, 400, "the default account cannot be closed"),
        ("PATCH", "accounts/default", {"balance_micro": 1, "deposit_micro": 1}, 400, "say either"),
        ("PATCH", "models/nope", {"is_available": True}, 404, "there is no model 'nope'"),
        ("GET", "journal/0", None, 404, "no exchange '0'"),
        ("GET", "journal?limit=0", None, 400, "limit: input should be greater"),
        ("GET", "journal?limt=1", None, 400, "Known are limit"),
        ("GET", "journal?before=1&after=1", None, 400, "say either before or after"),
        ("POST", "plan", {"path": "no path"}, 400, "path: string should match"),
        ("POST", "plan", {"path": "/v1/models", "headers": {"a b": "x"}}, 400, "headers"),
        ("GET", "journal?limit=1_0", None, 400, "limit: a number should stand here, not '1_0'"),
        ("GET", "journal?status=%20200", None, 400, "status: a number should stand here, not ' 200'"),
        ("GET", "verdict?patience=inf", None, 400, "patience: a number should stand here, not 'inf'"),
        (
            "POST",
            "accounts",
            {"balance_micro": True},
            400,
            "balance_micro: input should be a valid integer, not true",
        ),
        (
            "POST",
            "accounts",
            {"balance_micro": "5"},
            400,
            'balance_micro: input should be a valid integer, not "5"',
        ),
        (
            "POST",
            "accounts",
            {"balance_micro": 5.5},
            400,
            "balance_micro: input should be a valid integer, not 5.5",
        ),
        (
            "POST",
            "accounts",
            {"discount_percent": {"a": True}},
            400,
            "discount_percent.a: input should be a valid",
        ),
        ("PATCH", "settings", {"strict": "yes"}, 400, 'strict: input should be a valid boolean, not "yes"'),
        ("PATCH", "settings", {"max_images": True}, 400, "max_images: input should be a valid integer, not true"),
        ("PATCH", "settings", {"pace_by_model": {"glm-5.2": "40"}}, 400, "pace_by_model.glm-5.2: input should be"),
        (
            "PATCH",
            "settings",
            {"scenario_header": "yes"},
            400,
            "scenario_header: input should be a valid boolean, not",
        ),
        (
            "PATCH",
            "settings",
            {"pace": {"per_second": "5"}},
            400,
            "pace.per_second: input should be a valid number",
        ),
        ("PATCH", "settings", {"pace": {"per_second": 1, "x": 1}}, 400, "pace.x: unexpected keyword argument"),
        (
            "PATCH",
            "settings",
            {"workers": [{"zdr": 1}]},
            400,
            "workers.0.zdr: input should be a valid boolean, not 1",
        ),
        ("POST", "plan", {"method": "GET"}, 400, "path: field required"),
        ("POST", "accounts", {"prices": {"glm-5.2": {"input": 1}}}, 400, "prices.glm-5.2.output: field required"),
        ("GET", "journal?model=" + "%ff" * 300, None, 400, "model: string should have at most 200"),
        ("PATCH", "clock", {"advance": True}, 400, "advance: input should be a valid number, not true"),
        ("PATCH", "clock", {"runs": "yes"}, 400, 'runs: input should be a valid boolean, not "yes"'),
    ],
)
def test_mistakes_are_explained(ask, method, path, body, status, message):
    """Never a 5xx, always JSON with what is wrong and where."""
    error = ask(method, path, body, status=status)["error"]
    assert error["status"] == status
    assert message in error["message"]
    assert error["param"] is None or re.fullmatch(r"[\w.]+", error["param"])


def test_a_method_that_is_not_allowed_is_told_which_are(ask):
    with ask.engy.http_client() as client:
        answer = client.delete("/_mock/settings", headers={"X-Engy-Mock-Control": "1", "user-agent": "python"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, PATCH")


def test_a_scenario_that_stands_in_no_file_has_its_text(ask):
    """As long as it is the one under way; of one in a file it is that of the file."""
    for text in ("description: one\nrules: [{reply: x}]\n", "description: two # again\nrules: [{reply: y}]\n"):
        assert ask("PUT", "scenarios/my-own", {"text": text})["text"] == text
        assert ask("GET", "scenarios/my-own")["text"] == text
    ask("PUT", "scenarios/phases", {"text": text})
    assert ask("GET", "scenarios/phases")["text"] == text
    assert ask("DELETE", "scenarios/phases")["text"] == text
    assert ask("GET", "scenarios/phases")["text"].startswith("description: Refuses first")
    ask("POST", "reset", {})
    ask("GET", "scenarios/my-own", status=404)


def test_an_answer_under_way_is_never_too_long_ago(ask):
    """However many have come since: it is under way, and what it has sent is there."""
    engy = ask.engy
    engy.when(says="hold").reply("one two three", faults=[{"kind": "stall", "after": 2}])
    body = {"model": "glm-5.2", "stream": True, "messages": [{"role": "user", "content": "hold"}]}
    headers = {"authorization": f"Bearer {engy.api_key}"}
    asked = ("POST", "/v1/chat/completions")
    with engy.http_client() as client, client.stream(*asked, json=body, headers=headers) as held:
        lines = held.iter_lines()
        assert next(lines).startswith("data: ")
        for number in range(300):
            ask.chat(str(number), max_tokens=1)
        shown = ask("GET", "journal/0")
        assert (shown["is_over"], shown["seconds"], shown["fate"]) == (False, None, "waiting")
        assert len(shown["writes"]) > 0
    shown = ask("GET", "journal/1")
    assert (shown["is_over"], shown["writes"], shown["fate"]) == (True, None, "served")


def test_what_was_said_is_what_got_through(ask):
    """At a glance: of an answer that broke off, what came before."""
    ask.engy.when().reply("one two three four", reasoning="Hm.", faults=[{"kind": "reset", "after": 3}])
    with suppress(httpx2.TransportError):
        ask.chat("x", stream=True)
    [shown] = ask("GET", "journal")["exchanges"]
    assert (shown["pieces_sent"], shown["said"]) == (3, ask.engy.journal.last.text_sent)
    assert shown["said"] in ("", "one")


def test_rules_tell_what_they_say(ask):
    """A refusal is one, and a reply has its words; what only mars an answer says nothing of its own."""
    ask("PUT", "scenarios/busy-hour", {})
    ask.engy.when().reply(["One.", "Two."])
    ask.engy.when().reply("word " * 50)
    ask.engy.when().reply(tool_calls=[ToolCall("get_weather", city="Paris")])
    ask.engy.when().refuse(503)
    ask.engy.when().let_through()
    ask.engy.when().reply(lambda request: "Hello.")
    ask.engy.when().faults("crlf")
    one, long, call, refusal, free, function, fault, *others = [
        rule["answer"] for rule in ask("GET", "rules")["rules"]
    ]
    assert one == 'reply "One.", then 1 more'
    assert re.fullmatch('reply "word word .{,60}…"', long)
    assert call == 'reply get_weather({"city":"Paris"})'
    assert (refusal, free, fault) == ("refuse 503", "let_through", None)
    assert function == "reply by <lambda>"
    assert "refuse 429 retry_after=1.0" in others or "refuse 429 retry_after=1" in others


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "scenarios/mine", {"text": "description: x\nrules: [{reply: read at last}]\n"}),
        ("POST", "rules", {"rules": [{"reply": "read at last"}]}),
    ],
)
def test_a_long_text_is_read_while_others_are_answered(monkeypatch, method, path, body):
    """Q-24: nobody waits for what somebody else has sent to the control API, however long that is."""
    is_reading, is_answered = Event(), Event()
    read = notation.read

    def slowly(*given):
        is_reading.set()
        assert is_answered.wait(PATIENCE)
        return read(*given)

    monkeypatch.setattr(notation, "read", slowly)
    with EngyMock(control=True) as engy, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(httpx2.request, method, f"{engy.origin}/_mock/{path}", json=body, headers=CONTROL)
        assert is_reading.wait(PATIENCE)
        key = {"authorization": f"Bearer {engy.api_key}"}
        asked = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Hello!"}]}
        try:
            first = httpx2.post(f"{engy.base_url}/chat/completions", json=asked, headers=key)
        finally:
            is_answered.set()
        assert (first.status_code, sent.result(PATIENCE).status_code) == (200, 200)
        then = httpx2.post(f"{engy.base_url}/chat/completions", json=asked, headers=key)
        assert then.json()["choices"][0]["message"]["content"] == "read at last"
        broken = httpx2.put(
            f"{engy.origin}/_mock/scenarios/bad", json={"text": "description: [\n"}, headers=CONTROL
        )
        assert broken.status_code == 400
