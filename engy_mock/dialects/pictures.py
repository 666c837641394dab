"""Pictures in messages: how they are read, and what else is wrong with a body that has broken ones."""

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import PydanticCustomError, PydanticKnownError

from engy_mock.vocabulary.errors import Violation
from engy_mock.vocabulary.request import Image

BEGINNINGS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""How the bytes of each type of picture begin (E-144)."""

_DATA_URI = re.compile(rf"data:image/({'|'.join(BEGINNINGS)});base64,")

_WHOLE = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpeg": b"\xff\xd8\xff",
    "gif": b"GIF89a",
    "webp": b"RIFF\x04\0\0\0WEBP",
}
"""Bytes of each type of picture that can be read."""


def read_picture(uri: object) -> Image:
    """The picture in a data URI; web addresses are refused (E-143)."""
    if not isinstance(uri, str):
        raise PydanticKnownError("string_type")
    match = _DATA_URI.match(uri)
    if match is None:
        raise PydanticCustomError("image_uri", "")
    return picture(match[1], uri[match.end() :])


def picture(kind: str, base64: str) -> Image:
    """The picture of this type in a Base64 text; raises what pydantic's validators raise."""
    try:
        data = a2b_base64(base64, strict_mode=True)
    except ValueError:
        raise PydanticCustomError("image_base64", "") from None
    media_type = f"image/{kind}"
    if not BEGINNINGS[kind].match(data):
        raise PydanticCustomError("image_bytes", "", {"media_type": media_type})
    return Image(media_type=media_type, data=data)


def with_whole_pictures(body: Mapping[str, Any], violations: Iterable[Violation]) -> dict[str, Any]:
    """The body with pictures that can be read in the places of those that cannot."""
    mended = dict(body)
    copies: dict[tuple[str | int, ...], Any] = {(): mended}
    for violation in violations:
        place: Any = mended
        for depth, step in enumerate(violation.path[:-1], 1):
            path = violation.path[:depth]
            if path not in copies:
                copies[path] = place[step] = place[step].copy()
            place = copies[path]
        last = violation.path[-1]
        match = _DATA_URI.match(place[last])
        kind = match[1] if match is not None else place["media_type"].removeprefix("image/")
        start = "" if match is None else match[0]
        place[last] = start + b2a_base64(_WHOLE[kind], newline=False).decode()
    return mended
