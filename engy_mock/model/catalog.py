"""Which models there are, and which tokenizer and template each of them has."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from threading import Lock

from engy_mock.model import corpus, templates, tokenizer
from engy_mock.model.cards import CARDS, ModelCard
from engy_mock.model.language import Language
from engy_mock.model.ngrams import Ngrams
from engy_mock.model.templates import Template
from engy_mock.model.tokenizer import Tokenizer
from engy_mock.model.vendors import VENDOR_CARDS, like
from engy_mock.vocabulary.errors import MockError, ModelNotFound, did_you_mean, quoted


class Catalog:
    """The models of one mock by id; rows, tokenizers and templates can be put in or exchanged.

    `version` rises with every such change.
    """

    def __init__(self, *, seed: int = 0, cards: tuple[ModelCard, ...] = CARDS + VENDOR_CARDS) -> None:
        self._seed = seed
        self._cards = {card.id: card for card in cards}
        self._tokenizers: dict[str, Tokenizer] = {}
        self._templates: dict[str, Template] = {}
        self._languages: dict[str, Language] = {}
        self._lock = Lock()
        self.version = 0
        self.keep()

    def keep(self) -> None:
        """Make what there is now what `restore` comes back to."""
        self._kept = (dict(self._cards), dict(self._tokenizers), dict(self._templates))

    def restore(self) -> None:
        """Undo every change since `keep`."""
        kept = self._kept
        with self._lock:
            if kept == (self._cards, self._tokenizers, self._templates):
                return
            self._cards, self._tokenizers, self._templates = dict(kept[0]), dict(kept[1]), dict(kept[2])
            self._languages = {}
            self.version += 1

    def __iter__(self) -> Iterator[ModelCard]:
        return iter(tuple(self._cards.values()))

    def add(self, card: ModelCard) -> None:
        """Put a model in, or another in the place of the one with its id."""
        with self._lock:
            self._cards[card.id] = card
            self._languages.pop(card.id, None)
            self.version += 1

    def add_like(self, id: str, model: str) -> None:
        """Put a model in that is like another; as `vendor/name` it is one of `/v5`, and speaks as one of `/v1`."""
        self.add(like(self.row(model), id))

    def mark(self, model: str, *, is_available: bool) -> None:
        """Make a model available or not; an unavailable one is listed, yet 404 on use."""
        self.add(replace(self.row(model), is_available=is_available))

    def use(
        self,
        model: str,
        *,
        tokenizer: Tokenizer | Path | str | None = None,
        chat_template: Template | Path | str | None = None,
    ) -> None:
        """Give a model another tokenizer or chat template; raises MockError if it cannot be used.

        A tokenizer is a path to a `tokenizer.json`; a template is a path, the text of a Jinja template (it has
        a brace), or a function.
        """
        self.row(model)
        if tokenizer is not None:
            own = tokenizer if isinstance(tokenizer, Tokenizer) else tokenizer_from(Path(tokenizer))
            with self._lock:
                self._tokenizers[model] = own
                self._languages = {}  # others may speak as this one
                self.version += 1
        if chat_template is not None:
            if isinstance(chat_template, str) and "{" in chat_template:
                chat_template = templates.from_text(chat_template)
            elif isinstance(chat_template, str | Path):
                chat_template = templates.from_file(Path(chat_template))
            with self._lock:
                self._templates[model] = chat_template
                self.version += 1

    def find(self, name: str) -> ModelCard:
        """The model of this name as sent, without a vendor or with any; raises ModelNotFound."""
        card = self._cards.get(name)
        if card is None or card.vendor is not None:
            card = self._cards.get(name.partition("/")[2])
        if card is None or card.vendor is not None or not card.is_available:
            raise ModelNotFound(f"model {quoted(name)} not found", param="model")
        return card

    def find_at_vendor(self, name: str) -> ModelCard | None:
        """The model of this `vendor/name`, or None."""
        card = self._cards.get(name)
        return card if card is not None and card.vendor is not None and card.is_available else None

    def tokenizer(self, card: ModelCard) -> Tokenizer:
        """What this model's tokens are."""
        return self._tokenizers.get(card.id) or self._tokenizers.get(card.speaker) or tokenizer.bundled()

    def template(self, card: ModelCard) -> Template:
        """How this model's prompts are made of conversations."""
        return self._templates.get(card.id) or self._templates.get(card.speaker, templates.bundled)

    def language(self, card: ModelCard) -> Language:
        """What this model knows of language."""
        found = self._languages.get(card.id)
        if found is None:
            with self._lock:
                own = self.tokenizer(card)
                counted = _counts(own)
                found = Language(own, corpus.bundled(), counted, card.voice, self._seed)
                self._languages[card.id] = found
        return found

    def row(self, model: str) -> ModelCard:
        """The model with this id, whoever may call it; raises MockError with the nearest one."""
        card = self._cards.get(model)
        if card is None:
            raise MockError(f"unknown model {model!r:.80}.{did_you_mean(model, tuple(self._cards))}")
        return card


def tokenizer_from(path: Path) -> Tokenizer:
    """A user's own `tokenizer.json`."""
    return tokenizer.from_file(path)


@lru_cache(maxsize=8)
def _counts(own: Tokenizer) -> Ngrams:
    """The counts of the corpus in these tokens: read for the bundled tokenizer, made for any other."""
    if own is tokenizer.bundled():
        return Ngrams.load(files("engy_mock.model").joinpath("data", "ngrams.bin").read_bytes())
    from engy_mock.model import build

    return build.counts(corpus.bundled(), own)
