"""A scenario: rules and phases under a name, read from a file whose every mistake has a line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engy_mock.scripting import named, notation
from engy_mock.scripting.forms import (
    FaultForm,
    ModelForm,
    RefuseForm,
    ReplyForm,
    RuleForm,
    ScenarioForm,
    keys_under,
)
from engy_mock.scripting.matchers import conditions
from engy_mock.scripting.notation import Place, Sheet
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.sayings import check_reply
from engy_mock.scripting.when import document, marring
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted
from engy_mock.vocabulary.generation import Reply, Usage
from engy_mock.vocabulary.request import ToolCall

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

    `account` are terms of the default account. `places` tell where each of the settings stands.
    """

    name: str
    source: str
    description: str
    good_client: str = ""
    include: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    account: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, ModelForm] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    phases: tuple[Phase, ...] = ()

    def phase(self, name: str) -> Phase:
        """The phase of this name; raises MockError."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        known = tuple(phase.name for phase in self.phases)
        hint = did_you_mean(name, known) or (f" It has {', '.join(known)}." if known else " It has none.")
        raise MockError(f"scenario {self.name} has no phase {name!r:.80}.{hint}")


def from_file(path: Path) -> Scenario:
    """The scenario in a file; raises MockError with file, line, key and what instead."""
    return from_sheet(notation.read_file(path), path.name.partition(".")[0])


def from_sheet(sheet: Sheet, name: str) -> Scenario:
    """The scenario in what has been read; raises MockError."""
    sheet = named.written_out(sheet)
    form = _checked(sheet)
    phases: list[Phase] = []
    for place, own in enumerate(form.phases):
        where: Place = ("phases", place)
        names = [phase.name for phase in form.phases]
        if own.name in names[:place]:
            raise MockError(f"{sheet.at((*where, 'name'))}: there is a phase {own.name!r} already")
        if own.next is not None and own.next not in names:
            hint = did_you_mean(own.next, names)
            raise MockError(f"{sheet.at((*where, 'next'))}: there is no phase {own.next!r}.{hint}")
        following = names[place + 1] if place + 1 < len(names) else None
        has_end = own.until.requests is not None or own.until.seconds is not None
        phases.append(
            Phase(
                name=own.name,
                next=own.next or (following if has_end else None),
                requests=own.until.requests,
                seconds=own.until.seconds,
                rules=tuple(_rules(own.rules, sheet, where, f"scenario {name}, phase {own.name}")),
                models=own.models,
            )
        )
    _check_time(phases, sheet)
    return Scenario(
        name=name,
        source=sheet.source,
        description=form.description.strip(),
        good_client=form.good_client.strip(),
        include=tuple(form.include),
        settings=form.settings,
        places={name: sheet.at(("settings", name)) for name in form.settings},
        account=form.account.model_dump(exclude_none=True),
        models=form.models,
        rules=tuple(_rules(form.rules, sheet, (), f"scenario {name}")),
        phases=tuple(phases),
    )


def _check_time(phases: Sequence[Phase], sheet: Sheet) -> None:
    """Raise MockError for phases that follow each other in a circle without taking any time."""
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
            raise MockError(
                f"{sheet.at(('phases', place, 'until', 'seconds'))}: the phases {said} follow each other without "
                f"taking any time: one must last more than {NO_TIME} seconds"
            )


def _checked(sheet: Sheet) -> ScenarioForm:
    if not isinstance(sheet.value, dict):
        kind = type(sheet.value).__name__
        raise MockError(f"{sheet.at(())}: a scenario is a mapping with description and rules, got {kind}")
    try:
        return ScenarioForm.model_validate(sheet.value)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        # Tags of forms stand in angle brackets; they are no part of the file.
        place: Place = tuple(step for step in found["loc"] if not str(step).startswith("<"))
        raise MockError(f"{sheet.at(place)}: {_complaint(found, place)}") from None


def _complaint(found: Any, place: Place) -> str:
    kind, last = found["type"], place[-1] if place else ""
    if kind == "extra_forbidden":
        known = keys_under(place[:-1])
        hint = did_you_mean(str(last), known) or (f" Known are {', '.join(known)}." if known else "")
        return f"unknown key {str(last)!r:.80}.{hint}"
    if kind == "missing":
        return f"{last} is missing"
    message = found["msg"][:1].lower() + found["msg"][1:]
    hint = ""
    if kind == "literal_error" and isinstance(found["input"], str):
        expected = [word.strip(" '") for word in found["ctx"]["expected"].replace(" or ", ", ").split(",")]
        hint = did_you_mean(found["input"], expected)
    return f"{quoted(found['input'])} is not allowed: {message}{'.' + hint if hint else ''}"


def _rules(forms: list[RuleForm], sheet: Sheet, around: Place, name: str) -> Iterator[Rule]:
    for number, form in enumerate(forms):
        place: Place = (*around, "rules", number)
        try:
            yield _rule(form, f"{name}, rule {number + 1}")
        except MockError as error:
            raise MockError(f"{sheet.at(place)}: {error}") from None


def _rule(form: RuleForm, name: str) -> Rule:
    words = form.when.model_dump(exclude_none=True)
    answers: tuple[Reply | Refusal, ...] = ()
    times = form.times
    if form.reply is not None and form.refuse is not None:
        raise MockError("a rule has a reply or a refusal, not both")
    if form.reply is not None:
        said = form.reply if isinstance(form.reply, list) else [form.reply]
        answers = tuple(_reply(one) for one in said)
        if not answers:
            raise MockError("reply is an empty list")
        if times is None and isinstance(form.reply, list):
            times = len(answers)
    elif form.refuse is not None:
        answers = (_refusal(form.refuse),)
    faults = [one if isinstance(one, str) else _parameters(one) for one in form.faults]
    marred = marring(faults, form.delay, form.pace)
    if not answers and not marred:
        raise MockError("a rule needs reply, refuse, faults, delay or pace")
    return Rule(
        description=name,
        name=name,
        conditions=conditions((), words),
        answers=answers,
        faults=marred,
        times=times,
        rate=form.rate,
        at=tuple(form.at or ()),
        words=words,
    )


def _parameters(form: FaultForm) -> dict[str, Any]:
    return {"kind": form.kind, **(form.model_extra or {})}


def _reply(form: str | ReplyForm) -> Reply:
    if isinstance(form, str):
        said = Reply(text=form)
        check_reply(said)
        return said
    text = form.text
    if form.json_ is not None:
        if text is not None:
            raise MockError("a reply has a text or json, not both")
        text = document(form.json_)
    calls = []
    for call in form.tool_calls:
        if isinstance(call.arguments, str):
            calls.append(ToolCall(call.name, arguments=call.arguments, id=call.id))
        else:
            calls.append(ToolCall(call.name, arguments=document(call.arguments), id=call.id))
    said = Reply(
        text=text,
        reasoning=form.reasoning,
        tool_calls=tuple(calls),
        finish_reason=form.finish_reason,
        usage=None if form.usage is None else Usage(**form.usage.model_dump()),
        logprobs=form.logprobs,
        response=form.response,
    )
    check_reply(said)
    return said


def _refusal(form: int | RefuseForm) -> Refusal:
    if isinstance(form, int):
        return Refusal(status=form)
    return Refusal(**form.model_dump())
