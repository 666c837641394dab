"""What is wrong with a body or a query: the field, what should stand there, and what does."""

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Any

from pydantic import BaseModel, ValidationError

from engy_mock.serving.control.house import Refused
from engy_mock.vocabulary.errors import quoted

MOST_SHOWN = 80
"""So many characters of a wrong value are told."""

PLAINLY = {
    **dict.fromkeys(("frozen_set_type", "list_type", "set_type", "tuple_type"), "Input should be an array"),
    **dict.fromkeys(
        ("dataclass_type", "dict_type", "model_attributes_type", "model_type"), "Input should be an object"
    ),
    "decimal_type": "Input should be a number, or a text that is one",
}
"""What is said of a value of the wrong kind, in the words of JSON."""

UNSHOWN = frozenset({"extra_forbidden", "missing", "unexpected_keyword_argument", "value_error"})
"""The mistakes that are no matter of one value."""


def mistaken(error: ValidationError, said: object, form: type[BaseModel]) -> Refused:
    """The refusal of what was said; where several kinds of values are possible, of what came nearest to one."""
    errors = error.errors(include_url=False, include_context=False)
    found = [(_place(one["loc"], said, is_there="missing" not in one["type"]), one) for one in errors]
    place, nearest = max(found, key=lambda one: len(one[0]))
    where = quoted(".".join(place))
    param = ".".join([step for step in place if step.isidentifier() or step.isdigit()])
    kind = nearest["type"]
    message = PLAINLY.get(kind, nearest["msg"].removeprefix("Value error, "))
    message = message[:1].lower() + message[1:]
    if kind not in UNSHOWN:
        message += f", not {quoted(dumps(nearest['input'], ensure_ascii=False), MOST_SHOWN)}"
    known = f" Known are {', '.join(form.model_fields)}." if kind == "extra_forbidden" else ""
    return Refused(400, f"{where}: {message}.{known}" if where else f"{message}.{known}", param=param or None)


def _place(steps: Sequence[int | str], said: Any, *, is_there: bool) -> list[str]:
    """The steps to a value as who wrote it knows them: pydantic names the kinds of values among them as well."""
    place: list[str] = []
    for number, step in enumerate(steps):
        is_item = isinstance(said, list) and isinstance(step, int) and step < len(said)
        if is_item or (isinstance(said, Mapping) and step in said):
            said = said[step]
        elif is_there or number < len(steps) - 1:
            continue
        place.append(str(step))
    return place
