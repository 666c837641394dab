"""The word `at` of rules: for these of the requests that fit, and no others."""

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.scripting import notation
from engy_mock.scripting.scenario import from_sheet
from tests.scripting.captured import body_for

CHAT = "/v1/chat/completions"


def staged(rules):
    engy = EngyMock()
    text = f"description: Now and then.\nrules:\n{rules}"
    engy.scenario(from_sheet(notation.read(text.encode(), "now-and-then.yaml"), "now-and-then"))
    return engy


def statuses(engy, *streams):
    headers = {"Authorization": f"Bearer {engy.api_key}"}
    with engy.http_client(headers=headers) as client:
        for stream in streams:
            client.post(CHAT, json=body_for("chat", stream=stream))
    return [entry.status for entry in engy.journal]


def test_only_those_requests():
    """The second and the fourth that fit are refused; the others are not, and later ones neither."""
    engy = staged("  - {at: [2, 4], refuse: 503}\n")
    assert statuses(engy, *[False] * 6) == [200, 503, 200, 503, 200, 200]


def test_only_what_fits_is_counted():
    """Requests that the words of `when` leave out do not count."""
    engy = staged("  - {when: {stream: true}, at: [2], refuse: 503}\n")
    assert statuses(engy, True, False, False, True, True) == [200, 200, 200, 503, 200]


def test_what_another_rule_takes_is_counted():
    """A rule before it may answer: the count goes on, so that taking a rule away moves no other."""
    engy = staged("  - {at: [1], refuse: 429}\n  - {at: [2], refuse: 503}\n  - {at: [3], faults: [200-empty]}\n")
    assert statuses(engy, *[False] * 4) == [429, 503, 200, 200]
    assert [entry.faults for entry in engy.journal] == [(), (), ("200-empty",), ()]


def test_a_scenario_that_begins_again_counts_again():
    """Nothing of the count is left behind."""
    engy = staged("  - {at: [2], refuse: 503}\n")
    assert statuses(engy, False, False) == [200, 503]
    engy.scenario(engy.gateway.scenes.stage.scenes[0].scenario)
    assert statuses(engy, False, False)[2:] == [200, 503]


def test_what_acts_before_a_request_is_read_cannot_count_it():
    """An answer to the head of a request cannot wait for its turn."""
    with pytest.raises(MockError, match="at counts requests when they are read"):
        staged("  - {at: [2], faults: [early-response]}\n")


@pytest.mark.parametrize("at", ["[0]", "[]", "[1.5]", "3", "['x']"])
def test_what_is_no_place(at):
    """Places are whole numbers from 1, and at least one."""
    with pytest.raises(MockError, match=r"now-and-then.yaml, line 3, rules\[0\].at"):
        staged(f"  - {{at: {at}, refuse: 503}}\n")


def test_in_python():
    """`at` stands among the words of `when`; each rule of a chain counts for itself."""
    engy = EngyMock()
    engy.when(stream=True, at=[2, 4]).refuse(503)
    engy.when(at=(1,)).faults("200-empty").refuse(429)
    assert statuses(engy, False, True, True, True, True) == [429, 200, 503, 200, 503]
    assert [entry.faults for entry in engy.journal] == [(), (), (), (), ()]


def test_in_python_it_stands_beside_times_and_rate_too():
    """For one rule of a chain alone, as in a file; not in both places."""
    engy = EngyMock()
    engy.when(stream=True).faults("200-empty", at=[2]).refuse(503, at=[3]).let_through(at=[1]).reply("x", at=[4])
    engy.when().reply("y", at=[1], times=1)
    assert statuses(engy, True, True, True, True, False) == [200, 200, 503, 200, 200]
    assert [entry.rule for entry in engy.journal] == [
        "when(stream=True, at=[1])",
        "when(stream=True, at=[2])",
        "when(stream=True, at=[3])",
        "when(stream=True, at=[4])",
        None,
    ]
    with pytest.raises(MockError, match=r"when\(at=\[2\]\) says at already: \[3\] beside it"):
        engy.when(at=[2]).refuse(503, at=[3])
    with pytest.raises(MockError, match="at takes a list of numbers"):
        engy.when().faults("crlf", at=3)  # type: ignore[arg-type]


def test_in_python_the_journal_names_it():
    """A rule that is for some requests alone says so, and why it left out the others."""
    engy = EngyMock(strict=True)
    engy.when(at=[2]).reply("Now.")
    assert statuses(engy, False, False) == [500, 200]
    assert "when(at=[2]): this is the request 1 of those that fit, it is for [2]" in (engy.journal[0].error or "")
    assert engy.journal[1].rule == "when(at=[2])"


@pytest.mark.parametrize("at", [[], [0], [1.5], ["x"], [True], "2", 3, {2}])
def test_what_is_no_place_in_python(at):
    """Places are whole numbers from 1 in a list, and at least one."""
    with pytest.raises(MockError, match="at takes"):
        EngyMock().when(at=at).refuse(503)


def test_in_python_what_acts_before_a_request_is_read_cannot_count_it():
    """As in a file."""
    with pytest.raises(MockError, match="at counts requests when they are read"):
        EngyMock().when(at=[2]).faults("early-response")
