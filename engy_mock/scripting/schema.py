"""The JSON Schema of scenario files: what editors offer, and what they say about it."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from engy_mock.scripting.checking import DOES
from engy_mock.scripting.forms import ScenarioForm
from engy_mock.scripting.named import SAME
from engy_mock.scripting.written import ANSWERS

NAME = "engy_mock scenario"
HEADER_NAME = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
FIELD_PATH = r"^[^.]+(\.[^.]+)*$"
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(settings: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The JSON Schema of a scenario file, each kind of fault with its parameters.

    `settings` are the schemas of those that there are; without them any will do.
    """
    from engy_mock.scripting.fault import catalogue
    from engy_mock.scripting.matchers import MATCHERS, meaning

    document = ScenarioForm.model_json_schema()
    forms = document["$defs"]
    forms["FaultForm"] = {"oneOf": [_kind(name) for name in sorted(catalogue())]}
    forms["RuleForm"]["properties"]["faults"]["items"] = {
        "oneOf": [{"enum": sorted(catalogue())}, {"$ref": "#/$defs/FaultForm"}],
    }
    for word, own in forms["WhenForm"]["properties"].items():
        own["description"] = meaning(MATCHERS[word])
    _tighten(forms)
    if settings is not None:
        told = {name: dict(one) for name, one in settings.items()}
        for one in told.values():
            forms |= one.pop("$defs", {})
        document["properties"]["settings"] |= {"properties": told, "additionalProperties": False}
    return {**document, "$schema": DRAFT, "title": NAME}


def _tighten(forms: dict[str, Any]) -> None:
    """Say what keys have to do with each other, and what names they have: the reader looks at it with words."""
    rule, reply, when = forms["RuleForm"], forms["ReplyForm"], forms["WhenForm"]
    does = [_given(key) for key in DOES if key != "faults"]
    some = {"required": ["faults"], "properties": {"faults": {"minItems": 1}}}
    rule["allOf"] = [
        {"anyOf": [*does, some]},
        *({"not": {"allOf": [_given(one), _given(other)]}} for one, other in combinations(ANSWERS, 2)),
    ]
    rule["properties"]["reply"]["anyOf"][0]["oneOf"][1]["minItems"] = 1
    reply["allOf"] = [
        {"not": {"allOf": [_given("text"), {"required": ["json"]}]}},
        {"not": {"allOf": [_given(SAME), {"minProperties": 2}]}},
    ]
    for word, pattern in (("header", HEADER_NAME), ("field", FIELD_PATH)):
        when["properties"][word]["anyOf"][0]["propertyNames"] = {"pattern": pattern}
    forms["RefuseForm"]["properties"]["headers"]["propertyNames"] = {"pattern": HEADER_NAME}


def _given(key: str) -> dict[str, Any]:
    """That a key is there, and not null."""
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}


def _kind(name: str) -> dict[str, Any]:
    """A fault of this kind with its parameters."""
    from pydantic import TypeAdapter

    from engy_mock.scripting.fault import catalogue, parameter
    from engy_mock.scripting.parameters import meaning

    kind = catalogue()[name]
    own = TypeAdapter(kind).json_schema()
    own.pop("$defs", None)
    properties = {parameter(field): value for field, value in own.get("properties", {}).items()}
    for word, value in properties.items():
        value.pop("title", None)
        value["description"] = meaning(name, kind.summary, word)
    return {
        "type": "object",
        "description": kind.summary,
        "properties": {"kind": {"const": name}, **properties},
        "required": ["kind", *[parameter(field) for field in own.get("required", ())]],
        "additionalProperties": False,
    }
