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
    """Whether a text tells of a failure in some way."""
    return _EXCUSE.search(text) is not None


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
