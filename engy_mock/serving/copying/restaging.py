"""The rule that brings an exchange about once more, tried on a mock as new as that of a test."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from multidict import CIMultiDict

from engy_mock.books.entry import Entry
from engy_mock.books.keys import made_key
from engy_mock.dialects import routes
from engy_mock.gateway import Gateway
from engy_mock.scripting import notation
from engy_mock.scripting.scenario import from_sheet
from engy_mock.serving.copying.written import Unreadable, read_fault
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import UNSAID, Choice
from engy_mock.vocabulary.wire import Call, Repeat, Step, Wait

MAX_SAYS = 80
"""A rule is for requests that say no more of the question than so many characters."""

NOBODY = "nobody"
"""Whose account it is that pays for what needs no key."""

TIMING = {"delay": ("delay", "seconds"), "pace": ("pace", "per_second")}
"""Faults that rules write as keys of their own: the key, and the parameter that is its value."""

BY_CHANCE = frozenset({"brown-out"})
"""Faults that act or do not by a draw of the rule that has them: under another rule they draw anew."""

OWN_WORDS = frozenset({400, 401, 403, 404, 405, 413, 415, 422})
"""The statuses with which the service refuses a request for what stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restaged:
    """A rule in the words of scenario files, or none where the request alone does it; and what came of it.

    `entry` is what a new mock makes of the request under that rule. It `hangs` where the answer never ends.
    `shows_key` is false where it was for want of a good key that the request was refused.
    """

    entry: Entry
    rule: Mapping[str, Any] | None
    hangs: bool
    shows_key: bool


def restaged(entry: Entry, seed: int) -> Restaged:
    """The first of the rules that could have done it which does it; else the nearest, else the last of them."""
    nearest: Restaged | None = None
    found: Restaged | None = None
    for rule in _candidates(entry):
        try:
            found = _tried(entry, rule, seed)
        except MockError:
            continue  # a fault that has no place in such a rule
        if _looks(found.entry) == _looks(entry):
            return found
        if nearest is None and (found.entry.status, _kinds(found.entry)) == (entry.status, _kinds(entry)):
            nearest = found
    return nearest or found or _tried(entry, None, seed)


def rule_of(entry: Entry) -> dict[str, Any]:
    """A rule that dictates what became of this exchange, whatever the model would say of its own."""
    answer = {"refuse": _refusal(entry)} if entry.generation is None else {"reply": _reply(entry)}
    return {**_for(entry), **answer}


def _candidates(entry: Entry) -> Iterator[dict[str, Any] | None]:
    """The rules that come into question, the simplest first."""
    marring, is_refused = _marring(entry), entry.status >= 400
    is_own = entry.rule is None or not (entry.generation or is_refused)
    if is_own and not marring and (not is_refused or entry.status in OWN_WORDS):
        yield None
    when = _for(entry)
    if marring:
        yield {**when, **marring}
        if is_refused:
            yield {"when": {**when["when"], "refused": entry.status}, **marring}
    # At last without the faults: some act by what has happened before, which no single rule brings back.
    for said in (marring, {}) if marring else (marring,):
        if entry.generation is not None:
            yield {**when, "reply": _reply(entry), **said}
        if is_refused:
            yield {**when, "refuse": _refusal(entry), **said}


def _for(entry: Entry) -> dict[str, Any]:
    """For which requests: those of its kind that begin with the same words."""
    when: dict[str, Any] = {}
    if entry.endpoint:
        when["endpoint"] = entry.endpoint
    if entry.surface == "v5":
        when["surface"] = "v5"
    request = entry.request
    if request is not None:
        if request.is_streamed:
            when["stream"] = True
        said = request.last_user_text.strip().partition("\n")[0][:MAX_SAYS].strip()
        if said and said.isprintable():
            when["says"] = said
    return {"when": when}


def _marring(entry: Entry) -> dict[str, Any]:
    """The faults that changed it, and how slow it was."""
    said: dict[str, Any] = {}
    faults: list[Any] = []
    for written in entry.faults:
        try:
            own = read_fault(written)
        except Unreadable:
            continue  # a function of somebody's own, which no text can bring back
        if own["kind"] in BY_CHANCE:
            continue
        own.pop("rate", None)
        key, parameter = TIMING.get(own["kind"], (None, ""))
        if key is not None:
            said[key] = float(own[parameter])
        else:
            faults.append(own if len(own) > 1 else own["kind"])
    return {"faults": faults, **said} if faults else said


def _reply(entry: Entry) -> Any:
    assert entry.generation is not None
    choice: Choice = entry.generation.choices[0]
    said: dict[str, Any] = {}
    if choice.response is not UNSAID:
        return {"response": choice.response}
    if choice.text or not choice.tool_calls:
        said["text"] = choice.whole_text
    if choice.reasoning:
        said["reasoning"] = choice.whole_reasoning
    if choice.tool_calls:
        said["tool_calls"] = [{"name": call.name, "arguments": call.arguments} for call in choice.tool_calls]
    usual = "tool_calls" if choice.tool_calls else "stop"
    if choice.finish_reason not in (usual, "length"):
        said["finish_reason"] = choice.finish_reason
    return said["text"] if said.keys() == {"text"} else said


def _refusal(entry: Entry) -> Any:
    status = entry.status if entry.status >= 400 else 500
    return status if entry.error is None else {"status": status, "message": entry.error}


def _tried(entry: Entry, rule: Mapping[str, Any] | None, seed: int) -> Restaged:
    """What a new mock makes of the request; raises MockError for a rule that cannot be."""
    gateway = Gateway(seed=seed)
    if rule is not None:
        document = {"description": "an exchange once more", "rules": [rule]}
        for own in from_sheet(notation.read(json.write(document), "the copy"), "copy").rules:
            gateway.script.add(own)
    is_for_refusals = rule is not None and "refused" in rule["when"]
    shows_key = entry.account != NOBODY and (entry.status != 401 or (rule is not None and not is_for_refusals))
    headers: CIMultiDict[str] = CIMultiDict(entry.headers)
    if shows_key:
        headers.update(key_header(entry.path, made_key("api key", seed)))
    call = Call(method=entry.method, path=entry.path, headers=headers, body=entry.body)
    entries: list[Entry] = []
    steps = list(gateway.answer(call, entries.append))
    hangs = any(_is_endless(step) for step in steps)
    return Restaged(entry=entries[0], rule=rule, hangs=hangs, shows_key=shows_key)


def key_header(path: str, key: str) -> dict[str, str]:
    """The header in which a path takes its key."""
    name = routes.speaker(path).key_headers[0]
    return {"Authorization": f"Bearer {key}"} if name == "authorization" else {name: key}


def _is_endless(step: Step) -> bool:
    if isinstance(step, Wait):
        return step.seconds == math.inf
    return isinstance(step, Repeat) and step.count is None


def _looks(entry: Entry) -> tuple[object, ...]:
    """What became of it, as far as it can be told of an answer that may have been left."""
    return (entry.status, entry.error, entry.text, len(entry.tool_calls), _kinds(entry))


def _kinds(entry: Entry) -> list[str]:
    return [written.partition(" ")[0] for written in entry.faults]
