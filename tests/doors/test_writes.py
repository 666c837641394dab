"""What shares a write on the socket, and when it goes there."""

import asyncio
import math
from types import SimpleNamespace

import pytest

from engy_mock.serving.connections import Doorkeeper
from engy_mock.serving.limits import Limits
from engy_mock.serving.pace import Pace
from engy_mock.serving.shell import Shell
from engy_mock.vocabulary.clock import WallClock, monotonic
from engy_mock.vocabulary.wire import Begin, Close, End, Head, Unframed, Wait, Write
from tests.doors.pretend import Gateway, says, whole
from tests.doors.raw import request
from tests.doors.recorded import Recorder

OK = Head(200, ())
HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: engy-mock\r\nDate: Sun, 18 Oct 2026 00:00:00 GMT\r\n"
    b"X-Content-Type-Options: nosniff\r\n"
)
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def gateway():
    return Gateway()


@pytest.fixture
async def tell(gateway):
    """The writes by which these steps are told, and how the connection ended."""
    recorders = []

    async def tell(*steps, limits=None, time_scale=1.0):
        gateway.answers["/v1/x"] = says(*steps)
        shell = Shell(gateway, limits, time_scale=time_scale)
        recorder = Recorder(Doorkeeper(shell, asyncio.get_running_loop())())
        recorders.append(recorder)
        await recorder.hear(request())
        return recorder

    yield tell
    for recorder in recorders:
        recorder.abort()
    await asyncio.sleep(0.01)


async def test_a_whole_answer_is_one_write(tell):
    recorder = await tell(whole(b"{}", headers=()))
    assert recorder.writes == [HEAD + b"Content-Length: 2\r\n\r\n{}"]


async def test_head_shares_with_the_first_write_and_the_end_with_the_last(tell):
    recorder = await tell(Begin(OK), Write(b"a"), Write(b"b"), Write(b"c"), End())
    assert recorder.writes == [
        CHUNKED + b"1\r\na\r\n",
        b"1\r\nb\r\n",
        b"1\r\nc\r\n0\r\n\r\n",
    ]


async def test_one_piece_is_one_write(tell):
    recorder = await tell(Begin(OK), Write(b"a"), End())
    assert recorder.writes == [CHUNKED + b"1\r\na\r\n0\r\n\r\n"]


async def test_nothing_is_held_back_over_a_pause(tell):
    """Also under a clock that stands still, where the pause takes no time."""
    recorder = await tell(Begin(OK), Wait(1), Write(b"a"), Wait(1), End())
    assert recorder.writes == [CHUNKED, b"1\r\na\r\n", b"0\r\n\r\n"]


async def test_nothing_is_held_back_before_an_endless_pause(tell):
    recorder = await tell(Begin(OK), Write(b"a"), Wait(math.inf))
    assert recorder.writes == [CHUNKED + b"1\r\na\r\n"]
    assert recorder.ending is None


async def test_raw_bytes_stand_alone_and_without_framing(tell):
    recorder = await tell(Begin(OK), Write(b"a"), Unframed(b"zz\r\n"), Close())
    assert recorder.writes == [CHUNKED + b"1\r\na\r\n", b"zz\r\n"]
    assert recorder.ending == "close"


async def test_early_hints_come_before_an_answer_that_is_kept(tell):
    recorder = await tell(Unframed(b"HTTP/1.1 103 Early Hints\r\n\r\n"), whole(b"{}", headers=()))
    assert recorder.writes == [
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        HEAD + b"Content-Length: 2\r\n\r\n{}",
    ]
    assert recorder.ending is None


async def test_a_close_before_anything_says_nothing(tell):
    recorder = await tell(Close())
    assert (recorder.writes, recorder.ending) == ([], "close")


@pytest.mark.parametrize("steps", [(), (Begin(OK), Write(b"a")), (End(),), (Write(b"a"), End())])
async def test_an_answer_without_an_end_ends_the_connection(tell, steps):
    recorder = await tell(*steps)
    assert recorder.ending == "close"


