"""Reads a JSON Schema, and says what cannot be read in it.

Draft 2020-12, with the older forms still in use: `definitions`, a list of `items` with `additionalItems`,
boolean `exclusiveMinimum`, `dependencies`, and `nullable` of OpenAPI.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from urllib.parse import unquote, urldefrag, urljoin

from engy_mock.model.structured.keywords import Keywords, schema_of
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.trouble import UnusableSchema
from engy_mock.model.structured.values import JsonValue, at, json_value, shown

# References, branches and the like that may follow one another without going deeper into the value.
LONGEST_CHAIN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All schemas of a document, what references mean, and an order in which inner schemas come first."""

    root: Schema
    targets: dict[str, Schema]
    order: tuple[Schema, ...]

    def target(self, schema: Schema) -> Schema | None:
        """The schema behind the `$ref` of this one."""
        return None if schema.ref is None else self.targets[schema.pointer]


def read(schema: object) -> Book:
    """The schemas of a document; raises UnusableSchema."""
    document = json_value(schema)
    reader = _Reader(resources={"": (document, "#")})
    root = reader.schema(document, "#", "")
    targets = reader.follow()
    return Book(root=root, targets=targets, order=_inner_first(reader.schemas, targets))


def _inner_first(schemas: dict[str, Schema], targets: dict[str, Schema]) -> tuple[Schema, ...]:
    graph = {
        pointer: [part.pointer for part in schema.beside()]
        + ([targets[pointer].pointer] if pointer in targets else [])
        for pointer, schema in schemas.items()
    }
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise UnusableSchema(error.args[1][0], "refers to itself for the same value") from None
    steps: dict[str, int] = {}
    for pointer in order:
        steps[pointer] = 1 + max((steps[other] for other in graph[pointer]), default=0)
        if steps[pointer] > LONGEST_CHAIN:
            raise UnusableSchema(pointer, f"leads through more than {LONGEST_CHAIN} schemas for one value")
    return tuple(schemas[pointer] for pointer in order)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads schemas and keeps what references need: resources by URI, anchors, those not yet followed."""

    resources: dict[str, tuple[JsonValue, str]]
    schemas: dict[str, Schema] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    references: list[tuple[str, str, str]] = field(default_factory=list)

    def schema(self, value: JsonValue, pointer: str, base: str) -> Schema:
        """The schema at that pointer, with all schemas inside."""
        if isinstance(value, bool):
            schema = Schema(pointer=pointer, never=not value)
        elif isinstance(value, dict):
            base = self._base(value, pointer, base)
            schema = schema_of(Keywords(read=self.schema, pointer=pointer, base=base, values=value))
            if schema.ref is not None:
                self.references.append((pointer, base, schema.ref))
        else:
            raise UnusableSchema(pointer, f"{shown(value)} is not a schema, an object or a boolean")
        self.schemas[pointer] = schema
        return schema

    def _base(self, value: dict[str, JsonValue], pointer: str, base: str) -> str:
        """The URI that references in this schema are relative to."""
        name = value.get("$id")
        if isinstance(name, str):
            address, fragment = _joined(pointer, base, name)
            if fragment:
                self.anchors[base, fragment] = pointer
            else:
                base = address
                self.resources[base] = (value, pointer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = value.get(keyword)
            if isinstance(anchor, str):
                self.anchors[base, anchor] = pointer
        return base

    def follow(self) -> dict[str, Schema]:
        """The schema each reference means, by the pointer of the schema that refers."""
        targets: dict[str, Schema] = {}
        while self.references:
            pointer, base, reference = self.references.pop()
            targets[pointer] = self._target(pointer, base, reference)
        return targets

    def _target(self, pointer: str, base: str, reference: str) -> Schema:
        lost = UnusableSchema(pointer, f"$ref {shown(reference)} leads nowhere in this schema")
        address, fragment = _joined(pointer, base, reference)
        if (address, fragment) in self.anchors:
            return self.schemas[self.anchors[address, fragment]]
        if address not in self.resources or (fragment and not fragment.startswith("/")):
            raise lost
        value, found = self.resources[address]
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name in map(str, range(len(value))):
                value = value[int(name)]
            else:
                raise lost
            found = at(found, name)
        return self.schemas[found] if found in self.schemas else self.schema(value, found, address)


def _joined(pointer: str, base: str, reference: str) -> tuple[str, str]:
    """The address and the fragment of a reference."""
    try:
        # `urljoin` forgets the base of a mere fragment if its scheme, such as `urn`, knows no relative names.
        joined = base + reference if reference.startswith("#") else urljoin(base, reference)
        address, fragment = urldefrag(joined)
    except ValueError:
        raise UnusableSchema(pointer, f"{shown(reference)} is not a reference") from None
    return address, unquote(fragment)
