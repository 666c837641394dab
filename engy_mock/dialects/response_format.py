"""The form that a chat request asks of the text: how the field is checked, and what it comes to."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from engy_mock.dialects.fields import violation
from engy_mock.vocabulary.errors import Violation
from engy_mock.vocabulary.request import ResponseFormat


class SchemaForm(TypedDict, total=False):
    """The field `response_format.json_schema`; what `schema` may be is looked at where it counts."""

    name: str | None
    schema: Any


class ResponseFormatForm(TypedDict):
    """The field `response_format`."""

    type: str
    json_schema: NotRequired[SchemaForm | None]


_ANY_FORMAT = ResponseFormat()


def response_format(form: ResponseFormatForm | None) -> ResponseFormat:
    """The form asked of the text."""
    if form is None:
        return _ANY_FORMAT
    if form["type"] != "json_schema":
        return ResponseFormat(type=form["type"])
    named = form.get("json_schema") or {}
    return ResponseFormat(type="json_schema", schema=named.get("schema"), name=named.get("name"))


def impossible_format(form: ResponseFormatForm | None) -> Violation | None:
    """A schema that is asked for and missing, or is none."""
    if form is None or form["type"] != "json_schema":
        return None
    path = ("response_format", "json_schema", "schema")
    schema = (form.get("json_schema") or {}).get("schema")
    if schema is None:
        return violation(path, "missing")
    if not isinstance(schema, dict | bool):
        return violation(path, "schema_type", schema)
    return None
