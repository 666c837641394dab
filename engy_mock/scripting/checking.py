"""A file against its form: each key that is wrong is a mistake, and what is left over is looked at too."""

from typing import Any

from pydantic import ValidationError

from engy_mock.scripting.forms import ScenarioForm, keys_under
from engy_mock.scripting.library import LETTERS
from engy_mock.scripting.mistakes import MistakenFile, Mistakes
from engy_mock.scripting.notation import Place, Sheet
from engy_mock.vocabulary.errors import did_you_mean, quoted

DOES = ("reply", "refuse", "let_through", "faults", "delay", "pace")
"""The keys by which a rule does something; it needs one."""

MAX_MISTAKES = 100
"""So many keys that are wrong are told of one file."""

HARMLESS = "cache-cold"
"""A fault that may befall any request, in the place of one that cannot be read."""


def checked(sheet: Sheet, mistakes: Mistakes) -> ScenarioForm:
    """The form that a file fills, without what is wrong with it; raises MistakenFile if nothing is left."""
    if not isinstance(sheet.value, dict):
        kind = type(sheet.value).__name__
        mistakes.add((), f"a scenario is a mapping with description and rules, got {kind}")
        raise MistakenFile(mistakes.told)
    try:
        return ScenarioForm.model_validate(sheet.value)
    except ValidationError as error:
        places: list[Place] = []
        for found in error.errors(include_url=False)[:MAX_MISTAKES]:
            # Tags of forms stand in angle brackets; they are no part of the file.
            place: Place = tuple(step for step in found["loc"] if not str(step).startswith("<"))
            mistakes.add(place, _complaint(found, place))
            places.append(place)
        more = error.error_count() - MAX_MISTAKES
        if more > 0:
            # To look at what is right of such a file takes longer than anybody waits.
            raise MistakenFile((*mistakes.told, f"{sheet.source}: and {more} mistakes more")) from None
    sound: dict[Any, Any] = sheet.value
    for place in places:
        sound = _without(sound, place)
    try:
        return ScenarioForm.model_validate({"description": "", **sound})
    except ValidationError:
        raise MistakenFile(mistakes.told) from None


def _without(form: dict[Any, Any], place: Place) -> dict[Any, Any]:
    """A file or a phase of it without the key that stands at a place; what is right of a rule stays.

    Something harmless takes the place of a rule or a phase, so that those behind it keep their numbers.
    """
    first, *rest = place or ("",)
    items = form.get(first)
    if first not in ("rules", "phases") or not rest or not isinstance(items, list):
        return {key: value for key, value in form.items() if key != first}
    number = int(rest[0])
    item = items[number]
    other = _rule_without(item, tuple(rest[1:])) if first == "rules" else {"name": f"mistaken-{number}"}
    if first == "phases" and isinstance(item, dict) and rest[1:] and rest[1] in item and rest[1] != "name":
        other = _without(item, tuple(rest[1:]))
    return {**form, first: [*items[:number], other, *items[number + 1 :]]}


def _rule_without(rule: Any, place: Place) -> dict[Any, Any]:
    """A rule without the key or the fault that stands at a place in it."""
    if not isinstance(rule, dict) or not place:
        return {"reply": ""}
    first, *rest = place
    faults = rule.get("faults")
    if first == "faults" and rest and isinstance(faults, list):
        number = int(rest[0])
        return {**rule, "faults": [*faults[:number], HARMLESS, *faults[number + 1 :]]}
    left = {key: value for key, value in rule.items() if key != first}
    # What was wrong may have been what the rule does: that is not missing, too.
    return left if any(left.get(key) for key in DOES) else {**left, "reply": ""}


def _complaint(found: Any, place: Place) -> str:
    kind, last = found["type"], place[-1] if place else ""
    if kind == "extra_forbidden":
        known = keys_under(place[:-1])
        hint = did_you_mean(str(last), known) or (f" Known are {', '.join(known)}." if known else "")
        return f"unknown key {str(last)!r:.80}.{hint}"
    if kind == "missing":
        return f"{last} is missing"
    message = found["msg"][:1].lower() + found["msg"][1:]
    if kind == "string_pattern_mismatch":
        message = f"a name has {LETTERS}"
    hint = ""
    if kind == "literal_error" and isinstance(found["input"], str):
        expected = [word.strip(" '") for word in found["ctx"]["expected"].replace(" or ", ", ").split(",")]
        hint = did_you_mean(found["input"], expected)
    # A number in quotes is a text, and looks like one.
    said = f"'{quoted(found['input'])}'" if isinstance(found["input"], str) else quoted(found["input"])
    return f"{said} is not allowed: {message}{'.' + hint if hint else ''}"
