"""What single models make of a request before anybody else looks at it (E-89, E-90)."""

from dataclasses import replace

from engy_mock.model.cards import ModelCard
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message

FIXED_FIELDS = frozenset({"temperature", "top_p", "n", "presence_penalty", "frequency_penalty"})
"""The fields that a model with fixed sampling takes any number in, since it replaces them."""


def apply(request: GenerationRequest, card: ModelCard) -> GenerationRequest:
    """The request as this model will see it."""
    if card.fixes_sampling:
        fixed = replace(
            request.sampling, temperature=1.0, top_p=0.95, presence_penalty=None, frequency_penalty=None
        )
        request = replace(request, sampling=fixed, copies=1)
    if card.moves_late_system and isinstance(request.prompt, Conversation):
        messages = request.prompt.messages
        if any(message.role == "system" for message in messages[1:]):
            moved = messages[:1] + tuple(_as_user(message) for message in messages[1:])
            request = replace(request, prompt=Conversation(messages=moved))
    return request


def _as_user(message: Message) -> Message:
    return replace(message, role="user") if message.role == "system" else message
