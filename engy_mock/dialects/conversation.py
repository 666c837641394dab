"""The messages of a chat: how they are checked, and how they become a `Conversation`."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from engy_mock.dialects.marks import Limits, Read, Tagged, Told, by_shape
from engy_mock.dialects.pictures import read_picture
from engy_mock.vocabulary import json
from engy_mock.vocabulary.request import Conversation, Image, Message, ToolCall


class TextPart(TypedDict):
    """A piece of text in a message."""

    type: Literal["text"]
    text: str


class ImageUrl(TypedDict):
    """Where a picture stands: in the URI itself."""

    url: Annotated[Image, Read(read_picture)]


class ImagePart(TypedDict):
    """A picture in a message."""

    type: Literal["image_url"]
    image_url: ImageUrl


Part = Annotated[TextPart | ImagePart, Tagged("type")]
Content = Annotated[str | list[Part], Told(by_shape)]


class FunctionForm(TypedDict):
    """What a past tool call called."""

    name: str
    arguments: NotRequired[str | None]


class CallForm(TypedDict):
    """A past tool call."""

    id: NotRequired[str | None]
    function: FunctionForm


class SaidForm(TypedDict):
    """A message of the system or the user."""

    role: Literal["system", "user", "developer"]
    content: Content
    tool_calls: NotRequired[None]
    reasoning_content: NotRequired[None]


class AnswerForm(TypedDict):
    """A message of the assistant; its reasoning is not part of the prompt (E-44)."""

    role: Literal["assistant"]
    content: NotRequired[Content | None]
    tool_calls: NotRequired[list[CallForm] | None]
    reasoning_content: NotRequired[str | None]


class ResultForm(TypedDict):
    """What a tool answered."""

    role: Literal["tool"]
    content: Content
    tool_call_id: str
    tool_calls: NotRequired[None]
    reasoning_content: NotRequired[None]


MessageForm = Annotated[SaidForm | AnswerForm | ResultForm, Tagged("role")]
Messages = Annotated[list[MessageForm], Limits(min_length=1)]

TAGGED = ("messages", "content")
"""The lists whose objects are told apart by one of their fields."""


def conversation(messages: list[MessageForm]) -> Conversation:
    """The turns as the pretend model knows them."""
    return Conversation(messages=tuple([_message(message) for message in messages]))


def _message(message: SaidForm | AnswerForm | ResultForm) -> Message:
    """One turn; a developer speaks as the system (E-40)."""
    content = message.get("content")
    text, parts = (content, ()) if isinstance(content, str) else _read_parts(content or ())
    if message["role"] == "assistant":
        calls = message.get("tool_calls")
        tool_calls = tuple(_tool_call(call) for call in calls) if calls else ()
        return Message(role="assistant", text=text, parts=parts, tool_calls=tool_calls)
    if message["role"] == "tool":
        return Message(role="tool", text=text, parts=parts, tool_call_id=message["tool_call_id"])
    role = message["role"]
    return Message(role="system" if role == "developer" else role, text=text, parts=parts)


def _read_parts(content: Sequence[TextPart | ImagePart]) -> tuple[str, tuple[str | Image, ...]]:
    """The joined text, and the parts themselves if there is a picture among them."""
    parts = tuple(part["text"] if part["type"] == "text" else part["image_url"]["url"] for part in content)
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts), parts if len(texts) < len(parts) else ()


def _tool_call(call: CallForm) -> ToolCall:
    """A past call; arguments that do not parse count as none (E-42)."""
    arguments = call["function"].get("arguments") or "{}"
    try:
        json.read(arguments)
    except ValueError:
        arguments = "{}"
    return ToolCall(call["function"]["name"], arguments, call_id=call.get("id"))
