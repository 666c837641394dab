"""The rules in force, and which of them a request meets: looked up, not tried one by one."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.early import Early
from engy_mock.scripting.matchers import MAPPED, SAID, marks
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Chosen, Rule, Used, settled

NEAREST = 3
"""How many rules an explanation names."""


class Index:
    """Rules by what the requests that they are for have in common.

    Each rule is filed under the one of its marks that the fewest others have; rules without a mark are always
    candidates.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._always: list[int] = []
        self._under: dict[Hashable, list[int]] = {}
        shared: dict[Hashable, int] = {}
        for rule in rules:
            for condition in rule.conditions:
                if condition.mark is not None:
                    shared[condition.mark] = shared.get(condition.mark, 0) + 1
        looks: dict[str, dict[str, None]] = {word: {} for word in (*sorted(MAPPED), *sorted(SAID))}
        for place, rule in enumerate(rules):
            found = [condition for condition in rule.conditions if condition.mark is not None]
            if not found:
                self._always.append(place)
                continue
            rarest = min(found, key=lambda condition: shared[condition.mark])
            self._under.setdefault(rarest.mark, []).append(place)
            if rarest.word in looks:
                looks[rarest.word][rarest.value[0] if rarest.word in MAPPED else rarest.value] = None
        self._looks = {word: tuple(found) for word, found in looks.items()}

    def candidates(self, asked: Asked) -> Iterator[Rule]:
        """The rules that may fit, in the order written."""
        if not self._rules:
            return iter(())
        places = list(self._always)
        if self._under:
            looks = self._looks
            found = marks(asked, looks["field"], looks["header"], looks["says"], looks["system"])
            for mark in dict.fromkeys(found):
                places += self._under.get(mark, ())
            places.sort()
        rules = self._rules
        return iter([rules[place] for place in places])


@dataclass(slots=True)
class Script:
    """The rules of one mock, in the order in which they are tried.

    `rules` are the test's own; behind them stand those of the scenarios, which `more` gives for a moment of
    mock time. `now` tells that time.
    """

    now: Callable[[], float] = lambda: 0.0
    rules: list[Rule] = field(default_factory=list)
    more: Callable[[], Sequence[Rule]] = tuple
    _lock: Lock = field(default_factory=Lock)
    _indexed: tuple[Rule, ...] = ()
    _answering: Index = field(default_factory=lambda: Index(()))
    _marring: Index = field(default_factory=lambda: Index(()))
    _early: tuple[Rule, ...] = ()
    _counting: tuple[Rule, ...] = ()

    def add(self, rule: Rule) -> None:
        """Put a rule behind those that are there."""
        with self._lock:
            rule.name = rule.name or f"rule {len(self.rules) + 1}"
            rule.began = self.now()
            self.rules.append(rule)

    def clear(self) -> None:
        """Forget all rules of the test's own."""
        with self._lock:
            self.rules.clear()

    def choose(self, asked: Asked, identity: bytes = b"", aside: Sequence[Rule] = ()) -> Chosen | None:
        """What the rules say to a request, and behind them those that are set aside for it; counting is atomic.

        The first rule with an answer that fits gives it, and the first without one mars it, unless the answer
        is a refusal.
        """
        rules = (*self.rules, *self.more(), *aside)
        if not rules:
            return None
        answering, marring = self._indexes(rules)
        known: dict[Any, bool] = {}
        due = self._due(asked, known) if self._counting else ()
        used = self._first(answering, asked, identity, known, due)
        answer = None
        if used is not None:
            answers = used.rule.answers
            answer = settled(answers[min(used.use, len(answers) - 1)], asked.request)
        if isinstance(answer, Refusal):
            return Chosen(answer, used)
        marrer = self._first(marring, asked, identity, known, due)
        return None if used is None and marrer is None else Chosen(answer, used, marrer)

    def has_answer(self, asked: Asked) -> bool:
        """Whether a rule has an answer to a request; nothing is counted."""
        rules = (*self.rules, *self.more())
        if not rules:
            return False
        answering, _ = self._indexes(rules)
        return any(not rule.is_used_up and rule.fits(asked, {}) for rule in answering.candidates(asked))

    def spend(self, chosen: Chosen, tokens: int) -> None:
        """Note down for the rules that take part in an answer what it comes to."""
        with self._lock:
            for used in chosen.used:
                used.rule.tokens += tokens

    def early_rules(self) -> tuple[Rule, ...]:
        """The rules that want something before the body is read."""
        rules = (*self.rules, *self.more())
        if rules:
            self._indexes(rules)
        return self._early if rules else ()

    def explain(self, asked: Asked) -> list[str]:
        """Why no rule answered: the nearest rules, each with its reasons."""
        found = []
        for rule in (*self.rules, *self.more()):
            if not rule.answers:
                continue
            reasons = rule.mismatches(asked)
            if not reasons and rule.is_used_up:
                reasons = [f"it has been used {rule.used} times, which is all"]
            elif not reasons and rule.at:
                reasons = [f"this is the request {rule.met} of those that fit, it is for {list(rule.at)}"]
            elif not reasons:
                reasons = ["its rate spares this request"]
            found.append((len(reasons), f"{rule.description}: {'; '.join(reasons)}"))
        found.sort(key=lambda one: one[0])
        return [text for _, text in found[:NEAREST]]

    def _indexes(self, rules: tuple[Rule, ...]) -> tuple[Index, Index]:
        """The indexes of these rules; made anew only when the rules are others."""
        with self._lock:
            if self._indexed != rules:
                self._answering = Index([rule for rule in rules if rule.answers])
                self._marring = Index([rule for rule in rules if not rule.answers])
                self._early = tuple([rule for rule in rules if _is_early(rule)])
                self._counting = tuple([rule for rule in rules if rule.at])
                self._indexed = rules
            return self._answering, self._marring

    def _due(self, asked: Asked, known: dict[Any, bool]) -> list[Rule]:
        """Those of the rules with `at` whose turn this request is; all that it fits count it."""
        due = []
        for rule in self._counting:
            if rule.is_for_refusals is (asked.refused is not None) and rule.fits(asked, known):
                with self._lock:
                    rule.met += 1
                    if rule.met in rule.at:
                        due.append(rule)
        return due

    def _first(
        self, index: Index, asked: Asked, identity: bytes, known: dict[Any, bool], due: Sequence[Rule]
    ) -> Used | None:
        """The first rule that fits and is neither used up nor spares the request, used once more."""
        for rule in index.candidates(asked):
            if rule.is_for_refusals is (asked.refused is None) or rule.is_used_up:
                continue
            if rule.at and rule not in due:
                continue
            if not rule.fits(asked, known) or rule.is_spared(identity):
                continue
            use = self.use(rule)
            if use is not None:
                return Used(rule, use)
        return None

    def use(self, rule: Rule) -> int | None:
        """Which use of the rule this is; None if another request has just used it up."""
        with self._lock:
            if rule.is_used_up:
                return None
            rule.used += 1
            return rule.used - 1


def _is_early(rule: Rule) -> bool:
    return any(isinstance(own, Early) for own in rule.faults)
