"""The rules in force, and which of them a request meets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.early import is_early
from engy_mock.scripting.index import Index, Known, counted
from engy_mock.scripting.matchers import Condition
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Chosen, Rule, Used, rates_of, settled
from engy_mock.vocabulary.seeds import Draws

NEAREST = 3
"""How many rules an explanation names."""


@dataclass(slots=True)
class Script:
    """The rules of one mock, in the order in which they are tried.

    `rules` are the test's own; behind them stand those of the scenarios, which `more` gives for a moment of
    mock time. `now` tells that time. `expect` is called when one is written that acts before a body is read.
    """

    now: Callable[[], float] = lambda: 0.0
    rules: list[Rule] = field(default_factory=list)
    more: Callable[[], Sequence[Rule]] = tuple
    expect: Callable[[], None] = lambda: None
    _lock: Lock = field(default_factory=Lock)
    _indexed: tuple[Rule, ...] = ()
    _answering: Index = field(default_factory=lambda: Index((), {}))
    _marring: Index = field(default_factory=lambda: Index((), {}))
    _early: tuple[Rule, ...] = ()
    _heads: tuple[Condition, ...] = ()
    _counting: Index | None = None

    def add(self, rule: Rule) -> None:
        """Put a rule behind those that are there."""
        if is_early(rule.faults):
            self.expect()
        with self._lock:
            rule.name = rule.name or f"rule {len(self.rules) + 1}"
            rule.began = self.now()
            self.rules.append(rule)

    def clear(self) -> None:
        """Forget all rules of the test's own."""
        with self._lock:
            self.rules.clear()

    def choose(
        self, asked: Asked, place: Callable[[], bytes] = bytes, aside: Sequence[Rule] = ()
    ) -> Chosen | None:
        """What the rules say to a request, and behind them those that are set aside for it; counting is atomic.

        `place` gives the request its place among its equals and what stands for it: in the same step in which the
        first rule counts it, so that both go by one order. The first rule with an answer that fits gives it, and
        the first without one mars it, unless the answer is a refusal. One that lets a request through ends the
        search for both.
        """
        rules = (*self.rules, *self.more(), *aside)
        if not rules:
            return None
        answering, marring, rules = self._indexes(rules)
        known: Known = {}
        due = () if self._counting is None else self._due(self._counting, asked, known, place)
        used = self._first(answering, asked, place, known, due)
        answer = None
        if used is not None:
            answers = used.rule.answers
            answer = settled(answers[min(used.use, len(answers) - 1)], asked.request)
        if isinstance(answer, Refusal):
            return Chosen(answer, used, rules=rules)
        until = used.rule if used is not None and used.rule.lets_through else None
        marrer = self._first(marring, asked, place, known, due, until, mars=True)
        return None if used is None and marrer is None else Chosen(answer, used, marrer, rules)

    def has_answer(self, asked: Asked, identity: bytes = b"") -> bool:
        """Whether a rule is going to answer a request, if it is the next one to come; nothing is counted."""
        rules = (*self.rules, *self.more())
        if not rules:
            return False
        answering, _, _ = self._indexes(rules)
        rates: Draws | None = None
        for rule in answering.fitting(asked, {}):
            if rule.at and rule.met + 1 not in rule.at:
                continue
            if rule.rate < 1:
                rates = rates or rates_of(identity)
                if rule.is_spared(rates):
                    continue
            return True
        return False

    def in_force(self, aside: Sequence[Rule] = ()) -> tuple[Rule, ...]:
        """All rules at this moment, with those set aside for a request; one object while they are the same."""
        rules = (*self.rules, *self.more(), *aside)
        with self._lock:
            return self._indexed if self._indexed == rules else rules

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

    def looks_at_heads(self) -> tuple[Condition, ...]:
        """What rules look for in the head of a call."""
        rules = (*self.rules, *self.more())
        if rules:
            self._indexes(rules)
        return self._heads if rules else ()

    def explain(self, asked: Asked, rules: Sequence[Rule]) -> list[str]:
        """Why none of these rules answered: the nearest that could have, each with its reasons."""
        found = []
        for rule in rules:
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

    def _indexes(self, rules: tuple[Rule, ...]) -> tuple[Index, Index, tuple[Rule, ...]]:
        """The indexes of these rules, and the rules as one object; made anew only when the rules are others."""
        with self._lock:
            if self._indexed != rules:
                shared = counted(rules)
                # What no request is for need not be tried.
                some = [rule for rule in rules if rule.rate > 0]
                self._answering = Index([rule for rule in some if rule.answers], shared)
                marring = [rule for rule in some if not rule.answers or rule.lets_through]
                self._marring = Index(marring, shared)
                self._heads = tuple([one for rule in rules for one in rule.conditions if one.is_of_head])
                self._early = tuple([rule for rule in rules if is_early(rule.faults)])
                counting = [rule for rule in rules if rule.at]
                self._counting = Index(counting, shared) if counting else None
                self._indexed = rules
            return self._answering, self._marring, self._indexed

    def _due(self, counting: Index, asked: Asked, known: Known, place: Callable[[], bytes]) -> list[Rule]:
        """Those of the rules with `at` whose turn this request is; all that it fits count it."""
        fitting = list(counting.fitting(asked, known))
        if not fitting:
            return fitting
        with self._lock:
            place()
            for rule in fitting:
                rule.met += 1
            return [rule for rule in fitting if rule.met in rule.at]

    def _first(
        self,
        index: Index,
        asked: Asked,
        place: Callable[[], bytes],
        known: Known,
        due: Sequence[Rule],
        until: Rule | None = None,
        *,
        mars: bool = False,
    ) -> Used | None:
        """The first rule that fits and is neither used up nor spares the request, used once more.

        Rules from `until` on have no say; others that let requests through do not mar them.
        """
        rates: Draws | None = None
        for rule in index.fitting(asked, known, until):
            if (mars and rule.lets_through) or (rule.at and rule not in due):
                continue
            if rates is not None and rule.is_spared(rates):
                continue
            with self._lock:
                if rule.is_used_up:
                    continue  # another request has just done that
                if rates is None and rule.rate < 1:
                    rates = rates_of(place())
                    if rule.is_spared(rates):
                        continue
                elif rule.is_counted:
                    place()
                rule.used += 1
                return Used(rule, rule.used - 1)
        return None

    def use(self, rule: Rule) -> int | None:
        """Which use of the rule this is; None if another request has just used it up."""
        with self._lock:
            if rule.is_used_up:
                return None
            rule.used += 1
            return rule.used - 1
