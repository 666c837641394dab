"""One exchange as the journal keeps it: what was asked, what became of it, and why."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engy_mock.books.course import Course
from engy_mock.vocabulary import json
from engy_mock.vocabulary.credentials import without_keys
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import Generation, Usage
from engy_mock.vocabulary.request import GenerationRequest, ToolCall
from engy_mock.vocabulary.wire import Line

MAX_BODY = 256 * 1024

NOWHERE = -1
"""The number of what stands in no journal, or in none yet."""

_BETWEEN_EVENTS = re.compile(r"(?:\r\n){2,}|\n{2,}|\r{2,}")

KEPT_HEADERS = (
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "user-agent",
    "x-stainless-lang",
    "x-stainless-retry-count",
)
"""The request headers that an entry keeps: none of them is a place for a key (Q-32)."""


Fate = Literal["served", "waiting", "left", "cut off"]
"""What becomes of a client: its answer came to an end, it still waits for one, it went away, it was cut off."""


def kept_header(name: object) -> str:
    """The name under which entries keep this header; raises MockError if they do not."""
    kept = name.lower() if isinstance(name, str) else name
    if kept not in KEPT_HEADERS:
        raise MockError(
            f"the journal does not keep header {name!r:.80}, it could hold a secret: it keeps "
            f"{', '.join(KEPT_HEADERS)}. A rule sees all: engy.when(header=...) and engy.verify()"
        )
    return str(kept)


def harmless(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that may be kept, by their names in lower case."""
    return {name: without_keys(value) for name in KEPT_HEADERS if (value := headers.get(name)) is not None}


