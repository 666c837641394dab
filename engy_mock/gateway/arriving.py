"""Whether what a client can read of an answer holds another one: the one that was recorded, say."""

from collections.abc import Sequence

from engy_mock.books.transfer import Transfer, brought
from engy_mock.dialects.blocks import blocks
from engy_mock.dialects.reading import END_MARK, READABLE, read
from engy_mock.vocabulary import json
from engy_mock.vocabulary.wire import Step

STREAM = "text/event-stream"


def holds(steps: Sequence[Step], meant: Sequence[Step], endpoint: str) -> bool:
    """Whether who reads what these steps bring has read what the others bring.

    It has to come to its end as theirs does, under the same status, with the same texts and tool calls; how it is
    written, and what else stands there, does not matter. Pages and refusals are all there.
    """
    came, wanted = brought(steps), brought(meant)
    if came.head is None or wanted.head is None:
        return came.head is wanted.head
    is_streamed = (wanted.header("content-type") or "").lower().startswith(STREAM)
    if came.head.status != wanted.head.status:
        return False
    if came.ending not in ("whole", wanted.ending) and not (is_streamed and _has_told_its_end(came)):
        return False
    return _said(came, endpoint, is_streamed=is_streamed) == _said(wanted, endpoint, is_streamed=is_streamed)


def _has_told_its_end(came: Transfer) -> bool:
    """Whether the mark came behind which nobody reads on; behind other ends of a stream comes that of its body."""
    return came.ending != "garbled" and any(
        block.is_ended and block.data.startswith(END_MARK) for block in blocks(came.body)
    )


def _said(came: Transfer, endpoint: str, *, is_streamed: bool) -> object:
    """What stands in an answer for whoever compares it with another."""
    assert came.head is not None
    if endpoint in READABLE and came.head.status < 300:
        found = read(endpoint, came.body, is_streamed=is_streamed)
        return found.is_answer, found.is_ended, found.error, found.malformed, found.texts, found.tool_calls
    if is_streamed:
        return [(block.name, block.data) for block in blocks(came.body) if block.is_ended]
    try:
        return json.read(came.body)
    except ValueError:
        return came.body
