"""Faults of what stands around an answer: ids, model, time, and fields that nobody expects ("Chat")."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from engy_mock.scripting.chunks import ALL, CHUNKED, with_tops
from engy_mock.scripting.fault import Fault, fault
from engy_mock.scripting.sse import Document, document, rewritten, with_payload
from engy_mock.vocabulary import json
from engy_mock.vocabulary.seeds import hex_id
from engy_mock.vocabulary.wire import Frame, Step

_ID_DIGITS = 24
_FINGERPRINT_DIGITS = 10

DEPTH = 150
"""More levels than some readers follow (128), and fewer than where the others give up (200)."""

ODD_NUMBERS = b'"x_odd_numbers":[123456789012345678901234567890,-1E400,1e308,5e-324,1E-400,-0.0,1E+2]'

_CONTENT = frozenset({"input", "metadata", "tools", "top_logprobs"})
"""Keys whose values are somebody's own objects: a field more would change what they say."""


def _with_field(steps: Iterator[Step], key: str, change: Callable[[Any], Any]) -> Iterator[Step]:
    """The steps with another value of a field that says what the answer is."""
    return with_tops(steps, lambda top: top.update({key: change(top[key])}) if key in top else None)


def _numbered(steps: Iterator[Step], change: Callable[[Document, int], object]) -> Iterator[Step]:
    """The steps with each chunk changed, given its number."""
    number = 0

    def changed(found: Document, _: Frame) -> Document:
        nonlocal number
        if isinstance(found.get("choices"), list):
            change(found, number)
            number += 1
        return found

    return rewritten(steps, changed)


@fault("id-changes", endpoints=CHUNKED, streams=True)
class IdChanges(Fault):
    """Give each chunk another id."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other ids."""

        def changed(chunk: Document, number: int) -> None:
            prefix, _, rest = str(chunk.get("id")).partition("-")
            if number:
                chunk["id"] = f"{prefix}-{hex_id(_ID_DIGITS, 'another id', rest, number)}"

        return _numbered(steps, changed)


@fault("id-null", endpoints=ALL)
class IdNull(Fault):
    """Give null as the id of the answer."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without an id."""
        return _with_field(steps, "id", lambda _: None)


@fault("model-other", endpoints=ALL)
class ModelOther(Fault):
    """Name another model than the one that was asked for."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with another model."""
        return _with_field(steps, "model", lambda model: f"{model}-other")


@fault("object-missing", endpoints=("chat", "completions", "responses"))
class ObjectMissing(Fault):
    """Leave out what kind of object the answer is."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same without the field."""
        return with_tops(steps, lambda top: top.pop("object", None))


@fault("fingerprint-changes", endpoints=CHUNKED, streams=True)
class FingerprintChanges(Fault):
    """Give each chunk another `system_fingerprint`, also where there is none otherwise."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with other fingerprints."""

        def changed(chunk: Document, number: int) -> None:
            chunk["system_fingerprint"] = "fp_" + hex_id(_FINGERPRINT_DIGITS, "fingerprint", number)

        return _numbered(steps, changed)


@fault("created-odd", endpoints=("chat", "completions", "responses"))
class CreatedOdd(Fault):
    """Give a time that is no number of whole seconds since 1970: with a fraction, in milliseconds, 0 or null."""

    value: Literal["fraction", "milliseconds", 0] | None = "fraction"

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with another time."""
        odd = {
            "fraction": lambda time: time + 0.25 if isinstance(time, int) else time,
            "milliseconds": lambda time: time * 1000 if isinstance(time, int) else time,
            0: lambda _: 0,
            None: lambda _: None,
        }[self.value]
        for key in ("created", "created_at"):
            steps = _with_field(steps, key, odd)
        return steps


@fault("extra-fields", endpoints=ALL)
class ExtraFields(Fault):
    """Put a field that nobody knows into each object."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with more fields."""
        return rewritten(steps, lambda found, _: _extended(found))


@fault("deep-extras", endpoints=ALL)
class DeepExtras(Fault):
    """Add a field with objects in objects, 150 levels deep."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with one field more."""
        deep: Any = {}
        for _ in range(DEPTH - 1):
            deep = {"x": deep}
        return rewritten(steps, lambda found, _: {**found, "x_deep": deep})


@fault("odd-numbers", endpoints=ALL)
class OddNumbers(Fault):
    """Add a field with numbers that are huge or oddly written."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same with one field more."""
        return _spliced(steps, lambda inside: inside + b"," + ODD_NUMBERS)


@fault("duplicate-keys", endpoints=ALL)
class DuplicateKeys(Fault):
    """Give all keys of the answer twice, with the same values."""

    def wire(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same twice."""
        return _spliced(steps, lambda inside: inside + b"," + inside)


def _spliced(steps: Iterator[Step], change: Callable[[bytes], bytes]) -> Iterator[Step]:
    """The steps with the inside of each document changed, byte by byte."""
    for step in steps:
        found = document(step) if isinstance(step, Frame) else None
        if isinstance(step, Frame) and found:
            yield with_payload(step, b"{%b}" % change(json.write(found)[1:-1]))
        else:
            yield step


def _extended(value: Any) -> Any:
    if isinstance(value, list):
        return [_extended(item) for item in value]
    if not isinstance(value, dict):
        return value
    told = {key: item if key in _CONTENT else _extended(item) for key, item in value.items()}
    return {**told, "x_extra": {"x": 1}}
