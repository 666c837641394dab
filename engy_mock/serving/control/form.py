"""What the forms of the control API have in common."""

import re
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

MAX_WHOLE = 2**53 - 1
"""The largest whole number that every reader of JSON keeps as it is."""

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def _whole(value: object) -> object:
    """A number without a fraction, however it is written: JSON knows one kind of numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Stands behind the bounds of a whole number, so that its schema tells them."""

Count = Annotated[int, Field(ge=0, le=MAX_WHOLE), WHOLE]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Form(BaseModel):
    """A JSON object with these fields and no others."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Query(Form):
    """The fields of a query: all of them come as texts, those of numbers in the digits of JSON."""

    @field_validator("*", mode="before")
    @classmethod
    def _in_digits(cls, value: object, info: ValidationInfo) -> object:
        hint = cls.model_fields[str(info.field_name)].annotation
        if isinstance(value, str) and _is_of_numbers(hint) and not _NUMBER.fullmatch(value):
            raise ValueError(f"a number should stand here, not {value!r:.80}")
        return value


def _is_of_numbers(hint: Any) -> bool:
    """Whether what fits is a number, or nothing."""
    return hint in (int, float) or any(_is_of_numbers(part) for part in get_args(hint))
