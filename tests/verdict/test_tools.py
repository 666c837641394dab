"""Findings about tool calls, by the requests behind them: run from broken arguments, run twice, sent back."""

import pytest

from engy_mock import ToolCall
from tests.verdict.journals import sent, words

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CALL = ToolCall("get_weather", city="Paris")
BROKEN = '{"city": "Par'


def asked(engy, *faults, call=CALL, **more):
    """One answer that calls the tool; its call as it was meant."""
    engy.when(offers="get_weather").reply(tool_calls=[call], faults=list(faults), times=1)
    return sent(engy, "Weather?", tools=[TOOL], **more).tool_calls[0]


def followed(engy, call, *results, arguments=None, at=1.0, **more):
    """The next request: the call, and what the tool answered."""
    function = {"name": call.name, "arguments": call.arguments if arguments is None else arguments}
    messages = [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call.id, "type": "function", "function": function}],
        },
        *[{"role": "tool", "tool_call_id": call.id, "content": text} for text in results],
    ]
    return sent(engy, messages=messages, tools=[TOOL], at=at, **more)


def test_a_call_that_is_run_as_it_should(quiet):
    followed(quiet, asked(quiet), "Sunny.")
    assert words(quiet) == []


@pytest.mark.parametrize("kind", ["tool-args-truncated", "tool-args-invalid"])
@pytest.mark.parametrize("stream", [True, False])
def test_broken_tool_call_executed(quiet, kind, stream):
    """A result for a call whose arguments do not parse: it was guessed at, and run (R-89)."""
    call = asked(quiet, kind, stream=stream)
    followed(quiet, call, "Sunny.", arguments="{}")
    assert words(quiet) == ["broken-tool-call-executed"]


def test_a_broken_call_that_is_told_to_the_model(quiet):
    """The result says what was wrong: that is what a good client sends (R-89)."""
    call = asked(quiet, "tool-args-truncated")
    followed(quiet, call, "Error: the arguments are not JSON", arguments="{}")
    assert words(quiet) == []


def test_a_dictated_answer_may_be_broken_too(quiet):
    call = asked(quiet, call=ToolCall("get_weather", BROKEN))
    followed(quiet, call, "Sunny.", arguments="{}")
    assert words(quiet) == ["broken-tool-call-executed"]


def test_the_flag_of_messages(quiet):
    """In messages a flag tells that a result is an error."""
    quiet.when(offers="get_weather").reply(tool_calls=[CALL], faults=["tool-json-invalid"], times=1)
    tools = [{"name": "get_weather", "input_schema": {"type": "object"}}]
    sent(quiet, "Weather?", endpoint="messages", tools=tools, stream=True)
    call = _sent_calls(quiet)[0]
    for flag, found in ((True, []), (False, ["broken-tool-call-executed"])):
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny.", "is_error": flag}
        messages = [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": call.id, "name": "get_weather", "input": {}}],
            },
            {"role": "user", "content": [result]},
        ]
        sent(quiet, endpoint="messages", messages=messages, tools=tools, at=1)
        assert words(quiet) == found


def test_poisoned_history(quiet):
    """Broken arguments that are sent back go on breaking things, and are blamed once (R-89)."""
    call = asked(quiet, "tool-args-truncated")
    followed(quiet, call, "Error: the arguments are not JSON", arguments=BROKEN)
    followed(quiet, call, "Error: the arguments are not JSON", "Again?", arguments=BROKEN, at=2)
    [finding] = [one for one in quiet.verdict().findings if one.word == "poisoned-history"]
    assert finding.exchanges == (0, 1)
    assert finding.evidence == "message 1 sends back a call of get_weather whose arguments are no JSON"


@pytest.mark.parametrize("arguments", ["{}", "", "  ", '{"city": "Paris"}'])
def test_a_history_that_is_fine(quiet, arguments):
    """No arguments at all stand for none, as some services send them."""
    followed(quiet, asked(quiet, "tool-args-truncated"), "Error: no JSON", arguments=arguments)
    assert words(quiet) == []


def test_tool_executed_twice(quiet):
    """Two results for one call."""
    followed(quiet, asked(quiet), "Sunny.", "Sunny, still.")
    assert words(quiet) == ["tool-executed-twice"]


def test_one_result_in_many_requests(quiet):
    """A history repeats what has been said."""
    call = asked(quiet)
    followed(quiet, call, "Sunny.")
    followed(quiet, call, "Sunny.", at=2, temperature=0)
    assert words(quiet) == []


def test_calls_that_the_service_has_doubled(quiet):
    """Two calls under one id get two results: that is the service's doing."""
    quiet.when(offers="get_weather").reply(tool_calls=[CALL, CALL], faults=["tool-id-duplicated"], times=1)
    sent(quiet, "Weather?", tools=[TOOL])
    assert len({call.id for call in _sent_calls(quiet)}) == 1
    followed(quiet, _sent_calls(quiet)[0], "Sunny.", "Sunny, still.")
    assert words(quiet) == []


def _sent_calls(engy):
    from engy_mock.verdict.attempt import Attempt

    return Attempt(engy.journal[0]).tool_calls


def test_a_call_of_each_attempt(quiet):
    """The tool was run for an attempt that broke, and again for the one after it."""
    first = asked(quiet, {"kind": "cut", "after": 1}, stream=True)
    quiet.when(offers="get_weather").reply(tool_calls=[CALL], times=1)
    second = sent(quiet, "Weather?", tools=[TOOL], at=1, stream=True).tool_calls[0]
    assert first.id != second.id
    messages = [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in (first, second)
            ],
        },
        *[{"role": "tool", "tool_call_id": call.id, "content": "Sunny."} for call in (first, second)],
    ]
    sent(quiet, messages=messages, tools=[TOOL], at=2)
    assert words(quiet) == ["tool-executed-twice"]


def test_the_call_of_the_attempt_that_counts(quiet):
    """Only the second attempt's call was run."""
    asked(quiet, {"kind": "cut", "after": 1}, stream=True)
    second = asked(quiet, stream=True, at=1)
    followed(quiet, second, "Sunny.", at=2)
    assert words(quiet) == []
