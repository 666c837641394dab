"""How long a large prompt is, found out before anything is made of it: most of what is large fits no window."""

from dataclasses import replace

from engy_mock.model.cards import Level
from engy_mock.model.templates import Template, bundled
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.vocabulary.request import Conversation, Image, Message, RawPrompt, Tool

LARGE = 512 * 1024
"""From so many characters on it is cheaper to count the tokens first."""


def length(
    prompt: Conversation, tools: tuple[Tool, ...], level: Level, tokenizer: Tokenizer, template: Template
) -> int | None:
    """How many tokens the template makes of a large conversation; None if it is not, or a user's own template."""
    texts = [text for message in prompt.messages for text in _texts(message)]
    if template is not bundled or sum(map(len, texts)) < LARGE:
        return None
    # The template encodes each text by itself, so that each can be counted by itself.
    emptied = replace(prompt, messages=tuple([_emptied(message) for message in prompt.messages]))
    frame = len(bundled(emptied, tools, level, tokenizer).tokens)
    return frame + sum([tokenizer.count(text) for text in texts])


def raw_length(prompt: RawPrompt, tokenizer: Tokenizer) -> int | None:
    """How many tokens the longest of raw prompts has; None unless there is a large text among them."""
    texts = [text for text in prompt.prompts if isinstance(text, str) and len(text) >= LARGE]
    return max([tokenizer.count(text, marks=True) for text in texts], default=None)


def _texts(message: Message) -> list[str]:
    return [part for part in message.parts if isinstance(part, str)] if message.parts else [message.text]


def _emptied(message: Message) -> Message:
    return replace(message, text="", parts=tuple([part for part in message.parts if isinstance(part, Image)]))
