"""A scenario: rules and phases under a name, read from a file whose every mistake has a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engy_mock.scripting import named, notation
from engy_mock.scripting.checking import checked
from engy_mock.scripting.forms import ModelForm, RuleForm, ScenarioForm
from engy_mock.scripting.mistakes import MistakenFile, Mistakes
from engy_mock.scripting.notation import Place, Sheet
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.written import rule_of
from engy_mock.vocabulary.errors import MockError, did_you_mean
from engy_mock.vocabulary.files import Mark

NO_TIME = 0.001
"""So many seconds are as good as none, for a phase of a circle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A part of a scenario; it ends after so many requests or seconds of mock time, or when told."""

    name: str
    next: str | None
    requests: int | None
    seconds: float | None
    rules: tuple[Rule, ...]
    models: Mapping[str, ModelForm] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a file says. `good_client` is what a client does that copes; `include` names other scenarios.

    `account` are terms of the default account. `sheet` tells where everything stands.
    """

    name: str
    source: str
    description: str
    good_client: str = ""
    include: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    account: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, ModelForm] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    phases: tuple[Phase, ...] = ()
    sheet: Sheet | None = field(default=None, compare=False, repr=False)

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Its rules with those of all its phases."""
        return (*self.rules, *[rule for phase in self.phases for rule in phase.rules])

    @property
    def mark(self) -> Mark | None:
        """How its file looked when it was read; None if it comes from none."""
        return None if self.sheet is None else self.sheet.mark

    def at(self, *place: str | int) -> str:
        """A place as messages name it: file, line and key."""
        return (self.sheet or Sheet(self.source, None)).at(place)

    def phase(self, name: str) -> Phase:
        """The phase of this name; raises MockError."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        known = tuple(phase.name for phase in self.phases)
        hint = did_you_mean(name, known) or (f" It has {', '.join(known)}." if known else " It has none.")
        raise MockError(f"scenario {self.name} has no phase {name!r:.80}.{hint}")


def from_file(path: Path) -> Scenario:
    """The scenario in a file; raises MockError with file, line, key and what instead, for all mistakes."""
    return from_sheet(notation.read_file(path), path.stem)


def from_sheet(sheet: Sheet, name: str) -> Scenario:
    """The scenario in what has been read; raises MistakenFile with all that is wrong."""
    mistakes = Mistakes(sheet)
    try:
        sheet = named.written_out(sheet)
    except MockError as error:
        mistakes.placed(error)
    scenario = _made(checked(sheet, mistakes), sheet, name, mistakes)
    if mistakes:
        raise MistakenFile(mistakes.told, scenario)
    return scenario


def _made(form: ScenarioForm, sheet: Sheet, name: str, mistakes: Mistakes) -> Scenario:
    """What a form says, as far as it is no mistake."""
    names = [phase.name for phase in form.phases]
    phases: list[Phase] = []
    for place, own in enumerate(form.phases):
        where: Place = ("phases", place)
        if own.name in names[:place]:
            mistakes.add((*where, "name"), f"there is a phase {own.name!r} already")
        if own.next is not None and own.next not in names:
            hint = did_you_mean(own.next, names)
            mistakes.add((*where, "next"), f"there is no phase {own.next!r}.{hint}")
        following = names[place + 1] if place + 1 < len(names) else None
        has_end = own.until.requests is not None or own.until.seconds is not None
        phases.append(
            Phase(
                name=own.name,
                next=own.next or (following if has_end else None),
                requests=own.until.requests,
                seconds=own.until.seconds,
                rules=_rules(own.rules, mistakes, where, f"scenario {name}, phase {own.name}"),
                models=own.models,
            )
        )
    if len(set(names)) == len(names):
        _check_time(phases, mistakes)
    return Scenario(
        name=name,
        source=sheet.source,
        description=form.description.strip(),
        good_client=form.good_client.strip(),
        include=tuple(form.include),
        settings=form.settings,
        account=form.account.model_dump(exclude_none=True),
        models=form.models,
        rules=_rules(form.rules, mistakes, (), f"scenario {name}"),
        phases=tuple(phases),
        sheet=sheet,
    )


def _check_time(phases: Sequence[Phase], mistakes: Mistakes) -> None:
    """Look for phases that follow each other in a circle without taking any time."""
    following = {
        phase.name: phase.next
        for phase in phases
        if phase.next is not None and phase.seconds is not None and phase.seconds <= NO_TIME
    }
    for place, phase in enumerate(phases):
        circle = [phase.name]
        while (after := following.get(circle[-1])) is not None and after not in circle:
            circle.append(after)
        if after == phase.name:
            said = " > ".join((*circle, after))
            mistakes.add(
                ("phases", place, "until", "seconds"),
                f"the phases {said} follow each other without taking any time: "
                f"one must last more than {NO_TIME} seconds",
            )
            return


def _rules(forms: Sequence[RuleForm], mistakes: Mistakes, around: Place, name: str) -> tuple[Rule, ...]:
    made = [
        rule_of(form, f"{name}, rule {number + 1}", mistakes, (*around, "rules", number))
        for number, form in enumerate(forms)
    ]
    return tuple([rule for rule in made if rule is not None])
