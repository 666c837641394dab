"""What the requests in the journal asked for, also those that were refused before they were understood."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from engy_mock.books.entry import Entry
from engy_mock.books.shortened import Shortened
from engy_mock.dialects import gist
from engy_mock.vocabulary.request import Endpoint, GenerationRequest

_FOR_MODELS = frozenset(get_args(Endpoint))


def request_of(entry: Entry) -> GenerationRequest | None:
    """What was asked of a model, as far as that can be read; None where nothing was, or nobody knows."""
    if entry.request is not None or entry.gist is not None:
        return entry.request or entry.gist
    document = document_of(entry)
    return None if document is None else gist.gist(entry.method, entry.path, document)


def document_of(entry: Entry) -> Mapping[str, Any] | None:
    """The JSON object in a body; None where there is none, or not the whole of it."""
    if entry.is_body_cut or entry.is_body_unread:
        return None
    try:
        found = entry.json()
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def body_of(entry: Entry, request: GenerationRequest | None) -> Mapping[str, Any]:
    """The fields of a body; of one that was cut, to ask for what was left out is a MockError."""
    if request is not None:
        return request.body
    return Shortened(None, entry.body_bytes) if entry.is_body_cut else document_of(entry) or {}


def is_for_model(entry: Entry) -> bool:
    """Whether an answer of a model was asked for, whatever became of that."""
    return entry.endpoint in _FOR_MODELS


def doubt(entry: Entry) -> str | None:
    """Why nobody knows what an exchange asked for; None where that is known, or was nothing."""
    if entry.request is not None or entry.gist is not None:
        return None
    if entry.is_body_unread:
        return f"exchange {entry.number} was refused before its body was read"
    if entry.is_body_cut:
        return (
            f"the body of exchange {entry.number} had {entry.body_bytes} bytes and could not be read, the "
            f"journal keeps the first {len(entry.body)}"
        )
    if entry.body.strip() and document_of(entry) is None:
        # What is no JSON may be written in any way: that a text is not found does not mean that it is not there.
        return f"the body of exchange {entry.number} is no JSON object"
    return None


def is_sound(entry: Entry) -> bool:
    """Whether it is known what prompt a request makes: whatever has refused it, its body breaks no rule."""
    if entry.request is not None:
        return True
    document = document_of(entry)
    return document is not None and gist.is_sound(entry.method, entry.path, document)


def strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys too, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [part for name in reversed(list(one)) for part in (one[name], name)]
        elif isinstance(one, list):
            waiting += reversed(one)
