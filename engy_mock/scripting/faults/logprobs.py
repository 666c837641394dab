"""Faults of log probabilities: values, bytes and alternatives that are not as they should be ("Chat")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, nan
from typing import Any

from engy_mock.scripting.chunks import CHUNKED, choices
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.retelling import entry, followed
from engy_mock.scripting.retelling import with_choices as retold_choices
from engy_mock.scripting.sse import Document, documents, loose, rewritten, with_payload
from engy_mock.vocabulary.generation import Choice, Generation, TokenLogprob
from engy_mock.vocabulary.wire import Frame, Step

LISTED = ("chat", "responses")
"""The endpoints that list tokens as objects."""

SCORED = (*CHUNKED, "responses")

SENTINEL = -9999.0
CHARACTER = "\u2603"
_LITERALS = (-inf, nan)


@fault("logprobs-null", endpoints=SCORED)
class LogprobsNull(Fault):
    """Give null as the list of log probabilities; completions have null in their whole place."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there would be any."""
        return is_scored(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without log probabilities."""

        def changed(found: Document, _: Frame) -> Document:
            for choice in choices(found):
                told = choice.get("logprobs")
                if isinstance(told, dict):
                    choice["logprobs"] = {**told, "content": None} if "content" in told else None
            for part in _listing(found):
                part["logprobs"] = None
            return found

        return rewritten(steps, changed)


@fault("logprob-bytes-missing", endpoints=LISTED)
class LogprobBytesMissing(Fault):
    """Leave out the bytes of tokens and alternatives."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there would be any."""
        return is_scored(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without bytes."""

        def changed(found: Document, _: Frame) -> Document:
            for one in entries(found):
                for token in (one, *one.get("top_logprobs", ())):
                    token.pop("bytes", None)
            return found

        return rewritten(steps, changed)


@fault("logprob-bytes-split", endpoints=SCORED)
class LogprobBytesSplit(Fault):
    """Split characters over tokens whose bytes are none by themselves; a text without such a one gets one."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there are tokens to be seen."""
        return is_scored(occasion)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with more tokens."""

        def changed(choice: Choice) -> Choice:
            if choice.logprobs is None:
                return choice
            split = _with_entries(choice, lambda one, _: _halved(one))
            if split != choice:
                return split
            more = followed(choice, CHARACTER)
            last = _halved(entry(choice, CHARACTER))
            return replace(more, logprobs=(*choice.logprobs, tuple(last)))

        return retold_choices(generation, changed)


@fault("logprob-sentinel", endpoints=SCORED)
class LogprobSentinel(Fault):
    """Give -9999 as the log probability of each token."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there would be others."""
        return is_scored(occasion)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other values."""

        def value(one: TokenLogprob) -> TokenLogprob:
            return one if one.logprob is None else replace(one, logprob=SENTINEL)

        def changed(choice: Choice) -> Choice:
            told = _with_entries(choice, lambda one, _: (value(one),))
            prompt = choice.prompt_logprobs
            return replace(told, prompt_logprobs=None if prompt is None else tuple(map(value, prompt)))

        return retold_choices(generation, changed)


@fault("logprob-not-finite", endpoints=SCORED)
class LogprobNotFinite(Fault):
    """Write `-Infinity` and `NaN`, by turns, as the log probabilities of tokens: that is no JSON."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there would be others."""
        return is_scored(occasion)

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other values."""
        number = 0
        for step, found in documents(steps):
            places = list(_values(found))
            if not isinstance(step, Frame) or not places:
                yield step
                continue
            for holder, key in places:
                holder[key] = _LITERALS[number % len(_LITERALS)]
                number += 1
            yield with_payload(step, loose(found))


@fault("logprob-top-count", endpoints=SCORED)
class LogprobTopCount(Fault):
    """Give one alternative less than asked, then one more, by turns."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there are any."""
        return has_alternatives(occasion)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other alternatives."""

        def changed(one: TokenLogprob, number: int) -> tuple[TokenLogprob]:
            rows = tuple(one.top)
            if not rows:
                return (one,)
            if number % 2:
                lowest = rows[-1][2] - 1.0
                return (replace(one, top=(*rows, (CHARACTER, CHARACTER.encode(), lowest))),)
            return (replace(one, top=rows[:-1]),)

        return retold_choices(generation, lambda choice: _with_entries(choice, changed))


@fault("logprob-top-duplicates", endpoints=LISTED)
class LogprobTopDuplicates(Fault):
    """Write the likeliest two alternatives with the same letters."""

    def suits(self, occasion: Occasion) -> bool:
        """Where there are any."""
        return has_alternatives(occasion)

    def retold(self, generation: Generation, occasion: Occasion) -> Generation:
        """The same with other letters."""

        def changed(one: TokenLogprob, _: int) -> tuple[TokenLogprob]:
            if len(one.top) < 2:
                return (one,)
            first, second, *others = one.top
            return (replace(one, top=(first, (first[0], *second[1:]), *others)),)

        return retold_choices(generation, lambda choice: _with_entries(choice, changed))


def is_scored(occasion: Occasion) -> bool:
    """Whether log probabilities are asked for."""
    request = occasion.asked.request
    return request is not None and (request.scoring.logprobs or request.scoring.start is not None)


def has_alternatives(occasion: Occasion) -> bool:
    """Whether alternatives are asked for."""
    request = occasion.asked.request
    return request is not None and request.scoring.top > 0


def entries(value: Any) -> Iterator[Document]:
    """The tokens with log probabilities in a document, alternatives apart."""
    if isinstance(value, list):
        for item in value:
            yield from entries(item)
    elif isinstance(value, dict):
        if "token" in value and "logprob" in value:
            yield value
        else:
            for item in value.values():
                yield from entries(item)


def _listing(value: Any) -> Iterator[Document]:
    """The objects in a document that hold a list of tokens."""
    if isinstance(value, dict) and isinstance(value.get("logprobs"), list):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _listing(item)


def _values(found: Document) -> Iterator[tuple[Any, Any]]:
    """Where a document has log probabilities: the object or list, and the key or place in it."""
    for one in entries(found):
        yield one, "logprob"
    for choice in choices(found):
        told = choice.get("logprobs")
        column = told.get("token_logprobs") if isinstance(told, dict) else None
        if isinstance(column, list):
            for place, value in enumerate(column):
                if value is not None:
                    yield column, place


def _with_entries(choice: Choice, change: Callable[[TokenLogprob, int], Sequence[TokenLogprob]]) -> Choice:
    """The choice with each scored token of its own changed, given its number."""
    if choice.logprobs is None:
        return choice
    number = 0
    told = []
    for piece in choice.logprobs:
        changed: list[TokenLogprob] = []
        for one in piece:
            changed += change(one, number)
            number += 1
        told.append(tuple(changed))
    return replace(choice, logprobs=tuple(told))


def _halved(one: TokenLogprob) -> list[TokenLogprob]:
    """A token split inside its first character of several bytes; whole if it has none."""
    try:
        letters = one.raw.decode()
    except ValueError:
        return [one]
    place = next((place for place, letter in enumerate(letters) if not letter.isascii()), None)
    if place is None:
        return [one]
    cut = len(letters[:place].encode()) + 1
    return [_of_bytes(one, one.raw[:cut]), _of_bytes(one, one.raw[cut:])]


def _of_bytes(one: TokenLogprob, raw: bytes) -> TokenLogprob:
    """A token like this one of other bytes."""
    label = "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)
    rows = tuple(one.top)
    top = (*rows[:-1], (label, raw, rows[-1][2])) if rows else ()
    return replace(one, token=label, raw=raw, top=top)
