"""A prompt that the model has before it: read once, and scored once, for all the answers to it."""

from collections.abc import Sequence

from engy_mock.model.cards import ModelCard
from engy_mock.model.catalog import Catalog
from engy_mock.model.language import Language
from engy_mock.model.scoring import score
from engy_mock.model.walking import Walker
from engy_mock.vocabulary.generation import TokenLogprob
from engy_mock.vocabulary.request import Conversation, GenerationRequest


class Opening:
    """The tokens before an answer; `logprobs` are those of the prompt where it is to be scored.

    `documents` are those that have been made for a demanded form, by what shapes them.
    """

    def __init__(
        self, catalog: Catalog, card: ModelCard, tokens: Sequence[int], request: GenerationRequest
    ) -> None:
        self._catalog = catalog
        self._card = card
        self.tokens = tokens
        self.documents: dict[bytes, str] = {}
        self.logprobs: tuple[TokenLogprob, ...] | None = None
        scoring = request.scoring
        self._is_read_again = request.copies > 1 or scoring.logprobs
        self._reader: Walker | None = None
        is_raw = not isinstance(request.prompt, Conversation)
        if is_raw and (scoring.start is not None or (scoring.echo and scoring.logprobs)):
            start = scoring.start or 0
            reader = self._reader = self.language.read(tokens[:start])
            entries = score(reader, tokens[start:], top=scoring.top)
            if scoring.start is not None and entries:
                first = entries[0]
                entries[0] = TokenLogprob(id=first.id, token=first.token, raw=first.raw, logprob=None)
            self.logprobs = tuple(entries)

    @property
    def language(self) -> Language:
        """What the model knows; an answer that somebody dictates may do without."""
        return self._catalog.language(self._card)

    def reader(self) -> Walker:
        """A reader of one's own that has read the prompt."""
        reader = self._reader or self.language.read(self.tokens)
        if not self._is_read_again:
            return reader
        self._reader = reader
        return reader.copy()
