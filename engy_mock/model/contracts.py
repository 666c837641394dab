"""What single models make of a request before anybody else looks at it (E-89, E-90, E-218)."""

from collections.abc import Mapping
from dataclasses import replace

from engy_mock.model.cards import ModelCard
from engy_mock.vocabulary.request import Conversation, GenerationRequest, Message, ThinkingWish

FIXED_FIELDS = frozenset({"temperature", "top_p", "n", "presence_penalty", "frequency_penalty"})
"""The fields that a model with fixed sampling takes any number in, since it replaces them."""


def apply(request: GenerationRequest, card: ModelCard) -> GenerationRequest:
    """The request as this model will see it."""
    if card.fixes_sampling:
        fixed = replace(
            request.sampling, temperature=1.0, top_p=0.95, presence_penalty=None, frequency_penalty=None
        )
        request = replace(request, sampling=fixed, copies=1)
    if not card.hears_enabled and request.thinking.enabled and _is_turned_on(request):
        request = replace(request, thinking=ThinkingWish())
    if card.moves_late_system and isinstance(request.prompt, Conversation):
        messages = request.prompt.messages
        if any(message.role == "system" for message in messages[1:]):
            moved = messages[:1] + tuple(_as_user(message) for message in messages[1:])
            request = replace(request, prompt=Conversation(messages=moved))
    return request


def _is_turned_on(request: GenerationRequest) -> bool:
    """Whether it is `reasoning.enabled` that wishes for thinking, and no other field (E-127)."""
    reasoning = request.body.get("reasoning")
    return isinstance(reasoning, Mapping) and reasoning.get("enabled") is True


def _as_user(message: Message) -> Message:
    return replace(message, role="user") if message.role == "system" else message
