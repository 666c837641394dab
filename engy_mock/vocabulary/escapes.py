"""A text as it was sent, and as it is read: with the characters that escapes of JSON stand for."""

import re

MOST_DEEP = 8
"""JSON in a text of JSON in a text of JSON: so deep is looked."""

MEANT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\"\\/bfnrt]))"
)


def readings(text: str) -> tuple[str, ...]:
    """The text itself, and what it comes to as often as its escapes are read; most texts have none.

    A text need not be JSON for that, as JSON may stand in the middle of it, or be cut.
    """
    found = [text]
    while "\\" in found[-1] and len(found) <= MOST_DEEP:
        read = _ESCAPE.sub(_meant, found[-1])
        if read == found[-1]:
            break
        found.append(read)
    return tuple(found)


def contains(text: str, wanted: str) -> bool:
    """Whether a text has another one in it, as sent or as read."""
    return wanted in text or ("\\" in text and any(wanted in one for one in readings(text)[1:]))


def _meant(escape: re.Match[str]) -> str:
    first, second, single, letter = escape.groups()
    if letter is not None:
        return MEANT[letter]
    if single is None:
        return chr(0x10000 + ((int(first, 16) & 0x3FF) << 10) + (int(second, 16) & 0x3FF))
    code = int(single, 16)
    return escape[0] if 0xD800 <= code <= 0xDFFF else chr(code)
