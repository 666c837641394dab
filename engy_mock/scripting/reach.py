"""What can come of a rule at all: which calls there are, what they show of themselves, what they can be told."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import UNSAID, Generation, Reply
from engy_mock.vocabulary.request import ToolCall

V1, V5 = "v1", "v5"

SERVED: Mapping[str, tuple[str, ...]] = {
    "chat": (V1, V5),
    "completions": (V1, V5),
    "messages": (V1,),
    "responses": (V1, V5),
    "inference": (V5,),
    "models": (V1, V5),
    "count_tokens": (V1,),
    "records": (V5,),
}
"""The surfaces on which each endpoint is."""

PAGES = ("models", "count_tokens", "records")
"""The endpoints that ask for no answer of a model."""

OF_CONVERSATIONS = ("system", "offers", "tool_result")
"""The words of `when` that look at what only conversations have."""

HIDDEN = ("model", "says", "system", "offers", "tool_result")
"""The words of `when` that look at what is asked of a model."""

ANYWHERE = tuple(
    (endpoint, surface) for endpoint in SERVED for surface in SERVED[endpoint] if endpoint not in PAGES
)
TALKING = ("chat", "messages", "responses")

TOLD: Mapping[str, tuple[tuple[str, str], ...]] = {
    "reasoning": tuple((endpoint, V1) for endpoint in TALKING),
    "tool_calls": tuple(place for place in ANYWHERE if place[0] in TALKING),
    "finish_reason": tuple(place for place in ANYWHERE if place[0] != "inference"),
    "logprobs": tuple(place for place in ANYWHERE if place[0] in ("chat", "completions", "responses")),
    "response": (("inference", V5),),
}
"""Where each part of a reply can be told; its text and its usage are for all answers of a model."""


class Unsayable(MockError):
    """A reply says what no answer to the requests of its rule can tell; the mistake stands under `reply`."""

    parameter = "reply"


def contradiction(words: Mapping[str, Any], functions: int) -> str | None:
    """Why no call can fit these words of `when` and so many functions; None if one can."""
    endpoint, surface = words.get("endpoint"), words.get("surface")
    if endpoint is not None and surface is not None and surface not in SERVED[endpoint]:
        return f"endpoint={endpoint!r} is on surface {SERVED[endpoint][0]} alone, not on {surface}"
    if endpoint in PAGES and words.get("stream") is True:
        return f"stream=True is for answers of a model, and calls with endpoint={endpoint!r} ask for none"
    spoken = [word for word in OF_CONVERSATIONS if words.get(word) not in (None, False)]
    if spoken and endpoint is not None and endpoint not in (*TALKING, *PAGES):
        return f"{spoken[0]}= looks at conversations, which calls with endpoint={endpoint!r} do not have"
    hidden = [word for word in HIDDEN if words.get(word) not in (None, False)]
    blind = "refused" if "refused" in words else "endpoint" if endpoint in PAGES else None
    if blind is None or not (hidden or functions):
        return None
    what = f"{hidden[0]}=" if hidden else "a function"
    return f"{what} looks at what a model is asked, which calls with {blind}={words[blind]!r} do not show"


def check_reply_fits(reply: object, words: Mapping[str, Any]) -> None:
    """Raise Unsayable for what a reply says that no call with these words of `when` can be told.

    Of a function nothing is known before it is asked.
    """
    endpoint, surface = words.get("endpoint"), words.get("surface")
    if endpoint in PAGES:
        raise Unsayable(f"a reply can never apply in {_when(words)}: no model answers there")
    for part in parts(reply):
        if not any(endpoint in (None, where) and surface in (None, there) for where, there in TOLD[part]):
            places = dict.fromkeys(where for where, _ in TOLD[part])
            on = {there for _, there in TOLD[part]}
            only = f" on {min(on)}" if len(on) == 1 else ""
            raise Unsayable(
                f"{part} of a reply can never apply in {_when(words)}: it is for {', '.join(places)}{only} alone"
            )


def tellable(reply: Reply, endpoint: str, surface: str) -> tuple[Reply, tuple[str, ...]]:
    """The reply as far as this endpoint can tell it, and the rest of its parts as the journal names them."""
    vain = {part: _LEFT_OUT[part] for part in parts(reply) if (endpoint, surface) not in TOLD[part]}
    return (replace(reply, **vain), tuple([f"reply {part}" for part in vain])) if vain else (reply, ())


def unseen(reply: Reply, said: Generation, endpoint: str, *, is_streamed: bool) -> tuple[str, ...]:
    """What of a reply was said and cannot be seen in this answer, as the journal names it."""
    vain: list[str] = []
    if reply.logprobs:
        entries = [entry for choice in said.choices for piece in choice.logprobs or () for entry in piece]
        entries += [entry for choice in said.choices for entry in choice.prompt_logprobs or ()]
        seen = {entry.token for entry in entries}
        if not seen:
            vain.append("reply logprobs")
        else:
            vain += [f"reply logprobs {token!r}" for token in reply.logprobs if token not in seen]
    if endpoint == "messages" and not is_streamed:
        # There an input is an object, not a text: one that is broken can be told in pieces only.
        vain += [f"reply tool_calls {call.name} arguments" for call in reply.tool_calls if not _is_object(call)]
    return tuple(vain)


def _is_object(call: ToolCall) -> bool:
    try:
        return isinstance(json.read(call.arguments or "{}"), dict)
    except ValueError:
        return False


def parts(reply: object) -> Iterator[str]:
    """The parts that a reply has, of those that cannot be told everywhere."""
    if not isinstance(reply, Reply):
        return
    for part in TOLD:
        value = getattr(reply, part)
        if value is not UNSAID if part == "response" else value:
            yield part


_LEFT_OUT: Mapping[str, Any] = {part: getattr(Reply(), part) for part in TOLD}


def _when(words: Mapping[str, Any]) -> str:
    said = ", ".join(
        [f"{word}={words[word]!r}" for word in ("endpoint", "surface") if words.get(word) is not None]
    )
    return f"when({said})"
