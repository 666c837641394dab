"""Who pays for a call: the account that its key opens."""

from engy_mock.books.accounts import Account, Accounts
from engy_mock.dialects.admission import check_account, key_of
from engy_mock.dialects.routes import Route
from engy_mock.gateway.settings import Settings
from engy_mock.vocabulary.errors import InvalidKey
from engy_mock.vocabulary.wire import Call


def payer(call: Call, route: Route, accounts: Accounts, settings: Settings) -> Account:
    """Whose key this is; raises InvalidKey where the route needs one, or PermissionDenied (S-13)."""
    headers = route.key_headers
    if settings.v5_accepts_bearer and "authorization" not in headers:
        headers += ("authorization",)
    try:
        account = accounts.opened_by(
            key_of(call, headers), key_prefix=route.surface.key_prefix, is_closed=settings.closed_accounts
        )
    except InvalidKey:
        if route.needs_key:
            raise
        return Account(name="nobody")
    if account is not accounts.default:
        check_account(call, route.surface, account.name)
    return account
