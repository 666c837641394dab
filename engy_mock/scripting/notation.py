"""YAML and JSON as plain values, with the line of everything: bounded, without code, without doubles (Q-24)."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from engy_mock.scripting import quick
from engy_mock.vocabulary import files
from engy_mock.vocabulary.errors import MockError, quoted
from engy_mock.vocabulary.text import is_sendable, paired

MAX_BYTES = 1024 * 1024
MAX_NODES = 50_000
"""How many values a file may have."""

MAX_DEPTH = 16
"""How many lists and mappings may stand inside each other."""

MAX_NUMBER = 400
"""How many characters a number may have; those of the largest float are fewer."""

QUICK_FROM = 16 * 1024
"""So many characters are worth a quicker loader."""

NO_JSON = object()
"""Stands for the value of a text that is YAML."""

NO_ANCHORS = "anchors and aliases are refused"
BY_NAME = "A reply can be named under `replies`."

CHECKED = frozenset({"int", "float", "bool"})
TAGS = frozenset({"map", "seq", "str", "int", "float", "bool", "null"})

Place = tuple[str | int, ...]


class MistakeInYaml(MockError):
    """A text is no YAML."""


class _Loader(yaml.SafeLoader):
    """The safe loader, with words and dates left as text: only numbers, true, false and null are more.

    Limits hold while a text is read, so that a large one is refused before it has cost anything.
    """

    def __init__(self, text: str, source: str) -> None:
        super().__init__(text)
        self._source = source
        self._left = MAX_NODES
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read one value; raises MockError for one too many, and for what stands for another."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        where = f"{self._source}, line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise MockError(f"{where}: {NO_ANCHORS}. {BY_NAME}")
        is_key = isinstance(parent, yaml.MappingNode) and index is None
        self._left -= not is_key
        self._depth += 1
        if self._left < 0:
            raise MockError(f"{where}: more than {MAX_NODES} values")
        if self._depth > MAX_DEPTH + isinstance(event, yaml.ScalarEvent):
            raise MockError(f"{where}: nested deeper than {MAX_DEPTH} levels")
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


_UNHEARD = re.compile(rf"\t|{yaml.reader.Reader.NON_PRINTABLE.pattern}")
"""Of what cannot be printed libyaml hears only when it comes there, and tabs stand in more places there."""

_DISPUTED = re.compile(r"(?:^|[\s\[{,])!|[|>]#")

_PLAIN = {
    letter: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":value"))]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_implicit_resolvers = _PLAIN


class _QuickLoader(quick.Loader):  # type: ignore[misc]
    """The same words, read by libyaml where it is there: for files of which much may be asked."""


_QuickLoader.yaml_implicit_resolvers = _PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a file may be: its bytes, its values, and how many of them stand inside each other."""

    bytes: int = MAX_BYTES
    nodes: int = MAX_NODES
    depth: int = MAX_DEPTH


BY_HAND = Bounds()
"""What people write is no larger than this."""


