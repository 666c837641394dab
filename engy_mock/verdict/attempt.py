"""One exchange as an attempt to get an answer: how it went, and what the client could know of that."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from engy_mock.books.course import is_endless
from engy_mock.books.entry import Entry
from engy_mock.books.transfer import Transfer, transfer
from engy_mock.dialects.reading import Reading, read
from engy_mock.scripting.refusals import RETRYABLE
from engy_mock.vocabulary import json
from engy_mock.vocabulary.generation import Choice
from engy_mock.vocabulary.request import ToolCall
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Repeat, Wait

State = Literal[
    "good",
    "redirected",
    "refused",
    "broken",
    "cut short",
    "error inside",
    "no answer",
    "unreadable",
    "silent",
    "left",
    "under way",
    "unknown",
]
"""How an attempt went.

A good one brought a whole answer that says so. A broken one ended before its end on the wire; one that was cut
short ended there in order, but lacks the dialect's own end; an unreadable one is complete but for events that
cannot be read. The client went away from one that is `left`; a silent one fell silent for ever.
"""

FAILED: frozenset[State] = frozenset(
    {"refused", "broken", "cut short", "error inside", "no answer", "unreadable", "silent", "left"}
)

GENERATING = frozenset({"chat", "completions", "messages", "responses", "inference"})
"""The endpoints that answer with an answer of a model."""


class Attempt:
    """A view of one entry of the journal; what it takes to say something is worked out when it is asked for.

    `wishes` are the waits that it asks for, by the watches they were read by, once somebody has read them.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.number = entry.number
        self.wishes: dict[object, object] = {}

    @cached_property
    def fingerprint(self) -> bytes:
        """What stands for the request and for who sends it: two attempts at one call have the same."""
        entry = self.entry
        agent = entry.headers.get("user-agent", "")
        return digest(entry.method, entry.path, entry.body_bytes, entry.body, entry.account, agent)

    @cached_property
    def count(self) -> int | None:
        """How often the client says it has tried before; None where it says nothing."""
        said = self.entry.headers.get("x-stainless-retry-count", "")
        return int(said) if said.isdigit() and len(said) < 6 else None

    def is_over_before(self, other: "Attempt") -> bool:
        """Whether it was over for the client when another one came; in a silence only the client knows."""
        end = self.seen_end
        return self.state == "silent" or (end is not None and end <= other.entry.course.arrived)

    def shares_line(self, other: "Attempt") -> bool:
        """Whether both are known to have come on one connection."""
        return self.entry.line is not None and self.entry.line is other.entry.line

    @cached_property
    def transfer(self) -> Transfer | None:
        """What came over the wire; None for a healthy answer, of which nothing needs to be kept."""
        course = self.entry.course
        return transfer(course, has_left=self.entry.client_left) if course.steps else None

    @cached_property
    def reading(self) -> Reading | None:
        """What a careful client could read; None where there is no answer to read, and for healthy ones."""
        came, entry = self.transfer, self.entry
        if came is None or came.head is None or entry.request is None or came.head.status >= 300:
            return None
        return read(entry.endpoint, came.body, is_streamed=entry.request.is_streamed)

    @cached_property
    def state(self) -> State:
        """How it went."""
        entry, course = self.entry, self.entry.course
        if course.ended is None:
            is_silent = bool(course.sent) and is_endless(course.sent[-1]) and not course.unsent
            return "silent" if is_silent else "under way"
        came = self.transfer
        if came is None:
            if not course.is_kept:
                return "unknown"
            return "left" if entry.client_left else "good"
        if came.ending == "silent":
            return "silent"
        if came.head is None:
            return "left" if came.ending == "left" else "broken"
        if came.head.status >= 400:
            return "refused"
        if came.ending != "whole" and not self.has_told_its_end:
            return "left" if came.ending == "left" else "broken"
        return "redirected" if came.head.status >= 300 else self._state_of_body(came)

    def _state_of_body(self, came: Transfer) -> State:
        reading = self.reading
        if self.entry.endpoint not in GENERATING or reading is None:
            try:
                return "good" if json.read(came.body) is not None else "no answer"
            except ValueError:
                return "no answer"
        if reading.error is not None:
            return "error inside"
        if not reading.is_answer:
            return "no answer"
        if not reading.is_ended:
            return "cut short"
        return "unreadable" if reading.malformed else "good"

    @property
    def has_told_its_end(self) -> bool:
        """The dialect's own end came, so that nothing that follows it matters to a client."""
        reading = self.reading
        return reading is not None and reading.is_ended and reading.error is None

    @property
    def status(self) -> int:
        """The status that the client saw; 0 where there was none."""
        came = self.transfer
        return self.entry.status if came is None else 0 if came.head is None else came.head.status

    @property
    def meant(self) -> tuple[str, ...]:
        """The texts that the service wanted to say, one for each choice; none where it had none."""
        choices = () if self.entry.generation is None else self.entry.generation.choices
        return tuple([_said(choice) for choice in choices])

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a careful client could read."""
        if self.reading is not None:
            return self.reading.texts
        return self.meant if self.state == "good" else (self.entry.text_sent,)

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls as they were sent."""
        if self.reading is not None:
            return self.reading.tool_calls
        return self.entry.tool_calls if self.state == "good" else ()

    @property
    def is_left_in_silence(self) -> bool:
        """The client went away while nothing was said, as a timeout lets it."""
        sent = self.entry.course.sent
        return self.entry.client_left and bool(sent) and isinstance(sent[-1], Wait | Repeat)

    @cached_property
    def should_retry(self) -> bool | None:
        """What the header `x-should-retry` says; None where it says nothing."""
        said = None if self.transfer is None else self.transfer.header("x-should-retry")
        return {"true": True, "false": False}.get(said or "")

    @cached_property
    def error_fields(self) -> dict[str, object]:
        """The fields of the error in the body of a refusal; none where it has none."""
        came = self.transfer
        if came is None or self.state not in {"refused", "error inside"}:
            return {}
        try:
            found = json.read(came.body)
        except ValueError:
            return {}
        error = found.get("error") if isinstance(found, dict) else None
        return error if isinstance(error, dict) else found if isinstance(found, dict) else {}

    @cached_property
    def is_retryable(self) -> bool:
        """Whether another attempt may bring an answer."""
        if self.state != "refused":
            return self.state in FAILED
        if self.should_retry is not None:
            return self.should_retry
        return self.status in RETRYABLE

    @cached_property
    def seen_end(self) -> float | None:
        """When the client may have seen its end at the earliest, on the monotonic clock; None while it lasts."""
        course = self.entry.course
        if course.ended is None:
            return None
        return course.ended if course.last is None or course.unsent else course.last


def _said(choice: Choice) -> str:
    return (choice.prompt_text or "") + choice.whole_text
