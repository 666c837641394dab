"""What a form may say about a field beyond its type, in `Annotated`.

The marks stand for pydantic's own, so that no request loads pydantic (see `shapes`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic_core import PydanticKnownError, core_schema

from engy_mock.vocabulary.limits import Limits

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

__all__ = [
    "Count",
    "Limits",
    "Name",
    "Read",
    "StringOrStrings",
    "SurfaceLimit",
    "Tagged",
    "Told",
    "Whole",
    "WithoutEffect",
    "by_shape",
]


class SurfaceLimit:
    """A number that is at most what the surface says under this name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        def check(value: int, info: "core_schema.ValidationInfo[Any]") -> int:
            limit = getattr(info.context, self._name)
            if value > limit:
                raise PydanticKnownError("less_than_equal", {"le": limit})
            return value

        return core_schema.with_info_after_validator_function(check, handler(source))


class Whole:
    """A whole number that may be written as a fraction, like 2.0."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        def read(value: object) -> object:
            return int(value) if isinstance(value, float) and value.is_integer() else value

        return core_schema.no_info_before_validator_function(read, handler(source))


class Told:
    """A union whose member is told by a look at the value: `by` gives the number of the member."""

    def __init__(self, by: Callable[[object], int]) -> None:
        self._by = by

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        by = self._by
        tags = [f"~{number}" for number in range(len(get_args(source)))]
        members = [handler.generate_schema(member) for member in get_args(source)]
        return core_schema.tagged_union_schema(
            dict(zip(tags, members, strict=True)), discriminator=lambda value: tags[by(value)]
        )


class Tagged:
    """A union of forms whose member is told by a field that holds a literal."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        members = {
            tag: handler.generate_schema(member)
            for member in get_args(source)
            for tag in get_args(member.__annotations__[self._field])
        }
        return core_schema.tagged_union_schema(members, discriminator=self._field)


class Read:
    """A field that a function reads whole; it raises what pydantic's validators raise."""

    def __init__(self, function: Callable[[object], object]) -> None:
        self._function = function

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._function)


class WithoutEffect:
    """A field that is checked, and then counts as absent."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(lambda _: None, handler(source))


def by_shape(value: object) -> int:
    """0 for a plain value, 1 for an array or an object."""
    return 1 if isinstance(value, list | dict) else 0


Name = Annotated[str, Limits(min_length=1)]
Count = Annotated[int, Limits(ge=1)]
StringOrStrings = Annotated[str | list[str], Told(by_shape)]
