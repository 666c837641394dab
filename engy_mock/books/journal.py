"""Every exchange that the mock has had, in order, bounded, and without credentials."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from json import dumps
from sys import getsizeof
from threading import Lock
from typing import Any, Literal, Protocol, get_args, overload

from engy_mock.books.entry import MAX_BODY, Entry, kept_header
from engy_mock.books.heard import Heard
from engy_mock.books.shortened import Shortened
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError, did_you_mean
from engy_mock.vocabulary.request import GenerationRequest, RawPrompt

MAX_ENTRIES = 10_000
MAX_BYTES = 64 * 1024 * 1024

Order = Literal["arrival", "asked"]

ORDERS: tuple[str, ...] = get_args(Order)

LATEST = 40
"""So many exchanges are shown beside something that failed."""

HIDDEN = frozenset(
    {"gist", "is_body_unread", "meaning", "missed", "occurrence", "request_weight", "rules_weight", "weight"}
)
"""What entries have for the house alone."""

HEADS = frozenset({401, 403, 413, 415})
"""The statuses with which the service refuses heads."""

FIELDS = (
    *[field.name for field in fields(Entry) if field.name not in HIDDEN],
    "mismatches",
    "model",
    "text",
    "tool_calls",
)
"""What entries can be chosen by."""

ELSEWHERE = {
    "header": " headers= are those of the request.",
    "key": " account= is whose key it was.",
    "refused": " status= is what it was refused with.",
} | {
    word: f" engy.asked({word}=...) finds requests by what they say, also in order and by number."
    for word in ("says", "system", "offers", "tool_result", "stream", "field")
}
"""The words of `when` that are no fields of an entry, and what to ask instead."""

_log = logging.getLogger("engy_mock")


def _weight(entry: Entry) -> int:
    """About how many bytes of memory an exchange keeps: its body as sent and as parsed, and its answer.

    What each thing takes was measured. Texts are kept once, whoever shows them, and the tokens of a prompt
    not at all.
    """
    weight = 3_000 + len(entry.body) + entry.course.weight + entry.rules_weight
    request = entry.request or entry.gist
    if request is not None:
        weight += entry.request_weight or weight_of_request(request, entry.body)
    for choice in () if entry.generation is None else entry.generation.choices:
        weight += 64 * (len(choice.text) + len(choice.reasoning or ()))
        if choice.logprobs or choice.prompt_logprobs:
            scored = [entry for piece in choice.logprobs or () for entry in piece]
            scored += choice.prompt_logprobs or ()
            weight += sum([400 + 190 * len(one.top) for one in scored])
    return weight


def weight_of_request(request: GenerationRequest, body: bytes) -> int:
    """About how many bytes a request keeps once it is understood; not its body as parsed if that was too large."""
    if isinstance(request.prompt, RawPrompt):
        prompts = request.prompt.prompts
        texts = sum([getsizeof(prompt) for prompt in prompts if isinstance(prompt, str)])
        weight = texts + sum([48 * len(prompt) for prompt in prompts if not isinstance(prompt, str)])
    else:
        messages = request.messages
        texts = sum([getsizeof(message.text) for message in messages])
        weight = texts + 200 * len(messages)
        images = [part for message in messages for part in message.parts if not isinstance(part, str)]
        weight += sum([len(image.data) for image in images])
    if request.body:
        # Counting what stands between values is many times faster than walking through them.
        weight += 110 * body.count(b'":') + 200 * body.count(b"{") + 90 * body.count(b"[")
        weight += max(0, len(body) - texts)
    return weight


def _shortened(request: GenerationRequest | None, size: int) -> GenerationRequest | None:
    """A request without the long fields of its body, which had so many bytes."""
    return None if request is None else replace(request, body=Shortened(request.body, size))


def _asked(entry: Entry) -> tuple[str | bytes | int, ...]:
    """What sorts exchanges by what was asked, whoever came first; equals by how they were counted.

    Where a body was cut, or a head is what matters, `meaning` tells them apart. What a head was refused for is
    settled by that alone, however many others came before.
    """
    said = b"" if entry.is_body_cut else entry.body
    with suppress(ValueError):
        said = json.meaning(json.read(said))
    is_of_head = entry.rule is None and (entry.is_body_unread or entry.status in HEADS)
    refused = entry.error or "" if is_of_head else ""
    return entry.path, entry.method, said, entry.account, entry.meaning, refused, entry.occurrence


def _losses(lost: int) -> str:
    return (
        f"{lost} earlier exchanges were dropped from the journal to make room: settings.journal_entries "
        f"and settings.journal_bytes keep more"
    )


class Room(Protocol):
    """How much there is room for: so many entries, and about so many bytes of memory."""

    @property
    def journal_entries(self) -> int:
        """The most entries."""
        ...

    @property
    def journal_bytes(self) -> int:
        """The most bytes; a single entry may be larger."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The room that a journal has unless something else is said."""

    journal_entries: int = MAX_ENTRIES
    journal_bytes: int = MAX_BYTES


