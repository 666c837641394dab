"""Turns a schema with branches and references into a flat list of schemas that hold at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from engy_mock.model.structured.heights import NEVER, SCALARS
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.trouble import Contradiction
from engy_mock.model.structured.values import KINDS
from engy_mock.vocabulary.seeds import Draws

if TYPE_CHECKING:
    from engy_mock.model.structured.building import Work

T = TypeVar("T")

KEYWORDS_OF_KINDS = {
    "object": "properties required additionalProperties patternProperties minProperties maxProperties "
    "propertyNames dependentRequired unevaluatedProperties",
    "array": "items prefixItems minItems maxItems uniqueItems contains unevaluatedItems",
    "string": "pattern minLength maxLength contentMediaType",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
}
REST_OF_KINDS = ("string", "integer", "boolean", "object", "array", "number", "null")
ODDS_OF_NULL = 6


@dataclass(slots=True, kw_only=True)
class Turns:
    """Which way is gone at each fork: the attempts go through all combinations of ways."""

    orders: dict[Hashable, tuple[int, ...]] = field(default_factory=dict)
    attempt: int = 0
    ways: int = 1
    _rest: int = 0
    _ways: int = 1

    def begin(self, attempt: int) -> None:
        """Start the next attempt."""
        self.attempt = self._rest = attempt
        self._ways = 1

    def pick(self, fork: Hashable, ways: Sequence[T], order: Sequence[int]) -> T:
        """The way to go at this fork; the order counts when the fork is first seen."""
        kept = self.orders.setdefault(fork, tuple(order))
        self._rest, turn = divmod(self._rest, len(kept))
        self._ways *= len(kept)
        self.ways = max(self.ways, self._ways)
        return ways[kept[turn]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Schemas that hold for one value at once, without branches left to choose.

    A loose one has parts that are not seen to here, so its values must be checked.
    """

    schemas: tuple[Schema, ...]
    absent: frozenset[str]
    is_loose: bool


def gather(work: Work, schemas: Sequence[Schema], turns: Turns, *, is_thrifty: bool) -> Gathered:
    """One way through all forks of the schemas; raises Contradiction where there is none."""
    waiting = deque(schemas)
    found: dict[str, Schema] = {}
    absent: set[str] = set()
    is_loose = False

    def choose(fork: str, ways: Sequence[tuple[Schema, ...]]) -> tuple[Schema, ...]:
        work.effort.spend(len(ways))
        rises = [max((work.heights.get(schema.pointer, 0) for schema in way), default=0) for way in ways]
        order = [index for index in shuffled(range(len(ways)), work.draws) if rises[index] < NEVER]
        if not order:
            raise Contradiction(fork, "no branch has an end")
        second_best = _second_best(ways)
        order.sort(key=lambda index: (index in second_best, rises[index] if is_thrifty else 0))
        if not is_thrifty:
            is_null_first = work.draws.below(ODDS_OF_NULL) == 0
            order.sort(key=lambda index: _is_null(ways[index]) != is_null_first)
        return turns.pick(fork, ways, order)

    while waiting:
        schema = waiting.popleft()
        work.effort.spend()
        if schema.pointer in found:
            continue
        if schema.never:
            raise Contradiction(schema.pointer, "false allows no value")
        found[schema.pointer] = schema
        target = work.book.target(schema)
        waiting.extend(schema.all_of if target is None else (target, *schema.all_of))
        if schema.any_of:
            waiting.extend(choose(f"{schema.pointer}/anyOf", [(branch,) for branch in schema.any_of]))
        if schema.one_of:
            is_loose = True
            waiting.extend(choose(f"{schema.pointer}/oneOf", [(branch,) for branch in schema.one_of]))
        if schema.when is not None:
            is_loose = True
            yes = (schema.when,) if schema.then is None else (schema.when, schema.then)
            no = () if schema.otherwise is None else (schema.otherwise,)
            waiting.extend(choose(f"{schema.pointer}/if", (yes, no)))
        for name, part in schema.dependent_schemas.items():
            is_loose = True
            if choose(f"{schema.pointer}/dependentSchemas/{name}", ((part,), ())):
                waiting.append(part)
            else:
                absent.add(name)
        if schema.no is not None:
            if not schema.no.keywords and not schema.no.never:
                raise Contradiction(f"{schema.pointer}/not", "forbids every value")
            if schema.no.keywords == {"not"} and schema.no.no is not None:
                waiting.append(schema.no.no)
            is_loose = True
        if schema.dependent_required or schema.contains is not None:
            is_loose = True
    return Gathered(schemas=tuple(found.values()), absent=frozenset(absent), is_loose=is_loose)


