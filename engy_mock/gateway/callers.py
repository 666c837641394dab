"""Who calls: the account that a key opens, and what else in a head sets a call apart from its equals."""

from typing import Protocol

from engy_mock.books.accounts import Account, Accounts
from engy_mock.dialects import routes
from engy_mock.dialects.admission import check_account, check_content, check_host, key_of
from engy_mock.dialects.routes import Route
from engy_mock.gateway.direction import SCENARIO, asked_of
from engy_mock.gateway.settings import Settings
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.errors import ApiError, InvalidKey
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Call


class Mocked(Protocol):
    """The mock that is called."""

    settings: Settings
    accounts: Accounts
    script: Script


def caller(call: Call, route: Route, mocked: Mocked) -> Account:
    """Whose key this is; raises InvalidKey where the route needs one, or PermissionDenied (S-13)."""
    headers = route.key_headers
    if mocked.settings.v5_accepts_bearer and "authorization" not in headers:
        headers += ("authorization",)
    try:
        account = mocked.accounts.opened_by(
            key_of(call, headers),
            key_prefix=route.surface.key_prefix,
            is_closed=mocked.settings.closed_accounts,
        )
    except InvalidKey:
        if route.needs_key:
            raise
        return Account(name="nobody")
    if account is not mocked.accounts.default:
        check_account(call, route.surface, account.name)
    return account


def apart(call: Call, mocked: Mocked) -> bytes:
    """What stands for all in a head that service or rules may answer otherwise; empty for what is usual.

    Who is set apart is counted apart, so that it does not matter who of them comes first (E-14): another account,
    what is refused for its head, and whatever rules look for there.
    """
    route, parts = routes.speaker(call.path), []
    try:
        check_host(call, mocked.settings.allowed_hosts)
        account = caller(call, route, mocked)
        if account is not mocked.accounts.default:
            parts += ["account", account.name]
        if call.method != "GET":
            check_content(call)
    except ApiError as error:
        parts += [str(error.status), error.message]
    looks = mocked.script.looks_at_heads()
    if looks:
        asked = asked_of(call, route)
        parts += [f"{one.word} {one.value!r}" for one in looks if one.check(asked) is None]
    scenario = call.headers.get(SCENARIO)
    if scenario is not None:
        parts += [SCENARIO, scenario]
    return digest(*parts) if parts else b""
