"""What every dialect can do, and the envelope that it writes around an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from engy_mock.dialects.fold import Run
from engy_mock.dialects.surfaces import Surface
from engy_mock.model.cards import ModelCard, Prices
from engy_mock.model.catalog import Catalog
from engy_mock.model.records import Shelf
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.events import Event, Receipt
from engy_mock.vocabulary.generation import Generation, Usage
from engy_mock.vocabulary.request import Endpoint, GenerationRequest
from engy_mock.vocabulary.wire import Call

TEMPERATURE, TOP_P = 1.0, 0.95
"""What is in force where no model says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What stands around an answer: whose it is, when it was made, what it cost.

    `created` is in whole Unix seconds of the mock's clock; `usage` is the count of the whole answer, which
    some dialects show before its end. `shows_cache_counts` is a setting of the messages dialect (E-170),
    `names_events` one of the responses dialect under `/v5` (S-71). `temperature` and `top_p` are those of the
    model, in force where the request names none.
    """

    request: GenerationRequest
    surface: Surface
    receipt: Receipt
    created: int
    usage: Usage
    shows_cache_counts: bool = False
    names_events: bool = False
    temperature: float = TEMPERATURE
    top_p: float = TOP_P


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a page may look at.

    There are the models, the caller's own model records, what the caller pays for a model, and the time in Unix
    seconds. `prompt_tokens` counts the tokens of the prompt in a body of the route's dialect, or raises ApiError.
    """

    catalog: Catalog
    records: Shelf
    prices_of: Callable[[ModelCard], Prices]
    prompt_tokens: Callable[[Mapping[str, Any]], int]
    now: float


class Page(Protocol):
    """A route that answers without the model."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The answer to a call as one JSON object; raises ApiError.

        `name` is the percent-decoded rest of the path where the route's path ends in `/{name}`, else empty;
        `body` the JSON object that was sent, empty if none was.
        """
        ...


class Encoder(Protocol):
    """Turns the events of one streamed answer into the bytes of its body, one event at a time."""

    def encode(self, event: Event) -> bytes:
        """The bytes that this event adds to the body; empty if it has no sign in this dialect."""
        ...

    def encode_run(self, run: Run) -> list[bytes]:
        """The same for each of these pieces, without those that have no sign."""
        ...


class OneByOne:
    """An encoder that has no quicker way to write many pieces."""

    __slots__ = ()

    def encode_run(self: Encoder, run: Run) -> list[bytes]:
        """What `encode` gives for each of these pieces that has a sign."""
        return [data for data in map(self.encode, run.events()) if data]


class Dialect(Protocol):
    """One way to speak with the service.

    `has_one_id`: an answer holds no other made-up value than the id of its request, or the beginning of that.
    """

    endpoint: Endpoint
    has_one_id: bool

    def shape(self, surface: Surface) -> type:
        """The fields of its requests: a `TypedDict`, for whoever describes them."""
        ...

    def parse(
        self, body: Mapping[str, Any], surface: Surface, *, any_number: frozenset[str] = frozenset()
    ) -> GenerationRequest:
        """Read a JSON object; raises ApiError that names the field and the value.

        The fields in `any_number` are not held to their range, since the model replaces them (E-89).
        """
        ...

    def body(self, generation: Generation, envelope: Envelope) -> bytes:
        """The whole answer as one JSON object."""
        ...

    def encoder(self, envelope: Envelope) -> Encoder:
        """A new encoder for one streamed answer."""
        ...

    def error(self, error: ApiError, surface: Surface, request_id: str) -> bytes:
        """A refusal as one JSON object."""
        ...
