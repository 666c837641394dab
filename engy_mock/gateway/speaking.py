"""What the model says to a request, and what the cache knew of its prompt."""

from dataclasses import replace
from typing import Protocol

from engy_mock.books.accounts import Account
from engy_mock.books.cache import PromptCache
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.understanding import MAX_KNOWN_TOKENS, Understood
from engy_mock.model.engine import Engine
from engy_mock.model.prepared import Prepared
from engy_mock.vocabulary.generation import Generation, Reply


class Mocked(Protocol):
    """The mock that speaks."""

    cache: PromptCache
    settings: Settings


class Speaker:
    """Speaks for one mock; what was said to a request before is said again."""

    def __init__(self, mocked: Mocked, engine: Engine) -> None:
        self._mocked = mocked
        self._engine = engine

    def copy(self, mocked: Mocked) -> "Speaker":
        """One that speaks alike for another mock."""
        return Speaker(mocked, self._engine)

    def dictated(self, understood: Understood, reply: Reply) -> Generation:
        """The words of a reply."""
        return self._engine.generate(understood.prepared, reply)

    def made_up(self, understood: Understood) -> Generation:
        """The model's own words."""
        if understood.generation is not None:
            return understood.generation
        generation = self._asked_for(understood.prepared) or self._engine.generate(understood.prepared)
        if generation.usage.completion_tokens <= MAX_KNOWN_TOKENS:
            understood.generation = generation
        return generation

    def remembered(self, generation: Generation, understood: Understood, account: Account) -> Generation:
        """The same with the tokens that the cache knew of its prompts, which it knows from now on (E-139, E-142).

        What a test dictates as usage stays as it is.
        """
        if not self._mocked.settings.prompt_cache:
            return generation
        prepared = understood.prepared
        key = prepared.request.cache_key
        prompts = [prompt.tokens for prompt in prepared.prompts]
        cached = self._mocked.cache.use(account.name, prepared.card.id, key, prompts)
        if not cached or generation.is_usage_dictated:
            return generation
        known = understood.discounted
        if known is not None and known[0] is generation and known[1].usage.cached_tokens == cached:
            return known[1]
        discounted = replace(generation, usage=replace(generation.usage, cached_tokens=cached))
        understood.discounted = (generation, discounted)
        return discounted

    def _asked_for(self, prepared: Prepared) -> Generation | None:
        """What the question asks for, where the setting lets it."""
        style = self._mocked.settings.answers
        if style == "plain":
            return None
        # Loaded here, not above: a mock that speaks plainly does not pay for it.
        from engy_mock.model.answers import answer

        return answer(self._engine, prepared, is_always=style == "markdown")
