"""Whether a request that is understood may be answered: workers, places, credit, in this order (E-82 to E-84)."""

from engy_mock.books.accounts import Account, Hold
from engy_mock.books.fleet import Fleet, check_wish
from engy_mock.books.limits import NO_RETRY
from engy_mock.dialects.surfaces import Surface
from engy_mock.gateway.settings import Settings
from engy_mock.model.prepared import Prepared
from engy_mock.vocabulary.clock import Clock
from engy_mock.vocabulary.errors import NoWorker, RateLimited

AT_ONCE = ("retry-after-ms", "1")
"""The hint that lets official clients try again without waiting."""


def admitted(
    prepared: Prepared, account: Account, surface: Surface, fleet: Fleet, settings: Settings, clock: Clock
) -> Hold:
    """The place and the credit of a request until its last byte.

    Raises NoWorker, RateLimited or InsufficientBalance; then it has taken nothing: no place, no credit, and
    nothing of what a minute allows.
    """
    try:
        if surface.has_receipt:  # only Engy's own surface knows of workers
            check_wish(prepared.request.provider, settings.workers)
        fleet.enter(settings.capacity)
        try:
            prices = account.prices_of(prepared.card)
            return account.hold(
                prepared.highest_cost_micro(prices),
                prices=prices,
                prompt_tokens=prepared.prompt_tokens,
                on_settled=fleet.leave,
            )
        except BaseException:
            fleet.leave()
            raise
    except (NoWorker, RateLimited) as error:
        if settings.hurries_retries and NO_RETRY not in error.headers and not clock.waits_for_real():
            # A client that waits on the wall for a clock that stands waits in vain.
            error.headers += (AT_ONCE,)
        raise
