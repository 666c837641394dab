"""A conversation as the tokens of a prompt, by the bundled template or a user's own (E-93 to E-99)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engy_mock.model.cards import Level
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.vocabulary import json
from engy_mock.vocabulary.errors import InvalidRequest, MockError, quoted
from engy_mock.vocabulary.files import read_text
from engy_mock.vocabulary.request import Conversation, Image, Message, Role, Tool
from engy_mock.vocabulary.seeds import digest

IMAGE_TOKENS = 256
"""What a picture counts in a prompt (E-97)."""

_MARKS: dict[Role, str] = {
    "system": "<|system|>",
    "user": "<|user|>",
    "assistant": "<|assistant|>",
    "tool": "<|observation|>",
}


@dataclass(frozen=True, slots=True)
class Rendered:
    """The tokens of a prompt, and marks that the model needs behind them but that count for nobody.

    `text` is a raw prompt as it was sent, if it was sent as text.
    """

    tokens: list[int]
    unseen: tuple[int, ...] = ()
    text: str | None = None

    @property
    def context(self) -> list[int]:
        """All tokens that the model has before it."""
        return [*self.tokens, *self.unseen] if self.unseen else self.tokens


Template = Callable[[Conversation, tuple[Tool, ...], Level, Tokenizer], Rendered]
"""What turns a conversation into a prompt."""


def bundled(conversation: Conversation, tools: tuple[Tool, ...], level: Level, tokenizer: Tokenizer) -> Rendered:
    """The template that all models share: effort, tools, messages, then the place where the answer begins."""
    marks = tokenizer.marks
    tokens = [marks["[gMASK]"], marks["<sop>"]]
    if conversation.is_prefilled:
        level = "off"
    if level in ("low", "high", "max"):
        tokens += (marks["<|system|>"], marks["Reasoning Effort:"])
        tokens += tokenizer.encode(f" {level.capitalize()}")
    if tools:
        tokens.append(marks["<|system|>"])
        tokens += tokenizer.encode("\n".join(json.text(as_document(tool)) for tool in tools))
    for message in conversation.messages:
        tokens.append(marks[_MARKS[message.role]])
        tokens += _content(message, tokenizer)
        for call in message.tool_calls:
            tokens.append(marks["<tool_call>"])
            tokens += call_tokens(call.name, call.arguments, tokenizer)
            tokens.append(marks["</tool_call>"])
    if not conversation.is_prefilled:
        tokens += (marks["<|assistant|>"], marks["</think>" if level == "off" else "<think>"])
    if tokenizer.text_size < tokenizer.size:
        counted = [token for token in tokens if token < tokenizer.text_size]
        return Rendered(counted, _unseen(conversation, level, tokenizer))
    return Rendered(tokens)


def call_tokens(name: str, arguments: str, tokenizer: Tokenizer) -> list[int]:
    """The tokens of a tool call between its marks: the name, then the arguments."""
    return tokenizer.encode(name) + tokenizer.encode(arguments)


def as_document(tool: Tool) -> dict[str, Any]:
    """A tool as the chat format writes it."""
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


def _content(message: Message, tokenizer: Tokenizer) -> list[int]:
    if not message.parts:
        return tokenizer.encode(message.text)
    tokens: list[int] = []
    for part in message.parts:
        tokens += _image(part, tokenizer) if isinstance(part, Image) else tokenizer.encode(part)
    return tokens


def _image(image: Image, tokenizer: Tokenizer) -> list[int]:
    """Tokens that stand for a picture: always as many, and others for another picture."""
    look = digest("image", image.data)
    low = len(tokenizer.marks)
    span = max(tokenizer.text_size - low, 1)
    return [low + look[place % len(look)] % span for place in range(IMAGE_TOKENS)]


def _unseen(conversation: Conversation, level: Level, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The marks that tell the model where it is, where the vocabulary has none of its own."""
    marks = tokenizer.marks
    if conversation.is_prefilled:
        # Nothing may stand between a text and its continuation (E-96).
        return ()
    return (marks["<|assistant|>"], marks["</think>" if level == "off" else "<think>"])


def from_file(path: Path) -> Template:
    """A user's own Jinja chat template, run in a sandbox; raises MockError if it cannot be read."""
    try:
        source = read_text(path)
    except MockError as error:
        raise MockError(f"chat template {error}") from None
    return from_text(source, name=str(path))


def from_text(source: str, *, name: str = "the chat template") -> Template:
    """The same from its text. Needs Jinja, which the extra `templates` brings."""
    try:
        from jinja2 import TemplateError

        from engy_mock.model.sandbox import Sandbox, rendered
    except ImportError as error:
        raise MockError(f"{name} needs Jinja: pip install 'engy-mock[templates]'") from error
    try:
        template = Sandbox().template(source)
    except TemplateError as error:
        raise MockError(f"{name} is no chat template: {error}") from error

    def render(
        conversation: Conversation, tools: tuple[Tool, ...], level: Level, tokenizer: Tokenizer
    ) -> Rendered:
        thinks = level != "off" and not conversation.is_prefilled
        context: Mapping[str, Any] = {
            "messages": [_as_message(message) for message in conversation.messages],
            "tools": [as_document(tool) for tool in tools] or None,
            "add_generation_prompt": not conversation.is_prefilled,
            "continue_final_message": conversation.is_prefilled,
            "enable_thinking": thinks,
            "thinking": thinks,
            "reasoning_effort": None if level in ("on", "off") else level,
            "bos_token": "",
            "eos_token": "<|endoftext|>",
        }
        try:
            text = rendered(template, context)
        except Exception as error:
            message = f"the chat template refused the messages: {quoted(str(error))}"
            raise InvalidRequest(message, param="messages") from error
        if conversation.is_prefilled:
            text = _upto_final(text, conversation.messages[-1].text)
        tokens = tokenizer.encode(text, marks=True)
        images = [image for message in conversation.messages for image in message.images]
        for image in images:
            tokens += _image(image, tokenizer)
        return Rendered(tokens, _unseen(conversation, level, tokenizer))

    return render


def _upto_final(text: str, final: str) -> str:
    """A rendering without what stands behind the last turn, so that the model goes on with it (E-96)."""
    for ending in (final, final.strip()):
        if ending and ending in text:
            return text[: text.rindex(ending) + len(ending)]
    return text


def _as_message(message: Message) -> dict[str, Any]:
    """A turn as templates expect it: the chat format, arguments parsed."""
    document: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        document["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        document["tool_call_id"] = message.tool_call_id
    return document


def _arguments(text: str) -> Any:
    try:
        return json.read(text)
    except ValueError:
        return {}
