"""The prompts of requests as their models see them: tokens, which a cache compares and a budget counts."""

from collections.abc import Sequence

from engy_mock.model.cards import Level, ModelCard
from engy_mock.model.catalog import Catalog
from engy_mock.vocabulary.errors import ApiError, ModelNotFound
from engy_mock.vocabulary.request import Conversation, GenerationRequest


def card_of(request: GenerationRequest, catalog: Catalog) -> ModelCard:
    """The model of a request; any, where there is none of this name."""
    try:
        return catalog.find_at_vendor(request.model) or catalog.find(request.model)
    except ModelNotFound:
        return next(iter(catalog))


def level_of(request: GenerationRequest, catalog: Catalog) -> Level:
    """How the model is to think, as its prompt says."""
    prompt = request.prompt
    if not isinstance(prompt, Conversation) or not prompt.messages or prompt.is_prefilled:
        return "off"
    return card_of(request, catalog).level(request.thinking)


def prompt_tokens(request: GenerationRequest, catalog: Catalog) -> int | None:
    """How many tokens the prompts of a request have; None where they cannot be rendered."""
    card, prompt = card_of(request, catalog), request.prompt
    tokenizer = catalog.tokenizer(card)
    if not isinstance(prompt, Conversation):
        return sum([len(tokenizer.encode(one) if isinstance(one, str) else one) for one in prompt.prompts])
    if not prompt.messages:
        return None
    try:
        template = catalog.template(card)
        return len(template(prompt, request.tools, level_of(request, catalog), tokenizer).tokens)
    except ApiError:
        return None


def decoded(tokens: Sequence[int], request: GenerationRequest, catalog: Catalog) -> str:
    """The text of a prompt that was sent as tokens; those that there are not say nothing."""
    tokenizer = catalog.tokenizer(card_of(request, catalog))
    return tokenizer.decode([token for token in tokens if 0 <= token < tokenizer.size])
