"""Bounds of a value, said in `Annotated` in such a way that nothing of pydantic is loaded by it."""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Limits:
    """Bounds of a number, a text or a list, by pydantic's names: `Limits(ge=0, le=2)`."""

    def __init__(self, **limits: float | str | bool) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return cast("CoreSchema", {**handler(source), **self._limits})
