"""What a refusal keeps to itself: the key of the caller, and most of what he has sent (E-196, Q-32)."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

from engy_mock.vocabulary.credentials import LEAST, looks_like_one, shown
from engy_mock.vocabulary.errors import MAX_QUOTED, ApiError, MockFailed, clipped
from engy_mock.vocabulary.wire import Call

MAX_MESSAGE = 2 * MAX_QUOTED
"""The longest message, in characters: our own words, and what they quote."""

MAX_REASON = 2000
"""The longest one that tells the author of a test why nothing may be said."""

MAX_TOLD = 32
"""How many violations are told; a body can have a million of them."""

HIDDEN = "[key]"


def discreet(error: ApiError, call: Call) -> ApiError:
    """The same refusal as its caller may be told it; what a rule says is the author's own, and stays as it is."""
    if error.is_scripted:
        return error
    most = MAX_REASON if isinstance(error, MockFailed) else MAX_MESSAGE
    keys = list(_as_told(call))
    told = copy(error)
    told.message = clipped(_without(error.message, keys), most)
    told.args = (told.message,)
    if error.param is not None:
        told.param = clipped(_without(error.param, keys), MAX_QUOTED)
    told.violations = tuple(
        replace(
            found,
            path=tuple([_without(step, keys) if isinstance(step, str) else step for step in found.path]),
            message=clipped(_without(found.message, keys), MAX_MESSAGE),
        )
        for found in error.violations[:MAX_TOLD]
    )
    return told


def _as_told(call: Call) -> Iterator[str]:
    """The keys of a call in every spelling that a message can have them in: plain, as JSON, in a JSON pointer."""
    for key in shown(call):
        if len(key) >= LEAST or looks_like_one(key):
            yield key
            yield key.replace("\\", "\\\\").replace('"', '\\"')
            yield key.replace("~", "~0").replace("/", "~1")


def _without(text: str, keys: Sequence[str]) -> str:
    """A text without these keys; of one that was cut, what is left is its beginning."""
    for key in keys:
        start, rest = key[:LEAST], key[LEAST:]
        if start in text:
            before, *pieces = text.split(start)
            text = before + "".join([HIDDEN + piece[_alike(piece, rest) :] for piece in pieces])
    return text


def _alike(one: str, other: str) -> int:
    """With how many equal characters two texts begin."""
    least = min(len(one), len(other))
    return next((place for place in range(least) if one[place] != other[place]), least)
