"""Answers take their time where a setting says so, and are the same answers all the while."""

import json
from dataclasses import replace

import pytest

from engy_mock import EngyMock, MockError
from engy_mock.gateway.settings import checked
from engy_mock.model.tempo import Tempo
from engy_mock.vocabulary.wire import Begin, Call, Wait, Whole, Write

CHAT = {"model": "glm-5.2", "messages": [{"role": "user", "content": "Why do bridges sway?"}]}
OWN = Tempo(first_seconds=2, per_second=4)


@pytest.fixture
def engy():
    return EngyMock()


def steps_of(engy, path="/v1/chat/completions", **fields):
    headers = {"authorization": f"Bearer {engy.api_key}"}
    call = Call(method="POST", path=path, headers=headers, body=json.dumps({**CHAT, **fields}).encode())
    return list(engy.gateway.answer(call))


def waits(steps):
    return [step.seconds for step in steps if isinstance(step, Wait)]


def test_a_stream_is_told_piece_by_piece(engy):
    """The head comes at once, then the first piece after its time, and each next one after the same while."""
    engy.settings.pace = OWN
    begin, first, *rest = steps_of(engy, stream=True)
    assert isinstance(begin, Begin)
    assert first == Wait(2)
    entry = engy.journal.last
    assert waits(rest) == [0.25] * (entry.pieces_sent - 1)
    assert (entry.faults, entry.rule, entry.client_left) == ((), None, False)


def test_a_whole_answer_takes_as_long_as_its_stream(engy):
    """Nothing of it comes before its time."""
    engy.settings.pace = Tempo(first_seconds=2, per_second=4, jitter=0.5)
    silence, whole = steps_of(engy)
    assert isinstance(whole, Whole)
    pieces = engy.journal.last.pieces_sent
    assert 0.7 * (2 + pieces / 4) < silence.seconds < 1.3 * (2 + pieces / 4)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/chat/completions", {"logprobs": True, "top_logprobs": 2}),
        ("/v1/chat/completions", {"stream": True, "stream_options": {"include_usage": True}}),
        ("/v1/messages", {"stream": True, "max_tokens": 200}),
        ("/v1/responses", {"stream": True, "input": "Why do bridges sway?", "messages": None}),
        ("/v1/completions", {"prompt": "Bridges", "max_tokens": 20, "messages": None}),
    ],
)
def test_the_answer_is_the_same_to_the_byte(engy, path, fields):
    """Whatever the pace, what is told, paid and written down is what is told in no time."""
    fields = {name: value for name, value in {**CHAT, **fields}.items() if value is not None}
    told = []
    for pace in ("instant", "slow"):
        engy.reset()
        engy.settings.pace = pace
        headers = {"authorization": f"Bearer {engy.api_key}"}
        call = Call(method="POST", path=path, headers=headers, body=json.dumps(fields).encode())
        steps = list(engy.gateway.answer(call))
        data = b"".join([step.data if isinstance(step, Write) else getattr(step, "body", b"") for step in steps])
        entry = engy.journal.last
        told.append((data, entry.charged_micro, entry.usage, entry.pieces_sent, entry.plan))
        assert entry.status == 200
        assert bool(waits(steps)) is (pace == "slow")
    assert told[0] == told[1]


def test_each_model_has_a_pace_of_its_own(engy):
    """By the profile, and where a setting says otherwise."""
    engy.settings.pace = "realistic"
    slow, quick = (waits(steps_of(engy, model=model, stream=True)) for model in ("kimi-k3", "deepseek-v4.1-flash"))
    assert slow[0] > 2 * quick[0]
    engy.settings.pace_by_model = {"kimi-k3": "instant"}
    assert waits(steps_of(engy, model="kimi-k3", stream=True)) == []
    assert len(waits(steps_of(engy, stream=True))) > 3


def test_jitter_belongs_to_the_request(engy):
    """The same request waits alike in another mock; asked again it is another one."""
    engy.settings.pace = other = replace(OWN, jitter=0.5)
    first, again = waits(steps_of(engy, stream=True)), waits(steps_of(engy, stream=True))
    twin = EngyMock()
    twin.settings.pace = other
    assert waits(steps_of(twin, stream=True)) == first != again
    assert waits(steps_of(EngyMock(seed=1, settings=replace(twin.settings)), stream=True)) != first


def test_answers_beside_each_other_slow_down(engy):
    """By how many there are when one begins: order matters here."""
    engy.settings.pace = replace(OWN, half_at=1)
    headers = {"authorization": f"Bearer {engy.api_key}"}
    body = json.dumps({**CHAT, "stream": True}).encode()
    call = Call(method="POST", path="/v1/chat/completions", headers=headers, body=body)
    held = engy.gateway.answer(call)
    crowded = waits(engy.gateway.answer(call))
    assert (crowded[0], crowded[1]) == (4, 0.5)
    held.close()
    assert waits(engy.gateway.answer(call))[0] == 2


def test_what_a_rule_says_of_time_counts(engy):
    """Its own pace or delay stands in place of the mock's; other faults come on top."""
    engy.settings.pace = OWN
    engy.when(says="own").reply("one two three", pace=10)
    engy.when(says="cut").reply("one two three four", faults=["cut"])
    own = waits(steps_of(engy, stream=True, messages=[{"role": "user", "content": "own"}]))
    assert set(own) == {0.1}
    cut = waits(steps_of(engy, stream=True, messages=[{"role": "user", "content": "cut"}]))
    assert (cut[0], engy.journal.last.faults) == (2, ("cut",))


def test_refusals_and_pages_come_at_once(engy):
    """Nobody computes them."""
    engy.settings.pace = "slow"
    engy.when(says="no").refuse(429)
    assert waits(steps_of(engy, messages=[{"role": "user", "content": "no"}])) == []
    assert waits(steps_of(engy, model="nobody")) == []
    call = Call(method="GET", path="/v1/models", headers={"authorization": f"Bearer {engy.api_key}"})
    assert waits(engy.gateway.answer(call)) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("slwo", "pace is 'slwo': input should be 'instant', 'realistic' or 'slow'"),
        (0, "pace is 0: input should be greater"),
        ({"per_second": 0}, "pace.per_second is 0: input should be greater"),
        ({"per_second": 5, "jitter": 2}, "pace.jitter is 2: input should be less"),
        ({"first_seconds": 1}, "field required"),
        ({"per_second": 5, "half": 2}, "pace.half is 2: unexpected"),
    ],
)
def test_a_pace_that_is_none(value, said):
    """The message is about what was meant."""
    with pytest.raises(MockError) as caught:
        checked("pace", value)
    assert said in str(caught.value)


def test_a_scenario_may_set_it(tmp_path, engy):
    """In the words of Python, per model as well."""
    (tmp_path / "s.yaml").write_text(
        "description: x\nsettings:\n  pace: {per_second: 5, first_seconds: 1}\n  pace_by_model: {kimi-k3: slow}\n"
    )
    scene = engy.scenario(tmp_path / "s.yaml")
    assert engy.settings.pace == Tempo(per_second=5, first_seconds=1)
    assert waits(steps_of(engy, stream=True))[:2] == [1, 0.2]
    assert waits(steps_of(engy, stream=True, model="kimi-k3"))[0] > 2
    scene.end()
    assert engy.settings.pace == "instant"
