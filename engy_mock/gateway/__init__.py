"""The pretend service without a socket: a `Call` in, `Step`s out.

Everything is decided before the first step; the books are closed before the last one.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from engy_mock.books.accounts import Account, Accounts, Hold
from engy_mock.books.journal import Entry, Journal, harmless
from engy_mock.dialects import routes
from engy_mock.dialects.admission import Body, check_account, check_content, check_host, key_of
from engy_mock.dialects.conversation import BROKEN
from engy_mock.dialects.dialect import Desk, Page
from engy_mock.dialects.errors import judged
from engy_mock.dialects.routes import Route
from engy_mock.gateway.doorstep import met
from engy_mock.gateway.exchange import JSON, Exchange, id_headers, refusal_headers
from engy_mock.gateway.identity import Identities
from engy_mock.gateway.settings import Settings
from engy_mock.gateway.trouble import chosen
from engy_mock.model import contracts
from engy_mock.model.cards import ModelCard
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine, Prepared, takes_no_images
from engy_mock.model.records import Records
from engy_mock.model.vendors import VENDORS
from engy_mock.scripting.asked import Asked
from engy_mock.scripting.fault import told
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Chosen, Used
from engy_mock.scripting.script import Script
from engy_mock.vocabulary import json
from engy_mock.vocabulary.clock import Clock, StandingClock
from engy_mock.vocabulary.errors import (
    ApiError,
    InvalidKey,
    InvalidRequest,
    MockFailed,
    ModelNotFound,
    quoted,
)
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.request import GenerationRequest
from engy_mock.vocabulary.seeds import digest, hex_id
from engy_mock.vocabulary.wire import Call, Doorstep, Head, Step, Whole

MAX_KNOWN = 512
MAX_KNOWN_BODY = 32 * 1024
MAX_KNOWN_TOKENS = 4096

_log = logging.getLogger("engy_mock")


@dataclass(slots=True)
class Understood:
    """A body as the service understands it, and what the model says to it once it has been asked."""

    prepared: Prepared
    generation: Generation | None = None


@dataclass(slots=True)
class Gateway:
    """One pretend service with its state; every method may be called from any thread.

    `annex` opens a second door to it, and gives its address; None where there is only one.
    """

    seed: int = 0
    clock: Clock = field(default_factory=StandingClock)
    settings: Settings = field(default_factory=Settings)
    catalog: Catalog = field(init=False)
    journal: Journal = field(default_factory=Journal)
    accounts: Accounts = field(default_factory=Accounts)
    records: Records = field(init=False)
    script: Script = field(init=False)
    defects: list[BaseException] = field(default_factory=list)
    annex: Callable[[], str] | None = None
    _engine: Engine = field(init=False)
    _identities: Identities = field(init=False)
    _known: dict[tuple[object, ...], Understood] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.catalog = Catalog(seed=self.seed)
        self.records = Records(self.seed)
        self.script = Script(now=self.clock.now)
        self._engine = Engine(self.catalog, self.seed)
        self._identities = Identities(self.seed)

    def reset(self) -> None:
        """Be as new: journal, accounts, rules, models and ids. Answers still under way keep the old books."""
        with self._lock:
            self.journal = Journal()
            self.accounts = Accounts()
            self.records = Records(self.seed)
        self.catalog.restore()
        self._identities.forget()
        self.script.clear()
        self.defects = []
        self._known = {}

    def warm_up(self) -> None:
        """Load what the first answer needs."""
        language = self.catalog.language(next(iter(self.catalog)))
        language.read(language.tokenizer.encode("Hello")).distribution()

    def before_body(self, call: Call) -> Doorstep | None:
        """What happens before the body of a call is read; None for nothing, as is usual."""
        if not self.script.early_rules():
            return None
        try:
            check_host(call, self.settings.allowed_hosts)
            route, _ = routes.find(call.method, call.path)
            self._account(call, route)
        except ApiError:
            return None  # it is refused in its turn
        if route.page is not None:
            return None
        now = self.clock.now()
        found = met(call, route, self.script, self._identities, self.settings, seed=self.seed, now=now)
        if found is None:
            return None
        doorstep, entry = found
        if entry is not None:
            self.journal.add(entry)
        return doorstep

    def answer(self, call: Call) -> Iterator[Step]:
        """The steps that tell a client the answer to its call.

        Whoever stops before the last step has to close the iterator, so that the books can be closed.
        """
        what = digest(call.method, call.path, call.body)
        body = Body(call.body)
        request_id = self._identities.next(what, call, body)
        entry = Entry(
            number=0,
            method=call.method,
            path=call.path,
            body=call.body,
            request_id=request_id,
            headers=harmless(call.headers),
            plan=f"{self.seed}/{request_id[:16]}",
        )
        journal = self.journal
        hold: Hold | None = None
        try:
            check_host(call, self.settings.allowed_hosts)
            route, name = routes.find(call.method, call.path)
            account = self._account(call, route)
            if call.method != "GET":
                check_content(call)
            if route.page is not None:
                return self._page(route, route.page, call, body, name, account, entry)
            understood = self._understood(what, body, route, account)
            prepared = understood.prepared
            entry.request = prepared.request
            hold = account.hold(prepared.highest_cost_micro(account.prices_of(prepared.card)))
            exchange = Exchange(entry=entry, route=route, account=account, prepared=prepared, hold=hold)
            found = None if self.script.is_empty else self._chosen(call, route, understood, entry)
            if found is None:
                generation = with_call_ids(self._made_up(understood), request_id)
                steps = exchange.told(generation, self.settings, self.clock.now())
            else:
                steps = self._scripted(exchange, found, understood, call)
        except BaseException as error:
            # Whatever it is, `pytest.fail` in a rule included: the books stay right, the service stays up.
            if hold is not None:
                hold.settle(0)
            refusal = error if isinstance(error, ApiError) else self._failed(error, call)
            steps = self._refused(refusal, call.path, entry)
            if not isinstance(error, ApiError):
                entry.error = f"{refusal.message}: {error!r:.500}"
        finally:
            journal.add(entry)
        return steps

    def _failed(self, error: BaseException, call: Call) -> MockFailed:
        """What the client is told of a defect; the reason is for the log and for whoever looks at `defects`."""
        self.defects.append(error)
        _log.error("the mock failed on %s %s", call.method, quoted(call.path), exc_info=error)
        return MockFailed()

    def _chosen(self, call: Call, route: Route, understood: Understood, entry: Entry) -> Chosen | None:
        """What the rules say to a request."""
        found = self.script.choose(_asked(call, route, understood.prepared.request), _identity(entry))
        if found is not None:
            entry.rule = found.description
        return found

    def _scripted(self, exchange: Exchange, found: Chosen, understood: Understood, call: Call) -> Iterator[Step]:
        """An answer with what rules dictate, and with their faults; raises the refusal of a rule."""
        entry, prepared, now = exchange.entry, exchange.prepared, self.clock.now()
        answer = found.answer
        said: Generation | ApiError
        if isinstance(answer, Refusal):
            said = answer.error(hurries=self.settings.hurries_retries)
        elif answer is not None:
            said = self._engine.generate(prepared, answer)
        else:
            said = self._made_up(understood)
        faults = found.faults
        if not faults:
            if isinstance(said, ApiError):
                raise said
            return exchange.told(with_call_ids(said, entry.request_id), self.settings, now)
        asked = _asked(call, exchange.route, prepared.request)

        def occasion(used: Used) -> Occasion:
            return Occasion(
                asked=asked,
                identity=_identity(entry),
                rule=used.rule.name,
                use=used.use,
                tokens=used.rule.tokens,
                now=now,
                since=now - used.rule.began,
                prompt_tokens=prepared.prompt_tokens,
                annex=self.annex,
                again=lambda salt: Engine(self.catalog, _salted(self.seed, salt)).generate(prepared),
            )

        trouble = chosen([(own, occasion(used)) for own, used in faults])
        named = (used.rule.name for used in (found.answering, found.marring) if used)
        words = [told(own) for own in trouble.faults]
        entry.plan = f"{self.seed}/{hex_id(16, 'plan', entry.request_id, *named, *words)}"
        if isinstance(said, Generation):
            said = with_call_ids(trouble.retold(said, occasion(faults[0][1])), entry.request_id)
        return exchange.marred(said, trouble, self.settings, now)

    def _made_up(self, understood: Understood) -> Generation:
        """The model's own words."""
        if understood.generation is not None:
            return understood.generation
        generation = self._engine.generate(understood.prepared)
        if generation.usage.completion_tokens <= MAX_KNOWN_TOKENS:
            understood.generation = generation
        return generation

    def _account(self, call: Call, route: Route) -> Account:
        """Whose key this is; raises InvalidKey where the route needs one, or PermissionDenied (S-13)."""
        headers = route.key_headers
        if self.settings.v5_accepts_bearer and "authorization" not in headers:
            headers += ("authorization",)
        try:
            account = self.accounts.opened_by(
                key_of(call, headers),
                key_prefix=route.surface.key_prefix,
                is_closed=self.settings.closed_accounts,
            )
        except InvalidKey:
            if route.needs_key:
                raise
            return Account(name="nobody")
        if account is not self.accounts.default:
            check_account(call, route.surface, account.name)
        return account

    def _page(
        self, route: Route, page: Page, call: Call, body: Body, name: str, account: Account, entry: Entry
    ) -> Iterator[Step]:
        """The answer of a route that needs no model."""
        desk = Desk(
            catalog=self.catalog,
            records=self.records.of(account.name),
            prices_of=account.prices_of,
            prompt_tokens=lambda request: self._measured(request, route, account).prompt_tokens,
            now=self.clock.now(),
        )
        said = body.document() if call.method != "GET" and (call.body or call.method == "POST") else {}
        document = page.answer(call, name, said, desk)
        entry.status = 200
        head = Head(200, (JSON, *id_headers(route, entry)))
        return iter((Whole(head, json.write(document)),))

    def _understood(self, what: bytes, body: Body, route: Route, account: Account) -> Understood:
        """The request in a body, measured; a body that came before is not read again."""
        known = self._known
        settings = self.settings
        key: tuple[object, ...] = (what, self.catalog.version, settings.strict_tools)
        key += (settings.max_images, settings.max_image_bytes)
        if route.surface.is_prefixed_model:
            key += self.records.of(account.name).callable_models()
        found = known.get(key)
        if found is None:
            found = Understood(self._prepare(body.document(), route, account))
            if len(body.data) <= MAX_KNOWN_BODY:
                if len(known) >= MAX_KNOWN:
                    known.clear()
                known[key] = found
        return found

    def _prepare(self, body: Mapping[str, Any], route: Route, account: Account) -> Prepared:
        """Everything that a body can be refused for, in the order of section 5 (E-74 to E-81)."""
        model = body.get("model")
        card = self._card(model) if isinstance(model, str) else None
        waived = contracts.FIXED_FIELDS if card is not None and card.fixes_sampling else frozenset()
        try:
            dialect = routes.reader(route, strict_tools=self.settings.strict_tools)
            request = dialect.parse(body, route.surface, any_number=waived)
        except InvalidRequest as error:
            # Pictures are looked at when the model is known and takes them (E-75 to E-77).
            if isinstance(model, str) and error.violations and all(v.kind in BROKEN for v in error.violations):
                found = self._model(model, route, account)
                if not found.takes_images:
                    raise takes_no_images(found) from error
            raise
        return self._measured(request, route, account)

    def _measured(self, request: GenerationRequest, route: Route, account: Account) -> Prepared:
        """The request as its model sees it, with all its sizes; raises ApiError from E-75 on."""
        card = self._model(request.model, route, account)
        request = contracts.apply(request, card)
        engine, settings = self._engine, self.settings
        engine.max_images, engine.max_image_bytes = settings.max_images, settings.max_image_bytes
        return engine.prepare(request, card, max_scored=route.surface.max_scored_tokens)

    def _model(self, name: str, route: Route, account: Account) -> ModelCard:
        """The model of this name on this route; raises ApiError."""
        surface = route.surface
        if not surface.is_prefixed_model:
            return self.catalog.find(name)
        vendors = surface.vendors.get(route.dialect.endpoint, VENDORS)
        return self.records.of(account.name).model(name, self.catalog, vendors)

    def _card(self, model: str) -> ModelCard | None:
        try:
            return self.catalog.find(model)
        except ModelNotFound:
            return None

    def _refused(self, error: ApiError, path: str, entry: Entry) -> Iterator[Step]:
        """A refusal as a whole answer in the dialect of its path; it costs nothing."""
        route = routes.speaker(path)
        error = judged(error, route.surface, route.dialect.endpoint)
        entry.status = error.status
        entry.error = error.message
        body = route.dialect.error(error, route.surface, entry.request_id)
        headers = refusal_headers(error, route, self.clock.now())
        head = Head(error.status, (JSON, *id_headers(route, entry), *headers))
        return iter((Whole(head, body),))


