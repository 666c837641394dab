"""Faults of the transfer, of framing, compression and addresses: what stands on the wire."""

import zlib

import pytest

from engy_mock import MockError
from engy_mock.scripting.faults.compression import zstd
from engy_mock.vocabulary.wire import End, Wait, Write
from tests.scripting.captured import PATHS, STREAMING, ask
from tests.scripting.faults.rows import (
    Row,
    Seen,
    begun,
    blocks,
    cases,
    name,
    perform,
    split,
    steps,
    told,
    unplanned,
)

CRLF2 = b"\r\n\r\n"


def ends(seen: Seen, ending: str, *, is_complete: bool) -> None:
    assert (seen.got.ending, seen.got.is_complete) == (ending, is_complete)


def is_nothing(ending):
    def check(seen: Seen) -> None:
        assert (seen.got.raw, seen.got.ending) == (b"", ending)

    return check


def is_broken_off(after, ending):
    def check(seen: Seen) -> None:
        ends(seen, ending, is_complete=False)
        if seen.stream:
            assert seen.got.body == told(seen.plain, after)
        else:
            assert 0 < len(seen.got.rest) < len(seen.plain.body)
            assert seen.plain.body.startswith(seen.got.rest)
            assert seen.got.headers["content-length"] == str(len(seen.plain.body))

    return check


def is_truncated(seen: Seen) -> None:
    """R-59: the last chunk, or the length, is right; the end of the answer is missing."""
    ends(seen, "fin", is_complete=True)
    if seen.stream:
        assert seen.got.body == told(seen.plain, 2)
        assert b'"stop"' not in seen.got.body
    else:
        assert seen.plain.body.startswith(seen.got.body)
        assert len(seen.got.body) < len(seen.plain.body)


def is_garbage(seen: Seen) -> None:
    assert seen.got.raw == b"SSH-2.0-engy_mock\r\n"
    assert seen.got.ending == "fin"


def has_bad_chunk(seen: Seen) -> None:
    assert (seen.got.headers["transfer-encoding"], seen.got.ending) == ("chunked", "fin")
    assert "content-length" not in seen.got.headers
    body = told(seen.plain, 2) if seen.stream else b""
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    assert seen.got.rest == chunk + b"zz\r\n"


def declares(length):
    def check(seen: Seen) -> None:
        assert seen.got.headers["content-length"] == str(length(len(seen.plain.body)))
        assert "transfer-encoding" not in seen.got.headers
        assert (seen.got.rest, seen.got.ending) == (seen.plain.body, "fin")

    return check


def hints(seen: Seen) -> None:
    first, _, rest = seen.got.raw.partition(CRLF2)
    assert first.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: <")
    assert unplanned(rest) == unplanned(seen.plain.raw)


def is_http10(after):
    def check(seen: Seen) -> None:
        assert seen.got.raw.startswith(b"HTTP/1.0 200 OK\r\n")
        assert not {"content-length", "transfer-encoding"} & set(seen.got.headers)
        assert (seen.got.headers["connection"], seen.got.ending) == ("close", "fin")
        if after is None:
            assert seen.got.rest == seen.plain.body
        elif seen.stream:
            assert seen.got.rest == told(seen.plain, after)
        else:
            assert seen.plain.body.startswith(seen.got.rest)
            assert 0 < len(seen.got.rest) < len(seen.plain.body)

    return check


def has_trailers(seen: Seen) -> None:
    assert seen.got.headers["trailer"] == "X-Engy-Mock-Body-Bytes"
    assert (seen.got.body, seen.got.is_chunked) == (seen.plain.body, True)
    assert seen.got.rest.endswith(b"\r\n0\r\nX-Engy-Mock-Body-Bytes: %d\r\n\r\n" % len(seen.plain.body))


def unpacked(data: bytes) -> tuple[bytes, str]:
    """What comes out of packed data byte by byte, and how that ends."""
    packed, out = zlib.decompressobj(16 + zlib.MAX_WBITS), b""
    try:
        for place in range(len(data)):
            out += packed.decompress(data[place : place + 1])
    except zlib.error:
        return out, "error"
    return out, "whole" if packed.eof and not packed.unused_data else "open"


def is_corrupt(seen: Seen) -> None:
    """R-87: what comes first can be unpacked, then nothing can."""
    assert seen.got.headers["content-encoding"] == "gzip"
    ends(seen, "fin", is_complete=True)
    assert unpacked(seen.got.body) == (told(seen.plain, 2) if seen.stream else b"", "error")


