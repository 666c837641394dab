"""What in the head of a call sets it apart from others that ask the same."""

from typing import Protocol

from engy_mock.books.accounts import Accounts
from engy_mock.dialects import routes
from engy_mock.dialects.admission import check_content, check_host
from engy_mock.gateway.direction import SCENARIO, asked_of
from engy_mock.gateway.payer import payer
from engy_mock.gateway.settings import Settings
from engy_mock.scripting.script import Script
from engy_mock.vocabulary.errors import ApiError
from engy_mock.vocabulary.seeds import digest
from engy_mock.vocabulary.wire import Call


class Mocked(Protocol):
    """The mock that is called."""

    settings: Settings
    accounts: Accounts
    script: Script


def apart(call: Call, mocked: Mocked) -> bytes:
    """What stands for all in a head that service or rules may answer otherwise; empty for what is usual.

    Who is set apart is counted apart, so that it does not matter who of them comes first (E-14): another account,
    what is refused for its head, and whatever rules look for there.
    """
    route, parts = routes.speaker(call.path), []
    try:
        check_host(call, mocked.settings.allowed_hosts)
        account = payer(call, route, mocked.accounts, mocked.settings)
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
