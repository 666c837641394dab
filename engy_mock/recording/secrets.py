"""What looks like a secret, and texts, JSON and streams without it.

A shape is a row here; a key that is known is looked for as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_NAMES = (
    r"(?:api|access|secret|private|auth|session|refresh|client|bearer|signing|x-api)[_-]?(?:key|token|secret)"
    r"|api[_-]?secret|secret|password|passwd|authorization|credentials?"
)
"""Names of fields and parameters whose values are secrets, whatever they look like."""

SHAPES: Mapping[str, re.Pattern[str]] = {
    "private key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    "API key": re.compile(
        r"\bsk-(?:(?:ant|proj|svcacct|admin|or|engy|lf)-[\w~+/=-]{12,}|(?=[\w-]*\d)[A-Za-z0-9_-]{16,})"
    ),
    "AWS key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "Google key": re.compile(r"\bAIza[\w-]{35}"),
    "GitHub token": re.compile(r"\bgh[opsur]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{22,}"),
    "GitLab token": re.compile(r"\bglpat-[\w-]{20,}"),
    "Slack token": re.compile(r"\bxox[abeoprs]-[\w-]{10,}"),
    "npm token": re.compile(r"\bnpm_[A-Za-z0-9]{30,}"),
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "inference key": re.compile(r"\b(?:gsk_|r8_|xai-|pplx-|csk-|fw_|nvapi-)[A-Za-z0-9_-]{24,}"),
    "payment key": re.compile(r"\b[rs]k_(?:live|test)_\w{16,}|\bwhsec_[A-Za-z0-9+/=]{16,}"),
    "mail key": re.compile(r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    "JSON web token": re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    "bearer token": re.compile(r"(?i)\b(?:bearer|basic)\s+(?P<secret>(?=\S*\d)[A-Za-z0-9._~+/=-]{16,})"),
    "password in an address": re.compile(r"(?<=://)(?P<secret>[^/\s:@\"']+:[^/\s:@\"']+)(?=@)"),
    "secret parameter": re.compile(rf"(?i)[?&](?:{_NAMES}|key|token|sig|signature)=(?P<secret>[^&\s\"'#\[\]]+)"),
    "secret field": re.compile(rf"(?i)[\"'](?:{_NAMES})\\*[\"']\s*[:=]\s*\\*[\"'](?P<secret>[^\"'\[\]\\]+)"),
}
"""The known shapes; where only a part of one is secret, that part is named."""

HINTS: Mapping[str, tuple[str, ...]] = {
    "private key": ("private key-",),
    "API key": ("sk-",),
    "AWS key": ("akia", "asia"),
    "Google key": ("aiza",),
    "GitHub token": ("gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_"),
    "GitLab token": ("glpat-",),
    "Slack token": ("xox",),
    "npm token": ("npm_",),
    "Hugging Face token": ("hf_",),
    "inference key": ("gsk_", "r8_", "xai-", "pplx-", "csk-", "fw_", "nvapi-"),
    "payment key": ("k_live_", "k_test_", "whsec_"),
    "mail key": ("sg.",),
    "JSON web token": ("eyj",),
    "bearer token": ("bearer", "basic"),
    "password in an address": ("://",),
    "secret parameter": ("=",),
}
"""What a text has in it, in small letters, if it has such a secret: looking for that takes no time."""

FIELD = re.compile(rf"(?i){_NAMES}")
SPELT_OUT = frozenset({"bytes", "token_ids", "tokens", "token", "top_logprobs", "output_token_ids", "prompt_ids"})
"""Fields that repeat a text token by token, and with it a secret."""

LEAST_KNOWN = 6
"""A known key that is shorter could be any word."""

Known = Mapping[str, str]
"""Keys that have to go wherever they stand, each with what it is."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: where it begins and ends, and what it is."""

    start: int
    end: int
    kind: str


def find(text: str, known: Known | None = None) -> list[Found]:
    """The secrets in a text, in order, none within another."""
    found: list[Found] = []
    for secret, kind in (known or {}).items():
        for form in dict.fromkeys((secret, quote(secret, safe=""))) if len(secret) >= LEAST_KNOWN else ():
            start = text.find(form)
            while start >= 0:
                found.append(Found(start, start + len(form), kind))
                start = text.find(form, start + len(form))
    small = text.lower()
    for kind, pattern in SHAPES.items():
        if not any(hint in small for hint in HINTS.get(kind, ("",))):
            continue
        group = "secret" if "secret" in pattern.groupindex else 0
        found += [Found(*match.span(group), kind) for match in pattern.finditer(text)]
    merged: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Found(last.start, max(last.end, one.end), last.kind)
        else:
            merged.append(one)
    return merged


