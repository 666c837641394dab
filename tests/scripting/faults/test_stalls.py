"""Faults of time: what comes before the silence, that it lasts, and what is left when somebody ends it."""

import math

import pytest

from engy_mock import EngyMock
from engy_mock.vocabulary.wire import Repeat, Wait
from tests.doors.raw import Raw
from tests.scripting.captured import PATHS, STREAMING, Capture, ask, asking, body_for
from tests.scripting.faults.rows import Row, blocks, cases, name, pieces, steps, told, unplanned
from tests.waiting import until

QUIET = 0.05
"""How long a test listens to silence, in seconds: nothing that follows would be later."""

TEXT = "one two three four"


@pytest.fixture(scope="module")
def _swift():
    with EngyMock(time_scale=0.01) as engy:
        yield engy


@pytest.fixture
def swift(_swift):
    """A mock whose signs of life come a hundred times a second."""
    _swift.reset()
    return _swift


class Waiting:
    """A client that has asked, and reads what comes."""

    def __init__(self, engy, route, *, stream=True):
        self.raw = Raw(engy.port)
        self.raw.send(asking(engy, PATHS[route], body_for(route, stream=stream)))

    def hears(self) -> bytes:
        """All that comes until nothing does."""
        return self.raw.read_until_quiet(QUIET)

    def hears_first(self, mark: bytes) -> bytes:
        """All that comes up to the mark, and until nothing does."""
        return self.raw.read_until(mark) + self.hears()


def plain_of(engy, route, stream):
    engy.when().reply(TEXT)
    plain = ask(engy, route, stream=stream)
    engy.reset()
    return plain


def heard_of(plain: Capture, kind: str) -> bytes:
    """What comes of a stream before the silence."""
    if kind == "slow-first-event":
        return b""
    if kind == "stall-before-terminator":
        last = blocks(plain)[-1]
        is_mark = b"[DONE]" in last or b"message_stop" in last or b"response.completed" in last
        return plain.body.removesuffix(last) if is_mark else plain.body
    return told(plain, 2)


ENDLESS = (
    Row(kind="stall", given={"after": 2}),
    Row(kind="half-open", given={"after": 2}),
    Row(kind="slow-first-event", forms=(True,)),
    Row(kind="stall-before-terminator", forms=(True,)),
)


@pytest.mark.slow
@pytest.mark.parametrize(("row", "route", "stream"), list(cases(ENDLESS)), ids=name)
def test_silence_without_end(engy, row, route, stream):
    """R-78, R-79: the first part comes, then nothing does; who leaves pays for what has come."""
    plain = plain_of(engy, route, stream)
    engy.when().reply(TEXT, faults=[{"kind": row.kind, **row.given}])
    client = Waiting(engy, route, stream=stream)
    heard = Capture(client.hears_first(b"\r\n\r\n"), "kept")
    if stream:
        assert b"".join(_chunks(heard.rest)) == heard_of(plain, row.kind)
    else:
        assert heard.headers["content-length"] == str(len(plain.body))
        assert 0 < len(heard.rest) < len(plain.body)
        assert plain.body.startswith(heard.rest)
    entry = engy.journal.last
    assert (entry.status, len(entry.faults), entry.not_applied) == (200, 1, ())
    account = engy.gateway.accounts.default
    assert engy.journal.last.usage is None
    client.raw.leave()
    if row.kind == "half-open":
        engy.reset()  # the mock does not notice by itself that the client has left
        until(lambda: entry.fate == "cut off")
        assert (account.held_micro, entry.usage, entry.charged_micro) == (0, None, 0)
        return
    until(lambda: entry.usage is not None)
    assert account.held_micro == 0
    assert entry.client_left
    sent = {"slow-first-event": 0, "stall-before-terminator": 4}.get(row.kind, 2)
    assert entry.usage.completion_tokens == entry.pieces_sent == (sent if stream else 0)


def _chunks(rest):
    """The chunks that have come so far."""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        yield rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]


@pytest.mark.slow
@pytest.mark.parametrize("route", PATHS)
@pytest.mark.parametrize("stream", [True, False])
def test_no_headers(engy, route, stream):
    """Not a byte comes."""
    if stream and route == "completions":
        stream = False
    engy.when().reply(TEXT, faults=["slow-headers"])
    client = Waiting(engy, route, stream=stream)
    until(lambda: len(engy.journal) == 1)
    assert client.hears() == b""
    client.raw.leave()
    entry = engy.journal.last
    until(lambda: entry.usage is not None)
    assert (entry.status, entry.faults, entry.pieces_sent) == (0, ("slow-headers",), 0)
    assert engy.gateway.accounts.default.held_micro == 0


