"""What looks like a secret, and texts without it, whole or in parts.

A shape is a row here; a key that is known is looked for in every form in which it can be written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engy_mock.recording import written_forms
from engy_mock.recording.named import FIELD as FIELD
from engy_mock.recording.named import named
from engy_mock.vocabulary.credentials import is_parameter, parameters

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Where a word begins, though letters of any alphabet or an escape in JSON stand before it."""


def _shape(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags | re.ASCII)


def _word(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(_START + pattern, flags | re.ASCII)


AWS_SECRET = "AWS secret key"

SHAPES: Mapping[str, re.Pattern[str]] = {
    "private key": _shape(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    "API key": _word(
        r"sk-(?:(?:ant|proj|svcacct|admin|or|engy|lf)-[\w~+/=-]{12,}|(?=[\w-]*\d)[A-Za-z0-9_-]{16,}"
        r"|(?=[a-z]*[A-Z])(?=[A-Z]*[a-z])[A-Za-z]{20,})"
    ),
    "AWS key": _word(r"(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    AWS_SECRET: _shape(
        r"(?<![A-Za-z0-9/+=])(?=[^A-Z\s]{0,39}[A-Z])(?=[^a-z\s]{0,39}[a-z])(?=[^0-9/+\s]{0,39}[0-9/+])"
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
    ),
    "Google key": _word(r"AIza[\w-]{35}"),
    "GitHub token": _word(r"(?:gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{22,})"),
    "GitLab token": _word(r"glpat-[\w-]{20,}"),
    "Slack token": _word(r"xox[abeoprs]-[\w-]{10,}"),
    "npm token": _word(r"npm_[A-Za-z0-9]{30,}"),
    "Hugging Face token": _word(r"hf_[A-Za-z0-9]{30,}"),
    "inference key": _word(r"(?:gsk_|r8_|xai-|pplx-|csk-|fw_|nvapi-)[A-Za-z0-9_-]{24,}"),
    "payment key": _word(r"(?:[rs]k_(?:live|test)_\w{16,}|whsec_[A-Za-z0-9+/=]{16,})"),
    "mail key": _word(r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    "JSON web token": _word(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    "bearer token": _word(r"(?:bearer|basic)\s+(?P<secret>(?=\S*\d)[A-Za-z0-9._~+/=-]{16,})", re.IGNORECASE),
    "password in an address": _shape(r"(?<=://)(?P<secret>[^/\s:@\"']+:[^/\s:@\"']+)(?=@)"),
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
}
"""What a text has in it, in small letters, if it has such a secret: looking for that takes no time."""

MARK = "[scrubbed "
"""How a mark begins that stands in place of a secret."""

LEAST_KNOWN = 6
"""A known key that is shorter could be any word."""

Known = Mapping[str, str]
"""Keys that have to go wherever they stand, each with what it is."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: where it begins and ends, what it is, and the quotes that its mark needs."""

    start: int
    end: int
    kind: str
    quote: str = ""


def find(text: str, known: Known | None = None, *, by_name: bool = True, beside_id: bool = False) -> list[Found]:
    """The secrets in a text, in order, none within another.

    With `by_name` also those whose name alone tells what they are; `beside_id` says that an AWS key's id is near.
    """
    found: list[Found] = []
    for secret, kind in (known or {}).items():
        if len(secret) >= LEAST_KNOWN:
            found += [Found(*span, kind) for span in written_forms.spans(text, secret)]
    small = text.lower()
    for kind, pattern in SHAPES.items():
        if kind == AWS_SECRET:
            if not (beside_id or has_id(text)):
                continue
        elif not any(hint in small for hint in HINTS.get(kind, ("",))):
            continue
        group = "secret" if "secret" in pattern.groupindex else 0
        found += [Found(*match.span(group), kind) for match in pattern.finditer(text)]
    if by_name:
        found += [Found(*span) for span in named(text, small)]
    merged: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = replace(last, end=max(last.end, one.end))
        else:
            merged.append(one)
    return merged


def has_id(text: str) -> bool:
    """Whether the id of an AWS key stands in a text: beside it stands what opens something."""
    return ("AKIA" in text or "ASIA" in text) and SHAPES["AWS key"].search(text) is not None


def mark(kind: str) -> str:
    """What stands in place of a secret."""
    return f"{MARK}{kind}]"


def kind_of(cleaned: str) -> str:
    """What the last mark in a text says."""
    return cleaned.rpartition(MARK)[2].partition("]")[0] if MARK in cleaned else "a part of a secret"


def clean(text: str, known: Known | None = None, *, by_name: bool = True) -> str:
    """A text without secrets."""
    (cleaned,) = clean_parts([text], known, by_name=by_name)
    return cleaned


def clean_query(query: str, known: Known | None = None) -> str:
    """A query without secrets, however their names and they themselves are written."""
    parts: list[str] = []
    for part, name, value in parameters(query):
        if value and (is_parameter(name) or find(value, known)):
            told = "secret parameter" if is_parameter(name) else find(value, known)[0].kind
            part = f"{part.partition('=')[0]}={mark(told)}"
        parts.append(part)
    return clean(f"?{'&'.join(parts)}", known)[1:]


def clean_parts(
    parts: Sequence[str], known: Known | None = None, *, by_name: bool = True, beside_id: bool = False
) -> list[str]:
    """Parts of one text without the secrets in the whole: a mark stands in the part in which one begins."""
    found = find("".join(parts), known, by_name=by_name, beside_id=beside_id)
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
                kept.append(one.quote + mark(one.kind) + one.quote)
            at = min(one.end, end)
            turn += 1
        kept.append(part[at - place :])
        cleaned.append("".join(kept))
        place = end
    return cleaned


def leaks(lines: Iterable[str], known: Known | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a text that hold something with the shape of a secret, counted from 1, each with what it is."""
    for number, line in enumerate(lines, 1):
        for found in find(line, known, by_name=False):
            yield number, found.kind
