"""What of a plan has happened in a run, request by request: the plan that says so outright."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engy_mock.books.entry import Entry
from engy_mock.campaigns.plan import Plan, Trouble
from engy_mock.scripting.fault import made, told
from engy_mock.scripting.matchers import conditions
from engy_mock.verdict.expectations import asked_of

MOST_SAID = 60
"""So many characters of what a request says are enough to tell it from others."""


def count(plan: Plan, entries: Iterable[Entry]) -> int:
    """How many requests have met a trouble of the plan."""
    return sum(bool(_met(plan, entry)) for entry in entries)


def happened(plan: Plan, entries: Sequence[Entry], *, names_texts: bool) -> tuple[Trouble, ...]:
    """The troubles that have happened, each time one of its own; those that befall everything stay whole.

    With `names_texts` requests are told apart by what they say too: the order of parallel callers then does not
    matter. Without, they are only counted: what they say may be another in each run.
    """
    found: dict[int, list[Trouble]] = {}
    asked: list[Entry] = []
    for entry in entries:
        if entry.rule is None and entry.status >= 400:
            continue  # what the service itself refuses meets no rule
        asked.append(entry)
        for place in _met(plan, entry):
            own = plan.troubles[place]
            if own.is_always:
                found[place] = [own]
                continue
            words = _words(entry, own.when, names_texts=names_texts)
            number = sum(_fits(other, words) for other in asked)
            one = replace(own, when=words, endpoints=(), rate=1.0, times=None, at=(number,))
            found.setdefault(place, []).append(one)
    return tuple([one for place in sorted(found) for one in found[place]])


def merged(troubles: Iterable[Trouble]) -> tuple[Trouble, ...]:
    """The same with one trouble for what happens several times to requests of one description."""
    found: list[Trouble] = []
    for own in troubles:
        for place, other in enumerate(found):
            if own.at and other.at and (own.does, own.when) == (other.does, other.when):
                found[place] = replace(other, at=tuple(sorted({*other.at, *own.at})))
                break
        else:
            found.append(own)
    return tuple(found)


def _met(plan: Plan, entry: Entry) -> list[int]:
    """The places of the troubles that a request has met; a fault that changed nothing was none."""
    rules = set((entry.rule or "").split(" + "))
    found = []
    for number, (place, rule) in enumerate(plan.rules):
        if f"scenario {plan.name}, rule {number + 1}" in rules:
            faults = [told(made(one)) for one in rule.get("faults", ())]
            if not faults or any(one in entry.faults for one in faults):
                found.append(place)
    return found


def _words(entry: Entry, when: Mapping[str, Any], *, names_texts: bool) -> dict[str, Any]:
    """What requests like this one have in common, as far as the journal can tell."""
    words: dict[str, Any] = {"endpoint": entry.endpoint}
    if entry.surface != "v1":
        words["surface"] = entry.surface
    if entry.request is not None:
        words["stream"] = entry.request.is_streamed
    words |= when
    text = "" if entry.request is None else entry.request.last_user_text[:MOST_SAID].strip()
    if names_texts and text and text.isprintable():
        words.setdefault("says", text)
    return words


def _fits(entry: Entry, words: Mapping[str, Any]) -> bool:
    # The journal keeps no keys, so that requests are not told apart by them.
    told = {word: value for word, value in words.items() if word != "key"}
    asked = asked_of(entry)
    return all(condition.check(asked) is None for condition in conditions((), told))
