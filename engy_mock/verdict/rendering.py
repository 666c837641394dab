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


def rendered(request: GenerationRequest, catalog: Catalog, level: Level) -> list[int]:
    """The tokens of a conversation under this level; none where its template refuses it, or it has no turns."""
    card, prompt = card_of(request, catalog), request.prompt
    if not isinstance(prompt, Conversation) or not prompt.messages:
        return []
    try:
        return catalog.template(card)(prompt, request.tools, level, catalog.tokenizer(card)).tokens
    except ApiError:
        return []


def prompt_tokens(request: GenerationRequest, catalog: Catalog) -> int:
    """How many tokens the prompts of a request have; 0 where they cannot be rendered."""
    prompt = request.prompt
    if isinstance(prompt, Conversation):
        return len(rendered(request, catalog, level_of(request, catalog)))
    tokenizer = catalog.tokenizer(card_of(request, catalog))
    return sum([len(tokenizer.encode(one) if isinstance(one, str) else one) for one in prompt.prompts])


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts have in common from the first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def decoded(tokens: Sequence[int], request: GenerationRequest, catalog: Catalog) -> str:
    """The text of a prompt that was sent as tokens; those that there are not say nothing."""
    tokenizer = catalog.tokenizer(card_of(request, catalog))
    return tokenizer.decode([token for token in tokens if 0 <= token < tokenizer.size])
