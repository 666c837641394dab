"""Secrets that a text itself gives a name: parameters, assignments, and fields of JSON inside of texts."""

import re
from collections.abc import Generator, Iterator

from engy_mock.vocabulary.credentials import TEXTS, WORDS, is_field, is_parameter, looks_like_one, parameters

Span = tuple[int, int, str, str]
"""Where a secret begins and ends, what it is, and what has to stand around its mark."""

PARAMETER, FIELD = "secret parameter", "secret field"

_PARAMETER = re.compile(r"[?&;](?P<name>[\w.%\[\]-]{2,64})=(?P<secret>[^&\s\"'`#\[\]\\<>]+)", re.ASCII)
_FORM = re.compile(r"\s*[\w.%+\[\]-]{1,64}=[^&\s\"']*(?:&[\w.%+\[\]-]{1,64}=[^&\s\"']*)*\s*", re.ASCII)
_ASSIGNED = re.compile(
    r"(?<![A-Za-z0-9_$./-])(?P<name>[A-Za-z][\w.-]{1,63})(?:=\\*[\"']?|\s?[=:]\s?\\*[\"'])"
    r"(?P<secret>[^\s\"'`;,&|<>()\[\]{}\\$%*]{4,})(?P<next>[(\[{]?)",
    re.ASCII,
)
_HEADER = re.compile(
    r"(?<![A-Za-z0-9_$./-])(?P<name>[A-Za-z]{1,32}(?:-[A-Za-z0-9]{1,32}){1,6}):[ \t]{0,4}"
    r"(?P<secret>[^\s\"'`;,|<>()\[\]{}\\$%*]{6,})",
    re.ASCII,
)
_NAMED = re.compile(r"(?P<quote>\\*[\"'])(?P<name>[\w.-]{2,64})(?P=quote)\s*[:=]\s*", re.ASCII)
_TEXT = re.compile(r"(?P<quote>\\*[\"'])(?P<secret>[^\"'\[\]\\]+)")
_NUMBER = re.compile(r"-?\d{4,}(?![\d.eE])")
_SCHEMA = re.compile(
    r"\{\s*\\*[\"'](?:type|description|title|\$ref|anyOf|allOf|oneOf|enum|items|format|properties)\\*[\"']"
)

MOST_INSIDE = 10_000
"""So much of a list or an object in a text is looked at."""


def named(text: str, small: str) -> Iterator[Span]:
    """The secrets with a name in a text; `small` is the same in small letters."""
    if not any(word in small for word in WORDS):
        return
    if "=" in small:
        yield from _parameters(text)
    yield from _assigned(text)
    if '"' in small or "'" in small:
        yield from _fields(text)


def _parameters(text: str) -> Iterator[Span]:
    for found in _PARAMETER.finditer(text):
        if is_parameter(found["name"]):
            yield *found.span("secret"), PARAMETER, ""
    # Nothing stands before the first parameter of a form.
    if _FORM.fullmatch(text):
        is_form, at = "&" in text, 0
        for part, name, value in parameters(text):
            if value and part.strip() and (is_parameter(name) if is_form else is_field(name)):
                start = at + part.index("=") + 1
                if "[scrubbed" not in part:
                    yield start, at + len(part.rstrip()), PARAMETER, ""
            at += len(part) + 1


def _assigned(text: str) -> Iterator[Span]:
    """What a shell, a program or a connection string lets a name be; what programs look up is no secret."""
    for found in _ASSIGNED.finditer(text):
        if is_field(found["name"]) and not found["next"] and looks_like_one(found["secret"]):
            yield *found.span("secret"), FIELD, ""
    # Names of headers have hyphens; words of a sentence before a colon have none.
    for found in _HEADER.finditer(text):
        if is_field(found["name"]) and looks_like_one(found["secret"]):
            yield *found.span("secret"), FIELD, ""


def _fields(text: str) -> Iterator[Span]:
    seen = 0
    for found in _NAMED.finditer(text):
        name = found["name"]
        if found.start() < seen:
            continue  # what stands inside of something hidden is hidden
        if not is_field(name) and name.lower() not in TEXTS:
            continue
        value = _TEXT.match(text, found.end())
        if value is not None:
            yield *value.span("secret"), FIELD, ""
            continue
        if name.lower() in TEXTS:
            continue
        number = _NUMBER.match(text, found.end())
        if number is not None:
            yield *number.span(), FIELD, found["quote"]
        elif text[found.end() : found.end() + 1] in ("[", "{"):
            seen = yield from _inside(text, found.end(), found["quote"])


def _inside(text: str, start: int, quote: str) -> Generator[Span, None, int]:
    """The texts and numbers of what stands under the name of a secret, but of no schema; returns where it ends."""
    if _SCHEMA.match(text, start):
        return start
    depth, at, end = 0, start, min(len(text), start + MOST_INSIDE)
    while at < end:
        if text[at] in "[{":
            depth += 1
        elif text[at] in "]}":
            depth -= 1
            if depth == 0:
                return at
        elif text.startswith(quote, at):
            close = text.find(quote, at + len(quote))
            close = end if close < 0 else close
            is_name = text[close + len(quote) : close + len(quote) + 9].lstrip().startswith(":")
            inner = text[at + len(quote) : close]
            if inner and not is_name and not inner.startswith("[scrubbed"):
                yield at + len(quote), close, FIELD, ""
            at = close + len(quote) - 1
        elif (number := _NUMBER.match(text, at)) is not None and text[at - 1] in "[:, ":
            yield *number.span(), FIELD, quote
            at = number.end() - 1
        at += 1
    return at
