"""The input of a response: how its items are checked, and how they become the messages of a chat.

The service translates into the chat format ("API overview", Endpoint differences). So does this module, and
the same conversation is the same to the model.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, final, get_args

from pydantic_core import core_schema
from typing_extensions import TypedDict

from engy_mock.dialects.conversation import CallForm, FunctionForm, MessageForm
from engy_mock.dialects.conversation import Content as ChatContent
from engy_mock.dialects.conversation import Part as ChatPart
from engy_mock.dialects.marks import Limits, Read, Tagged, Told, by_shape
from engy_mock.dialects.pictures import read_picture
from engy_mock.vocabulary.request import Image

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class Sorted:
    """A union of forms for the objects of a list that is `tagged`; `by` gives the number of the form."""

    def __init__(self, by: Callable[[object], int]) -> None:
        self._by = by

    def __get_pydantic_core_schema__(
        self, source: object, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        by = self._by
        forms = {str(number): handler.generate_schema(form) for number, form in enumerate(get_args(source))}
        return core_schema.tagged_union_schema(forms, discriminator=lambda value: str(by(value)))


@final
class TextPart(TypedDict):
    """A piece of text in a message."""

    type: Literal["input_text", "output_text"]
    text: str


@final
class ImagePart(TypedDict):
    """A picture in a message, in the URI itself (E-143)."""

    type: Literal["input_image"]
    image_url: Annotated[Image, Read(read_picture)]


Part = Annotated[TextPart | ImagePart, Tagged("type")]
Content = Annotated[str | list[Part], Told(by_shape)]


@final
class MessageItem(TypedDict):
    """A message of anybody; `type` may be left out."""

    type: NotRequired[Literal["message"] | None]
    role: Literal["system", "user", "developer", "assistant"]
    content: Content


@final
class CallItem(TypedDict):
    """A past tool call, tied to its result by `call_id` alone (E-182a)."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: NotRequired[str | None]


@final
class ResultItem(TypedDict):
    """What a tool answered."""

    type: Literal["function_call_output"]
    call_id: str
    output: Content


@final
class ReasoningItem(TypedDict):
    """Past reasoning, which is dropped whatever it holds."""

    type: Literal["reasoning"]


@final
class UnknownItem(TypedDict):
    """An item that is none of these."""

    type: Literal["message", "function_call", "function_call_output", "reasoning"]


_ITEMS = {None: 0, "message": 0, "function_call": 1, "function_call_output": 2, "reasoning": 3}


def by_item_type(item: object) -> int:
    """The form of an item; without a type it is a message."""
    kind = item.get("type") if isinstance(item, dict) else None
    return _ITEMS.get(kind, 4) if kind is None or isinstance(kind, str) else 4


Item = Annotated[MessageItem | CallItem | ResultItem | ReasoningItem | UnknownItem, Sorted(by_item_type)]
Items = Annotated[list[Item], Limits(min_length=1)]
Input = Annotated[str | Items, Told(by_shape)]

TAGGED = ("input", "content", "output")
"""The lists whose objects are told apart by one of their fields."""


def chat_messages(instructions: str | None, given: str | list[Item]) -> list[MessageForm]:
    """The messages of the chat that these are; none if there is only reasoning.

    In a chat the calls belong to the message of the assistant that they follow, or to one without text.
    """
    messages: list[MessageForm] = []
    if instructions:
        messages.append({"role": "system", "content": instructions})
    if isinstance(given, str):
        messages.append({"role": "user", "content": given})
        return messages
    calls: list[CallForm] | None = None
    for item in given:
        if "name" in item:
            if calls is None:
                calls = []
                messages.append({"role": "assistant", "tool_calls": calls})
            function: FunctionForm = {"name": item["name"], "arguments": item.get("arguments")}
            calls.append({"id": item["call_id"], "function": function})
        elif "output" in item:
            calls = None
            content = _content(item["output"])
            messages.append({"role": "tool", "content": content, "tool_call_id": item["call_id"]})
        elif "role" in item:
            role, content = item["role"], _content(item["content"])
            if role == "assistant":
                calls = []
                messages.append({"role": role, "content": content, "tool_calls": calls})
            else:
                calls = None
                messages.append({"role": role, "content": content})
    return messages


def _content(content: Content) -> ChatContent:
    """The content of a message as a chat has it."""
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: Part) -> ChatPart:
    if "image_url" in part:
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    return {"type": "text", "text": part["text"]}
