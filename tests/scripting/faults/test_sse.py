"""Faults of events: lines, blocks, names, end marks, bytes, writes and order, as they stand on the wire."""

import json
import re
from itertools import pairwise

import pytest

from engy_mock import MockError
from tests.scripting.captured import STREAMING, ask
from tests.scripting.faults.rows import TEXT, Row, Seen, blocks, cases, name, perform, pieces, split, steps

CHAT, COMPLETIONS, V5 = ("chat", "v5 chat"), ("v5 completions",), ("v5 chat", "v5 completions", "v5 responses")
RESPONSES = ("responses", "v5 responses")
NAMELESS = (*CHAT, *COMPLETIONS, "v5 responses")
MARKED = ("chat",)
DONE = b"data: [DONE]\n\n"
ODD_TEXT = "né 漢字 a😀b 😀 end"
FORM = (True,)


def becomes(change):
    """The body is the plain one, changed."""

    def check(seen: Seen) -> None:
        assert seen.got.body == change(seen.plain.body)
        assert seen.got.is_complete
        assert seen.got.body != seen.plain.body

    return check


def events_become(change):
    """The events are the plain ones, changed."""

    def check(seen: Seen) -> None:
        assert split(seen.got.body) == change(blocks(seen.plain), pieces(seen.plain))
        assert seen.got.is_complete

    return check


def before_first_piece(block):
    """One more block, before the first piece."""
    return events_become(lambda plain, places: [*plain[: places[0]], block, *plain[places[0] :]])


def without_last(seen: Seen) -> None:
    """What ends the stream has no empty line, and no end mark follows."""
    assert seen.got.body == seen.plain.body.removesuffix(DONE).removesuffix(b"\n")
    assert seen.got.body.endswith(b"}\n")


def mixes(seen: Seen) -> None:
    """All three line ends occur, and read as the standard wants it the events are the same."""
    body = seen.got.body
    assert {*re.findall(rb"\r\n|\r|\n", body)} == {b"\r\n", b"\r", b"\n"}
    assert re.sub(rb"\r\n|\r", b"\n", body) == seen.plain.body


def is_multi_line(seen: Seen) -> None:
    assert [event for event in seen.got.events if event[1] != "[DONE]"] == [
        (name, "{\n" + data[1:-1] + "\n}") for name, data in seen.plain.events if data != "[DONE]"
    ]
    assert [json.loads(data) for _, data in seen.got.events if data != "[DONE]"] == seen.plain.documents


def comments(where, comment):
    def check(plain, _):
        told = []
        for place, block in enumerate(plain):
            is_wanted = {
                "everywhere": True,
                "first": place == 0,
                "between": 0 < place < len(plain) - 1,
                "before-done": place == len(plain) - 1,
            }[where]
            told += [comment, block] if is_wanted else [block]
        return told

    return events_become(check)


def is_nameless(seen: Seen) -> None:
    assert b"event:" not in seen.got.body
    assert seen.got.documents == seen.plain.documents


def is_typeless(seen: Seen) -> None:
    assert [name for name, _ in seen.got.events] == [name for name, _ in seen.plain.events]
    assert seen.got.documents == [
        {key: value for key, value in document.items() if key != "type"} for document in seen.plain.documents
    ]


def splits(sizes):
    """R-73: writes end in the first byte of a character of such a size, and of no other."""

    def check(seen: Seen) -> None:
        assert seen.got.body == seen.plain.body
        if not seen.stream:
            return
        torn = [write[-1] for write in seen.got.writes if write[-1] >= 0xC0]
        lengths = [2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 for lead in torn]
        assert set(lengths) == set(sizes)
        assert len(torn) == len([c for c in seen.plain.body.decode() if len(c.encode()) in sizes])

    return check


def halves(seen: Seen) -> None:
    """The two halves are in two events next to each other, and come together where the text is told whole."""
    got = [block for block in blocks(seen.got) if rb"\ud83d" in block or rb"\ude00" in block]
    first, second, *others = got
    assert (first.count(rb"\ud83d"), first.count(rb"\ude00")) == (1, 0)
    assert (second.count(rb"\ud83d"), second.count(rb"\ude00")) == (0, 1)
    assert rb'"\ude00' in second
    assert all(rb"\ud83d\ude00" in block for block in others)
    assert seen.got.body.count("😀".encode()) == seen.plain.body.count("😀".encode()) - len(others) - 1
    assert len(blocks(seen.got)) == len(blocks(seen.plain))


