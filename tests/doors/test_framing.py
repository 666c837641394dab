"""The bytes around an answer."""

import pytest

from engy_mock.serving.framing import Framing
from engy_mock.vocabulary.wire import Head

HOUSE = b"Server: engy-mock\r\n"


def framing(*, is_http_11=True, is_mute=False, wants_close=False):
    return Framing(HOUSE, is_http_11=is_http_11, is_mute=is_mute, wants_close=wants_close)


def ok(*headers):
    return Head(200, headers)


def test_a_known_length_is_declared_behind_the_headers():
    """Status, the headers of the house, those of the answer, framing: always in this order."""
    frame = framing()
    head = frame.begin(ok(("Content-Type", "application/json")), 5)
    assert head == (
        b"HTTP/1.1 200 OK\r\nServer: engy-mock\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n"
    )
    assert (frame.piece(b"hello"), frame.end(), frame.is_kept) == (b"hello", b"", True)


def test_an_answer_may_bring_a_time_of_its_own():
    """It takes the place of the one of the house: no answer has two."""
    house = b"Server: engy-mock\r\nDate: Sun, 18 Oct 2026 00:00:00 GMT\r\nX-Content-Type-Options: nosniff\r\n"
    frame = Framing(house, is_http_11=True, is_mute=False, wants_close=False)
    assert frame.begin(ok(("date", "Sun, 18 Oct 2026 01:00:00 GMT")), 0) == (
        b"HTTP/1.1 200 OK\r\nServer: engy-mock\r\nX-Content-Type-Options: nosniff\r\n"
        b"date: Sun, 18 Oct 2026 01:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
    )
    assert b"Date: Sun, 18 Oct 2026 00:00:00 GMT" in frame.begin(ok(), 0)


def test_an_unknown_length_is_chunked():
    frame = framing()
    assert frame.begin(ok()).endswith(b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert (frame.piece(b"x" * 17), frame.end(), frame.is_kept) == (
        b"11\r\n" + b"x" * 17 + b"\r\n",
        b"0\r\n\r\n",
        True,
    )


def test_an_empty_piece_is_not_the_end():
    """A chunk of no bytes would end the body."""
    frame = framing()
    frame.begin(ok())
    assert frame.piece(b"") == b""


def test_an_old_client_gets_no_chunks():
    """To HTTP/1.0 the end of a body of unknown length is the end of the connection."""
    frame = framing(is_http_11=False)
    assert frame.begin(ok()).endswith(b"\r\nConnection: close\r\n\r\n")
    assert (frame.piece(b"hello"), frame.end(), frame.is_kept) == (b"hello", b"", False)


def test_an_old_client_that_wants_to_stay_is_told_that_it_may():
    frame = framing(is_http_11=False)
    assert frame.begin(ok(), 0).endswith(b"\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
    assert frame.is_kept


@pytest.mark.parametrize(
    ("status", "is_mute", "length", "framing_lines"),
    [
        (200, True, 5, b"Content-Length: 5\r\n"),
        (200, True, None, b"Transfer-Encoding: chunked\r\n"),
        (204, False, 0, b""),
        (204, False, None, b""),
        (304, False, 5, b""),
        (103, False, 0, b""),
    ],
)
def test_some_answers_have_no_body(status, is_mute, length, framing_lines):
    """To HEAD, and with 1xx, 204 and 304, nothing follows the head."""
    frame = framing(is_mute=is_mute)
    head = frame.begin(Head(status, ()), length)
    assert head.partition(b"\r\n")[2] == HOUSE + framing_lines + b"\r\n"
    assert (frame.piece(b"hello"), frame.end(), frame.is_kept) == (b"", b"", True)


@pytest.mark.parametrize(
    ("header", "length", "is_kept"),
    [
        (("content-length", "5"), 5, True),
        (("Content-Length", "9"), 5, False),
        (("Content-Length", "2"), 5, False),
        (("Content-Length", "9"), None, False),
        (("Transfer-Encoding", "chunked"), None, False),
        (("Connection", "close"), 5, False),
        (("Connection", "keep-alive"), 5, True),
    ],
)
def test_an_answer_may_bring_its_own_framing(header, length, is_kept):
    """What it brings stands once, the body is left as it is, and the connection ends unless all is right."""
    frame = framing()
    head = frame.begin(ok(header), length)
    assert head.lower().count(header[0].lower().encode() + b":") == 1
    assert (frame.piece(b"hello"), frame.end(), frame.is_kept) == (b"hello", b"", is_kept)


def test_who_wants_to_close_says_so():
    frame = framing(wants_close=True)
    assert frame.begin(ok(), 0).endswith(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    assert not frame.is_kept


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (Head(429, ()), b"HTTP/1.1 429 Too Many Requests\r\n"),
        (Head(429, (), "Slow Down"), b"HTTP/1.1 429 Slow Down\r\n"),
        (Head(529, ()), b"HTTP/1.1 529 \r\n"),
    ],
)
def test_the_reason_is_the_usual_one_unless_given(head, line):
    assert framing().begin(head, 0).startswith(line)
