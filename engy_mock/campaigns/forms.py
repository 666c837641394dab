"""What may stand in a profile, key by key: words of scenario files, where a list is a choice."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from engy_mock.scripting.forms import Form, WhenForm

Endpoint = Literal[
    "chat", "completions", "messages", "responses", "inference", "models", "count_tokens", "records"
]
Number = int | float


class SpanForm(Form):
    """A range, both ends of it included."""

    from_: Number = Field(alias="from")
    to: Number


class CountForm(Form):
    """How many kinds are active in a run."""

    from_: Annotated[int, Field(alias="from", ge=0)]
    to: Annotated[int, Field(ge=0)]


class TroubleForm(Form):
    """One row: what happens, to which requests, how likely it is in a run, and how often it then happens."""

    fault: Any = None
    refuse: Any = None
    delay: Any = None
    when: WhenForm = Field(default_factory=WhenForm)
    weight: Annotated[float, Field(gt=0)] = 1.0
    rate: Number | list[Number] | SpanForm = 1.0
    times: int | list[int] | SpanForm | None = None


class ProfileForm(Form):
    """A profile: what a day may bring, and how much of it a run gets."""

    description: str
    kinds: Annotated[int, Field(ge=0)] | CountForm = 1
    endpoints: list[Endpoint] = Field(default_factory=list)
    stream: bool | None = None
    troubles: Annotated[list[TroubleForm], Field(min_length=1)]


FORMS: Mapping[str, type[Form]] = {
    "": ProfileForm,
    "troubles": TroubleForm,
    "when": WhenForm,
    "rate": SpanForm,
    "times": SpanForm,
    "kinds": CountForm,
}
"""Which form stands under which key, for naming the keys that it has."""


def keys_under(place: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that are known at a place of a profile."""
    words = [step for step in place if isinstance(step, str)]
    form = FORMS.get(words[-1] if words else "")
    return () if form is None else tuple(field.alias or name for name, field in form.model_fields.items())