def has_invalid(seen: Seen) -> None:
    with pytest.raises(UnicodeDecodeError):
        seen.got.body.decode()
    assert seen.got.body.replace(b"\xff", b"") == seen.plain.body
    if seen.stream:
        assert [block.count(b"\xff") for block in blocks(seen.got)][pieces(seen.plain)[0]] == 1


ODD = {
    "nul": rb"\u0000",
    "vertical-tab": rb"\u000b",
    "form-feed": rb"\u000c",
    "next-line": "\x85".encode(),
    "line-separator": "\u2028".encode(),
    "paragraph-separator": "\u2029".encode(),
    "surrogate": rb"\ud800",
}


def has_odd(*which):
    def check(seen: Seen) -> None:
        odd = b"".join([ODD[one] for one in which])
        assert odd in seen.got.body
        assert seen.got.body.replace(odd, b"") == seen.plain.body
        if seen.stream:
            assert odd in blocks(seen.got)[pieces(seen.plain)[0]]

    return check


def is_giant(size):
    def check(seen: Seen) -> None:
        first = pieces(seen.plain)[0]
        got = blocks(seen.got)
        assert size < len(got[first]) < size + 1000
        assert seen.got.writes[0 if first == 0 else 1] == got[first]
        assert [block for place, block in enumerate(got) if place != first] == [
            block for place, block in enumerate(blocks(seen.plain)) if place != first
        ]
        document = seen.got.documents[first]
        assert len(document.pop("obfuscation")) == size
        assert document == seen.plain.documents[first]

    return check


def in_bytes(size):
    def check(seen: Seen) -> None:
        assert seen.got.body == seen.plain.body
        if seen.stream:
            whole = [block[at : at + size] for block in blocks(seen.plain) for at in range(0, len(block), size)]
            assert seen.got.writes == whole

    return check


def in_writes(events):
    def check(seen: Seen) -> None:
        told = blocks(seen.plain)
        size = events or len(told)
        assert seen.got.writes == [b"".join(told[at : at + size]) for at in range(0, len(told), size)]

    return check