def _salted(seed: int, salt: str) -> int:
    """Another seed, for an answer that differs."""
    return int.from_bytes(digest("salt", seed, salt)[:6], "big")


def _identity(entry: Entry) -> bytes:
    """What stands for a request and how often it was seen before."""
    return entry.request_id.encode()


def _asked(call: Call, route: Route, request: GenerationRequest) -> Asked:
    """A call as rules see it."""
    return Asked(
        endpoint=request.endpoint,
        surface=route.surface.name,
        request=request,
        key=key_of(call, (*route.key_headers, "authorization")),
        headers=call.headers,
        body=request.body,
        target=f"{call.path}?{call.query}" if call.query else call.path,
    )


def with_call_ids(generation: Generation, request_id: str) -> Generation:
    """The same with an id for each tool call that has none (E-115)."""
    if not any(choice.tool_calls for choice in generation.choices):
        return generation
    return replace(
        generation,
        choices=tuple(
            replace(
                choice,
                tool_calls=tuple(
                    call
                    if call.id is not None
                    else replace(call, id="call_" + hex_id(24, "call", request_id, choice.index, place))
                    for place, call in enumerate(choice.tool_calls)
                ),
            )
            for choice in generation.choices
        ),
    )


__all__ = ["Gateway", "Settings"]
