"""Objects: which properties they have, in which order, and names for those the schema leaves open."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from engy_mock.model.structured.arrays import MOST_VALUES
from engy_mock.model.structured.checking import member_rules
from engy_mock.model.structured.gathering import Gathered
from engy_mock.model.structured.matching import sample
from engy_mock.model.structured.names import Words, words_of
from engy_mock.model.structured.pattern import Characters, in_order, repeat
from engy_mock.model.structured.prose import NOUNS
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.trouble import Contradiction
from engy_mock.model.structured.values import JsonValue, identity, shown

if TYPE_CHECKING:
    from engy_mock.model.structured.building import Place, Work

# How likely an optional property is there, by depth; deeper than that it is the last of these.
ODDS_BY_DEPTH = (0.9, 0.9, 0.8, 0.6, 0.5, 0.4)
# What the attempts do about optional properties: as likely as usual, none, all, any.
ODDS_OF_ATTEMPTS = (None, 0.0, 1.0, 0.5, 0.5, 0.5, 0.3, 0.7, 0.5, 0.5, 0.5, 0.5)
OPEN_NAMES = (
    "name",
    "status",
    "count",
    "description",
    "is_active",
    "created_at",
    "category",
    "price",
    "quantity",
)
PATTERN_TRIES = 20
MOST_NAMES_REFUSED = 60
MOST_NAMES_TRIED = 2_000
LONGEST_INVENTED_NAME = 40
TAIL = repeat(Characters(ranges=((ord("a"), ord("z")),)), 2, 6)


def objects(work: Work, gathered: Gathered, place: Place) -> Iterator[dict[str, JsonValue]]:
    """Objects for all the schemas, each with another choice of optional properties; raises Contradiction."""
    schemas = gathered.schemas
    least, most = _sizes(schemas)
    required = tuple(dict.fromkeys(name for schema in schemas for name in schema.required))
    if len(required) > MOST_VALUES:
        raise Contradiction(
            _pointer(schemas, "required"), f"required asks for {len(required)} values, more than {MOST_VALUES}"
        )
    if len(required) > most:
        raise Contradiction(
            _pointer(schemas, "maxProperties"), f"maxProperties {most} is below {len(required)} required"
        )
    for odds in ODDS_OF_ATTEMPTS:
        value = _object(work, gathered, place, odds, required, most)
        wanted = max(least, min(_open_count(work, schemas, place), most))
        _fill_up(work, gathered, place, value, wanted)
        if len(value) < least:
            raise Contradiction(
                _pointer(schemas, "minProperties"),
                f"minProperties {least}, but only {len(value)} can be made",
            )
        yield value


def _object(
    work: Work, gathered: Gathered, place: Place, odds: float | None, required: Sequence[str], most: int
) -> dict[str, JsonValue]:
    """An object of the properties the schemas name, in the order of the schemas."""
    known = dict.fromkeys(name for schema in gathered.schemas for name in schema.properties or ())
    wanted = dict.fromkeys(_companions(work, gathered.schemas, required, ()))
    for name in known:
        if name not in wanted and len(wanted) < most and work.draws.unit() < _odds(work, place, odds):
            more = _companions(work, gathered.schemas, (name,), wanted)
            wanted.update(dict.fromkeys(more if len(wanted) + len(more) <= most else ()))
    value: dict[str, JsonValue] = {}
    for name in dict.fromkeys((*known, *wanted)):
        if name not in wanted:
            continue
        try:
            value[name] = _member(work, gathered, place, name)
        except Contradiction:
            if name in required:
                raise
    return value


def _odds(work: Work, place: Place, odds: float | None) -> float:
    if odds is not None:
        return odds
    return 0.0 if work.is_thrifty(place) else ODDS_BY_DEPTH[min(place.depth, len(ODDS_BY_DEPTH) - 1)]


def _companions(
    work: Work, schemas: Sequence[Schema], names: Sequence[str], present: Collection[str]
) -> tuple[str, ...]:
    """The names and those that come with them by `dependentRequired`, if not present yet."""
    found = dict.fromkeys(names)
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        work.effort.spend(len(schemas))
        for schema in schemas:
            for other in schema.dependent_required.get(name, ()):
                if other not in found and other not in present:
                    found[other] = None
                    waiting.append(other)
    return tuple(found)


def _member(work: Work, gathered: Gathered, place: Place, name: str) -> JsonValue:
    """A value for the property of that name."""
    if name in gathered.absent:
        raise Contradiction(gathered.schemas[0].pointer, f"property {shown(name)} must be absent")
    for schema in gathered.schemas:
        if schema.property_names is not None and not work.checker.fits(name, schema.property_names):
            raise Contradiction(schema.pointer, f"property {shown(name)} is forbidden by propertyNames")
    rules = _rules(work, gathered.schemas, name)
    forbidding = next((rule for rule in rules if rule.never), None)
    if forbidding is not None:
        raise Contradiction(forbidding.pointer, f"property {shown(name)} is required, but not allowed")
    return work.build(rules, place.inside(_context(gathered.schemas, place) + words_of(name)))


def _rules(work: Work, schemas: Sequence[Schema], name: str) -> list[Schema]:
    """All schemas for the property of that name."""
    work.effort.spend(len(schemas))
    rules = [rule for schema in schemas for rule in member_rules(schema, name, work.effort)]
    if not rules:
        rules = [schema.unevaluated_properties for schema in schemas if schema.unevaluated_properties is not None]
    return rules


def _context(schemas: Sequence[Schema], place: Place) -> Words:
    """The words that say whose properties these are: the title, or the name of the property around."""
    titled = next((schema.title for schema in schemas if schema.title), "")
    return (words_of(titled) or place.words)[-2:]


def _open_count(work: Work, schemas: Sequence[Schema], place: Place) -> int:
    """How many properties to invent where the schemas name none, although they could."""
    if any(schema.properties is not None or schema.required for schema in schemas) or work.is_thrifty(place):
        return 0
    is_free = not any(schema.keywords & {"additionalProperties", "patternProperties"} for schema in schemas)
    if place.depth == 0 and is_free:
        return 3
    return 1 + work.draws.below(2) if is_free or place.depth > 2 else 1 + work.draws.below(3)


def _fill_up(work: Work, gathered: Gathered, place: Place, value: dict[str, JsonValue], wanted: int) -> None:
    """Add properties until there are as many as wanted, or no more names are allowed."""
    known = [name for schema in gathered.schemas for name in schema.properties or ()]
    if len(value) >= wanted:
        return
    refused = 0
    for name in chain(known, _invented_names(work, gathered.schemas, place, value)):
        if len(value) >= wanted or refused > MOST_NAMES_REFUSED:
            return
        if name not in value:
            try:
                value[name] = _member(work, gathered, place, name)
            except Contradiction:
                refused += 1


def _invented_names(work: Work, schemas: Sequence[Schema], place: Place, taken: Collection[str]) -> Iterator[str]:
    """Names nobody has named: such as `propertyNames` and `patternProperties` ask for, then plain words."""
    for schema in schemas:
        if schema.property_names is not None:
            tried: set[Hashable] = set(taken)
            while True:
                try:
                    name = work.build((schema.property_names,), place.inside(()), avoided=tried, kind="string")
                except Contradiction:
                    break
                tried.add(identity(name))
                if isinstance(name, str):
                    yield name
    for schema in schemas:
        for pattern, _rule in schema.pattern_properties:
            for number in range(PATTERN_TRIES):
                part = in_order((pattern.part, TAIL)) if number % 2 else pattern.part
                name = sample(
                    part,
                    work.draws,
                    work.effort,
                    least=0,
                    most=LONGEST_INVENTED_NAME,
                    is_plain=number < 5,
                )
                if name:
                    yield name
    is_free = not any(schema.additional_properties is not None for schema in schemas)
    nouns = OPEN_NAMES if is_free else NOUNS
    start = work.draws.below(len(nouns))
    for number in range(MOST_NAMES_TRIED):
        noun = nouns[(start + number) % len(nouns)]
        yield noun if number < len(nouns) else f"{noun}_{number // len(nouns) + 1}"


def _sizes(schemas: Sequence[Schema]) -> tuple[int, int]:
    """The least and the greatest number of properties."""
    least = max(schema.min_properties for schema in schemas)
    most = min(MOST_VALUES if schema.max_properties is None else schema.max_properties for schema in schemas)
    pointer = _pointer(schemas, "minProperties")
    if least > MOST_VALUES:
        raise Contradiction(pointer, f"minProperties {least} asks for more than {MOST_VALUES} values")
    if least > most:
        raise Contradiction(pointer, f"minProperties {least} is above maxProperties {most}")
    return least, most


def _pointer(schemas: Sequence[Schema], keyword: str) -> str:
    """Where the keyword stands."""
    return next((schema.pointer for schema in schemas if keyword in schema.keywords), schemas[0].pointer)