def is_broken(after):
    def check(plain, places):
        block = plain[places[after]]
        named, data = re.fullmatch(rb"((?:event: .*\n)?data: )(.*)\n\n", block).groups()
        broken = named + data[: len(data) // 2] + b"\n\n"
        return [*plain[: places[after]], broken, *plain[places[after] + 1 :]]

    return events_become(check)


def is_doubled(after):
    return events_become(lambda plain, places: [*plain[: places[after] + 1], *plain[places[after] :]])


def is_swapped(after):
    def check(plain, places):
        told = list(plain)
        one, other = places[after : after + 2]
        told[one], told[other] = told[other], told[one]
        return told

    return events_become(check)


def is_replayed(after):
    return events_become(lambda plain, places: [*plain[: places[after - 1] + 1 if after else places[0]], *plain])


def named(word):
    line = b"event: %b\n" % word
    return events_become(lambda plain, _: [line + block for block in plain])


UNKNOWN = b'event: engy_mock.unknown\ndata: {"type":"engy_mock.unknown"}\n\n'
BEATS = b": keep-alive\n\n"

ROWS = (
    Row(kind="no-done", check=becomes(lambda body: body.removesuffix(DONE)), routes=MARKED, forms=FORM),
    Row(kind="done-under-v5", check=becomes(lambda body: body + DONE), routes=V5, forms=FORM),
    Row(kind="last-event-unterminated", check=without_last, forms=FORM),
    Row(kind="crlf", check=becomes(lambda body: body.replace(b"\n", b"\r\n")), forms=FORM),
    Row(kind="cr-only", check=becomes(lambda body: body.replace(b"\n", b"\r")), forms=FORM),
    Row(kind="mixed-line-ends", check=mixes, forms=FORM),
    Row(kind="data-no-space", check=becomes(lambda body: body.replace(b"data: ", b"data:")), forms=FORM),
    Row(
        kind="data-two-spaces",
        check=becomes(lambda body: body.replace(b"data: {", b"data:  {")),
        forms=FORM,
    ),
    Row(kind="multi-line-data", check=is_multi_line, forms=FORM),
    Row(kind="sse-comments", check=comments("everywhere", b": engy-mock\n\n"), forms=FORM),
    *[
        Row(
            kind="sse-comments",
            given={"where": where, "bare": bare},
            check=comments(where, b":\n\n" if bare else b": engy-mock\n\n"),
            forms=FORM,
        )
        for where, bare in [("first", True), ("between", False), ("before-done", True), ("everywhere", True)]
    ],
    Row(kind="comment-as-data", check=before_first_piece(b"data: : keep-alive\n\n"), forms=FORM),
    Row(
        kind="comment-after-id",
        check=events_become(lambda plain, _: [b"id: 1\n" + plain[0], BEATS, *plain[1:]]),
        forms=FORM,
    ),
    Row(kind="retry-block", check=before_first_piece(b"retry: 3000\n\n"), forms=FORM),
    Row(kind="empty-data", check=before_first_piece(b"data:\n\n"), forms=FORM),
    Row(kind="event-without-data", check=before_first_piece(b"event: ping\n\n"), forms=FORM),
    Row(kind="named-events", check=named(b"message"), routes=NAMELESS, forms=FORM),
    Row(kind="named-events", given={"name": "x"}, check=named(b"x"), routes=NAMELESS, forms=FORM),
    Row(
        kind="unknown-event-name",
        check=before_first_piece(UNKNOWN),
        routes=("messages", *RESPONSES),
        forms=FORM,
    ),
    Row(kind="event-name-missing", check=is_nameless, routes=("messages",), forms=FORM),
    Row(kind="type-missing", check=is_typeless, routes=("messages",), forms=FORM),
    Row(kind="bom", check=becomes(lambda body: b"\xef\xbb\xbf" + body), forms=FORM),
    Row(kind="utf8-split", text=ODD_TEXT, check=splits({2, 3, 4})),
    *[Row(kind="utf8-split", given={"at": at}, text=ODD_TEXT, check=splits({at})) for at in (2, 3, 4)],
    Row(kind="surrogate-split", text=ODD_TEXT, check=halves, forms=FORM),
    Row(kind="surrogate-split", text="the end 😀", check=halves, forms=FORM),
    Row(kind="utf8-invalid", check=has_invalid),
    Row(kind="bytewise", check=in_bytes(1)),
    Row(kind="bytewise", given={"size": 9}, check=in_bytes(9)),
    Row(kind="one-write", check=in_writes(None), forms=FORM),
    Row(kind="many-per-write", check=in_writes(4), forms=FORM),
    Row(kind="many-per-write", given={"events": 1}, check=in_writes(1), forms=FORM),
    Row(kind="giant-event", check=is_giant(1024 * 1024), forms=FORM),
    Row(kind="odd-characters", check=has_odd(*ODD)),
    *[Row(kind="odd-characters", given={"which": which}, check=has_odd(which)) for which in ODD],
    Row(
        kind="after-done",
        check=events_become(lambda plain, places: [*plain, plain[places[-1]]]),
        routes=MARKED,
        forms=FORM,
    ),
    Row(kind="double-done", check=becomes(lambda body: body + DONE), routes=MARKED, forms=FORM),
    *[
        Row(
            kind="done-variant",
            given=given,
            check=becomes(lambda body, line=line: body.removesuffix(DONE) + line + b"\n\n"),
            routes=MARKED,
            forms=FORM,
        )
        for given, line in [
            ({}, b"data: [done]"),
            ({"text": "[DONE] "}, b"data: [DONE] "),
            ({"text": "data:[DONE]"}, b"data:[DONE]"),
        ]
    ],
    Row(kind="malformed-json", check=is_broken(0), forms=FORM),
    Row(kind="malformed-json", given={"after": 2}, check=is_broken(2), forms=FORM),
    Row(kind="duplicate-chunk", check=is_doubled(0), forms=FORM),
    Row(kind="duplicate-chunk", given={"after": 2}, check=is_doubled(2), forms=FORM),
    Row(kind="reordered-chunks", check=is_swapped(0), forms=FORM),
    Row(kind="reordered-chunks", given={"after": 2}, check=is_swapped(2), forms=FORM),
    Row(kind="replayed-stream", given={"after": 2}, check=is_replayed(2), forms=FORM),
)


@pytest.mark.parametrize(("row", "route", "stream"), list(cases(ROWS)), ids=name)
def test_in_the_body(engy, row, route, stream):
    """R-70 to R-74: each kind on every route and in each form that it is for."""
    seen = perform(engy, row, route, stream)
    row.check(seen)
    if stream and row.text == TEXT:
        assert seen.entry.pieces_sent == 4


ELSEWHERE = (
    ("no-done", ("messages", "responses", *V5)),
    ("done-under-v5", ("chat", "messages", "responses")),
    ("double-done", ("messages", "responses", *V5)),
    ("named-events", ("messages",)),
    ("unknown-event-name", (*CHAT, *COMPLETIONS)),
    ("event-name-missing", (*CHAT, *COMPLETIONS, *RESPONSES)),
    ("type-missing", (*CHAT, *COMPLETIONS, *RESPONSES)),
)


@pytest.mark.parametrize(("kind", "route"), [(kind, route) for kind, routes in ELSEWHERE for route in routes])
def test_what_is_for_other_routes(engy, kind, route):
    """D-8: where a kind finds no place, the answer is whole and the journal says so."""
    engy.when().reply("one two", faults=[kind])
    assert ask(engy, route).is_complete
    assert (engy.journal.last.faults, engy.journal.last.not_applied) == ((), (kind,))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"kind": "utf8-split"}, "plain"),
        ({"kind": "utf8-split", "at": 4}, "né"),
        ({"kind": "surrogate-split"}, "one two"),
        ({"kind": "surrogate-split"}, "😀"),
        ({"kind": "reordered-chunks", "after": 1}, "one two"),
        ({"kind": "duplicate-chunk", "after": 2}, "one two"),
        ({"kind": "malformed-json", "after": 2}, "one two"),
    ],
    ids=str,
)
def test_answers_without_such_a_place(engy, given, text):
    """D-8: an answer too short, or without such a character, is left as it is."""
    engy.when().reply(text, faults=[given])
    assert ask(engy).is_complete
    assert engy.journal.last.faults == ()


