"""Faults of bytes: characters torn apart, and ones that readers do not expect ("SSE")."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from engy_mock.scripting import sse
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.smuggled import byte, escape, let_out
from engy_mock.scripting.writes import cut
from engy_mock.vocabulary.events import Event, TextDelta
from engy_mock.vocabulary.wire import Frame, Step

MEBIBYTE = 1024 * 1024

LEADS = ((2, 0xC0, 0xE0), (3, 0xE0, 0xF0), (4, 0xF0, 0xF8))
"""The bytes that begin a character of so many bytes: from, and below."""

ODD = {
    "nul": escape(0x00),
    "vertical-tab": escape(0x0B),
    "form-feed": escape(0x0C),
    "next-line": "\x85",
    "line-separator": "\u2028",
    "paragraph-separator": "\u2029",
    "surrogate": escape(0xD800),
}
"""Odd characters as JSON carries them: those that it must escape are escaped."""

Odd = Literal[
    "all", "nul", "vertical-tab", "form-feed", "next-line", "line-separator", "paragraph-separator", "surrogate"
]


@fault("utf8-split")
class Utf8Split(Fault):
    """End a write inside each character of `at` bytes, or of more than one."""

    at: Literal[2, 3, 4] | None = None

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Writes that end in the first byte of a character."""
        leads = {lead for size, low, high in LEADS if self.at in (None, size) for lead in range(low, high)}
        for step in steps:
            places = (
                [place + 1 for place, lead in enumerate(step.data) if lead in leads]
                if isinstance(step, Frame)
                else []
            )
            if places and isinstance(step, Frame):
                yield from cut(step, places)
            else:
                yield step


@fault("surrogate-split", streams=True)
class SurrogateSplit(Fault):
    r"""Tell a character beyond the first 65,536 as `\ud83d` in one event and `\ude00` in another."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """The second half at the beginning of the next text, or the first at the end of the one before."""
        done = list(events)
        texts = [(place, event) for place, event in enumerate(done) if isinstance(event, TextDelta)]
        for (place, event), (following, other) in pairwise(texts):
            if event.choice != other.choice:
                continue
            if parts := _halved(event.text):
                done[place] = replace(event, text=parts[0])
                done[following] = replace(other, text=parts[1] + other.text)
                break
            if parts := _halved(other.text):
                done[place] = replace(event, text=event.text + parts[0])
                done[following] = replace(other, text=parts[1])
                break
        return iter(done)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The halves in their true form."""
        return let_out(steps)


def _halved(text: str) -> tuple[str, str] | None:
    """The text on both sides of the middle of the first character that has one."""
    for at, character in enumerate(text):
        code = ord(character) - 0x10000
        if code >= 0:
            return text[:at] + escape(0xD800 + (code >> 10)), escape(0xDC00 + (code & 0x3FF)) + text[at + 1 :]
    return None


def _in_first_text(events: Iterator[Event], change: Callable[[str], str]) -> Iterator[Event]:
    """The events with the first piece of text changed."""
    is_first = True
    for event in events:
        if is_first and isinstance(event, TextDelta):
            is_first = False
            yield replace(event, text=change(event.text))
        else:
            yield event


@fault("utf8-invalid")
class Utf8Invalid(Fault):
    """Put the byte 0xFF, which no text in UTF-8 has, behind the first piece of text."""

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """A text with something in it."""
        return _in_first_text(events, lambda text: text + byte(0xFF))

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The byte in its true form."""
        return let_out(steps)


@fault("odd-characters")
class OddCharacters(Fault):
    """Put characters that some readers cut lines at, or choke on, behind the first piece of text."""

    which: Odd = "all"

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """A text with something in it."""
        odd = "".join(ODD.values()) if self.which == "all" else ODD[self.which]
        return _in_first_text(events, lambda text: text + odd)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Escapes in their true form."""
        return let_out(steps)


@fault("giant-event", streams=True)
class GiantEvent(Fault):
    """Make the first piece an event of so many MiB, by a field that no client reads."""

    size: Literal[1, 8, 64] = 1

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """One very long line."""
        is_first = True
        for step in steps:
            document = sse.document(step) if is_first and sse.is_event(step) and step.is_piece else None
            if document is not None and isinstance(step, Frame):
                is_first = False
                yield sse.with_document(step, {**document, "obfuscation": "x" * (self.size * MEBIBYTE)})
            else:
                yield step
