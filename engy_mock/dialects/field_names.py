"""What a field of chat is called in another format: the model knows the names of chat alone."""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from engy_mock.vocabulary.errors import ApiError, Violation
from engy_mock.vocabulary.request import Endpoint

NAMES: Mapping[Endpoint, Mapping[str, str]] = {
    "messages": {
        "response_format": "output_config.format",
        "response_format.json_schema.schema": "output_config.format.schema",
        "tools[].function.parameters": "tools[].input_schema",
    },
    "responses": {
        "messages": "input",
        "max_tokens": "max_output_tokens",
        "response_format": "text.format",
        "response_format.json_schema.schema": "text.format.schema",
        "tools[].function.parameters": "tools[].parameters",
    },
}
"""Fields that the model blames, by their names in chat; `[]` stands for any place in a list."""

_PLACE = re.compile(r"\[\d+\]")
_STEP = re.compile(r"\[(\d+)\]|([^.\[]+)")


def in_names_of(error: ApiError, endpoint: Endpoint) -> ApiError:
    """The same error, told of the fields that the client sent."""
    names = NAMES.get(endpoint, {})
    param = error.param or ""
    named = _named(param, names)
    if named == param:
        return error
    told = copy(error)
    told.param = named
    told.message = _reworded(error.message, param, named)
    told.args = (told.message,)
    told.violations = tuple([_moved(found, names) for found in error.violations])
    return told


def _named(param: str, names: Mapping[str, str]) -> str:
    """The field of chat by its own name here; any other as it is."""
    places = iter(_PLACE.findall(param))
    name = names.get(_PLACE.sub("[]", param))
    return param if name is None else re.sub(r"\[\]", lambda _: next(places), name)


def _moved(found: Violation, names: Mapping[str, str]) -> Violation:
    """A violation at the place where the field stands here."""
    named = _named(found.param, names)
    if named == found.param:
        return found
    path = tuple([int(place) if place else step for place, step in _STEP.findall(named)])
    return replace(found, path=path, message=_reworded(found.message, found.param, named))


def _reworded(message: str, param: str, named: str) -> str:
    """A message that begins with the name of the field."""
    is_named = message.startswith(f"{param}: ")
    return named + message.removeprefix(param) if is_named else message