def is_cut_short(seen: Seen) -> None:
    assert seen.got.headers["content-encoding"] == "gzip"
    ends(seen, "fin", is_complete=True)
    body, state = unpacked(seen.got.body)
    assert state == "open"
    assert len(body) < len(seen.plain.body)
    assert seen.plain.body.startswith(body)


def is_packed(coding):
    def check(seen: Seen) -> None:
        assert seen.got.headers["content-encoding"] == coding
        ends(seen, "fin", is_complete=True)
        assert unpacked(seen.got.body) == (seen.plain.body, "whole")

    return check


def unpacked_zstd(data: bytes) -> list[bytes]:
    """The contents of zstd frames that hold their data as it is (RFC 8878, 3.1.1)."""
    frames = []
    while data:
        assert data[:4] == bytes.fromhex("28b52ffd")
        flag, data = data[4] >> 6, data[5:]
        assert data is not None
        width = {0: 1, 1: 2, 2: 4}[flag]
        size = int.from_bytes(data[:width], "little") + (256 if width == 2 else 0)
        data, content, is_last = data[width:], b"", False
        while not is_last:
            head, data = int.from_bytes(data[:3], "little"), data[3:]
            is_last, kind, length = bool(head & 1), head >> 1 & 3, head >> 3
            assert (kind, length <= 128 * 1024) == (0, True)
            content, data = content + data[:length], data[length:]
        assert len(content) == size
        frames.append(content)
    return frames


def is_packed_by_event(seen: Seen) -> None:
    assert seen.got.headers["content-encoding"] == "zstd"
    assert unpacked_zstd(seen.got.body) == blocks(seen.plain)


def leads(origin):
    def check(seen: Seen) -> None:
        assert seen.got.status == 307
        assert (seen.got.body, seen.got.headers["content-length"]) == (b"", "0")
        assert "content-type" not in seen.got.headers
        location = seen.got.headers["location"]
        assert location == origin + PATHS[seen.route]
        assert {*seen.got.headers} >= {"x-engy-mock-plan"}

    return check


def dribbles(size):
    def check(seen: Seen) -> None:
        assert seen.got.body == seen.plain.body
        if seen.stream:
            assert max(len(write) for write in seen.got.writes) == size

    return check


def is_late(seen: Seen) -> None:
    assert unplanned(seen.got.raw) == unplanned(seen.plain.raw)


ROWS = (
    Row(kind="reset-before-headers", check=is_nothing("reset"), paid=False),
    Row(kind="reset", given={"after": 2}, check=is_broken_off(2, "reset"), paid=False),
    Row(kind="cut", given={"after": 2}, check=is_broken_off(2, "fin"), paid=False),
    Row(kind="truncate", given={"after": 2}, check=is_truncated, paid=False),
    Row(kind="empty-reply", check=is_nothing("fin"), paid=False),
    Row(kind="garbage-reply", check=is_garbage, paid=False),
    Row(kind="bad-chunk-size", given={"after": 2}, check=has_bad_chunk, paid=False),
    Row(kind="content-length-long", check=declares(lambda size: size + 64)),
    Row(kind="content-length-short", check=declares(lambda size: size // 2)),
    Row(kind="gzip-corrupt", given={"after": 2}, check=is_corrupt),
    Row(kind="gzip-truncated", check=is_cut_short),
    Row(kind="gzip-unflushed", check=is_packed("gzip"), forms=(True,)),
    Row(
        kind="zstd-per-event",
        check=is_packed_by_event,
        forms=(True,),
        headers=("Accept-Encoding: gzip, zstd;q=0.9",),
    ),
    Row(kind="double-content-encoding", check=is_packed("gzip, gzip")),
    Row(kind="slow-headers", given={"seconds": 600}, check=is_late),
    Row(kind="dribble", given={"size": 7, "seconds": 60}, check=dribbles(7)),
    Row(kind="dribble", check=dribbles(16)),
    Row(kind="early-hints", check=hints),
    Row(kind="http10", check=is_http10(None)),
    Row(kind="http10", given={"after": 2}, check=is_http10(2), paid=False),
    Row(kind="trailers", check=has_trailers),
    Row(kind="redirect-loop", check=leads(""), paid=False),
    Row(kind="redirect-to-http", check=leads("http://127.0.0.1"), paid=False),
)


@pytest.mark.parametrize(("row", "route", "stream"), list(cases(ROWS)), ids=name)
def test_on_the_wire(engy, row, route, stream):
    """Each kind on every route and in each form that it is for."""
    seen = perform(engy, row, route, stream)
    row.check(seen)


@pytest.mark.parametrize(("kind", "ending"), [("reset", "reset"), ("cut", "fin")])
@pytest.mark.parametrize("after", [0, 3])
def test_where_it_breaks(engy, kind, ending, after):
    """R-57, R-58: behind the role, or behind content; the end of the connection is a real one."""
    row = Row(kind=kind, given={"after": after}, paid=False)
    for route in STREAMING:
        engy.reset()
        seen = perform(engy, row, route, True)
        assert (seen.got.ending, seen.got.is_complete) == (ending, False)
        assert seen.got.body == (told(seen.plain, after) if after else begun(seen.plain, route))
        assert seen.entry.pieces_sent == after


@pytest.mark.parametrize("row", ROWS, ids=name)
@pytest.mark.parametrize("stream", [True, False])
def test_the_same_every_time(engy, row, stream):
    """D-1, D-4: the same bytes in the same writes, whatever has been asked in between."""
    seen = []
    for number in range(2):
        engy.reset()
        if number:
            ask(engy, "messages")
        engy.when().reply(row.text, faults=[{"kind": row.kind, **row.given}])
        seen.append(ask(engy, stream=stream, headers=row.headers))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", ["gzip-unflushed", "zstd-per-event"])
def test_whole_answers_have_no_events(engy, kind):
    """What is for streams says so where a rule is for whole answers."""
    with pytest.raises(MockError, match="it is for streams only"):
        engy.when(stream=False).faults(kind)


def test_zstd_is_for_those_who_offer_it(engy):
    """A client that does not unpack zstd is not sent any, and the journal says that the fault found no place."""
    engy.when().faults("zstd-per-event")
    for offered in ((), ("Accept-Encoding: gzip, deflate, zstdx",)):
        assert "content-encoding" not in ask(engy, headers=offered).headers
        assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((), ("zstd-per-event",))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_791, 65_792, 131_072, 131_073, 300_000])