def mark(kind: str) -> str:
    """What stands in place of a secret."""
    return f"[scrubbed {kind}]"


def clean(text: str, known: Known | None = None) -> str:
    """A text without secrets."""
    (cleaned,) = clean_parts([text], known)
    return cleaned


def clean_parts(parts: Sequence[str], known: Known | None = None) -> list[str]:
    """Parts of one text without the secrets in the whole: a mark stands in the part in which one begins."""
    found = find("".join(parts), known)
    if not found:
        return list(parts)
    cleaned: list[str] = []
    place = first = 0
    for part in parts:
        kept: list[str] = []
        at, end = place, place + len(part)
        while first < len(found) and found[first].end <= place:
            first += 1
        turn = first
        while turn < len(found) and found[turn].start < end:
            one = found[turn]
            kept.append(part[at - place : max(one.start, at) - place])
            if one.start >= place:
                kept.append(mark(one.kind))
            at = min(one.end, end)
            turn += 1
        kept.append(part[at - place :])
        cleaned.append("".join(kept))
        place = end
    return cleaned


@dataclass(slots=True)
class Leaf:
    """A text somewhere in a JSON value, and where it can be exchanged."""

    holder: Any
    key: Any
    text: str


Channels = dict[tuple[Any, ...], list[Leaf]]
"""Texts that make one, by where they stand: the pieces of one stream, or the tokens of one list."""


class Documents:
    """JSON values that are told one after the other, and become clean together."""

    def __init__(self, known: Known | None = None) -> None:
        self._known = known
        self._channels: Channels = {}
        self._spelt: list[tuple[dict[str, Any], str]] = []
        self._names: dict[str, str] = {}
        self.has_found = False

    def add(self, value: Any) -> Any:
        """Take in a value; what is returned becomes clean with `scrub`."""
        top = [self._named(value)]
        told = value if isinstance(value, dict) else {}
        around = tuple([told.get(name) for name in _AROUND if isinstance(told.get(name), int | str)])
        self._walk(top, 0, around)
        return top

    def scrub(self) -> None:
        """Take the secrets out of all that was taken in."""
        for leaves in self._channels.values():
            parts = [leaf.text for leaf in leaves]
            cleaned = clean_parts(parts, self._known)
            for leaf, before, after in zip(leaves, parts, cleaned, strict=True):
                if after != before:
                    self.has_found = True
                    leaf.holder[leaf.key] = after
        if self.has_found:
            for holder, key in self._spelt:
                holder[key] = [] if isinstance(holder[key], list) else ""

    def _walk(self, holder: Any, key: Any, path: tuple[Any, ...]) -> None:
        value = holder[key]
        if isinstance(value, str):
            if path and isinstance(path[-1], str) and FIELD.fullmatch(path[-1]) and value:
                holder[key] = mark("secret field")
                self.has_found = True
            else:
                # What is spelt out is one text, wherever its tokens stand in their list.
                is_spelt = any(step in SPELT_OUT for step in path if isinstance(step, str))
                channel = tuple([step for step in path if isinstance(step, str)]) if is_spelt else path
                self._channels.setdefault(channel, []).append(Leaf(holder, key, value))
        elif isinstance(value, dict):
            place = value.get("index")
            path = (*path, place) if isinstance(place, int) else path
            for name in value:
                if name in SPELT_OUT and isinstance(value[name], list | str):
                    self._spelt.append((value, name))
                self._walk(value, name, (*path, name))
        elif isinstance(value, list):
            for place in range(len(value)):
                self._walk(value, place, (*path, place))

    def _named(self, value: Any) -> Any:
        """The value with clean names of fields."""
        if isinstance(value, dict):
            made: dict[str, Any] = {}
            for name, item in value.items():
                cleaned = self._names.get(name)
                if cleaned is None:
                    cleaned = self._names[name] = clean(name, self._known)
                self.has_found |= cleaned != name
                made[cleaned] = self._named(item)
            return made
        return [self._named(item) for item in value] if isinstance(value, list) else value


_AROUND = ("type", "index", "output_index", "content_index", "item_id")
"""What tells pieces of different texts apart in one stream."""


def clean_value(value: Any, known: Known | None = None) -> Any:
    """A JSON value without secrets."""
    documents = Documents(known)
    top = documents.add(value)
    documents.scrub()
    return top[0]


def leaks(lines: Iterable[str], known: Known | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a text that hold something like a secret, counted from 1, each with what it is."""
    for number, line in enumerate(lines, 1):
        for found in find(line, known):
            yield number, found.kind
