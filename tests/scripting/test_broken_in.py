"""What testers broke once: places, clocks, headers, pages, and rules for refusals."""

import httpx2
import pytest

from engy_mock import EngyMock, MockError, Settings
from engy_mock.scripting.matchers import MATCHERS
from tests.scripting.captured import PATHS, ask, body_for, send


def test_pages_take_no_places(engy):
    """Rules for pages leave the count of calls under way as it is, so that limits hold behind them."""
    engy.when().faults("crlf")
    for _ in range(3):
        httpx2.get(f"{engy.base_url}/models")
        send(engy, "/v1/messages/count_tokens", body_for("messages", stream=False))
        ask(engy, model="nope")
    assert engy.accounts.default.under_way == 0


@pytest.mark.parametrize("seconds", [1e13, -1, float("nan"), float("inf"), "now"])
def test_a_clock_shows_what_dates_can_name(engy, seconds):
    """Milliseconds, above all, are refused when they are set, not at each request."""
    with pytest.raises(MockError, match="a clock"):
        engy.clock.set(seconds)
    with pytest.raises(MockError, match="a clock"):
        engy.clock.advance(seconds)
    assert ask(engy).status == 200


def test_a_scenario_by_header_is_played_like_any_other(tmp_path):
    """Its phases end by count, and what it includes takes part."""
    (tmp_path / "inner.yaml").write_text(
        "description: x\nphases:\n  - {name: a, until: {requests: 2}, rules: [{refuse: 503}]}\n  - {name: b}\n"
    )
    (tmp_path / "outer.yaml").write_text("description: x\ninclude: [inner]\n")
    with EngyMock(scenario_folders=[tmp_path], settings=Settings(scenario_header=True)) as engy:
        headers = {"Authorization": f"Bearer {engy.api_key}", "X-Engy-Mock-Scenario": "outer"}
        body = body_for("chat", stream=False)
        url = f"{engy.origin}{PATHS['chat']}"
        seen = [httpx2.post(url, headers=headers, json=body).status_code for _ in range(4)]
        assert seen == [503, 503, 200, 200]
        assert ask(engy, stream=False).status == 200


def test_rules_for_refusals_take_faults_only(engy):
    with pytest.raises(MockError, match="can be marred by faults, not answered"):
        engy.when(refused=402).reply("free")
    with pytest.raises(MockError, match=r"engy\.journal\.where"):
        engy.asked(refused=402)
    assert "refused" in MATCHERS


def test_a_page_cannot_be_cut_by_its_events(engy):
    """What changes nothing about a list of models is told as not applied."""
    engy.when(endpoint="models").faults({"kind": "cut", "after": 3})
    assert httpx2.get(f"{engy.base_url}/models").json()["data"]
    assert engy.journal.last.faults == ()
    assert engy.journal.last.not_applied == ("cut after=3",)


def test_capture_of_other_line_ends(engy):
    """R-71: every event ends in two CRLF. R-72: no space stands behind the colon."""
    engy.when(says="crlf").faults("crlf")
    engy.when(says="space").faults("data-no-space")
    ends = ask(engy, text="crlf").body
    assert ends.count(b"\r\n\r\n") > 3
    assert b"\n" not in ends.replace(b"\r\n", b"")
    assert b"data:{" in (close := ask(engy, text="space").body)
    assert b"data: {" not in close


@pytest.mark.parametrize("kind", ["history-strict", "signature-strict"])
def test_kinds_that_decide_are_reported_where_they_cannot(engy, kind):
    """D-8: a kind of another dialect is told as not applied, though it only chooses."""
    engy.when().faults(kind)
    ask(engy, "completions", stream=False)
    assert engy.journal.last.not_applied == (kind,)


def test_a_scenario_cannot_lead_out_of_its_folder(tmp_path):
    """A symbolic link out of the roots is no scenario."""
    (tmp_path / "outside.yaml").write_text("description: x\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    with pytest.raises(MockError, match="leads out of its folder"):
        EngyMock(scenario_folders=[inside], scenarios=["link"])


@pytest.mark.parametrize(
    ("allowed", "chosen", "status"),
    [
        (False, "outer", 400),
        (True, "outer", 503),
        (frozenset({"*"}), "outer", 503),
        (frozenset({"outer"}), "outer", 503),
        (frozenset({"inner", "else"}), "outer", 400),
        (frozenset({"outer"}), "unknown", 400),
        (frozenset({"outer"}), "/etc/outer", 400),
        (frozenset(), "outer", 400),
    ],
)
def test_a_request_chooses_among_those_that_it_may(tmp_path, allowed, chosen, status):
    """Q-27: what is not listed is refused, whether or not there is such a scenario, and without any path."""
    (tmp_path / "outer.yaml").write_text("description: x\nrules: [{refuse: 503}]\n")
    with EngyMock(scenario_folders=[tmp_path], settings=Settings(scenario_header=allowed)) as engy:
        headers = {"Authorization": f"Bearer {engy.api_key}", "X-Engy-Mock-Scenario": chosen}
        answer = httpx2.post(f"{engy.origin}{PATHS['chat']}", headers=headers, json=body_for("chat", stream=False))
    assert answer.status_code == status
    assert str(tmp_path) not in answer.text


def test_what_has_the_name_of_a_scenario_but_is_no_file(tmp_path):
    """Nobody is told that the name he wrote is the one that he meant."""
    (tmp_path / "queue.yaml").mkdir()
    with pytest.raises(MockError, match=r"the scenario 'queue' is no file that can be read$"):
        EngyMock(scenario_folders=[tmp_path]).scenario("queue")