@dataclass(slots=True)
class _Room:
    """How much more a file may have, and which of its values have been met.

    In JSON two escapes may make one character of a pair, in YAML there are none.
    """

    nodes: int
    depth: int
    has_pairs: bool = False
    met: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Sheet:
    """A file as a value; `line_of` tells where a key or an item stands, counted from 1.

    `mark` is how the file looked before it was read; None for what stands in no file.
    """

    source: str
    value: Any
    lines: dict[Place, int] = field(default_factory=dict)
    mark: files.Mark | None = None

    def line_of(self, path: Place) -> int:
        """The line of what stands at this path, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def at(self, path: Place) -> str:
        """A place as messages name it: file, line and key."""
        key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        place = f"{self.source}, line {self.line_of(path)}"
        return f"{place}, {key}" if key else place


def read_file(path: Path) -> Sheet:
    """The value of a file; raises MockError that says where and why not."""
    mark = files.mark(path)
    sheet = read(files.read(path, MAX_BYTES), str(path), is_json=path.suffix == ".json")
    sheet.mark = mark
    return sheet


def read(data: bytes, source: str, *, is_json: bool = False, bounds: Bounds = BY_HAND) -> Sheet:
    """The value of a text in UTF-8; raises MockError that says where and why not. JSON is read as nothing else.

    Files whose bounds are wider than those of scenarios are read by the quickest loader that is there.
    """
    if len(data) > bounds.bytes:
        raise MockError(f"{source}: has {len(data)} bytes, at most {bounds.bytes} allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MockError(f"{source}, line {line}: byte {data[error.start]:#04x} is not UTF-8") from None
    strict = _strict(text, source) if is_json else NO_JSON
    if text.lstrip().startswith(("{", "[") if is_json else "{"):
        text = text.replace("\t", " ")  # JSON has tabs between its words, where YAML has none
    if bounds != BY_HAND:
        return _read(_QuickLoader, text, source, strict, bounds)
    if quick.IS_THERE and len(text) >= QUICK_FROM and not _UNHEARD.search(text):
        quick.check_limits(text, source, most=MAX_NODES, depth=MAX_DEPTH, no_anchors=f"{NO_ANCHORS}. {BY_NAME}")
        if not any(map(_is_disputed, text.splitlines())):
            # What is wrong is said in the same words everywhere, whether libyaml is there or not.
            with suppress(MistakeInYaml):
                return _read(_QuickLoader, text, source, strict, bounds)
    return _read(partial(_Loader, source=source), text, source, strict, bounds)


def _is_disputed(line: str) -> bool:
    """Whether libyaml may take it otherwise: tags, a question mark inside braces, a comment right behind `|`."""
    return ("?" in line and ("{" in line or "[" in line)) or _DISPUTED.search(line) is not None


def _read(loaders: Callable[[str], Any], text: str, source: str, strict: Any, bounds: Bounds) -> Sheet:
    """The value of a text by one of the loaders; `strict` is the one that JSON has, if it is that."""
    sheet, is_json = Sheet(source, None), strict is not NO_JSON
    loader = None
    try:
        loader = loaders(text)
        node = loader.get_single_node()
        if node is not None:
            _walk(node, (), sheet, _Room(bounds.nodes, bounds.depth, is_json))
            # Both read the same places, but YAML takes some numbers and characters of JSON for something else.
            sheet.value = strict if is_json else loader.construct_document(node)
    except yaml.YAMLError as error:
        raise MistakeInYaml(f"{source}{_where(error, text)}: {_what(error)}") from None
    except RecursionError:
        raise MockError(f"{source}: nested deeper than {bounds.depth} levels") from None
    finally:
        if loader is not None:
            loader.dispose()
    return sheet


def _strict(text: str, source: str) -> Any:
    """The value of a JSON text; raises MockError for what is YAML alone."""

    def refuse(word: str) -> None:
        raise MockError(f"{source}: not valid JSON: there is no number {word}")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise MockError(f"{source}, line {error.lineno}: not valid JSON: {quoted(error.msg)}") from None
    except (ValueError, RecursionError):
        return None  # too long a number, or too deep: the limits below say where


def _walk(node: yaml.Node, path: Place, sheet: Sheet, room: _Room) -> None:
    """Note the line of everything; raise MockError for doubles, tags, and what is too much."""
    line = node.start_mark.line + 1
    room.nodes -= 1
    if room.nodes < 0:
        raise MockError(f"{sheet.source}, line {line}: too many values")
    if id(node) in room.met:
        raise MockError(f"{sheet.source}, line {line}: {NO_ANCHORS}")
    room.met.add(id(node))
    if len(path) > room.depth:
        raise MockError(f"{sheet.source}, line {line}: nested deeper than {room.depth} levels")
    if node.tag.removeprefix("tag:yaml.org,2002:") not in TAGS:
        raise MockError(f"{sheet.source}, line {line}: tag {quoted(node.tag)} is not allowed")
    sheet.lines.setdefault(path, line)
    if isinstance(node, yaml.ScalarNode):
        _check_word(node, partial(sheet.at, path), room)
    if isinstance(node, yaml.SequenceNode):
        for place, item in enumerate(node.value):
            _walk(item, (*path, place), sheet, room)
    elif isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            at = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise MockError(f"{sheet.source}, line {at}: a key must be a word")
            _check_word(key, partial("{}, line {}".format, sheet.source, at), room)
            if key.value in seen:
                first = seen[key.value]
                raise MockError(f"{sheet.source}, line {at}: {key.value!r} stands in line {first} already")
            seen[key.value] = at
            sheet.lines.setdefault((*path, key.value), at)
            _walk(value, (*path, key.value), sheet, room)


def _check_word(node: yaml.ScalarNode, place: Callable[[], str], room: _Room) -> None:
    """Raise MockError for half a surrogate pair, a number that is too long, and a tag that lies: `!!int x`."""
    if not is_sendable(paired(node.value) if room.has_pairs else node.value):
        raise MockError(f"{place()}: half a surrogate pair, which is no character: {quoted(node.value)}")
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in CHECKED:
        return
    if kind != "bool" and len(node.value) > MAX_NUMBER:
        # Python does not read the longest whole numbers, and says so with an error of its own.
        raise MockError(f"{place()}: a number of more than {MAX_NUMBER} characters")
    try:
        yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, LookupError, yaml.YAMLError):
        raise MockError(f"{place()}: {quoted(node.value)} is no {kind}") from None


def _where(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return f", line {text.count(chr(10), 0, error.position) + 1}"
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f", line {mark.line + 1}"


def _what(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return f"the character {quoted(chr(error.character))} is not allowed in YAML but as an escape"
    said = getattr(error, "problem", None) or "not valid YAML"
    if said == "but found another document":
        return "a second document begins here: a file has one"
    return quoted(str(said))
