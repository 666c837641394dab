"""Plans: drawn from a seed alone, in two draws; in words, as rules and as a file."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from engy_mock import EngyMock
from engy_mock.campaigns import firings, profile
from engy_mock.campaigns.drawing import drawn
from engy_mock.campaigns.plan import Plan, Trouble
from engy_mock.campaigns.saving import save
from engy_mock.scripting import notation
from engy_mock.scripting.scenario import from_file
from tests.scripting.captured import body_for

STORMY = profile.named("stormy")


def own(troubles, kinds="1"):
    text = f"description: x\nkinds: {kinds}\ntroubles:\n{troubles}"
    return profile.from_sheet(notation.read(text.encode(), "own.yaml"), "own")


def asked(engy, texts, *, stream=False):
    """What becomes of these questions, one after the other: the faults that each of them meets."""
    with engy.http_client(headers={"Authorization": f"Bearer {engy.api_key}"}) as client:
        for text in texts:
            client.post("/v1/chat/completions", json=body_for("chat", stream=stream, text=text))
    return {entry.request.last_user_text: entry.status for entry in engy.journal if entry.request}


def test_a_seed_is_a_plan():
    """The same seed gives the same plan, other seeds and profiles of other names others."""
    plans = [drawn(STORMY, seed) for seed in range(40)]
    assert [drawn(STORMY, seed).digest for seed in range(40)] == [plan.digest for plan in plans]
    assert len({plan.digest for plan in plans}) == 40


@pytest.mark.slow
def test_a_seed_is_the_same_plan_in_every_process():
    """Neither the process nor its hash seed has a say (D-3)."""
    code = (
        "from engy_mock.campaigns import drawing, profile\n"
        "print([drawing.drawn(profile.named('money'), seed).digest for seed in range(3)])"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1] == f"{[drawn(profile.named('money'), seed).digest for seed in range(3)]}\n"


def test_runs_differ_in_character():
    """A run has a few of the troubles, so that most runs know nothing of what others suffer from."""
    kinds = [frozenset(trouble.what.split()[0] for trouble in drawn(STORMY, seed).troubles) for seed in range(100)]
    assert {len(found) for found in kinds} <= {1, 2, 3, 4}
    assert len(set(kinds)) > 80
    counted = Counter(kind for found in kinds for kind in found)
    assert len(counted) > 30
    assert max(counted.values()) < 60


def test_a_trouble_is_as_likely_as_it_weighs():
    """Of two troubles the one that weighs four times as much is there about four times as often."""
    found = own("  - {fault: reset, times: 1, weight: 4}\n  - {fault: cut, times: 1}\n")
    count = sum(drawn(found, seed).troubles[0].what == "reset" for seed in range(1000))
    assert 750 <= count <= 850


def test_another_row_leaves_the_draws_of_the_others_alone():
    """What a row leaves open is drawn for that row: rows before it do not shift it."""
    row = "  - {fault: {kind: reset, after: {from: 0, to: 1000}}, rate: {from: 0.0, to: 1.0}, times: [1, 2, 3]}\n"
    one, two = own(row), own("  - {fault: crlf}\n  - {delay: 1, times: 2}\n" + row, kinds="3")
    for seed in range(10):
        assert drawn(one, seed).troubles[0] in drawn(two, seed).troubles


def test_at_most_one_befalls_everything_and_it_stands_last():
    """What befalls every request would leave nothing to what stands behind it."""
    found = own("  - {fault: crlf}\n  - {fault: trailers}\n  - {fault: reset, rate: 0.5}\n", kinds="3")
    for seed in range(10):
        assert [trouble.is_always for trouble in drawn(found, seed).troubles] == [False, True]


def test_when_it_happens_is_settled_by_each_request():
    """The order in which requests come does not decide which of them meet a trouble."""
    found = own("  - {refuse: 503, rate: 0.5}\n")
    texts = [f"Question {number}?" for number in range(16)]
    outcomes = []
    for order in (texts, texts[::-1]):
        engy = EngyMock()
        engy.scenario(drawn(found, 3).scenario())
        outcomes.append(asked(engy, order))
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0].values()) == {200, 503}


def test_what_has_happened_can_be_said_outright():
    """The troubles of a run, request by request, do the same again without any draw."""
    found = own("  - {refuse: 503, rate: 0.4}\n  - {fault: 200-empty, rate: 0.4}\n", kinds="2")
    texts = [f"Question {number}?" for number in range(8)] * 2
    plan = drawn(found, 5)
    for names_texts in (True, False):
        first, second = EngyMock(), EngyMock()
        first.scenario(plan.scenario())
        asked(first, texts)
        happened = firings.merged(firings.happened(plan, list(first.journal), names_texts=names_texts))
        assert firings.count(plan, first.journal) == sum(len(trouble.at) for trouble in happened) > 3
        second.scenario(plan.of(happened).scenario())
        asked(second, texts)
        assert [(e.status, e.faults) for e in first.journal] == [(e.status, e.faults) for e in second.journal]


def test_what_befalls_everything_stays_whole():
    """It is one trouble, however many requests it befell; if it befell none, it is none."""
    found = own("  - {fault: crlf}\n")
    engy, calm = EngyMock(), EngyMock()
    plan = drawn(found, 0)
    for mock, stream in ((engy, True), (calm, False)):
        mock.scenario(plan.scenario())
        asked(mock, ["One?", "Two?"], stream=stream)
    assert firings.happened(plan, list(engy.journal), names_texts=True) == plan.troubles
    assert firings.happened(plan, list(calm.journal), names_texts=True) == ()


def test_what_changed_nothing_has_not_happened():
    """A broken tool call does nothing to an answer without any; a good turn of a flapping service is good."""
    found = own(
        "  - {fault: tool-args-invalid, rate: 0.3}\n  - {fault: {kind: flapping, pattern: [[200, 429]]}}\n",
        kinds="2",
    )
    engy = EngyMock()
    plan = drawn(found, 0)
    engy.scenario(plan.scenario())
    asked(engy, [f"Question {number}?" for number in range(12)])
    refused = sum(entry.status == 429 for entry in engy.journal)
    assert firings.count(plan, engy.journal) == refused > 0


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (Trouble(does={"faults": ["crlf"]}, when={"stream": True}), "crlf at all streamed requests"),
        (
            Trouble(does={"faults": [{"kind": "reset", "after": 2}]}, rate=0.2, times=3),
            "reset after=2 at 20% of the requests, 3 times at most",
        ),
        (
            Trouble(does={"refuse": {"status": 429, "retry_after": 1}}, endpoints=("chat", "messages")),
            "refuse 429 retry_after=1 at all chat or messages requests",
        ),
        (
            Trouble(does={"delay": 0.5}, when={"endpoint": "chat", "stream": False, "says": "Why?"}, at=(1, 12)),
            "delay 0.5 at the 1st and 12th of the whole chat requests that say 'Why?'",
        ),
        (
            Trouble(does={"faults": ["cut"]}, when={"model": "kimi-k3"}, at=(23,)),
            "cut at the 23rd request with model='kimi-k3'",
        ),
    ],
)
def test_words(trouble, words):
    """A trouble can be read aloud."""
    assert str(trouble) == words


def test_a_saved_plan_is_a_scenario(tmp_path):
    """What is written can be read again, and says the same."""
    at = Trouble(does={"faults": ["cut"]}, when={"says": "Say: \"ä\" # 'x' {y}"}, at=(2,))
    plan = Plan(profile="stormy", seed=3, troubles=(at,))
    path = save(plan, tmp_path / "new" / "folder", "it")
    (rule,) = from_file(path).rules
    assert rule.at == (2,)
    assert rule.words == at.when
    assert [own.kind for own in rule.faults] == ["cut"]
    assert path.read_text(encoding="utf-8") == plan.text
