"""The mock at a glance: health, readiness, counts; and making it as new."""

from typing import Literal

from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order


class Health(Form):
    """The process answers; `instance` tells this run from any other that may listen on the same port (Q-43)."""

    status: Literal["ok", "ready"]
    name: Literal["engy-mock"] = "engy-mock"
    version: str
    instance: str


class State(Form):
    """What there is, and how much of it."""

    version: str
    instance: str
    seed: int
    api_key: str
    now: float
    runs: bool
    scenarios: list[str]
    rules: int
    accounts: int
    models: int
    exchanges: int
    lost_exchanges: int
    under_way: int
    defects: list[str]
    complaints: list[str]


def health(house: House, order: Order) -> Health:
    """The process is alive."""
    return Health(status="ok", version=house.version, instance=house.instance)


def ready(house: House, order: Order) -> Health:
    """The first answer will not have to wait."""
    if not house.is_warm:
        house.gateway.warm_up()
        house.is_warm = True
    return Health(status="ready", version=house.version, instance=house.instance)


def state(house: House, order: Order) -> State:
    """The mock at a glance."""
    gateway = house.gateway
    return State(
        version=house.version,
        instance=house.instance,
        seed=gateway.seed,
        api_key=house.api_key,
        now=gateway.now(),
        runs=gateway.clock.waits_for_real(),
        scenarios=[scene.name for scene in gateway.scenes.stage.scenes],
        rules=len(gateway.script.rules) + len(gateway.scenes.stage.rules()),
        accounts=len(gateway.accounts),
        models=len(list(gateway.catalog)),
        exchanges=len(gateway.journal),
        lost_exchanges=gateway.journal.lost,
        under_way=gateway.fleet.under_way,
        defects=[f"{type(defect).__name__}: {defect!s:.500}" for defect in gateway.defects],
        complaints=list(house.complaints()),
    )


def reset(house: House, order: Order) -> State:
    """Be as new."""
    house.reset()
    return state(house, order)
