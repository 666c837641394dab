"""The words of `when`: each looks at one thing and explains why it does not fit.

A word is the same in Python, in scenario files and in messages. To add one, write a function here.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.needles import Needles
from engy_mock.scripting.reach import contradiction
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted
from engy_mock.vocabulary.escapes import contains, readings
from engy_mock.vocabulary.foreign import foreign
from engy_mock.vocabulary.request import GenerationRequest, Message
from engy_mock.vocabulary.text import unsendable

Endpoint = Literal[
    "chat", "completions", "messages", "responses", "inference", "models", "count_tokens", "records"
]

ENDPOINTS: tuple[str, ...] = get_args(Endpoint)
"""What a call can be for; the last three ask for no answer of a model, and are met by rules that name them."""


class Words(TypedDict, total=False):
    """The words of `when`; see the functions of these names."""

    endpoint: Endpoint
    surface: Literal["v1", "v5"]
    model: str
    stream: bool
    says: str
    system: str
    offers: str
    tool_result: bool | str
    key: str
    header: Mapping[str, str]
    field: Mapping[str, Any]
    refused: int


Word = Callable[[Asked, Any], str | None]
"""None if a request fits, else the reason why it does not."""

MATCHERS: dict[str, Word] = {}


def meaning(word: Word) -> str:
    """What a word of `when` looks at, in a sentence."""
    return " ".join((word.__doc__ or "").split())


def matcher(word: Word) -> Word:
    """Make a function a word of `when`."""
    MATCHERS[word.__name__] = word
    return word


@matcher
def endpoint(asked: Asked, wanted: str) -> str | None:
    """The endpoint: chat, completions, messages, responses, inference, models, count_tokens or records."""
    return _equal("endpoint", asked.endpoint, wanted)


@matcher
def surface(asked: Asked, wanted: str) -> str | None:
    """The surface: v1 or v5."""
    return _equal("surface", asked.surface, wanted)


@matcher
def model(asked: Asked, wanted: str) -> str | None:
    """The model, with or without the vendor in front, in the rule as in the request."""
    sent = asked.request.model if asked.request is not None else ""
    return None if _is_model(sent, wanted) else f"model is {quoted(sent):.80}, not {wanted!r:.80}"


def _is_model(sent: str, wanted: str) -> bool:
    """Whether both are the same, or one of them is the other without its vendor."""
    return wanted in (sent, sent.partition("/")[2]) or sent == (wanted.partition("/")[2] or wanted)


@matcher
def stream(asked: Asked, wanted: bool) -> str | None:
    """Whether a stream was asked for."""
    return _equal("stream", asked.is_streamed, wanted)


@matcher
def says(asked: Asked, text: str) -> str | None:
    """The last user turn, or a raw prompt, contains the text, as sent or as JSON in it is read."""
    said = asked.request.last_user_texts if asked.request is not None else ("",)
    return None if any(contains(one, text) for one in said) else f"last user turn lacks {text!r:.80}"


@matcher
def system(asked: Asked, text: str) -> str | None:
    """A system turn contains the text, as sent or as JSON in it is read."""
    turns = [message.text for message in _messages(asked) if message.role == "system"]
    return None if any(contains(turn, text) for turn in turns) else f"no system turn contains {text!r:.80}"


@matcher
def offers(asked: Asked, tool: str) -> str | None:
    """A tool of this name is offered."""
    names = [own.name for own in asked.request.tools] if asked.request is not None else []
    return None if tool in names else f"tools are {names!r:.80}, {tool!r:.80} is not among them"


@matcher
def tool_result(asked: Asked, wanted: bool | str) -> str | None:
    """Whether the last turn is the result of a tool, or such a result that contains a text, as JSON is read."""
    messages = _messages(asked)
    result = messages[-1].text if messages and messages[-1].role == "tool" else None
    if isinstance(wanted, str):
        fits = result is not None and contains(result, wanted)
        return None if fits else f"last turn is no tool result with {wanted!r:.80}"
    return _equal("tool_result", result is not None, wanted)


@matcher
def key(asked: Asked, wanted: str) -> str | None:
    """The API key."""
    return None if asked.key == wanted else "another key"


@matcher
def header(asked: Asked, wanted: tuple[str, str]) -> str | None:
    """Headers of these names with these values."""
    name, value = wanted
    sent = asked.headers.get(name)
    if sent == value:
        return None
    return f"header {name:.80} is {'absent' if sent is None else quoted(sent):.80}, not {value!r:.80}"


@matcher
def field(asked: Asked, wanted: tuple[str, Any]) -> str | None:
    """Fields of the body as sent, by paths like `messages.0.role`, with these values."""
    path, value = wanted
    sent = at(asked.body, path)
    if sent == value and isinstance(sent, bool) is isinstance(value, bool):
        return None
    return f"field {path:.80} is {quoted(sent):.80}, not {value!r:.80}"


@matcher
def refused(asked: Asked, status: int) -> str | None:
    """The service itself has refused the call, with this status; other rules are for calls that it answers."""
    return _equal("refused", asked.refused, status)


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """One thing that a rule demands; `value` is None where a `function` looks at the request.

    `mark` is what requests that can fit have in common, for looking rules up, and `same` what conditions that
    look at the same thing have in common; None if that cannot be told.
    """

    word: str
    value: Any
    check: Callable[[Asked], str | None]
    mark: Hashable = None
    function: Callable[[GenerationRequest], object] | None = None

    @property
    def same(self) -> Hashable:
        """What equal conditions share; a function is the same as itself alone."""
        return self.mark if self.function is None else id(self.function)

    @property
    def is_of_head(self) -> bool:
        """Whether it looks at the headers of a call, or at its key."""
        return self.function is None and self.word in ("key", "header")


def conditions(
    functions: tuple[Callable[[GenerationRequest], object], ...], words: Mapping[str, Any]
) -> tuple[Condition, ...]:
    """The conditions that these functions and words make; raises MockError for an unknown word.

    A function takes the request; it fits if that gives True or None, and a text is the reason why not.
    """
    made: list[Condition] = []
    for word, value in words.items():
        known = MATCHERS.get(word)
        if known is None:
            hint = did_you_mean(word, tuple(MATCHERS)) or f" Known are {', '.join(MATCHERS)}."
            raise MockError(f"unknown matcher {word!r:.80}.{hint}")
        _check(word, value)
    reason = contradiction(words, len(functions))
    if reason is not None:
        raise MockError(f"when() can never fit: {reason}")
    for word, value in words.items():
        known = MATCHERS[word]
        for one in value.items() if word in MAPPED else (value,):
            made.append(Condition(word, one, _bound(known, one), _mark(word, one)))
    for function in functions:
        if not callable(function):
            raise MockError(f"when takes functions and words like says=, got {function!r:.80}")
        name = getattr(function, "__name__", "the function")
        made.append(Condition(name, None, _asking(function), None, function))
    return tuple(made)


MAPPED = frozenset({"header", "field"})
"""The words that take a mapping and make a condition of each of its items."""

LOOKED_FOR = frozenset({"says", "system", "tool_result"})
"""The words that look for a text in what was said."""

MARKED = frozenset({"endpoint", "surface", "model", "stream", "offers", "key", "refused", *MAPPED, *LOOKED_FOR})
"""The words whose values can be looked up in a request."""


def _mark(word: str, value: Any) -> Hashable:
    if word not in MARKED:
        return None
    if word in MAPPED:
        name, wanted = value
        frozen = _frozen(wanted)
        return None if frozen is None else (word, name, frozen)
    if word == "model" and "/" in value:
        return None  # it fits what is sent without a vendor too, whose mark is another one
    return (word, value)


def _frozen(value: object) -> Hashable:
    """What equal fields have in common; None where there may be no such thing."""
    if value is None or isinstance(value, str | int | float):
        # A field that is true is not one that is 1.
        return (isinstance(value, bool), value)
    if isinstance(value, list):
        inner = tuple([_frozen(item) for item in value])
        return None if None in inner else ("list", tuple([one[1] for one in inner]))  # type: ignore[index]
    if isinstance(value, dict):
        items = {key: _frozen(item) for key, item in value.items()}
        if None in items.values():
            return None
        return ("dict", frozenset([(key, one[1]) for key, one in items.items()]))  # type: ignore[index]
    return None


def marks(asked: Asked, looks: Mapping[str, Iterable[str]], needles: Mapping[str, Needles]) -> Iterator[Hashable]:
    """The marks that a request has, in no order.

    `looks` are the paths and the names of headers worth looking at, `needles` the texts worth looking for, by the
    words that want them.
    """
    messages = _messages(asked)
    last = messages[-1] if messages else None
    result = last.text if last is not None and last.role == "tool" else None
    if needles["says"]:
        for said in asked.request.last_user_texts if asked.request is not None else ("",):
            for text in _found(needles["says"], said):
                yield "says", text
    if needles["tool_result"] and result is not None:
        for text in _found(needles["tool_result"], result):
            yield "tool_result", text
    if needles["system"]:
        for turn in [message.text for message in messages if message.role == "system"]:
            for text in _found(needles["system"], turn):
                yield "system", text
    yield "tool_result", result is not None
    yield "endpoint", asked.endpoint
    yield "surface", asked.surface
    yield "stream", asked.is_streamed
    yield "key", asked.key
    yield "refused", asked.refused
    request = asked.request
    if request is not None:
        yield "model", request.model
        yield "model", request.model.partition("/")[2]
        for tool in request.tools:
            yield "offers", tool.name
    for path in looks["field"]:
        yield "field", path, _frozen(at(asked.body, path))
    for name in looks["header"]:
        sent = asked.headers.get(name)
        if sent is not None:
            yield "header", name, _frozen(sent)


def _found(needles: Needles, text: str) -> Iterator[str]:
    """The texts that stand in another one, as it was sent or as it is read."""
    for reading in readings(text):
        yield from needles.found_in(reading)


TYPES: dict[str, tuple[type, ...]] = {
    "stream": (bool,),
    "refused": (int,),
    "tool_result": (bool, str),
    "header": (Mapping,),
    "field": (Mapping,),
}
"""What the words take; any other word takes a text."""

CLOSED: dict[str, tuple[str, ...]] = {"endpoint": ENDPOINTS, "surface": ("v1", "v5")}
"""The words that know all their values."""


def _check(word: str, value: object) -> None:
    """Raise MockError for a value that the word could never fit."""
    types = TYPES.get(word, (str,))
    if not isinstance(value, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise MockError(f"{word}= takes {names}, got {value!r:.80}")
    half = None if word == "header" else unsendable(value)
    if half is not None:
        raise MockError(f"{word}= has half a surrogate pair, which is in no request: {half!r:.80}")
    if word == "refused" and (isinstance(value, bool) or not 400 <= value <= 599):  # type: ignore[operator]
        raise MockError(f"refused= takes a status from 400 to 599, got {value!r:.80}")
    for name, wanted in value.items() if isinstance(value, Mapping) else ():
        if not isinstance(name, str):
            raise MockError(f"{word}= takes texts as keys, got {name!r:.80}")
        if word == "header":
            _check_header(name, wanted)
        elif "" in name.split("."):
            raise MockError(f"field= takes paths like messages.0.role: {name!r:.80} has an empty step")
        elif (odd := foreign(wanted)) is not None:
            raise MockError(f"field= takes values of JSON, and no request has {odd:.80} for {name!r:.80}")
    if word == "key" and isinstance(value, str) and not _HEADER_VALUE.fullmatch(value):
        raise MockError(f"key= takes a text on one line, without spaces around it: no request has {value!r:.80}")
    known = CLOSED.get(word)
    if known is not None and value not in known:
        raise MockError(
            f"{word}= takes one of {', '.join(known)}, got {value!r:.80}.{did_you_mean(str(value), known)}"
        )


def _check_header(name: str, value: object) -> None:
    """Raise MockError for what no request can have as a header."""
    if not isinstance(value, str):
        raise MockError(f"header= takes texts as values, got {value!r:.80} for {name!r:.80}")
    if not _HEADER_NAME.fullmatch(name):
        raise MockError(f"header= takes names like x-trace, and no request has a header {name!r:.80}")
    if not _HEADER_VALUE.fullmatch(value):
        raise MockError(
            f"header= takes values on one line, without spaces around them: no request has {name} {value!r:.80}"
        )


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?![ \t])[^\x00-\x08\x0a-\x1f\x7f]*(?<![ \t])")


def _bound(word: Word, value: Any) -> Callable[[Asked], str | None]:
    return lambda asked: word(asked, value)


def _asking(function: Callable[[GenerationRequest], object]) -> Callable[[Asked], str | None]:
    def condition(asked: Asked) -> str | None:
        name = getattr(function, "__name__", "the function")
        if asked.request is None:
            return f"{name} looks at requests to a model"
        found = function(asked.request)
        if isinstance(found, str):
            return found
        return None if found or found is None else f"{name} says no"

    return condition


def _messages(asked: Asked) -> tuple[Message, ...]:
    return asked.request.messages if asked.request is not None else ()


def _equal(word: str, found: object, wanted: object) -> str | None:
    return None if found == wanted else f"{word} is {found!r:.80}, not {wanted!r:.80}"


_PLACE = re.compile("-?[0-9]{1,9}")
"""A step of a path that leads into a list."""


def at(body: object, path: str) -> object:
    """The value at a path of the body; None where there is none."""
    for step in path.split("."):
        if isinstance(body, Mapping):
            body = body.get(step)
        elif isinstance(body, list) and _PLACE.fullmatch(step) and -len(body) <= int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body
