"""Answers that would fall silent for ever, and find no place."""

import json
from queue import Queue

import httpx2
import pytest

from engy_mock import EngyMock, Limits, UnmetExpectation, WallClock, faults
from engy_mock.scripting.fault import told
from engy_mock.serving.metrics import Metrics
from engy_mock.serving.watch import Seen
from tests.doors.raw import PATIENCE, Raw, request

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


LONG = {
    "stall": faults.Stall(after=1, seconds=600),
    "slow-headers": faults.SlowHeaders(seconds=10),
    "slow-first-event": faults.SlowFirstEvent(seconds=45),
    "slow-first-event with comments": faults.SlowFirstEvent(seconds=45, comments=True),
    "dribble": faults.Dribble(seconds=20, size=40),
}


@pytest.mark.parametrize("settings", [{}, {"keep_alive_comments": 3}])
@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("name", LONG)
def test_a_stall_with_an_end_needs_a_place_too(name, is_streamed, settings):
    """Q-19: where time passes. Without one the answer goes on at once, and the fault is told as not applied."""
    own = LONG[name]
    if own.is_for_streams and not is_streamed:
        return
    with EngyMock(limits=Limits(max_stalls=0), clock=WallClock(), settings=settings) as engy:
        engy.when().faults(own)
        body = json.dumps({**json.loads(BODY), "stream": is_streamed}).encode()
        with Raw(engy.port) as raw:
            raw.send(request("/v1/chat/completions", body, f"Authorization: Bearer {engy.api_key}"))
            raw.read_answer()
        entry = engy.journal.last
        assert (entry.faults, entry.not_applied, entry.fate) == ((), (told(own),), "served")
        assert entry.text_unsent == ""


class Ended(Queue[Seen]):
    """The exchanges that are over, in order."""

    def began(self, seen):
        """Nobody waits for that."""

    def ended(self, seen):
        self.put(seen)


def test_a_stall_with_an_end_has_its_place_while_it_lasts():
    with EngyMock(limits=Limits(max_stalls=1), clock=WallClock()) as engy:
        over = Ended()
        engy.watch.listeners.append(over)
        engy.when().faults(faults.Stall(after=1, seconds=600))
        asking = request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}")
        for _ in range(2):
            with Raw(engy.port) as held, Raw(engy.port) as late:
                held.send(asking)
                held.read_until(b"\r\n\r\n")
                late.send(asking)
                late.read_answer()
            assert [over.get(timeout=PATIENCE).entry.fate for _ in range(2)] == ["served", "left"]
        assert [entry.faults for entry in engy.journal] == [("stall after=1 seconds=600",), ()] * 2


@pytest.mark.parametrize(
    ("clock", "scale", "own"),
    [
        (None, 1.0, faults.Stall(seconds=600)),
        (WallClock(), 1.0, faults.Stall(seconds=0.01)),
        (WallClock(), 0.00001, faults.Stall(seconds=600)),
    ],
)
def test_what_takes_no_time_needs_no_place(clock, scale, own):
    with EngyMock(limits=Limits(max_stalls=0), clock=clock, time_scale=scale) as engy:
        engy.when().faults(own)
        with Raw(engy.port) as raw:
            raw.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
            raw.read_answer()
        assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((told(own),), ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "settings", "is_inside"),
    [
        (faults.Stall(after=1), {}, False),
        (faults.Dribble(seconds=0.2, size=1), {}, False),
        (faults.Dribble(seconds=0.2, size=1), {}, True),
        (None, {"pace": 0.5}, False),
        (None, {"pace": 0.5}, True),
    ],
)
def test_what_the_service_cuts_has_not_been_left(own, settings, is_inside):
    """Q-18: the client of an answer that lasts too long is still there, and pays nothing."""
    limits = Limits(answer_seconds=0.4)
    with EngyMock(limits=limits, clock=WallClock(), settings=settings, control=not is_inside) as engy:
        over = Ended()
        if own is not None:
            engy.when().faults(own)
        if is_inside:
            headers = {"Authorization": f"Bearer {engy.api_key}"}
            with engy.http_client() as client, pytest.raises(httpx2.TransportError):
                client.post("/v1/chat/completions", content=BODY, headers=headers)
        else:
            engy.watch.listeners.append(over)
            with Raw(engy.port) as raw:
                raw.send(request("/v1/chat/completions", BODY, f"Authorization: Bearer {engy.api_key}"))
                raw.read_to_end()
                over.get(timeout=PATIENCE)
        entry = engy.journal.last
        assert (entry.fate, entry.client_left, entry.charged_micro) == ("cut off", False, 0)
        assert engy.accounts.default.held_micro == 0
