"""What the forms of the control API have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MAX_WHOLE = 2**53 - 1
"""The largest whole number that every reader of JSON keeps as it is."""

Count = Annotated[int, Field(ge=0, le=MAX_WHOLE)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Form(BaseModel):
    """A JSON object with these fields and no others."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
