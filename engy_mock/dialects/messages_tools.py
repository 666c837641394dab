"""The tools of a messages request, and whether the model may, must or must not use them."""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from engy_mock.dialects.fields import violation
from engy_mock.dialects.marks import Name
from engy_mock.vocabulary.errors import Violation
from engy_mock.vocabulary.request import Tool, ToolChoice


class ToolForm(TypedDict):
    """A tool that the client runs; those that a server would run are of other types (E-169)."""

    type: NotRequired[Literal["custom"] | None]
    name: Name
    description: NotRequired[str | None]
    input_schema: dict[str, Any]


class ToolChoiceForm(TypedDict):
    """The field `tool_choice`."""

    type: Literal["auto", "any", "tool", "none"]
    name: NotRequired[str | None]
    disable_parallel_tool_use: NotRequired[bool | None]


_CHOICES = {
    "auto": ToolChoice(mode="auto"),
    "any": ToolChoice(mode="required"),
    "none": ToolChoice(mode="none"),
}


def tools(offered: list[ToolForm] | None) -> tuple[Tool, ...]:
    """The tools on offer."""
    return tuple(
        [
            Tool(name=tool["name"], description=tool.get("description"), parameters=tool["input_schema"])
            for tool in offered or ()
        ]
    )


def tool_choice(choice: ToolChoiceForm | None) -> tuple[ToolChoice, bool]:
    """Whether the model may use them, and whether several at once (E-167)."""
    if choice is None:
        return _CHOICES["auto"], True
    is_parallel = choice.get("disable_parallel_tool_use") is not True
    if choice["type"] == "tool":
        return ToolChoice(mode="named", name=choice.get("name")), is_parallel
    return _CHOICES[choice["type"]], is_parallel


def impossible_choice(choice: ToolChoice, offered: Sequence[Tool]) -> Violation | None:
    """What a tool choice demands although it is not on offer (E-57)."""
    if choice.mode == "required" and not offered:
        return violation(("tool_choice", "type"), "tools_missing", mode="any")
    if choice.mode == "named" and choice.name is None:
        return violation(("tool_choice", "name"), "missing")
    if choice.mode == "named" and all(tool.name != choice.name for tool in offered):
        return violation(("tool_choice", "name"), "tool_unknown", choice.name)
    return None
