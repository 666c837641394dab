"""What a body says: read, checked against its model, measured, and remembered for the next time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from engy_mock.books.accounts import Account
from engy_mock.books.journal import weight_of_request
from engy_mock.dialects import routes
from engy_mock.dialects.admission import Body
from engy_mock.dialects.fields import BROKEN_PICTURES
from engy_mock.dialects.pictures import with_whole_pictures
from engy_mock.dialects.routes import Route
from engy_mock.gateway.memory import Memory
from engy_mock.gateway.settings import Settings
from engy_mock.model import contracts
from engy_mock.model.cards import ModelCard
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine, takes_no_images
from engy_mock.model.prepared import Prepared
from engy_mock.model.records import Records
from engy_mock.model.vendors import VENDORS
from engy_mock.vocabulary.errors import ApiError, InvalidRequest
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import GenerationRequest

MAX_KNOWN = 512
MAX_KNOWN_BODY = 32 * 1024
MAX_KNOWN_TOKENS = 4096


@dataclass(slots=True)
class Understood:
    """A body as the service understands it, and what the model says to it once it has been asked.

    `discounted` is such an answer, and the same with the tokens of its prompt that were cached last time; `weight`
    is about how many bytes of memory its request takes, 0 for one that is not remembered.
    """

    prepared: Prepared
    generation: Generation | None = None
    discounted: tuple[Generation, Generation] | None = None
    memory: Memory = field(default_factory=Memory)
    weight: int = 0


class Mocked(Protocol):
    """The mock that is spoken to."""

    catalog: Catalog
    records: Records
    settings: Settings


class Understanding:
    """Reads the bodies of one mock; a body that came before is not read again."""

    def __init__(self, mocked: Mocked, engine: Engine) -> None:
        self._mocked = mocked
        self._engine = engine
        self._known: dict[tuple[object, ...], Understood] = {}

    def forget(self) -> None:
        """Read everything anew."""
        self._known = {}

    def understood(self, what: bytes, body: Body, route: Route, account: Account) -> Understood:
        """The request in a body, measured; a body that came before is not read again."""
        known = self._known
        settings = self._mocked.settings
        key: tuple[object, ...] = (what, self._mocked.catalog.version, settings.strict_tools, settings.answers)
        key += (settings.max_images, settings.max_image_bytes)
        if route.surface.is_prefixed_model:
            key += self._mocked.records.of(account.name).callable_models()
        found = known.get(key)
        if found is None:
            found = Understood(self._prepare(body.document(), route, account))
            if len(body.data) <= MAX_KNOWN_BODY:
                found.weight = weight_of_request(found.prepared.request, body.data)
                if len(known) >= MAX_KNOWN:
                    known.clear()
                known[key] = found
        return found

    def counted(self, body: Mapping[str, Any], route: Route, account: Account) -> int:
        """The prompt tokens of a body; raises ApiError for everything that it would be refused for (E-177)."""
        prepared = self._prepare(body, route, account)
        self._engine.check(prepared)
        return prepared.prompt_tokens

    def _prepare(self, body: Mapping[str, Any], route: Route, account: Account) -> Prepared:
        """Everything that a body can be refused for, in the order of section 5 (E-74 to E-81)."""
        model = body.get("model")
        card = self._card(model, route, account) if isinstance(model, str) else None
        waived = contracts.FIXED_FIELDS if card is not None and card.fixes_sampling else frozenset()
        dialect = routes.reader(route, strict_tools=self._mocked.settings.strict_tools)
        try:
            request = dialect.parse(body, route.surface, any_number=waived)
        except InvalidRequest as error:
            if not _blames_pictures(error):
                raise
            # Pictures are looked at when all else is well, and the model is known and takes them (E-74 to E-77).
            try:
                whole = with_whole_pictures(body, error.violations)
                request = dialect.parse(whole, route.surface, any_number=waived)
            except InvalidRequest as other:
                if not _blames_pictures(other):
                    raise
            found = self._model(body["model"], route, account)
            if not found.takes_images:
                raise takes_no_images(found) from error
            raise
        return self.measured(request, route, account)

    def measured(self, request: GenerationRequest, route: Route, account: Account) -> Prepared:
        """The request as its model sees it, with all its sizes; raises ApiError from E-75 on."""
        card = self._model(request.model, route, account)
        request = contracts.apply(request, card)
        return self._engine.prepare(
            request,
            card,
            max_scored=route.surface.max_scored_tokens,
            max_images=self._mocked.settings.max_images,
            max_image_bytes=self._mocked.settings.max_image_bytes,
            wording=self._mocked.settings.overflow_wording,
        )

    def _model(self, name: str, route: Route, account: Account) -> ModelCard:
        """The model of this name on this route; raises ApiError."""
        surface = route.surface
        if not surface.is_prefixed_model:
            return self._mocked.catalog.find(name)
        vendors = surface.vendors.get(route.dialect.endpoint, VENDORS)
        return self._mocked.records.of(account.name).model(name, self._mocked.catalog, vendors)

    def _card(self, model: str, route: Route, account: Account) -> ModelCard | None:
        try:
            return self._model(model, route, account)
        except ApiError:
            return None


def _blames_pictures(error: InvalidRequest) -> bool:
    """Whether pictures are all that is wrong with a body."""
    kinds = [violation.kind for violation in error.violations]
    return bool(kinds) and BROKEN_PICTURES.issuperset(kinds)
