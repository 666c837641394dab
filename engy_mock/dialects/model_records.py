"""The pages under `/v5/models`: records of models, to be listed, created, changed and deleted (S-57 to S-66)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Required

from typing_extensions import TypedDict

from engy_mock.dialects.dialect import Desk
from engy_mock.dialects.fields import Form, refuse, violation
from engy_mock.dialects.listing import Item, read_query, window
from engy_mock.dialects.marks import Name
from engy_mock.dialects.surfaces import V5
from engy_mock.model.cards import ModelType
from engy_mock.model.records import Record
from engy_mock.model.vendors import Vendor
from engy_mock.vocabulary.wire import Call

CREATED_BY = "engy-mock"
"""Who has created every record, as records tell it."""

_AVAILABILITY = {"ready": "available"}


class ImageForm(TypedDict, total=False):
    """What is to be changed about an image that is deployed."""

    command: list[str]
    registry: str
    repository: str
    tag: str


class WholeImageForm(TypedDict):
    """An image that is to be deployed."""

    command: list[str]
    registry: str
    repository: str
    tag: str


class LaunchForm(TypedDict):
    """How a model of `launch` is deployed."""

    model_image: WholeImageForm
    model_infra: dict[str, Any]


class EngineForm(TypedDict):
    """How a model of `llmengine` is deployed."""

    model: str


class PartForm(TypedDict, total=False):
    """What is to be changed about how a model is deployed; which of it there is depends on the vendor."""

    model_image: ImageForm
    model_infra: dict[str, Any]
    model: str


class NewForm(TypedDict, total=False):
    """What every new record has."""

    name: Required[Name]
    model_metadata: dict[str, Any] | None
    on_conflict: Literal["error", "update"] | None


class HostedForm(NewForm, total=False):
    """A new record of a model that its vendor serves already."""

    model_vendor: Required[Vendor]
    model_type: Required[ModelType]


class NewLaunchForm(NewForm, total=False):
    """A new record of a model of `launch`."""

    model_type: Literal["generic"] | None
    vendor_configuration: Required[LaunchForm]


class NewEngineForm(NewForm, total=False):
    """A new record of a model of `llmengine`."""

    model_type: Literal["chat_completion"] | None
    vendor_configuration: Required[EngineForm]


class ChangeForm(TypedDict, total=False):
    """What is to be changed about a record."""

    name: Name | None
    on_conflict: Literal["error", "swap"] | None
    model_metadata: dict[str, Any] | None
    vendor_configuration: PartForm | None


_HOSTED = Form(HostedForm)
_CHANGE = Form(ChangeForm)
_DEPLOYED: dict[Vendor, tuple[Form[Any], ModelType]] = {
    "launch": (Form(NewLaunchForm), "generic"),
    "llmengine": (Form(NewEngineForm), "chat_completion"),
}
"""The vendors whose models have to be deployed: the form of a new record, and the one type that they have."""

_FOREIGN = {"launch": frozenset({"model"}), "llmengine": frozenset({"model_image", "model_infra"})}
"""What the configuration of a vendor cannot have, since it belongs to the other."""


class RecordList:
    """Lists the records of the account, page by page."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """One page of the list (S-59)."""
        query = read_query(call.query)
        rows = [(record.id, document(record)) for record in desk.records.read()]
        found = window(rows, query, _FIELDS)
        return {
            "object": "list",
            "items": found.items,
            "limit": found.limit,
            "total": found.total,
            "has_more": found.has_more,
        }


class RecordCreation:
    """Creates a record, or updates the one of the same name if that is wished (S-63 to S-65)."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The record as it is right after that."""
        vendor = _vendor(body)
        if vendor in _DEPLOYED:
            form, model_type = _DEPLOYED[vendor]
            fields = form.read(body, V5)
        else:
            fields = _HOSTED.read(body, V5)
            vendor, model_type = fields["model_vendor"], fields["model_type"]
        return document(
            desk.records.add(
                name=fields["name"],
                model_type=model_type,
                model_vendor=vendor,
                now=desk.now,
                model_metadata=fields.get("model_metadata"),
                # As it was sent, with the fields that nobody checks.
                vendor_configuration=body["vendor_configuration"] if vendor in _DEPLOYED else None,
                updates=fields.get("on_conflict") == "update",
            )
        )


class RecordView:
    """Shows one record."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The record of this id; raises NotFound."""
        desk.records.read()
        return document(desk.records.find(name))


class RecordChange:
    """Changes metadata, configuration or name of a record (S-66)."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """The record as it is right after that."""
        form = _CHANGE.read(body, V5)
        # As it was sent, with the fields that nobody checks.
        configuration = body.get("vendor_configuration")
        if configuration is not None:
            _refuse_foreign_parts(desk.records.find(name), configuration)
        return document(
            desk.records.change(
                name,
                metadata=form.get("model_metadata"),
                configuration=configuration,
                new_name=form.get("name"),
                swaps=form.get("on_conflict") == "swap",
            )
        )


class RecordRemoval:
    """Deletes a record."""

    def answer(self, call: Call, name: str, body: Mapping[str, Any], desk: Desk) -> dict[str, Any]:
        """What is gone."""
        return {"id": desk.records.remove(name).id, "deleted": True, "object": "model"}


def document(record: Record) -> Item:
    """A record as answers show it (S-58)."""
    return {
        "id": record.id,
        "object": "model",
        "name": record.name,
        "model_type": record.model_type,
        "model_vendor": record.model_vendor,
        "status": record.status,
        "status_reason": None,
        "model_availability": _AVAILABILITY.get(record.status, "unavailable"),
        "model_metadata": record.model_metadata,
        "vendor_configuration": record.vendor_configuration,
        "created_at": f"{datetime.fromtimestamp(record.created_at, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "created_by_user_id": CREATED_BY,
        "created_by_identity_type": "service_account",
    }


_FIELDS = tuple(document(Record(id="", name="", model_type="generic", model_vendor="openai", created_at=0)))
"""What records can be sorted by (S-60)."""


def _vendor(body: Mapping[str, Any]) -> Any:
    """The vendor that a new record names, or the one whose configuration it has."""
    vendor = body.get("model_vendor")
    if vendor is not None:
        return vendor if isinstance(vendor, str) else None
    configuration = body.get("vendor_configuration")
    if not isinstance(configuration, dict):
        return None
    return "launch" if "model_image" in configuration else "llmengine" if "model" in configuration else None


def _refuse_foreign_parts(record: Record, configuration: Mapping[str, Any]) -> None:
    """Raise InvalidRequest if a configuration is that of another vendor."""
    foreign = sorted(_FOREIGN.get(record.model_vendor, frozenset()) & configuration.keys())
    if foreign:
        refuse(*(violation(("vendor_configuration", part), "unsupported") for part in foreign))
