"""Makes a value for schemas: tries one way after the other until one leads to a value that fits."""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from engy_mock.model.structured.arrays import MOST_VALUES, arrays
from engy_mock.model.structured.checking import Checker, Objection
from engy_mock.model.structured.gathering import Gathered, Turns, gather, kinds_in_order, shuffled
from engy_mock.model.structured.heights import heights
from engy_mock.model.structured.names import Words, number_range, text_maker
from engy_mock.model.structured.numbers import numbers
from engy_mock.model.structured.objects import objects
from engy_mock.model.structured.reading import Book, read
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.strings import strings
from engy_mock.model.structured.trouble import Contradiction, Effort, Exhausted, UnmetSchema
from engy_mock.model.structured.values import KINDS, JsonValue, copied, identity
from engy_mock.vocabulary.errors import bare
from engy_mock.vocabulary.seeds import Draws, digest

DOCUMENT_TRIES = 4
CHARACTERS_OF_A_VALUE = 100
# How many values may be refused before the next way is tried, at first and when all ways have been tried.
BRIEF_PATIENCE = 8
LONG_PATIENCE = 100
MOST_ATTEMPTS = 64
# Beyond this depth, or with so many values made, nothing is added that may be left out.
THRIFTY_DEPTH = 5
THRIFTY_VALUES = 300
DEEP = 10
DEEPEST_VALUE = 40
ODDS_OF_EXAMPLE = 0.75
ODDS_OF_DEFAULT = 0.25
MOST_EXAMPLES = 20
BOOLEAN_WORDS = frozenset(("is", "has", "can", "should"))
FREE = Schema(pointer="#")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in the document a value stands: how deep, and under which name."""

    depth: int = 0
    words: Words = ()

    def inside(self, words: Words) -> Place:
        """A place one level down."""
        return Place(depth=self.depth + 1, words=words)


def document(schema: object, *, seed: bytes) -> JsonValue:
    """A made-up JSON value that validates against the schema; without a schema, a small object.

    The same schema and seed give the same value everywhere. A schema that cannot be read raises UnusableSchema;
    one that no value fits, or that asks for more than 2,000 values or 10,000 characters in a text, UnmetSchema.
    """
    book = read({"type": "object"} if schema is None else schema)
    effort = Effort()
    checker = Checker(book=book, effort=effort)
    levels = heights(book)
    trouble: Contradiction | None = None
    try:
        for attempt in range(DOCUMENT_TRIES):
            draws = Draws(digest("structured", seed, attempt))
            work = Work(book=book, heights=levels, checker=checker, effort=effort, draws=draws)
            try:
                value = work.build((book.root,), Place())
            except Contradiction as contradiction:
                trouble = trouble or bare(contradiction)
                continue
            objection = checker.objection(value, book.root)
            if objection is None:
                return value
            trouble = trouble or objection.contradiction()
    except Exhausted:
        trouble = trouble or Contradiction("#", "no value was found with the effort allowed")
    except RecursionError:
        trouble = trouble or Contradiction("#", "nests too deeply to be followed")
    trouble = trouble or Contradiction("#", "no value was found")
    raise UnmetSchema(trouble.pointer, trouble.reason)


@dataclass(slots=True, kw_only=True)
class Work:
    """One attempt at a document: what it has at hand, and how many values it has made."""

    book: Book
    heights: dict[str, int]
    checker: Checker
    effort: Effort
    draws: Draws
    made: int = 0

    def is_thrifty(self, place: Place) -> bool:
        """Nothing should be added here that may be left out."""
        return place.depth > THRIFTY_DEPTH or self.made > THRIFTY_VALUES

    def build(
        self,
        schemas: Sequence[Schema],
        place: Place,
        *,
        avoided: Collection[Hashable] = (),
        kind: str | None = None,
    ) -> JsonValue:
        """A value for all the schemas, of that kind and none of the avoided; raises Contradiction."""
        wanted = tuple(schemas) or (FREE,)
        pointer = wanted[0].pointer
        if place.depth > DEEPEST_VALUE:
            raise Contradiction(pointer, f"nests deeper than {DEEPEST_VALUE} levels")
        if self.made > MOST_VALUES:
            raise Contradiction(pointer, f"asks for more than {MOST_VALUES} values")
        turns = Turns()
        trouble: Contradiction | None = None
        attempt, made = 0, self.made
        patience, was_cut_short = BRIEF_PATIENCE, False
        while attempt < min(turns.ways, MOST_ATTEMPTS):
            turns.begin(attempt)
            refused = 0
            try:
                for value, is_sure in self._values(wanted, place, turns, kind):
                    self.effort.spend()
                    if avoided and identity(value, self.effort) in avoided:
                        trouble = trouble or Contradiction(pointer, "has too few different values")
                        self.made = made
                        continue
                    objection = None if is_sure else self._objection(value, wanted)
                    if objection is None:
                        self.made += _weight(value)
                        return value
                    trouble = trouble or objection.contradiction()
                    self.made = made
                    refused += 1
                    if refused >= patience:
                        was_cut_short = True
                        break
            except Contradiction as contradiction:
                trouble = trouble or bare(contradiction)
                self.made = made
            attempt += 1
            if attempt >= min(turns.ways, MOST_ATTEMPTS) and was_cut_short and patience < LONG_PATIENCE:
                # Every way has had its chance: go through them again, longer.
                attempt, patience = 0, LONG_PATIENCE
        raise trouble or Contradiction(pointer, "no value was found")

    def _objection(self, value: JsonValue, schemas: Sequence[Schema]) -> Objection | None:
        objections = (self.checker.objection(value, schema) for schema in schemas)
        return next((objection for objection in objections if objection is not None), None)

    def _values(
        self, wanted: Sequence[Schema], place: Place, turns: Turns, kind: str | None
    ) -> Iterator[tuple[JsonValue, bool]]:
        """Values worth trying, and whether they are sure to fit."""
        is_thrifty = self.is_thrifty(place)
        gathered = gather(self, wanted, turns, is_thrifty=is_thrifty)
        enums = [schema for schema in gathered.schemas if schema.enum is not None]
        if enums:
            smallest = min(enums, key=lambda schema: len(schema.enum or ()))
            yield from ((value, True) for value in self._choices(smallest, wanted))
            return
        hints = self._hints(gathered.schemas)
        yield from ((copied(value), True) for value in hints if self._objection(value, wanted) is None)
        if kind is None:
            likely = self._likely_kind(gathered.schemas, place)
            is_deep = place.depth > DEEP
            kinds = kinds_in_order(
                gathered.schemas, self.draws, likely=likely, is_thrifty=is_thrifty, is_deep=is_deep
            )
            fork = ("type", *(schema.pointer for schema in gathered.schemas))
            kind = turns.pick(fork, KINDS, [KINDS.index(kind) for kind in kinds])
        yield from self._values_of_kind(kind, gathered, place)

    def _values_of_kind(self, kind: str, gathered: Gathered, place: Place) -> Iterator[tuple[JsonValue, bool]]:
        schemas = gathered.schemas
        if kind == "object":
            yield from ((value, not gathered.is_loose) for value in objects(self, gathered, place))
        elif kind == "array":
            yield from ((value, not gathered.is_loose) for value in arrays(self, gathered, place))
        elif kind == "string":
            contents = [schema.json_content for schema in schemas if schema.json_content is not None]
            if contents:
                yield json.dumps(self.build(contents, place.inside(place.words))), False
            yield from ((value, False) for value in strings(schemas, place.words, self.draws, self.effort))
        elif kind in ("integer", "number"):
            usual = number_range(place.words, _texts(schemas))
            is_whole = kind == "integer"
            yield from ((value, False) for value in numbers(schemas, usual, self.draws, is_whole=is_whole))
        else:
            values: tuple[bool | None, ...] = (None,) if kind == "null" else (False, True)
            yield from ((value, False) for value in shuffled(values, self.draws))

    def _choices(self, schema: Schema, wanted: Sequence[Schema]) -> Iterator[JsonValue]:
        """All members of an enum that fit, from one that is drawn on; raises Contradiction if none does."""
        choices = schema.enum or ()
        if not choices:
            raise Contradiction(schema.pointer, "enum has no value")
        start = self.draws.below(len(choices))
        trouble: Objection | None = None
        has_choice = False
        for value in choices[start:] + choices[:start]:
            objection = self._objection(value, wanted)
            trouble = trouble or objection
            if objection is None:
                has_choice = True
                yield copied(value)
        if trouble and not has_choice:
            raise trouble.contradiction()

    def _hints(self, schemas: Sequence[Schema]) -> Iterator[JsonValue]:
        """Examples most of the time, a default now and then."""
        examples = [value for schema in schemas for value in schema.examples]
        defaults = [value for schema in schemas for value in schema.default]
        if examples and self.draws.unit() < ODDS_OF_EXAMPLE:
            yield from shuffled(examples[:MOST_EXAMPLES], self.draws)
        if defaults and self.draws.unit() < ODDS_OF_DEFAULT:
            yield from defaults

    def _likely_kind(self, schemas: Sequence[Schema], place: Place) -> str:
        """The kind of a value that may be anything, by its name."""
        texts = _texts(schemas)
        if text_maker(place.words, texts) is not None:
            return "string"
        usual = number_range(place.words, texts)
        if usual is not None:
            return "number" if usual.decimals else "integer"
        if place.words and place.words[-2:][0] in BOOLEAN_WORDS:
            return "boolean"
        return "string" if place.depth else "object"


def _weight(value: JsonValue) -> int:
    """How many values this one counts for, those inside aside; a long text counts for several."""
    return 1 + (len(value) // CHARACTERS_OF_A_VALUE if isinstance(value, str) else 0)


def _texts(schemas: Sequence[Schema]) -> list[str]:
    """What the schemas tell their readers."""
    return [text for schema in schemas for text in (schema.title, schema.description) if text]
