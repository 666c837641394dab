"""The tools that a request offers, and whether the model may, must or must not call them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from engy_mock.dialects.fields import violation
from engy_mock.dialects.marks import Name, Told, by_shape
from engy_mock.vocabulary.errors import Violation
from engy_mock.vocabulary.request import Tool, ToolChoice


class OfferedForm(TypedDict):
    """The description of a function."""

    name: Name
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]


class ToolForm(TypedDict):
    """A tool that is offered."""

    type: Literal["function"]
    function: OfferedForm


class NamedForm(TypedDict):
    """The name of a function."""

    name: str


class NamedToolForm(TypedDict):
    """A tool choice that names a function."""

    type: Literal["function"]
    function: NamedForm


ToolChoiceForm = Annotated[Literal["auto", "required", "none"] | NamedToolForm, Told(by_shape)]

_CHOICES = {mode: ToolChoice(mode=mode) for mode in ("auto", "required", "none")}
_AUTO = _CHOICES["auto"]


def tools(offered: list[ToolForm] | None) -> tuple[Tool, ...]:
    """The tools on offer."""
    if not offered:
        return ()
    return tuple(
        [
            Tool(
                name=tool["function"]["name"],
                description=tool["function"].get("description"),
                parameters=tool["function"].get("parameters"),
            )
            for tool in offered
        ]
    )


def tool_choice(choice: Literal["auto", "required", "none"] | NamedToolForm | None) -> ToolChoice:
    """Whether the model may call them."""
    if choice is None:
        return _AUTO
    if isinstance(choice, str):
        return _CHOICES[choice]
    return ToolChoice(mode="named", name=choice["function"]["name"])


def impossible_choice(choice: ToolChoice, offered: Sequence[Tool]) -> Violation | None:
    """What a tool choice demands although it is not on offer (E-57)."""
    if choice.mode == "required" and not offered:
        return violation(("tool_choice",), "tools_missing", mode="required")
    if choice.mode == "named" and all(tool.name != choice.name for tool in offered):
        return violation(("tool_choice", "function", "name"), "tool_unknown", choice.name)
    return None
