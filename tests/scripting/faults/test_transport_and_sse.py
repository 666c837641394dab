"""The kinds of two parts of the catalogue, Transport and SSE: none is missing, each has rows and a symptom."""

import pytest

from engy_mock.scripting.fault import catalogue, made
from tests.scripting.faults import (
    test_connections,
    test_doors,
    test_failing,
    test_sse,
    test_stalls,
    test_symptoms,
    test_transport,
    test_uploads,
)

TRANSPORT = [
    "refused-window",
    "reset-before-headers",
    "reset",
    "cut",
    "truncate",
    "empty-reply",
    "garbage-reply",
    "bad-chunk-size",
    "content-length-long",
    "content-length-short",
    "gzip-corrupt",
    "gzip-truncated",
    "gzip-unflushed",
    "zstd-per-event",
    "double-content-encoding",
    "slow-headers",
    "slow-first-event",
    "dribble",
    "stall",
    "stall-with-comments",
    "stall-with-pings",
    "stall-before-terminator",
    "half-open",
    "idle-close",
    "keep-alive-mismatch",
    "early-response",
    "expect-100-never",
    "early-hints",
    "redirect-loop",
    "redirect-drops-auth",
    "redirect-to-http",
    "tls-expired",
    "tls-wrong-host",
    "tls-self-signed",
    "tls-handshake-stall",
    "http10",
    "trailers",
]

SSE = [
    "no-done",
    "done-under-v5",
    "last-event-unterminated",
    "crlf",
    "cr-only",
    "mixed-line-ends",
    "data-no-space",
    "data-two-spaces",
    "multi-line-data",
    "sse-comments",
    "comment-as-data",
    "comment-after-id",
    "retry-block",
    "empty-data",
    "event-without-data",
    "named-events",
    "unknown-event-name",
    "event-name-missing",
    "type-missing",
    "bom",
    "utf8-split",
    "surrogate-split",
    "utf8-invalid",
    "bytewise",
    "one-write",
    "many-per-write",
    "giant-event",
    "odd-characters",
    "after-done",
    "double-done",
    "done-variant",
    "raw-text-error",
    "malformed-json",
    "fail",
    "error-as-string",
    "error-event",
    "refusal-in-stream",
    "duplicate-chunk",
    "reordered-chunks",
    "replayed-stream",
]

OWN_TESTS = {
    "idle-close": test_connections.test_idle_for_too_long,
    "keep-alive-mismatch": test_connections.test_a_promise_that_is_not_kept,
    "early-response": test_uploads.test_an_answer_before_the_body,
    "expect-100-never": test_uploads.test_an_invitation_that_never_comes,
    "redirect-drops-auth": test_doors.test_a_redirect_to_another_port,
    "refused-window": test_doors.test_a_closed_port,
    "tls-expired": test_doors.test_certificates,
    "tls-wrong-host": test_doors.test_certificates,
    "tls-self-signed": test_doors.test_certificates,
    "tls-handshake-stall": test_doors.test_a_handshake_that_never_ends,
    "stall-with-comments": test_stalls.test_signs_of_life_without_end,
    "stall-with-pings": test_stalls.test_signs_of_life_without_end,
}
"""Kinds that need more than a row."""

ROWS = (
    *test_transport.ROWS,
    *test_stalls.ENDLESS,
    *test_stalls.FINITE,
    *test_sse.ROWS,
    *test_failing.ROWS,
)


@pytest.mark.parametrize("kind", [*TRANSPORT, *SSE])
def test_none_is_missing(kind):
    """It is there under its name, which is all that most need, and something looks at what it does."""
    assert kind in catalogue()
    assert made(kind).kind == kind
    assert catalogue()[kind].__doc__
    assert kind in {row.kind for row in ROWS} | {*OWN_TESTS}


@pytest.mark.parametrize("kind", [*TRANSPORT, *SSE])
def test_each_has_its_symptom(kind):
    """What official clients make of it is written down."""
    assert kind in {symptom.kind for symptom in test_symptoms.SYMPTOMS} | {*OWN_TESTS}


def test_nothing_is_listed_twice():
    assert len({*TRANSPORT, *SSE}) == len(TRANSPORT) + len(SSE) == 77
