"""JSON values without secrets: what a name hides, and texts in one piece or in many."""

from dataclasses import dataclass
from typing import Any

from engy_mock.recording.secrets import FIELD, MARK, Known, clean, clean_parts, has_id, kind_of, mark
from engy_mock.vocabulary.credentials import DOUBTFUL, TEXTS, is_field, looks_like_one

SPELT_OUT = frozenset({"bytes", "token_ids", "tokens", "token", "top_logprobs", "output_token_ids", "prompt_ids"})
"""Fields that repeat a text token by token, and with it a secret."""

THOUGHTS = frozenset({"thinking", "signature_delta"})
"""What is signed by the service, for the service: whoever has the signature can open nothing."""

LEAST_NUMBER = 1000
"""A number that is smaller counts something, whatever its name."""

LEAST_TEXT = 8
LEAST_DOUBTFUL = 10**9
"""The same of a value whose name says little: words and ids of tokens are smaller."""

_KINDS = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SCHEMA = ("$ref", "allOf", "anyOf", "oneOf", "enum", "properties")
_EXAMPLES = frozenset({"const", "default", "example", "examples"})

Place = tuple[str | int, ...]


@dataclass(slots=True)
class Leaf:
    """A text somewhere in a JSON value, where it can be exchanged, and the way to it."""

    holder: Any
    key: Any
    text: str
    place: Place


Channels = dict[tuple[Any, ...], list[Leaf]]
"""Texts that make one, by where they stand: the pieces of one stream, or the tokens of one list."""


class Documents:
    """JSON values that are told one after the other, and become clean together.

    `found` are the places of what is not clean, each with what it is.
    """

    def __init__(self, known: Known | None = None) -> None:
        self._known = known
        self._channels: Channels = {}
        self._spelt: list[tuple[dict[str, Any], str]] = []
        self._names: dict[str, str] = {}
        self.has_found = False
        self.found: list[tuple[Place, str]] = []

    def add(self, value: Any) -> Any:
        """Take in a value; what is returned becomes clean with `scrub`."""
        top = [self._named(value, ())]
        told = value if isinstance(value, dict) else {}
        around = tuple([told.get(name) for name in _AROUND if isinstance(told.get(name), int | str)])
        self._walk(top, 0, around, (), None)
        return top

    def scrub(self) -> None:
        """Take the secrets out of all that was taken in."""
        texts = {channel: [leaf.text for leaf in leaves] for channel, leaves in self._channels.items()}
        beside_id = any(has_id("".join(parts)) for parts in texts.values())
        for channel, parts in texts.items():
            cleaned = clean_parts(parts, self._known, beside_id=beside_id)
            for leaf, before, after in zip(self._channels[channel], parts, cleaned, strict=True):
                if after != before:
                    self._tell(leaf.place, after)
                    leaf.holder[leaf.key] = after
        if self.has_found:
            for holder, key in self._spelt:
                holder[key] = [] if isinstance(holder[key], list) else ""

    def _walk(self, holder: Any, key: Any, path: tuple[Any, ...], place: Place, name: str | None) -> None:
        """Take in what stands there; `name` is that of the field around it."""
        value = holder[key]
        if isinstance(key, str) and _is_hidden(key, value, holder, name, path):
            self._hide(holder, key, place)
        elif isinstance(value, str):
            # What is spelt out is one text, wherever its tokens stand in their list.
            is_spelt = any(step in SPELT_OUT for step in path if isinstance(step, str))
            channel = tuple([step for step in path if isinstance(step, str)]) if is_spelt else path
            self._channels.setdefault(channel, []).append(Leaf(holder, key, value, place))
        elif isinstance(value, dict):
            turn = value.get("index")
            path = (*path, turn) if isinstance(turn, int) else path
            around = key if isinstance(key, str) else name
            for inner in value:
                if inner in SPELT_OUT and isinstance(value[inner], list | str):
                    self._spelt.append((value, inner))
                self._walk(value, inner, (*path, inner), (*place, inner), around)
        elif isinstance(value, list):
            around = key if isinstance(key, str) else name
            for turn in range(len(value)):
                self._walk(value, turn, (*path, turn), (*place, turn), around)

    def _hide(self, holder: Any, key: Any, place: Place) -> None:
        """Exchange every text and number there."""
        value = holder[key]
        if isinstance(value, dict | list):
            for inner in value if isinstance(value, dict) else range(len(value)):
                self._hide(value, inner, (*place, inner))
        elif _is_something(value):
            holder[key] = mark(FIELD)
            self._tell(place, holder[key])

    def _tell(self, place: Place, after: str) -> None:
        self.has_found = True
        self.found.append((place, kind_of(after)))

    def _named(self, value: Any, place: Place) -> Any:
        """The value with clean names of fields."""
        if isinstance(value, dict):
            made: dict[str, Any] = {}
            for name, item in value.items():
                cleaned = self._names.get(name)
                if cleaned is None:
                    cleaned = self._names[name] = clean(name, self._known)
                if cleaned != name:
                    self._tell(place, cleaned)
                made[cleaned] = self._named(item, (*place, name))
            return made
        if isinstance(value, list):
            return [self._named(item, (*place, turn)) for turn, item in enumerate(value)]
        return value


_AROUND = ("type", "index", "output_index", "content_index", "item_id")
"""What tells pieces of different texts apart in one stream."""


def _is_hidden(name: str, value: Any, holder: Any, around: str | None, path: tuple[Any, ...]) -> bool:
    """Whether a field is a secret by its name. `around` is the name of the field in which it stands."""
    is_number = isinstance(value, int | float)
    if is_number and "top_logprobs" in path:
        return False  # its names are the tokens of a text
    if is_field(name):
        return not (isinstance(value, dict) and (around == "properties" or _is_schema(value)))
    if name in _EXAMPLES:
        return around is not None and is_field(around) and _is_schema(holder)
    if name.lower() in TEXTS:
        return isinstance(value, str) and holder.get("type") not in THOUGHTS and "thinking" not in holder
    if name.lower() in DOUBTFUL and "logprob" not in holder:
        if isinstance(value, str):
            is_word = len(value) < LEAST_TEXT or " " in value or not any(c.isdigit() for c in value)
            return not is_word and looks_like_one(value)
        return isinstance(value, int) and value >= LEAST_DOUBTFUL
    return False


def _is_schema(value: Any) -> bool:
    """Whether an object describes a value, and is none."""
    kinds = value.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    is_kind = any(isinstance(kind, str) and kind in _KINDS for kind in kinds)
    return is_kind or any(word in value for word in _SCHEMA)


def _is_something(value: Any) -> bool:
    """Whether a value can be a secret; what is one no more is none."""
    if isinstance(value, str):
        return bool(value) and not value.startswith(MARK)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LEAST_NUMBER


def clean_value(value: Any, known: Known | None = None) -> Any:
    """A JSON value without secrets."""
    documents = Documents(known)
    top = documents.add(value)
    documents.scrub()
    return top[0]
