"""The pretend service without a socket: a `Call` in, `Step`s out.

Everything is decided before the first step; the books are closed before the last one.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from engy_mock.books.accounts import Account, Accounts, Hold
from engy_mock.books.cache import PromptCache
from engy_mock.books.entry import MAX_BODY, Entry, harmless
from engy_mock.books.fleet import Fleet
from engy_mock.books.journal import Journal
from engy_mock.dialects import routes
from engy_mock.dialects.admission import Body, check_content, check_host, is_foreign
from engy_mock.dialects.dialect import Desk, Page
from engy_mock.dialects.errors import judged
from engy_mock.dialects.gist import gist
from engy_mock.dialects.routes import Route
from engy_mock.gateway.admission import admitted
from engy_mock.gateway.direction import Direction, asked_of, with_call_ids
from engy_mock.gateway.discretion import MAX_REASON, discreet
from engy_mock.gateway.doorstep import met, turned_away
from engy_mock.gateway.exchange import Exchange
from engy_mock.gateway.heads import JSON, id_headers, refusal_headers
from engy_mock.gateway.identity import Identities
from engy_mock.gateway.origins import Shared, check_upgrade, preflight
from engy_mock.gateway.patience import Patience, Watched
from engy_mock.gateway.payer import payer
from engy_mock.gateway.scenes import Scenes
from engy_mock.gateway.settings import Settings as Settings
from engy_mock.gateway.speaking import Speaker
from engy_mock.gateway.timing import timing
from engy_mock.gateway.understanding import Understanding, Understood
from engy_mock.model.catalog import Catalog
from engy_mock.model.engine import Engine
from engy_mock.model.records import Records
from engy_mock.scripting.asked import Asked
from engy_mock.scripting.reach import tellable, unseen
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Chosen
from engy_mock.scripting.script import Script
from engy_mock.vocabulary import json
from engy_mock.vocabulary.clock import Clock, PatientClock, StandingClock
from engy_mock.vocabulary.credentials import without_keys
from engy_mock.vocabulary.errors import ApiError, MockFailed, UnmetExpectation, bare, quoted
from engy_mock.vocabulary.generation import Generation
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Call, Doorstep, Head, Step, Whole

if TYPE_CHECKING:
    from engy_mock.gateway.replaying import Replay

MAX_REMEMBERED_BODY = 16 * 1024

_log = logging.getLogger("engy_mock")

_what = lru_cache(maxsize=64)(digest)
"""The digests of the calls that came last, as clients under load ask the same again and again."""


@dataclass(slots=True)
class Gateway:
    """One pretend service with its state; every method may be called from any thread.

    `annex` opens a second door to it, and gives its address; None where there is only one. `heads` is called when
    heads are going to be looked at, before the first of them comes. `replay` knows what was
    recorded, and answers before the model does.
    """

    seed: int = 0
    clock: Clock = field(default_factory=StandingClock)
    settings: Settings = field(default_factory=Settings)
    catalog: Catalog = field(init=False)
    journal: Journal = field(init=False)
    accounts: Accounts = field(init=False)
    fleet: Fleet = field(default_factory=Fleet)
    cache: PromptCache = field(default_factory=PromptCache)
    records: Records = field(init=False)
    script: Script = field(init=False)
    scenes: Scenes = field(init=False)
    defects: list[BaseException] = field(default_factory=list)
    annex: Callable[[], str] | None = None
    heads: Callable[[], None] | None = None
    replay: "Replay | None" = None
    _speaker: Speaker = field(init=False)
    _direction: Direction = field(init=False)
    identities: Identities = field(init=False)
    _understanding: Understanding = field(init=False)
    _lock: Lock = field(default_factory=Lock)
    _patience: Patience | None = None

    def __post_init__(self) -> None:
        self.catalog = Catalog(seed=self.seed)
        self.journal = self._new_journal()
        self.accounts = self._new_accounts()
        self.records = Records(self.seed)
        self.scenes = Scenes(self)
        self.script = Script(now=self.now, more=self.scenes.stage.rules, expect=self.expect_heads)
        self._direction = Direction(self)
        engine = Engine(self.catalog, self.seed)
        self._speaker = Speaker(self, engine)
        self._understanding = Understanding(self, engine)
        self.identities = Identities(self.seed)
        self._patience = Patience(self.clock) if isinstance(self.clock, PatientClock) else None

    def now(self) -> float:
        """Unix time on the mock's clock."""
        return self.clock.now()

    def break_off(self) -> None:
        """The answers under way will not come to their end: no fault of their clients, who pay nothing."""
        for entry in self.journal:
            entry.course.break_off()

    def reset(self) -> None:
        """Be as new: journal, accounts, cache, rules, scenarios, models and ids.

        Answers still under way keep the old books.
        """
        self.break_off()
        with self._lock:
            self.journal = self._new_journal()
            self.accounts = self._new_accounts()
            self.fleet = Fleet()
            self.cache = PromptCache()
            self.records = Records(self.seed)
        self.scenes.clear()
        self.catalog.restore()
        self.identities.forget()
        self.script.clear()
        self.defects = []
        self._understanding.forget()
        self._direction.forget()
        if self._patience is not None:
            self._patience.forget()
        if self.replay is not None:
            self.replay.rewind()

    def _new_journal(self) -> Journal:
        return Journal(lambda: self.settings)

    def _new_accounts(self) -> Accounts:
        """The books before anybody has an account of his own; only models of `/v1` have prices."""
        return Accounts(self.seed, self.clock, lambda: [card.id for card in self.catalog if card.vendor is None])

    def warm_up(self) -> None:
        """Load what the first answer needs."""
        language = self.catalog.language(next(iter(self.catalog)))
        language.read(language.tokenizer.encode("Hello")).distribution()

    @property
    def looks_at_heads(self) -> bool:
        """Whether anything may happen before a body is read."""
        return bool(self.script.early_rules())

    def expect_heads(self) -> None:
        """Let whoever serves load what it needs to look at heads."""
        if self.heads is not None:
            self.heads()

    def before_body(self, call: Call, note: Callable[[Entry], None] | None = None) -> Doorstep | None:
        """What happens before the body of a call is read; None for nothing, as is usual.

        `note` is told its place in the journal if it is answered at once.
        """
        if not self.looks_at_heads:
            return None
        found = met(call, self, lambda route: payer(call, route, self.accounts, self.settings), note)
        origin = call.headers.get("origin")
        if found is not None and found.steps is not None and origin is not None:
            return replace(found, steps=Shared(found.steps, origin, self.settings.cors_origins))
        return found

    def answer(self, call: Call, note: Callable[[Entry], None] | None = None) -> Iterator[Step]:
        """The steps that tell a client the answer to its call; `note` is told its place in the journal.

        Whoever stops before the last step has to close the iterator, so that the books can be closed.
        """
        origin = call.headers.get("origin")
        if self._patience is not None:
            self._patience.came(call)
        steps = self._answered(call, origin, note)
        if self._patience is not None:
            steps = Watched(steps, call, self._patience)
        if origin is None or is_foreign(call, self.settings.allowed_hosts):
            return steps  # who means another machine is told nothing that is for pages of this one
        return Shared(steps, origin, self.settings.cors_origins)

    def turned_away(self, path: str, error: ApiError) -> Whole:
        """What is said to a call that is no HTTP, in the dialect of its path as far as that can be read.

        It has an id like any other, and no place in the journal: what it asked for is not known.
        """
        what = digest("turned away", path, error.message)
        return turned_away(
            path, error, self.identities.next(what, Call(method="", path=path, headers={}), Body(b""))
        )

    def _answered(self, call: Call, origin: str | None, note: Callable[[Entry], None] | None) -> Iterator[Step]:
        """The same without what is said to browsers alone."""
        digested = _what if len(call.body) <= MAX_REMEMBERED_BODY else digest
        what = digested(call.method, call.path, call.query, call.body)
        body = Body(call.body)
        request_id = self.identities.next(what, call, body)
        entry = Entry(
            method=call.method,
            path=without_keys(call.path),
            body=call.body,
            request_id=request_id,
            headers=harmless(call.headers) if call.kept is None else call.kept,
            plan=f"{self.seed}/{request_id[:16]}",
            asked_at=self.clock.now(),
            line=call.line,
            is_body_unread=call.trouble is not None,
        )
        if note is not None:
            note(entry)
        journal: Journal | None = self.journal
        hold: Hold | None = None
        try:
            self.scenes.stage.tick()  # phases have models of their own
            check_host(call, self.settings.allowed_hosts)
            if origin is not None:
                check_upgrade(call, origin, self.settings.cors_origins)
            if call.method == "OPTIONS":
                steps = preflight(call, entry, self.settings.cors_origins)
                # Browsers remember the answer for as long as they like: only what fails is worth a note.
                journal = journal if entry.error else None
                entry.course.at_once()
                return steps
            if self.replay is not None:
                from engy_mock.gateway.replaying import said_again

                again = said_again(call, body, entry, self.replay, self, self._direction)
                if again is not None:
                    return again
            route, name = routes.find(call.method, call.path)
            entry.endpoint, entry.surface = route.endpoint, route.surface.name
            account = payer(call, route, self.accounts, self.settings)
            entry.account = account.name
            if call.method != "GET":
                check_content(call)
            if route.page is not None:
                return self._page(route, route.page, call, body, name, account, entry)
            understood = self._understanding.understood(what, body, route, account)
            prepared = understood.prepared
            entry.request, entry.request_weight = prepared.request, understood.weight
            hold = admitted(prepared, account, route.surface, self.fleet, self.settings, self.clock)
            exchange = Exchange(
                entry=entry,
                route=route,
                account=account,
                hold=hold,
                prepared=prepared,
                is_streamed=prepared.request.is_streamed,
                timing=timing(self.settings, prepared.card.id, self.fleet.under_way - 1, request_id),
                memory=understood.memory,
            )
            asked = None if self._direction.is_idle(call) else asked_of(call, route, request=prepared.request)
            found = None
            if asked is not None:
                exchange.crowd = self._direction.enter(asked, hold)
                found = self._direction.chosen(asked, entry)
            if asked is None or found is None:
                generation = with_call_ids(self._speaker.made_up(understood), request_id)
                generation = self._speaker.remembered(generation, understood, account)
                steps = exchange.told(generation, self.settings, self.clock.now())
            else:
                steps = self._scripted(exchange, found, understood, asked)
        except BaseException as error:
            # Whatever it is, `pytest.fail` in a rule included: the books stay right, the service stays up.
            if hold is not None:
                hold.settle(0)
            if entry.request is None and len(call.body) > MAX_BODY and (document := body.known()):
                entry.gist = gist(call.method, call.path, document)  # the journal is going to cut its body
            refusal = bare(error) if isinstance(error, ApiError) else self._failed(error, call)
            steps = self._refused(refusal, call, body, entry)
            if not isinstance(error, ApiError | UnmetExpectation):
                entry.error = f"{refusal.message}: {error!r:.500}"
        finally:
            if journal is not None:
                journal.add(entry)
        return steps

    def _failed(self, error: BaseException, call: Call) -> MockFailed:
        """What the client is told of a defect; the reason is for the log and for whoever looks at `defects`."""
        told: tuple[str, ...] = ()
        if isinstance(error, UnmetExpectation):
            # Nothing is broken: who wrote the test is told what did not fit, and so is the client.
            told = (quoted(" ".join(str(error).split()), MAX_REASON),)
            _log.error("%s", *told)
        else:
            _log.error("the mock failed on %s %s", call.method, quoted(call.path), exc_info=error)
        # The first is shown to a test; what the others have passed is in the log.
        self.defects.append(bare(error) if self.defects else error)
        return MockFailed(*told)

    def _scripted(self, exchange: Exchange, found: Chosen, understood: Understood, asked: Asked) -> Iterator[Step]:
        """An answer with what rules dictate, and with their faults; raises the refusal of a rule."""
        answer = found.answer
        vain: tuple[str, ...] = ()
        said: Generation | ApiError
        if isinstance(answer, Refusal):
            said = answer.error(hurries=self.settings.hurries_retries)
        elif answer is not None:
            # What it says in vain is told like a fault that changes nothing.
            answer, vain = tellable(answer, asked.endpoint, asked.surface)
            said = self._speaker.dictated(understood, answer)
            vain += unseen(answer, said, asked.endpoint, is_streamed=exchange.is_streamed)
        else:
            said = self._speaker.made_up(understood)
        if isinstance(said, Generation):
            said = self._speaker.remembered(said, understood, exchange.account)
        if found.faults:
            steps = self._direction.marred(exchange, said, found, asked)
            exchange.entry.not_applied += vain
            return steps
        if isinstance(said, ApiError):
            raise said
        exchange.entry.not_applied = vain
        said = with_call_ids(said, exchange.entry.request_id)
        return exchange.told(said, self.settings, self.clock.now())

    def _page(
        self, route: Route, page: Page, call: Call, body: Body, name: str, account: Account, entry: Entry
    ) -> Iterator[Step]:
        """The answer of a route that needs no model."""
        desk = Desk(
            catalog=self.catalog,
            records=self.records.of(account.name),
            prices_of=account.prices_of,
            prompt_tokens=lambda said: self._understanding.counted(said, route, account),
            now=self.clock.now(),
        )
        said = body.document() if call.method != "GET" and (call.body or call.method == "POST") else {}
        document = page.answer(call, name, said, desk)
        entry.status, data = 200, json.write(document)
        exchange = Exchange(entry=entry, route=route, account=account, hold=Hold(account, 0))
        if not self._direction.is_idle(call):
            asked = asked_of(call, route, body=said)
            found = self._direction.chosen(asked, entry)
            if found is not None and isinstance(found.answer, Refusal) and not found.faults:
                raise found.answer.error(hurries=self.settings.hurries_retries)
            if found is not None and found.faults:
                answer = found.answer
                hurries = self.settings.hurries_retries
                refusal = answer.error(hurries=hurries) if isinstance(answer, Refusal) else data
                return self._direction.marred(exchange, refusal, found, asked)
        entry.course.at_once()
        return iter((Whole(exchange.head(JSON), data),))

    def _refused(self, error: ApiError, call: Call, body: Body, entry: Entry) -> Iterator[Step]:
        """A refusal as a whole answer in the dialect of its path; it costs nothing."""
        route = routes.speaker(call.path)
        error = discreet(judged(error, route.surface, route.dialect.endpoint), call)
        if entry.rule is None and not isinstance(error, MockFailed) and not self._direction.is_idle(call):
            asked = asked_of(call, route, body=body.known(), refused=error.status)
            found = self._direction.chosen(asked, entry)
            if found is not None and found.faults:
                nobody = Account(name="nobody")
                exchange = Exchange(
                    entry=entry,
                    route=route,
                    account=nobody,
                    hold=Hold(nobody, 0),
                    is_streamed=asked.is_streamed,
                )
                return self._direction.marred(exchange, error, found, asked)
        entry.status = error.status
        entry.error = error.message
        data = route.dialect.error(error, route.surface, entry.request_id)
        headers = refusal_headers(error, route, self.clock.now())
        head = Head(error.status, (JSON, *id_headers(route, entry), *headers))
        whole = Whole(head, data)
        entry.course.at_once(whole)
        return iter((whole,))
