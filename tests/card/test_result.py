"""How the end of a call becomes a sign on the card: by what the program got, and by the verdict."""

import pytest

from engy_mock import EngyMock
from tests.card.columns import COLUMNS
from tests.card.result import judged, tell, texts, tool_calls
from tests.matrix.content import Content
from tests.matrix.job import Job
from tests.matrix.outcome import Heard, failed
from tests.scripting.captured import body_for

WHOLE = Job("cut", COLUMNS[0], "whole")
STREAM = Job("cut", COLUMNS[0], "raw")
CALM: Content = {"choices": [{"text": "One two.", "calls": [], "finish": "stop"}], "usage": [9, 2]}
OTHER_USAGE = {**CALM, "usage": [9, 3]}
HALF: Content = {"choices": [{"text": "One", "calls": [], "finish": None}], "usage": None}
CALLED = {"choices": [{"text": "One two.", "calls": [["run", "{"]], "finish": "stop"}], "usage": [9, 2]}
OWN = failed(ValueError("told"), ValueError)
FOREIGN = failed(KeyError("told"), ValueError)
SAID = Heard(said={})


def asked(engy, job, attempts):
    """Ask so often for the same."""
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        for _ in range(attempts):
            client.post("/v1/chat/completions", json=body_for("chat", stream=job.form != "whole"))


@pytest.mark.parametrize(
    ("refused", "faults", "attempts", "job", "heard", "got", "sign"),
    [
        (0, [], 1, WHOLE, SAID, CALM, "answered"),
        (429, [], 2, WHOLE, SAID, CALM, "recovered"),
        (429, [], 2, STREAM, SAID, CALM, "recovered"),
        (429, [], 1, WHOLE, OWN, {}, "gave-up"),
        (429, [], 1, STREAM, OWN, {}, "gave-up"),
        (400, [], 1, WHOLE, OWN, {}, "reported"),
        (400, [], 1, WHOLE, FOREIGN, {}, "raw"),
        (0, ["truncate"], 1, WHOLE, OWN, {}, "gave-up"),
        (0, ["truncate"], 1, STREAM, OWN, {}, "reported"),
        (0, ["truncate"], 1, STREAM, SAID, HALF, "silent"),
        (0, ["usage-zero"], 1, WHOLE, SAID, OTHER_USAGE, "details"),
        (0, [], 1, WHOLE, SAID, CALLED, "passed-on"),
        (0, [], 1, WHOLE, Heard(is_over=False), {}, "hung"),
    ],
)
def test_signs(refused, faults, attempts, job, heard, got, sign):
    """D-7: each sign of the card, from the journal of a mock and what its client says."""
    engy = EngyMock()
    if refused:
        engy.when().refuse(refused, times=1)
    engy.when().reply("One two.", faults=faults)
    asked(engy, job, attempts)
    tell(engy, heard, got)
    found = judged(engy.verdict(), heard, got, CALM, job)
    assert (found.sign, found.error) == (sign, heard.error)


def test_words_of_the_verdict_come_along():
    """Those about waits do not: fixtures ask for a millisecond."""
    engy = EngyMock()
    engy.when().reply("One two.", faults=["truncate"])
    asked(engy, STREAM, 1)
    tell(engy, SAID, HALF)
    assert judged(engy.verdict(), SAID, HALF, CALM, STREAM).words == ("truncated-accepted",)


def test_without_any_exchange_the_program_has_the_word():
    """Behind a door that stays shut nothing is journalled."""
    engy = EngyMock()
    assert judged(engy.verdict(), OWN, {}, CALM, WHOLE).sign == "reported"


BLOCKS = [
    ["thinking", None, "Hm.", "seal", None, None, None],
    ["text", "One", None, None, None, None, None],
    ["tool_use", None, None, None, None, "run", {"a": 1}],
]


@pytest.mark.parametrize(
    ("got", "said", "called"),
    [
        ({}, [""], []),
        (CALLED, ["One two."], [[["run", "{"]]]),
        ({"choices": {0: {"text": "a", "refusal": "b", "calls": {0: ["run", ""]}}}}, ["ab"], [[["run", ""]]]),
        ({"blocks": BLOCKS}, ["One"], [BLOCKS[2]]),
        ({"blocks": dict(enumerate(BLOCKS))}, ["One"], [BLOCKS[2]]),
        ({"text": "One", "calls": [["run", {}]]}, ["One"], [["run", {}]]),
        (
            {
                "pieces": {
                    ("response.output_text.delta", 1): "One",
                    ("response.function_call_arguments.delta", 2): "{}",
                },
                "names": ["run"],
            },
            ["One"],
            [["run"], ["{}"]],
        ),
        (
            {
                "items": [
                    ["reasoning", [["reasoning_text", "Hm.", None, None]], None, None],
                    ["message", [["output_text", "One", None, None]], None, None],
                    ["function_call", [], "run", "{}"],
                ]
            },
            ["One"],
            [["run", "{}"]],
        ),
    ],
)
def test_texts_and_tool_calls(got, said, called):
    """What an answer says and calls, in the form that each kind of client gives it; reasoning is neither."""
    assert (texts(got), tool_calls(got)) == (said, called)