@pytest.mark.parametrize("kind", ["crlf", "sse-comments", "bom", "replayed-stream", "one-write", "giant-event"])
def test_streams_only(engy, kind):
    """A rule for whole answers cannot have a fault of streams; a refusal is not changed by one."""
    with pytest.raises(MockError, match="it is for streams only"):
        engy.when(stream=False).faults(kind)
    engy.when().refuse(429, faults=[kind])
    assert ask(engy).document["error"]["code"] == 429
    assert engy.journal.last.not_applied == (kind,) or kind == "one-write"


def test_pauses_come_first_in_one_write(engy):
    """However slowly it was said, all of it comes at once, and at its end."""
    engy.when().reply("one two three", faults=["one-write"], pace=1)
    seen = ask(engy)
    assert [len(seen.writes), seen.is_complete, engy.journal.last.pieces_sent] == [1, True, 3]


def test_one_event_per_write_is_no_match_for_one_write(engy):
    """The fault stands above the setting, and above the bound of a write."""
    engy.settings.one_event_per_write = True
    text = "word " * 300
    engy.when().reply(text, faults=["one-write"])
    (write,) = ask(engy).writes
    assert len(write) > 32 * 1024


def test_large_events_come_whole(engy):
    """8 MiB in one line, in one write."""
    engy.when().reply("one", faults=[{"kind": "giant-event", "size": 8}])
    seen = ask(engy)
    assert max(len(write) for write in seen.writes) > 8 * 1024 * 1024
    assert seen.is_complete
    with pytest.raises(MockError, match="giant-event: size is 2"):
        engy.when().faults({"kind": "giant-event", "size": 2})


def test_no_line_runs_into_the_next(engy):
    """Mixed line ends are as many as the plain ones: none of them come together as one."""
    engy.when().reply("one two three four five six", faults=["mixed-line-ends"])
    for route in STREAMING:
        ends = re.findall(rb"\r\n|\r|\n", ask(engy, route).body)
        assert len({one + other for one, other in pairwise(ends)}) > 3


@pytest.mark.parametrize("stream", [True, False])
def test_bytewise_is_byte_by_byte(engy, stream):
    """R-74: one byte per write, whole answers too."""
    told = steps(engy, Row(kind="bytewise"), "chat", stream)
    assert {len(step.data) for step in told if hasattr(step, "data")} == {1}


@pytest.mark.parametrize("text", ["a\nb", "a\rb"])
def test_what_would_be_another_line_is_refused(engy, text):
    for given in ({"kind": "done-variant", "text": text}, {"kind": "named-events", "name": text}):
        with pytest.raises(MockError, match="string should match pattern"):
            engy.when().faults(given)
