"""The clients in `examples/`: each bad day shows a real fault of the naive one, and none of its mended twin."""

import importlib.util
from pathlib import Path

import pytest

from engy_mock import Limits, ToolCall
from engy_mock.vocabulary.clock import START, http_date

EXAMPLES = Path(__file__).parents[2] / "examples"
CALL = ToolCall("get_weather", city="Paris")
TEXT = "Rivers carry water to the sea."


def loaded(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAIVE, CAREFUL = loaded("naive_client"), loaded("careful_client")


def refused(status, **more):
    return lambda engy: engy.when().refuse(status, **more)


def marred(*faults, times=1):
    return lambda engy: engy.when(stream=True).reply(TEXT, faults=list(faults), times=times)


def broken_tool(engy):
    engy.when(tool_result="").reply("It is sunny.")
    engy.when().reply(tool_calls=[CALL], faults=["tool-args-truncated"], times=1)


BAD_DAYS = {
    "a full minute": (refused(429, retry_after=2, times=1), {"retry-after-ignored"}),
    "a dated hint": (refused(503, retry_after=http_date(START + 9), times=1), set()),
    "a bad key": (refused(401), {"retried-non-retryable", "retry-storm", "silent-acceptance"}),
    "no credit": (refused(402, times=1), {"retried-non-retryable"}),
    "a spent quota": (marred("quota-exhausted", times=None), {"retried-spent-quota", "retry-storm"}),
    "a 400 in a 500": (marred("status-wrapped"), {"retried-permanent-error"}),
    "an outage": (refused(500, headers={"retry-after-ms": "0"}), {"retry-storm", "silent-acceptance"}),
    "an outage without a hint": (marred("empty-reply", times=None), {"no-backoff", "retry-storm"}),
    "a limit that never ends": (marred({"kind": "429-forever", "value": 1}, times=None), {"retry-after-ignored"}),
    "an answer without its end": (marred({"kind": "truncate", "after": 3}), {"truncated-accepted"}),
    "no finish reason": (marred("no-finish-reason"), {"truncated-accepted"}),
    "an error inside": (marred({"kind": "fail", "after": 3}), {"silent-acceptance"}),
    "a web page": (marred("200-html"), {"silent-acceptance"}),
    "an event in pieces": (marred({"kind": "malformed-json", "after": 3}), {"malformed-chunk-ignored"}),
    "half a tool call": (broken_tool, {"broken-tool-call-executed", "poisoned-history"}),
    "silence": (marred({"kind": "stall", "after": 3}), {"no-read-timeout", "truncated-accepted"}),
    "comments": (marred("sse-comments"), set()),
    "a good day": (marred(), set()),
}
"""What may happen, and the words that it brings against the naive client, at least."""


@pytest.fixture(scope="module")
def service():
    """A mock whose endless silences end after half a second, which no client of a test outlasts otherwise."""
    from engy_mock import EngyMock

    with EngyMock(limits=Limits(stall_seconds=0.5)) as engy:
        yield engy


def judged(engy, client, day, **more):
    """The verdict on a client after a bad day; its waits move the mock's clock."""
    engy.reset()
    BAD_DAYS[day][0](engy)
    assistant = client.Assistant(engy.base_url, engy.api_key, sleep=engy.clock.advance, **more)
    try:
        engy.heard(assistant.ask("What do rivers do?"))
    except Exception as error:
        engy.heard(error=error)
    return engy.verdict(fail_level="warning")


@pytest.mark.slow
@pytest.mark.parametrize("day", BAD_DAYS)
def test_the_naive_client(service, day):
    """Each bad day brings a fault to light."""
    verdict = judged(service, NAIVE, day)
    assert BAD_DAYS[day][1] <= set(verdict.words), str(verdict)
    assert verdict.fails() or not BAD_DAYS[day][1]


@pytest.mark.parametrize("day", BAD_DAYS)
def test_the_careful_client(service, day):
    """Its twin does nothing wrong, not even what is worth a warning."""
    verdict = judged(service, CAREFUL, day, timeout=0.2 if day == "silence" else 30)
    verdict.check()
    assert verdict.findings == ()
    assert set(verdict.outcomes) <= {"answered", "recovered", "reported"}


def test_how_many_faults_there_are(service):
    """They are different ones: at least six kinds of error."""
    found = {error.word for day in BAD_DAYS for error in judged(service, NAIVE, day).errors}
    assert len(found) >= 6, found
