"""The mock's time, read and moved."""

from typing import Annotated

from pydantic import Field, model_validator

from engy_mock.serving.control.form import Form
from engy_mock.serving.control.house import House, Order, Refused
from engy_mock.vocabulary.clock import StandingClock

LATEST = 253_402_300_799
"""The last second of the year 9999, behind which no header can write a time."""

Moment = Annotated[float, Field(ge=0, le=LATEST)]


class ClockForm(Form):
    """Unix seconds; a wall clock cannot be moved."""

    now: float
    is_wall_clock: bool


class ClockChange(Form):
    """Either a time to show, or seconds to move forward by."""

    now: Moment | None = None
    advance: Moment | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "ClockChange":
        if (self.now is None) is (self.advance is None):
            raise ValueError("say either now or advance")
        return self


def show(house: House, order: Order) -> ClockForm:
    """The time."""
    clock = house.gateway.clock
    return ClockForm(now=clock.now(), is_wall_clock=clock.waits_for_real())


def change(house: House, order: Order) -> ClockForm:
    """Set or move it."""
    clock, wish = house.gateway.clock, order.body
    if not isinstance(clock, StandingClock):
        raise Refused(409, "the wall clock cannot be moved: serve without --wall-clock for one that can")
    if wish.now is not None:
        clock.set(wish.now)
    elif clock.now() + wish.advance > LATEST:
        raise Refused(400, f"advance leads behind {LATEST}, the last second of the year 9999", param="advance")
    else:
        clock.advance(wish.advance)
    return show(house, order)
