"""One exchange in forms that can be pasted elsewhere."""

from engy_mock.serving.control.exchanges import numbered
from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order
from engy_mock.serving.copying.command import as_command
from engy_mock.serving.copying.python import as_test
from engy_mock.serving.copying.restaging import restaged
from engy_mock.serving.copying.sheet import NoRule, as_scenario


class Copies(Form):
    """A command for a shell, a test for pytest, and a scenario file with one rule.

    `complaint` says why some are null: all of them where the journal has not kept enough of the request, the
    scenario where no rule can bring the exchange about.
    """

    curl: str | None
    pytest: str | None
    scenario: str | None
    complaint: str | None


def copies(house: House, order: Order) -> Copies:
    """All three."""
    entry = numbered(house, order.name)
    if entry.is_body_cut:
        said = f"its body was longer than the {len(entry.body)} bytes that the journal keeps"
        return Copies(curl=None, pytest=None, scenario=None, complaint=said)
    seed = house.gateway.seed
    again = restaged(entry, seed)
    payer = next((account for account in house.gateway.accounts if account.name == entry.account), None)
    keys = () if payer is None or payer is house.gateway.accounts.default else payer.keys
    key = next(iter(keys), house.api_key) if again.shows_key else None
    scenario: str | None = None
    complaint: str | None = None
    try:
        scenario = as_scenario(entry, again, seed)
    except NoRule as reason:
        complaint = str(reason)
    return Copies(
        curl=as_command(entry, f"{house.scheme}://{order.host}", key),
        pytest=as_test(entry, again, seed),
        scenario=scenario,
        complaint=complaint,
    )