async def test_the_date_is_the_clock_s(tell, gateway):
    gateway.clock.advance(86400)
    recorder = await tell(whole(b""))
    assert b"\r\nDate: Mon, 19 Oct 2026 00:00:00 GMT\r\n" in recorder.writes[0]


async def test_pauses_end_on_a_schedule_that_does_not_drift(monkeypatch):
    """Each sleep ends 1 ms late here, and yet fifty pauses of 4 ms end 1 ms late in all."""
    now = 1000.0

    async def sleep_a_little_longer(seconds):
        nonlocal now
        now += seconds + 0.001

    monkeypatch.setattr("engy_mock.serving.pace.monotonic", lambda: now)
    monkeypatch.setattr("engy_mock.serving.pace.asyncio", SimpleNamespace(sleep=sleep_a_little_longer))
    due, pace = now, Pace(Limits())
    for _ in range(50):
        due = await pace.wait(WallClock(), due, 0.004)
    assert due == pytest.approx(1000.2)
    assert now == pytest.approx(1000.201)


async def test_pauses_take_their_time_on_the_wall(tell, gateway):
    gateway.clock = WallClock()
    began = monotonic()
    recorder = await tell(Begin(OK), Wait(0.02), Write(b"a"), Wait(0.02), End())
    while len(recorder.writes) < 3:
        await asyncio.sleep(0.001)
    assert monotonic() - began >= 0.04


async def test_a_scale_stretches_pauses_on_the_wall(tell, gateway):
    gateway.clock = WallClock()
    recorder = await tell(Begin(OK), Wait(3600), End(), time_scale=1e-6)
    while len(recorder.writes) < 2:
        await asyncio.sleep(0.001)
    assert recorder.writes[-1] == b"0\r\n\r\n"


async def test_a_long_answer_lets_others_have_the_loop(gateway):
    """A stream of many writes without a pause does not keep another client waiting until its end."""
    order = []

    def long(call):
        yield Begin(OK)
        for n in range(1000):
            order.append("long")
            yield Write(b"%d" % n)
        yield End()

    def short(call):
        order.append("short")
        yield whole(b"")

    gateway.answers.update({"/v1/long": long, "/v1/short": short})
    keeper = Doorkeeper(Shell(gateway), asyncio.get_running_loop())
    first, second = Recorder(keeper()), Recorder(keeper())
    await asyncio.gather(first.hear(request("/v1/long")), second.hear(request("/v1/short")))
    first.abort()
    second.abort()
    await asyncio.sleep(0.01)
    assert order.index("short") < 100


async def test_stalls_have_a_bounded_number_of_places(gateway):
    """Over the cap a stall is not performed: the connection ends, and it is counted (Q-19)."""
    gateway.answers["/v1/x"] = says(Begin(OK), Wait(math.inf))
    shell = Shell(gateway, Limits(max_stalls=3))
    keeper = Doorkeeper(shell, asyncio.get_running_loop())
    recorders = [Recorder(keeper()) for _ in range(5)]
    for recorder in recorders:
        await recorder.hear(request())
    assert [recorder.ending for recorder in recorders] == [None, None, None, "close", "close"]
    assert (shell.pace.stalls, shell.pace.refused) == (3, 2)
    keeper.close_all()
    await asyncio.sleep(0.01)
    assert shell.pace.stalls == 0
    assert len(gateway.closed) == 5


async def test_no_stall_lasts_for_ever(tell):
    recorder = await tell(Begin(OK), Wait(math.inf), limits=Limits(stall_seconds=0.02))
    while recorder.ending is None:
        await asyncio.sleep(0.001)
    assert recorder.ending == "close"


async def test_no_pause_is_longer_than_a_stall(gateway, tell):
    """Q-19: whatever made a pause, a client waits for it no longer than for one without end."""
    gateway.clock = WallClock()
    recorder = await tell(Begin(OK), Wait(1e9), Write(b"a"), End(), limits=Limits(stall_seconds=0.02))
    while len(recorder.writes) < 2:
        await asyncio.sleep(0.001)
    assert recorder.writes[-1].endswith(b"0\r\n\r\n")
