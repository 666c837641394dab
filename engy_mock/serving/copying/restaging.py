"""The rule that brings an exchange about once more, tried on a mock as new as that of a test."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from multidict import CIMultiDict

from engy_mock.books.entry import Entry
from engy_mock.books.keys import made_key
from engy_mock.dialects import routes
from engy_mock.gateway import Gateway
from engy_mock.scripting import notation
from engy_mock.scripting.scenario import from_sheet
from engy_mock.serving.copying.dictating import candidates, dictations, refined
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.wire import Call, Repeat, Step, Wait

NOBODY = "nobody"
"""Whose account it is that pays for what needs no key."""


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
    nearest, found = _nearest(entry, candidates(entry), seed)
    return nearest or found or _tried(entry, None, seed)


def dictated(entry: Entry, again: Restaged, seed: int) -> Restaged | None:
    """The same with a rule that answers it whatever the service would say of its own; None if no rule can."""
    if again.rule is not None:
        return again
    found = _nearest(entry, dictations(entry), seed)[0]
    if found is None and entry.status >= 400:
        # The service refuses this request before it asks any rule; the rule is for those that are better.
        found = next((replace(again, rule=rule) for rule in dictations(entry)), None)
    return found


def _nearest(
    entry: Entry, rules: Iterable[Mapping[str, Any] | None], seed: int
) -> tuple[Restaged | None, Restaged | None]:
    """The first rule that does it, or else comes near; and the last of those that were tried."""
    nearest: Restaged | None = None
    found: Restaged | None = None
    for rule in rules:
        try:
            found = _tried(entry, rule, seed)
        except MockError:
            continue  # a fault that has no place in such a rule
        finer = refined(rule, found.entry, entry)
        if finer != rule:
            with suppress(MockError):  # not all that a service may say is for a rule to say
                found = _tried(entry, finer, seed)
        if _looks(found.entry) == _looks(entry):
            return found, found
        if nearest is None and (found.entry.status, _kinds(found.entry)) == (entry.status, _kinds(entry)):
            nearest = found
    return nearest, found


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
    said = () if entry.generation is None else entry.generation.choices
    texts = [(choice.whole_text, len(choice.tool_calls)) for choice in said]
    return (entry.status, entry.error, texts, _kinds(entry))


def _kinds(entry: Entry) -> list[str]:
    return [written.partition(" ")[0] for written in entry.faults]
