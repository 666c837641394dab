"""The model records that accounts keep under `/v5/models`, and the models that they make callable."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Literal

from engy_mock.model.cards import ModelCard, ModelType
from engy_mock.model.catalog import Catalog
from engy_mock.model.vendors import VENDORS, check_vendor, vendor_card
from engy_mock.vocabulary.errors import InvalidRequest, ModelNotFound, NameConflict, NotFound, quoted
from engy_mock.vocabulary.seeds import hex_id

Status = Literal["ready", "deploying", "failed", "deployment_timeout"]

DEPLOYED = frozenset({"launch", "llmengine"})
"""The vendors whose models have to be deployed before they can be called (S-64)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One model of an account; `created_at` is in Unix seconds of the mock's clock."""

    id: str
    name: str
    model_type: ModelType
    model_vendor: str
    created_at: float
    status: Status = "ready"
    model_metadata: Mapping[str, Any] | None = None
    vendor_configuration: Mapping[str, Any] | None = None

    @property
    def model(self) -> str:
        """What requests call it by: `vendor/name`."""
        return f"{self.model_vendor}/{self.name}"


@dataclass(slots=True)
class Shelf:
    """The records of one account in the order of their creation; every method may be called from any thread."""

    account: str
    seed: int = 0
    _records: dict[str, Record] = field(default_factory=dict)
    _created: int = 0
    _lock: RLock = field(default_factory=RLock, repr=False)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records.values()))

    def read(self) -> tuple[Record, ...]:
        """All records as a client reads them: what was being deployed is ready from now on (S-64)."""
        with self._lock:
            for record in self:
                if record.status == "deploying":
                    self._put(replace(record, status="ready"))
            return tuple(self)

    def find(self, id: str) -> Record:
        """The record of this id, or the one that requests call by it; raises NotFound."""
        record = self._records.get(id) or next((record for record in self if record.model == id), None)
        if record is None:
            raise NotFound(f"model '{quoted(id)}' not found")
        return record

    def model(self, name: str, catalog: Catalog, vendors: Container[str] = VENDORS) -> ModelCard:
        """The model of this `vendor/name`, built in or made callable by a record; raises ApiError (S-22, S-23)."""
        check_vendor(name, vendors)
        card = catalog.find_at_vendor(name) or next((card for card in self.cards() if card.id == name), None)
        if card is None:
            raise ModelNotFound(f"model '{quoted(name)}' not found", param="model")
        return card

    def callable_models(self) -> tuple[tuple[str, ModelType], ...]:
        """What can be called because of these records: those that are ready (S-23)."""
        return tuple([(record.model, record.model_type) for record in self if record.status == "ready"])

    def cards(self) -> Iterator[ModelCard]:
        """The same as models."""
        return (vendor_card(model, model_type) for model, model_type in self.callable_models())

    def add(
        self,
        *,
        name: str,
        model_type: ModelType,
        model_vendor: str,
        now: float,
        model_metadata: Mapping[str, Any] | None = None,
        vendor_configuration: Mapping[str, Any] | None = None,
        updates: bool = False,
    ) -> Record:
        """A new record, or with `updates` new contents for the one of this name; raises NameConflict (S-65)."""
        with self._lock:
            known = self._named(name, model_vendor)
            if known is not None and not updates:
                raise _conflict(name)
            if known is not None:
                id, created_at = known.id, known.created_at
            else:
                self._created += 1
                id, created_at = self._new_id(name, model_vendor), now
            return self._put(
                Record(
                    id=id,
                    name=name,
                    model_type=model_type,
                    model_vendor=model_vendor,
                    created_at=created_at,
                    status="deploying" if model_vendor in DEPLOYED else "ready",
                    model_metadata=model_metadata,
                    vendor_configuration=vendor_configuration,
                )
            )

    def change(
        self,
        id: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        configuration: Mapping[str, Any] | None = None,
        new_name: str | None = None,
        swaps: bool = False,
    ) -> Record:
        """The record with all of these changes or none; raises NotFound, InvalidRequest or NameConflict (S-66).

        A configuration is laid over the one that is there, and the model deployed again. With `swaps` a name
        is exchanged with the record that has it.
        """
        with self._lock:
            record = self._settled(id)
            if configuration is not None and record.model_vendor not in DEPLOYED:
                raise InvalidRequest(f"models of vendor '{record.model_vendor}' have no configuration")
            if new_name is not None and new_name != record.name:
                other = self._named(new_name, record.model_vendor)
                if other is not None and not swaps:
                    raise _conflict(new_name)
                if other is not None:
                    self._put(replace(other, name=record.name))
                record = replace(record, name=new_name)
            if metadata is not None:
                record = replace(record, model_metadata=metadata)
            if configuration is not None:
                whole = _laid_over(record.vendor_configuration or {}, configuration)
                record = replace(record, vendor_configuration=whole, status="deploying")
            return self._put(record)

    def remove(self, id: str) -> Record:
        """Take a record away; raises NotFound, or InvalidRequest while it is being deployed."""
        with self._lock:
            record = self._settled(id)
            del self._records[record.id]
            return record

    def _put(self, record: Record) -> Record:
        self._records[record.id] = record
        return record

    def _named(self, name: str, vendor: str) -> Record | None:
        return next((r for r in self if r.name == name and r.model_vendor == vendor), None)

    def _settled(self, id: str) -> Record:
        """A record that may be changed (S-66)."""
        record = self.find(id)
        if record.status == "deploying":
            raise InvalidRequest(f"model '{quoted(record.name)}' is deploying")
        return record

    def _new_id(self, name: str, vendor: str) -> str:
        """An id in the form of a UUID; later ones sort behind earlier ones."""
        made_up = hex_id(24, "record", self.seed, self.account, vendor, name, self._created)
        parts = (made_up[:4], made_up[4:8], made_up[8:12], made_up[12:])
        return "-".join((f"{self._created:08x}", *parts))


class Records:
    """The shelves of one mock by account."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._shelves: dict[str, Shelf] = {}

    def of(self, account: str) -> Shelf:
        """The records of this account."""
        shelf = self._shelves.get(account)
        return shelf if shelf is not None else self._shelves.setdefault(account, Shelf(account, self._seed))


def _conflict(name: str) -> NameConflict:
    return NameConflict(f"a model named '{quoted(name)}' exists", headers=(("x-should-retry", "false"),))


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of both, inner objects likewise; what is above counts."""
    laid = dict(below)
    for key, value in above.items():
        known = laid.get(key)
        laid[key] = _laid_over(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return laid