BEATING = (
    ("stall-with-comments", STREAMING, b": keep-alive\n"),
    ("stall-with-pings", ("messages",), b'event: ping\ndata: {"type":"ping"}\n\n'),
)


@pytest.mark.parametrize(
    ("kind", "route", "beat"), [(kind, route, beat) for kind, routes, beat in BEATING for route in routes]
)
def test_signs_of_life_without_end(swift, kind, route, beat):
    """They come again and again, the answer does not."""
    plain = plain_of(swift, route, True)
    swift.when().reply(TEXT, faults=[{"kind": kind, "after": 2}])
    client = Waiting(swift, route)
    client.raw.read_until(b"\r\n\r\n")
    body = told(plain, 2)
    chunk = b"%x\r\n%b\r\n" % (len(body), body)
    beats = b"%x\r\n%b\r\n" % (len(beat), beat) * 3
    assert client.raw.read_exactly(len(chunk + beats)) == chunk + beats
    client.raw.leave()
    entry = swift.journal.last
    until(lambda: entry.usage is not None)
    assert (entry.pieces_sent, entry.faults) == (2, (f"{kind} after=2",))
    assert swift.gateway.accounts.default.held_micro == 0


@pytest.mark.parametrize("route", STREAMING)
def test_comments_before_the_first_event(swift, route):
    """R-79: headers at once, comment lines for a while, then the answer."""
    plain = plain_of(swift, route, True)
    swift.when().reply(TEXT, faults=[{"kind": "slow-first-event", "seconds": 3, "comments": True}])
    seen = ask(swift, route)
    assert seen.writes[:-1] == [b": keep-alive\n"] * 3
    assert seen.writes[-1] == plain.body
    assert swift.journal.last.usage is not None


FINITE = (
    Row(kind="stall", given={"after": 2, "seconds": 30}),
    Row(kind="slow-first-event", given={"seconds": 30}, forms=(True,)),
    Row(kind="slow-headers", given={"seconds": 30}),
)


@pytest.mark.parametrize(("row", "route", "stream"), list(cases(FINITE)), ids=name)
def test_silence_for_a_while(engy, row, route, stream):
    """A span of mock time costs nothing while the clock stands still; the answer is the same."""
    plain = plain_of(engy, route, stream)
    engy.when().reply(TEXT, faults=[{"kind": row.kind, **row.given}])
    seen = ask(engy, route, stream=stream)
    assert seen.body == plain.body
    assert engy.journal.last.usage is not None
    waits = [step for step in steps(engy, row, route, stream) if isinstance(step, Wait)]
    assert waits == [Wait(30)]
    if row.kind == "stall" and stream:
        assert seen.writes[0] == told(plain, 2)
    if row.kind != "stall":
        assert unplanned(seen.raw) == unplanned(plain.raw) or stream


def test_a_stall_is_deaf_or_not(engy):
    """Of a connection that is half open nothing is read any more; of one that stalls the end is seen."""
    silent, dead = (steps(engy, Row(kind=kind), "chat", True)[-1] for kind in ("stall", "half-open"))
    assert silent == Wait(math.inf)
    assert dead == Wait(math.inf, is_deaf=True)


def test_a_half_open_connection_is_not_read(engy):
    """What the client still sends piles up until its own system takes no more."""
    engy.when().reply(TEXT, faults=["half-open"])
    client = Waiting(engy, "chat")
    client.hears_first(b"\r\n\r\n")
    client.raw.socket.settimeout(QUIET)
    with pytest.raises(TimeoutError):
        client.raw.send(bytes(64 * 1024 * 1024))
    client.raw.leave()


def test_pings_are_for_messages_only(engy):
    """A dialect without pings stalls with comments, or not at all."""
    engy.when().faults("stall-with-pings")
    assert ask(engy, "chat").is_complete
    assert engy.journal.last.not_applied == ("stall-with-pings",)
    row = Row(kind="stall-with-pings", given={})
    assert isinstance(steps(engy, row, "messages", True)[-1], Repeat)


def test_pieces_are_found(engy):
    """The rows above know the pieces of a plain answer."""
    for route in STREAMING:
        assert len(pieces(plain_of(engy, route, True))) == 4
