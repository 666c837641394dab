"""One scripted answer, told well and with faults: the same request to a mock of the same seed, so the same ids."""

import json
from typing import Any

from engy_mock import EngyMock, ToolCall
from tests.scripting.captured import Capture, ask, reply_for

Event = tuple[str, dict[str, Any]]
"""A server-sent event: its name, and the document in its data."""

TEXT = "one two"
THOUGHT = "Hm so"
CALL = ToolCall("get_weather", city="Paris")

REPLY: dict[str, Any] = {"text": TEXT, "reasoning": THOUGHT, "tool_calls": [CALL]}
"""Three pieces of reasoning, two of text and a tool call."""


def asked(engy: EngyMock, route: str, faults: Any = (), *, stream: bool = True, **reply: Any) -> Capture:
    """The answer to one request as the first that a mock ever got."""
    engy.reset()
    engy.when().reply(**reply_for(route, REPLY | reply), faults=faults)
    return ask(engy, route, stream=stream, tools=True)


def events(capture: Capture) -> list[Event]:
    """The events of a stream with their documents; what is no JSON object is an empty one."""
    return [(name, json.loads(data) if data.startswith("{") else {}) for name, data in capture.events]


def settled(engy: EngyMock) -> None:
    """The books are closed, and nothing went wrong inside."""
    assert engy.gateway.accounts.default.held_micro == 0
    assert engy.gateway.defects == []
