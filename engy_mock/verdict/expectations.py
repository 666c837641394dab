"""What a test expects of its client: which requests came, how often, in which order, and that rules were used."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from engy_mock.books.entry import Entry, kept_header
from engy_mock.books.journal import LATEST, Journal
from engy_mock.scripting.asked import Asked
from engy_mock.scripting.matchers import LOOKED_FOR, MATCHERS, Condition, conditions
from engy_mock.scripting.rules import Rule
from engy_mock.verdict.requests import body_of, document_of, doubt, is_for_model, request_of, strings
from engy_mock.vocabulary.errors import MockError, UnmetExpectation, quoted
from engy_mock.vocabulary.escapes import contains
from engy_mock.vocabulary.request import Conversation, GenerationRequest, RawPrompt

Functions = tuple[Callable[[GenerationRequest], object], ...]

NEAREST = 5
"""How many requests that did not fit a message names."""

LOOKED_AT = 200
"""In so many exchanges a message looks for what kept a rule from being used."""

OF_THE_CALL = frozenset({"endpoint", "surface", "header"})
"""The words that look at nothing in the body."""


def asked_of(entry: Entry) -> Asked:
    """A journal entry as the words of `when` see it."""
    request = request_of(entry)
    return Asked(
        endpoint=entry.endpoint,
        surface=entry.surface,
        request=request,
        headers=entry.headers,
        body=body_of(entry, request),
    )


def found(
    journal: Journal,
    functions: Functions,
    words: Mapping[str, Any],
    *,
    times: int | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
) -> list[Entry]:
    """The exchanges that fit; raises UnmetExpectation unless there are so many, or one if nothing is said."""
    numbers = (("times", times), ("at_least", at_least), ("at_most", at_most))
    for word, number in numbers:
        if number is not None and (type(number) is not int or number < 0):
            raise MockError(f"{word}= takes a whole number from 0, got {number!r:.80}")
    least, most = at_least or 0, at_most if at_most is not None else math.inf
    if least > most or (times is not None and not least <= times <= most):
        said = ", ".join([f"{word}={number}" for word, number in numbers if number is not None])
        raise MockError(f"asked({said}) can never come true")
    wanted = _conditions(functions, words)
    fitting: list[Entry] = []
    doubts: list[str] = [journal.losses] if journal.lost else []
    for entry in journal:
        if reason := _doubt(wanted, entry):
            doubts.append(reason)
        elif not _reasons(wanted, entry):
            fitting.append(entry)
    count = len(fitting)
    if times is None and at_least is None and at_most is None:
        at_least = 1
    if times is not None and count != times:
        said = f"exactly {times}"
    elif at_least is not None and count < at_least:
        said = f"at least {at_least}"
    elif at_most is not None and count > at_most:
        said = f"at most {at_most}"
    elif doubts and (times is not None or at_most is not None):
        said = f"exactly {times}" if times is not None else f"at most {at_most}"
    else:
        return fitting
    there_were = f"{count} are left" if journal.lost else f"there were {count}"
    if doubts:
        there_were += f"; {'; '.join(doubts)}"
    raise UnmetExpectation(
        f"expected {said} of {_described(functions, words)}, {there_were}{_nearest(wanted, journal)}"
    )


def found_in_order(journal: Journal, steps: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """Exchanges that fit these words one after the other, others between them; raises UnmetExpectation."""
    if not steps:
        raise MockError("asked_in_order takes a step or several, like {'says': 'x'}, got none")
    for words in steps:
        _check_step(words)
    wanted = [_conditions((), words) for words in steps]
    doubts: list[str] = [journal.losses] if journal.lost else []
    entries = iter(journal)
    met: list[Entry] = []
    for place, conditions_ in enumerate(wanted):
        entry = None
        for one in entries:
            if reason := _doubt(conditions_, one):
                doubts.append(reason)
            elif not _reasons(conditions_, one):
                entry = one
                break
        if entry is None:
            said = _described((), steps[place])
            behind = f" behind exchange {met[-1].number}" if met else ""
            unknown = "".join([f"; {one}" for one in doubts])
            raise UnmetExpectation(
                f"expected {said} as step {place + 1} of {len(steps)}{behind}{unknown}"
                f"{_nearest(conditions_, journal)}"
            )
        met.append(entry)
    return met


def _check_step(words: object) -> None:
    if not isinstance(words, Mapping) or not all(isinstance(word, str) for word in words):
        raise MockError(f"asked_in_order takes mappings of words like {{'says': 'x'}}, got {words!r:.80}")


def verified(rules: Iterable[Rule], journal: Journal, defects: Sequence[BaseException]) -> None:
    """Raise UnmetExpectation with what `complaints` there are, and with the journal."""
    found = complaints(rules, journal, defects)
    if found:
        raise UnmetExpectation("\n".join([*found, "", "journal:", journal.told(LATEST)]))


def complaints(rules: Iterable[Rule], journal: Journal, defects: Sequence[BaseException]) -> list[str]:
    """Rules that were not used, faults that found no place, and what failed.

    A rule counts as used once it was; one with `times` only when it was used so often.
    """
    found = [_failure(defect) for defect in defects]
    for rule in rules:
        if rule.times is not None and rule.used < rule.times:
            found.append(f"{rule.description} was used {rule.used} times of {rule.times}{_why(rule, journal)}")
        elif rule.used == 0:
            found.append(f"{rule.description} was never used{_why(rule, journal)}")
    for entry in journal:
        found += [f"exchange {entry.number}: {_vain(one)} changed nothing" for one in entry.not_applied]
    if journal.lost:
        found.append(journal.losses)
    return found


def _failure(defect: BaseException) -> str:
    """What failed in the mock, or the request that it did not expect, line by line as that was said."""
    said = str(defect)
    if not isinstance(defect, UnmetExpectation):
        said = f"the mock failed: {type(defect).__name__}: {quoted(said):.300}"
    return said.replace("\n", "\n     ")


def _vain(one: str) -> str:
    """What has changed nothing: a fault, or a part of a reply that the route has no place for."""
    part = one.removeprefix("reply ")
    return f"fault {one!r}" if part == one else f"{part} of the reply"


def _why(rule: Rule, journal: Journal) -> str:
    """What kept a rule from the exchange that came nearest to it; the newest ones are looked at."""
    name = f"{rule.description}: "
    nearest: list[tuple[int, int, str]] = []
    for entry in journal[-LOOKED_AT:]:
        reason = next((text.removeprefix(name) for text in entry.mismatches if text.startswith(name)), None)
        if reason is None and entry.rule is None and entry.error is not None and is_for_model(entry):
            reason = f"the service itself refused it with {entry.status}"
        if reason is not None:
            nearest.append((reason.count("; "), entry.number, reason))
    if not nearest:
        return ""
    _, number, reason = min(nearest)
    return f"\n     not for exchange {number}: {reason}"


def _conditions(functions: Functions, words: Mapping[str, Any]) -> tuple[Condition, ...]:
    if "key" in words:
        raise MockError("the journal keeps no keys: ask for account= in engy.journal.where(...) instead")
    if "refused" in words:
        raise MockError("what was refused stands in the journal: engy.journal.where(status=...)")
    headers = words.get("header")
    if isinstance(headers, Mapping):
        words = {**words, "header": {kept_header(name): headers[name] for name in headers}}
    return conditions(functions, words)


def _doubt(wanted: tuple[Condition, ...], entry: Entry) -> str | None:
    """Why nobody knows whether an exchange fits; None where that can be told."""
    if not is_for_model(entry):
        return None
    of_call = [one for one in wanted if one.function is None and one.word in OF_THE_CALL]
    if len(of_call) == len(wanted):
        return None
    reason = doubt(entry)
    if reason is None and _is_mute(request_of(entry)):
        sought = [one.value for one in wanted if one.function is None and one.word in LOOKED_FOR]
        texts = list(strings(document_of(entry) or {}))
        if any(isinstance(value, str) and contains(text, value) for value in sought for text in texts):
            reason = f"the body of exchange {entry.number} has no prompt that can be read"
    return None if reason is None or _missed(of_call, asked_of(entry)) else reason


def _is_mute(request: GenerationRequest | None) -> bool:
    """Whether it is a request to a model that tells it nothing, as far as it can be read."""
    return request is not None and request.prompt in (Conversation(messages=()), RawPrompt(prompts=()))


def _reasons(wanted: tuple[Condition, ...], entry: Entry) -> list[str]:
    asked = asked_of(entry)
    if entry.is_body_cut:
        # What looks into the body may not be known any more: that counts only where all else fits.
        known = [condition for condition in wanted if condition.word in MATCHERS and condition.word != "field"]
        if len(known) < len(wanted) and (reasons := _missed(known, asked)):
            return reasons
    return _missed(wanted, asked)


def _missed(wanted: Iterable[Condition], asked: Asked) -> list[str]:
    return [reason for reason in (condition.check(asked) for condition in wanted) if reason is not None]


def _nearest(wanted: tuple[Condition, ...], journal: Journal) -> str:
    """The exchanges that came nearest to fitting, each with what was missing."""
    if not len(journal):
        return "\nno request has reached the mock"
    missed = [
        (len(reasons), entry, reasons)
        for entry in journal
        if not _doubt(wanted, entry) and (reasons := _reasons(wanted, entry))
    ]
    missed.sort(key=lambda one: (one[0], one[1].number))
    lines = [f"{entry}\n     {'; '.join(reasons)}" for _, entry, reasons in missed[:NEAREST]]
    return "\nnot among them:\n" + "\n".join(lines) if lines else ""


def _described(functions: Functions, words: Mapping[str, Any]) -> str:
    named = [getattr(function, "__name__", repr(function)) for function in functions]
    named += [f"{word}={value!r:.80}" for word, value in words.items()]
    return f"requests with {', '.join(named)}" if named else "requests"
