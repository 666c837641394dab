"""Whether a text was made of another one, and whether one that was not tells of a failure."""

import html
import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Literal

from engy_mock.vocabulary import json

Likeness = Literal["made of it", "perhaps another", "another"]
"""What a text is to the one that was sent."""

FEW_WORDS = 4
"""A text of fewer words than this may be a label or a number that stands for an answer."""

ALIKE = 0.9
"""Texts as alike as this may differ by how they are written only."""

MAX_WORDS = 2000
"""So many words of a text are looked at one by one."""

_SCRIPTS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SCRIPTS}]|[^\W_{_SCRIPTS}]+")
"""A word; in scripts that have no spaces each character is one."""

_EXCUSE = re.compile(
    r"\b[45]\d\d\b|sorry|apolog|error|fail|unavailable|unable|can ?no|can.t\b|could ?n|again|later|retr(?:y|ies)"
    r"|not (?:available|possible|reach)|no (?:answer|response|reply|result)|time[ds]? ?out|limit|quota|credit"
    r"|balance|budget|billing|payment|busy|overload|offline|is down|refus|denied|broke|incomplete|interrupt|lost"
    r"|trouble|problem|wrong"
    r"|leider|fehler|später|erneut|désolé|erreur|réessay|lo siento|fallo|intent|scusa|riprov|desculp|erro|tente"
    r"|извин|ошибк|позже|抱歉|错误|失败|稍后|申し訳|エラー|失敗|죄송|오류",
    re.I,
)

_KEY = re.compile(r"error|exception|fail|refus|denied|unavailable|fehler|erreur|ошибк|错误|エラー|오류", re.I)
"""Names of values that report a failure by being there; other names are no words of a failure."""

_SUCCESS = frozenset({"ok", "success", "succeeded", "successful"})

_EMPTY = re.compile(
    r"""["']?(?<![\w.-])[\w.-]{1,80}["']?\s*[:=]\s*"""
    r"""(?:["']?(?:null|none|nil|false|0)\b["']?|["']{2}|\[\s*\]|\{[\s,]*\})(?=\s*(?:[],;})]|$))""",
    re.I | re.M,
)
"""A named value that is none, in the notations of several languages."""

MAX_ROUNDS = 8
"""So deep in each other are values that are none because all in them is."""

_OPENS = re.compile(
    r"\W*(?:\w*error|\w*exception|fail(?:ed|ure)?|fatal|traceback|sorry|cannot|could not|unable"
    r"|fehler|erreur)\b",
    re.I,
)


def likeness(text: str, sent: str) -> Likeness:
    """What a text is to an answer: made of it is what drops words or adds some, or writes its data anew."""
    data = _data(sent)
    said, source = _words(text), _words(sent)
    if data is not None:
        source += [word for leaf in _leaves(data) for word in _words(leaf)]
        if _data(text) == data:
            return "made of it"
    if not said or set(said) <= set(source) or set(source) <= set(said):
        return "made of it"
    if len(said) < max(FEW_WORDS, len(source) / 2) or data is not None:
        return "perhaps another"
    matcher = SequenceMatcher(None, said[:MAX_WORDS], source[:MAX_WORDS], autojunk=False)
    return "perhaps another" if matcher.ratio() >= ALIKE else "another"


def has_same_words(text: str, sent: str) -> bool:
    """Whether only marks between words are different."""
    said = _words(text)
    return bool(said) and said == _words(sent)


def is_excuse(text: str) -> bool:
    """Whether a text tells of a failure in some way; an error that is null, empty or false tells of none."""
    data = _data(text)
    if data is not None:
        return _reports(data)
    for _ in range(MAX_ROUNDS):
        text, count = _EMPTY.subn("", text)
        if not count:
            break
    return _EXCUSE.search(text) is not None


def opens_with_error(text: str) -> bool:
    """Whether a text begins like the report of an error, or is data that has one."""
    data = _data(text)
    return _reports(data) if data is not None else _OPENS.match(text) is not None


def _reports(data: Any) -> bool:
    """Whether some data tells of a failure: an error under its name, or words for it."""
    if isinstance(data, dict):
        return any(
            (name.casefold() in _SUCCESS and value is False)
            or (_KEY.search(name) is not None and _is_said(value))
            or _reports(value)
            for name, value in data.items()
        )
    if isinstance(data, list):
        return any(map(_reports, data))
    return _EXCUSE.search(str(data)) is not None


def _is_said(value: Any) -> bool:
    """Whether there is anything in a value."""
    if isinstance(value, dict):
        return any(map(_is_said, value.values()))
    if isinstance(value, list):
        return any(map(_is_said, value))
    return bool(value)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", html.unescape(text)).casefold())


def _data(text: str) -> Any:
    """What a JSON object or array holds; None for other texts."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.read(text.encode())
    except ValueError:
        return None


def _leaves(data: Any) -> Iterator[str]:
    """All names and values in some data."""
    if isinstance(data, dict):
        yield from data
        data = list(data.values())
    if isinstance(data, list):
        for one in data:
            yield from _leaves(one)
    else:
        yield str(data)