class Journal:
    """The entries of one mock since its last reset, oldest first; the oldest make room for new ones.

    `journal[5]` is the exchange with the number 5, whatever had to make room; negative indexes count from the end.
    Bounds of slices are numbers too; slices, and whoever walks through it, leave out what is not there any more.
    `lost` counts those that had to go. `room` is asked at each new entry, as settings may change.
    """

    __slots__ = ("_bytes", "_count", "_entries", "_heard", "_lock", "_room", "lost")

    def __init__(self, room: Callable[[], Room] = Usual) -> None:
        self._entries: deque[Entry] = deque()
        self._room = room
        self._bytes = 0
        self._count = 0
        self._lock = Lock()
        self.lost = 0
        self._heard: deque[Heard] = deque()

    def add(self, entry: Entry) -> None:
        """Write an exchange down; its `number` is given here."""
        entry.body_bytes = len(entry.body)
        if entry.body_bytes > MAX_BODY:
            entry.body = entry.body[:MAX_BODY]
            entry.request = _shortened(entry.request, entry.body_bytes)
            entry.gist = _shortened(entry.gist, entry.body_bytes)
        entry.weight = _weight(entry)
        room = self._room()
        with self._lock:
            entry.number = self._count
            self._count += 1
            self._entries.append(entry)
            self._bytes += entry.weight
            while len(self._entries) > room.journal_entries or (
                self._bytes > room.journal_bytes and len(self._entries) > 1
            ):
                self._bytes -= self._entries.popleft().weight
                if not self.lost:
                    _log.warning("the journal is full: the oldest exchanges make room for new ones")
                self.lost += 1

    def hear(self, heard: Heard) -> None:
        """Write down what the client says it got, behind the exchanges that are there."""
        most = self._room().journal_entries
        with self._lock:
            self._heard.append(replace(heard, behind=self._count))
            while len(self._heard) > most:
                self._heard.popleft()

    @property
    def heard(self) -> Sequence[Heard]:
        """What the client says it got, in the order in which it said so."""
        with self._lock:
            return tuple(self._heard)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __reversed__(self) -> Iterator[Entry]:
        return reversed(tuple(self._entries))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        with self._lock:
            count, lost, entries = self._count, self.lost, list(self._entries)
        if isinstance(index, slice):
            return [entries[number - lost] for number in range(count)[index] if number >= lost]
        number = index + count if index < 0 else index
        if not 0 <= number < count:
            there = f"there are {count}, counted from 0" if count else "no request has reached the mock"
            raise IndexError(f"the journal has no exchange {index}: {there}")
        if number < lost:
            raise IndexError(f"the journal has no exchange {number} any more: {_losses(lost)}")
        return entries[number - lost]

    def __repr__(self) -> str:
        rows = [f"{entry.method} {entry.path} {entry.status}" for entry in self]
        return f"<Journal of {len(rows)}: {'; '.join(rows[-20:])}>"

    def __str__(self) -> str:
        """One line for each exchange, for people."""
        return self.told()

    def told(self, most: int | None = None) -> str:
        """The same, of more than `most` exchanges for the newest alone, with how many there are before them."""
        entries = list(self)
        shown = entries if most is None else entries[max(0, len(entries) - most) :]
        lines = [f"({self.losses})"] if self.lost else []
        if len(shown) < len(entries):
            lines.append(f"({len(entries) - len(shown)} more before these: print(engy.journal) tells all)")
        lines += [str(entry) for entry in shown]
        return "\n".join(lines) or "(no request has reached the mock)"

    def where(self, *functions: Callable[[Entry], bool], **words: object) -> list[Entry]:
        """The entries for which all functions are true and whose fields have these values.

        `engy.journal.where(status=429)`, `engy.journal.where(endpoint="chat", model="glm-5.2")`. `headers` are
        some of those that came, in names of any case. Raises MockError for a field that entries do not have, and
        for a header that they do not keep.
        """
        for name in words:
            if name not in FIELDS:
                hint = ELSEWHERE.get(name) or did_you_mean(name, FIELDS) or f" They have {', '.join(FIELDS)}."
                raise MockError(f"where: entries have no {name!r:.80}.{hint}")
        headers = words.pop("headers", None) or {}
        if not isinstance(headers, Mapping):
            raise MockError(f"where: headers= takes names and values, got {headers!r:.80}")
        wanted = {kept_header(name): value for name, value in headers.items()}
        return [
            entry
            for entry in self
            if wanted.items() <= dict(entry.headers).items()
            and all(getattr(entry, name) == value for name, value in words.items())
            and all(function(entry) for function in functions)
        ]

    def snapshot(self, *, order: Order = "arrival") -> list[dict[str, Any]]:
        """All entries as plain values, for a snapshot: the same in every run of the same calls and seed.

        Callers in parallel arrive in another order each time. With `order="asked"` entries stand in the order of
        what was asked (path, method, what the body says, account, what rules look for in the head), and those that
        ask the same in the order in which they were counted. What depends on who came first depends on it still:
        statuses and answers under limits, balances, phases, and rules with `times`, `at` or several answers that
        different requests use up, or of which several count the same one; `cached_tokens`, and with them
        `charged_micro`, of prompts that begin alike, unless `settings.prompt_cache` is off; `client_left` where a
        client does not wait for the end.

        Where some had to make room, the first value says how many. Raises MockError for another order.
        """
        if order not in ORDERS:
            hint = did_you_mean(str(order), ORDERS)
            raise MockError(f"snapshot: order= takes {' or '.join(map(repr, ORDERS))}, got {order!r:.80}.{hint}")
        lost: list[dict[str, Any]] = [{"dropped": self.lost}] if self.lost else []
        found = [(entry, entry.snapshot()) for entry in self]
        if order == "asked":
            found.sort(key=lambda one: (_asked(one[0]), dumps(one[1], sort_keys=True)))
        return lost + [plain for _, plain in found]

    @property
    def losses(self) -> str:
        """How many entries had to go, and how to keep them; empty if none had to."""
        return _losses(self.lost) if self.lost else ""

    @property
    def last(self) -> Entry:
        """The newest entry; raises LookupError if there is none."""
        if not self._entries:
            raise LookupError("the journal is empty: no request has reached the mock")
        return self._entries[-1]