@dataclass(slots=True, kw_only=True)
class Entry:
    """One exchange: what was asked and what became of it.

    `number` is given by the journal, when it is written down there.
    `endpoint` and `surface` say what the call was for, `asked_at` when by the mock's clock, `account` who paid.
    `body` is what the client sent, cut at 256 KiB, and `body_bytes` how long it was; `request` what the service
    understood, once it did, where a body that was cut has its short fields alone. `status` is 0 where no head was
    sent. `pieces_sent` counts the pieces that got through, `client_left` is true if the client went away before
    the end. `rule` names the rules that took part, and `missed` tells why others did not; for that it keeps rules
    of about `rules_weight` bytes that exchanges before it did not; `request_weight` is about what its request
    takes, where that is known from before. `faults` are those that changed the answer,
    `not_applied` those that found no place in it, as scenario files write them, and parts of a reply that found
    none; `plan` is the seed, and what stands for all that was decided. `headers` are those of the request that say
    nothing about who sent it. `weight` is about the memory that it keeps, in bytes. `course` is when what of the
    answer went out, `line` the connection on which it was asked, where that is known. Of a request that was
    refused before it was understood `model` is still known, and expectations see what it asked for; `gist` is that
    where the body was cut, and `is_body_unread` is true where there was none to be read. `meaning` is what
    requests that ask the same have in common, and `occurrence` how many of them were counted before it.
    """

    method: str
    path: str
    body: bytes
    request_id: str = ""
    number: int = NOWHERE
    endpoint: str = ""
    surface: str = ""
    account: str = ""
    asked_at: float = 0.0
    status: int = 0
    request: GenerationRequest | None = None
    generation: Generation | None = None
    usage: Usage | None = None
    charged_micro: int = 0
    pieces_sent: int = 0
    client_left: bool = False
    error: str | None = None
    rule: str | None = None
    faults: tuple[str, ...] = ()
    not_applied: tuple[str, ...] = ()
    plan: str = ""
    body_bytes: int = 0
    weight: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    course: Course = field(default_factory=Course, repr=False, compare=False)
    line: Line | None = field(default=None, repr=False, compare=False)
    missed: "tuple[str, ...] | Callable[[Entry], tuple[str, ...]]" = field(default=(), repr=False, compare=False)
    gist: GenerationRequest | None = field(default=None, repr=False, compare=False)
    rules_weight: int = field(default=0, repr=False, compare=False)
    request_weight: int = field(default=0, repr=False, compare=False)
    is_body_unread: bool = field(default=False, repr=False, compare=False)
    meaning: bytes = field(default=b"", repr=False, compare=False)
    occurrence: int = field(default=0, repr=False, compare=False)

    @property
    def model(self) -> str | None:
        """The model as sent; None where the body names none, or was no JSON."""
        request = self.request or self.gist
        if request is not None:
            return request.model
        if self.is_body_cut or not self.body:
            return None
        try:
            document = json.read(self.body)
        except ValueError:
            return None
        model = document.get("model") if isinstance(document, dict) else None
        return model if isinstance(model, str) else None

    @property
    def mismatches(self) -> tuple[str, ...]:
        """The rules that took no part though they were there, the nearest first, each with its reasons.

        They are found when this is asked for; so functions of rules are called once more.
        """
        return self.missed(self) if callable(self.missed) else self.missed

    @property
    def text(self) -> str:
        """The text of the first choice of the answer, whatever of it got through; empty if there is none."""
        return "" if self.generation is None else self.generation.choices[0].whole_text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the first choice of the answer."""
        return () if self.generation is None else self.generation.choices[0].tool_calls

    @property
    def pieces_planned(self) -> int:
        """How many pieces the answer has, whatever of them got through."""
        choices = () if self.generation is None else self.generation.choices
        return sum([len(choice.text) + len(choice.reasoning or ()) + len(choice.tool_calls) for choice in choices])

    @property
    def text_sent(self) -> str:
        """The text of the first choice as far as it got through."""
        return self.text[: len(self.text) - len(self.text_unsent)]

    @property
    def text_unsent(self) -> str:
        """The rest of that text, which never came to it."""
        if self.generation is None:
            return ""
        choice = self.generation.choices[0]
        return "".join(choice.text[max(0, self.pieces_sent - len(choice.reasoning or ())) :])

    @property
    def body_sent(self) -> bytes:
        """The body of the answer as it went out, without the framing of its transfer.

        A healthy answer is told once more for it, in the same bytes. Raises MockError where that cannot be: for
        pages, for answers under way, and for those that were too large to be kept or repeat a field that was.
        """
        course = self.course
        if course.steps:
            return course.body
        if not course.is_kept:
            raise MockError(f"the answer of exchange {self.number} was too large for the journal to keep")
        if course.first is None:
            return b""
        if course.retell is None or self.generation is None:
            raise MockError(f"the journal does not keep what the page of exchange {self.number} said")
        if course.ended is None:
            raise MockError(
                f"the answer of exchange {self.number} is under way: nobody knows how much of it is sent"
            )
        left = math.inf if self.fate == "served" else self.pieces_sent
        parts = []
        for data, is_piece in course.retell(self):
            if left <= 0:
                break
            left -= is_piece
            parts.append(data)
        return b"".join(parts)

    @property
    def events_sent(self) -> tuple[str, ...]:
        """The server-sent events that went out, without the empty lines behind them; none of a whole answer.

        Raises MockError where `body_sent` does.
        """
        head = self.course.head
        kinds = () if head is None else [value for name, value in head.headers if name.lower() == "content-type"]
        is_stream = self.request is not None and self.request.is_streamed and self.status < 400
        if not is_stream and not any(kind.startswith("text/event-stream") for kind in kinds):
            return ()
        text = self.body_sent.decode("utf-8", "replace")
        return tuple([event for event in _BETWEEN_EVENTS.split(text) if event])

    @property
    def seconds(self) -> float | None:
        """How long it lasted on the wall, from the whole request to the end of the answer; None while it lasts."""
        return self._since_arrival(self.course.ended)

    @property
    def first_byte_seconds(self) -> float | None:
        """How long the first byte of the answer took on the wall; None if there was none."""
        return self._since_arrival(self.course.first)

    @property
    def last_byte_seconds(self) -> float | None:
        """How long the last byte of the answer took on the wall; None if there was none."""
        return self._since_arrival(self.course.last)

    @property
    def fate(self) -> Fate:
        """What became of the client."""
        if self.course.ended is None:
            return "waiting"
        if self.client_left:
            return "left"
        return "cut off" if self.course.is_broken else "served"

    def _since_arrival(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self.course.arrived

    @property
    def is_body_cut(self) -> bool:
        """Whether the body was too long to be kept as a whole."""
        return self.body_bytes > len(self.body)

    def lost_its_silence(self, *, is_endless: bool) -> None:
        """Too many answers were silent already: the faults behind that did not come to it (Q-19)."""
        course = self.course
        silences = course.silences if is_endless else course.stalls
        self.faults = tuple([fault for fault in self.faults if fault not in silences])
        self.not_applied += silences
        if is_endless:
            course.silences = ()
        else:
            course.stalls = ()

    def json(self) -> Any:
        """The body as the client sent it, parsed.

        Raises ValueError if it is not JSON, and MockError if it was too long to be kept.
        """
        if self.is_body_cut:
            raise MockError(
                f"the body of exchange {self.number} had {self.body_bytes} bytes, of which the journal keeps "
                f"the first {len(self.body)}: what the service understood of it is in its request"
            )
        return json.read(self.body)

    def snapshot(self) -> dict[str, Any]:
        """What a run can be compared by: plain values, the same in every run of the same calls and seed."""
        try:
            body = None if self.is_body_cut else self.json()
        except ValueError:
            body = None
        found: dict[str, Any] = {"method": self.method, "path": self.path, "body": body, "status": self.status}
        if self.is_body_cut:
            found["body_cut"] = {"bytes": self.body_bytes, "kept": len(self.body)}
        if self.generation is not None:
            choice = self.generation.choices[0]
            found["answer"] = {"text": choice.whole_text, "finish_reason": choice.finish_reason}
            if choice.tool_calls:
                calls = [{"name": call.name, "arguments": call.arguments} for call in choice.tool_calls]
                found["answer"]["tool_calls"] = calls
        if self.usage is not None:
            found["usage"] = {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "cached_tokens": self.usage.cached_tokens,
            }
            found["charged_micro"] = self.charged_micro
        more = {
            "error": self.error,
            "rule": self.rule,
            "faults": list(self.faults),
            "not_applied": list(self.not_applied),
            "client_left": self.client_left,
        }
        return found | {name: value for name, value in more.items() if value}

    @property
    def asking(self) -> str:
        """What was asked, on one line for people: all that is known of it before it is answered."""
        said = [f"{self.method} {self.path}"]
        if self.request is not None:
            said.append(f"{self.request.model}{' stream' if self.request.is_streamed else ''}")
            said.append(_short(self.request.last_user_text))
        return "  ".join(said)

    def __str__(self) -> str:
        """One line for people; the number is the one in the journal, on the page and in verdicts."""
        said = [self.asking if self.number == NOWHERE else f"{self.number}. {self.asking}"]
        said.append(f"-> {self.status or 'no answer'}")
        if self.error:
            said.append(_short(self.error))
        elif self.generation is not None:
            calls = " ".join(f"{call.name}({_short(call.arguments)})" for call in self.tool_calls)
            said.append(calls or _short(self.text))
        if self.is_body_cut:
            said.append(f"[body cut: {len(self.body)} of {self.body_bytes} bytes kept]")
        said += [f"[{fault}]" for fault in self.faults]
        said += [f"[not applied: {fault}]" for fault in self.not_applied]
        if self.client_left:
            said.append("(the client left)")
        elif self.course.first is not None and self.course.ended is None:
            said.append("(the client still waits)")
        return "  ".join(said)


def _short(text: str, most: int = 50) -> str:
    """A text on one line, cut where it is long."""
    text = " ".join(text.split())
    return repr(text if len(text) <= most else text[: most - 3] + "...")
