"""The words of `when`: each looks at one thing and explains why it does not fit.

A word is the same in Python, in scenario files and in messages. To add one, write a function here.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from engy_mock.scripting.asked import Asked
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted
from engy_mock.vocabulary.request import Endpoint, GenerationRequest

Condition = Callable[[Asked], str | None]
"""None if a request fits, else the reason why it does not."""

Word = Callable[[Asked, Any], str | None]

MATCHERS: dict[str, Word] = {}


def matcher(word: Word) -> Word:
    """Make a function a word of `when`."""
    MATCHERS[word.__name__] = word
    return word


@matcher
def endpoint(asked: Asked, wanted: str) -> str | None:
    """The endpoint: chat, completions, messages, responses or inference."""
    return _equal("endpoint", asked.request.endpoint, wanted)


@matcher
def surface(asked: Asked, wanted: str) -> str | None:
    """The surface: v1 or v5."""
    return _equal("surface", asked.request.surface, wanted)


@matcher
def model(asked: Asked, wanted: str) -> str | None:
    """The model, with or without the vendor segment that was sent."""
    sent = asked.request.model
    return None if wanted in (sent, sent.partition("/")[2]) else f"model is {quoted(sent)}, not {wanted!r}"


@matcher
def stream(asked: Asked, wanted: bool) -> str | None:
    """Whether a stream was asked for."""
    return _equal("stream", asked.request.is_streamed, wanted)


@matcher
def says(asked: Asked, text: str) -> str | None:
    """The last user turn, or the raw prompt, contains the text."""
    return None if text in asked.request.last_user_text else f"last user turn lacks {text!r}"


@matcher
def system(asked: Asked, text: str) -> str | None:
    """A system turn contains the text."""
    turns = [message.text for message in asked.request.messages if message.role == "system"]
    return None if any(text in turn for turn in turns) else f"no system turn contains {text!r}"


@matcher
def offers(asked: Asked, tool: str) -> str | None:
    """A tool of this name is offered."""
    names = [own.name for own in asked.request.tools]
    return None if tool in names else f"tools are {names}, {tool!r} is not among them"


@matcher
def tool_result(asked: Asked, wanted: bool | str) -> str | None:
    """Whether the last turn is the result of a tool, or such a result that contains a text."""
    messages = asked.request.messages
    result = messages[-1].text if messages and messages[-1].role == "tool" else None
    if isinstance(wanted, str):
        return None if result is not None and wanted in result else f"last turn is no tool result with {wanted!r}"
    return _equal("tool_result", result is not None, wanted)


@matcher
def key(asked: Asked, wanted: str) -> str | None:
    """The API key."""
    return None if asked.key == wanted else "another key"


@matcher
def header(asked: Asked, wanted: Mapping[str, str]) -> str | None:
    """Headers of these names with these values."""
    for name, value in wanted.items():
        sent = asked.headers.get(name)
        if sent != value:
            return f"header {name} is {'absent' if sent is None else quoted(sent)}, not {value!r}"
    return None


@matcher
def field(asked: Asked, wanted: Mapping[str, Any]) -> str | None:
    """Fields of the body as sent, by paths like `messages.0.role`, with these values."""
    for path, value in wanted.items():
        sent = _at(asked.request.body, path)
        if sent != value or isinstance(sent, bool) is not isinstance(value, bool):
            return f"field {path} is {quoted(sent)}, not {value!r}"
    return None


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
            raise MockError(f"unknown matcher {word!r}.{hint}")
        _check(word, value)
        made.append(_bound(known, value))
    for function in functions:
        if not callable(function):
            raise MockError(f"when takes functions and words like says=, got {function!r:.80}")
        made.append(_asking(function))
    return tuple(made)


TYPES: dict[str, tuple[type, ...]] = {
    "stream": (bool,),
    "tool_result": (bool, str),
    "header": (Mapping,),
    "field": (Mapping,),
}
"""What the words take; any other word takes a text."""

CLOSED: dict[str, tuple[str, ...]] = {"endpoint": get_args(Endpoint), "surface": ("v1", "v5")}
"""The words that know all their values."""


def _check(word: str, value: object) -> None:
    """Raise MockError for a value that the word could never fit."""
    types = TYPES.get(word, (str,))
    if not isinstance(value, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise MockError(f"{word}= takes {names}, got {value!r:.80}")
    known = CLOSED.get(word)
    if known is not None and value not in known:
        raise MockError(
            f"{word}= takes one of {', '.join(known)}, got {value!r}.{did_you_mean(str(value), known)}"
        )


def _bound(word: Word, value: Any) -> Condition:
    return lambda asked: word(asked, value)


def _asking(function: Callable[[GenerationRequest], object]) -> Condition:
    def condition(asked: Asked) -> str | None:
        found = function(asked.request)
        if isinstance(found, str):
            return found
        name = getattr(function, "__name__", "the function")
        return None if found or found is None else f"{name} says no"

    return condition


def _equal(word: str, found: object, wanted: object) -> str | None:
    return None if found == wanted else f"{word} is {found!r}, not {wanted!r}"


def _at(body: object, path: str) -> object:
    """The value at a path of the body; None where there is none."""
    for step in path.split("."):
        if isinstance(body, Mapping):
            body = body.get(step)
        elif isinstance(body, list) and step.lstrip("-").isdigit() and -len(body) <= int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body
