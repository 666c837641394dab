"""Kinds that chat and responses share: what stands in items and events of a response in place of the usual."""

import json
from typing import Any

import pytest

from engy_mock import ToolCall
from tests.scripting.captured import PATHS, ask

ROUTES = [route for route in PATHS if route.endswith("responses")]
CALL = {"tool_calls": [ToolCall("get_weather", city="Paris")]}


def told(engy, route, stream, fault, *, reply=CALL, **more):
    """The documents of an answer that is marred, as one list; the fault has acted."""
    engy.when().reply(**reply, faults=[fault])
    seen = ask(engy, route, stream=stream, tools=True, **more)
    entry = engy.journal.last
    assert (len(entry.faults), entry.not_applied) == (1, ())
    return seen.documents if stream else [seen.document]


def items(documents):
    """Each item of each document that calls a function."""
    for document in documents:
        for item in (document.get("item"), *document.get("response", document).get("output", ())):
            if item and item["type"] == "function_call":
                yield item


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("kind", "value"), [("tool-args-empty", ""), ("tool-args-null", None), ("tool-args-object", {"city": "Paris"})]
)
def test_arguments_in_another_form(engy, route, stream, kind, value):
    """`tool-args-empty`, `tool-args-null`, `tool-args-object`: in the item, when it is done, and as parts."""
    documents = told(engy, route, stream, kind)
    found = list(items(documents))
    assert found
    assert found[-1]["arguments"] == value
    assert found[-1]["call_id"]
    done = [one for one in documents if one.get("type") == "response.function_call_arguments.done"]
    assert [one["arguments"] for one in done] == [value] * stream
    parts = [one["delta"] for one in documents if one.get("type") == "response.function_call_arguments.delta"]
    if kind == "tool-args-object":
        assert json.loads("".join(parts) or '{"city":"Paris"}') == value
    else:
        assert set(parts) <= {value}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("stream", [True, False])
def test_calls_without_an_id(engy, route, stream):
    """`tool-id-missing`: no item says to which call a result would belong."""
    found = list(items(told(engy, route, stream, "tool-id-missing")))
    assert found
    assert not any("call_id" in item for item in found)
    assert all(item["name"] == "get_weather" for item in found)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("stream", [True, False])
def test_an_odd_end(engy, route, stream):
    """`finish-odd`: the status of what has ended is a word that is none; what is under way keeps its own."""
    documents = told(engy, route, stream, {"kind": "finish-odd", "value": "tired"}, reply={"text": "one two"})
    statuses = [one.get("response", one).get("status") for one in documents]
    assert statuses[-1] == "tired"
    assert "completed" not in statuses
    assert (statuses[0] == "in_progress") is stream


@pytest.mark.parametrize("stream", [True, False])
def test_no_list_of_log_probabilities(engy, stream):
    """`logprobs-null`: null in every place of a list."""
    engy.when().reply("one two", faults=["logprobs-null"])
    more: dict[str, Any] = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    seen = ask(engy, "responses", stream=stream, **more)
    assert engy.journal.last.faults == ("logprobs-null",)
    assert b'"logprobs":null' in seen.body
    assert b'"logprobs":[' not in seen.body
