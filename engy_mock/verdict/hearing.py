"""What a client hands over as what it got: objects of the official SDKs, their plain forms, texts, exceptions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engy_mock.books.heard import Complaint, Heard
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError

MAX_CAUSES = 8

_IDS = ("_request_id", "request_id", "id")
_TEXT_DELTAS = ("output_text.delta", "refusal.delta")
_OF_ANSWERS = ("choices", "content", "delta", "error", "object", "output", "response", "type", "usage")
_STATUSES = ("status_code", "status", "code", "http_status")


def heard(said: object, error: BaseException | None, of: str | None) -> Heard:
    """What was heard, as it can be compared; raises MockError for what is neither answer nor error."""
    if of is not None and not isinstance(of, str):
        raise MockError(f"of= takes the id of a request, got {of!r:.80}")
    named = () if of is None else (of,)
    if isinstance(said, BaseException):
        said, error = None, said
    if error is not None:
        if not isinstance(error, BaseException):
            raise MockError(f"error= takes an exception, got {error!r:.80}")
        return Heard(error=complaint(error), ids=named or _ids(error))
    return Heard(
        texts=tuple(_texts(said)),
        tool_calls=tuple(_tool_calls(said)),
        finish=_finish(said),
        ids=named or _ids(said),
    )


def complaint(error: BaseException) -> Complaint:
    """An error with its causes."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and len(chain) < MAX_CAUSES:
        chain.append(one)
        one = one.__cause__ or one.__context__
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
    statuses: list[int] = []
    for link in chain:
        for source in (link, getattr(link, "response", None)):
            statuses += [number for name in _STATUSES if (number := _status(_field(source, name))) is not None]
    return Complaint(
        kinds=tuple(kinds),
        says="\n".join([str(link) for link in chain]),
        statuses=tuple(dict.fromkeys(statuses)),
    )


def _status(value: object) -> int | None:
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def _field(source: object, name: str) -> Any:
    """A field of a mapping or an object; None where there is none."""
    if isinstance(source, Mapping):
        return source.get(name)
    try:
        return getattr(source, name, None)
    except Exception:  # properties of half an answer may fail in any way
        return None


def _ids(source: object) -> tuple[str, ...]:
    parts = source if isinstance(source, list | tuple) else (source,)
    found = [_field(part, name) for part in parts[:1] for name in _IDS]
    headers = _field(_field(source, "response"), "headers")
    if isinstance(headers, Mapping):
        found += [headers.get("x-request-id"), headers.get("request-id")]
    return tuple(dict.fromkeys([one for one in found if isinstance(one, str) and one]))


def _texts(said: object) -> list[str]:
    """The texts of an answer, one for each choice; raises MockError for what is no answer."""
    if said is None:
        return [""]
    if isinstance(said, str):
        return [said]
    if isinstance(said, bytes):
        return [said.decode("utf-8", "replace")]
    if isinstance(said, list | tuple):
        return _joined([_texts_of_part(part) for part in said])
    found = _texts_of_part(said)
    return list(found.values()) or [_text_of_data(said)]


def _text_of_data(said: object) -> str:
    """What a client has read out of an answer, as JSON; nothing for answers and events without a text."""
    names = said if isinstance(said, Mapping) else dir(said)
    if any(name in names for name in _OF_ANSWERS):
        return ""
    dump = getattr(said, "model_dump", None)
    data = said if isinstance(said, Mapping) else dump(mode="json") if callable(dump) else {}
    try:
        return json.write(data).decode() if data else ""
    except (TypeError, ValueError):
        return str(data)


def _texts_of_part(said: object) -> dict[int, str]:
    """The texts of an answer, or what one chunk of a stream adds to them, by the index of the choice."""
    if isinstance(said, str):
        return {0: said}
    choices = _field(said, "choices")
    if isinstance(choices, list | tuple):
        return {_index(choice, place): _text_of_choice(choice) for place, choice in enumerate(choices)}
    content = _field(said, "content")
    if isinstance(content, str | list | tuple):
        return {0: _text_of_content(content)}
    if _field(said, "output") is not None or _field(said, "output_text") is not None:
        return {0: _text_of_response(said)}
    response = _field(said, "response")
    if isinstance(_field(response, "output"), str):  # generic inference
        return {0: _field(response, "output")}
    delta = _field(said, "delta")
    if isinstance(delta, str):
        return {0: delta} if str(_field(said, "type")).endswith(_TEXT_DELTAS) else {}
    text = _field(delta, "text") if delta is not None else None
    if isinstance(text, str):
        return {0: text}
    if any(_field(said, name) is not None for name in ("type", "object", "choices", "id", "usage", "error")):
        return {}
    if isinstance(said, Mapping) or hasattr(said, "model_dump") or hasattr(said, "choices"):
        return {}
    raise MockError(f"heard takes a text, an answer of a client or an exception, got {said!r:.80}")


def _index(choice: object, place: int) -> int:
    index = _field(choice, "index")
    return index if isinstance(index, int) else place


def _text_of_choice(choice: object) -> str:
    for name in ("message", "delta"):
        part = _field(choice, name)
        if part is not None:
            refusal = _field(part, "refusal")
            return _text_of_content(_field(part, "content")) + (refusal if isinstance(refusal, str) else "")
    text = _field(choice, "text")
    return text if isinstance(text, str) else ""


def _text_of_content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = [_field(part, "text") for part in parts if _field(part, "type") in (None, "text", "output_text")]
    texts += [_field(part, "refusal") for part in parts if _field(part, "type") == "refusal"]
    return "".join([text for text in texts if isinstance(text, str)])


def _text_of_response(said: object) -> str:
    text = _field(said, "output_text")
    if isinstance(text, str):
        return text
    output = _field(said, "output")
    items = output if isinstance(output, list | tuple) else ()
    return "".join([_text_of_content(_field(item, "content")) for item in items])


def _joined(parts: Sequence[Mapping[int, str]]) -> list[str]:
    texts: dict[int, str] = {}
    for part in parts:
        for index, text in part.items():
            texts[index] = texts.get(index, "") + text
    return [texts[index] for index in sorted(texts)] or [""]


def _finish(said: object) -> str | None:
    """Why the answer ended, as far as the client was told."""
    parts: Iterable[object] = said if isinstance(said, list | tuple) else (said,)
    found: str | None = None
    for part in parts:
        choices = _field(part, "choices")
        reasons = [_field(choice, "finish_reason") for choice in choices] if isinstance(choices, list) else []
        reasons += [_field(part, "stop_reason"), _field(_field(part, "delta"), "stop_reason")]
        status = _field(part, "status")
        reasons += [status if status in ("completed", "incomplete") else None]
        found = next((one for one in reasons if isinstance(one, str) and one), found)
    return found


def _tool_calls(said: object) -> list[str]:
    """The names of the tools that were called."""
    names: list[object] = []
    choices = _field(said, "choices")
    for choice in choices if isinstance(choices, list) else ():
        calls = _field(_field(choice, "message"), "tool_calls")
        names += [_field(_field(call, "function"), "name") for call in (calls if isinstance(calls, list) else ())]
    for name in ("content", "output"):
        blocks = _field(said, name)
        for block in blocks if isinstance(blocks, list) else ():
            if _field(block, "type") in ("tool_use", "function_call"):
                names.append(_field(block, "name"))
    return [name for name in names if isinstance(name, str)]
