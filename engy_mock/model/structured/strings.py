"""Texts that fit a length, a pattern and a format, real-looking where the name tells what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engy_mock.model.structured.formats import FORMATS
from engy_mock.model.structured.matching import sample
from engy_mock.model.structured.names import Words, number_range, text_maker
from engy_mock.model.structured.pattern import ENDLESS, Characters, Part, in_order, parse, repeat
from engy_mock.model.structured.prose import fitted, words
from engy_mock.model.structured.providers import Maker, number_text
from engy_mock.model.structured.schema import Schema
from engy_mock.model.structured.trouble import Contradiction, Effort
from engy_mock.model.structured.values import shown
from engy_mock.vocabulary.seeds import Draws

LONGEST_STRING = 10_000
NAMED_TRIES = 4
FORMAT_TRIES = 3
PATTERN_TRIES = 60
PLAIN_TRIES = 12
UNIQUE_TRIES = 50
LONGEST_CODE = 3

FILL = repeat(Characters(ranges=((ord("a"), ord("z")),)), 0, ENDLESS)
SPACE = Characters(ranges=((ord(" "), ord(" ")),))
# What may stand before and after a match that is too short.
PADDINGS: tuple[tuple[tuple[Part, ...], tuple[Part, ...]], ...] = (
    ((), (FILL,)),
    ((FILL,), ()),
    ((FILL,), (FILL,)),
    ((), (SPACE, FILL)),
    ((FILL, SPACE), ()),
    ((FILL, SPACE), (SPACE, FILL)),
)


def strings(schemas: Sequence[Schema], path: Words, draws: Draws, effort: Effort) -> Iterator[str]:
    """Texts for all the schemas, the best first; raises Contradiction. Whoever takes one still checks it."""
    least, most = _lengths(schemas)
    formats = [schema.format for schema in schemas if schema.format in FORMATS and schema.format]
    patterns = {schema.pattern.source: schema.pattern.part for schema in schemas if schema.pattern is not None}
    texts = [text for schema in schemas for text in (schema.title, schema.description) if text]
    named = _named(path, texts, formats)
    if not formats and not patterns:
        yield from _free(named or words, path, draws, least, most)
        return
    if named is not None:
        yield from (named(draws) for _ in range(NAMED_TRIES))
    for name in formats:
        yield from (FORMATS[name].make(draws) for _ in range(FORMAT_TRIES))
    parts = [parse(f"^(?:{FORMATS[name].pattern})$") for name in formats if FORMATS[name].pattern]
    count = 0
    for text in _samples([*parts, *patterns.values()], draws, effort, least, most):
        count += 1
        yield text
    if patterns and not count:
        pattern = shown(next(iter(patterns)))
        pointer = next(schema.pointer for schema in schemas if schema.pattern is not None)
        raise Contradiction(pointer, f"pattern {pattern} has no text of {least} to {most} characters")


def _lengths(schemas: Sequence[Schema]) -> tuple[int, int]:
    """The least and the greatest length that all schemas allow."""
    short = max(schemas, key=lambda schema: schema.min_length)
    limited = [schema for schema in schemas if schema.max_length is not None]
    long = min(limited, key=lambda schema: schema.max_length or 0, default=None)
    if long is not None and long.max_length is not None and short.min_length > long.max_length:
        raise Contradiction(short.pointer, f"minLength {short.min_length} is above maxLength {long.max_length}")
    if short.min_length > LONGEST_STRING:
        raise Contradiction(
            short.pointer, f"minLength {short.min_length} asks for more than {LONGEST_STRING} characters"
        )
    return short.min_length, LONGEST_STRING if long is None else min(long.max_length or 0, LONGEST_STRING)


def _named(path: Words, texts: Sequence[str], formats: Sequence[str]) -> Maker | None:
    """What the name of the property says, or else the title, the description or the format."""
    named = text_maker(path, texts)
    usual = number_range(path, texts)
    if named is None and usual is not None and usual.decimals:
        return number_text(usual)
    for name in formats:
        named = named or text_maker((name,), ())
    return named


def _free(make: Maker, path: Words, draws: Draws, least: int, most: int) -> Iterator[str]:
    """Texts of which only the length matters."""
    if most <= LONGEST_CODE and path and path[-1] != "code":
        # A country of two letters is a country code.
        make = text_maker((*path[-1:], "code"), ()) or make
    tried = [make(draws) for _ in range(NAMED_TRIES)]
    yield from (text for text in tried if least <= len(text) <= most)
    yield fitted(tried[0], draws, least=least, most=most)
    for number in range(UNIQUE_TRIES):
        yield fitted(make(draws), draws, least=least, most=most)
        mark = str(number + 2)
        if len(mark) <= most:
            room = most - len(mark)
            yield fitted(tried[0], draws, least=max(least - len(mark), 0), most=room) + mark


def _samples(parts: Sequence[Part], draws: Draws, effort: Effort, least: int, most: int) -> Iterator[str]:
    """Texts made after the patterns: one of them, or all in a row, with more around if it is too short."""
    if not parts:
        return
    for number in range(PATTERN_TRIES):
        part = parts[number // 2 % len(parts)]
        if len(parts) > 1 and number % 4 == 3:
            part = in_order(parts)
        if part.span[1] < least:
            before, after = draws.pick(PADDINGS)
            part = in_order((*before, part, *after))
        text = sample(part, draws, effort, least=least, most=most, is_plain=number < PLAIN_TRIES)
        if text is not None:
            yield text
