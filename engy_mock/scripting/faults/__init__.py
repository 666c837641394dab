"""The catalogue: every way in which the mock can misbehave, one small class each, in files by what they touch."""

from engy_mock.scripting.faults import (
    messages_blocks,
    messages_events,
    messages_failures,
    messages_thinking,
    messages_tools,
    responses_events,
    responses_failures,
    transport,
)

__all__ = [
    "messages_blocks",
    "messages_events",
    "messages_failures",
    "messages_thinking",
    "messages_tools",
    "responses_events",
    "responses_failures",
    "transport",
]
