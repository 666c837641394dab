"""Why rules had no say in an exchange, told afterwards by what the journal keeps of it.

Nothing is noted down for this when a request is matched. What decided then and is not kept (a key, how often a
rule had been used) is found by elimination: where all else fits, it was that.
"""

from collections.abc import Collection, Sequence

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.matchers import MATCHERS, Condition
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Chosen, Rule, rates_of
from engy_mock.vocabulary.errors import quoted


def missing(
    rules: Sequence[Rule], chosen: Chosen | None, asked: Asked, identity: bytes, kept: Collection[str]
) -> list[str]:
    """The rules that took no part, the nearest first, each with its reasons; `kept` are the headers in `asked`."""
    taken = () if chosen is None else tuple([used.rule for used in chosen.used])
    found = []
    for place, rule in enumerate(rules):
        if rule in taken or rule.is_for_refusals:
            continue
        reasons = _mismatches(rule, asked, kept)
        if not reasons:
            before = None if chosen is None else _in_the_way(rule, place, rules, chosen)
            reasons = [before or _eliminated(rule, asked, identity, kept)]
        found.append((len(reasons), f"{rule.description}: {'; '.join(reasons)}"))
    found.sort(key=lambda one: one[0])
    return [text for _, text in found]


def _mismatches(rule: Rule, asked: Asked, kept: Collection[str]) -> list[str]:
    """Why a rule does not fit, as far as that can still be told."""
    reasons = [_reason(condition, asked) for condition in rule.conditions if not _is_hidden(condition, kept)]
    if asked.is_page and not rule.is_for_pages:
        reasons.append(f"it does not name endpoint={asked.endpoint!r}")
    return [reason for reason in reasons if reason is not None]


def _reason(condition: Condition, asked: Asked) -> str | None:
    try:
        if condition.function is None and condition.word == "header":
            name, value = condition.value
            return MATCHERS["header"](asked, (name.lower(), value))
        return condition.check(asked)
    except Exception as error:  # a function of the test's own, or a field that was too long to be kept
        return f"{condition.word} cannot be told any more: {quoted(str(error))}"


def _is_hidden(condition: Condition, kept: Collection[str]) -> bool:
    """Whether it looks at what could be a secret, which the journal does not keep."""
    if condition.function is not None:
        return False
    return condition.word == "key" or (condition.word == "header" and condition.value[0].lower() not in kept)


def _in_the_way(rule: Rule, place: int, rules: Sequence[Rule], chosen: Chosen) -> str | None:
    """The rule that had its say in the place of this one, which fits as well."""
    answering = None if chosen.answering is None else chosen.answering.rule
    marring = None if chosen.marring is None else chosen.marring.rule
    if answering is not None and (rule.answers or answering.lets_through) and answering in rules[:place]:
        return f"{answering.description} stands before it"
    if answering is not None and isinstance(chosen.answer, Refusal):
        return f"{answering.description} refuses, which no other rule mars"
    if marring is not None and not rule.answers and marring in rules[:place]:
        return f"{marring.description} stands before it"
    return None


def _eliminated(rule: Rule, asked: Asked, identity: bytes, kept: Collection[str]) -> str:
    """What is left as a reason where nothing else is."""
    if rule.is_spared(rates_of(identity)):
        return "its rate spares this request"
    left = []
    for condition in rule.conditions:
        if condition.function is not None:
            left.append(f"{condition.word} said no then")
        elif _is_hidden(condition, kept):
            left.append("another key" if condition.word == "key" else f"another header {condition.value[0]:.80}")
    if rule.at:
        left.append(f"it is for {list(rule.at)} of the requests that fit, and this was none of them")
    if rule.times is not None:
        left.append(f"it has been used {rule.times} times, which is all")
    return ", or ".join(left) or "it was not there yet"
