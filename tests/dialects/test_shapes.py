"""The schemas that forms are checked with are those that pydantic itself would make."""

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from engy_mock.dialects import chat, completions, inference, listing, messages, model_records, responses
from engy_mock.dialects.fields import Form
from engy_mock.dialects.shapes import schema_of

MODULES = (chat, completions, inference, listing, messages, model_records, responses)

FORMS = {
    f"{module.__name__.rpartition('.')[2]} {number}": form
    for module in MODULES
    for number, form in enumerate(
        form
        for value in vars(module).values()
        for entry in (value.values() if isinstance(value, dict) else [value])
        for form in (entry if isinstance(entry, tuple) else (entry,))
        if isinstance(form, Form)
    )
}

TOLD_ELSEWHERE = {"cls", "computed_fields", "config", "metadata", "ref", "serialization"}
"""What pydantic notes for itself."""


def _bare(schema: Any, known: dict[str, Any]) -> Any:
    """A schema without notes and references, its functions by name."""
    if isinstance(schema, dict):
        if schema.get("type") == "definitions":
            for definition in schema["definitions"]:
                known[definition["ref"]] = definition
            return _bare(schema["schema"], known)
        if schema.get("type") == "definition-ref":
            return _bare(known[schema["schema_ref"]], known)
        return {key: _bare(value, known) for key, value in schema.items() if key not in TOLD_ELSEWHERE}
    if isinstance(schema, list | tuple):
        return [_bare(item, known) for item in schema]
    if callable(schema):
        return re.sub(r"\.<locals>.*", "", getattr(schema, "__qualname__", repr(schema)))
    return schema


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_schema(form):
    """Field by field the same, whatever the marks say."""
    assert _bare(schema_of(form.shape), {}) == _bare(TypeAdapter(form.shape).core_schema, {})


def test_every_form_is_compared():
    """The forms of all modules have been found."""
    assert len(FORMS) >= 12


@pytest.mark.parametrize("hint", [set, bytes, tuple[int, ...], complex])
def test_unknown_types(hint):
    """A type that no form has had yet is refused when the form is first used."""
    with pytest.raises(TypeError, match="no form can have"):
        schema_of(hint)