def shuffled(items: Sequence[T], draws: Draws) -> list[T]:
    """The items in a drawn order."""
    order = list(items)
    for place in range(len(order) - 1, 0, -1):
        other = draws.below(place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def _is_null(way: tuple[Schema, ...]) -> bool:
    return any(schema.types == ("null",) or schema.enum == (None,) for schema in way)


def _second_best(ways: Sequence[tuple[Schema, ...]]) -> set[int]:
    """Strings of any kind next to a number, as pydantic describes a Decimal: most strings would not do."""
    types = [way[0].types if len(way) == 1 else None for way in ways]
    if ("number",) not in types and ("integer",) not in types:
        return set()
    telling = {"format", "enum", "const"}
    return {
        index for index, way in enumerate(ways) if types[index] == ("string",) and not way[0].keywords & telling
    }


def kinds_in_order(
    schemas: Sequence[Schema], draws: Draws, *, likely: str, is_thrifty: bool, is_deep: bool
) -> list[str]:
    """The kinds of value that all schemas allow, in the order to try them; raises Contradiction.

    Without any `type`, the other keywords tell the kind, and without those it is the likely one.
    """
    allowed = set(KINDS)
    stated: tuple[str, ...] = ()
    for schema in schemas:
        if schema.types is not None:
            kinds = _with_integers(schema.types) | ({"null"} if schema.is_nullable else set())
            if not allowed & kinds:
                earlier = " or ".join(kind for kind in KINDS if kind in allowed)
                raise Contradiction(schema.pointer, f"type {' or '.join(schema.types)} meets type {earlier}")
            allowed &= kinds
            stated = (*stated, *schema.types)
    for schema in schemas:
        if schema.no is not None and schema.no.keywords == {"type"}:
            allowed -= _with_integers(schema.no.types or ())
            if not allowed:
                raise Contradiction(schema.pointer, "not leaves no type")
    if stated:
        if "number" in allowed and "integer" not in stated:
            allowed.discard("integer")
        # null of `nullable` comes last of all: validators of plain JSON Schema do not know it.
        order = [kind for kind in dict.fromkeys((*stated, "integer", "null")) if kind in allowed]
        named = [kind for kind in order if kind in stated or kind == "integer"]
        shuffle = shuffled(named, draws)
        if is_thrifty:
            shuffle.sort(key=lambda kind: kind not in SCALARS)
        else:
            is_null_first = draws.below(ODDS_OF_NULL) == 0
            shuffle.sort(key=lambda kind: (kind == "null") != is_null_first)
        return shuffle + [kind for kind in order if kind not in named]
    keywords = frozenset().union(*(schema.keywords for schema in schemas))
    implied = [kind for kind, words in KEYWORDS_OF_KINDS.items() if keywords & set(words.split())]
    if is_deep:
        implied.sort(key=lambda kind: kind not in SCALARS)
    rest = REST_OF_KINDS if implied or is_deep else (likely, *REST_OF_KINDS)
    return [kind for kind in dict.fromkeys((*(() if is_deep else implied), *rest)) if kind in allowed]


def _with_integers(types: Sequence[str]) -> set[str]:
    """The types as a set; every integer is a number."""
    return {*types, "integer"} if "number" in types else set(types)
