"""What rules want before the body of a request is read: an answer at once, or no invitation to send it."""

from collections.abc import Callable
from typing import Protocol

from engy_mock.books.accounts import Accounts
from engy_mock.books.entry import Entry, harmless
from engy_mock.books.journal import Journal
from engy_mock.dialects import routes
from engy_mock.dialects.admission import Body, check_host
from engy_mock.dialects.errors import judged
from engy_mock.dialects.routes import Route
from engy_mock.gateway.apart import apart
from engy_mock.gateway.direction import asked_of
from engy_mock.gateway.heads import JSON, id_headers, refusal_headers
from engy_mock.gateway.identity import Identities
from engy_mock.gateway.payer import payer
from engy_mock.gateway.settings import Settings
from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import told
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule, rates_of
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.credentials import without_keys
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.seeds import digest, hex_id
from engy_mock.vocabulary.wire import Begin, Call, Close, Doorstep, Head, Whole, Write


class Mocked(Protocol):
    """The mock at whose door it happens."""

    seed: int
    settings: Settings
    script: Script
    journal: Journal
    accounts: Accounts
    identities: Identities

    def now(self) -> float:
        """Unix time on the mock's clock."""
        ...


def met(
    call: Call,
    mocked: Mocked,
    note: Callable[[Entry], None] | None = None,
) -> Doorstep | None:
    """What happens to a call whose head is there; None for nothing, as a rule.

    `note` is told the place in the journal of what is answered at once.
    """
    try:
        check_host(call, mocked.settings.allowed_hosts)
        route, _ = routes.find(call.method, call.path)
        account = payer(call, route, mocked.accounts, mocked.settings)
    except ApiError:
        return None  # it is refused in its turn
    asked = asked_of(call, route)
    # A head is counted apart from the whole call: many have their body read after all.
    what = digest(call.method, call.path, call.query, b"")
    name = () if account is mocked.accounts.default else (account.name,)
    meaning = mocked.identities.meaning(what, call, Body(b""), digest("head", apart(call, mocked.script, *name)))
    occurrence, request_id = mocked.identities.next(meaning)
    invites, rates = True, rates_of(request_id.encode())
    for rule in mocked.script.early_rules():
        if rule.is_used_up or not rule.fits(asked, {}) or rule.is_spared(rates):
            continue
        for own in rule.faults:
            occasion = Occasion(asked=asked, identity=request_id.encode(), rule=rule.name, now=mocked.now())
            if not isinstance(own, Early) or not own.suits(occasion) or _is_spared(own, occasion):
                continue
            refusal = own.answer()
            if refusal is None:
                invites = False
            elif mocked.script.use(rule) is not None:
                entry, doorstep = _answered(call, route, rule, own, refusal, request_id, mocked)
                entry.meaning, entry.occurrence = meaning, occurrence
                mocked.journal.add(entry)
                if note is not None:
                    note(entry)
                return doorstep
    return None if invites else Doorstep(invites=False)


def _is_spared(own: Early, occasion: Occasion) -> bool:
    return own.rate < 1 and occasion.draws("rate", own.kind).at(0) >= own.rate


def _answered(
    call: Call, route: Route, rule: Rule, own: Early, refusal: Refusal, request_id: str, mocked: Mocked
) -> tuple[Entry, Doorstep]:
    """A refusal, and the end of the connection, with what the journal is to keep of them."""
    error = refusal.error(hurries=mocked.settings.hurries_retries)
    error = judged(error, route.surface, route.dialect.endpoint)
    entry = Entry(
        method=call.method,
        path=without_keys(call.path),
        body=b"",
        request_id=request_id,
        endpoint=route.endpoint,
        surface=route.surface.name,
        asked_at=mocked.now(),
        status=error.status,
        error=error.message,
        headers=harmless(call.headers),
        rule=rule.description,
        faults=(told(own),),
        plan=f"{mocked.seed}/{hex_id(16, 'plan', request_id, rule.name, told(own))}",
        line=call.line,
        is_body_unread=True,
    )
    body = route.dialect.error(error, route.surface, request_id)
    headers = (JSON, *id_headers(route, entry), *refusal_headers(error, route, mocked.now()))
    head = Head(error.status, (*headers, ("Content-Length", str(len(body)))))
    steps = (Begin(head, len(body)), Write(body), Close())
    entry.course.at_once(*steps)
    return entry, Doorstep(iter(steps))


def turned_away(path: str, error: ApiError, request_id: str) -> Whole:
    """What is said to a call that is no HTTP, in the dialect of its path as far as that can be read (E-5)."""
    route = routes.speaker(path)
    error = judged(error, route.surface, route.dialect.endpoint)
    names = [(name, request_id) for name in route.id_headers if request_id]
    head = Head(error.status, (JSON, *names, *error.headers))
    return Whole(head, route.dialect.error(error, route.surface, request_id))
