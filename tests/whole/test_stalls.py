"""Answers that would fall silent for ever, and find no place."""

import json

import pytest

from engy_mock import EngyMock, Limits, UnmetExpectation
from engy_mock.serving.metrics import Metrics
from tests.doors.raw import Raw, request

BODY = json.dumps(
    {"model": "glm-5.2", "stream": True, "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}
).encode()
METRIC = 'engy_mock_faults_total{{applied="{}",kind="{}"}} 1.0'


@pytest.mark.parametrize("fault", ["stall", "slow-headers", "slow-first-event", "stall-with-comments"])
def test_a_stall_without_a_place_is_not_applied(fault):
    """Q-19: over the cap the fault is counted as not applied wherever one looks, and the test is told of it."""
    with EngyMock(limits=Limits(max_stalls=0)) as engy:
        metrics = Metrics(engy.watch)
        engy.when().faults(fault)
        with Raw(engy.port) as raw:
            raw.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
            raw.read_to_end()
        entry = engy.journal.last
        engy.stop()
        assert (entry.faults, entry.not_applied) == ((), (fault,))
        assert METRIC.format("no", fault) in metrics.text()[1].decode()
        with pytest.raises(UnmetExpectation, match=f"fault '{fault}' changed nothing"):
            engy.verify()


def test_only_the_fault_that_is_silent_is_not_applied():
    """What else befalls the answer has come to it."""
    with EngyMock(limits=Limits(max_stalls=0)) as engy:
        engy.when().faults("sse-comments", "stall")
        with Raw(engy.port) as raw:
            raw.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
            raw.read_to_end()
        entry = engy.journal.last
        assert (entry.faults, entry.not_applied) == (("sse-comments",), ("stall",))


def test_a_stall_with_a_place_is_applied():
    with EngyMock(limits=Limits(max_stalls=1)) as engy:
        metrics = Metrics(engy.watch)
        engy.when().faults("stall")
        with Raw(engy.port) as held, Raw(engy.port) as late:
            held.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
            held.read_until(b"\r\n\r\n")
            late.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
            late.read_to_end()
        engy.stop()
        assert [entry.faults for entry in engy.journal] == [("stall",), ()]
        assert [entry.not_applied for entry in engy.journal] == [(), ("stall",)]
        text = metrics.text()[1].decode()
        assert METRIC.format("yes", "stall") in text
        assert METRIC.format("no", "stall") in text
