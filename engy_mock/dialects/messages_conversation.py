"""The messages of the Anthropic format: how they are checked, and how they become a `Conversation`."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from engy_mock.dialects.fields import refuse, violation
from engy_mock.dialects.marks import Limits, Name, Read, Tagged, Told, by_shape
from engy_mock.dialects.pictures import picture
from engy_mock.vocabulary import json
from engy_mock.vocabulary.request import Conversation, Image, Message, Role, ToolCall

Path = tuple[str | int, ...]


def refuse_value(value: object) -> None:
    """Take nothing but what says nothing: null, an empty array or object (E-169)."""
    if value:
        raise PydanticCustomError("unsupported", "")


Unsupported = Annotated[None, Read(refuse_value)]


class TextBlock(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str
    citations: NotRequired[Unsupported]


class ImageSource(TypedDict):
    """Where a picture stands: in the request itself."""

    type: Literal["base64"]
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class ImageBlock(TypedDict):
    """A picture."""

    type: Literal["image"]
    source: ImageSource


SaidContent = Annotated[
    str | list[Annotated[TextBlock | ImageBlock, Tagged("type")]],
    Told(by_shape),
]


class ResultBlock(TypedDict):
    """What a tool answered; whether it failed is for its text to tell."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[SaidContent | None]
    is_error: NotRequired[bool | None]


class UseBlock(TypedDict):
    """A past tool call."""

    type: Literal["tool_use"]
    id: str
    name: Name
    input: dict[str, Any]


class ThoughtBlock(TypedDict):
    """Past reasoning, in the open or not; it is not part of the prompt, and its signature is not checked."""

    type: Literal["thinking", "redacted_thinking"]


class SystemForm(TypedDict):
    """A message of the system among the others."""

    role: Literal["system"]
    content: SaidContent


class UserForm(TypedDict):
    """A message of the user, and in it what tools answered."""

    role: Literal["user"]
    content: Annotated[
        str | list[Annotated[TextBlock | ImageBlock | ResultBlock, Tagged("type")]],
        Told(by_shape),
    ]


class AssistantForm(TypedDict):
    """A message of the assistant."""

    role: Literal["assistant"]
    content: Annotated[
        str | list[Annotated[TextBlock | UseBlock | ThoughtBlock, Tagged("type")]],
        Told(by_shape),
    ]


System = Annotated[str | list[TextBlock], Told(by_shape)]
MessageForms = Annotated[
    list[Annotated[UserForm | AssistantForm | SystemForm, Tagged("role")]],
    Limits(min_length=1),
]

TAGGED = ("messages", "content")
"""The lists whose objects are told apart by one of their fields."""


def conversation(
    system: str | list[TextBlock] | None, messages: Iterable[UserForm | AssistantForm | SystemForm]
) -> Conversation:
    """The turns as the pretend model knows them; raises InvalidRequest for a picture that is none."""
    instructions = system if isinstance(system, str) else "".join(block["text"] for block in system or ())
    turns = [Message(role="system", text=instructions)] if instructions else []
    for place, message in enumerate(messages):
        path = ("messages", place, "content")
        if message["role"] == "assistant":
            turns.append(_answer(message["content"]))
        elif message["role"] == "user":
            turns += _said_and_brought(message["content"], path)
        else:
            turns.append(_said("system", message["content"], path))
    return Conversation(messages=tuple(turns))


def _answer(content: str | Sequence[TextBlock | UseBlock | ThoughtBlock]) -> Message:
    """A turn of the assistant, without its reasoning (E-166)."""
    if isinstance(content, str):
        return Message(role="assistant", text=content)
    return Message(
        role="assistant",
        text="".join([block["text"] for block in content if block["type"] == "text"]),
        tool_calls=tuple(
            [
                ToolCall(block["name"], json.text(block["input"]), call_id=block["id"])
                for block in content
                if block["type"] == "tool_use"
            ]
        ),
    )


def _said_and_brought(content: str | Sequence[TextBlock | ImageBlock | ResultBlock], path: Path) -> list[Message]:
    """A user's message as turns: first what tools answered, right behind their calls, then the rest."""
    if isinstance(content, str):
        return [Message(role="user", text=content)]
    turns = []
    said: list[str | Image] = []
    for place, block in enumerate(content):
        here = (*path, place)
        if block["type"] == "tool_result":
            result = _said("tool", block.get("content") or "", (*here, "content"), block["tool_use_id"])
            turns.append(result)
        else:
            said.append(_piece(block, here))
    if said or not turns:
        turns.append(_turn("user", said))
    return turns


def _said(
    role: Role, content: str | Sequence[TextBlock | ImageBlock], path: Path, tool_call_id: str | None = None
) -> Message:
    """One turn of text and pictures."""
    if isinstance(content, str):
        return _turn(role, (content,), tool_call_id)
    return _turn(role, [_piece(block, (*path, place)) for place, block in enumerate(content)], tool_call_id)


def _turn(role: Role, pieces: Sequence[str | Image], tool_call_id: str | None = None) -> Message:
    """The joined text, and the pieces themselves if there is a picture among them."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    parts = tuple(pieces) if len(texts) < len(pieces) else ()
    return Message(role=role, text="".join(texts), parts=parts, tool_call_id=tool_call_id)


def _piece(block: TextBlock | ImageBlock, path: Path) -> str | Image:
    """The text or the picture in a block; raises InvalidRequest."""
    if block["type"] == "text":
        return block["text"]
    source = block["source"]
    try:
        return picture(source["media_type"].removeprefix("image/"), source["data"])
    except PydanticCustomError as error:
        refuse(violation((*path, "source", "data"), error.type, source["data"], **(error.context or {})))
