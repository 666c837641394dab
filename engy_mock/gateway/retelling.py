"""A healthy answer told once more, in the same bytes, when somebody asks the journal what was sent."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from engy_mock.books.entry import Entry
from engy_mock.dialects.dialect import Envelope
from engy_mock.dialects.frames import frames
from engy_mock.dialects.routes import Route
from engy_mock.model.cards import ModelCard
from engy_mock.vocabulary.events import Receipt


class Retelling(NamedTuple):
    """All that an answer depends on beside what its entry keeps."""

    route: Route
    card: ModelCard
    created: int
    charged_micro: int
    proof: dict[str, Any] | None
    is_streamed: bool
    shows_cache_counts: bool
    names_events: bool

    def parts(self, entry: Entry) -> Iterator[tuple[bytes, bool]]:
        """The parts of the body, and whether each of them is a piece of the answer.

        Raises MockError where the answer repeats a field that the journal has not kept.
        """
        generation, request, dialect = entry.generation, entry.request, self.route.dialect
        assert generation is not None
        assert request is not None
        envelope = Envelope(
            request=request,
            surface=self.route.surface,
            receipt=Receipt(request_id=entry.request_id, charged_micro=self.charged_micro, proof=self.proof),
            created=self.created,
            usage=generation.usage,
            shows_cache_counts=self.shows_cache_counts,
            names_events=self.names_events,
            temperature=self.card.temperature,
            top_p=self.card.top_p,
        )
        if not self.is_streamed:
            yield dialect.body(generation, envelope), False
            return
        for written, is_piece in frames(generation, dialect.encoder(envelope)):
            for data in written:
                yield data, is_piece
