"""Replies that a scenario file names once, under `replies`, and that its rules give as often as they like.

They do what anchors do in other YAML, which are refused here (Q-24).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engy_mock.scripting.notation import Place, Sheet
from engy_mock.vocabulary.errors import MockError, did_you_mean, quoted

NAMED, SAME = "replies", "same_as"


def written_out(sheet: Sheet) -> Sheet:
    """The same with each `same_as` in its rules replaced by the reply that it names; raises MockError."""
    value = sheet.value
    if not isinstance(value, dict) or not isinstance(named := value.get(NAMED), dict):
        named = {}
    if not isinstance(value, dict) or not any(True for _ in _wishes(value)):
        return sheet
    for name, own in named.items():
        if isinstance(own, dict) and SAME in own:
            raise MockError(f"{sheet.at((NAMED, name, SAME))}: a reply under `{NAMED}` names no other one")
    return replace(sheet, value=_with(value, sheet, named, ()))


def _wishes(value: object) -> Iterator[object]:
    """All that asks for a reply of another place."""
    if isinstance(value, dict):
        if SAME in value:
            yield value[SAME]
        for one in value.values():
            yield from _wishes(one)
    elif isinstance(value, list):
        for one in value:
            yield from _wishes(one)


def _with(value: Any, sheet: Sheet, named: dict[str, Any], place: Place, *, is_reply: bool = False) -> Any:
    """A part of the file with the named replies in it; only what stands under `reply` can be one."""
    if isinstance(value, list):
        return [_with(one, sheet, named, (*place, number), is_reply=is_reply) for number, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if is_reply:
        return _named(value, sheet, named, place) if SAME in value else value
    return {key: _with(one, sheet, named, (*place, key), is_reply=key == "reply") for key, one in value.items()}


def _named(value: dict[str, Any], sheet: Sheet, named: dict[str, Any], place: Place) -> Any:
    name = value[SAME]
    if len(value) > 1:
        raise MockError(f"{sheet.at(place)}: a reply that is the same as another has no other key than `{SAME}`")
    if not isinstance(name, str) or name not in named:
        known = tuple(map(str, named))
        hint = did_you_mean(str(name), known) or (
            f" Known are {', '.join(known)}." if known else f" The file has no `{NAMED}`."
        )
        raise MockError(f"{sheet.at((*place, SAME))}: there is no reply named {quoted(name)!r:.80}.{hint}")
    return named[name]
