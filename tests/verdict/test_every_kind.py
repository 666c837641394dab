"""The verdict under every kind of fault: nobody is blamed who reports, or who got all of it."""

import pytest

from engy_mock import MockError
from engy_mock.scripting.fault import catalogue
from tests.verdict.journals import sent

TEXT = "one two three four"

HARMLESS = (
    "after-done",
    "bom",
    "bytewise",
    "choices-empty-first",
    "choices-empty-mid",
    "cr-only",
    "created-odd",
    "crlf",
    "data-no-space",
    "double-done",
    "empty-data",
    "extra-fields",
    "http10",
    "mixed-line-ends",
    "multi-line-data",
    "no-done",
    "one-write",
    "retry-block",
    "role-missing",
    "sse-comments",
    "stall-before-terminator",
    "trailers",
    "usage-twice",
)
"""Kinds of a chat stream under which all of the text arrives, and its end too."""


def marred(engy, kind, endpoint, *, stream):
    """An exchange with this fault; None where it cannot be."""
    engy.reset()
    try:
        engy.when(endpoint=endpoint, stream=stream).reply(TEXT, faults=[kind])
    except MockError:
        return None
    entry = sent(engy, endpoint=endpoint, stream=stream)
    return entry if entry.faults else None


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["chat", "messages", "responses"])
@pytest.mark.parametrize("stream", [True, False])
def test_who_reports_is_not_blamed(quiet, endpoint, stream):
    """Who tells the caller that there is no answer, with the status if there is one, does well."""
    seen = 0
    for kind in sorted(catalogue()):
        entry = marred(quiet, kind, endpoint, stream=stream)
        if entry is None:
            continue
        seen += 1
        quiet.heard(error=RuntimeError(f"no answer, status {entry.status}"))
        verdict = quiet.verdict()
        assert verdict.errors == (), (kind, str(verdict))
        assert set(verdict.words) <= {"good-answer-lost", "no-read-timeout"}, (kind, str(verdict))
        assert verdict.outcomes == {"reported": 1}, kind
    assert seen > 80


@pytest.mark.parametrize("kind", HARMLESS)
def test_who_got_all_of_it_is_not_blamed(quiet, kind):
    assert marred(quiet, kind, "chat", stream=True) is not None
    quiet.heard(TEXT)
    verdict = quiet.verdict(ignore="no-read-timeout")
    assert verdict.findings == (), str(verdict)
    assert verdict.outcomes == {"answered": 1}
