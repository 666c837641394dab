"""The settings of the mock, read and changed: whatever `Settings` has, this has."""

from dataclasses import asdict, fields
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import Field, create_model

from engy_mock.gateway.settings import Settings
from engy_mock.serving.control.form import WHOLE, Form
from engy_mock.serving.control.house import House, Order

_HINTS = get_type_hints(Settings)
_NAMES = tuple([one.name for one in fields(Settings)])


def _left_out(schema: dict[str, Any]) -> None:
    """A setting that is not named stays as it is: there is no default to tell."""
    schema.pop("default", None)


def _read(hint: Any) -> Any:
    """How a value is read out of JSON: a whole number however it is written, all else as it stands."""
    return Annotated[hint, WHOLE] if set(get_args(hint) or (hint,)) <= {int, NoneType} else hint


_CHANGES: dict[str, Any] = {
    name: (_read(_HINTS[name]), Field(default=None, json_schema_extra=_left_out)) for name in _NAMES
}
_ALL: dict[str, Any] = {name: (_HINTS[name], ...) for name in _NAMES}

SettingsForm = create_model("SettingsForm", __base__=Form, __doc__=Settings.__doc__, **_ALL)
SettingsChange = create_model(
    "SettingsChange", __base__=Form, __doc__="The settings that are to be others; the rest stays.", **_CHANGES
)


def show(house: House, order: Order) -> Form:
    """All of them."""
    values = asdict(house.gateway.settings)
    return SettingsForm(**{name: sorted(v) if isinstance(v, frozenset) else v for name, v in values.items()})


def change(house: House, order: Order) -> Form:
    """Some of them become others."""
    wishes = {name: getattr(order.body, name) for name in order.body.model_fields_set}
    for model in wishes.get("pace_by_model", ()):
        house.gateway.catalog.row(model)
    for name, value in wishes.items():
        setattr(house.gateway.settings, name, value)
    return show(house, order)
