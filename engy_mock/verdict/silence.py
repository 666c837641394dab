"""Silence: what a client took for an answer that was none, by what it says it got, or by what it sends next."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from engy_mock.books.heard import Heard
from engy_mock.verdict.attempt import Attempt, State
from engy_mock.verdict.call import Call
from engy_mock.verdict.finding import Finding
from engy_mock.verdict.likeness import has_same_words, is_excuse, likeness
from engy_mock.verdict.words import Severity
from engy_mock.vocabulary.generation import UNSAID

SHOWN = 40
"""How many characters of a text evidence shows."""

CRASHES = frozenset(
    {
        "AssertionError",
        "AttributeError",
        "IndexError",
        "JSONDecodeError",
        "KeyError",
        "NameError",
        "StopIteration",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
    }
)
"""The classes of errors that nobody raises on purpose to report what a service said."""

UNFINISHED: Mapping[State, str] = {
    "broken": "the connection broke before the end of the answer",
    "cut short": "the answer lacks its end: no finish reason, no last event",
    "silent": "the answer fell silent before its end",
    "left": "the client left while the answer was silent",
}
"""Answers that are not whole, and how that shows on the wire."""

WRONG: Mapping[State, str] = {
    "error inside": "there is an error inside the answer",
    "no answer": "what came is no answer",
}


class Accepted(NamedTuple):
    """A text that a client has taken for the answer, and how that is known."""

    texts: tuple[str, ...]
    how: str
    where: tuple[int, ...] = ()


def found_in(call: Call, sent_back: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    """What a client took for an answer; `sent_back` has the answers in later requests, with their numbers."""
    last, heard = call.last, call.heard
    if heard is not None and heard.error is not None:
        yield from _lost_class(call, heard)
        return
    if heard is not None:
        accepted = Accepted(tuple(heard.texts), "the client says it got an answer")
        yield from _accepted(last, accepted, has_finish=heard.finish is not None)
        return
    text = last.texts[0] if last.texts else ""
    later = tuple([number for number in sent_back.get(text, ()) if number > last.number])
    if text and later:
        accepted = Accepted(last.texts[:1], f"exchange {later[0]} sends it back as an answer", later[:1])
        yield from _accepted(last, accepted, has_finish=False)


def is_own_words(heard: Heard, attempt: Attempt) -> bool:
    """Whether what the client says has nothing of the answer: it tells its caller something else instead."""
    texts = [_plain(text) for text in heard.texts if text]
    sources = [_plain(text) for text in (*attempt.meant, *attempt.texts)]
    body = "" if attempt.transfer is None else attempt.transfer.body.decode("utf-8", "replace")
    return bool(texts) and not any(_is_part(text, source) for text in texts for source in (*sources, _plain(body)))


def _accepted(attempt: Attempt, accepted: Accepted, *, has_finish: bool) -> Iterator[Finding]:
    """What is wrong with taking this text for the answer of this attempt."""
    heard = Heard(texts=accepted.texts)
    numbers = (attempt.number, *accepted.where)
    shown = f"{accepted.how}: {_short(accepted.texts)}"
    state, reading = attempt.state, attempt.reading
    if state in {"unknown", "under way", "redirected"}:
        return
    if state == "left" and not attempt.is_left_in_silence:
        return  # it had enough
    if state == "cut short" and has_finish and reading is not None and reading.is_ended_loosely:
        return  # its reader takes a last event for one that is not closed
    if state not in {"good", "unreadable"} and is_own_words(heard, attempt):
        if not any(is_excuse(text) for text in heard.texts):
            how = {**UNFINISHED, **WRONG}.get(state, f"the answer was a {attempt.status}")
            yield Finding.of("made-up-answer", numbers, f"{how}, and {shown}, of which nothing was sent")
        return
    if state in UNFINISHED and attempt.has_told_its_end:
        yield from _compared(attempt, accepted, numbers)
    elif state in UNFINISHED:
        yield Finding.of("truncated-accepted", numbers, f"{_unfinished(attempt)}, and {shown}")
    elif state in WRONG:
        yield Finding.of("silent-acceptance", numbers, f"{WRONG[state]}, and {shown}")
    elif state == "refused":
        yield Finding.of("silent-acceptance", numbers, f"the answer was a {attempt.status}, and {shown}")
    elif state == "unreadable":
        evidence = f"an event of the stream cannot be read, and {shown}"
        yield Finding.of("malformed-chunk-ignored", numbers, evidence)
        yield from _compared(attempt, accepted, numbers)
    else:
        yield from _compared(attempt, accepted, numbers)


def _unfinished(attempt: Attempt) -> str:
    came = attempt.transfer
    is_damaged = came is not None and came.ending == "garbled"
    return "the transfer was damaged" if is_damaged else UNFINISHED[attempt.state]


def _compared(attempt: Attempt, accepted: Accepted, numbers: tuple[int, ...]) -> Iterator[Finding]:
    """Whether the text of an answer that came whole is the one that was meant."""
    if attempt.entry.generation is None or attempt.entry.generation.choices[0].response is not UNSAID:
        return
    meant, texts, readable = attempt.meant, accepted.texts, attempt.texts
    if len(texts) != len(meant):
        texts, meant, readable = ("".join(texts),), ("".join(meant),), ("".join(readable),)
    for text, wanted in zip(map(_plain, texts), map(_plain, meant), strict=True):
        if text == wanted or (wanted and wanted in text):
            continue
        shown = f"{_short((text,))} instead of {_short((wanted,))}"
        if attempt.reading is not None and text in [_plain(one) for one in readable]:
            # The wire has it so, and nothing on it says that it is wrong.
            yield Finding.of("undetectable-damage", numbers, f"{accepted.how}: {shown}")
        elif has_same_words(text, wanted):
            continue
        elif _has_lost(text, wanted, is_marred=attempt.transfer is not None):
            yield Finding.of("silent-acceptance", numbers, f"the answer is not as it was sent, {shown}")
        elif wanted:
            yield from _altered(text, (wanted, *readable), numbers, shown)


def _altered(text: str, sent: Sequence[str], numbers: tuple[int, ...], shown: str) -> Iterator[Finding]:
    """Whether a text was made of none of these; what is too short or too like them to say is worth a warning."""
    found = {likeness(text, one) for one in sent if one}
    if "made of it" not in found:
        severity: Severity = "warning" if "perhaps another" in found else "error"
        evidence = f"the client says it got another answer than was sent, {shown}"
        yield Finding.of("answer-altered", numbers, evidence, severity=severity)


def _has_lost(text: str, wanted: str, *, is_marred: bool) -> bool:
    """Whether a text is the other one with something lost or spoilt on the way, not one that was made of it."""
    if wanted.startswith(text) or wanted.endswith(text):
        return True
    if "\ufffd" in text and "\ufffd" not in wanted:
        return True
    letters = iter(wanted)
    return is_marred and len(text) * 2 > len(wanted) and all(letter in letters for letter in text)


def _lost_class(call: Call, heard: Heard) -> Iterator[Finding]:
    """What an error that was reported says of the failure behind it."""
    last, error = call.last, heard.error
    assert error is not None
    name = error.kinds[0] if error.kinds else "an error"
    if last.state == "good":
        if last.transfer is None or last.transfer.ending == "whole":
            evidence = f"the answer was whole, and the client reports {name}"
            yield Finding.of("good-answer-lost", (last.number,), evidence)
    elif last.state == "refused":
        message = last.entry.error or ""
        is_told = last.status in error.statuses or str(last.status) in error.says
        if not is_told and not (message and message in error.says):
            evidence = f"the service refused with {last.status}, and the client reports {name} without it"
            yield Finding.of("error-class-lost", (last.number,), evidence)
    elif name in CRASHES:
        how = {**UNFINISHED, **WRONG}.get(last.state, "the answer could not be read")
        yield Finding.of("error-class-lost", (last.number,), f"{how}, and the client reports {name}")


def _plain(text: str) -> str:
    return " ".join(text.split())


def _is_part(text: str, source: str) -> bool:
    return bool(source) and (text in source or source in text)


def _short(texts: Sequence[str]) -> str:
    text = _plain(" / ".join(texts))
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
