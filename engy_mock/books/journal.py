"""Every exchange that the mock has had, in order, bounded, and without credentials."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, overload

from engy_mock.vocabulary.generation import Generation, Usage
from engy_mock.vocabulary.request import GenerationRequest, RawPrompt

MAX_ENTRIES = 10_000
MAX_BYTES = 64 * 1024 * 1024
MAX_BODY = 256 * 1024


KEPT_HEADERS = (
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "user-agent",
    "x-stainless-lang",
    "x-stainless-retry-count",
)
"""The request headers that an entry keeps: none of them can hold a key (Q-32)."""


def harmless(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may be kept, by their names in lower case."""
    found = {name: headers.get(name) for name in KEPT_HEADERS}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(slots=True, kw_only=True)
class Entry:
    """One exchange: what was asked and what became of it.

    `body` is what the client sent, cut at 256 KiB; `request` what the service understood, once it did.
    `pieces_sent` counts the pieces that got through, `client_left` is true if the client went away before the
    end. `rule` names the rules that took part, `faults` those faults that changed the answer, `not_applied` those
    that found no place in it, as scenario files write them; `plan` is the seed, and what stands for all that was
    decided. `headers` are those of the request that say nothing about who sent it. `weight` is about the memory
    that it keeps, in bytes.
    """

    number: int
    method: str
    path: str
    body: bytes
    request_id: str
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
    weight: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """The body as the client sent it, parsed; raises ValueError if it is not JSON."""
        from engy_mock.vocabulary import json

        return json.read(self.body)


def _weight(entry: Entry) -> int:
    """About how many bytes of memory an exchange keeps: its body as sent and as parsed, and its answer."""
    weight = 2_000 + len(entry.body)
    if entry.request is not None:
        weight += 24 * len(entry.body) if entry.request.body else MAX_BODY
        if isinstance(entry.request.prompt, RawPrompt):
            weight += sum([40 * len(prompt) for prompt in entry.request.prompt.prompts])
        else:
            weight += sum([len(message.text) for message in entry.request.messages])
    for choice in () if entry.generation is None else entry.generation.choices:
        scored = [entry for piece in choice.logprobs or () for entry in piece]
        scored += choice.prompt_logprobs or ()
        weight += 64 * (len(choice.text) + len(choice.reasoning or ()))
        weight += sum([300 + 40 * len(one.top) for one in scored])
    return weight


class Journal:
    """The entries of one mock since its last reset, oldest first; the oldest make room for new ones.

    `lost` counts those that had to go.
    """

    def __init__(self, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._entries: deque[Entry] = deque()
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._bytes = 0
        self._count = 0
        self._lock = Lock()
        self.lost = 0

    def add(self, entry: Entry) -> None:
        """Write an exchange down; its `number` is given here."""
        if len(entry.body) > MAX_BODY:
            entry.body = entry.body[:MAX_BODY]
            if entry.request is not None:
                entry.request = replace(entry.request, body={})
        entry.weight = _weight(entry)
        with self._lock:
            entry.number = self._count
            self._count += 1
            self._entries.append(entry)
            self._bytes += entry.weight
            while len(self._entries) > self._max_entries or (
                self._bytes > self._max_bytes and len(self._entries) > 1
            ):
                self._bytes -= self._entries.popleft().weight
                self.lost += 1

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        return list(self._entries)[index] if isinstance(index, slice) else self._entries[index]

    def __repr__(self) -> str:
        rows = [f"{entry.method} {entry.path} {entry.status}" for entry in self]
        return f"<Journal of {len(rows)}: {'; '.join(rows[-20:])}>"

    @property
    def last(self) -> Entry:
        """The newest entry; raises LookupError if there is none."""
        if not self._entries:
            raise LookupError("the journal is empty: no request has reached the mock")
        return self._entries[-1]
