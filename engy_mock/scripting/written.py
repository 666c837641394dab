"""A rule as a file writes it: its parts are looked at one by one, so that each mistake has its own place."""

from collections.abc import Callable, Mapping
from typing import Any

from engy_mock.scripting.fault import Fault, WrongParameter, kind_named, made, told, wrong_parameters
from engy_mock.scripting.forms import FaultForm, RefuseForm, ReplyForm, RuleForm
from engy_mock.scripting.matchers import Condition, conditions
from engy_mock.scripting.mistakes import Mistakes
from engy_mock.scripting.notation import Place
from engy_mock.scripting.pace import timing
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Answer, Rule, let_through
from engy_mock.scripting.sayings import check_reply
from engy_mock.scripting.when import document
from engy_mock.vocabulary.errors import MockError
from engy_mock.vocabulary.generation import UNSAID, Reply, Usage
from engy_mock.vocabulary.request import ToolCall

ANSWERS = ("reply", "refuse", "let_through")
"""The keys that say what a request gets; a rule has one of them at most."""


def rule_of(form: RuleForm, name: str, mistakes: Mistakes, place: Place) -> Rule | None:
    """The rule that a form stands for; None if there are mistakes in it."""
    words = form.when.model_dump(exclude_none=True)
    known = len(mistakes)
    fitting: tuple[Condition, ...] = ()
    with mistakes.at((*place, "when")):
        fitting = conditions((), words)
    answers = _answers(form, mistakes, place)
    marred = _faults(form, words, mistakes, place)
    with mistakes.at(place):
        given = [key for key in ANSWERS if getattr(form, key) is not None]
        if len(given) > 1:
            raise MockError(f"a rule has one of {', '.join(ANSWERS)}, not {' and '.join(given)}")
        marred += timing(form.delay, form.pace)
        if not given and not form.faults and not marred:
            raise MockError("a rule needs reply, refuse, let_through, faults, delay or pace")
    if len(mistakes) > known:
        return None
    try:
        return Rule(
            description=name,
            name=name,
            conditions=fitting,
            answers=answers,
            faults=marred,
            times=len(answers) if form.times is None and isinstance(form.reply, list) else form.times,
            rate=form.rate,
            at=tuple(form.at or ()),
            words=words,
        )
    except MockError as error:
        mistakes.note(place, error)
        return None


def _answers(form: RuleForm, mistakes: Mistakes, place: Place) -> tuple[Answer, ...]:
    if isinstance(form.reply, list):
        if not form.reply:
            mistakes.add((*place, "reply"), "reply is an empty list")
        said = [_noted(mistakes, (*place, "reply", n), _reply, one) for n, one in enumerate(form.reply)]
        return tuple([one for one in said if one is not None])
    answer: Answer | None = None
    if form.reply is not None:
        answer = _noted(mistakes, (*place, "reply"), _reply, form.reply)
    elif form.refuse is not None:
        answer = _noted(mistakes, (*place, "refuse"), _refusal, form.refuse)
    elif form.let_through:
        answer = let_through
    return () if answer is None else (answer,)


def _faults(form: RuleForm, words: Mapping[str, Any], mistakes: Mistakes, place: Place) -> tuple[Fault, ...]:
    found: list[Fault] = []
    for number, one in enumerate(form.faults):
        where: Place = (*place, "faults", number)
        with mistakes.at(where):
            parameters = {} if isinstance(one, str) else _parameters(one)
            kind = kind_named(one if isinstance(one, str) else one.kind)
            wrong = list(wrong_parameters(kind, parameters))
            for mistake in wrong:
                mistakes.add(_parameter_place(where, parameters, mistake), str(mistake))
            if wrong:
                continue
            own = made({"kind": kind.kind, **parameters})
            reason = own.misfit(words)
            if reason is not None:
                raise MockError(f"fault {told(own)!r} can never apply to what this rule is for: {reason}")
            found.append(own)
    return tuple(found)


def _parameter_place(where: Place, parameters: Mapping[str, Any], mistake: WrongParameter) -> Place:
    """Where a wrong parameter stands; one that is missing is missed at its fault."""
    return (*where, mistake.parameter) if mistake.parameter in parameters else where


def _noted(mistakes: Mistakes, place: Place, make: Callable[[Any], Answer], form: object) -> Answer | None:
    """What is made of a form; None if that cannot be done, which is a mistake."""
    try:
        return make(form)
    except MockError as error:
        mistakes.note(place, error)
        return None


def _parameters(form: FaultForm) -> dict[str, Any]:
    return dict(form.model_extra or {})


def _reply(form: str | ReplyForm) -> Reply:
    if isinstance(form, str):
        return check_reply(Reply(text=form))
    text = form.text
    if "json_" in form.model_fields_set:
        if text is not None:
            raise MockError("a reply has a text or json, not both")
        text = document(form.json_)
    calls = []
    for call in form.tool_calls:
        if isinstance(call.arguments, str):
            calls.append(ToolCall(call.name, call.arguments, call_id=call.id))
        else:
            calls.append(ToolCall(call.name, document(call.arguments), call_id=call.id))
    return check_reply(
        Reply(
            text=text,
            reasoning=form.reasoning,
            tool_calls=tuple(calls),
            finish_reason=form.finish_reason,
            usage=None if form.usage is None else Usage(**form.usage.model_dump()),
            logprobs=form.logprobs,
            response=form.response if "response" in form.model_fields_set else UNSAID,
        )
    )


def _refusal(form: int | RefuseForm) -> Refusal:
    return Refusal(status=form) if isinstance(form, int) else Refusal(**form.model_dump())
