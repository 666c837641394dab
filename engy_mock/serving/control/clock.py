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
    """Unix seconds; a wall clock cannot be moved. While a clock `runs`, pauses really wait."""

    now: float
    is_wall_clock: bool
    runs: bool


class ClockChange(Form):
    """A time to show, or seconds to move forward by, or whether time passes by itself."""

    now: Moment | None = None
    advance: Moment | None = None
    runs: bool | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "ClockChange":
        if [self.now, self.advance, self.runs].count(None) != 2:
            raise ValueError("say either now or advance or runs")
        return self


def show(house: House, order: Order) -> ClockForm:
    """The time."""
    clock = house.gateway.clock
    is_wall_clock = not isinstance(clock, StandingClock)
    return ClockForm(now=clock.now(), is_wall_clock=is_wall_clock, runs=clock.waits_for_real())


def change(house: House, order: Order) -> ClockForm:
    """Set or move it, let it run or stand."""
    clock, wish = house.gateway.clock, order.body
    if not isinstance(clock, StandingClock):
        raise Refused(409, "the wall clock cannot be moved: serve without --wall-clock for one that can")
    if wish.runs is not None:
        (clock.run if wish.runs else clock.stand)()
    elif wish.now is not None:
        clock.set(wish.now)
    elif clock.now() + wish.advance > LATEST:
        raise Refused(400, f"advance leads behind {LATEST}, the last second of the year 9999", param="advance")
    else:
        clock.advance(wish.advance)
    return show(house, order)