def test_zstd_frames_of_every_size(size):
    """The length stands in one, two or four bytes, and no block is larger than it may be."""
    data = bytes(range(256)) * (size // 256 + 1)
    assert unpacked_zstd(zstd(data[:size])) == [data[:size]]


def test_an_unflushed_stream_comes_at_its_end(engy):
    """Pauses come first, then all pieces in one write: the first of them is as late as the last."""
    engy.when().reply("one two three", faults=["gzip-unflushed"], pace=1)
    seen = ask(engy)
    assert len(seen.writes) == 1
    assert engy.journal.last.pieces_sent == 3
    row = Row(kind="gzip-unflushed")
    assert [type(step) for step in steps(engy, row, "chat", True)][-2:] == [Write, End]


@pytest.mark.parametrize("stream", [True, False])
def test_a_dribble_takes_its_time(engy, stream):
    """Every write is small, and before each but the first there is a pause."""
    row = Row(kind="dribble", given={"seconds": 0.25, "size": 5})
    _, *inner, end = steps(engy, row, "chat", stream)
    writes = inner[::2]
    assert all(isinstance(step, Write) and 0 < len(step.data) <= 5 for step in writes)
    assert inner[1::2] == [Wait(0.25)] * (len(writes) - 1)
    assert isinstance(end, End)


def test_a_late_head_is_late(engy):
    row = Row(kind="slow-headers", given={"seconds": 30})
    assert steps(engy, row, "chat", True)[0] == Wait(30)


def test_refusals_are_broken_too(engy):
    """Faults of the wire befall the refusal of the same rule."""
    engy.when().refuse(429, faults=["gzip-corrupt"], times=1)
    engy.when().refuse(500, faults=["empty-reply"], times=1)
    engy.when().refuse(503, faults=["http10"], times=1)
    assert unpacked(ask(engy).body) == (b"", "error")
    assert ask(engy).raw == b""
    assert ask(engy).raw.startswith(b"HTTP/1.0 503")
    assert [entry.charged_micro for entry in engy.journal] == [0, 0, 0]


def test_faults_are_applied_in_the_order_written(engy):
    """What packs a body packs what the faults before have made of it."""
    engy.when().reply("one two", faults=["double-done", "double-content-encoding"])
    assert split(unpacked(ask(engy).body)[0])[-2:] == [b"data: [DONE]\n\n"] * 2
    engy.reset()
    engy.when().reply("one two", faults=["double-content-encoding", "double-done"])
    assert unpacked(ask(engy).body)[0].count(b"[DONE]") == 1
    assert engy.journal.last.not_applied == ("double-done",)
