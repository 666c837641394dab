"""A cassette as a scenario: rules that give the same answers, for people to read and to change."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from engy_mock.gateway.replaying import Recorded
from engy_mock.model.cards import CARDS
from engy_mock.model.vendors import VENDOR_CARDS
from engy_mock.recording import layout
from engy_mock.recording.cassette import Cassette, ExchangeForm
from engy_mock.recording.replay import Tracks
from engy_mock.recording.said import choices
from engy_mock.recording.stream import payload
from engy_mock.scripting.refusals import CAUSES
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.events import Piece
from engy_mock.vocabulary.generation import Generation, Usage
from engy_mock.vocabulary.request import GenerationRequest

HINTS = ("retry-after", "retry-after-ms", "x-should-retry")
"""The headers of a refusal that clients act on."""


class Unsayable(Exception):
    """No rule gives such an answer; the text says why, behind the name of its exchange."""


def as_scenario(cassette: Cassette) -> tuple[str, list[str]]:
    """The text of a scenario file, and what of the cassette could not be put into it."""
    tracks = Tracks(cassette)
    rules: list[tuple[int, dict[str, Any]]] = []
    notes: list[str] = []
    unknown: dict[str, None] = {}
    known = {card.id for card in (*CARDS, *VENDOR_CARDS)}
    for exchange, question, answer in zip(cassette.exchanges, tracks.questions, tracks.answers, strict=True):
        request = question.request
        if request is None:
            notes.append(f"exchange {exchange.exchange} asks no model, and is left out")
            continue
        if not {request.model, request.model.partition("/")[2]} & known:
            unknown.setdefault(request.model)
        try:
            rule = _rule(request, answer, exchange)
        except Unsayable as reason:
            notes.append(f"exchange {exchange.exchange} {reason}, and is left out")
            continue
        # A rule whose text is a part of another's must not take what is the other's.
        rules.append((len(rule["when"].get("says", "")), rule))
    if not rules:
        raise MockError(f"{cassette.source}: there is no answer of a model in it that a scenario could give")
    for model in unknown:
        notes.append(f"the mock has no model {model!r:.80}: add one like it with `engy-mock serve --models FILE`")
    rules.sort(key=lambda one: -one[0])
    source = f" of {cassette.upstream}" if cassette.upstream else ""
    document = {
        "description": f"Recorded answers{source}, each once; then the model answers.",
        "rules": [rule for _, rule in rules],
    }
    return layout.written(document), notes


def _rule(request: GenerationRequest, answer: Recorded, exchange: ExchangeForm) -> dict[str, Any]:
    """The rule that answers a request so; raises Unsayable if none can."""
    rule: dict[str, Any] = {"when": _when(request), "times": 1}
    if answer.status >= 400:
        rule["refuse"] = _refusal(answer)
    elif request.is_streamed is (answer.frames is None):
        raise Unsayable("has an answer of another form than was asked for")
    elif request.endpoint == "inference":
        rule["reply"] = _response(answer)
    elif answer.generation is None:
        raise Unsayable("has an answer that no rule can give")
    else:
        said = choices(_documents(answer))
        if any(one.plain() != said[0].plain() for one in said[1:]):
            raise Unsayable(f"has {len(said)} choices that differ, of which a rule could give one")
        rule["reply"] = _reply(answer.generation)
    faults = _faults(answer)
    if faults:
        rule["faults"] = faults
    return rule | _timing(answer)


def _documents(answer: Recorded) -> list[Any]:
    """The JSON of a whole answer, or of each event of a stream that has some."""
    texts = [answer.body.decode("utf-8", "replace")]
    if answer.frames is not None:
        texts = [payload(frame.data.decode("utf-8", "replace")) for frame in answer.frames]
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(json.read(text))
    return found


def _response(answer: Recorded) -> dict[str, Any]:
    """What an inference answers: the text of a stream, or anything else as one value."""
    said = [one["response"] for one in _documents(answer) if isinstance(one, dict) and "response" in one]
    if answer.frames is not None and said and all(isinstance(one, str) for one in said):
        return {"text": "".join(said)}
    if len(said) != 1:
        raise Unsayable("has an answer that no rule can give")
    return {"response": said[0]}


def _when(request: GenerationRequest) -> dict[str, Any]:
    when: dict[str, Any] = {"endpoint": request.endpoint, "surface": request.surface, "model": request.model}
    when["stream"] = request.is_streamed
    if request.last_user_text:
        when["says"] = request.last_user_text
    if request.messages:
        when["tool_result"] = request.messages[-1].role == "tool"
    return when


def _reply(generation: Generation) -> dict[str, Any]:
    (choice, *_) = generation.choices
    reply: dict[str, Any] = {"text": choice.whole_text}
    if choice.reasoning:
        reply["reasoning"] = choice.whole_reasoning
    if choice.tool_calls:
        reply["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments, **({"id": call.id} if call.id else {})}
            for call in choice.tool_calls
        ]
        if not choice.text:
            del reply["text"]
    reply["finish_reason"] = choice.finish_reason
    usage = generation.usage
    if usage != Usage(prompt_tokens=0, completion_tokens=0):
        counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        more = {
            "cached_tokens": min(usage.cached_tokens, usage.prompt_tokens),
            "reasoning_tokens": min(usage.reasoning_tokens, usage.completion_tokens),
        }
        reply["usage"] = counts | {name: count for name, count in more.items() if count}
    return reply


def _refusal(answer: Recorded) -> dict[str, Any]:
    refusal: dict[str, Any] = {"status": answer.status}
    try:
        document: Any = json.read(answer.body)
    except ValueError:
        document = None
    error = document.get("error", document) if isinstance(document, dict) else None
    if isinstance(error, Mapping):
        usual = CAUSES.get(answer.status)
        message = error.get("message", error.get("detail"))
        if isinstance(message, str):
            refusal["message"] = message
        kinds = () if usual is None else (usual[0].openai_type, usual[0].anthropic_type)
        if isinstance(error.get("type"), str) and error["type"] not in kinds:
            refusal["type"] = error["type"]
        for word in ("code", "param"):
            if isinstance(error.get(word), str):
                refusal[word] = error[word]
    hints = {name: value for name, value in answer.headers if name in HINTS}
    if hints:
        refusal["headers"] = hints
    return refusal


def _faults(answer: Recorded) -> list[dict[str, Any]]:
    """How the answer broke off, if it did."""
    if answer.ending == "end":
        return []
    pieces = sum([isinstance(frame.event, Piece) for frame in answer.frames or ()])
    return [{"kind": "reset" if answer.ending == "reset" else "cut", "after": pieces}]


def _timing(answer: Recorded) -> dict[str, Any]:
    """How long the first piece took, and how many came in a second from then on."""
    told = [frame.at for frame in answer.frames or () if isinstance(frame.event, Piece)]
    first = told[0] if told else answer.at
    timing: dict[str, Any] = {"delay": round(first, 3)} if first > 0 else {}
    if len(told) > 1 and told[-1] > told[0]:
        timing["pace"] = round((len(told) - 1) / (told[-1] - told[0]), 3)
    return timing
