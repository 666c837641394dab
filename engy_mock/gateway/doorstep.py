"""What rules want before the body of a request is read: an answer at once, or no invitation to send it."""

from engy_mock.books.journal import Entry, harmless
from engy_mock.dialects.admission import Body, key_of
from engy_mock.dialects.errors import judged
from engy_mock.dialects.routes import Route
from engy_mock.gateway.exchange import JSON, id_headers, refusal_headers
from engy_mock.gateway.identity import Identities
from engy_mock.gateway.settings import Settings
from engy_mock.scripting.asked import Asked
from engy_mock.scripting.early import Early
from engy_mock.scripting.fault import told
from engy_mock.scripting.occasion import Occasion
from engy_mock.scripting.refusals import Refusal
from engy_mock.scripting.rules import Rule
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.seeds import digest, hex_id
from engy_mock.vocabulary.wire import Begin, Call, Close, Doorstep, Head, Write


def met(
    call: Call, route: Route, script: Script, identities: Identities, settings: Settings, *, seed: int, now: float
) -> tuple[Doorstep, Entry | None] | None:
    """What happens to a call whose head is there, with its entry if that is all; None for nothing, as a rule."""
    asked = Asked(
        endpoint=route.dialect.endpoint,
        surface=route.surface.name,
        key=key_of(call, (*route.key_headers, "authorization")),
        headers=call.headers,
    )
    request_id = identities.next(digest("head", call.method, call.path, call.query), call, Body(b""))
    invites = True
    for rule in script.early_rules():
        if rule.is_used_up or not rule.fits(asked, {}) or rule.is_spared(request_id.encode()):
            continue
        for own in rule.faults:
            occasion = Occasion(asked=asked, identity=request_id.encode(), rule=rule.name, now=now)
            if not isinstance(own, Early) or not own.suits(occasion) or _is_spared(own, occasion):
                continue
            refusal = own.answer()
            if refusal is None:
                invites = False
            elif script.use(rule) is not None:
                return _answered(call, route, rule, own, refusal, request_id, settings, seed, now)
    return None if invites else (Doorstep(invites=False), None)


def _is_spared(own: Early, occasion: Occasion) -> bool:
    return own.rate < 1 and occasion.draws("rate", own.kind).at(0) >= own.rate


def _answered(
    call: Call,
    route: Route,
    rule: Rule,
    own: Early,
    refusal: Refusal,
    request_id: str,
    settings: Settings,
    seed: int,
    now: float,
) -> tuple[Doorstep, Entry]:
    """A refusal, and the end of the connection."""
    error = judged(refusal.error(hurries=settings.hurries_retries), route.surface, route.dialect.endpoint)
    entry = Entry(
        number=0,
        method=call.method,
        path=call.path,
        body=b"",
        request_id=request_id,
        status=error.status,
        error=error.message,
        headers=harmless(call.headers),
        rule=rule.description,
        faults=(told(own),),
        plan=f"{seed}/{hex_id(16, 'plan', request_id, rule.name, told(own))}",
    )
    body = route.dialect.error(error, route.surface, request_id)
    headers = (JSON, *id_headers(route, entry), *refusal_headers(error, route, now))
    head = Head(error.status, (*headers, ("Content-Length", str(len(body)))))
    return Doorstep(iter((Begin(head, len(body)), Write(body), Close()))), entry
