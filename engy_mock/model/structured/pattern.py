"""The regular expressions of `pattern`, read into a small tree that can be matched and sampled.

The language is the common part of Python's and JavaScript's: literals, classes, escapes, groups, alternation,
quantifiers, anchors, word boundaries and lookaround. Back references have no tree.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

LONGEST_PATTERN = 1_000
DEEPEST_GROUP = 40
ENDLESS = 1 << 40

Span: TypeAlias = tuple[int, int]


class UnsupportedPattern(ValueError):
    """The pattern is broken, or says something this language lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Characters:
    """One character out of ranges of code points and kinds such as `d` for digits."""

    ranges: tuple[Span, ...] = ()
    kinds: tuple[str, ...] = ()
    is_negated: bool = False
    is_folded: bool = False

    @property
    def span(self) -> Span:
        """The least and the greatest number of characters."""
        return 1, 1

    def holds(self, char: str) -> bool:
        """The character is one of these."""
        forms = {char, char.lower(), char.upper()} if self.is_folded else {char}
        return any(self._lists(form) for form in forms if len(form) == 1) != self.is_negated

    def _lists(self, char: str) -> bool:
        code = ord(char)
        return any(low <= code <= high for low, high in self.ranges) or any(
            _is_of_kind(char, kind) for kind in self.kinds
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InOrder:
    """Parts one after the other; no parts match the empty string."""

    parts: tuple[Part, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf:
    """One of several options."""

    options: tuple[Part, ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A part, several times."""

    part: Part
    least: int
    most: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A place between characters: `start`, `end`, `line start`, `line end`, `word edge` or `no word edge`."""

    place: str
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A glance ahead or behind that must, or must not, match."""

    part: Part
    is_ahead: bool
    is_negated: bool
    span: Span = (0, 0)


Part: TypeAlias = Characters | InOrder | OneOf | Repeat | Edge | Look


def in_order(parts: Sequence[Part]) -> Part:
    """The parts as one part."""
    if len(parts) == 1:
        return parts[0]
    least = min(sum(part.span[0] for part in parts), ENDLESS)
    most = min(sum(part.span[1] for part in parts), ENDLESS)
    return InOrder(parts=tuple(parts), span=(least, most))


def one_of(options: Sequence[Part]) -> Part:
    """The options as one part."""
    if len(options) == 1:
        return options[0]
    spans = [option.span for option in options]
    return OneOf(options=tuple(options), span=(min(low for low, _ in spans), max(high for _, high in spans)))


def repeat(part: Part, least: int, most: int) -> Part:
    """The part, at least and at most so many times."""
    low, high = part.span
    return Repeat(part=part, least=least, most=most, span=(min(low * least, ENDLESS), min(high * most, ENDLESS)))


@lru_cache(maxsize=512)
def parse(pattern: str) -> Part:
    """The tree of a pattern; raises UnsupportedPattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise UnsupportedPattern(f"has more than {LONGEST_PATTERN} characters")
    reader = _Reader(pattern)
    part = reader.options(flags=reader.leading_flags(), depth=0)
    if reader.rest():
        raise UnsupportedPattern("has a parenthesis too many")
    return part


KINDS: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}

CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
CODE_DIGITS = {"x": 2, "u": 4, "U": 8}
EDGES = {"A": "start", "Z": "end", "b": "word edge", "B": "no word edge"}
LOOKS = {"?=": (True, False), "?!": (True, True), "?<=": (False, False), "?<!": (False, True)}
QUANTIFIERS = {"*": (0, ENDLESS), "+": (1, ENDLESS), "?": (0, 1)}
COUNTED = re.compile(r"\{(?!\})(\d*)(,?)(\d*)\}", re.ASCII)
FLAGS = frozenset("ims")


def _is_of_kind(char: str, kind: str) -> bool:
    """The character is of a kind: `d`, `w`, `s`, a Unicode category as `pLu`, or the opposite of one."""
    if kind[0] in "pP":
        return unicodedata.category(char).startswith(kind[1:]) == (kind[0] == "p")
    return KINDS[kind.lower()](char) == kind.islower()


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0

    def rest(self) -> str:
        return self.pattern[self.position :]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def take(self) -> str:
        if not self.peek():
            raise UnsupportedPattern("ends too early")
        self.position += 1
        return self.pattern[self.position - 1]

    def skip(self, text: str) -> bool:
        """Step over the text, if it comes next."""
        found = self.pattern.startswith(text, self.position)
        self.position += len(text) if found else 0
        return found

    def until(self, stop: str) -> str:
        """What comes before the stop, stepping over both."""
        end = self.pattern.find(stop, self.position)
        if end < 0:
            raise UnsupportedPattern(f"lacks a {stop!r}")
        text = self.pattern[self.position : end]
        self.position = end + len(stop)
        return text

    def leading_flags(self) -> frozenset[str]:
        """The flags of a `(?i)` at the very beginning."""
        if not (self.pattern.startswith("(?") and self.pattern[2:3].isalpha()):
            return frozenset()
        letters, closing, _ = self.pattern[2:].partition(")")
        if not closing or not FLAGS.issuperset(letters):
            return frozenset()
        self.position = len(letters) + 3
        return frozenset(letters)

    def options(self, *, flags: frozenset[str], depth: int) -> Part:
        if depth > DEEPEST_GROUP:
            raise UnsupportedPattern(f"nests more than {DEEPEST_GROUP} groups")
        found = [self.sequence(flags, depth)]
        while self.skip("|"):
            found.append(self.sequence(flags, depth))
        return one_of(found)

    def sequence(self, flags: frozenset[str], depth: int) -> Part:
        parts: list[Part] = []
        while self.peek() not in ("", "|", ")"):
            is_group = self.peek() == "("
            part = self.atom(flags, depth)
            bounds = self.quantifier()
            if bounds:
                if isinstance(part, Edge) and not is_group:
                    raise UnsupportedPattern("repeats an anchor")
                part = repeat(part, *bounds)
                if self.quantifier():
                    raise UnsupportedPattern("repeats a repetition")
            parts.append(part)
        return in_order(parts)

    def quantifier(self) -> Span | None:
        """The bounds of a quantifier, if one comes next; a lazy one matches the same texts."""
        counted = COUNTED.match(self.pattern, self.position)
        if self.peek() and self.peek() in QUANTIFIERS:
            bounds = QUANTIFIERS[self.take()]
        elif counted is None:
            return None
        else:
            self.position = counted.end()
            low, comma, high = counted.groups()
            least = min(int(low or 0), ENDLESS)
            bounds = least, (min(int(high), ENDLESS) if high else ENDLESS if comma else least)
            if bounds[0] > bounds[1]:
                raise UnsupportedPattern(f"repeats at least {bounds[0]} and at most {bounds[1]} times")
        if self.skip("+"):
            raise UnsupportedPattern("has a possessive quantifier")
        self.skip("?")
        return bounds

    def atom(self, flags: frozenset[str], depth: int) -> Part:
        char = self.take()
        if char == "(":
            return self.group(flags, depth)
        if char == "[":
            return self.characters(flags)
        if char == ".":
            return Characters(ranges=() if "s" in flags else ((10, 10),), is_negated=True)
        if char in "^$":
            return Edge(place=("line " if "m" in flags else "") + ("start" if char == "^" else "end"))
        if char in QUANTIFIERS:
            raise UnsupportedPattern(f"has nothing for {char!r} to repeat")
        if char != "\\":
            return Characters(ranges=((ord(char), ord(char)),), is_folded="i" in flags)
        if self.peek() in EDGES and self.peek():
            return Edge(place=EDGES[self.take()])
        found = self.escape()
        if isinstance(found, str):
            return Characters(ranges=((ord(found), ord(found)),), is_folded="i" in flags)
        return found

    def group(self, flags: frozenset[str], depth: int) -> Part:
        look = next((LOOKS[mark] for mark in ("?<=", "?<!", "?=", "?!") if self.skip(mark)), None)
        if look is None and self.skip("?"):
            if self.skip("P<") or self.skip("<"):
                if not self.until(">").isidentifier():
                    raise UnsupportedPattern("has a group without a proper name")
            elif self.peek().isalpha() and self.peek() != "P":
                letters = self.until(":")
                if not FLAGS.issuperset(letters):
                    raise UnsupportedPattern(f"has flags {letters[:20]!r} in the middle")
                flags |= frozenset(letters)
            elif not self.skip(":"):
                raise UnsupportedPattern(f"has a group that begins with '(?{self.peek()}'")
        part = self.options(flags=flags, depth=depth + 1)
        if not self.skip(")"):
            raise UnsupportedPattern("lacks a closing parenthesis")
        return part if look is None else Look(part=part, is_ahead=look[0], is_negated=look[1])

    def escape(self) -> str | Characters:
        """What stands behind a backslash: a character, or a kind of characters."""
        char = self.take()
        if char in "dDwWsS":
            return Characters(kinds=(char,))
        if char in CONTROLS:
            return CONTROLS[char]
        if char in CODE_DIGITS:
            return self.code_point(CODE_DIGITS[char])
        if char in "pP" and self.skip("{"):
            category = self.until("}")
            if not (1 <= len(category) <= 2 and category[0] in "LMNPSZC"):
                raise UnsupportedPattern(f"has an unknown category {category[:20]!r}")
            return Characters(kinds=(char + category,))
        if char == "0" and not self.peek().isdecimal():
            return "\0"
        if char.isascii() and char.isalnum():
            what = "back reference" if char.isdecimal() else "escape"
            raise UnsupportedPattern(f"has an unsupported {what} '\\{char}'")
        return char

    def code_point(self, count: int) -> str:
        digits = self.pattern[self.position : self.position + count]
        if len(digits) < count or not set(digits) <= set("0123456789abcdefABCDEF"):
            raise UnsupportedPattern("has an incomplete escape")
        self.position += count
        if int(digits, 16) > 0x10FFFF:
            raise UnsupportedPattern("names a character beyond Unicode")
        return chr(int(digits, 16))

    def characters(self, flags: frozenset[str]) -> Characters:
        is_negated = self.skip("^")
        ranges: list[Span] = []
        kinds: list[str] = []
        is_first = True
        while is_first or self.peek() != "]":
            is_first = False
            low = self.member()
            if isinstance(low, Characters):
                kinds.extend(low.kinds)
                continue
            high = low
            if self.peek() == "-" and self.rest()[1:2] not in ("]", ""):
                self.position += 1
                end = self.member()
                if isinstance(end, Characters) or end < low:
                    raise UnsupportedPattern("has a range that runs backwards or into a class")
                high = end
            ranges.append((ord(low), ord(high)))
        self.position += 1
        return Characters(
            ranges=_merged(ranges), kinds=tuple(kinds), is_negated=is_negated, is_folded="i" in flags
        )

    def member(self) -> str | Characters:
        char = self.take()
        if char != "\\":
            return char
        return "\b" if self.skip("b") else self.escape()


def _merged(ranges: list[Span]) -> tuple[Span, ...]:
    """The ranges in order, those that touch joined."""
    merged: list[Span] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)
