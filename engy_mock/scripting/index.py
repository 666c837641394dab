"""Rules by what the requests that they are for have in common: looked up, not tried one by one."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engy_mock.scripting.asked import Asked
from engy_mock.scripting.matchers import LOOKED_FOR, MAPPED, Condition, marks
from engy_mock.scripting.needles import Needles
from engy_mock.scripting.rules import Rule
from engy_mock.vocabulary.request import GenerationRequest

Known = dict[Hashable, bool]
"""What has been looked at for one request already."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a rule is tried: first the group of conditions that others have too, then those of its own."""

    rule: Rule
    group: int
    own: tuple[tuple[Condition, Callable[[GenerationRequest], object] | None], ...]
    is_for_refusals: bool
    is_for_pages: bool


class Index:
    """Some rules, looked up together.

    Each is filed under the one of its marks that the fewest others have; rules without a mark are always tried.
    `shared` tells how many rules, these or others, have a condition.
    """

    def __init__(self, rules: Sequence[Rule], shared: Mapping[Hashable, int]) -> None:
        self._groups: list[tuple[Condition, ...]] = [()]
        self._plans = self._planned(rules, shared)
        self._always: list[int] = []
        self._under: dict[Hashable, list[int]] = {}
        looks: dict[str, dict[str, None]] = {word: {} for word in sorted(MAPPED | LOOKED_FOR)}
        for place, rule in enumerate(rules):
            found = [condition for condition in rule.conditions if condition.mark is not None]
            if not found:
                self._always.append(place)
                continue
            rarest = min(found, key=lambda condition: shared[condition.mark])
            self._under.setdefault(rarest.mark, []).append(place)
            if rarest.word in looks and not isinstance(rarest.value, bool):
                looks[rarest.word][rarest.value[0] if rarest.word in MAPPED else rarest.value] = None
        self._looks = {word: tuple(looks[word]) for word in sorted(MAPPED)}
        self._needles = {word: Needles(looks[word]) for word in sorted(LOOKED_FOR)}

    def fitting(self, asked: Asked, known: Known, until: Rule | None = None) -> Iterator[Rule]:
        """The rules that fit and are not used up, in the order written; each is tried when it is its turn.

        Those from `until` on are not.
        """
        request, is_refused, is_page = asked.request, asked.refused is not None, asked.is_page
        groups: dict[int, bool] = {0: True}
        for plan in self._candidates(asked):
            rule = plan.rule
            if rule is until:
                return
            if plan.is_for_refusals is not is_refused or (rule.times is not None and rule.used >= rule.times):
                continue
            if is_page and not plan.is_for_pages:
                continue
            holds = groups.get(plan.group)
            if holds is None:
                holds = groups[plan.group] = _all_hold(self._groups[plan.group], asked, known)
            if not holds:
                continue
            for condition, function in plan.own:
                if function is None:
                    if condition.check(asked) is not None:
                        break
                elif request is None:
                    break
                else:
                    found = function(request)
                    if found is not True and not is_yes(found):
                        break
            else:
                yield rule

    def _planned(self, rules: Sequence[Rule], shared: Mapping[Hashable, int]) -> list[Plan]:
        numbers: dict[tuple[Hashable, ...], int] = {(): 0}
        plans: list[Plan] = []
        for rule in rules:
            count = 0
            for condition in rule.conditions:
                # Functions keep their order: one may rely on what another before it has made sure of.
                if condition.same is None or shared[condition.same] == 1:
                    break
                count += 1
            key = tuple([condition.same for condition in rule.conditions[:count]])
            if key not in numbers:
                numbers[key] = len(self._groups)
                self._groups.append(rule.conditions[:count])
            own = tuple([(condition, condition.function) for condition in rule.conditions[count:]])
            plans.append(Plan(rule, numbers[key], own, rule.is_for_refusals, rule.is_for_pages))
        return plans

    def _candidates(self, asked: Asked) -> Sequence[Plan]:
        plans = self._plans
        if not self._under:
            return plans
        places = list(self._always)
        for mark in dict.fromkeys(marks(asked, self._looks, self._needles)):
            places += self._under.get(mark, ())
        places.sort()
        return [plans[place] for place in places]


def counted(rules: Sequence[Rule]) -> Mapping[Hashable, int]:
    """How many conditions look at the same thing."""
    shared: dict[Hashable, int] = {}
    for rule in rules:
        for condition in rule.conditions:
            if condition.same is not None:
                shared[condition.same] = shared.get(condition.same, 0) + 1
    return shared


def is_yes(found: object) -> bool:
    """Whether what a function gives means that it fits: true, or nothing; a text is the reason why not."""
    return found is None or (not isinstance(found, str) and bool(found))


def _all_hold(conditions: Sequence[Condition], asked: Asked, known: Known) -> bool:
    for condition in conditions:
        holds = known.get(condition.same)
        if holds is None:
            holds = known[condition.same] = condition.check(asked) is None
        if not holds:
            return False
    return True
